"""A stored run without its cases: its header, episodes and trajectories; quick to load, for verbs that only look."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Self

from wardround.engine.errors import LogError, UsageError
from wardround.engine.events import Closed, Event, Row, check_end, decode, decode_last
from wardround.engine.plugins import named, names
from wardround.engine.protocols import Store, StoreOpener
from wardround.engine.records import Ending, EpisodeRow, Json
from wardround.engine.trajectory import Trajectory
from wardround.runs.header import EvaluationHeader, Header, RunHeader, read_header

STORES = "wardround.stores"
"""The group of entry points whose names are the schemes of stores; each stands for a StoreOpener."""


def open_store(where: str | Path) -> Store:
    """The store at a path or `sqlite:PATH`, at `postgresql://USER:PASSWORD@HOST:PORT/DATABASE`, or of another scheme.

    Raises UsageError naming the schemes there are, of this package and of others that are installed.
    """
    text = str(where)
    scheme, colon, rest = text.partition(":")
    if colon and scheme in names(STORES):
        opener: StoreOpener = named(STORES, scheme)
        return opener(text)
    if colon and rest.startswith("//"):
        there = ", ".join(f"{name}:" for name in names(STORES))
        raise UsageError(f"store {scheme}://...: only a path or one of these can be opened: {there}")
    opener = named(STORES, "sqlite")
    return opener(text)


def file_of(where: str) -> Path | None:
    """The file that a store at `where` is, None for one that is no file."""
    scheme, colon, rest = where.partition(":")
    if colon and scheme == "sqlite":
        return Path(rest.removeprefix("//"))
    return None if colon and (scheme in names(STORES) or rest.startswith("//")) else Path(where)


class StoredEpisodes:
    """The episodes of one run of a store, whatever its header says."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name

    async def episodes(self, limit: int | None = None) -> list[EpisodeRow]:
        """How each episode stands, or the first `limit` of them."""
        return [row async for row in self.store.episodes(self.name, limit=limit)]

    async def endings(self) -> dict[str, int]:
        """Number of episodes by cause; those still open under `open`."""
        return dict(await self.store.endings(self.name))

    async def episode(self, name: str) -> EpisodeRow:
        """An episode by its id, its number, or its case if that was played once; raises UsageError."""
        found = await self.store.find(self.name, name, 11)
        if len(found) == 1:
            return found[0]
        if found:
            some = ", ".join(row.id for row in found[:10])
            raise UsageError(f"case {name} was played more than once: {some}{', ...' * (len(found) > 10)}")
        some = ", ".join(row.id for row in await self.episodes(limit=5))
        count = sum((await self.endings()).values())
        raise UsageError(f"run {self.name} has no episode {name!r}; it has {count}: {some}{', ...' * (count > 5)}")

    @contextmanager
    def naming(self, episode: str) -> Iterator[None]:
        """Let a LogError that is raised in the block name run and episode."""
        try:
            yield
        except LogError as error:
            raise LogError(f"run {self.name}, episode {episode}: {error}", seq=error.seq) from error

    async def rows(self, episode: str | EpisodeRow) -> list[Row]:
        """The stored events of an episode; raises LogError if one was altered or is missing, the last ones too."""
        known = await self.episode(episode) if isinstance(episode, str) else episode
        rows = [row async for row in self.store.read(self.name, known.id)]
        self._decoded(known, rows)
        return rows

    def _decoded(self, episode: EpisodeRow, rows: Sequence[Row]) -> tuple[Event, ...]:
        with self.naming(episode.id):
            events = decode(rows)
            check_end(events[-1] if events else None, episode)
        return events

    async def events(self, episode: EpisodeRow) -> tuple[Event, ...]:
        """All events of an episode; raises LogError as `rows` does."""
        return self._decoded(episode, [row async for row in self.store.read(self.name, episode.id)])

    async def last(self, row: EpisodeRow, count: int) -> Sequence[Event]:
        """The last `count` events of an episode; raises LogError if one was altered or is missing."""
        after = max(-1, row.events - count - 2)  # and the one before them, from whose hash theirs follow
        with self.naming(row.id):
            rows = [line async for line in self.store.read(self.name, row.id, after=after)]
            events = decode_last(rows) if after >= 0 else decode(rows)
            check_end(events[-1] if events else None, row)
        return events[-count:]

    async def ending(self, row: EpisodeRow) -> Ending | None:
        """How an episode ended, from its last event alone; None while it is open."""
        last = await self.last(row, 1) if row.cause is not None else ()
        return last[-1].ending if last and isinstance(last[-1], Closed) else None


class StoredRun(StoredEpisodes):
    """One run of a store; `header` says all about it (docs/store.md), `json` is the same as a JSON object."""

    def __init__(self, store: Store, name: str, header: Header) -> None:
        super().__init__(store, name)
        self.header = header

    @classmethod
    async def open(cls, store: Store, name: str) -> Self:
        """The run called `name`.

        Raises UsageError naming those there are, StoreError for a header that cannot be read.
        """
        row = await store.run(name)
        return cls(store, row.name, read_header(row))

    @cached_property
    def json(self) -> Mapping[str, Json]:
        """The header as a JSON object."""
        return self.header.to_json()

    @property
    def evaluated(self) -> str:
        """The run that this one is an evaluation of, '' if it is none."""
        return self.header.evaluates if isinstance(self.header, EvaluationHeader) else ""

    def played(self, otherwise: str) -> RunHeader:
        """The header of a run that plays a scenario.

        Raises UsageError for an evaluation: `otherwise` says what that means for what was asked.
        """
        if isinstance(self.header, RunHeader):
            return self.header
        judged = self.header.evaluates
        raise UsageError(
            f"run {self.name} is an evaluation of run {judged}: {otherwise}; its figures stand in {judged}, and "
            f"`wardround score {judged} --evaluators {self.header.evaluator} ...` goes on with it"
        )

    def evaluation(self) -> EvaluationHeader:
        """The header of an evaluation; raises UsageError for another run."""
        if isinstance(self.header, EvaluationHeader):
            return self.header
        raise UsageError(f"run {self.name} is no evaluation")

    @property
    def restricted(self) -> int:
        """Number of its cases that may go to no host which the user did not name."""
        return self.header.cases.restricted

    async def trajectory(self, episode: str | EpisodeRow) -> Trajectory:
        """One trajectory, of an episode by its row or its id; raises LogError if an event was altered or is missing."""
        row = await self.episode(episode) if isinstance(episode, str) else episode
        return Trajectory(await self.events(row), self.json)

    async def __aiter__(self) -> AsyncIterator[Trajectory]:
        """All trajectories that have begun, in order."""
        async for row in self.store.episodes(self.name):
            if row.events:
                yield await self.trajectory(row)
