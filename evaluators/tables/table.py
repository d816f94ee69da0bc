"""A table as plain data: columns of figures, a row for each doctor."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.tables.cell import Figure

Population = Literal["all", "rare"]
POPULATIONS: dict[Population, str] = {"all": "All diseases", "rare": "Rare diseases"}


class Column(msgspec.Struct, frozen=True):
    """One figure: its `label`, of which population, in which `setting` (the scenario's name; "" is the row's own).

    `scores` are the names of its parts, `beside` those of its companions, part by part.
    """

    label: str
    setting: str
    scores: tuple[str, ...]
    beside: tuple[tuple[str, ...], ...] = ()
    population: Population = "all"


class Row(msgspec.Struct, frozen=True):
    """One doctor; of one `setting` or one `stratum` where rows are told apart by them.

    `runs` names the run that the figures of a column's setting are from.
    """

    doctor: str
    runs: Mapping[str, str]
    figures: tuple[Figure, ...]
    setting: str = ""
    stratum: str = ""


class Table(msgspec.Struct, frozen=True):
    """`key` is the number of the paper's table, or a word for those that the paper has not."""

    key: str
    title: str
    rules: Rules
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    by: str = ""

    @property
    def known(self) -> bool:
        """Whether it has any value."""
        return any(figure.known for row in self.rows for figure in row.figures)
