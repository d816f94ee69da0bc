"""Tables in words: as the paper prints them, in the terminal and in the page."""

import io
import re
from collections.abc import Sequence
from typing import Any

import pytest
from markup import Reader
from rich.console import Console
from tabled import run, runs, tables_of_all

from wardround.evaluators.report.html import page
from wardround.evaluators.report.intervals import Method
from wardround.evaluators.report.paper_tables import extended_tables, stratified_tables
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_tables import Cell, Figure
from wardround.evaluators.report.table_text import figure_text, terminal


def cell(mean: float | None, ends: tuple[float, float] | None = None, scored: int = 950, reason: str = "") -> Cell:
    method: Method = "student_t" if ends else ""
    return Cell("efficiency_formal", mean, ends, method, scored, 957, {reason: 957 - scored} if reason else {})


def printed(tables: Sequence[Any], width: int = 100) -> str:
    out = io.StringIO()
    console = Console(width=width, file=out)
    for table in tables:
        console.print(terminal(table, width))
    return out.getvalue()


def test_a_figure_reads_as_in_the_paper() -> None:
    said = figure_text(Figure((cell(0.9586, (0.9502, 0.9671)), cell(0.8824, (0.87, 0.89), 940))))
    assert (said.mean, said.ci95) == ("95.86 / 88.24", ("(95.02, 96.71)", "(87.00, 89.00)"))
    assert said.n == "n 950 / 940 of 957"
    assert figure_text(Figure((cell(0.05, (-0.01, 0.11)),))).ci95 == ("(−1.00, 11.00)†",)


def test_a_dash_has_its_reason() -> None:
    told = figure_text(Figure(reason="no_run"))
    assert (told.mean, told.missing) == ("–", "no run of this setting")
    said = figure_text(Figure((cell(None, scored=0, reason="no_reference"),)))
    assert (said.mean, said.missing, said.n) == ("–", "no reference reasoning in the case", "n 0 of 957")


def test_the_terminal_shows_parts_intervals_denominators_and_companions() -> None:
    text = printed(tables_of_all(), 140)
    assert re.search(r"79\.58 / 69\.58  \(7\d\.\d\d, 8\d\.\d\d\)  12/12", text)
    assert re.search(r"unverified +20\.00 / 30\.00", text)
    assert re.search(r"between +70\.00 to 90\.00", text)
    assert "Table 6: Treatment plans (default rules)" in text
    assert "XX / xx: the reply, and the thinking before it." in text


def test_bounds_say_of_how_many_where_the_figure_itself_has_fewer() -> None:
    table = tables_of_all()[1]
    text = printed([table], 140)
    assert re.search(r"Factuality +84\.09 / 84\.09 +\([78]\d\.\d\d, 8\d\.\d\d\) +11/12", text)
    assert re.search(r"between +69\.58 to 89\.58 +12/12", text)
    said = [figure_text(figure) for row in table.rows for figure in row.figures if len(figure.beside) == 1]
    assert [one.beside[1] for one in said] == ["70.00 to 90.00 (n 12)", "71.67 to 91.67 (n 6)"]


def test_no_figure_is_cut_where_the_terminal_is_narrow() -> None:
    wide, narrow = printed(tables_of_all(), 200), printed(tables_of_all(), 80)
    figures = re.compile(r"\(\d+\.\d\d, \d+\.\d\d\)")
    assert sorted(figures.findall(narrow)) == sorted(figures.findall(wide))
    assert "…" not in narrow
    assert max(map(len, narrow.splitlines())) <= 80


def test_strata_stand_at_the_beginning_of_their_lines_once() -> None:
    text = printed(stratified_tables(runs(), "body_systems")[:1])
    assert text.count("Digestive") == 1
    assert text.count("maker/mini") == 4


def test_markup_in_a_name_is_plain_text() -> None:
    strange = run("[red]x[/red]", "oracle")
    assert "maker/[red]x[/red]" in printed(extended_tables([strange]), 140)
    nasty = run("<script>x</script>", "oracle")
    assert "script" not in Reader(page(ReportFigures([nasty]))).tags


@pytest.mark.long
def test_the_page_has_the_tables_side_by_side_and_by_stratum() -> None:
    text = page(ReportFigures(runs()), compare=False)
    read = Reader(text)
    for part in (
        "Extended table 1: Examinations recommended",
        "All diseases",
        "Rare diseases",
        "by body system",
        "by disorder",
    ):
        assert part in read.text, part
    assert '<th class="num" scope="colgroup" colspan="4">Rare diseases</th>' in text
    assert "79.58 / 69.58" in read.text
    assert "unverified 20.00 / 30.00" in read.text


def test_a_run_without_a_judge_has_the_page_it_always_had() -> None:
    rows = run("R1", "workup").episodes
    bare = [type(row)(episode=row.episode, case=row.case, cause="completed", scores=row.scores[:1]) for row in rows]
    text = Reader(page(ReportFigures([run("R1", "workup", episodes=bare)]))).text
    assert "Tables as in paper 002" not in text
    assert "Diagnosis accuracy" in text
