"""A damaged store: what is damaged is named and left alone, and all the rest can be used."""

import sqlite3
from pathlib import Path

import pytest
from clinic import case_file
from examples import first_ones
from shell import Shell

from wardround import run as play
from wardround.engine.errors import LogError
from wardround.replay_run import replay_run
from wardround.testing.memory_store import MemoryStore


def change(store: Path, statement: str) -> None:
    """Damage a store from outside; the statement must have met something."""
    connection = sqlite3.connect(store)
    with connection:
        assert connection.execute(statement).rowcount
    connection.close()


def last_of(case: str) -> str:
    """The condition on the last event of the first run's episode of a case."""
    return f"episode = (SELECT id FROM episodes WHERE name = '{case}@1' AND run = 1) ORDER BY seq DESC LIMIT 1"


@pytest.fixture
def store(two_runs: Path) -> Path:
    return two_runs


LAST_GONE = "DELETE FROM events WHERE rowid = (SELECT rowid FROM events WHERE " + last_of("case-001") + ")"


def test_a_missing_last_event_is_named_by_every_verb(shell: Shell, store: Path) -> None:
    change(store, LAST_GONE)
    assert shell("replay", "g", "--store", store) == 1
    assert "3 of 4 episodes are equal" in shell.out
    [line] = [line for line in shell.out.splitlines() if "missing" in line]
    assert "run g, episode case-001@1: event " in line
    assert shell("show", "g", "case-001", "--store", store) == 1
    assert "run g, episode case-001@1: event " in shell.err
    assert shell("score", "g", "--store", store, "--json") == 3
    assert '"case-001@1": "run g, episode case-001@1: event ' in shell.out
    assert shell("report", "g", "--store", store) == 0
    assert "case-001@1" in shell.out


def test_missing_events_of_an_open_episode_are_named_when_it_is_resumed(shell: Shell, store: Path) -> None:
    change(store, LAST_GONE)
    change(store, "UPDATE episodes SET cause = NULL, reason = '' WHERE run = 1 AND name = 'case-001@1'")
    assert shell("run", "--resume", "g", "--store", store) == 130
    assert "case-001@1" in shell.err
    assert "is missing: the store has counted" in shell.err


def test_all_events_of_an_episode_may_be_gone(shell: Shell, store: Path) -> None:
    change(store, "DELETE FROM events WHERE episode = (SELECT id FROM episodes WHERE name = 'case-002@1' AND run = 1)")
    assert shell("replay", "g", "--store", store) == 1
    assert "episode case-002@1: event 0 is missing" in shell.out


def test_an_ending_that_is_not_the_listed_one_is_named(shell: Shell, store: Path) -> None:
    change(store, "UPDATE episodes SET cause = 'doctor', reason = 'no_answer' WHERE run = 1 AND name = 'case-003@1'")
    assert shell("replay", "g", "case-003", "--store", store) == 1
    assert "ends the episode by completed" in shell.out
    assert "lists doctor no_answer" in shell.out


async def test_a_store_in_memory_counts_too(tmp_path: Path) -> None:
    memory = MemoryStore()
    run = await play(case_file(tmp_path / "c.jsonl", 2), doctor="gold", store=memory, name="g")
    query = "DELETE FROM events WHERE episode = 1 AND seq = (SELECT max(seq) FROM events WHERE episode = 1)"
    await memory._writing.write(lambda c: c.execute(query))  # as a fault of the program itself would lose it
    outcomes = [outcome async for outcome in replay_run(run)]
    assert [bool(outcome.error) for outcome in outcomes] == [True, False]
    assert "is missing" in outcomes[0].error
    with pytest.raises(LogError, match="run g, episode case-000@1: event"):
        await run.ending((await run.episodes())[0])


def test_a_lost_end_is_not_laundered_by_export_and_import(shell: Shell, store: Path, tmp_path: Path) -> None:
    change(store, LAST_GONE)
    file = tmp_path / "g.jsonl"
    assert shell("export", "g", "--store", store, "--out", file) == 0
    assert shell("import", file, "--store", tmp_path / "other.db") == 1
    assert "episode case-001@1: event" in shell.err


ALTERED = (
    "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'Acute', 'Chronic') AS BLOB)"
    " WHERE episode = (SELECT id FROM episodes WHERE name = 'case-001@1' AND run = 1) AND seq = 3"
)


def test_score_leaves_an_altered_episode_alone_and_scores_the_others(shell: Shell, store: Path) -> None:
    change(store, ALTERED)
    assert shell("score", "g", "--store", store) == 3
    assert "episode=case-001@1" in shell.err.replace("'", "")
    told = shell.json("score", "g", "--store", store)
    accuracy = next(row for row in told["scores"] if row["name"] == "diagnosis_accuracy")
    assert (accuracy["n"], accuracy["scored"], accuracy["none"]) == (4, 3, 1)
    assert accuracy["reasons"] == {"record/damaged": 1}
    assert list(told["damaged"]) == ["case-001@1"]


