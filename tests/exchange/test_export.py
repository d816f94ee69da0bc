"""Exports in the forms of other programs, read back: by DuckDB here, by their own libraries where `make readers` is."""

import json
import os
import sqlite3
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import duckdb
import pytest
from clinic import WORKUP, case, case_file
from shell import Shell

FORMS = ("parquet", "inspect", "atif", "otel", "hf", "chat", "jsonl")
ROOT = Path(__file__).resolve().parent.parent.parent
READERS = Path(os.environ.get("WARDROUND_READERS", ROOT / ".venv" / "readers")) / "bin" / "python"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a scored run `r` of a model in the doctor's seat: two cases, each twice."""
    folder = tmp_path_factory.mktemp("exported")
    cases = case_file(folder / "cases.jsonl", 2)
    play = ["run", "--cases", cases, "--scenario", "workup", "--doctor", "scripted/exported:reply", "--repeats", "2"]
    for command in ([*play, "--name", "r"], ["score", "r"]):
        run_here([*command, "--store", folder / "s.db"])
    return folder / "s.db"


def run_here(command: list[object]) -> None:
    """A command in this process, outside of a test's own shell."""
    from wardround.cli import main

    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in command])
    assert ended.value.code in (0, None)


def exported(shell: Shell, store: Path, out: Path, form: str) -> Path:
    assert shell("export", "r", "--to", form, "--out", out, "--store", store) == 0, shell.err
    return out


def rows_of(query: str) -> list[Any]:
    with duckdb.connect() as database:
        return database.execute(query).fetchall()


