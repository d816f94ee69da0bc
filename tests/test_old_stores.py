"""Stores of version 1 open, are shown, scored, replayed, forked and gone on with; what no rule changed is equal.

tests/data/stores was written by commit 8c8c818 (tests/fixtures/make_stores.py). What must stay: events, replays, keys
of calls, usage, and figures of examinations. What rules of a later version may change is named in MAY_CHANGE.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import keptstores
import oldstores
import pytest
from examples import first_ones, first_rows
from keptstores import FAILED, PLAYED, RUNS, TALKS, PgCopies
from pgserver import PgServer
from shell import Shell

from wardround.agents.examiner import Examiner

USAGE = ("turns", "calls", "failed_calls", "tokens", "tokens_prompt", "tokens_completion", "cost_usd")
EXAMINED = ("tests", "test_cost", "repeat_requests", "assumed_answers")
MAY_CHANGE = ("diagnosis_accuracy", "treatment_accuracy", "lexical_match", "diagnosis_grade", "unusable_replies")
"""Their rules have a version: the committed answer, the match of names, endings that count 0. `full_path*` follow."""


@pytest.fixture(scope="module")
def pg() -> Iterator[PgCopies]:
    with PgServer() as server:
        yield PgCopies(server)


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def where(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A copy of the store, as `--store` takes it; the working directory holds what its headers name."""
    monkeypatch.chdir(keptstores.inputs(tmp_path))
    oldstores.asked.clear()
    if request.param == "postgres":
        copies: PgCopies = request.getfixturevalue("pg")
        return copies.fresh(tmp_path)
    return keptstores.sqlite_copy(tmp_path)


def test_every_run_is_listed_and_shown(where: str, shell: Shell) -> None:
    listed = {row["run"]: row["endings"] for row in shell.json("runs", "--store", where)["runs"]}
    assert set(RUNS) <= set(listed)
    assert listed["stopped"] == {"completed": 1, "open": 2}
    assert listed["half~reasoning"]["open"] >= 1
    causes = {name: next(iter(listed[name])) for name in FAILED}
    assert causes == {"unreachable": "provider", "babble": "parser", "broken": "doctor", "limited": "limit"}
    for name in listed:
        assert shell("status", name, "--store", where) == 0, shell.err
        episode = shell.json("show", name, "--store", where)["episodes"][0]["id"]
        assert shell("show", name, episode, "--calls", "--store", where) == 0, shell.err
        assert episode in shell.out


@pytest.mark.long
def test_every_encounter_replays_equal(where: str) -> None:
    for name in (*RUNS, "curated"):
        assert keptstores.rows(where, name)
        assert keptstores.differing(where, name) == [], name


@pytest.mark.long
def test_every_run_is_reported(where: str, shell: Shell) -> None:
    before = keptstores.figures()
    told = {name: shell.json("report", name, "--store", where)["runs"][0] for name in RUNS}
    for name in RUNS:
        means = {score["name"]: score["mean"] for score in told[name]["scores"]}
        for score in (*USAGE, *EXAMINED):
            assert means[score] == pytest.approx(before[name][score]), (name, score)
    assert shell("report", *PLAYED[:2], "--html", "page.html", "--store", where) == 0, shell.err


@pytest.mark.parametrize("name", [*PLAYED, *TALKS])
def test_scored_again_what_no_rule_changed_is_equal(name: str, where: str, shell: Shell) -> None:
    before = keptstores.stored_scores(where, name)
    assert shell("score", name, "--store", where) == 0, shell.err
    completed = {row.id for row in keptstores.rows(where, name).values() if row.cause == "completed"}
    after = {
        (episode, score): told
        for (episode, evaluator, score), told in (keptstores.stored_scores(where, name)).items()
        if evaluator.startswith("standard")
    }
    compared = 0
    for (episode, evaluator, score), told in before.items():
        if evaluator != "standard" or score in MAY_CHANGE or score.startswith("full_path"):
            continue
        if score.startswith("exam_") and episode not in completed:
            continue  # what an episode that failed is worth is a rule
        assert after[episode, score] == told, (episode, score)
        compared += 1
    assert compared >= len(completed) * len(USAGE)


@pytest.mark.parametrize("name", first_ones(TALKS, 2))
def test_a_new_run_makes_the_same_calls(name: str, where: str, shell: Shell, tmp_path: Path) -> None:
    header = keptstores.header_of(where, name)
    talker = header["seats"]["doctor"]["spec"]
    more = ["--patient", "scripted/oldstores:patient"] if name.startswith("consultation") else []
    more += ["--repeats", str(header["repeats"]), "--seed", "7"]
    more += ["--cases", str(keptstores.cases_of(where, name, tmp_path / "played.jsonl"))]
    again = ["run", "--scenario", header["scenario"]["name"], "--doctor", talker, "--name", "again", *more]
    assert shell(*again, "--store", where) in (0, 3), shell.err
    assert [call[0] for call in keptstores.calls(where, "again")] == [call[0] for call in keptstores.calls(where, name)]


def test_an_interrupted_run_goes_on_and_repeats_no_call(where: str, shell: Shell) -> None:
    recorded = {call[1:] for call in keptstores.calls(where, "stopped")}
    purposes = {purpose for purpose, _ in recorded}
    assert "summarise" in purposes  # it was stopped within an act
    assert shell("run", "--resume", "stopped", "--store", where) == 0, shell.err
    assert oldstores.asked
    assert not recorded & set(oldstores.asked)
    assert keptstores.differing(where, "stopped") == []


