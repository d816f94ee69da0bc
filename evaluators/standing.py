"""Whether an episode may be scored at all, by how it ended, and what it was asked for."""

from typing import Literal

from wardround.engine.records import Ending
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case

Goal = Literal["diagnosis", "treatment"]


def gave_nothing(ending: Ending | None) -> bool:
    """True if the doctor had its chance and gave no usable answer: the one failure that is a score, 0.0."""
    return ending is not None and ending.cause == "doctor" and ending.reason == "no_answer"


def unscored(ending: Ending | None) -> str:
    """Why an episode that ended so has no score, or "" if it has one.

    `open` while it goes on; for a failure its cause and reason, as in `provider/timeout`.
    """
    if ending is None:
        return "open"
    if ending.cause == "completed" or gave_nothing(ending):
        return ""
    return f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause


def goal_of(case: Case, trajectory: Trajectory) -> Goal:
    """What the doctor was asked for: by the run's header, else by the answer, else by the truth that the case has."""
    scenario = trajectory.header.get("scenario")
    goal = scenario.get("goal") if isinstance(scenario, dict) else None
    if goal in ("diagnosis", "treatment"):
        return "treatment" if goal == "treatment" else "diagnosis"
    given = answers(trajectory.ending)
    if "treatment" in given and "diagnosis" not in given:
        return "treatment"
    if not given and case.truth.treatment and not case.truth.diagnosis:
        return "treatment"
    return "diagnosis"


def answers(ending: Ending | None) -> dict[str, str]:
    """The non-empty answers among an ending's facts: {"diagnosis" or "treatment": text}."""
    given = ending.facts.get("answer") if ending else None
    if not isinstance(given, dict):
        return {}
    return {goal: text for goal, text in given.items() if isinstance(text, str) and text.strip()}
