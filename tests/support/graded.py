"""Builds cases and stored episodes by hand, for the tests of evaluators."""

from collections.abc import Mapping, Sequence
from typing import Any

from wardround.engine.events import Acted, Called, Closed, Event, Opened
from wardround.engine.records import Action, Completion, Ending, Message, Usage
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case, Culture, Finding, Investigation, Lab, Provenance, Study, Truth

SEATS = {
    "workup": ("doctor", "examiner"),
    "one-turn": ("doctor", "patient"),
    "free-turn": ("doctor", "patient"),
    "oracle": ("doctor",),
    "treatment": ("doctor",),
    "consultation": ("doctor", "patient", "examiner"),
}


def case(**fields: Any) -> Case:
    """A case of appendicitis with two labs, two cultures of one test, three studies, one investigation."""
    whole: dict[str, Any] = {
        "id": "case-1",
        "opening": "Pain in the right lower belly.",
        "examination": (Finding(section="Abdomen", text="Tender."),),
        "labs": (Lab(name="Haemoglobin", value="14.0"), Lab(name="White cells", value="15.2")),
        "microbiology": (
            Culture(test="Blood culture", time="2020-01-01"),
            Culture(test="Blood culture", time="2020-01-02"),
        ),
        "imaging": (
            Study(exam="Chest radiograph", report="Clear."),
            Study(exam="Chest radiograph", report="Clear still."),
            Study(exam="CT abdomen", report="Thick appendix."),
        ),
        "investigations": (Investigation(name="Laparoscopy", text="Inflamed appendix."),),
        "truth": Truth(diagnosis="Appendicitis", synonyms=("Appendiceal inflammation",)),
        "group": "Appendicitis",
        "provenance": Provenance(source="written for a test"),
        "data_class": "public",
    }
    return Case(**(whole | fields))


def answer(kind: str, asked: str, *refs: str, state: str = "reported", **more: Any) -> dict[str, Any]:
    """One answer of an examiner."""
    base = {"asked": asked, "kind": kind, "state": state, "refs": list(refs), "test": "", "rule": "exact"}
    return base | {"score": 1.0, "text": "...", "points": 1.0, "assumed": False} | more


def order(answers: Sequence[Mapping[str, Any]] | None, seat: str = "examiner") -> list[tuple[str, Action]]:
    """An order of the doctor and its answer."""
    args: dict[str, Any] = {} if answers is None else {"answers": list(answers)}
    return [("doctor", Action("order", "tests")), (seat, Action("answer", "told", args))]


def trajectory(
    *turns: tuple[str, Action],
    ending: Ending | None = None,
    scenario: str = "workup",
    calls: Sequence[Completion | tuple[str, str]] = (),
    goal: str = "diagnosis",
) -> Trajectory:
    """Calls, then turns, then the ending; one second lies between two events."""
    events: list[Event] = [Opened(0, 100.0, "e1", "case-1", "h", scenario, 1, 0)]
    for call in calls:
        seq = len(events)
        reply = call if isinstance(call, Completion) else None
        error = None if isinstance(call, Completion) else call
        events.append(
            Called(seq, 100.0 + seq, "doctor", "act", f"k{seq}", 0, [Message("user", "?")], reply=reply, error=error)
        )
    for seat, action in turns:
        events.append(Acted(len(events), 100.0 + len(events), seat, action))
    if ending is not None:
        events.append(Closed(len(events), 100.0 + len(events), ending))
    header = {
        "scenario": {"name": scenario, "goal": goal, "settings": {}},
        "seats": {seat: {} for seat in SEATS[scenario]},
    }
    return Trajectory(events, header)


def completed(answer: str = "Appendicitis", goal: str = "diagnosis", **facts: Any) -> Ending:
    """The ending of an episode with an answer."""
    tallies = {"replies": 4, "unusable": 1, "turns": 3, "orders": 1}
    return Ending("completed", facts={"answer": {goal: answer}, **tallies, **facts})


def reply(prompt: int = 10, completion: int = 5, cost: float | None = 0.01, latency: float = 0.5) -> Completion:
    """A model's reply that cost something."""
    return Completion("...", usage=Usage(prompt, completion, cost=cost), latency=latency)