def json_lines(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_parquet_holds_turns_episodes_and_scores(shell: Shell, store: Path, tmp_path: Path) -> None:
    folder = exported(shell, store, tmp_path / "t", "parquet")
    assert sorted(path.name for path in folder.iterdir()) == ["episodes.parquet", "scores.parquet", "turns.parquet"]
    turns = rows_of(
        f"select text, thinking, prompt_tokens, calls from '{folder}/turns.parquet' "
        "where episode = 'case-001@2' and seat = 'doctor' order by seq"
    )
    assert [row[0] for row in turns] == list(WORKUP)
    assert all(row[1] == f"I have read {row[2]} messages." and row[3] == 1 for row in turns)
    [(right, missing, rows)] = rows_of(
        f"select avg(value), count(*) filter (where value is null), count(*) from '{folder}/scores.parquet' "
        "where score = 'diagnosis_accuracy'"
    )
    assert (right, missing, rows) == (0.5, 0, 4)
    unknown = rows_of(f"select distinct value from '{folder}/scores.parquet' where score_reason = 'nothing_recorded'")
    assert unknown == [(None,)], "what has no value is null, never 0"
    [(episodes, causes)] = rows_of(f"select count(*), list(distinct cause) from '{folder}/episodes.parquet'")
    assert (episodes, causes) == (4, ["completed"])


def test_parquet_in_one_file_holds_the_turns(shell: Shell, store: Path, tmp_path: Path) -> None:
    path = exported(shell, store, tmp_path / "turns.parquet", "parquet")
    [(turns,)] = rows_of(f"select count(*) from '{path}'")
    assert shell.out.startswith(f"{turns} turns in ")
    assert [one.name for one in tmp_path.iterdir()] == ["turns.parquet"]


def test_chats_carry_thinking_and_rewards_by_component(shell: Shell, store: Path, tmp_path: Path) -> None:
    rows = json_lines(exported(shell, store, tmp_path / "c.jsonl", "chat"))
    assert [(row["case"], row["repeat"]) for row in rows] == [
        *(("case-000", 1), ("case-001", 1)),
        *(("case-000", 2), ("case-001", 2)),
    ], "a conversation that goes on is one chat"
    said = [message for message in rows[1]["messages"] if message["role"] == "assistant"]
    assert [message["content"] for message in said] == list(WORKUP)
    assert all(message["reasoning_content"].startswith("I have read") for message in said)
    assert rows[0]["rewards"]["diagnosis_accuracy"] == 0.0
    assert rows[1]["rewards"]["diagnosis_accuracy"] == 1.0
    missing = [name for name, value in rows[0]["rewards"].items() if value is None]
    assert missing
    assert all(rows[0]["reasons"][name] for name in missing)


def test_a_seat_without_a_model_has_a_chat_too(shell: Shell, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "c.jsonl"
    assert shell("export", "r", "--to", "chat", "--seat", "examiner", "--out", out, "--store", store) == 0
    assert {message["role"] for message in json_lines(out)[0]["messages"]} == {"user", "assistant"}
    assert shell("export", "r", "--to", "chat", "--seat", "nurse", "--out", out, "--store", store) == 2
    assert "no seat 'nurse'" in shell.err


def test_episodes_are_plain_lines(shell: Shell, store: Path, tmp_path: Path) -> None:
    row = json_lines(exported(shell, store, tmp_path / "e.jsonl", "jsonl"))[1]
    assert row["answer"] == {"diagnosis": "Acute appendicitis"}
    assert [turn["text"] for turn in row["turns"] if turn["seat"] == "doctor"] == list(WORKUP)
    assert row["scores"]["diagnosis_accuracy"] == 1.0


def test_spans_hang_together(shell: Shell, store: Path, tmp_path: Path) -> None:
    [first, *_] = json_lines(exported(shell, store, tmp_path / "o.jsonl", "otel"))
    spans = first["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert spans[0]["name"] == "invoke_agent doctor"
    assert {span["traceId"] for span in spans} == {spans[0]["traceId"]}
    assert {span.get("parentSpanId") for span in spans[1:]} == {spans[0]["spanId"]}
    assert sum(span["name"] == "chat exported:reply" for span in spans) == len(WORKUP)
    again = json_lines(exported(shell, store, tmp_path / "o2.jsonl", "otel"))
    assert again[0] == first, "ids are digests: a second export gives the same spans"


def test_an_inspect_log_is_a_zip_of_json(shell: Shell, store: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(exported(shell, store, tmp_path / "r.eval", "inspect")) as archive:
        header, summaries = (json.loads(archive.read(name)) for name in ("header.json", "summaries.json"))
        assert "samples/case-001_epoch_2.json" in archive.namelist()
    assert header["results"]["total_samples"] == len(summaries) == 4


@pytest.fixture(scope="module")
def private(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with a run `r` of one restricted case."""
    folder = tmp_path_factory.mktemp("private")
    (folder / "c.jsonl").write_text(case(1).model_copy(update={"data_class": "restricted"}).model_dump_json())
    play = ["run", "--cases", folder / "c.jsonl", "--doctor", "gold", "--name", "r", "--allow-host", "h.example"]
    run_here([*play, "--store", folder / "s.db"])
    return folder / "s.db"


@pytest.mark.parametrize("form", FORMS)
def test_restricted_cases_are_exported_only_if_it_is_said(
    shell: Shell, private: Path, tmp_path: Path, form: str
) -> None:
    out, where = tmp_path / "out" / "x", ["--store", private]
    assert shell("export", "r", "--to", form, "--out", out, *where) == 2
    assert "add --restricted" in shell.err
    assert not out.exists()
    assert shell("export", "r", "--to", form, "--out", out, *where, "--restricted") == 0, shell.err
    assert out.stat().st_mode & 0o077 == 0
    if form == "parquet":
        one = tmp_path / "turns.parquet"
        assert shell("export", "r", "--to", form, "--out", one, *where, "--restricted") == 0, shell.err
        assert one.stat().st_mode & 0o077 == 0


@pytest.fixture(scope="module")
def damaged(store: Path) -> Path:
    """A copy of the store in which an event of the last episode that orders lipase was altered."""
    bad = store.with_name("bad.db")
    with sqlite3.connect(store) as whole, sqlite3.connect(bad) as database:
        whole.backup(database)
        database.execute(
            "update events set body = replace(cast(body as text), 'Lipase', 'Lipose') where rowid = "
            "(select max(rowid) from events where cast(body as text) like '%Lipase%')"
        )
    return bad


@pytest.mark.parametrize("form", FORMS)
def test_what_breaks_off_leaves_nothing(shell: Shell, damaged: Path, tmp_path: Path, form: str) -> None:
    assert shell("export", "r", "--to", form, "--out", tmp_path / "x", "--store", damaged) == 1, shell.err
    assert "was altered" in shell.err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_not_replaced(shell: Shell, store: Path, tmp_path: Path) -> None:
    out = exported(shell, store, tmp_path / "t", "parquet")
    exported(shell, store, out, "parquet")
    (out / "notes.txt").write_text("mine")
    assert shell("export", "r", "--to", "parquet", "--out", out, "--store", store) == 2
    assert "name another --out" in shell.err
    assert (out / "notes.txt").read_text() == "mine"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "atif", "--scores"], "two forms"),
        (["--to", "parquet", "--seat", "doctor"], "--seat goes with"),
        (["--to", "hf", "--out", "-"], "not a stream of lines"),
    ],
)
def test_what_does_not_go_together_is_said(shell: Shell, store: Path, options: list[str], said: str) -> None:
    assert shell("export", "r", *options, "--store", store) == 2
    assert said in shell.err


def read_back(kind: str, path: Path) -> Any:
    """What the library itself reads, in the environment of `make readers`."""
    if not READERS.exists():
        pytest.skip("no environment of the readers: `make readers` makes it, or WARDROUND_READERS names one")
    script = Path(__file__).with_name("read_back.py")
    done = subprocess.run([READERS, script, kind, path], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.readers
def test_inspect_reads_the_log(shell: Shell, store: Path, tmp_path: Path) -> None:
    log = read_back("inspect", exported(shell, store, tmp_path / "r.eval", "inspect"))
    assert (log["status"], log["model"], log["means"]["diagnosis_accuracy"]) == (
        "success",
        "scripted/exported:reply",
        0.5,
    )
    assert log["summaries"] == [[one["id"], one["epoch"]] for one in log["samples"]]
    sample = log["samples"][1]
    assert sample["target"] == "Acute appendicitis"
    assert sample["roles"].count("assistant") == len(WORKUP)
    assert sample["last"] == WORKUP[-1]
    assert sample["scores"]["diagnosis_accuracy"] == 1.0
    assert sample["unscored"], "what has no value is listed with its reason"
    assert not sample["unscored"].keys() & sample["scores"].keys()


@pytest.mark.readers
def test_a_log_that_inspect_wrote_is_imported(shell: Shell, store: Path, tmp_path: Path) -> None:
    written = Path(read_back("rewrite", exported(shell, store, tmp_path / "r.eval", "inspect")))
    where = ["--store", tmp_path / "other.db"]
    assert shell("import", written, "--name", "back", *where) == 0, shell.err
    means = {row["name"]: row["mean"] for row in shell.json("score", "back", *where)["scores"]}
    assert means["diagnosis_accuracy"] == means["origin_diagnosis_accuracy"] == 0.5


@pytest.mark.readers
def test_datasets_loads_the_folder(shell: Shell, store: Path, tmp_path: Path) -> None:
    rows = read_back("dataset", exported(shell, store, tmp_path / "d", "hf"))
    assert [row["episode"] for row in rows] == ["case-000@1", "case-001@1", "case-000@2", "case-001@2"]
    assert [one["content"] for one in rows[1]["messages"] if one["role"] == "assistant"] == list(WORKUP)
    assert {one["name"]: one["value"] for one in rows[1]["scores"]}["diagnosis_accuracy"] == 1.0


@pytest.mark.readers
def test_the_atif_models_take_the_trajectories(shell: Shell, store: Path, tmp_path: Path) -> None:
    every = read_back("atif", exported(shell, store, tmp_path / "a.jsonl", "atif"))
    assert len(every) == 4
    assert [step for step in every[1] if step[0] == "agent"] == [["agent", True]] * len(WORKUP)


@pytest.mark.readers
def test_the_protocol_takes_the_spans(shell: Shell, store: Path, tmp_path: Path) -> None:
    every = read_back("otel", exported(shell, store, tmp_path / "o.jsonl", "otel"))
    assert [names[0] for names in every] == ["invoke_agent doctor"] * 4
