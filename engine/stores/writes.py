"""What database stores have in common: the writes they queue and the rows they list."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from wardround.engine.budget import Spending
from wardround.engine.errors import LeaseLost, StoreError, WardroundError
from wardround.engine.events import Row, digest_of
from wardround.engine.records import Ending, Json, RunRow, Score
from wardround.engine.sessions import RunControl, SessionRow

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


EPISODE = "name, number, case_id, repeat, cause, reason, events, at"
"""The columns of an EpisodeRow, in its order."""


_DIGEST = "_digest"
"""The field of a stored header that holds the digest of all the others; older headers have none."""


def header_bytes(header: Mapping[str, Json]) -> bytes:
    """A header as it is stored: with its digest, so that altered bytes are seen even where they are still JSON."""
    return msgspec.json.encode({**header, _DIGEST: digest_of(msgspec.json.encode(header))})


def run_row(name: str, created: float, stored: bytes) -> RunRow:
    """A RunRow from a stored header; one that is damaged says how, and its run alone cannot be used."""
    try:
        header = msgspec.json.decode(stored, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        return RunRow(name, created, {}, f"it cannot be read ({error})")
    digest = header.pop(_DIGEST, None)
    if digest is not None and digest != digest_of(msgspec.json.encode(header)):
        return RunRow(name, created, {}, "it was altered: its digest does not fit")
    return RunRow(name, created, header)


def whole_run(row: RunRow, where: object) -> RunRow:
    """The row, if its header is whole; raises StoreError naming the run."""
    if row.damage:
        raise StoreError(
            f"{where}: the header of run {row.name} is damaged: {row.damage}; the other runs can be used. To save this "
            "one put back a copy of the store, or import the run from a file that `wardround export` wrote"
        )
    return row


def session_row(row: Sequence[Any]) -> SessionRow:
    """A SessionRow from a row of a query, its columns in the same order.

    What a session last said of itself is shown and nothing rests on it: damaged, it is as if it had said nothing.
    """
    number, run, host, pid, began, seen, ended, alive, told = row
    try:
        said = msgspec.json.decode(told, type=dict[str, Any])
    except msgspec.DecodeError:
        said = {}
    return SessionRow(number, run, host, pid, began, seen, ended, bool(alive), said)


def orders_of(row: Sequence[Any] | None) -> RunControl:
    """The orders in a row of a query; those nobody ever gave are the default. Raises StoreError if they are damaged."""
    if not row or row[0] is None:
        return RunControl()
    try:
        return msgspec.json.decode(row[0], type=RunControl)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the orders of this run are damaged ({error}): put back a copy of the store, or import the run"
        ) from error
