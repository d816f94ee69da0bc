"""What a person reads of a run: show, report, suggestions, headings of help, and what Ctrl-C says."""

import csv
import io
import json
import re
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest
from clinic import case_file
from examples import first_ones
from lxml import html
from rich.console import Console
from shell import Copied, Shell

from wardround.cli import VERBS, app
from wardround.cli.run import GROUPS
from wardround.cli.run import command as run_command
from wardround.evaluators.report.compare import compare_runs
from wardround.evaluators.report.ranking import ranking
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.terminal import comparison_table, ranking_table, score_table
from wardround.report_files import load_scored
from wardround.runs.stored_run import open_store


@pytest.fixture
def store(copied: Copied, shell: Shell) -> Path:
    """A store with three work-ups of six cases: gold, baseline and silent."""

    def fill(folder: Path) -> None:
        path, cases = folder / "runs.db", case_file(folder / "cases.jsonl", 6)
        for doctor in ("gold", "baseline", "silent"):
            shell("run", "--cases", cases, "--doctor", doctor, "--name", doctor, "--store", path)

    return copied(fill) / "runs.db"


def test_show_says_what_was_corrected_what_it_cost_and_what_was_known(shell: Shell, store: Path) -> None:
    assert shell("show", "silent", "case-000", "--store", store) == 0
    assert shell.out.count("desk, correction: the reply is empty") == 3
    assert "no answer from the doctor  (doctor no_answer)" in shell.out
    assert shell("show", "baseline", "case-000", "--store", store) == 0
    assert "(known by now: what was read first)" in shell.out
    assert re.search(r"\(known by now: \d+ results? for [\d.]+ cost points?\)", shell.out)
    assert re.search(r"^    .+: \d+ results?, [\d.]+ cost points?$", shell.out, re.MULTILINE)


