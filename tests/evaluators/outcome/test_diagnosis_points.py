"""Points from 1 to 5 for a diagnosis: read strictly, decided by the panel, right from 4."""

import json
from typing import Any

import pytest
from bench import PlayedJudge, bench
from graded import case, completed, trajectory

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.records import Ending
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.outcome.diagnosis_points import DiagnosisPoints, read_points


def judge(reply: Any, seat: str) -> PlayedJudge:
    return PlayedJudge(lambda question, sample: reply, seat)


async def scores(*replies: Any, ending: Ending | None = None) -> dict[str, tuple[float | None, str]]:
    judges = [judge(reply, f"judge-{number}") for number, reply in enumerate(replies)]
    made = await DiagnosisPoints().score(case(), trajectory(ending=ending or completed()), bench(*judges))
    listed = made if isinstance(made, list) else made.scores  # type: ignore[union-attr]
    return {score.name: (score.value, score.reason) for score in listed}


@pytest.mark.parametrize(("points", "right"), [(5, 1.0), (4, 1.0), (3, 0.0), (1, 0.0)])
async def test_four_points_are_right(points: int, right: float) -> None:
    made = await scores(json.dumps({"basis": "", "points": points}))
    assert made == {"diagnosis_points": (float(points), ""), "diagnosis_points_right": (right, "")}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("five", "prose"),
        ('{"points": 6}', "not_in_vocabulary"),
        ('{"points": 0}', "not_in_vocabulary"),
        ('{"points": 4.5}', "not_in_vocabulary"),
        ('{"points": true}', "not_in_vocabulary"),
        ('{"points": "4"}', "not_in_vocabulary"),
        ('{"basis": "x"}', "no_field"),
        ('{"points": 4', "half_json"),
    ],
)
async def test_a_reply_without_points_is_none_with_its_reason(text: str, why: str) -> None:
    read = read_points(text)
    assert isinstance(read, Unread)
    assert read.why == why
    made = await scores(text)
    assert made["diagnosis_points"][0] is None
    assert made["diagnosis_points_right"][0] is None


async def test_a_divided_panel_and_a_judge_that_is_away_decide_nothing() -> None:
    made = await scores('{"points": 5}', '{"points": 2}')
    assert made["diagnosis_points_right"][0] is None
    assert made["diagnosis_points_right"][1]
    made = await scores(ProviderError("timeout", "late"))
    assert made["diagnosis_points"][1].startswith("judge")


async def test_no_answer_has_one_point_and_a_failure_of_others_none() -> None:
    made = await scores("never asked", ending=Ending("doctor", "no_answer"))
    assert made == {"diagnosis_points": (1.0, "no_answer"), "diagnosis_points_right": (0.0, "no_answer")}
    made = await scores("never asked", ending=Ending("provider", "timeout"))
    assert made["diagnosis_points"] == (None, "provider/timeout")
    with pytest.raises(UsageError, match="needs a judge"):
        await DiagnosisPoints().score(case(), trajectory(ending=completed()))
