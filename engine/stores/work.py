"""What many ask a store to write at about the same time, in one commit."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import msgspec

from wardround.engine.errors import LeaseLost, StoreError, WardroundError
from wardround.engine.events import Row
from wardround.engine.records import Ending, Score
from wardround.engine.spending import Spending

GATHER = 0.005
"""Seconds a group may gather: a commit costs far more than an append (docs/performance.md)."""


class Append(NamedTuple):
    """Events of one episode, and what goes with them in one commit; only while session `holder` holds it, if given."""

    run: str
    episode: str
    rows: Sequence[Row] = ()
    ending: Ending | None = None
    spent: Mapping[str, Spending] | None = None
    holder: int | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to write; an empty one waits for what was given before it."""
        return bool(self.rows or self.ending or self.spent)


class Keep(NamedTuple):
    """An answer for the call cache."""

    key: str
    answer: bytes


class Judged(NamedTuple):
    """All scores of one episode by one evaluator, in place of those it gave before."""

    run: str
    episode: str
    evaluator: str
    scores: Sequence[Score]

    def rows(self) -> list[tuple[int, str, float | None, str, bytes]]:
        """(position, name, value, reason, evidence) of each."""
        return [(i, s.name, s.value, s.reason, msgspec.json.encode(s.evidence)) for i, s in enumerate(self.scores)]


Work = Append | Keep | Judged
Failures = Mapping[int, WardroundError]
"""What was not written, by its place in the group, and why."""


class Unwritable(StoreError):
    """A value that a database cannot hold: what it belongs to is not written, what came with that is."""


def no_episode(where: object, work: Append | Judged) -> StoreError:
    """The error for what belongs to an episode that the store at `where` does not have."""
    return StoreError(f"{where}: run {work.run!r} has no episode {work.episode!r}")


def refusal(work: Append, holder: int | None, events: int) -> WardroundError:
    """The error for an append to an episode that has `events` events and is held by session `holder`."""
    if work.holder is not None and holder != work.holder:
        return LeaseLost(f"episode {work.episode} of run {work.run} is no longer held by session {work.holder}")
    return StoreError(f"episode {work.episode}: event {work.rows[0].seq} does not follow event {events - 1}")
