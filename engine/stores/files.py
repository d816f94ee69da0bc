"""Exports a run to a file of JSON lines and imports it again; writes files completely or not at all."""

import os
from codecs import BOM_UTF8
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from wardround.engine.errors import LogError, StoreError, UsageError
from wardround.engine.events import Row, check_end, decode, digest_of
from wardround.engine.once import together
from wardround.engine.protocols import Store
from wardround.engine.records import Ending, EpisodeRow, Json

FORMAT = "wardround-run-1"
"""The format of an export, in its first line."""
_TOGETHER = 200
"""The number of texts and episodes that are written together."""


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


class _Played(NamedTuple):
    """An episode with its events."""

    row: EpisodeRow
    events: list[Row]

    def check(self) -> "_Played":
        """The episode itself, if its events are consistent and none is missing at the end; raises LogError."""
        try:
            events = decode(self.events)
            check_end(events[-1] if events else None, self.row)
        except LogError as error:
            raise LogError(f"episode {self.row.id}: {error}", seq=error.seq) from error
        return self


_Line = _Run | _Text | _Episode | _Event
_decoder: msgspec.json.Decoder[_Line] = msgspec.json.Decoder(_Line)


async def exported_lines(store: Store, name: str) -> AsyncIterator[bytes]:
    """The lines of a run: its header, the texts it names, then each episode followed by its events as stored."""
    run = await store.run(name)
    yield msgspec.json.encode(_Run(FORMAT, run.name, run.header))
    for digest in await _digests(store, run.header):
        yield msgspec.json.encode(_Text(digest, (await store.get(digest)).decode()))
    async for episode in store.episodes(name):
        yield msgspec.json.encode(_Episode(episode))
        async for row in store.read(name, episode.id):
            yield msgspec.json.encode(_Event(episode.id, row.seq, row.hash.hex(), row.body.decode()))


def is_export(path: Path) -> bool:
    """Whether a file begins as `exported_lines` begins, or is empty; False for a file that cannot be read."""
    try:
        with path.open("rb") as file:
            first = file.readline(1 << 20).removeprefix(BOM_UTF8)
    except OSError:
        return False
    return b'"line":"run"' in first.replace(b" ", b"")[:100] or not first


async def _digests(store: Store, header: Mapping[str, Json]) -> list[str]:
    """The digests of all texts that the header and its index of cases name; each once, in order."""
    index = header.get("cases", {}).get("index")
    named = [*header.get("prompts", {}).values(), *header.get("tables", {}).values(), *([index] if index else [])]
    if index:
        named += [digest for _, digest in msgspec.json.decode(await store.get(index))]
    return list(dict.fromkeys(named))


Check = Callable[[str, Mapping[str, Json]], None]
"""Raises UsageError or StoreError for a run whose name or header cannot be used."""


async def read_into(store: Store, path: Path, name: str | None = None, check: Check | None = None) -> str:
    """Read a run from a file into `store`, under `name` unless that is None; returns its name.

    `check` is asked about the name and the header before the run is created.

    The file is read twice, so that every hash is checked before the run is created; at most a few hundred episodes with
    their events are in memory at a time. A second import of the same file continues an interrupted one. Raises
    UsageError naming file and line, and LogError for an altered event.
    """
    run: _Run | None = None
    rows: list[EpisodeRow] = []
    for part in _parts(path):
        if isinstance(part, _Run):
            run = part
        elif isinstance(part, _Played):
            rows.append(msgspec.structs.replace(part.row, events=len(part.events)))
    if run is None:
        raise UsageError(f"{path}: no line says which run this is; was it written by `wardround export`?")
    chosen = name or run.name
    if check is not None:
        check(chosen, run.header)
    try:
        await store.create_run(chosen, run.header, rows)
        there: frozenset[str] = frozenset()
    except UsageError:
        written_before = await _interrupted_import(store, chosen, run.header, rows)
        if written_before is None:
            raise
        there = written_before
    several: list[_Text | _Played] = []
    for part in _parts(path):
        if isinstance(part, _Text) or (isinstance(part, _Played) and part.row.id not in there):
            several.append(part)
        if len(several) == _TOGETHER:
            await _write(store, chosen, several)
            several = []
    await _write(store, chosen, several)
    return chosen


