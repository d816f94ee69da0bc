"""Formats a table as text for the terminal, and its cells as flat rows for JSON and CSV."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from rich.cells import cell_len
from rich.console import Group
from rich.table import Table as Printed
from rich.text import Text

from wardround.engine.records import Json
from wardround.engine.text import csv_cell as plain
from wardround.evaluators.measures import measure_of
from wardround.evaluators.reasons import phrase
from wardround.evaluators.report.intervals import DAGGER
from wardround.evaluators.report.ranking import doctor_of, setting_of
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.score_tables import (
    POPULATIONS,
    SETTINGS,
    Cell,
    Column,
    Figure,
    Population,
    Table,
    TableRow,
)


class CellText(msgspec.Struct, frozen=True):
    """One cell in words.

    `mean` is such as `95.86 / 88.24`, `ci95` such as `(95.02, 96.71)` for each part, `n` such as `n 950 of 957`.
    `beside` are the lines of its companions, and `missing` says why a part has no value.
    """

    mean: str
    ci95: tuple[str, ...] = ()
    n: str = ""
    beside: tuple[str, ...] = ()
    missing: str = ""


def figure_text(figure: Figure) -> CellText:
    """Format means and intervals in percent with two decimals, as MedR-Bench prints them; a dash has its reason."""
    if not figure.parts:
        return CellText("–", missing=phrase(figure.reason))
    lacking = [phrase(cell.reason) for cell in figure.parts if not cell.scored]
    return CellText(
        mean=" / ".join(percent(cell.mean) for cell in figure.parts),
        ci95=tuple(_interval_text(cell) for cell in figure.parts if cell.ci95),
        n=_denominators(figure.parts),
        beside=_companion_lines(figure),
        missing=", ".join(dict.fromkeys(lacking)),
    )


def percent(value: float | None) -> str:
    """Format 0.6499 as 64.99; a dash for None."""
    return "–" if value is None else f"{100 * value:z.2f}"


def _interval_text(cell: Cell) -> str:
    """Format the interval, with a dagger if it exceeds 0 to 100; a note explains the dagger."""
    return bracket(cell.ci95) + (DAGGER if cell.beyond else "") if cell.ci95 else ""


def bracket(ends: tuple[float, float]) -> str:
    """Format (0.6197, 0.6802) as (61.97, 68.02)."""
    return f"({percent(ends[0])}, {percent(ends[1])})".replace("-", "−")


def heading(column: Column | TableRow, own: str = "") -> str:
    """Return MedR-Bench's name for the setting of a column, or of a row."""
    name = column.setting or own
    return SETTINGS.get(name) or name[:1].upper() + name[1:]


def terminal(table: Table, width: int = 100) -> Group:
    """Format the table for a terminal of `width` columns: a line for each doctor, setting and score.

    All diseases and rare ones are side by side if there is room, else one below the other.
    """
    table = table.trimmed()
    populations = list(dict.fromkeys(column.population for column in table.columns))
    parted = any(len(figure.parts) > 1 for row in table.rows for figure in row.figures)
    if len(populations) > 1 and _LEFT + len(populations) * (_PARTED if parted else _WHOLE) > width:
        parts = [_only(table, population) for population in populations]
        return Group(*(_table_lines(part) for part in parts), _notes(table))
    return Group(_table_lines(table), _notes(table))


_LEFT, _WHOLE, _PARTED = 30, 34, 42
"""Widths: of doctor, setting and score together, and of a population with one part and with two."""


def _only(table: Table, population: Population) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.population == population]
    rows = [msgspec.structs.replace(row, figures=tuple(row.figures[place] for place in kept)) for row in table.rows]
    columns = tuple(table.columns[place] for place in kept)
    title = f"{table.title}, {POPULATIONS[population].lower()}"
    return msgspec.structs.replace(table, title=title, columns=columns, rows=tuple(rows))


def _notes(table: Table) -> Text:
    return Text("\n".join(table.notes), style="dim")


