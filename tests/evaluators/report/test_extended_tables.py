"""The tables of several runs: layout, denominators, intervals, strata, and what is said below them."""

import csv
import io
import json
from typing import Any

import msgspec
import pytest
from tabled import episode, run, runs, tables_of_all

from wardround.engine.records import Score
from wardround.evaluators.report.html import as_json, page
from wardround.evaluators.report.intervals import student_t
from wardround.evaluators.report.paper_tables import ALONE, UNSTATED, extended_tables, rules_in, stratified_tables
from wardround.evaluators.report.ranking import doctor_of
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.score_tables import Figure, Table
from wardround.evaluators.report.table_text import FIELDS, as_csv, records


def by_key(tables: list[Table]) -> dict[str, Table]:
    return {table.key: table for table in tables}


def figure(table: Table, doctor: str, *place: str) -> Figure:
    """The figure of a doctor in a place: population, setting, label."""
    [row] = [row for row in table.rows if row.doctor == doctor]
    [found] = [
        figure
        for column, figure in zip(table.columns, row.figures, strict=True)
        if (column.population, column.setting, column.label) == place
    ]
    return found


def plain(value: float | None, case: str, reason: str = "", **fields: Any) -> EpisodeScores:
    """An episode with an accuracy alone."""
    whole: dict[str, Any] = {"episode": f"{case}@1", "case": case, "cause": "completed"}
    scores = (Score("diagnosis_accuracy", value, reason),)
    return EpisodeScores(**(whole | {"scores": scores} | fields))


def oracle(*episodes: EpisodeScores, **more: Any) -> RunScores:
    return run("R1", "oracle", episodes=list(episodes), **more)


def test_the_six_tables_have_the_paper_s_columns() -> None:
    tables = by_key(tables_of_all())
    assert list(tables) == ["1", "2", "3", "4", "5", "6", "turns", "other"]
    shape = {
        key: [(column.population, column.setting, column.label) for column in table.columns]
        for key, table in tables.items()
    }
    settings = ("one-turn", "free-turn", "oracle")
    assert shape["1"] == [
        (population, setting, label)
        for population in ("all", "rare")
        for setting in settings[:2]
        for label in ("Precision", "Recall")
    ]
    assert shape["2"] == [(p, "one-turn", label) for p in ("all", "rare") for label in ("Efficiency", "Factuality")]
    assert shape["3"] == [(p, setting, "Accuracy") for p in ("all", "rare") for setting in settings]
    three = ("Efficiency", "Factuality", "Completeness")
    assert shape["4"] == [("all", setting, label) for setting in ("one-turn", "oracle") for label in three]
    assert shape["5"] == [("rare", *place[1:]) for place in shape["4"]]
    assert shape["6"] == [(p, "treatment", label) for p in ("all", "rare") for label in ("Accuracy", *three)]
    assert [row.doctor for row in tables["3"].rows] == ["maker/R1", "maker/mini"]
    assert tables["3"].rows[0].runs == {name: f"R1-{name}" for name in settings}


def test_a_cell_is_the_mean_over_the_scored_of_all_and_has_student_s_interval_under_published_rules_alone() -> None:
    held = [*(plain(value, str(n)) for n, value in enumerate((1.0, 0.0, 1.0))), plain(None, "x", "provider/timeout")]
    [table] = extended_tables([oracle(*held, plain(None, "late", cause=None))])
    [cell] = figure(table, "maker/R1", "all", "oracle", "Accuracy").parts
    assert (cell.mean, cell.scored, cell.n, cell.reasons) == (2 / 3, 3, 4, {"provider/timeout": 1})
    assert (cell.ci95, cell.ci95_reason) == (None, "fewer than 5 cases")
    [paper] = extended_tables([oracle(*held)], "published")
    assert figure(paper, "maker/R1", "all", "oracle", "Accuracy").parts[0].ci95 == student_t([1.0, 0.0, 1.0])
    assert "R1-oracle: 1 episode still open and in no figure." in table.notes


def test_rare_cells_hold_the_rare_cases_only_and_say_how_many_are_not_known() -> None:
    held = [plain(1.0, "a", rare=True), plain(0.0, "b", rare=False), plain(0.0, "c", rare=None)]
    [table] = extended_tables([oracle(*held)])
    [rare] = figure(table, "maker/R1", "rare", "oracle", "Accuracy").parts
    assert (rare.mean, rare.n, rare.ci95) == (1.0, 1, None)
    assert any(note.startswith("Of 1 of 3 cases it is not known") for note in table.notes)
    [none] = extended_tables([oracle(plain(1.0, "a", rare=False))])
    assert figure(none, "maker/R1", "rare", "oracle", "Accuracy").reason == "no_rare_case"
    assert figure(none, "maker/R1", "all", "one-turn", "Accuracy").reason == "no_run"