async def _interrupted_import(
    store: Store, name: str, header: Mapping[str, Json], rows: Sequence[EpisodeRow]
) -> frozenset[str] | None:
    """The episodes that an interrupted import of the same run had written; None if `name` is no such run.

    An episode is written whole or not at all, and no session works on an incomplete run.
    """
    if (await store.run(name)).header != header or await store.sessions(name):
        return None
    stored = [row async for row in store.episodes(name)]
    expected = sorted(rows, key=lambda row: row.number)
    if [_planned(row) for row in stored] != [_planned(row) for row in expected]:
        return None
    stored_whole: set[str] = set()
    left = False
    for row, whole in zip(stored, expected, strict=True):
        if (row.events, row.cause) == (whole.events, whole.cause):
            stored_whole.add(row.id)
        elif (row.events, row.cause) == (0, None):
            left = True
        else:
            return None
    begun = any(row.events for row in stored)
    return frozenset(stored_whole) if left or not begun else None


def _planned(row: EpisodeRow) -> tuple[int, str, str, int]:
    return row.number, row.id, row.case, row.repeat


async def _write(store: Store, run: str, parts: Sequence[_Text | _Played]) -> None:
    await store.put([part.text.encode() for part in parts if isinstance(part, _Text)])
    played = [part for part in parts if isinstance(part, _Played)]

    async def append(part: _Played) -> StoreError | None:
        ending = Ending(part.row.cause, part.row.reason) if part.row.cause else None
        try:
            await store.append(run, part.row.id, part.events, ending=ending)
        except StoreError as error:
            return error
        return None

    for failure in await together([partial(append, part) for part in played]):  # at once, so that they share commits
        if failure is not None:
            raise failure


def _parts(path: Path) -> Iterator[_Run | _Text | _Played]:
    """The parts of the file, with each episode and its events as one part; every hash is checked."""
    played: _Played | None = None
    for number, line in _lines(path):
        where = f"{path}, line {number}"
        if isinstance(line, _Event):
            if played is None or line.episode != played.row.id:
                raise UsageError(f"{where}: an event of {line.episode!r}, which is not listed right before it")
            played.events.append(Row(line.seq, _bytes_of(line.hash, where), line.body.encode()))
            continue
        if played is not None:
            yield played.check()
            played = None
        if isinstance(line, _Episode):
            played = _Played(line.row, [])
            continue
        if isinstance(line, _Run) and line.format != FORMAT:
            raise UsageError(f"{where}: format {line.format!r} is not {FORMAT!r}")
        if isinstance(line, _Text) and digest_of(line.text.encode()) != line.digest:
            raise UsageError(f"{where}: the text was altered: its digest is not {line.digest}")
        yield line
    if played is not None:
        yield played.check()


def _bytes_of(digits: str, where: str) -> bytes:
    try:
        return bytes.fromhex(digits)
    except ValueError as error:
        raise UsageError(f"{where}: the hash {digits[:80]!r} is not hexadecimal") from error


def _lines(path: Path) -> Iterator[tuple[int, _Line]]:
    try:
        with path.open("rb") as file:
            for number, written in enumerate(file, 1):
                raw = written.removeprefix(BOM_UTF8) if number == 1 else written
                if raw.strip():
                    try:
                        yield number, _decoder.decode(raw)
                    except msgspec.DecodeError as error:
                        raise UsageError(f"{path}, line {number}: {error}") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error


@contextmanager
def output(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Write the file `path`, and make its folder; an earlier file stays until the new one is complete.

    With `private` only the owner may read it. A device or a pipe is written directly. Raises UsageError naming the path
    if it cannot be written.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as stream:
                yield stream
            return
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with open(half, "wb", opener=owner_only if private else None) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        half.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}; name another file") from error
    finally:
        with suppress(OSError):  # if the folder could not be made there is no file
            half.unlink(missing_ok=True)


def owner_only(path: str, flags: int) -> int:
    """Open a file, for the `opener` of `open`, so that only its owner may read it if it is new."""
    return os.open(path, flags, 0o600)
