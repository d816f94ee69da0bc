"""What an examiner or patient answered: which parts of it the doctor hears."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict

from wardround.engine.records import Action, Json
from wardround.scenarios.records import Item

ANSWERING = ("examiner", "patient")
"""The seats that answer the doctor."""

_HEARD = ("asked", "kind", "state", "test", "text")
"""The citation, the rule and score of the match, the points and the mark of an assumed value are not for the doctor."""

FOUND = frozenset({"reported", "normal"})


def answers(action: Action) -> list[Mapping[str, Json]]:
    """The structured answers of an `answer`; what is no list of objects is no answer."""
    given = action.args.get("answers", [])
    return [answer for answer in given if isinstance(answer, Mapping)] if isinstance(given, list | tuple) else []


def tells_a_story(seat: str, action: Action, *, examined: bool) -> bool:
    """Whether no order is answered here: a patient beside an examiner, or asked about topics, tells what he knows."""
    return seat == "patient" and action.args.get("answers") is None and (examined or "topics" in action.args)


def found(given: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Those that tell a result."""
    return [answer for answer in given if answer.get("state") in FOUND]


def heard(given: Iterable[Mapping[str, Json]]) -> list[Json]:
    """The parts that a doctor may hear."""
    return [{name: answer[name] for name in _HEARD if name in answer} for answer in given]


def lines(given: Iterable[Mapping[str, Json]]) -> str:
    """Their texts, each once, one a line."""
    return "\n".join(dict.fromkeys(str(answer.get("text", "")) for answer in given))


def rows(items: Sequence[Item]) -> list[Json]:
    """Results of a case as the seat that looks them up gets them."""
    return [asdict(item) for item in items]
