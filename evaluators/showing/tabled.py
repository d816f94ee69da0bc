"""A table as a page shows it: heading rows that span their columns, and each figure in words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from wardround.evaluators.tables.printed import Words, heading, words
from wardround.evaluators.tables.table import POPULATIONS, Column, Row, Table


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its stratum and setting ("" where the table has none), its doctor, the runs it is from, its figures."""

    stratum: str
    setting: str
    doctor: str
    runs: Sequence[str]
    figures: Sequence[Words]


@dataclass(frozen=True, slots=True)
class Tabled:
    """`heads` are rows of (words, number of columns), the last of them the figures' own."""

    title: str
    heads: Sequence[Sequence[tuple[str, int]]]
    lines: Sequence[Line]
    notes: Sequence[str]
    by: str


@dataclass(frozen=True, slots=True)
class Group:
    """Tables under one heading, shown at once or behind it."""

    heading: str
    tables: Sequence[Tabled]
    open: bool


def tabled(table: Table) -> Tabled:
    """The table in words, without columns and rows that have no value."""
    table = table.trimmed()
    number = f"Extended table {table.key}: " if table.key.isdigit() else ""
    return Tabled(
        title=f"{number}{table.title}",
        heads=_heads(table.columns),
        lines=[_line(row) for row in table.rows],
        notes=table.notes,
        by={"body_systems": "Body system", "disorders": "Disorder"}.get(table.by, ""),
    )


def _heads(columns: Sequence[Column]) -> list[list[tuple[str, int]]]:
    """Populations and settings have a row of their own where there are several."""
    populations = [POPULATIONS[column.population] for column in columns]
    settings = [(column.population, heading(column)) for column in columns]
    rows: list[list[tuple[str, int]]] = []
    if len(set(populations)) > 1:
        rows.append([(name, len(list(some))) for name, some in groupby(populations)])
    if len({name for _, name in settings}) > 1:
        rows.append([(name, len(list(some))) for (_, name), some in groupby(settings)])
    return [*rows, [(column.label, 1) for column in columns]]


def _line(row: Row) -> Line:
    setting = heading(Column("", "", ()), row.setting) if row.setting else ""
    return Line(row.stratum, setting, row.doctor, list(row.runs.values()), [words(one) for one in row.figures])