def test_formal_and_thinking_stand_together_unless_the_model_has_no_thinking() -> None:
    table = by_key(tables_of_all())["4"]
    both = figure(table, "maker/R1", "all", "oracle", "Efficiency").parts
    assert [cell.score for cell in both] == ["efficiency_formal", "efficiency_thinking"]
    assert [cell.score for cell in figure(table, "maker/mini", "all", "oracle", "Efficiency").parts] == [
        "efficiency_formal"
    ]


def test_factuality_is_accompanied_by_what_is_unverifiable_and_by_its_bounds() -> None:
    table = by_key(tables_of_all())["4"]
    found = figure(table, "maker/mini", "all", "oracle", "Factuality")
    [[unverifiable, low, high]] = found.beside
    assert [cell.score for cell in (unverifiable, low, high)] == [
        "unverifiable_formal",
        "factuality_low_formal",
        "factuality_high_formal",
    ]
    assert (found.parts[0].scored, low.scored) == (11, 12)
    assert any(note.startswith("Denominators differ") for note in table.notes)
    assert not any(note.startswith("Denominators differ") for note in by_key(tables_of_all())["3"].notes)


def test_free_turns_have_columns_of_their_own_and_count_whom_they_had() -> None:
    table = by_key(tables_of_all())["turns"]
    assert [column.label for column in table.columns[::2]] == [f"Efficiency, turn {turn}" for turn in (1, 2, 3)]
    last = figure(table, "maker/mini", "all", "free-turn", "Efficiency, turn 3").parts[0]
    assert (last.scored, last.n, last.reasons) == (4, 12, {"no_such_turn": 8})


def test_runs_of_other_games_are_rows_and_not_dropped() -> None:
    table = by_key(tables_of_all())["other"]
    assert [(row.doctor, row.setting) for row in table.rows] == [
        (doctor, setting) for doctor in ("maker/R1", "maker/mini") for setting in ("free-turn", "workup")
    ]
    assert "precision" not in [score for column in table.columns for score in column.scores]
    unjudged = run("R1", "workup", episodes=[plain(1.0, "a")])
    assert extended_tables([unjudged]) == []
    second = run("mini", "workup", episodes=[plain(1.0, "a")])
    assert [table.key for table in extended_tables([unjudged, second])] == ["other"]


def test_published_figures_are_never_mixed_with_the_others() -> None:
    def published(row: EpisodeScores) -> EpisodeScores:
        names = ("efficiency", "factuality", "completeness")
        scores = [
            msgspec.structs.replace(score, name=f"published_{score.name}")
            for score in row.scores
            if score.name.startswith(names)
        ]
        return msgspec.structs.replace(row, scores=scores)

    plain_run, second = run("R1", "oracle"), run("mini", "oracle")
    other = msgspec.structs.replace(second, episodes=[published(row) for row in second.episodes])
    assert rules_in([plain_run]) == ["default"]
    assert rules_in([other]) == ["published"]
    assert rules_in([plain_run, other]) == ["default", "published"]
    table = by_key(extended_tables([plain_run, other], "published"))["4"]
    assert not figure(table, "maker/R1", "all", "oracle", "Efficiency").known
    shown = figure(table, "maker/mini", "all", "oracle", "Factuality")
    assert [cell.score for cell in shown.parts] == ["published_factuality_formal"]
    assert shown.beside == ()


def test_a_second_run_of_one_doctor_and_setting_is_a_row_of_its_own() -> None:
    again = run("R1", "oracle", name="again")
    [table, *_] = extended_tables([run("R1", "oracle"), again, run("R1", "one-turn")])
    table = by_key(extended_tables([run("R1", "oracle"), again, run("R1", "one-turn")]))["3"]
    assert [row.doctor for row in table.rows] == ["maker/R1", "maker/R1 #2"]
    assert [dict(row.runs) for row in table.rows] == [
        {"oracle": "R1-oracle", "one-turn": "R1-one-turn"},
        {"oracle": "again"},
    ]


