"""The other verbs: what they print, what they refuse, and that `--help` is quick."""

import csv
import io
import json
import sqlite3
from pathlib import Path

import pytest
from clinic import case_file
from shell import Shell

VERBS = (
    *("run", "score", "report", "show", "replay", "runs", "cases", "scenarios", "agents", "export", "import"),
    *("rubrics", "checklists"),
)


@pytest.fixture
def store(two_runs: Path) -> Path:
    return two_runs


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(shell: Shell, verb: str) -> None:
    assert shell(verb, "--help") == 0
    assert "Example" in shell.out


def test_help_lists_every_verb(shell: Shell) -> None:
    assert shell("--help") == 0
    assert all(f"\n  {verb} " in shell.out for verb in VERBS)


def test_gold_scores_1_and_silent_0(shell: Shell, store: Path) -> None:
    for run, value in (("g", 1.0), ("s", 0.0)):
        scores = {row["name"]: row for row in shell.json("score", run, "--store", store)["scores"]}
        assert scores["diagnosis_accuracy"]["mean"] == value
        assert scores["diagnosis_accuracy"]["n"] == 4
        assert scores["full_path"]["mean"] == value
        for name in ("diagnosis_accuracy", "exam_recall", "full_path"):
            assert {"name", "mean", "n", "none", "bounds", "ci95"} <= set(scores[name])
    assert scores["exam_recall"]["mean"] in (0.0, None)


def test_tables_are_printed_by_the_rules_that_are_named(shell: Shell, store: Path) -> None:
    assert shell("report", "g", "s", "--store", store, "--tables", "published") == 0
    assert "(published rules)" in shell.out
    assert "Student t over cases as MedR-Bench prints it" in " ".join(shell.out.split())
    assert shell("report", "--store", store, "--tables", "g", "s") == 0
    assert "(default rules)" in shell.out
    assert "Student t" not in shell.out
    assert shell("report", "--store", store, "--tables") == 2


def test_report_writes_a_page_and_compares(shell: Shell, store: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert shell("report", "g", "s", "--html", page, "--store", store) == 0
    assert "−1.000" in shell.out
    text = page.read_text()
    assert text.count("<svg") >= 5
    assert "http://" not in text.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "http://creativecommons.org", ""
    )
    told = shell.json("report", "g", "s", "--store", store)
    assert [run["run"] for run in told["runs"]] == ["g", "s"]
    assert told["comparison"]


def test_replay_is_equal_and_names_an_altered_event(shell: Shell, store: Path) -> None:
    assert shell("replay", "g", "--store", store) == 0
    assert shell.out == "4 of 4 episodes are equal\n"
    connection = sqlite3.connect(store)
    with connection:
        connection.execute(
            "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'Acute', 'Chronic') AS BLOB)"
            " WHERE episode = 2 AND seq = 3"
        )
    connection.close()
    assert shell("replay", "g", "case-001", "--store", store) == 1
    assert "event 3 was altered" in shell.out
    assert shell("replay", "g", "case-000@1", "--store", store) == 0


def test_a_case_altered_in_the_store_is_named(shell: Shell, store: Path) -> None:
    connection = sqlite3.connect(store)
    with connection:
        changed = connection.execute(
            "UPDATE texts SET body = CAST(replace(CAST(body AS TEXT), 'number 2', 'number 9') AS BLOB)"
            " WHERE CAST(body AS TEXT) LIKE '%seen as number 2,%'"
        ).rowcount
    connection.close()
    assert changed == 1
    assert shell("replay", "g", "--store", store) == 1
    assert "case case-002 of run g" in shell.out


@pytest.mark.long
def test_a_fork_that_cannot_reach_its_model_leaves_no_run(shell: Shell, store: Path) -> None:
    model = ("--doctor", "openai/m", "--base-url", "http://127.0.0.1:9/v1")
    assert shell("replay", "g", "case-001", "--from", 1, *model, "--name", "f", "--store", store) == 2
    assert "nothing listens there" in shell.err
    assert shell("show", "f", "--store", store) == 2


def test_a_fork_goes_on_with_another_doctor(shell: Shell, store: Path) -> None:
    told = shell.json("replay", "g", "case-001", "--from", 1, "--doctor", "silent", "--name", "f", "--store", store)
    assert told["endings"] == {"doctor": 1}
    assert shell("show", "f", "case-001@1+1", "--store", store) == 0
    assert shell("replay", "f", "--store", store) == 0
    assert shell("replay", "g", "case-001", "--from", 99, "--doctor", "silent", "--store", store) == 2
    assert "cannot be forked after action 99" in shell.err


