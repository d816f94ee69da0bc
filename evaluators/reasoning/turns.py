"""The replies of an episode whose reasoning is judged, and what their author knew of the case by then."""

from typing import Literal

import msgspec

from wardround.engine.events import Acted, effective
from wardround.engine.records import Action
from wardround.engine.trajectory import Trajectory
from wardround.scenarios import disclosure
from wardround.scenarios.answers import ANSWERING, answers, lines
from wardround.scenarios.case import Case

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


def replies(case: Case, trajectory: Trajectory) -> list[Reply]:
    """All replies, in order. Silence that ends the episode is an empty one.

    Silence that more words follow is none: they were asked for again. And where the last words were not answered but
    sent back, and silence followed, the words are the conclusion.
    """
    told = [disclosure.summary(case) if asks(trajectory) else disclosure.full(case)]
    found: list[Reply] = []
    last, heard = max((event.seq for event in trajectory.acted(AUTHOR)), default=0), True
    for event in effective(trajectory.events):
        if not isinstance(event, Acted):
            continue
        action = event.action
        if event.seat in ANSWERING:
            heard = True
            told.append(action.text.strip() or lines(answers(action)))
        elif event.seat == AUTHOR and (not _silent(action) or (event.seq == last and heard)):
            heard = False
            known = "\n".join(part for part in told if part)
            typed = action.verb != "reply" and not action.text.strip()
            turn = len(found) + 1
            found.append(Reply(turn, event.seq, "examination", action.text, action.thinking, known, typed))
    if found:
        found[-1] = msgspec.structs.replace(found[-1], stage="conclusion")
    return found


def _silent(action: Action) -> bool:
    return action.verb == "reply" and not action.text.strip() and not action.thinking.strip()


def asks(trajectory: Trajectory) -> bool:
    """Whether there is anyone to ask; else the whole report is told at once."""
    seats = trajectory.header.get("seats")
    known = set(seats) if isinstance(seats, dict) else {event.seat for event in trajectory.acted()}
    return not known.isdisjoint(ANSWERING)