@pytest.mark.parametrize(
    ("name", "cause"),
    first_rows([("unreachable", "provider"), ("babble", "parser"), ("broken", "doctor"), ("limited", "limit")], 2),
)
def test_failed_episodes_are_retried(name: str, cause: str, where: str, shell: Shell) -> None:
    before = keptstores.rows(where, name)
    assert shell("run", "--resume", name, "--retry", cause, "--store", where) == 3, shell.err
    after = keptstores.rows(where, name)
    assert all(row.events > before[row.id].events and row.cause for row in after.values())


@pytest.mark.parametrize("name", first_ones(["workup-talk", "consultation-talk", "oracle"], 1))
def test_an_episode_is_forked(name: str, where: str, shell: Shell) -> None:
    first = next(iter(keptstores.rows(where, name)))
    again = ["replay", name, first, "--from", "0", "--doctor", "baseline", "--name", "forked"]
    assert shell(*again, "--store", where) in (0, 3), shell.err
    assert keptstores.differing(where, "forked") == []


@pytest.mark.parametrize(
    ("name", "evaluator"), first_rows([("half", "reasoning"), ("half-verdicts", "standard"), ("panel", "reasoning")], 1)
)
def test_a_judging_goes_on_and_no_recorded_call_is_asked_again(
    name: str, evaluator: str, where: str, shell: Shell
) -> None:
    """Rules of another version may ask for more, never again what was answered."""
    recorded = {call[1:] for call in keptstores.calls(where, f"{name}~{evaluator}")}
    assert recorded
    judges = ["--judge", "lexical"] if name == "panel" else []
    judges += ["--judge", "scripted/oldstores:judge", "--concurrency", "1"]
    search = ["--search", "bundled"] if name != "half-verdicts" else []
    assert shell("score", name, "--evaluators", evaluator, *judges, *search, "--store", where) == 0, shell.err
    asked = Counter(oldstores.asked)
    assert not recorded & set(asked)
    assert set(asked.values()) <= {1}
    told = next(one for one in shell.json("report", name, "--store", where)["runs"][0]["evaluated"])
    assert (told["judged"], told["closed"]) == (3, 3)


@pytest.mark.parametrize("evaluator", first_ones(["standard", "reasoning"], 1))
def test_scores_of_version_1_are_named_and_stand_beside_the_new_ones(where: str, shell: Shell, evaluator: str) -> None:
    """What judges said is shown as it was until the run is scored again; then the two stand side by side."""
    before = keptstores.figures()["hasty"]
    [run] = shell.json("report", "hasty", "--store", where)["runs"]
    old = f"{evaluator}@1~lexical"
    assert {"grade@1", "standard@1~lexical", "reasoning@1~lexical"} == {one["name"] for one in run["scorings"]}
    means = {score["name"]: score["mean"] for score in run["scores"]}
    told = {name: mean for name, mean in before.items() if mean is not None and not name.endswith("_seconds")}
    assert {name: means[name] for name in told} == pytest.approx(told)
    assert any(doubt.startswith(f"{evaluator}: these figures are by version 1 of its rules") for doubt in run["doubts"])
    judged = ["--judge", "lexical", "--search", "bundled"]
    assert shell("score", "hasty", "--evaluators", evaluator, *judged, "--store", where) == 0, shell.err
    [run] = shell.json("report", "hasty", "--store", where)["runs"]
    [new] = [one["name"] for one in run["scorings"] if one["shown"] and one["evaluator"] == evaluator]
    assert new != old
    pair = shell.json("report", "hasty", "--scorings", f"{old},{new}", "--store", where)
    assert all(one["n"] + one["first_only"] + one["second_only"] <= 3 for one in pair["scores"])
    if evaluator == "reasoning":  # the code of its first version is still there: the published rules build on it
        # The offline judge is code too, and is recorded nowhere: its reading of one step is another one today.
        assert shell("replay", f"hasty~{evaluator}", "--store", where) == 1
        assert "2 of 3 episodes are equal" in shell.out
        assert "The judge lexical is code of this Wardround" in shell.out
    else:
        assert shell("replay", f"hasty~{evaluator}", "--store", where) == 2
        assert "judged by version 1 of the rules" in shell.err


def test_a_run_file_an_export_and_a_curation_go_on(where: str, shell: Shell, tmp_path: Path) -> None:
    assert shell("run", "--config", "run.toml", "--store", where) == 0, shell.err
    for name in ("workup-talk", "hasty", "hasty-reasoning"):
        (tmp_path / f"{name}.jsonl").write_bytes(keptstores.unpacked(f"{name}.events.jsonl"))
        assert shell("import", f"{name}.jsonl", "--store", "other.db") == 0, shell.err
    assert shell("replay", "workup-talk", "--store", "other.db") == 0, shell.out
    build = ["cases", "build", "reports", "--resume", "curated", "--out", "built.jsonl"]
    assert shell(*build, "--store", where) in (0, 3), shell.err
    built = (tmp_path / "built.jsonl").read_text()
    assert built == (keptstores.FOLDER / "built.jsonl").read_text()


def test_a_run_file_makes_the_calls_that_it_made(where: str, shell: Shell) -> None:
    assert shell("run", "--config", "run.toml", "--store", where) == 0, shell.err
    mine, kept = (keptstores.calls(where, name) for name in ("from-file", "own-words"))
    assert mine == kept


def test_a_seat_whose_rules_have_changed_is_taken_as_recorded(where: str, shell: Shell) -> None:
    """The fixture's examiner followed version 1 of its rules: its answers stand, and the doctor's are repeated."""
    assert shell("replay", "workup", "--store", where) == 0, shell.err
    now = Examiner.VERSION
    assert f"The examiner followed version 1 of its rules, and this Wardround has version {now}" in shell.out
