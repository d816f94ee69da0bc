"""What the word match is worth on 320 answers that no rule was tuned on, labelled by two blind readers."""

import csv
import json
from pathlib import Path

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.loaders.load import load
from wardround.scenarios.parsers.reply_text import final_answer

LABELS = Path(__file__).resolve().parents[2] / "data" / "answer_labels.csv"


def labels() -> dict[tuple[str, str], tuple[int, int, int]]:
    with LABELS.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return {(row["case"], row["model"]): (int(row["reader_a"]), int(row["reader_b"]), int(row["same"])) for row in rows}


def test_the_readers_agree_but_for_a_few() -> None:
    given = labels()
    assert len(given) == 320
    assert sum(one != other for one, other, _ in given.values()) == 6
    assert all(same == one for one, other, same in given.values() if one == other)


@pytest.mark.shared
@pytest.mark.long
def test_the_page_states_what_the_match_is_worth_on_them(shared: Path) -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]

    folder = shared / "data" / "medrbench"
    cases = {case.id: case for case in load(folder / "diagnosis_cases.json")}
    right: list[bool] = []
    wrong: list[bool] = []
    for (case, model), (_, _, same) in labels().items():
        path = folder / "results" / f"oracle_diagnosis__{model}__replies_and_judged_steps.json"
        replies = json.loads(path.read_text(encoding="utf-8"))
        matched = compare(final_answer(replies[case]["results"]["content"]), cases[case].truth).match
        (right if same else wrong).append(matched)
    assert (len(right), len(wrong)) == (241, 79)
    sensitivity, specificity = sum(right) / 241, 1 - sum(wrong) / 79
    low = binomtest(79 - sum(wrong), 79).proportion_ci(method="wilson").low
    page = (Path(__file__).resolve().parents[3] / "docs" / "measurements.md").read_text(encoding="utf-8")
    assert f"sensitivity {sensitivity:.2f}, specificity {specificity:.2f} (at least {low:.2f})" in page
