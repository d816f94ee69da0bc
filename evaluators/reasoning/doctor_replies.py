"""The doctor's replies whose reasoning is judged, and what the doctor knew of the case at each.

Each reply comes with the text of the case that the doctor had by then, by which its steps are judged.
"""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import msgspec

from wardround.engine.events import Acted, effective
from wardround.engine.records import Action, Json
from wardround.engine.trajectory import Trajectory
from wardround.scenarios import case as disclosure
from wardround.scenarios.case import Case
from wardround.scenarios.encounters import staged, workup
from wardround.scenarios.parsers import published
from wardround.scenarios.parsers.moves import ANSWERING, Conclusion, Pick, answers_of, texts_of

AUTHOR = "doctor"

Stage = Literal["examination", "conclusion"]


class DoctorReply(msgspec.Struct, frozen=True):
    """One reply: its turn (1 is the first), the event number `seq`, its `text` and `thinking`, and what was `known`.

    The last reply of an episode is its `conclusion`; those before it ask for something (`examination`). A `typed` reply
    is a command of the game without any words: there is nothing in it to judge.
    """

    turn: int
    seq: int
    stage: Stage
    text: str
    thinking: str
    known: str
    typed: bool = False
    scenario: str = ""


def replies(case: Case, trajectory: Trajectory, *, as_seen: bool = False) -> list[DoctorReply]:
    """Return all replies that count, in order. Silence that ends the episode counts as an empty reply.

    A rejected reply does not count as a turn: nobody answered it and another reply follows. It does count if the game
    itself continues from it (LAB in a work-up). Silence before further words does not count either. If the last words
    were rejected and silence followed, those words are the conclusion. Where nobody can be asked, only the conclusion
    counts.

    The `known` text begins with the report without its tests, or with the whole report where nobody can be asked; with
    `as_seen` it begins with what the doctor of this scenario reads first (`opening_text`).
    """
    whole = disclosure.open_report(case) if can_ask(trajectory) else disclosure.full_report(case)
    heard = [opening_text(case, trajectory) if as_seen else whole]
    counted: list[DoctorReply] = []
    counts, name = _counting_replies(trajectory), scenario_name(trajectory)
    for event in effective(trajectory.events):
        if not isinstance(event, Acted):
            continue
        action = event.action
        if event.seat in ANSWERING:
            heard.append(action.text.strip() or texts_of(answers_of(action)))
        elif event.seq in counts:
            known = "\n".join(part for part in heard if part)
            typed = action.verb != "reply" and not action.text.strip()
            turn = len(counted) + 1
            counted.append(
                DoctorReply(turn, event.seq, "examination", action.text, action.thinking, known, typed, name)
            )
    if counted:
        counted[-1] = msgspec.structs.replace(counted[-1], stage="conclusion")
    return counted


def opening_text(case: Case, trajectory: Trajectory) -> str:
    """Return what the doctor read before its first reply: the history in a work-up, the complaint in a consultation."""
    name = scenario_name(trajectory)
    if name == "workup":
        return case.opening
    if name == "consultation":
        return case.complaint or case.opening
    return disclosure.open_report(case) if can_ask(trajectory) else disclosure.full_report(case)


def _counting_replies(trajectory: Trajectory) -> frozenset[int]:
    """Return the `seq` of each reply that was not rejected."""
    acts = [event for event in trajectory.acted() if event.seat == AUTHOR or event.seat in ANSWERING]
    answered = {before.seq for before, event in pairwise(acts) if before.seat == AUTHOR and event.seat in ANSWERING}
    own = [event for event in acts if event.seat == AUTHOR]
    spoken = [event for event in own if not _is_silent(event.action)]
    # silence ends an episode only if the last words were answered; otherwise those words are the last reply
    last = spoken[-1] if spoken and spoken[-1].seq not in answered else own[-1] if own else None
    kept, closing = [], False
    for event in spoken:
        if event is last or event.seq in answered:
            kept.append(event.seq)
        elif not closing and (choice := _next_demand(event.action, _scenario_header(trajectory))):
            kept.append(event.seq)
            closing = choice == "answer"
    return frozenset([*kept, *([last.seq] if last else [])])


def _next_demand(action: Action, played: Mapping[str, Json]) -> Literal["", "list", "answer"]:
    """Return what the game asks the doctor for after this action, before another seat acts; "" if for nothing.

    In a work-up the doctor chooses a kind of test before its list, and OUTPUT before the diagnosis. In one turn, the
    demand for the diagnosis follows a first reply that asks for nothing.
    """
    name, settings = played.get("name"), played.get("settings")
    if action.verb != "reply":
        return ""
    if name == "workup":
        as_published = isinstance(settings, Mapping) and settings.get("reading") == "published"
        move = published.read_move(action.text) if as_published else workup.read_workup(action.text)
        if isinstance(move, Pick) and move.kind != "examination":
            return "answer" if move.kind == "output" else "list"
    elif name == "one-turn" and isinstance(staged.read_staged(action.text, last=False), Conclusion):
        return "answer"
    return ""


def scenario_name(trajectory: Trajectory) -> str:
    """Return the name of the scenario that was played, from the run's header."""
    return str(_scenario_header(trajectory).get("name", ""))


def _scenario_header(trajectory: Trajectory) -> Mapping[str, Json]:
    of = trajectory.header.get("scenario")
    return of if isinstance(of, Mapping) else {}


def _is_silent(action: Action) -> bool:
    return action.verb == "reply" and not action.text.strip() and not action.thinking.strip()


def can_ask(trajectory: Trajectory) -> bool:
    """Whether the doctor can ask anyone; otherwise it reads the whole report at once."""
    seats = trajectory.header.get("seats")
    known = set(seats) if isinstance(seats, dict) else {event.seat for event in trajectory.acted()}
    return not known.isdisjoint(ANSWERING)
