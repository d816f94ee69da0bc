"""A table for the terminal, and the words of one figure wherever it is printed."""

from collections.abc import Sequence

import msgspec
from rich.table import Table as Printed
from rich.text import Text

from wardround.evaluators.tables.cell import Cell, Figure
from wardround.evaluators.tables.layout import SETTINGS
from wardround.evaluators.tables.table import POPULATIONS, Column, Row, Table


class Words(msgspec.Struct, frozen=True):
    """A figure in words: `95.86 / 88.24`; `(95.02, 96.71)` for each part; `n 950 of 957`; what stands beside it."""

    mean: str
    ci95: tuple[str, ...] = ()
    n: str = ""
    beside: tuple[str, ...] = ()
    missing: str = ""


def words(figure: Figure) -> Words:
    """Means and intervals in percent with two decimals, as the paper prints them; a dash has its reason."""
    if not figure.parts:
        return Words("–", missing=figure.reason)
    lacking = [cell.reason for cell in figure.parts if not cell.scored]
    return Words(
        mean=" / ".join(percent(cell.mean) for cell in figure.parts),
        ci95=tuple(bracket(cell.ci95) for cell in figure.parts if cell.ci95),
        n=_denominators(figure.parts),
        beside=tuple(_beside(cells) for cells in figure.beside if any(cell.scored for cell in cells)),
        missing=", ".join(dict.fromkeys(lacking)),
    )


def percent(value: float | None) -> str:
    """0.6499 as 64.99; a dash for None."""
    return "–" if value is None else f"{100 * value:.2f}"


def bracket(ends: tuple[float, float]) -> str:
    """(0.6197, 0.6802) as (61.97, 68.02)."""
    return f"({percent(ends[0])}, {percent(ends[1])})".replace("-", "−")


def heading(column: Column, own: str = "") -> str:
    """The setting of a column as the paper calls it."""
    name = column.setting or own
    return SETTINGS.get(name, name)


def terminal(table: Table) -> Printed:
    """The table in a form that fits 100 columns: a line for each doctor, population and setting."""
    number = f"Table {table.key}" if table.key.isdigit() else "Table"
    title = Text(f"{number}: {table.title} ({table.rules} rules)")
    made = Printed(title=title, title_justify="left", caption_justify="left", box=None, pad_edge=False)
    for name in ([table.by.replace("_", " ")] if table.by else []) + ["doctor", "setting"]:
        made.add_column(name)
    labels = list(dict.fromkeys(column.label for column in table.columns))
    for label in labels:
        made.add_column(label, justify="right", no_wrap=True)
    for row in table.rows:
        for population, setting, figures in _lines(table.columns, row):
            said = [_cell(figures[label]) if label in figures else "" for label in labels]
            stratum = [Text(row.stratum)] if table.by else []
            made.add_row(*stratum, Text(row.doctor), f"{setting}\n{population}", *said)
    made.caption = Text("\n".join(table.notes))
    return made


def _lines(columns: Sequence[Column], row: Row) -> list[tuple[str, str, dict[str, Figure]]]:
    """The figures of a row by population and setting, then by label."""
    found: dict[tuple[str, str], dict[str, Figure]] = {}
    for column, figure in zip(columns, row.figures, strict=True):
        place = (POPULATIONS[column.population].lower(), heading(column, row.setting))
        found.setdefault(place, {})[column.label] = figure
    return [(population, setting, held) for (population, setting), held in found.items()]


def _cell(figure: Figure) -> str:
    said = words(figure)
    return "\n".join(
        [said.mean, *said.ci95, *([said.n] if said.n else []), *said.beside, *([said.missing] if said.missing else [])]
    )


def _denominators(parts: Sequence[Cell]) -> str:
    scored = list(dict.fromkeys(cell.scored for cell in parts))
    return f"n {' / '.join(map(str, scored))} of {parts[0].n}"


def _beside(cells: Sequence[Cell]) -> str:
    """Of one part: what is unverifiable, and both bounds."""
    unverifiable, low, high = (percent(cell.mean) for cell in cells)
    return f"unverified {unverifiable}; {low} to {high}"
