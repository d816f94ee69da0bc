"""An open question with a rubric, and episodes in which it is answered."""

from typing import Any

from wardround.engine.events import Acted, Closed, Event, Opened
from wardround.engine.records import Action, Ending
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Provenance
from wardround.scenarios.criteria import RubricItem
from wardround.scenarios.question_item import QuestionItem, QuestionTruth

CRITERIA = (
    RubricItem(criterion="Advises calling an ambulance at once", points=7, tags=("axis:accuracy",)),
    RubricItem(criterion="Asks since when the weakness lasts", points=3, tags=("axis:context",)),
    RubricItem(criterion="Recommends waiting until tomorrow", points=-8, tags=("axis:accuracy",)),
)


def item(**fields: Any) -> QuestionItem:
    """An open question with a rubric."""
    whole: dict[str, Any] = {
        "id": "q1",
        "form": "free",
        "question": "My arm went weak. What now?",
        "truth": QuestionTruth(),
        "rubric": CRITERIA,
        "kind": ("theme:emergency",),
        "provenance": Provenance(source="written for a test"),
        "data_class": "public",
    }
    return QuestionItem(**(whole | fields))


def told(*replies: str, ending: Ending | None = None, **facts: Any) -> Trajectory:
    """An episode with these answers."""
    events: list[Event] = [Opened(0, 0.0, "e", "q1", "h", "questions", 1, 0)]
    events += [Acted(n, float(n), "doctor", Action("reply", text)) for n, text in enumerate(replies, 1)]
    last = ending or Ending("completed", facts={"answer": {"answer": replies[-1]}, **facts})
    events.append(Closed(len(events), float(len(events)), last))
    return Trajectory(events, {"seats": {"doctor": {}}, "scenario": {"name": "questions", "goal": "answer"}})