def test_judges_leave_an_altered_episode_alone_and_hear_the_others(shell: Shell, store: Path) -> None:
    change(store, ALTERED)
    judged = ("score", "g", "--evaluators", "assessment", "--judge", "lexical", "--store", store, "--json")
    assert shell(*judged) == 3
    assert '"case-001@1": "run g, episode case-001@1: event 3 was altered' in shell.out


def test_an_altered_case_refuses_only_its_own_episodes(shell: Shell, store: Path) -> None:
    change(
        store,
        "UPDATE texts SET body = CAST(replace(CAST(body AS TEXT), 'number 2', 'number 9') AS BLOB)"
        " WHERE CAST(body AS TEXT) LIKE '%seen as number 2%'",
    )
    assert shell("replay", "s", "--store", store) == 1
    assert "3 of 4 episodes are equal" in shell.out
    assert "case case-002 of run s" in shell.out
    told = shell.json("score", "s", "--store", store)
    assert list(told["damaged"]) == ["case-002@1"]
    assert next(row for row in told["scores"] if row["name"] == "diagnosis_accuracy")["scored"] == 3
    change(store, "UPDATE episodes SET cause = NULL, events = 0 WHERE run = 2")
    change(store, "DELETE FROM events WHERE episode IN (SELECT id FROM episodes WHERE run = 2)")
    assert shell("run", "--resume", "s", "--store", store) == 130
    assert "case case-002 of run s" in shell.err
    assert "1 still open" in shell.out


def test_a_lost_case_stops_those_who_learn_from_it_and_no_replay(shell: Shell, tmp_path: Path) -> None:
    store, cases = tmp_path / "b.db", case_file(tmp_path / "cases.jsonl", 6)
    assert shell("run", "--cases", cases, "--doctor", "baseline", "--name", "b", "--store", store) in (0, 3)
    change(store, "UPDATE texts SET body = x'00' WHERE CAST(body AS TEXT) LIKE '%seen as number 2%'")
    shell("replay", "b", "--store", store)
    assert "case case-002 of run b" in shell.out
    assert "of 6 episodes" in shell.out
    change(store, "UPDATE episodes SET cause = NULL WHERE run = 1 AND number = 0")
    assert shell("run", "--resume", "b", "--store", store) == 4
    assert "learns from the other cases" in shell.err


DAMAGES = [
    "header = x'ff00'",
    "header = '[1]'",
    "header = CAST(x'ff7b' AS TEXT)",
    "header = CAST(replace(CAST(header AS TEXT), '\"scenario\"', '\"scenarip\"') AS BLOB)",
    "header = CAST(replace(CAST(header AS TEXT), '\"seed\":0', '\"seed\":1') AS BLOB)",
    "header = substr(header, 1, 40)",
]


@pytest.mark.parametrize("damage", first_ones(DAMAGES, 2))
def test_a_damaged_header_is_named_and_the_other_runs_go_on(shell: Shell, store: Path, damage: str) -> None:
    change(store, f"UPDATE runs SET {damage} WHERE name = 'g'")
    for verb in ("show", "replay", "score", "report", "status", "export"):
        assert shell(verb, "g", "--store", store) == 4, verb
        assert "the header of run g is damaged" in shell.err
    assert shell("run", "--resume", "g", "--store", store) == 4
    assert shell("runs", "--store", store) == 0
    assert "its header is damaged" in shell.out
    assert shell("replay", "s", "--store", store) == 0
    assert shell("score", "s", "--store", store) == 0
    assert shell("report", "s", "--store", store) == 0
    assert shell("status", "s", "--store", store) == 0
    cases = case_file(store.parent / "more.jsonl", 2)
    quota = ("--quota", "daily_requests=9")
    assert shell("run", "--cases", cases, "--doctor", "gold", "--name", "n", "--store", store, *quota) == 0


def test_a_header_of_before_it_had_a_digest_is_read(shell: Shell, store: Path) -> None:
    change(store, "UPDATE runs SET header = CAST(json_remove(CAST(header AS TEXT), '$._digest') AS BLOB)")
    assert shell("replay", "g", "--store", store) == 0
    change(store, "UPDATE runs SET header = CAST(header AS TEXT)")
    assert shell("replay", "g", "--store", store) == 0


def test_damaged_orders_are_named(shell: Shell, store: Path) -> None:
    change(store, "UPDATE runs SET orders = x'7b' WHERE name = 'g'")
    assert shell("status", "g", "--store", store) == 4
    assert "orders of this run are damaged" in shell.err
    change(store, "UPDATE sessions SET told = x'7b'")
    assert shell("status", "s", "--store", store) == 0
