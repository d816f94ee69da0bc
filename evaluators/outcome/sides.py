"""What the doctor asked for and what the record holds, as the texts and items that an assessment compares."""

from collections.abc import Mapping

import msgspec

from wardround.engine.records import Action, Json
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.judging.question import Origin
from wardround.evaluators.outcome.assessed import Item
from wardround.evaluators.requests import TESTS
from wardround.scenarios import case as disclosure
from wardround.scenarios import case as records
from wardround.scenarios.case import Case
from wardround.scenarios.parsers import reply_text
from wardround.scenarios.parsers.moves import ANSWERING, answers, tells_a_story


class Side(msgspec.Struct, frozen=True):
    """Examinations as a `text`; `items` where they are recorded one by one, so that no judge must tell them apart.

    `origin` says whose words they are, `evidence` which events (the doctor's actions) they were said in.
    """

    text: str
    origin: Origin
    items: tuple[Item, ...] | None = None
    evidence: tuple[int, ...] = ()


def asked(trajectory: Trajectory) -> Side:
    """All that was ordered or requested in an episode, in the doctor's words, one order after another.

    An order is an action that the examiner answers, or the patient where tests are asked of the patient. Of a reply
    with sections it is what stands under `Additional Information Required` (paper 002: the published code takes the
    same), else what the answer says was asked for, else the reply. Physical examination is none (paper 000).
    """
    examined = "examiner" in trajectory.header.get("seats", ())
    found: dict[int, str] = {}
    doctor: tuple[int, Action] | None = None
    for event in trajectory.acted():
        if event.seat not in ANSWERING:
            doctor = (event.seq, event.action)
        elif doctor is not None and _answers_an_order(event.seat, event.action, examined=examined):
            words = _words(doctor[1], answers(event.action))
            if words:
                found[doctor[0]] = words
    return Side("\n".join(found.values()), "reply", evidence=tuple(found))


def recorded(case: Case) -> Side:
    """The tests of the record: as a report tells them, else the tables' own names, each once."""
    text = disclosure.withheld(case)
    if case.ancillary.strip() or disclosure.split(case.opening)[1]:
        return Side(text, "reference")
    named: dict[tuple[str, str], Item] = {}
    for row in records.items(case):
        if row.kind in TESTS:
            name = " ".join(row.name.split())
            named.setdefault((row.kind, name.casefold()), Item(row.kind, name))
    return Side(text, "reference", tuple(named.values()))


def _answers_an_order(seat: str, action: Action, *, examined: bool) -> bool:
    if action.verb != "answer" or tells_a_story(seat, action, examined=examined):
        return False
    kinds = {answer.get("kind") for answer in answers(action)}
    return kinds != {"examination"}


def _words(action: Action, given: list[Mapping[str, Json]]) -> str:
    """An order as it was put."""
    said = reply_text.answer_part(action.text)
    wanted = [part.text for part in reply_text.sections(said) if part.name == "information"]
    if action.verb == "reply" and wanted and wanted[-1].strip():
        return wanted[-1].strip()
    listed = action.args.get("items")
    if isinstance(listed, list | tuple) and listed:
        return "\n".join(f"- {item}" for item in listed if isinstance(item, str) and item.strip())
    named = [str(answer.get("asked") or "").strip() for answer in given]
    if any(named):
        return "\n".join(f"- {name}" for name in dict.fromkeys(named) if name)
    return said.strip()
