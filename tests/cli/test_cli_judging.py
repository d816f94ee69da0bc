"""Judging from the command line: what it prints, what it writes, and what it says of wrong input."""

import json
from pathlib import Path

import pytest
from clinic import case
from shell import Copied, Shell


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


JUDGED = ["--evaluators", "reasoning", "--judge", "lexical"]


def test_a_run_is_judged_offline_and_each_verdict_can_be_read(
    shell: Shell, played: list[object], store: Path, tmp_path: Path
) -> None:
    told = shell.json("score", *played, *JUDGED)
    assert told["floor"]
    assert any("LOWER BOUND" in doubt for doubt in told["doubts"])
    table = {row["name"]: row for row in told["scores"]}
    assert table["efficiency_formal"]["n"] == 4
    assert table["factuality_low_formal"]["mean"] <= table["factuality_high_formal"]["mean"]
    assert shell("replay", "r~reasoning", "--store", store) == 0
    assert "4 of 4 episodes are equal" in shell.out
    page = tmp_path / "out" / "report.html"
    assert shell("report", *played, "--html", page, "--csv", tmp_path / "t.csv", "--tables") == 0
    pages = sorted((tmp_path / "out" / "report-episodes").iterdir())
    assert len(pages) == 5, "each episode, and the list of them"
    assert all(one.name in page.read_text(encoding="utf-8") for one in pages)
    assert "lower bound" in page.read_text(encoding="utf-8").lower()
    texts = "".join(one.read_text(encoding="utf-8") for one in pages)
    assert "Wardround&#39;s own demonstration texts" in texts
    assert "Left out, since no run has a value there" in shell.out
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").count("\n") > 4
    assert shell("report", *played, "--episode", "wr-002@1", "--html", tmp_path / "one.html") == 0
    assert "wr-002@1" in (tmp_path / "one.html").read_text(encoding="utf-8")
    again = shell.json("score", *played, *JUDGED)
    assert {row["name"]: row["mean"] for row in again["scores"]} == {name: row["mean"] for name, row in table.items()}


def test_the_judges_run_is_shown_and_exported(shell: Shell, played: list[object], store: Path, tmp_path: Path) -> None:
    assert shell("score", *played, *JUDGED) == 0
    assert shell("show", "r~reasoning", "wr-002@1", "--calls", "--store", store) == 0
    assert "call of search (search)" in shell.out
    assert shell("export", "r~reasoning", "--out", tmp_path / "e.jsonl", "--store", store) == 0
    assert any(json.loads(line) for line in (tmp_path / "e.jsonl").read_text(encoding="utf-8").splitlines())


@pytest.mark.long
def test_the_usual_search_of_one_evaluator_is_no_others(shell: Shell, played: list[object], store: Path) -> None:
    lexical = ["--judge", "lexical"]
    first = shell.json("score", *played, "--evaluators", "reasoning,standard", *lexical)
    assert shell.json("score", *played, "--evaluators", "standard,reasoning", *lexical) == first
    assert shell("runs", "--store", store) == 0
    assert sorted(word for word in shell.out.split() if word.startswith("r~")) == ["r~reasoning", "r~standard"]


@pytest.mark.long
def test_what_one_evaluator_is_refused_for_is_said_before_another_begins(
    shell: Shell, store: Path, tmp_path: Path
) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text(case(1).model_copy(update={"data_class": "restricted"}).model_dump_json(exclude_defaults=True))
    told = ["--cases", cases, "--scenario", "workup", "--doctor", "baseline", "--name", "s", "--store", store]
    assert shell("run", *told) == 0, shell.err
    lexical = ["s", "--store", store, "--judge", "lexical"]
    assert shell("score", *lexical, "--evaluators", "standard,reasoning", "--search", "pubmed") == 2
    assert "the search would send what they say to" in shell.err
    assert shell("runs", "--store", store) == 0
    assert "~" not in shell.out
    assert shell("score", *lexical, "--evaluators", "standard", "--search", "pubmed") == 0, shell.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--evaluators", "reasoning"], "needs --judge"),
        (["--evaluators", "assessment"], "needs --judge"),
        (["--search", "bundled"], "--search goes with --judge"),
        (["--judge-swap"], "--judge-swap goes with --judge"),
        (["--follow"], "--follow goes with --judge"),
        (["--judge-repeats", 3], "--judge-repeats goes with --judge"),
        ([*JUDGED[:3], "gpt-4o"], "write provider/model"),
        ([*JUDGED, "--search", "google"], "no search is called"),
        ([*JUDGED, "--search", "corpus:/nowhere"], "/nowhere"),
        ([*JUDGED, "--search", "brave"], "BRAVE_API_KEY"),
        ([*JUDGED, "--judge-base-url", "http://a", "--judge-base-url", "http://b"], "more base URLs than judges"),
        ([*JUDGED, "--search", "bundled", "--allow-domain", "a.org", "--deny-domain", "a.org"], "a.org"),
        (["--evaluators", "reasonin"], "there are: "),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_judged(
    shell: Shell, played: list[object], store: Path, options: list[object], said: str
) -> None:
    assert shell("score", *played, *options) == 2
    assert said in shell.err
    assert shell("runs", "--store", store) == 0
    assert "~" not in shell.out


def test_an_episode_that_was_not_judged_has_a_page_too(shell: Shell, played: list[object], tmp_path: Path) -> None:
    assert shell("report", *played, "--episode", "wr-002@1", "--html", tmp_path / "one.html") == 0
    assert "The encounter" in (tmp_path / "one.html").read_text(encoding="utf-8")
    assert shell("report", *played, "--episode", "wr-002@1") == 2
    assert "--html" in shell.err
