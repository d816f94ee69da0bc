"""A table for the terminal, and the words of one figure wherever it is printed."""

from collections.abc import Mapping, Sequence

import msgspec
from rich.console import Group
from rich.table import Table as Printed
from rich.text import Text

from wardround.evaluators.intervals import DAGGER
from wardround.evaluators.reasons import phrase
from wardround.evaluators.tables.cell import Cell, Figure
from wardround.evaluators.tables.layout import SETTINGS
from wardround.evaluators.tables.table import POPULATIONS, Column, Population, Row, Table


class Words(msgspec.Struct, frozen=True):
    """A figure in words: `95.86 / 88.24`; `(95.02, 96.71)` for each part; `n 950 of 957`; what stands beside it."""

    mean: str
    ci95: tuple[str, ...] = ()
    n: str = ""
    beside: tuple[str, ...] = ()
    missing: str = ""


def words(figure: Figure) -> Words:
    """Means and intervals in percent with two decimals, as MedR-Bench prints them; a dash has its reason."""
    if not figure.parts:
        return Words("–", missing=phrase(figure.reason))
    lacking = [phrase(cell.reason) for cell in figure.parts if not cell.scored]
    return Words(
        mean=" / ".join(percent(cell.mean) for cell in figure.parts),
        ci95=tuple(_marked(cell) for cell in figure.parts if cell.ci95),
        n=_denominators(figure.parts),
        beside=_beside(figure),
        missing=", ".join(dict.fromkeys(lacking)),
    )


def percent(value: float | None) -> str:
    """0.6499 as 64.99; a dash for None."""
    return "–" if value is None else f"{100 * value:.2f}"


def _marked(cell: Cell) -> str:
    """The interval, with a dagger where it leaves 0 to 100: a note says what that means."""
    return bracket(cell.ci95) + (DAGGER if cell.beyond else "") if cell.ci95 else ""


def bracket(ends: tuple[float, float]) -> str:
    """(0.6197, 0.6802) as (61.97, 68.02)."""
    return f"({percent(ends[0])}, {percent(ends[1])})".replace("-", "−")


def heading(column: Column, own: str = "") -> str:
    """The setting of a column as MedR-Bench calls it."""
    name = column.setting or own
    return SETTINGS.get(name) or name[:1].upper() + name[1:]


def terminal(table: Table, width: int = 100) -> Group:
    """The table for a terminal of so many columns: a line for each doctor, setting and figure.

    All diseases and rare ones stand side by side where there is room, else one below the other.
    """
    table = table.trimmed()
    populations = list(dict.fromkeys(column.population for column in table.columns))
    parted = any(len(figure.parts) > 1 for row in table.rows for figure in row.figures)
    if len(populations) > 1 and _LEFT + len(populations) * (_PARTED if parted else _WHOLE) > width:
        parts = [_only(table, population) for population in populations]
        return Group(*(_printed(part) for part in parts), _notes(table))
    return Group(_printed(table), _notes(table))


_LEFT, _WHOLE, _PARTED = 30, 34, 42
"""Columns that doctor, setting and figure take, and those of a population, with one part and with two."""


def _only(table: Table, population: Population) -> Table:
    kept = [place for place, column in enumerate(table.columns) if column.population == population]
    rows = [msgspec.structs.replace(row, figures=tuple(row.figures[place] for place in kept)) for row in table.rows]
    columns = tuple(table.columns[place] for place in kept)
    title = f"{table.title}, {POPULATIONS[population].lower()}"
    return msgspec.structs.replace(table, title=title, columns=columns, rows=tuple(rows))


def _notes(table: Table) -> Text:
    return Text("\n".join(table.notes), style="dim")


def _printed(table: Table) -> Printed:
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
            told = [*([row.stratum] if table.by else []), row.doctor, *place]
            cells = [text for population in populations for text in _cells(figures.get(population))]
            made.add_row(*map(Text, _unsaid(told, before)), *cells)
            for name, some in _companions(figures):
                beside = [text for population in populations for text in some.get(population, ("", "", ""))]
                made.add_row(*[""] * (len(told) - 1), f"  {name}", *beside)
            before = told
    return made


_Place = tuple[str, str]


def _lines(columns: Sequence[Column], row: Row) -> dict[_Place, dict[Population, Figure]]:
    """The figures of a row by setting and label, then by population."""
    found: dict[_Place, dict[Population, Figure]] = {}
    for column, figure in zip(columns, row.figures, strict=True):
        found.setdefault((heading(column, row.setting), column.label), {})[column.population] = figure
    return found


def _unsaid(told: Sequence[str], before: Sequence[str]) -> list[str]:
    """`told` without the leading words that stand in the line above already."""
    same = 0
    while same < len(before) and told[same] == before[same]:
        same += 1
    return ["" if place < same else word for place, word in enumerate(told)]


def _cells(figure: Figure | None) -> tuple[str, str, str]:
    """Mean, interval and n; the thinking part below the formal one."""
    if figure is None:
        return "", "", ""
    if not figure.parts:
        return "–", phrase(figure.reason), ""
    means = [percent(cell.mean) for cell in figure.parts]
    spans = [_marked(cell) if cell.ci95 else "" if cell.scored else phrase(cell.reason) for cell in figure.parts]
    return " / ".join(means), "\n".join(spans), _counts(figure.parts)


def _companions(figures: Mapping[Population, Figure]) -> list[tuple[str, dict[Population, tuple[str, str, str]]]]:
    """What is unverifiable, and the bounds, as lines of their own."""
    held = {population: figure.beside for population, figure in figures.items() if figure.beside}
    if not held:
        return []
    shares = {
        name: (" / ".join(percent(cells[0].mean) for cells in beside), "", _count([cells[0] for cells in beside]))
        for name, beside in held.items()
    }
    bounds = {
        name: ("", "\n".join(_between(cells) for cells in beside), _counts([cells[1] for cells in beside]))
        for name, beside in held.items()
    }
    return [("unverified", shares), ("between", bounds)]


def _counts(cells: Sequence[Cell]) -> str:
    """Of how many episodes; more than those of the figure itself, which some do not have and only its bounds."""
    return "\n".join(f"{cell.scored}/{cell.n}" for cell in cells)


def _count(cells: Sequence[Cell]) -> str:
    """The same in one line, said once where it is the same."""
    return " / ".join(dict.fromkeys(f"{cell.scored}/{cell.n}" for cell in cells))


def _between(cells: Sequence[Cell]) -> str:
    return f"{percent(cells[1].mean)} to {percent(cells[2].mean)}"


def _denominators(parts: Sequence[Cell]) -> str:
    scored = list(dict.fromkeys(cell.scored for cell in parts))
    return f"n {' / '.join(map(str, scored))} of {parts[0].n}"


def _beside(figure: Figure) -> tuple[str, ...]:
    """What is unverifiable, part by part in one line, and a line of bounds for each part."""
    pairs = zip(figure.parts, figure.beside, strict=False)  # most figures have nothing beside them
    known = [(part, cells) for part, cells in pairs if any(cell.scored for cell in cells)]
    if not known:
        return ()
    shares = " / ".join(percent(cells[0].mean) for _, cells in known)
    bounds = [
        _between(cells) + ("" if cells[1].scored == part.scored else f" (n {cells[1].scored})") for part, cells in known
    ]
    return f"unverified {shares}", *(("/ " if place else "") + line for place, line in enumerate(bounds))
