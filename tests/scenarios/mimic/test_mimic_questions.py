"""A pool made from questions."""

import json
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.pool import (
    PoolDisease,
    PoolLinker,
    own,
    pool_from_questions,
    pool_table,
    question_texts,
    read_pool_file,
)

HIGH = PoolDisease("Hypertension")
ONE = {"question": "A man with gout and pulmonary hypertension.", "options": {"A": "Gout", "B": "DKA"}, "answer": "A"}
TWO = ["7", "Which drug treats gouty arthritis?\nOptions: A: x", "C"]


@pytest.mark.parametrize("form", ["jsonl", "list", "object", "named"])
def test_questions_are_read_in_the_usual_forms(form: str, tmp_path: Path) -> None:
    path = tmp_path / "questions"
    records = [ONE, TWO]
    written = {
        "jsonl": "\n".join(json.dumps(record) for record in records) + "\n\n",
        "list": json.dumps(records),
        "object": json.dumps({"q1": ONE, "q2": TWO}, indent=1),
        "named": json.dumps({"data": records}, indent=1),
    }
    path.write_text(written[form])
    assert [text.startswith(("A man", "7\n")) for text in question_texts(path)] == [True, True]
    found = pool_from_questions([path])
    assert found.questions == 2
    assert {disease.name: number for disease, number in found.diseases} == {
        "Gout": 2, "Diabetic ketoacidosis": 1, "Pulmonary hypertension": 1,
    }  # fmt: skip


def test_the_table_is_a_pool_that_a_build_takes(tmp_path: Path) -> None:
    (tmp_path / "q.jsonl").write_text(json.dumps(ONE) + "\n" + json.dumps(TWO) + "\n")
    text = pool_table(pool_from_questions([tmp_path / "q.jsonl"], at_least=2))
    assert text.splitlines()[0] == "name,synonyms,icd10,icd9,questions"
    (tmp_path / "pool.csv").write_text(text)
    (gout,) = read_pool_file(tmp_path / "pool.csv").diseases
    assert (gout.name, gout.icd10, gout.icd9) == ("Gout", ("M10", "M1A"), ("274",))


@pytest.mark.parametrize(
    ("text", "said"), [("", "holds no question"), ("[]", "holds no question"), ("{}\nno", "line 2: is not JSON")]
)
def test_what_holds_no_questions_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "q").write_text(text)
    with pytest.raises(UsageError, match=said):
        pool_from_questions([tmp_path / "q"])


def test_comorbidities_come_last(tmp_path: Path) -> None:
    stem = "A man with a history of hypertension has pain. What is it? A: Appendicitis B: Gastritis"
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps({"question": f"{stem} {n}"}) + "\n" for n in range(3)) + '{"q": "Gastritis?"}\n')
    found = [
        disease.name for disease, _ in pool_from_questions([path], linker=PoolLinker((HIGH, *own().diseases))).diseases
    ]
    assert found == ["Gastritis", "Appendicitis", "Hypertension"]
