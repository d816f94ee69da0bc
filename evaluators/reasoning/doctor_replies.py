"""The replies of an episode whose reasoning is judged, and what their author knew of the case by then."""

from collections.abc import Mapping
from itertools import pairwise
from typing import Literal

import msgspec

from wardround.engine.events import Acted, effective
from wardround.engine.records import Action, Json
from wardround.engine.trajectory import Trajectory
from wardround.scenarios import case as disclosure
from wardround.scenarios import staged, workup
from wardround.scenarios.case import Case
from wardround.scenarios.parsers import published
from wardround.scenarios.parsers.moves import ANSWERING, Conclusion, Pick, answers, lines

AUTHOR = "doctor"

Stage = Literal["examination", "conclusion"]


class Reply(msgspec.Struct, frozen=True):
    """One reply: its turn (1 is the first), the event `seq` of the action, `text` and `thinking`, and what was `known`.

    The last reply of an episode is its `conclusion`; those before it ask for something: `examination`. One that is
    `typed` acts by a verb of the game, without a word: there is nothing in it to judge.
    """

    turn: int
    seq: int
    stage: Stage
    text: str
    thinking: str
    known: str
    typed: bool = False
    scenario: str = ""


def replies(case: Case, trajectory: Trajectory, *, as_seen: bool = False) -> list[Reply]:
    """All replies that count, in order. Silence that ends the episode is an empty one.

    What was sent back is no turn: words that nobody answered and that others follow, unless they are a choice that the
    game itself goes on from (LAB in a work-up). Silence that more words follow is none either. Where the last words
    were sent back and silence followed, the words are the conclusion. Where nobody can be asked there is only that.

    What is known begins with the report without its tests, or the whole report where nobody can be asked; `as_seen`
    with what the doctor of this game really reads first (`opened`).
    """
    whole = disclosure.summary(case) if asks(trajectory) else disclosure.full(case)
    told = [opened(case, trajectory) if as_seen else whole]
    found: list[Reply] = []
    counts, name = _counting(trajectory), scenario(trajectory)
    for event in effective(trajectory.events):
        if not isinstance(event, Acted):
            continue
        action = event.action
        if event.seat in ANSWERING:
            told.append(action.text.strip() or lines(answers(action)))
        elif event.seq in counts:
            known = "\n".join(part for part in told if part)
            typed = action.verb != "reply" and not action.text.strip()
            turn = len(found) + 1
            found.append(Reply(turn, event.seq, "examination", action.text, action.thinking, known, typed, name))
    if found:
        found[-1] = msgspec.structs.replace(found[-1], stage="conclusion")
    return found


def opened(case: Case, trajectory: Trajectory) -> str:
    """What the doctor read before its first reply: the history in a work-up, the complaint in a consultation."""
    name = scenario(trajectory)
    if name == "workup":
        return case.opening
    if name == "consultation":
        return case.complaint or case.opening
    return disclosure.summary(case) if asks(trajectory) else disclosure.full(case)


def _counting(trajectory: Trajectory) -> frozenset[int]:
    """The `seq` of each reply that was not sent back."""
    acts = [event for event in trajectory.acted() if event.seat == AUTHOR or event.seat in ANSWERING]
    answered = {before.seq for before, event in pairwise(acts) if before.seat == AUTHOR and event.seat in ANSWERING}
    own = [event for event in acts if event.seat == AUTHOR]
    spoken = [event for event in own if not _silent(event.action)]
    # silence ends an episode only where the last words were answered; else they are the last
    last = spoken[-1] if spoken and spoken[-1].seq not in answered else own[-1] if own else None
    kept, closing = [], False
    for event in spoken:
        if event is last or event.seq in answered:
            kept.append(event.seq)
        elif not closing and (choice := _choosing(event.action, _played(trajectory))):
            kept.append(event.seq)
            closing = choice == "answer"
    return frozenset([*kept, *([last.seq] if last else [])])


def _choosing(action: Action, played: Mapping[str, Json]) -> Literal["", "list", "answer"]:
    """What the game asks for next, without another seat, where this action is a move of it; "" where it is none.

    In a work-up a kind of test is chosen before its list, and OUTPUT before the diagnosis; in one turn, a first reply
    that asks for nothing is followed by the demand for the diagnosis.
    """
    name, settings = played.get("name"), played.get("settings")
    if action.verb != "reply":
        return ""
    if name == "workup":
        as_published = isinstance(settings, Mapping) and settings.get("reading") == "published"
        move = published.read_move(action.text) if as_published else workup.read(action.text)
        if isinstance(move, Pick) and move.kind != "examination":
            return "answer" if move.kind == "output" else "list"
    elif name == "one-turn" and isinstance(staged.read(action.text, last=False), Conclusion):
        return "answer"
    return ""


def scenario(trajectory: Trajectory) -> str:
    """The name of the scenario that was played, by the run's header."""
    return str(_played(trajectory).get("name", ""))


def _played(trajectory: Trajectory) -> Mapping[str, Json]:
    of = trajectory.header.get("scenario")
    return of if isinstance(of, Mapping) else {}


def _silent(action: Action) -> bool:
    return action.verb == "reply" and not action.text.strip() and not action.thinking.strip()


def asks(trajectory: Trajectory) -> bool:
    """Whether there is anyone to ask; else the whole report is told at once."""
    seats = trajectory.header.get("seats")
    known = set(seats) if isinstance(seats, dict) else {event.seat for event in trajectory.acted()}
    return not known.isdisjoint(ANSWERING)
