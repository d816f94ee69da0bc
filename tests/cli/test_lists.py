"""The lists of runs, agents and case files: aligned, without dead ends."""

import json
from pathlib import Path

import pytest
from clinic import case
from shell import Shell

from wardround.evaluators.report.rendering import shortened
from wardround.evaluators.report.usability import Usability, _overall_ends


def test_runs_are_aligned_whatever_their_doctors_are_called(shell: Shell, tmp_path: Path) -> None:
    replies = tmp_path / ("a-folder-with-a-very-long-name-" * 3) / "replies.json"
    replies.parent.mkdir()
    replies.write_text('{"case-000": ["### Answer:\\nGout"]}', encoding="utf-8")
    (tmp_path / "c.jsonl").write_text(case(0).model_dump_json(), encoding="utf-8")
    for name, doctor in (("a-name-longer-than-the-column-was", "gold"), ("b", f"replies:{replies}")):
        played = ("--cases", tmp_path / "c.jsonl", "--scenario", "oracle", "--doctor", doctor, "--name", name)
        assert shell("run", *played, "--store", tmp_path / "s.db") == 0, shell.err
    assert shell("runs", "--store", tmp_path / "s.db") == 0
    first, second = shell.out.splitlines()
    assert first.index("oracle") == second.index("oracle")
    assert first.index("1 completed") == second.index("1 completed")
    assert "replies.json" in second
    assert max(map(len, (first, second))) < 140


def test_agents_alone_lists_them(shell: Shell) -> None:
    assert shell("agents") == 0
    listed = shell.out
    assert "doctor     baseline" in listed
    assert shell("agents", "list") == 0
    assert shell.out == listed


@pytest.mark.long
def test_the_bundled_cases_are_checked_by_their_name(shell: Shell) -> None:
    assert shell("cases", "check", "bundled:reports") == 0


def test_a_folder_of_cases_is_checked_file_by_file(shell: Shell, tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    folder.mkdir()
    (folder / "good.jsonl").write_text(case(0).model_dump_json(), encoding="utf-8")
    assert shell("cases", "check", folder) == 0
    assert "good.jsonl: 1 case, 0 problems" in shell.out
    (folder / "bad.jsonl").write_text('{"id": "x"}', encoding="utf-8")
    assert shell("cases", "check", folder) == 1
    assert "good.jsonl: 1 case, 0 problems" in shell.out
    assert "bad.jsonl: 0 cases, 1 problem" in shell.out
    assert shell("cases", "check", folder, "--json") == 1
    assert [Path(one["path"]).name for one in json.loads(shell.out)["files"]] == ["bad.jsonl", "good.jsonl"]


def test_a_folder_where_one_file_belongs_is_answered_with_files_that_it_has(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "mine.jsonl").write_text(case(0).model_dump_json(), encoding="utf-8")
    assert shell("cases", "import", tmp_path) == 2
    assert "is a folder; name one file in it: it holds mine.jsonl" in shell.err


def test_a_short_rest_is_not_cut_off() -> None:
    assert shortened("x" * 301, 300) == "x" * 301


def test_the_overall_interval_of_one_category_is_its_own_and_lies_on_both_sides_of_the_mean() -> None:
    def row(rate: float, low: float, high: float) -> Usability:
        return Usability(
            group="g", rate=rate, answers=9, scored=9, usable=9, markings=9, ci95=(low, high), ci95_reason="",
            strict=None, errors={},
        )  # fmt: skip

    assert _overall_ends([row(1.0, 0.7, 1.0)]) == (0.7, 1.0)
    low, high = _overall_ends([row(1.0, 0.7, 1.0), row(0.5, 0.3, 0.8)]) or (0.0, 0.0)
    assert low == 0.75 - (0.3**2 + 0.2**2) ** 0.5 / 2
    assert high == 0.75 + 0.3 / 2


@pytest.mark.long
def test_a_ranking_of_long_names_keeps_every_figure_it_has_a_heading_for(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(case(0).model_dump_json(), encoding="utf-8")
    names = [f"a-run-with-quite-a-long-name-{scenario}" for scenario in ("oracle", "workup")]
    for scenario, name in zip(("oracle", "workup"), names, strict=True):
        played = ("--cases", tmp_path / "c.jsonl", "--scenario", scenario, "--doctor", "gold", "--name", name)
        assert shell("run", *played, "--store", tmp_path / "s.db") == 0, shell.err
    assert shell("report", *names, "--store", tmp_path / "s.db") == 0
    lines = shell.out.splitlines()
    [row] = [line for line in lines if line.startswith("   1  ") and "workup" in line]
    figures = [word for word in row.split() if word == "1.000"]
    head = " ".join(lines[: lines.index(row)])
    assert len(figures) == 1 + ("recall" in head) + ("orders)" in head)
    assert "1/1" in row


def test_runs_without_a_common_episode_say_that_the_order_is_of_cases_too(shell: Shell, tmp_path: Path) -> None:
    for number in (0, 1):
        path = tmp_path / f"{number}.jsonl"
        path.write_text(case(number).model_dump_json(), encoding="utf-8")
        played = ("--cases", path, "--scenario", "oracle", "--doctor", "gold", "--name", f"r{number}")
        assert shell("run", *played, "--store", tmp_path / "s.db") == 0
    assert shell("report", "r0", "r1", "--store", tmp_path / "s.db") == 0
    said = " ".join(shell.out.split())
    assert "no episode is scored in all runs, so that the order compares cases as well as doctors" in said


def test_tables_that_no_run_has_are_named_with_the_command_that_gives_them(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(case(0).model_dump_json(), encoding="utf-8")
    played = ("--cases", tmp_path / "c.jsonl", "--scenario", "workup", "--doctor", "gold", "--name", "r")
    assert shell("run", *played, "--store", tmp_path / "s.db") == 0
    assert shell("report", "r", "--tables", "published", "--store", tmp_path / "s.db") == 0
    assert "No table by these rules: r has no score by them." in " ".join(shell.out.split())


def test_an_empty_order_is_refused(shell: Shell) -> None:
    assert shell("orders", " ") == 2
    assert "TEXT is empty" in shell.err
