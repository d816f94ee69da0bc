"""Builds the extended tables 1 to 6 of MedR-Bench, with the notes below them.

`score_tables` has the layouts, and this module fills them: a row for each doctor, with one of its runs for each
setting.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec

from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.report.intervals import DAGGER
from wardround.evaluators.report.ranking import DoctorRuns, PlayedRun, doctors_with_runs, setting_of
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.score_tables import (
    DASH,
    FREE_TURN,
    ONE_TURN,
    ORACLE,
    POPULATIONS,
    TREATMENT,
    Cell,
    Column,
    Figure,
    Layout,
    Table,
    TableRow,
    by_turn,
    extended_layouts,
    other_columns,
    score_cell,
)


def notes(
    columns: Sequence[Column], rows: Sequence[TableRow], players: Sequence[DoctorRuns], by: str = ""
) -> tuple[str, ...]:
    """Return the notes below a table, one plain sentence each."""
    return tuple(
        note
        for sentences in (
            _intervals(rows),
            _beyond(rows),
            _parts(rows),
            _counts(columns, rows),
            _rare(columns, players),
            _by_words(columns, rows, players),
            _runs(rows, players),
        )
        for note in sentences
    ) + (("A case of several strata counts in each of them.",) if by else ())


def _intervals(rows: Sequence[TableRow]) -> Iterator[str]:
    cells = [cell for row in rows for figure in row.figures for cell in figure.parts]
    methods = {cell.ci95_method for cell in cells if cell.ci95}
    if not methods:
        yield "Percent; no 95% interval."
    elif methods == {"student_t"}:
        yield "Percent; in brackets the 95% interval, Student t over cases as MedR-Bench prints it."
    else:
        names = ", ".join(name for method, name in _METHODS.items() if method in methods)
        yield f"Percent; in brackets the 95% interval ({names})."
    if reasons := sorted({cell.ci95_reason for cell in cells if cell.scored and cell.ci95_reason}):
        yield f"Without an interval: {'; '.join(reasons)}."


_METHODS = {"wilson": "Wilson for scores of 0 and 1", "bootstrap": "a bootstrap of cases for others"}


def _beyond(rows: Sequence[TableRow]) -> Iterator[str]:
    if any(cell.beyond for row in rows for figure in row.figures for cell in figure.parts):
        yield (
            f"{DAGGER} Student t, as MedR-Bench prints it, and beyond what a share can be; over all of a run the table "
            "of its scores has an interval to read instead."
        )


def _parts(rows: Sequence[TableRow]) -> Iterator[str]:
    if any(len(figure.parts) > 1 for row in rows for figure in row.figures):
        yield "XX / xx: the reply, and the thinking before it."
    if any(cell.scored for row in rows for figure in row.figures for cells in figure.beside for cell in cells):
        yield (
            "Factuality is over the steps that could be verified; below it the share of reasoning steps that could "
            "not, and the mean with every unverified step taken as wrong, and as correct."
        )


def _counts(columns: Sequence[Column], rows: Sequence[TableRow]) -> Iterator[str]:
    differ = any(
        len(
            {
                (cell.scored, cell.n)
                for column, figure in placed
                for cell in figure.parts
                if column.population == one and cell.scored
            }
        )
        > 1
        for row in rows
        if (placed := list(zip(columns, row.figures, strict=True)))
        for one in POPULATIONS
    )
    if differ:
        yield "Denominators differ from figure to figure: n is the episodes that have the figure, of those that ended."
    if any(figure.reason for row in rows for figure in row.figures):
        yield DASH


def _rare(columns: Sequence[Column], players: Sequence[DoctorRuns]) -> Iterator[str]:
    if not any(column.population == "rare" for column in columns):
        return
    settings = {column.setting for column in columns}
    known: dict[str, bool] = {}
    for player in players:
        for setting, run in player.runs.items():
            if setting in settings or "" in settings:
                for row, _ in run.taken:
                    known[row.case] = known.get(row.case, False) or row.rare is not None
    unknown = sum(not stated for stated in known.values())
    if unknown:
        of = f"{unknown} of {count_noun(len(known), 'case')}"
        yield f"Of {of} it is not known whether the disease is rare: they count as all diseases only."


def _by_words(columns: Sequence[Column], rows: Sequence[TableRow], players: Sequence[DoctorRuns]) -> Iterator[str]:
    """Name the runs whose accuracies are by word match, since no judge decided them."""
    settings = {column.setting for column in columns if any("accuracy" in score for score in column.scores)}
    shown = dict.fromkeys(name for row in rows for name in row.runs.values())
    names = [
        run.name
        for player in players
        for setting, run in player.runs.items()
        if run.name in shown and (setting in settings or "" in settings) and not run.judged
    ]
    if names:
        yield f"Accuracy of {', '.join(dict.fromkeys(names))}: word match, a lower bound by words and not a verdict."


def _runs(rows: Sequence[TableRow], players: Sequence[DoctorRuns]) -> Iterator[str]:
    """Note open episodes, and rows whose runs differ in cases or judge."""
    by_name = {run.name: run for player in players for run in player.runs.values()}
    shown = dict.fromkeys(name for row in rows for name in row.runs.values())
    for name in shown:
        if by_name[name].open:
            yield f"{name}: {count_noun(by_name[name].open, 'episode')} still open and in no figure."
    if len({by_name[name].judge for name in shown}) > 1:
        yield "Not all runs here were scored by the same judge."
    for label in dict.fromkeys(row.doctor for row in rows):
        names = dict.fromkeys(name for row in rows if row.doctor == label for name in row.runs.values())
        if len({frozenset(row.case for row, _ in by_name[name].taken) for name in names}) > 1:
            yield f"{label}: its runs are not of the same cases, so its settings cannot be compared."


Stratum = Literal["body_systems", "disorders"]
STRATA: dict[Stratum, str] = {"body_systems": "body system", "disorders": "disorder"}
UNSTATED = "(not stated)"
ALONE = "(one restricted case)"
_TURN = re.compile(r"turn_(\d+)_(?:published_)?efficiency_formal")
_MOST_TURNS = 50
"""The most turns that have columns."""
_JUDGED = ("efficiency_formal", "assessment_precision", "examination_efficiency_formal")


def rules_in(runs: Sequence[RunScores]) -> list[Rules]:
    """Return the rule sets by which these runs were judged, `default` first; `default` if they were not judged."""
    names = {score.name for run in runs for row in run.episodes for score in row.scores}
    published = any("published_" in name for name in names)
    plain = not names.isdisjoint(_JUDGED) or not published
    return [*(["default"] if plain else []), *(["published"] if published else [])]  # type: ignore[list-item]


def extended_tables(runs: Sequence[RunScores], rules: Rules | None = None, seed: int = 0) -> list[Table]:
    """Build the extended tables 1 to 6 of MedR-Bench, as far as there are values, then tables of other scores.

    A row is a doctor, with one run of each setting; doctors keep the order of their runs. Free turns have a table of
    their own, turn by turn. Runs of other games, and the reasoning of a free-turn decision, go into `other`. `rules`
    None means the default rules, or the published ones if the runs have no others.
    """
    rules = rules or rules_in(runs)[0]
    doctors = doctors_with_runs(runs)
    layouts = [*extended_layouts(rules), *_turned(runs, rules), *_other_scenarios_table(runs, rules)]
    return [table for layout in layouts if (table := _fill_table(layout, doctors, rules, seed)).known]


def stratified_tables(runs: Sequence[RunScores], by: Stratum, rules: Rules | None = None, seed: int = 0) -> list[Table]:
    """Build the extended tables over all diseases with a row for each stratum and doctor, the largest stratum first.

    A case of several strata counts in each of them. The name of a stratum with a single, restricted case is left out.
    Returns no table if no case states a stratum.
    """
    rules = rules or rules_in(runs)[0]
    episodes = [row for run in runs for row in run.episodes if row.cause is not None]
    strata = _strata(episodes, by)
    if not any(_strata_of(row, by) for row in episodes):
        return []
    doctors = doctors_with_runs(runs)
    inside_of = [(shown, [_within(player, by, stratum) for player in doctors]) for stratum, shown in strata.items()]
    tables = []
    for whole in [*extended_layouts(rules), *_other_scenarios_table(runs, rules)]:
        columns = tuple(column for column in whole.columns if column.population == "all")
        layout = msgspec.structs.replace(whole, columns=columns)
        rows = [row for shown, some in inside_of for row in _rows(layout, some, rules, seed, shown)]
        kept = tuple(row for row in rows if any(figure.parts for figure in row.figures))
        title = f"{layout.title.removesuffix(', all diseases')}, by {STRATA[by]}"
        tables.append(Table(layout.key, title, rules, columns, kept, notes(columns, kept, doctors, by), by))
    return [table for table in tables if table.known]


def _fill_table(layout: Layout, doctors: Sequence[DoctorRuns], rules: Rules, seed: int) -> Table:
    rows = tuple(_rows(layout, doctors, rules, seed))
    return Table(layout.key, layout.title, rules, layout.columns, rows, notes(layout.columns, rows, doctors))


def _rows(layout: Layout, doctors: Sequence[DoctorRuns], rules: Rules, seed: int, stratum: str = "") -> list[TableRow]:
    """Return a row for each doctor with a run of one of the settings; for a `single` layout, a row for each run."""
    if layout.single:
        placed = [
            (DoctorRuns(player.label, {"": run}), run.setting)
            for player in doctors
            for run in player.runs.values()
            if run.setting not in (ONE_TURN, ORACLE, TREATMENT)
        ]
    else:
        wanted = {column.setting for column in layout.columns}
        placed = [(player, "") for player in doctors if wanted & player.runs.keys()]
    return [_row(player, layout.columns, rules, seed, setting=setting, stratum=stratum) for player, setting in placed]


def _turned(runs: Sequence[RunScores], rules: Rules) -> list[Layout]:
    prefix = "published_" if rules == "published" else ""
    names = {
        score.name
        for run in runs
        if setting_of(run.header) == FREE_TURN
        for row in run.episodes
        for score in row.scores
        if score.value is not None
    }
    turns = [int(match[1]) for name in names if (match := _TURN.fullmatch(name)) and prefix in name]
    return [by_turn(rules, min(max(turns), _MOST_TURNS))] if turns else []


def _other_scenarios_table(runs: Sequence[RunScores], rules: Rules) -> list[Layout]:
    """Return the table of other scenarios, unless it would only repeat the scores of one unjudged run."""
    placed = [run for run in runs if setting_of(run.header) not in (ONE_TURN, ORACLE, TREATMENT)]
    judged = any(
        score.name.endswith("efficiency_formal") for run in placed for row in run.episodes for score in row.scores
    )
    if not judged and len([run for run in placed if setting_of(run.header) != FREE_TURN]) < 2:
        return []
    goals = {str(inside(run.header, "scenario").get("goal") or "diagnosis") for run in placed}
    return [other_columns(rules, sorted(goals))]


def _row(
    player: DoctorRuns, columns: Sequence[Column], rules: Rules, seed: int, *, setting: str, stratum: str
) -> TableRow:
    """Build one row; `rules` choose the intervals, `seed` is that of the bootstrap."""
    figures = tuple(_figure(column, player.runs.get(column.setting), rules, seed) for column in columns)
    used = {column.setting for column in columns}
    runs = {name: run.name for name, run in player.runs.items() if name in used}
    return TableRow(player.label, runs, figures, setting, stratum)


def _figure(column: Column, run: PlayedRun | None, rules: Rules, seed: int) -> Figure:
    if run is None:
        return Figure(reason="no_run")
    taken = [pair for pair in run.taken if pair[0].rare] if column.population == "rare" else run.taken
    if not taken:
        return Figure(reason="no_rare_case" if column.population == "rare" else "no_case")
    parts = tuple(score_cell(score, taken, rules, seed) for score in column.scores)
    beside = tuple(tuple(score_cell(score, taken, bare=True) for score in scores) for scores in column.beside)
    return Figure(*_present(parts, beside))


def _present(
    parts: tuple[Cell, ...], beside: tuple[tuple[Cell, ...], ...]
) -> tuple[tuple[Cell, ...], tuple[tuple[Cell, ...], ...]]:
    """Omit the thinking part of a model that has none."""
    absent = len(parts) > 1 and not parts[1].scored
    if absent and ("no_thinking" in parts[1].reasons or parts[1].reasons.keys() <= {"not_scored"}):
        return parts[:1], beside[:1]
    return parts, beside


def _strata_of(row: EpisodeScores, by: Stratum) -> tuple[str, ...]:
    return row.body_systems if by == "body_systems" else row.disorders


def _strata(episodes: Sequence[EpisodeScores], by: Stratum) -> dict[str, str]:
    """Return the strata, ordered by number of cases, each with its displayed name."""
    cases: dict[str, set[str]] = {}
    restricted = set()
    for row in episodes:
        for stratum in _strata_of(row, by) or (UNSTATED,):
            cases.setdefault(stratum, set()).add(row.case)
            if row.restricted:
                restricted.add(stratum)
    counts = Counter({stratum: len(of_stratum) for stratum, of_stratum in cases.items()})
    ordered = sorted(counts, key=lambda stratum: (stratum == UNSTATED, -counts[stratum], stratum))
    return {stratum: ALONE if stratum in restricted and counts[stratum] < 2 else stratum for stratum in ordered}


def _within(player: DoctorRuns, by: Stratum, stratum: str) -> DoctorRuns:
    runs = {
        setting: msgspec.structs.replace(
            run, taken=[pair for pair in run.taken if stratum in (_strata_of(pair[0], by) or (UNSTATED,))]
        )
        for setting, run in player.runs.items()
    }
    return DoctorRuns(player.label, runs)
