"""The cells of tables as flat rows: for JSON, CSV, and whoever draws figures from them."""

import csv
import io
from collections.abc import Iterator, Sequence

from wardround.engine.records import Json
from wardround.evaluators.tables.cell import Cell
from wardround.evaluators.tables.table import Column, Row, Table

FIELDS = (
    "table", "title", "rules", "by", "stratum", "population", "setting", "doctor", "run", "figure", "part", "score",
    "mean", "low", "high", "method", "scored", "n", "reason", "reasons",
)  # fmt: skip
_PARTS = ("formal", "thinking")


def records(tables: Sequence[Table]) -> list[dict[str, Json]]:
    """One object for each cell, companions included; shares are 0 to 1, `low` and `high` the 95% interval.

    A place without a run has one with `reason` and no figures.
    """
    return [record for table in tables for record in _of(table)]


def as_csv(tables: Sequence[Table]) -> str:
    """The same as CSV with a heading; `reasons` as `3 no_thinking; 1 judge/timeout`."""
    out = io.StringIO()
    writer = csv.DictWriter(out, FIELDS, lineterminator="\n")
    writer.writeheader()
    for record in records(tables):
        reasons = record["reasons"]
        writer.writerow({**record, "reasons": "; ".join(f"{count} {reason}" for reason, count in reasons.items())})
    return out.getvalue()


def _of(table: Table) -> Iterator[dict[str, Json]]:
    for row in table.rows:
        for column, figure in zip(table.columns, row.figures, strict=True):
            place = _place(table, row, column)
            if not figure.parts:
                yield place | {"part": "", "score": column.scores[0], **_none(figure.reason)}
            for number, cell in enumerate(figure.parts):
                part = _PARTS[number] if len(column.scores) > 1 else ""
                companions = figure.beside[number] if number < len(figure.beside) else ()
                for one in (cell, *companions):
                    yield place | {"part": part, "score": one.score, **_values(one)}


def _place(table: Table, row: Row, column: Column) -> dict[str, Json]:
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