def test_show_says_what_the_answer_was_taken_to_commit_to(shell: Shell, tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    said = "DIAGNOSIS: Gout or lupus"
    replies.write_text(json.dumps({"case_id": "case-000", "replies": [said] * 4}))
    store, cases = tmp_path / "s.db", case_file(tmp_path / "cases.jsonl", 1)
    options = ("--scenario", "consultation", "--doctor", f"replies:{replies}", "--name", "r", "--store", store)
    shell("run", "--cases", cases, *options)
    assert shell("show", "r", "case-000", "--store", store) == 0
    lines = shell.out.splitlines()
    place = lines.index("The answer as read:")
    assert lines[place + 1 : place + 4] == [
        "    commits to: nothing",
        "    left open: Gout; lupus",
        "    by words: wrong: several answers: Gout, lupus are left open",
    ]


def test_show_sends_no_escape_sequence_to_the_terminal(shell: Shell, tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    said = "\x1b]0;title\x07 x\r\x1b[2J"
    replies.write_text(json.dumps({"case_id": "case-000", "replies": [said, "y", "y", "y", "y"]}))
    store, cases = tmp_path / "s.db", case_file(tmp_path / "cases.jsonl", 1)
    shell("run", "--cases", cases, "--doctor", f"replies:{replies}", "--name", "r", "--store", store)
    for more in ((), ("--calls",)):
        assert shell("show", "r", "case-000", "--store", store, *more) == 0
        assert "\x1b" not in shell.out
        assert "\x07" not in shell.out
        assert "\r" not in shell.out
        assert "\\x1b" in shell.out


@pytest.mark.long
def test_the_ranking_comes_first_then_the_pairs_then_the_runs(shell: Shell, store: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert shell("report", "silent", "gold", "baseline", "--store", store, "--html", page) == 0
    text = shell.out
    order = [
        "Runs by diagnosis accuracy",
        "Ranked by the mean over the 6 episodes",
        "every pair of runs",
        "silent: 6 episodes",
    ]
    assert [text.index(part) for part in order] == sorted(text.index(part) for part in order)
    assert list(shell.json("report", "silent", "gold", "--store", store))[:3] == ["ranking", "comparison", "runs"]
    heads = [one.text_content() for one in html.fromstring(page.read_text(encoding="utf-8")).xpath("//h2")]
    assert heads[:2] == ["Ranking", "Pairs"]
    assert heads.index("silent") > heads.index("Pairs")


@pytest.mark.long
def test_word_match_is_labelled_wherever_it_decides(shell: Shell, store: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    assert shell("report", "silent", "gold", "--store", store, "--html", page, "--tables") == 0
    assert shell.out.count("Word match: a lower bound by words, not a verdict.") >= 3, "the ranking and each run"
    tree = html.fromstring(page.read_text(encoding="utf-8"))
    assert "Word match: a lower bound by words, not a verdict." in tree.text_content()
    tiles = [one.text_content() for one in tree.xpath("//div[@class='tiles']/div") if "accuracy" in one.text_content()]
    assert tiles
    assert all("word match" in tile for tile in tiles)
    pages = [link for link in tree.xpath("//table//a/@href") if "gold" in link]
    assert len(pages) == 6
    assert all("word match" in (page.parent / link).read_text(encoding="utf-8") for link in pages)
    told = shell.json("report", "gold", "--store", store)
    scores = {score["name"]: score for score in told["runs"][0]["scores"]}
    assert "word match" in scores["diagnosis_accuracy"]["method"]


CODES = re.compile(r"(?<![\w/.-])[a-z]+_[a-z_]+(?![\w/.(=-])")


@pytest.mark.parametrize("width", first_ones([80, 140], 1))
async def test_no_code_stands_in_the_tables_and_nothing_is_cut(store: Path, width: int) -> None:
    opened = open_store(store)
    try:
        runs = await load_scored(opened, ("silent", "gold", "baseline"))
    finally:
        await opened.aclose()
    summaries = {run.name: summarise(run.episodes, 0, run.answer_judges) for run in runs}
    ranked = ranking(runs, summaries)
    assert ranked
    out = io.StringIO()
    screen = Console(width=width, file=out)
    screen.print(ranking_table(ranked, width), comparison_table(compare_runs(runs), width=width))
    for name, summary in summaries.items():
        screen.print(score_table(name, summary, width=width))
    text = out.getvalue()
    assert "no answer (6)" in " ".join(text.split())
    assert CODES.findall(text) == []
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width


@pytest.mark.long
def test_the_csv_of_a_work_up_has_a_row_for_each_score(shell: Shell, store: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    assert shell("report", "baseline", "silent", "--store", store, "--csv", path) == 0
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    accuracy = {row["run"]: row for row in rows if row["score"] == "diagnosis_accuracy" and row["table"] == "scores"}
    assert set(accuracy) == {"baseline", "silent"}
    assert accuracy["silent"]["mean"] == "0.0"
    assert accuracy["silent"]["zeros"] == "6 no_answer"
    assert "word match" in accuracy["silent"]["answers"]
    assert {row["setting"] for row in accuracy.values()} == {"workup"}


@pytest.mark.parametrize(
    ("typed", "meant"), [("lst", "runs"), ("rport", "report"), ("list", "runs"), ("scor", "score")]
)
def test_a_verb_that_is_none_has_a_suggestion(shell: Shell, typed: str, meant: str) -> None:
    assert shell(typed) == 2
    assert f"did you mean {meant}?" in shell.err
    assert set(app.list_commands(click.Context(app))) == set(VERBS)


@pytest.mark.parametrize(
    ("doctor", "meant"),
    [("gpt-4o", "openai/gpt-4o"), ("claude-sonnet-4", "anthropic/claude-sonnet-4"), ("baselin", "baseline")],
)
def test_a_doctor_that_is_none_has_a_suggestion(shell: Shell, tmp_path: Path, doctor: str, meant: str) -> None:
    assert shell("run", "--doctor", doctor, "--store", tmp_path / "x.db") == 2
    assert f"did you mean {meant}?" in shell.err


@pytest.mark.long
def test_replay_from_an_action_asks_who_goes_on(shell: Shell, store: Path) -> None:
    assert shell("replay", "gold", "case-000", "--from", 1, "--store", store) == 2
    assert "forks the episode" in shell.err
    assert "--doctor" in shell.err
    assert shell("runs", "--store", store) == 0
    assert len(shell.out.splitlines()) == 3


def test_every_option_of_run_stands_under_a_heading(shell: Shell) -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert len(grouped) == len(set(grouped))
    assert {param.name for param in run_command.params} == set(grouped)
    assert shell("run", "--help") == 0
    assert all(f"\n{heading}:\n" in shell.out for heading in GROUPS)
    assert "\nOptions:\n" not in shell.out


def test_no_help_names_a_paper_by_a_number(shell: Shell) -> None:
    for verb in VERBS:
        assert shell(verb, "--help") == 0
        assert not re.search(r"paper 00\d", shell.out), verb
    for name in ("workup", "oracle", "consultation"):
        assert shell("scenarios", name) == 0
        assert "https://" in shell.out
        assert not re.search(r"paper 00\d", shell.out)


@pytest.mark.long
def test_ctrl_c_in_a_person_s_seat_says_what_happens(tmp_path: Path) -> None:
    cases = case_file(tmp_path / "cases.jsonl", 1)
    command = [sys.executable, "-m", "wardround", "run", "--cases", str(cases), "--doctor", "human", "--name", "mine"]
    process = subprocess.Popen(
        [*command, "--store", str(tmp_path / "s.db")],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout
    assert process.stderr
    for line in process.stdout:
        if "/quit" in line:
            break
    process.send_signal(signal.SIGINT)
    said = next(line for line in process.stderr if line.strip())
    assert "(Ctrl-C again: at once); what is played is stored, and this goes on" in said
    assert "wardround run --resume mine" in said
    process.send_signal(signal.SIGINT)
    process.communicate()
    assert process.returncode == 130
