"""Whether an episode may be scored at all, by how it ended, and what it was asked for."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Literal

from wardround.engine.records import Ending
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case

Goal = Literal["diagnosis", "treatment"]

DOCTOR = "doctor"

ZERO: Mapping[str, str] = {
    "no_answer": "The doctor gave no answer within its turns.",
    "unreadable": "The doctor's replies could not be read, also after it was told so.",
    "refusal": "The doctor refused to answer.",
    "content_filter": "A filter of the doctor's own model took its reply or cut it off.",
    "several_answers": "The doctor named alternatives instead of one answer.",
    "agent_error": "The doctor's own code raised an error.",
    "agent_timeout": "The doctor's own code took too long over one turn.",
    "bad_action": "The doctor's own code gave what is no action of the game.",
    "bad_request": "The doctor's model could not take what the doctor sent it.",
    "context_overflow": "The doctor's conversation outgrew its model.",
    "too_long": "The doctor's reply was longer than any model's needs to be.",
    "unsendable": "The doctor sent its model what is no valid text.",
    "flooded": "The doctor's words were more than the model of another seat could take.",
    "limit_actions": "The doctor used up the turns of an episode.",
    "limit_calls": "The doctor used up the calls of an episode.",
    "limit_act_calls": "The doctor called its model without end in one turn.",
    "limit_tokens": "The doctor used up the tokens of an episode.",
    "limit_cost": "The doctor used up the money of an episode.",
    "limit_wall": "The doctor used up the time of an episode by itself; waiting for a model is not its time.",
}
"""Each reason of an accuracy of 0.0 for a doctor that had its chance and did not use it, in plain words."""

NOTHING_ASSERTED = frozenset(("no_diagnosis_asserted", "no_treatment_asserted"))
"""Reasons of a reply in the place of an answer that names none: it abstains, denies, refuses or begs in words."""

UNANSWERED = (frozenset(ZERO) - {"several_answers"}) | NOTHING_ASSERTED
"""Those of a doctor that answered nothing: `of those who answered` leaves them out."""

_NOT_ITS_FAULT = frozenset(("replies_exhausted", "unattended"))
"""Reasons of an ending by the doctor that lie in the recording or in the operator."""
_NAMED = {"error": "agent_error", "timeout": "agent_timeout"}
_RECORDING_ENDED = re.compile(r"RuntimeError: \S+ took \d+ actions in the recorded episode, and is asked for one more")
"""How an ending tells of a recording that was over, as stored before such endings had a reason of their own."""


def missed(ending: Ending | None) -> str:
    """Why a doctor that had its chance scores 0.0, one of `ZERO`; "" if it answered, or did not fail by itself.

    A reason of the doctor's that is not listed, which a scenario of the user's may give, stands for itself. An ending
    by a limit counts only where it says that the doctor used it up by itself: those stored before do not say.
    """
    if ending is None or ending.cause == "completed":
        return ""
    if (ending.cause, ending.reason) == ("parser", "unreadable"):
        return "unreadable"
    if ending.cause == "limit":
        return f"limit_{ending.reason}" if ending.facts.get("fault") == DOCTOR else ""
    if ending.cause != DOCTOR or ending.reason in _NOT_ITS_FAULT or _RECORDING_ENDED.match(ending.detail):
        return ""
    return _NAMED.get(ending.reason, ending.reason or "no_answer")


def unscored(ending: Ending | None) -> str:
    """Why an episode that ended so has no score, or "" if it has one.

    `open` while it goes on; for a failure that is not the doctor's its cause and reason, as in `provider/timeout`.
    """
    if ending is None:
        return "open"
    if ending.cause == "completed" or missed(ending):
        return ""
    return f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause


def unread_shapes(endings: Iterable[Ending | None]) -> dict[str, int]:
    """How many of the doctors' replies could not be used, by their shape (scenarios/parsers/unread.py), commonest
    first.

    Most of one shape, which a person would have understood, points to a faulty parser. Endings stored before shapes
    were kept, and those by a cause outside the rules, have none.
    """
    found: Counter[str] = Counter()
    for ending in endings:
        shapes = ending.facts.get("unread_shapes") if ending else None
        if isinstance(shapes, Mapping):
            found.update({str(name): count for name, count in shapes.items() if isinstance(count, int)})
    return dict(sorted(found.items(), key=lambda pair: (-pair[1], pair[0])))


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
