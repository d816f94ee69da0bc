"""MedQuAD and HealthVer: open questions with their answers, and claims with their evidence."""

import gzip
import json
from pathlib import Path

import pytest

from wardround import run, score_run
from wardround.scenarios.loaders.load import problems, scan
from wardround.scenarios.question_item import QuestionItem
from wardround.testing.memory_store import MemoryStore

HEAD = "id,evidence,claim,label,topic_ip,question\n"


def test_an_answered_question_is_open_and_one_without_an_answer_is_left_out(tmp_path: Path) -> None:
    rows = [
        {"qid": "1-1", "qtype": "symptoms", "question": "What are the symptoms?", "answer": "Fever.", "focus": "Flu"},
        {"qid": "1-1", "qtype": "treatment", "question": "What helps?", "answer": "Rest.", "source": "NIH"},
        {"qid": "1-2", "qtype": "causes", "question": "Why?", "answer": " "},
    ]
    path = tmp_path / "medquad.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    first, second = (one for one in scan(path) if isinstance(one, QuestionItem))
    assert (first.form, first.level, first.kind, first.group) == (
        "free",
        "open",
        ("medical knowledge", "symptoms"),
        "Flu",
    )
    assert first.truth.answers == ("Fever.",)
    assert first.id != second.id
    assert [(one.line, one.field) for one in problems(path)] == [(3, "answer")]


def test_a_claim_is_a_choice_about_its_evidence(tmp_path: Path) -> None:
    path = tmp_path / "claims.csv"
    rows = (
        '1,"Zinc, tried, did nothing.",Zinc helps,Refutes,1,q',
        "2,It rained.,Zinc helps,Neutral,1,q",
        "3,x,y,Maybe,1,q",
    )
    path.write_text(HEAD + "\n".join(rows) + "\n")
    first, second = (one for one in scan(path) if isinstance(one, QuestionItem))
    assert (first.truth.option, second.truth.option) == (1, 2)
    assert first.context == ("Zinc, tried, did nothing.",)
    assert "Zinc helps" in first.question
    assert first.source_group == second.source_group
    assert [(one.line, one.field) for one in problems(path)] == [(4, "label")]


@pytest.mark.shared
@pytest.mark.long
async def test_gold_is_right_on_every_shared_claim(shared: Path) -> None:
    played = await run(
        shared / "data/healthver/healthver_dev.csv", "questions", doctor="gold", store=MemoryStore(), name="r"
    )
    scores = await score_run(played)
    assert len(scores.episodes) == 1917
    assert {row.score("question_accuracy").value for row in scores.episodes} == {1.0}
