"""What stored evaluations hold is read from the last events of their episodes, once for all pages."""

import sqlite3
from pathlib import Path

import msgspec
import pytest
from counted import Counted
from plain_judge import PlainJudge
from sitting import court, played

from wardround.engine.errors import LogError, StoreError
from wardround.engine.events import Row, chain, decode_last
from wardround.engine.protocols import Store
from wardround.engine.records import Ending
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.report_files import write_pages
from wardround.runs.stored_run import Run
from wardround.scoring.score import score_run, scored
from wardround.scoring.scorings import chosen_scores, default_scorings
from wardround.scoring.stored_scores import texts_by_digest
from wardround.testing.memory_store import MemoryStore

COUNT = 4


async def judged(store: Store) -> Run:
    run = await played(store, COUNT)
    await score_run(run, [Reasoning()], judge=court(PlainJudge()))
    return run


@pytest.mark.long
async def test_figures_need_the_last_events_alone(tmp_path: Path) -> None:
    run = await judged(MemoryStore())
    counted = Counted(run.store)
    scores = await scored(Run(counted, run.name, run.header))
    # of each episode the last and the one before it; of its evaluation the act too
    assert counted.calls["rows"] == 2 * COUNT + 3 * COUNT
    assert [bool(row.answer) for row in scores.episodes] == [True] * COUNT
    counted.calls.clear()
    assert await write_pages(counted, ReportFigures([scores]), tmp_path / "report.html") == COUNT
    # of each episode its account and, for the dialogue, its events
    assert (counted.calls["runs"], counted.calls["read"]) == (0, 2 * COUNT)


@pytest.mark.long
async def test_an_account_is_found_however_its_fields_are_ordered() -> None:
    run = await judged(MemoryStore())
    [row] = [one for one in await run.store.runs() if one.header.get("evaluates")]
    other = MemoryStore()
    await other.create_run(run.name, run.json, await run.episodes())
    episodes = [one async for one in run.store.episodes(row.name)]
    await other.create_run(row.name, row.header, episodes)
    for one in episodes:
        lines: list[Row] = []
        async for line in run.store.read(row.name, one.id):
            fields = msgspec.json.decode(line.body)
            body = msgspec.json.encode(dict(reversed(fields.items())))
            lines.append(Row(line.seq, chain(lines[-1].hash if lines else b"", body), body))
        await other.append(row.name, one.id, lines, ending=Ending("completed"))
    told = [one.account async for one in chosen_scores(run, await default_scorings(run.store, run.name))]
    assert all(told)
    again = Run(other, run.name, run.header)
    assert [one.account async for one in chosen_scores(again, await default_scorings(other, run.name))] == told


async def test_a_last_event_that_was_altered_is_named() -> None:
    run = await judged(MemoryStore())
    rows = await run.rows((await run.episodes())[0].id)
    last = rows[-1]
    assert len(decode_last(rows[-2:])) == 1
    with pytest.raises(LogError, match=f"event {last.seq} was altered"):
        decode_last([rows[-2], msgspec.structs.replace(last, body=last.body.replace(b"completed", b"rules"))])
    with pytest.raises(LogError, match=f"event {last.seq - 1} is missing"):
        decode_last([rows[-3], last])


async def test_only_a_text_that_is_lost_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = SqliteStore(path)
    kept, altered = await store.put([b"one", b"two"])
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE texts SET body = ? WHERE digest = ?", (b"three", altered))
    assert await texts_by_digest(store, [kept, altered, "0" * 32]) == {kept: "one"}
    with connection:
        connection.execute("ALTER TABLE texts RENAME TO gone")
    connection.close()
    with pytest.raises(StoreError):
        await texts_by_digest(store, [kept])
    await store.aclose()