def _table_lines(table: Table) -> Printed:
    number = f"Table {table.key}" if table.key.isdigit() else "Table"
    title = Text(f"{number}: {table.title} ({table.rules} rules)")
    made = Printed(title=title, title_justify="left", box=None, pad_edge=False)
    for name in (*([table.by.replace("_", " ")] if table.by else []), "doctor", "setting", "figure"):
        made.add_column(name)
    populations = list(dict.fromkeys(column.population for column in table.columns))
    for population in populations:
        for name in (population, "95% interval", "n"):
            made.add_column(name, justify="right", no_wrap=True)
    before: list[str] = []
    for row in table.rows:
        for place, figures in _lines(table.columns, row).items():
            leading = [*([row.stratum] if table.by else []), row.doctor, *place]
            cells = [text for population in populations for text in _cells(figures.get(population))]
            made.add_row(*map(Text, _without_repeats(leading, before)), *cells)
            for name, some in _companions(figures):
                beside = [text for population in populations for text in some.get(population, ("", "", ""))]
                made.add_row(*[""] * (len(leading) - 1), f"  {name}", *beside)
            before = leading
    return made


_Place = tuple[str, str]


def _lines(columns: Sequence[Column], row: TableRow) -> dict[_Place, dict[Population, Figure]]:
    """Return the values of a row by setting and label, then by population."""
    lines: dict[_Place, dict[Population, Figure]] = {}
    for column, figure in zip(columns, row.figures, strict=True):
        lines.setdefault((heading(column, row.setting), column.label), {})[column.population] = figure
    return lines


def _without_repeats(leading: Sequence[str], before: Sequence[str]) -> list[str]:
    """Return `leading` with "" for the leading words that the line above already has."""
    same = 0
    while same < len(before) and leading[same] == before[same]:
        same += 1
    return ["" if place < same else word for place, word in enumerate(leading)]


def _cells(figure: Figure | None) -> tuple[str, str, str]:
    """Return mean, interval and n, with the thinking part below the formal one."""
    if figure is None:
        return "", "", ""
    if not figure.parts:
        return "–", phrase(figure.reason), ""
    means = [percent(cell.mean) for cell in figure.parts]
    spans = [_interval_text(cell) if cell.ci95 else "" if cell.scored else phrase(cell.reason) for cell in figure.parts]
    return " / ".join(means), "\n".join(spans), _counts(figure.parts)


def _companions(figures: Mapping[Population, Figure]) -> list[tuple[str, dict[Population, tuple[str, str, str]]]]:
    """Return the unverifiable share and the bounds as lines of their own."""
    beside_figures = {population: figure.beside for population, figure in figures.items() if figure.beside}
    if not beside_figures:
        return []
    shares = {
        name: (" / ".join(percent(cells[0].mean) for cells in beside), "", _count([cells[0] for cells in beside]))
        for name, beside in beside_figures.items()
    }
    bounds = {
        name: ("", "\n".join(_bounds_text(cells) for cells in beside), _counts([cells[1] for cells in beside]))
        for name, beside in beside_figures.items()
    }
    return [("unverified", shares), ("between", bounds)]


def _counts(cells: Sequence[Cell]) -> str:
    """Return `SCORED/N` of each cell on a line of its own; bounds may be of more episodes than their score."""
    return "\n".join(f"{cell.scored}/{cell.n}" for cell in cells)


def _count(cells: Sequence[Cell]) -> str:
    """Return `SCORED/N` of all cells in one line, only once if they have the same numbers."""
    return " / ".join(dict.fromkeys(f"{cell.scored}/{cell.n}" for cell in cells))


def _bounds_text(cells: Sequence[Cell]) -> str:
    return f"{percent(cells[1].mean)} to {percent(cells[2].mean)}"


def _denominators(parts: Sequence[Cell]) -> str:
    scored = list(dict.fromkeys(cell.scored for cell in parts))
    return f"n {' / '.join(map(str, scored))} of {parts[0].n}"


def _companion_lines(figure: Figure) -> tuple[str, ...]:
    """Return the unverifiable share in one line for all parts, and a line of bounds for each part."""
    pairs = zip(figure.parts, figure.beside, strict=False)  # most cells have nothing beside them
    known = [(part, cells) for part, cells in pairs if any(cell.scored for cell in cells)]
    if not known:
        return ()
    shares = " / ".join(percent(cells[0].mean) for _, cells in known)
    bounds = [
        _bounds_text(cells) + ("" if cells[1].scored == part.scored else f" (n {cells[1].scored})")
        for part, cells in known
    ]
    return f"unverified {shares}", *(("/ " if place else "") + line for place, line in enumerate(bounds))


FIELDS = (
    "table", "title", "rules", "by", "stratum", "population", "setting", "doctor", "run", "figure", "part", "score",
    "mean", "low", "high", "method", "scored", "n", "reason", "reasons",
)  # fmt: skip
_OF_RUNS = ("answers", "of_answered", "answered", "zeros")
"""Fields that only the scores of whole runs have."""
_PARTS = ("formal", "thinking")


