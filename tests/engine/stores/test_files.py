"""A run as a file: out of one store and into another, checked line by line, larger than the memory it takes."""

import asyncio
from pathlib import Path

import msgspec
import pytest

from wardround.engine.errors import LogError, StoreError, UsageError
from wardround.engine.events import Acted, Closed, Opened, Row, encode
from wardround.engine.protocols import Store
from wardround.engine.records import Action, Ending, EpisodeRow
from wardround.engine.stores.files import exported_lines, read_into
from wardround.engine.stores.sqlite import SqliteStore
from wardround.testing.memory_store import MemoryStore


def events(episode: str, *, closed: bool) -> list[Row]:
    """A short episode as it is stored."""
    first = encode(Opened(0, 1.0, episode, "c", "h", "s", 1, 1), b"")
    second = encode(Acted(1, 2.0, "x", Action("say", "ö\u2028")), first.hash)
    last = encode(Closed(2, 3.0, Ending("completed", "done")), second.hash)
    return [first, second, last] if closed else [first, second]


async def made(count: int) -> MemoryStore:
    """A store with a run of so many episodes, every third one open, every seventh not begun."""
    store = MemoryStore()
    [case, prompt] = await store.put([b"case", b"prompt"])
    [index] = await store.put([msgspec.json.encode([("c", case)])])
    await store.create_run(
        "r",
        {"cases": {"index": index}, "prompts": {"p": prompt}, "tables": {}},
        [EpisodeRow(f"e{n}", n, "c", n, None, "", 0, 0.0) for n in range(count)],
    )

    async def played(number: int) -> None:
        ending = Ending("completed", "done") if number % 3 else None
        await store.append("r", f"e{number}", events(f"e{number}", closed=bool(ending)), ending=ending)

    await asyncio.gather(*(played(number) for number in range(count) if number % 7))
    return store


async def lines(store: Store) -> list[bytes]:
    return [line async for line in exported_lines(store, "r")]


async def test_what_comes_out_goes_in_and_is_the_same(store: Store, tmp_path: Path) -> None:
    source = await made(450)
    whole = await lines(source)
    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\n".join(whole) + b"\n\n")
    assert await read_into(store, path) == "r"
    again = await lines(store)
    at = b'"at":'
    assert [line.partition(at)[0] for line in again] == [line.partition(at)[0] for line in whole]
    assert await store.endings("r") == await source.endings("r")
    assert await read_into(store, path, "other") == "other"
    with pytest.raises(UsageError, match="already a run 'r'"):
        await read_into(store, path)


@pytest.mark.parametrize(
    ("old", "new", "error", "told"),
    [
        (b"wardround-run-1", b"wardround-run-9", UsageError, "line 1: format"),
        (b'"text":"prompt"', b'"text":"tampered"', UsageError, "line [0-9]+: the text was altered"),
        (b"say", b"bay", LogError, "event 1 was altered"),
        (b'"line":"run"', b'"line":"walk"', UsageError, "line 1: "),
        (b'"line":"event","episode":"e2"', b'"line":"event","episode":"e9"', UsageError, "'e9', which is not listed"),
    ],
)
async def test_an_altered_file_is_refused_before_anything_is_written(
    tmp_path: Path, old: bytes, new: bytes, error: type[Exception], told: str
) -> None:
    path, store = tmp_path / "r.jsonl", MemoryStore()
    path.write_bytes(b"\n".join(await lines(await made(5))).replace(old, new))
    with pytest.raises(error, match=told):
        await read_into(store, path)
    assert await store.runs() == []


async def test_a_file_without_a_run_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.jsonl"
    path.write_bytes(b"")
    with pytest.raises(UsageError, match="no line says which run"):
        await read_into(MemoryStore(), path)
    with pytest.raises(UsageError, match="cannot be read"):
        await read_into(MemoryStore(), tmp_path / "nowhere")


async def test_a_store_that_fails_says_so_itself(tmp_path: Path) -> None:
    class Full(MemoryStore):
        async def append(self, *args: object, **more: object) -> None:
            raise StoreError("the disk is full")

    path = tmp_path / "r.jsonl"
    path.write_bytes(b"\n".join(await lines(await made(5))))
    with pytest.raises(StoreError, match="disk is full"):
        await read_into(Full(), path)


async def test_an_import_that_broke_off_is_gone_on_with(tmp_path: Path) -> None:
    path, source = tmp_path / "r.jsonl", await made(450)
    whole = await lines(source)
    path.write_bytes(b"\n".join(whole))
    store = SqliteStore(tmp_path / "a.db")
    connection = store._writing._sqlite  # SQLite's own limit raises what a full disk raises
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count = {pages + 45}")
    with pytest.raises(StoreError, match="disk is full"):
        await read_into(store, path)
    connection.execute("PRAGMA max_page_count = 100000")
    begun = [row.id async for row in store.episodes("r") if row.events]
    assert len([row async for row in store.episodes("r")]) == 450
    assert 0 < len(begun) < 380
    assert await read_into(store, path) == "r"
    at = b'"at":'
    assert [line.partition(at)[0] for line in await lines(store)] == [line.partition(at)[0] for line in whole]
    with pytest.raises(UsageError, match="already a run 'r'"):
        await read_into(store, path)
    await store.aclose()


async def test_only_what_an_import_left_is_gone_on_with(store: Store, tmp_path: Path) -> None:
    path, source = tmp_path / "r.jsonl", await made(5)
    path.write_bytes(b"\n".join(await lines(source)))
    header, rows = (await source.run("r")).header, [row async for row in source.episodes("r")]
    await store.create_run("whole", header, rows)
    assert await read_into(store, path, "whole") == "whole"  # not one was written yet
    assert await store.endings("whole") == await source.endings("r")
    await store.create_run("other header", {**header, "prompts": {}}, rows)
    await store.create_run("other episodes", header, rows[:-1])
    await store.create_run("played", header, rows)
    await (await store.begin("played", host="h", pid=1)).end()
    await store.create_run("other events", header, rows)
    await store.append("other events", "e1", events("e1", closed=False)[:1])
    for name in ("other header", "other episodes", "played", "other events"):
        with pytest.raises(UsageError, match=f"already a run '{name}'"):
            await read_into(store, path, name)
        assert (await store.endings(name)).get("completed") is None