def test_retry_reopens_what_ended_by_a_cause(shell: Shell, store: Path) -> None:
    assert shell("run", "--resume", "s", "--retry", "nonsense", "--store", store) == 2
    assert shell("run", "--resume", "s", "--retry", "doctor", "--store", store) == 3
    assert shell("show", "s", "case-000", "--store", store) == 0
    assert "reopened for doctor" in shell.out


def test_show_and_runs(shell: Shell, store: Path) -> None:
    assert shell("runs", "--store", store) == 0
    assert [line.split()[0] for line in shell.out.splitlines()] == ["g", "s"]
    assert shell("show", "g", "--store", store) == 0
    assert "told: truth" in shell.out
    assert shell("show", "g", "0", "--store", store) == 0
    assert "has had belly pain for" in shell.out, "what the doctor read first"
    assert "The truth: " in shell.out.splitlines()[-1]
    assert shell("show", "g", "nobody", "--store", store) == 2
    assert "case-000@1" in shell.err
    events = shell.json("show", "g", "0", "--store", store)["events"]
    assert [event["kind"] for event in events][:: len(events) - 1] == ["opened", "closed"]


def test_export_and_import(shell: Shell, store: Path, tmp_path: Path) -> None:
    events, other = tmp_path / "g.jsonl", tmp_path / "other.db"
    assert shell("export", "g", "--out", events, "--store", store) == 0
    assert shell("import", events, "--store", other, "--name", "again") == 0
    assert shell("replay", "again", "--store", other) == 0
    assert shell.out == "4 of 4 episodes are equal\n"
    lines = events.read_text().splitlines()
    events.write_text("\n".join([*lines[:3], lines[3].replace("a", "b", 1), *lines[4:]]))
    assert shell("import", events, "--store", tmp_path / "third.db") == 2
    assert "line 4" in shell.err
    shell.json("score", "g", "--store", store)
    assert shell("export", "g", "--scores", "--out", tmp_path / "scores.csv", "--store", store) == 0
    rows = list(csv.DictReader(io.StringIO((tmp_path / "scores.csv").read_text())))
    assert {row["value"] for row in rows if row["score"] == "diagnosis_accuracy"} == {"1.0"}
    assert shell("export", "g", "--dialogues", "--out", tmp_path / "chats.jsonl", "--store", store) == 0
    assert len([json.loads(line) for line in (tmp_path / "chats.jsonl").read_text().splitlines()]) == 4


def test_a_store_that_is_not_there_is_not_made(shell: Shell, tmp_path: Path) -> None:
    assert shell("runs", "--store", tmp_path / "typo.db") == 2
    assert not (tmp_path / "typo.db").exists()


def test_cases_check(shell: Shell, tmp_path: Path) -> None:
    path = case_file(tmp_path / "cases.jsonl", 3)
    assert shell("cases", "check", path) == 0
    with path.open("a") as file:
        file.write('{"id": "x"}\n')
    assert shell("cases", "check", path) == 1
    assert "opening" in shell.out
    assert "3 cases, 4 problems" in shell.out
    assert shell("cases", "check", tmp_path / "nowhere.jsonl") == 1
    assert shell.out.splitlines()[:2] == [f"{tmp_path / 'nowhere.jsonl'}: 0 cases, 1 problem", "problems:"]
    assert "of 0" not in shell.out


def test_agents(shell: Shell) -> None:
    assert shell("agents", "list") == 0
    assert "baseline" in shell.out
    assert shell("agents", "check", "gold") == 0
    assert shell("agents", "check", "no.module:Agent") == 2


@pytest.mark.long
def test_a_user_s_own_costs_of_tests(shell: Shell, store: Path, tmp_path: Path) -> None:
    def cost(*more: object) -> float:
        scores = {row["name"]: row for row in shell.json("score", "g", "--store", store, *more)["scores"]}
        return float(scores["test_cost"]["mean"])

    prices = tmp_path / "prices.csv"
    prices.write_text("name,points\nlipase,1000\n")
    assert cost("--points", prices) > 900 > cost() > 0
    prices.write_text("name,points\nlipase,cheap\n")
    assert shell("score", "g", "--store", store, "--points", prices) == 2
    assert "line 2" in shell.err


@pytest.mark.parametrize("verb", ["score", "show", "report", "status"])
def test_a_name_that_is_no_text_is_refused_in_a_line(shell: Shell, store: Path, verb: str) -> None:
    assert shell(verb, "\udcff", "--store", store) == 2
    assert "wardround: '\\udcff' holds bytes that are not UTF-8" in shell.err
    assert "Traceback" not in shell.err