def records(tables: Sequence[Table]) -> list[dict[str, Json]]:
    """Return one object for each cell, companions included; shares are 0 to 1, `low` and `high` the 95% interval.

    A cell without a run has an object with a `reason` and no values.
    """
    return [record for table in tables for record in _of(table)]


def as_csv(figures: ReportFigures) -> str:
    """Return every score of each run (table `scores`), then the cells of tables, as CSV with a header line.

    `reasons` and `zeros` look like `3 no_thinking; 1 judge/timeout`; `answers` says how right and wrong were decided.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, (*FIELDS, *_OF_RUNS), lineterminator="\n", restval="")
    writer.writeheader()
    for record in [*(row for run in figures.runs for row in score_objects(run, figures)), *records(figures.all_tables)]:
        counted = {name: _reason_counts(record[name]) for name in ("reasons", "zeros") if name in record}
        writer.writerow({name: _safe_cell(value) for name, value in (record | counted).items()})
    return out.getvalue()


def score_objects(run: RunScores, figures: ReportFigures) -> list[dict[str, Json]]:
    """Return one object for each score of a run, over all closed episodes: the fields of `records`, and more."""
    rows: list[dict[str, Json]] = []
    for score in figures.summaries[run.name].scores:
        low, high = score.ci95 or (None, None)
        blank: dict[str, Json] = dict.fromkeys(FIELDS, "")
        rows.append(
            blank
            | {
                "table": "scores",
                "title": "Scores of the run",
                "rules": "published" if "published" in score.name else "default",
                "population": "all",
                "setting": setting_of(run.header),
                "doctor": doctor_of(run.header),
                "run": run.name,
                "figure": measure_of(score.name).label,
                "score": score.name,
                "mean": score.mean,
                "low": low,
                "high": high,
                "method": score.ci95_method,
                "scored": score.scored,
                "n": score.n,
                "reason": score.instead,
                "reasons": dict(score.reasons),
                "answers": score.method,
                "of_answered": score.of_answered,
                "answered": score.answered,
                "zeros": dict(score.zeros),
            }
        )
    return rows


def _reason_counts(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{count} {reason}" for reason, count in reasons.items())


def _safe_cell(value: Json) -> Json:
    """Put an apostrophe before a text that a spreadsheet would run as a formula."""
    return plain(value) if isinstance(value, str) else value


def _of(table: Table) -> Iterator[dict[str, Json]]:
    for row in table.rows:
        for column, figure in zip(table.columns, row.figures, strict=True):
            place = _place(table, row, column)
            if not figure.parts:
                yield place | {"part": "", "score": column.scores[0], **_none(figure.reason)}
            for number, cell in enumerate(figure.parts):
                part = _PARTS[number] if len(column.scores) > 1 else ""
                for one in (cell, *(figure.beside[number] if number < len(figure.beside) else ())):
                    yield place | {"part": part, "score": one.score, **_values(one)}


def _place(table: Table, row: TableRow, column: Column) -> dict[str, Json]:
    return {
        "table": table.key,
        "title": table.title,
        "rules": table.rules,
        "by": table.by,
        "stratum": row.stratum,
        "population": column.population,
        "setting": column.setting or row.setting,
        "doctor": row.doctor,
        "run": row.runs.get(column.setting, ""),
        "figure": column.label,
    }


def _values(cell: Cell) -> dict[str, Json]:
    low, high = cell.ci95 or (None, None)
    return {
        "mean": cell.mean,
        "low": low,
        "high": high,
        "method": cell.ci95_method,
        "scored": cell.scored,
        "n": cell.n,
        "reason": "" if cell.scored else cell.reason,
        "reasons": dict(cell.reasons),
    }


def _none(reason: str) -> dict[str, Json]:
    return {"mean": None, "low": None, "high": None, "method": "", "scored": 0, "n": 0, "reason": reason, "reasons": {}}


_NARROWEST, _WIDEST = 44, 72
"""The least and the largest width of the names beside figures."""


def align_figures(rows: Sequence[tuple[str, str]]) -> list[str]:
    """Return names and figures as lines; all figures begin in the same column, whatever script the names are in."""
    width = min(_WIDEST, max([_NARROWEST, *(cell_len(name) for name, _ in rows)]))
    return [f"{name}{' ' * (width - cell_len(name))} {figures}" for name, figures in rows]
