"""A run as a file: events as JSON lines, out of any store and into any other."""

from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.events import Row, decode
from wardround.engine.protocols import Store
from wardround.engine.records import Ending, Json
from wardround.engine.rows import EpisodeRow
from wardround.engine.stores.memory import digest_of

FORMAT = "wardround-run-1"


class _Text(msgspec.Struct, frozen=True, tag_field="line", tag="text"):
    digest: str
    text: str


class _Run(msgspec.Struct, frozen=True, tag_field="line", tag="run"):
    format: str
    name: str
    header: Mapping[str, Json]


class _Episode(msgspec.Struct, frozen=True, tag_field="line", tag="episode"):
    row: EpisodeRow


class _Event(msgspec.Struct, frozen=True, tag_field="line", tag="event"):
    episode: str
    seq: int
    hash: str
    body: str


_Line = _Run | _Text | _Episode | _Event
_decoder: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


async def written(store: Store, name: str) -> AsyncIterator[bytes]:
    """The lines of a run: itself, the texts it names, then each episode followed by its events as they are stored."""
    run = await store.run(name)
    yield msgspec.json.encode(_Run(FORMAT, run.name, run.header))
    for digest in await _digests(store, run.header):
        yield msgspec.json.encode(_Text(digest, (await store.get(digest)).decode()))
    async for episode in store.episodes(name):
        yield msgspec.json.encode(_Episode(episode))
        async for row in store.read(name, episode.id):
            yield msgspec.json.encode(_Event(episode.id, row.seq, row.hash.hex(), row.body.decode()))


async def _digests(store: Store, header: Mapping[str, Any]) -> list[str]:
    """Every text the header names, and every one that the index it names leads to; each once, in order."""
    index = header.get("cases", {}).get("index")
    named = [*header.get("prompts", {}).values(), *header.get("tables", {}).values(), *([index] if index else [])]
    if index:
        named += [digest for _, digest in msgspec.json.decode(await store.get(index))]
    return list(dict.fromkeys(named))


async def read_into(store: Store, path: Path, name: str | None = None) -> str:
    """Read a written run into `store`, under `name` if given; returns its name.

    Every hash is checked before the run is created. Raises UsageError naming file and line.
    """
    run: _Run | None = None
    texts: list[bytes] = []
    episodes: list[EpisodeRow] = []
    rows: dict[str, list[Row]] = {}
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        if isinstance(line, _Run):
            if line.format != FORMAT:
                raise UsageError(f"{where}: format {line.format!r} is not {FORMAT!r}")
            run = line
        elif isinstance(line, _Text):
            texts.append(line.text.encode())
            if digest_of(texts[-1]) != line.digest:
                raise UsageError(f"{where}: the text was altered: its digest is not {line.digest}")
        elif isinstance(line, _Episode):
            episodes.append(line.row)
            rows[line.row.id] = []
        elif line.episode in rows:
            rows[line.episode].append(Row(line.seq, bytes.fromhex(line.hash), line.body.encode()))
        else:
            raise UsageError(f"{where}: an event of {line.episode!r}, which is not listed before it")
    if run is None:
        raise UsageError(f"{path}: no line says which run this is; was it written by `wardround export`?")
    for stored in rows.values():
        decode(stored)
    chosen = name or run.name
    await store.create_run(chosen, run.header)
    await store.put(texts)
    await store.plan(chosen, episodes)
    for episode in episodes:
        ending = Ending(episode.cause, episode.reason) if episode.cause else None
        await store.append(chosen, episode.id, rows[episode.id], ending=ending)
    return chosen


def _lines(path: Path) -> Iterator[tuple[int, _Line]]:
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, 1):
                if raw.strip():
                    try:
                        yield number, _decoder.decode(raw)
                    except msgspec.DecodeError as error:
                        raise UsageError(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
