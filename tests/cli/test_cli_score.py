"""`wardround score` and its neighbours: what is asked of whom, what is shown, and what leaves the store."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from clinic import case
from serving import serving
from shell import Copied, Shell

from wardround.engine.records import Message
from wardround.evaluators.evaluation import needs_of
from wardround.evaluators.open_answers.checklist_draft import ChecklistDraft
from wardround.scoring.evaluation_run import unanswerable
from wardround.testing.loopback import Loopback

FAR = "http://judge.example/v1"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


@pytest.fixture
def played(shell: Shell, store: Path, copied: Copied) -> list[object]:
    """A run of four replies; the options that name it."""
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "replies:bundled#hasty", "--limit", 4]

    def fill(folder: Path) -> None:
        assert shell("run", *told, "--name", "r", "--store", folder / store.name) == 0

    copied(fill)
    return ["r", "--store", store]


def correct(messages: Sequence[Message], model: str) -> str:
    del messages, model
    return '{"verdict": "correct"}'


def judge(url: str) -> list[object]:
    return ["--judge", "openai/m", "--judge-base-url", url]


def judged(told: Any) -> list[tuple[str, int, int]]:
    return [(one["evaluator"], one["judged"], one["closed"]) for one in told["evaluated"]]


def table(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_judged_run_is_scored_again_without_a_call_and_without_a_key(
    shell: Shell, played: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Loopback(correct)
    told = ["--judge", "azure/m"]
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "a-key-of-ours")
    monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
    with serving(server) as url:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", url.removesuffix("/v1"))
        first = shell.json("score", *played, *told)
        asked = server.total
        assert asked >= 5
        assert shell.json("score", *played, *told) == first
        assert server.total == asked
    assert judged(first) == [("standard", 4, 4)]
    monkeypatch.delenv("AZURE_OPENAI_API_KEY")
    assert shell.json("score", *played, *told) == first
    assert shell("score", *played, *told, "--judge-repeats", 2) == 2
    assert "AZURE_OPENAI_API_KEY" in shell.err


def test_a_missing_key_is_said_with_the_option_of_this_verb(
    shell: Shell, played: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert shell("score", *played, "--judge", "openai/gpt-4o") == 2
    assert "OPENAI_API_KEY, which is not set; for an endpoint of your own give --judge-base-url" in shell.err


def test_a_dead_judge_is_said_before_anything_is_stored(shell: Shell, played: list[object], store: Path) -> None:
    assert shell("score", *played, *judge("http://127.0.0.1:9/v1")) == 2
    assert "nothing listens there" in shell.err
    assert shell("runs", "--store", store) == 0
    assert "~" not in shell.out


def test_a_judge_that_cannot_answer_is_refused_before_anything_is_stored(shell: Shell, played: list[object]) -> None:
    """The offline judge knows no points and drafts no checklists, and no episode is marked as failed for that."""
    assert shell("score", *played, "--evaluators", "standard,diagnosis-points", "--judge", "lexical") == 2
    assert "diagnosis-points asks what the judge lexical cannot answer" in shell.err
    assert "name a model" in shell.err
    assert judged(shell.json("score", *played)) == []
    assert unanswerable("lexical", needs_of(ChecklistDraft()).questions) == ["checklist_draft"]
    assert unanswerable("openai/gpt-4o", ["checklist_draft"]) == []


def test_a_restricted_case_is_refused_before_a_byte_leaves(shell: Shell, tmp_path: Path) -> None:
    cases, other = tmp_path / "cases.jsonl", tmp_path / "other.db"
    restricted = case(1).model_copy(update={"data_class": "restricted"})
    cases.write_text(restricted.model_dump_json(exclude_defaults=True))
    told = ["--cases", cases, "--doctor", "baseline", "--name", "s", "--store", other]
    assert shell("run", "--scenario", "workup", *told) == 0, shell.err
    assert shell("score", "s", "--store", other, *judge(FAR)) == 2
    assert "judge.example" in shell.err
    assert "--allow-host" in shell.err
    assert shell("runs", "--store", other) == 0
    assert "~" not in shell.out


def test_a_budget_says_how_many_episodes_were_judged(shell: Shell, played: list[object], store: Path) -> None:
    with serving(Loopback(correct)) as url:
        assert shell("score", *played, *judge(url), "--budget", "2calls", "--json") == 130
        told = json.loads(shell.out)
        assert judged(told) == [("standard", 2, 4)]
        assert len(told["evaluated"][0]["left"]) == 2
        assert "2 of 2 calls" in told["stopped"]
        assert any("standard: 2 of 4 closed episodes judged" in doubt for doubt in told["doubts"])
        assert shell("score", *played, *judge(url), "--budget", "9calls", "--json") == 0
        told = json.loads(shell.out)
    assert (judged(told), told["stopped"]) == ([("standard", 4, 4)], "")
    assert judged(shell.json("score", *played)) == []


@pytest.mark.long
def test_searches_are_told_apart_from_calls_of_judges(shell: Shell, played: list[object], store: Path) -> None:
    assert shell("score", *played, "--evaluators", "reasoning", "--judge", "lexical", "--budget", "1000calls") == 0
    assert shell("status", "r~reasoning", "--store", store) == 0
    [line] = [line for line in shell.out.splitlines() if "search" in line]
    assert line.endswith(" searches and pages")
    assert "budget of the run: 0 of 1,000 calls" in shell.out
    told = shell.json("status", "r~reasoning", "--store", store)
    assert told["spent"] == {}
    assert told["searches"]["made"] > 4
    assert told["searches"]["failed"] == 0
    assert shell.json("status", *played)["searches"] is None


def test_who_steers_an_evaluation_is_told_how_it_goes_on(shell: Shell, played: list[object], store: Path) -> None:
    assert shell("score", *played, "--judge", "lexical") == 0
    assert shell("stop", "r~standard", "--store", store) == 2
    assert "to go on with it: wardround score --resume r~standard" in shell.err
    assert shell("score", "--resume", "r~standard", "--store", store) == 0, shell.err


@pytest.mark.long
def test_the_scores_of_an_evaluation_are_exported_though_others_have_taken_their_place(
    shell: Shell, played: list[object], store: Path
) -> None:
    with serving(Loopback(correct)) as url:
        assert shell("score", *played, *judge(url)) == 0
    assert shell("export", "r", "--scores", "--out", "-", "--store", store) == 0
    judged = [row for row in table(shell.out) if row["evaluator"] == "standard"]
    assert shell("score", *played) == 0
    assert shell("export", "r~standard", "--scores", "--out", "-", "--store", store) == 0
    assert table(shell.out) == judged
    assert {row["score"] for row in judged} >= {"diagnosis_accuracy", "lexical_match"}
    assert shell("export", "r", "--scores", "--out", "-", "--store", store) == 0
    assert "lexical_match" not in {row["score"] for row in table(shell.out)}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["r~standard", "--dialogues"], "run r~standard is an evaluation"),
        (["r", "--dialogues", "--seat", "nobody"], "no seat 'nobody'; it has: doctor"),
        (["r", "--scores", "--seat", "doctor"], "--seat goes with --dialogues"),
    ],
)
def test_what_cannot_be_exported_is_said(
    shell: Shell, played: list[object], store: Path, tmp_path: Path, options: list[object], said: str
) -> None:
    assert shell("score", *played, "--judge", "lexical") == 0
    out = tmp_path / "out"
    assert shell("export", *options, "--out", out, "--store", store) == 2
    assert said in shell.err
    assert not out.exists()


@pytest.mark.long
def test_an_exported_evaluation_replays_in_another_store(
    shell: Shell, played: list[object], store: Path, tmp_path: Path
) -> None:
    asked = ["--evaluators", "reasoning", "--judge", "lexical"]
    first = shell.json("score", *played, *asked)
    other = tmp_path / "other.db"
    for name in ("r", "r~reasoning"):
        out = tmp_path / f"{name}.jsonl"
        assert shell("export", name, "--out", out, "--store", store) == 0
        assert shell("import", out, "--store", other) == 0
    assert shell("replay", "r~reasoning", "--store", other) == 0, shell.err
    assert "4 of 4 episodes are equal" in shell.out
    again = shell.json("score", "r", "--store", other, *asked)
    values = [{row["name"]: row["mean"] for row in told["scores"]} for told in (first, again)]
    assert values[0] == values[1]


@pytest.mark.long
def test_the_figures_of_published_rules_are_shown_to_who_asks_for_them(shell: Shell, played: list[object]) -> None:
    asked = ["--evaluators", "reasoning-published", "--judge", "lexical"]
    assert shell("score", *played, *asked) == 0
    assert "Efficiency, reply, published rules" in shell.out
    assert "r, reasoning-published" in shell.out
    assert shell("score", *played) == 0
    assert "Diagnosis accuracy" in shell.out
    assert "published rules" not in shell.out
    assert shell("score", *played, "--evaluators", f"standard,{asked[1]}", *asked[2:]) == 0
    assert "Diagnosis accuracy" in shell.out
    assert "Efficiency, reply, published rules" in shell.out


@pytest.mark.long
def test_points_of_the_users_own_replay(shell: Shell, tmp_path: Path) -> None:
    points, store = tmp_path / "points.csv", tmp_path / "w.db"
    points.write_text("name,points\nComplete Blood Count,4321\n")
    told = ["--scenario", "workup", "--doctor", "baseline", "--limit", 3, "--name", "w", "--store", store]
    assert shell("run", *told) == 0
    assert shell("score", "w", "--judge", "lexical", "--points", points, "--store", store) == 0
    points.write_text("name,points\nComplete Blood Count,1\n")
    assert shell("replay", "w~standard", "--store", store) == 0
    assert "3 of 3 episodes are equal" in shell.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluators", "reasonning"], "did you mean reasoning? there are: assessment, "),
        (["--evaluators", "foo"], "there is no evaluator 'foo'; there are: "),
        (["--points", "p.csv", "--evaluators", "grade"], "--points goes with the evaluator standard"),
        (["--no-pages"], "--no-pages goes with --judge"),
        (["--concurrency", 4], "--concurrency goes with --judge"),
        (["--allow-domain", "a.org"], "--allow-domain goes with --judge"),
        (["--quota", "rpm=5"], "--quota goes with --judge"),
        (["--patience", "5"], "--patience goes with --judge"),
        (["--judge", "lexical", "--timeout", "0"], "0.0 is not in the range"),
        (["--judge", "lexical", "--budget", "many"], "budget 'many'"),
        (["--judge", "openai/m", "--judge-base-url", "nowhere"], "not an address of an endpoint"),
    ],
)
def test_what_is_wrong_is_said(shell: Shell, played: list[object], options: list[object], said: str) -> None:
    assert shell("score", *played, *options) == 2
    assert said in shell.err
    assert "evaluators '" not in shell.err
