"""A wrong diagnosis is graded by how near it was; what cannot be graded says why."""

import pytest
from graded import case, trajectory

from wardround.engine.records import Ending
from wardround.evaluators.metrics.grade import Grade
from wardround.scenarios.case import Truth


@pytest.mark.parametrize(
    ("answer", "truth", "value", "reason"),
    [
        ("Acute appendicitis", "Acute appendicitis", 1.0, "same"),
        ("Diabetes mellitus", "Type 1 diabetes mellitus", 0.5, "parent"),
        ("Crohn disease", "Ulcerative colitis", 0.25, "sibling"),
        ("Pulmonary embolism", "Acute appendicitis", 0.0, "other"),
        ("Acute appendicitis", "a state that nobody has named", None, "truth_unknown"),
    ],
)
async def test_an_answer_is_graded(answer: str, truth: str, value: float | None, reason: str) -> None:
    played = trajectory(ending=Ending("completed", facts={"answer": {"diagnosis": answer}}))
    [score] = await Grade().score(case(truth=Truth(diagnosis=truth)), played)
    assert (score.value, score.reason) == (value, reason)


async def test_what_has_no_answer_or_no_ending_says_so() -> None:
    [silent] = await Grade().score(case(), trajectory(ending=Ending("doctor", "no_answer")))
    assert (silent.value, silent.reason) == (0.0, "no_answer")
    [failed] = await Grade().score(case(), trajectory(ending=Ending("provider", "quota")))
    assert failed.value is None
    assert failed.reason
