"""A table as plain data: columns of figures, a row for each doctor."""

from collections.abc import Mapping
from typing import Literal

import msgspec

from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.tables.cell import Figure

Population = Literal["all", "rare"]
POPULATIONS: dict[Population, str] = {"all": "All diseases", "rare": "Rare diseases"}


DASH = "A dash stands where nothing was measured, with the reason."


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

    def trimmed(self) -> "Table":
        """As it is shown: without the columns and rows that have no value at all, which a note names."""
        kept = [place for place in range(len(self.columns)) if any(row.figures[place].known for row in self.rows)]
        rows = tuple(
            msgspec.structs.replace(row, figures=tuple(row.figures[place] for place in kept))
            for row in self.rows
            if any(figure.known for figure in row.figures)
        )
        left = dict.fromkeys(self._place(place) for place in range(len(self.columns)) if place not in kept)
        shown = {row.doctor for row in rows}
        bare = dict.fromkeys(row.doctor for row in self.rows if row.doctor not in shown)
        dashes = any(not figure.parts for row in rows for figure in row.figures)
        said = [note for note in self.notes if dashes or note != DASH]
        notes = (
            *said,
            *([f"Left out, since no run has a value there: {'; '.join(left)}."] if left else []),
            *([f"Without any of these figures: {'; '.join(bare)}."] if bare else []),
        )
        columns = tuple(self.columns[place] for place in kept)
        return msgspec.structs.replace(self, columns=columns, rows=rows, notes=notes)

    def _place(self, place: int) -> str:
        column = self.columns[place]
        whose = "" if column.population == "all" else ", rare diseases"
        judged = any("assessment_" in score for score in column.scores)
        label = f"{column.label}{' of examinations, judged' if judged else ''}"
        return f"{label}{f' ({column.setting})' if column.setting else ''}{whose}"

    @property
    def known(self) -> bool:
        """Whether it has any value."""
        return any(figure.known for row in self.rows for figure in row.figures)
