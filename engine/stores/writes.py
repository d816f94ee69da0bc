"""What the database stores share: the writes that they gather into groups (group commit), and the rows they list."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import anyio
import msgspec

from wardround.engine.budget import Spending
from wardround.engine.errors import LeaseLost, StoreError, WardroundError
from wardround.engine.events import Row, digest_of
from wardround.engine.records import Ending, Json, RunRow, Score
from wardround.engine.sessions import RunControl, SessionRow

SqlRow = Any
"""A row of a query: a value for each column, of the type that its statement names."""
GATHER = 0.005
"""Seconds for which a group gathers writes, because a commit costs far more than an append (docs/performance.md)."""

ALONE = 3
"""Groups of one write in a row after which no group waits for others: probably one client plays one episode."""


class Append(NamedTuple):
    """Events of one episode with its ending and spending, in one commit.

    With a `holder` they are written only if that session holds the episode.
    """

    run: str
    episode: str
    rows: Sequence[Row] = ()
    ending: Ending | None = None
    spent: Mapping[str, Spending] | None = None
    holder: int | None = None

    def __bool__(self) -> bool:
        """Whether there is anything to write; an empty append only waits for earlier ones."""
        return bool(self.rows or self.ending or self.spent)


class Keep(NamedTuple):
    """An answer for the call cache."""

    key: str
    answer: bytes


class KeepTexts(NamedTuple):
    """Texts by their digests; those that are stored already stay."""

    texts: Mapping[str, bytes]


class ScoreWrite(NamedTuple):
    """All scores of one episode by one evaluator, which replace its earlier ones."""

    run: str
    episode: str
    evaluator: str
    scores: Sequence[Score]

    def rows(self) -> list[tuple[int, str, float | None, str, bytes]]:
        """(position, name, value, reason, evidence) of each score."""
        return [(i, s.name, s.value, s.reason, msgspec.json.encode(s.evidence)) for i, s in enumerate(self.scores)]


Write = Append | Keep | KeepTexts | ScoreWrite
"""Something to be written; the writes of one moment share a commit."""
Failures = Mapping[int, WardroundError]
"""The errors of writes that failed, by their place in the group."""


class Unwritable(StoreError):
    """A value that a database cannot hold: its write fails, but the others of the group do not."""


def no_episode(where: object, work: Append | ScoreWrite) -> StoreError:
    """The error for a write to an episode that the store at `where` does not have."""
    return StoreError(f"{where}: run {work.run!r} has no episode {work.episode!r}")


def append_refusal(work: Append, holder: int | None, events: int) -> WardroundError:
    """The error for an append to an episode that has `events` events and belongs to session `holder`."""
    if work.holder is not None and holder != work.holder:
        return LeaseLost(f"episode {work.episode} of run {work.run} no longer belongs to session {work.holder}")
    return StoreError(f"episode {work.episode}: event {work.rows[0].seq} does not follow event {events - 1}")


EPISODE = "name, number, case_id, repeat, cause, reason, events, at"
"""The columns of an EpisodeRow, in its order."""


_DIGEST = "_digest"
"""The field of a stored header with the digest of all other fields; older headers lack it."""


def header_bytes(header: Mapping[str, Json]) -> bytes:
    """A header in its stored form: with its digest, which reveals altered bytes even if they are still JSON."""
    return msgspec.json.encode({**header, _DIGEST: digest_of(msgspec.json.encode(header))})


def run_row(name: str, created: float, stored: bytes) -> RunRow:
    """A RunRow from a stored header; the row of a damaged header says what is wrong, and only that run is unusable."""
    try:
        header = msgspec.json.decode(stored, type=dict[str, Json])
    except (msgspec.DecodeError, RecursionError) as error:
        return RunRow(name, created, {}, f"it cannot be read ({error})")
    digest = header.pop(_DIGEST, None)
    if digest is not None and digest != digest_of(msgspec.json.encode(header)):
        return RunRow(name, created, {}, "it was altered: its digest does not fit")
    return RunRow(name, created, header)


def undamaged_run(row: RunRow, where: object) -> RunRow:
    """The row, if its header is undamaged; else raises StoreError naming the run."""
    if row.damage:
        raise StoreError(
            f"{where}: the header of run {row.name} is damaged: {row.damage}; the other runs can be used. To save this "
            "one put back a copy of the store, or import the run from a file that `wardround export` wrote"
        )
    return row


def session_row(row: SqlRow) -> SessionRow:
    """A SessionRow from a row of a query with its columns in the same order.

    The status is only displayed, so a damaged one counts as empty.
    """
    number, run, host, pid, began, seen, ended, alive, stored = row
    try:
        status = msgspec.json.decode(stored, type=dict[str, Json])
    except msgspec.DecodeError:
        status = {}
    return SessionRow(number, run, host, pid, began, seen, ended, bool(alive), status)


def control_of(rows: Sequence[SqlRow]) -> RunControl:
    """The orders in the rows of a query, or the default if there are none. Raises StoreError if they are damaged."""
    if not rows or rows[0][0] is None:
        return RunControl()
    try:
        return msgspec.json.decode(rows[0][0], type=RunControl)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the orders of this run are damaged ({error}): put back a copy of the store, or import the run"
        ) from error


_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")


class _Waiting(Generic[_Question, _Answer]):
    __slots__ = ("answer", "over", "question")

    def __init__(self, question: _Question, answer: "asyncio.Future[_Answer]") -> None:
        self.question, self.answer, self.over = question, answer, False


class Rounds(Generic[_Question, _Answer]):
    """Answers questions in rounds; those that arrive during one round form the next, at most `largest` of them.

    `work` returns the answers of a round in the order of its questions. An answer that is an error is raised in the
    task that asked. An error that `work` itself raises is raised in all tasks of the round. Each round begins `pause`
    seconds late, so that more questions can join. After three rounds of one question no round waits, until two
    questions come together.
    """

    def __init__(
        self,
        work: Callable[[Sequence[_Question]], Awaitable[Sequence[_Answer | WardroundError]]],
        largest: int,
        pause: float = 0.0,
    ) -> None:
        self._work, self._largest, self._pause, self._alone = work, largest, pause, 0
        self._waiting: list[_Waiting[_Question, _Answer]] = []
        self._task: asyncio.Task[None] | None = None

    async def ask(self, question: _Question, *, to_the_end: bool = False) -> _Answer:
        """The answer; a task that is cancelled does not affect the others, and waits all the same if `to_the_end`."""
        loop = asyncio.get_running_loop()
        entry: _Waiting[_Question, _Answer] = _Waiting(question, loop.create_future())
        self._waiting.append(entry)
        if self._task is None or self._task.done():
            # No task group can own this task: one task would have to enter the group before the first question and
            # leave it after the last, but a store is made outside of any loop and used by many tasks. Nor can the first
            # asking task do the work for all, because its cancellation would break it. So the task ends with the last
            # question, its errors are raised in the asking tasks, and aclose() waits for it.
            self._task = loop.create_task(self._rounds(), name="wardround-store")
        try:
            return await entry.answer
        except asyncio.CancelledError:
            if to_the_end and not entry.over:
                entry.answer = loop.create_future()
                with anyio.CancelScope(shield=True):  # only made here: a scope costs as much as the rest of an append
                    await entry.answer
            raise

    async def _rounds(self) -> None:
        try:
            while self._waiting:
                if self._pause and (self._alone < ALONE or len(self._waiting) > 1):
                    await asyncio.sleep(self._pause)
                group = self._waiting[: self._largest]
                self._alone = self._alone + 1 if len(group) == 1 else 0
                answers = await self._answers([entry.question for entry in group])
                del self._waiting[: len(group)]
                _settle(group, answers)
        finally:  # questions are left only if the loop ends before them
            left, self._waiting = self._waiting, []
            _settle(left, [StoreError("the store was left in the middle of its work")] * len(left))

    async def _answers(self, questions: Sequence[_Question]) -> Sequence[_Answer | WardroundError]:
        try:
            return await self._work(questions)
        except WardroundError as error:
            return [error] * len(questions)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - later questions wait for this task, so it must not end
            broken = StoreError(
                f"the store failed with an unexpected error: {error!r}; resume the run, and report this error"
            )
            broken.__cause__ = error
            return [broken] * len(questions)

    async def aclose(self) -> None:
        """Wait until all questions are answered."""
        if self._task is not None and not self._task.done():
            await asyncio.wait([self._task])


def _settle(group: Sequence[_Waiting[_Question, _Answer]], answers: Sequence[_Answer | WardroundError]) -> None:
    for entry, answer in zip(group, answers, strict=True):
        entry.over = True
        if entry.answer.done():
            continue
        if isinstance(answer, WardroundError):
            entry.answer.set_exception(answer)
        else:
            entry.answer.set_result(answer)


LARGEST_GROUP = 2000
"""The most writes in one group, so that those of an outage are not sent as one huge statement."""


class Gatherer:
    """Calls `commit` with all waiting writes, in their order, one group after the other.

    `commit` writes a group in one transaction and returns the failures of those that it did not write. If it raises,
    every write of the group fails with that error; after an Unwritable each is tried alone, so that only those
    with the bad value fail. The next group is tried in any case.
    """

    def __init__(self, commit: Callable[[Sequence[Write]], Awaitable[Failures]]) -> None:
        self._commit = commit
        self._rounds: Rounds[Write, None] = Rounds(self._write_group, LARGEST_GROUP, GATHER)

    def write(self, work: Write) -> Coroutine[object, object, None]:
        """Return when this write and all earlier ones are committed; cancellation waits for that too."""
        return self._rounds.ask(work, to_the_end=True)

    async def _write_group(self, writes: Sequence[Write]) -> Sequence[WardroundError | None]:
        try:
            failures = await self._commit(writes) if any(writes) else {}
        except Unwritable as error:
            return [error] if len(writes) == 1 else [(await self._write_group([work]))[0] for work in writes]
        return [failures.get(place) for place in range(len(writes))]

    async def aclose(self) -> None:
        """Commit the waiting writes."""
        await self._rounds.aclose()


LARGEST_RECALL = 500
"""The most keys in one look-up."""