def test_runs_that_cannot_be_compared_are_named() -> None:
    fewer = run("R1", "one-turn", size=5, scoring={"judge": "maker/other"})
    table = by_key(extended_tables([run("R1", "oracle"), fewer]))["3"]
    assert "maker/R1: its runs are not of the same cases, so its settings cannot be compared." in table.notes
    assert "Not all runs here were scored by the same judge." in table.notes


def test_the_note_says_by_what_the_intervals_were_had() -> None:
    held = [plain(float(n % 2), f"c{n // 2}", episode=f"c{n // 2}@{n % 2}", repeat=n % 2) for n in range(12)]
    [table] = extended_tables([oracle(*held)])
    assert figure(table, "maker/R1", "all", "oracle", "Accuracy").parts[0].ci95_method == "wilson"
    assert "Percent; in brackets the 95% interval (Wilson for scores of 0 and 1)." in table.notes
    [paper] = extended_tables([oracle(*held)], "published")
    assert "Without an interval: cases are repeated; the paper repeats none." in paper.notes


def test_strata_are_rows_and_a_case_of_two_counts_in_both() -> None:
    table = by_key(stratified_tables(runs(), "body_systems"))["3"]
    assert [row.stratum for row in table.rows[::2]] == ["Digestive", "Nervous", "Respiratory", "Whole body"]
    sizes = [row.figures[0].parts[0].n for row in table.rows[::2]]
    assert sizes == [4, 4, 4, 3]
    assert "A case of several strata counts in each of them." in table.notes
    assert {column.population for column in table.columns} == {"all"}
    by_disorder = by_key(stratified_tables(runs(), "disorders"))["3"]
    assert [row.stratum for row in by_disorder.rows[::2]] == ["Infection", UNSTATED]
    assert stratified_tables([oracle(plain(1.0, "a"))], "disorders") == []


def test_a_stratum_of_one_restricted_case_is_not_named() -> None:
    held = [
        plain(1.0, "a", disorders=("Secret",), restricted=True),
        plain(1.0, "b", disorders=("Plain",)),
        plain(0.0, "c", disorders=("Plain",), restricted=True),
    ]
    [table] = stratified_tables([oracle(*held)], "disorders")
    assert [row.stratum for row in table.rows] == ["Plain", ALONE]
    assert "Secret" not in page(ReportFigures([oracle(*held)]))


@pytest.mark.long
def test_every_cell_is_a_record_with_its_run_and_the_csv_says_the_same() -> None:
    figures = ReportFigures(runs())
    found = records(figures.all_tables)
    assert all(tuple(record) == FIELDS or set(record) == set(FIELDS) for record in found)
    [one] = [
        record
        for record in found
        if (record["table"], record["by"], record["population"], record["setting"], record["run"])
        == ("3", "", "all", "oracle", "R1-oracle")
    ]
    assert (one["score"], one["scored"], one["n"], one["method"]) == ("diagnosis_accuracy", 12, 12, "wilson")
    assert {record["score"] for record in found} >= {"unverifiable_thinking", "factuality_low_formal"}
    lines = [line for line in csv.DictReader(io.StringIO(as_csv(figures))) if line["table"] != "scores"]
    assert len(lines) == len(found)
    assert float(lines[0]["mean"]) == found[0]["mean"]
    assert json.loads(json.dumps(as_json(figures)))["tables"]


def test_no_run_and_no_episode_are_no_error() -> None:
    assert extended_tables([]) == []
    assert extended_tables([oracle()]) == []
    assert stratified_tables([], "disorders") == []
    assert records([]) == []


@pytest.mark.parametrize("header", [{}, {"scenario": "oracle"}, {"seats": ["doctor"]}, {"seats": {"doctor": "gold"}}])
def test_a_strange_header_is_no_error(header: dict[str, Any]) -> None:
    assert isinstance(extended_tables([RunScores(name="r", header=header, episodes=[episode(0, 0, "oracle")])]), list)


def test_the_order_of_episodes_changes_nothing() -> None:
    back = [msgspec.structs.replace(one, episodes=one.episodes[::-1]) for one in runs()]
    assert extended_tables(back) == tables_of_all()


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("replies:/a/long/path/to/replies.jsonl#maker/model", "replies:replies.jsonl#maker/model"),
        ("replies:replies.jsonl", "replies:replies.jsonl"),
        ("maker/model", "maker/model"),
    ],
)
def test_a_doctor_is_named_without_the_folder_of_its_file(spec: str, name: str) -> None:
    assert doctor_of({"seats": {"doctor": {"spec": spec, "model": ""}}}) == name
