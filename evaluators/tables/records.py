"""The cells of tables as flat rows: for JSON, CSV, and whoever draws figures from them."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from wardround.engine.records import Json
from wardround.engine.text import cell as plain
from wardround.evaluators.measures import measure_of
from wardround.evaluators.rows import RunScores
from wardround.evaluators.summary import summarise
from wardround.evaluators.tables.cell import Cell
from wardround.evaluators.tables.player import doctor_of, setting_of
from wardround.evaluators.tables.table import Column, Row, Table

FIELDS = (
    "table", "title", "rules", "by", "stratum", "population", "setting", "doctor", "run", "figure", "part", "score",
    "mean", "low", "high", "method", "scored", "n", "reason", "reasons",
)  # fmt: skip
_OF_RUNS = ("answers", "of_answered", "answered", "zeros")
"""Fields that only the scores of whole runs have."""
_PARTS = ("formal", "thinking")


def records(tables: Sequence[Table]) -> list[dict[str, Json]]:
    """One object for each cell, companions included; shares are 0 to 1, `low` and `high` the 95% interval.

    A place without a run has one with `reason` and no figures.
    """
    return [record for table in tables for record in _of(table)]


def as_csv(runs: Sequence[RunScores], tables: Sequence[Table], seed: int = 0) -> str:
    """Every score of each run (table `scores`), then the cells of tables, as CSV with a heading.

    `reasons` and `zeros` as `3 no_thinking; 1 judge/timeout`; `answers` says by what right and wrong were found.
    """
    out = io.StringIO()
    writer = csv.DictWriter(out, (*FIELDS, *_OF_RUNS), lineterminator="\n", restval="")
    writer.writeheader()
    for record in [*(row for run in runs for row in scores_of(run, seed)), *records(tables)]:
        counted = {name: _counted(record[name]) for name in ("reasons", "zeros") if name in record}
        writer.writerow({name: _unarmed(value) for name, value in (record | counted).items()})
    return out.getvalue()


def scores_of(run: RunScores, seed: int = 0) -> list[dict[str, Json]]:
    """One object for each score of a run, over all of its closed episodes: the fields of `records`, and more."""
    found: list[dict[str, Json]] = []
    for score in summarise(run.episodes, seed, run.answer_judges).scores:
        low, high = score.ci95 or (None, None)
        blank: dict[str, Json] = dict.fromkeys(FIELDS, "")
        found.append(
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
    return found


def _counted(reasons: Mapping[str, int]) -> str:
    return "; ".join(f"{count} {reason}" for reason, count in reasons.items())


def _unarmed(value: Json) -> Json:
    """A text that a spreadsheet would run as a formula, with an apostrophe before it."""
    return plain(value) if isinstance(value, str) else value


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
