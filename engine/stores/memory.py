"""A store that forgets at the end of the process: for tests and for runs nobody wants to keep."""

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from wardround.engine.errors import StoreError, UsageError
from wardround.engine.events import Row
from wardround.engine.records import Ending, Json, Score
from wardround.engine.rows import EpisodeRow, RunRow


class MemoryStore:
    """Keeps everything in dictionaries; same contract as the others."""

    def __init__(self) -> None:
        self._runs: dict[str, RunRow] = {}
        self._texts: dict[str, bytes] = {}
        self._episodes: dict[tuple[str, str], EpisodeRow] = {}
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._scores: dict[tuple[str, str, str], list[Score]] = {}

    async def create_run(self, name: str, header: Mapping[str, Json]) -> None:
        """Start a run."""
        if name in self._runs:
            raise UsageError(f"there is already a run {name!r} in this store; choose another --name, or --resume it")
        self._runs[name] = RunRow(name, time.time(), dict(header))

    async def runs(self) -> Sequence[RunRow]:
        """All runs, oldest first."""
        return list(self._runs.values())

    async def run(self, name: str) -> RunRow:
        """One run."""
        if name not in self._runs:
            raise UsageError(f"there is no run {name!r} in this store; there are: {', '.join(self._runs) or 'none'}")
        return self._runs[name]

    async def put(self, texts: Iterable[bytes]) -> Sequence[str]:
        """Keep texts by their content."""
        digests = []
        for text in texts:
            digest = digest_of(text)
            self._texts[digest] = text
            digests.append(digest)
        return digests

    async def get(self, digest: str) -> bytes:
        """The text with this digest."""
        if digest not in self._texts:
            raise StoreError(f"the store has no text {digest}")
        return self._texts[digest]

    async def plan(self, run: str, episodes: Sequence[EpisodeRow]) -> None:
        """Add episodes."""
        for episode in episodes:
            self._episodes[run, episode.id] = episode
            self._rows[run, episode.id] = []

    async def append(self, run: str, episode: str, rows: Sequence[Row], *, ending: Ending | None = None) -> None:
        """Append events."""
        stored = self._rows[run, episode]
        if rows and rows[0].seq != len(stored):
            raise StoreError(f"episode {episode}: event {rows[0].seq} does not follow event {len(stored) - 1}")
        stored.extend(rows)
        row = self._episodes[run, episode]
        cause, reason = (row.cause, row.reason) if ending is None else (ending.cause, ending.reason)
        self._episodes[run, episode] = msgspec.structs.replace(
            row, cause=None if cause == "open" else cause, reason=reason, events=len(stored), at=time.time()
        )

    async def read(self, run: str, episode: str) -> AsyncIterator[Row]:
        """The events of one episode in order."""
        for row in list(self._rows.get((run, episode), ())):
            yield row

    async def episodes(self, run: str, *, causes: Sequence[str] | None = None) -> AsyncIterator[EpisodeRow]:
        """The episodes of a run."""
        for (name, _), row in list(self._episodes.items()):
            if name == run and (causes is None or (row.cause or "open") in causes):
                yield row

    async def put_scores(self, run: str, episode: str, evaluator: str, scores: Sequence[Score]) -> None:
        """Replace an evaluator's scores."""
        self._scores[run, episode, evaluator] = list(scores)

    async def scores(self, run: str) -> AsyncIterator[tuple[str, str, Score]]:
        """All scores of a run."""
        order = {episode: number for number, (name, episode) in enumerate(self._episodes) if name == run}
        found = [(order[e], e, v, scores) for (name, e, v), scores in self._scores.items() if name == run]
        for _, episode, evaluator, scores in sorted(found, key=lambda entry: (entry[0], entry[2])):
            for score in scores:
                yield episode, evaluator, score

    async def aclose(self) -> None:
        """Nothing to close."""


def digest_of(text: bytes) -> str:
    """The name of a text: 32 hex digits over its content."""
    return blake2b(text, digest_size=16).hexdigest()
