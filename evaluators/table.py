"""The figures of a run, or of a comparison, as a table for the terminal."""

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from wardround.evaluators.compare import Comparison
from wardround.evaluators.measures import counted, measure_of, shown
from wardround.evaluators.summary import ScoreSummary, Summary


def score_table(name: str, summary: Summary, every: bool = False) -> Table:
    """Mean, interval, denominators and macro average of the headline scores; of all scores if `every`."""
    table = Table(title=Text(f"{name}: {ended(summary)}"), title_justify="left", box=None, pad_edge=False)
    table.add_column("score")
    for column in ("mean", "95% interval", "scored", "missing", "bounds", "macro"):
        table.add_column(column, justify="right")
    for score in chosen(summary, every):
        table.add_row(
            Text(measure_of(score.name).label),
            shown(score.name, score.mean),
            span(score.name, score.ci95),
            f"{score.scored}/{score.n}",
            Text(missing(score)),
            span(score.name, score.bounds if score.none else None),
            score.macro_reason if score.macro is None else shown(score.name, score.macro),
        )
    return table


def comparison_table(comparison: Comparison, every: bool = False) -> Table:
    """The paired differences; warnings are the caller's to print."""
    table = Table(title="paired differences, second minus first", title_justify="left", box=None, pad_edge=False)
    for column in ("score", "first", "second"):
        table.add_column(column)
    for column in ("mean of first", "mean of second", "difference", "95% interval", "p", "cases"):
        table.add_column(column, justify="right")
    for row in comparison.differences:
        if every or measure_of(row.score).headline or not measure_of(row.score).unit:
            table.add_row(
                Text(measure_of(row.score).label),
                Text(row.first),
                Text(row.second),
                shown(row.score, row.first_mean),
                shown(row.score, row.second_mean),
                signed(row.score, row.difference),
                span(row.score, row.ci95),
                chance(row.p),
                str(row.cases),
            )
    return table


def chosen(summary: Summary, every: bool = False) -> Sequence[ScoreSummary]:
    """The headline scores and those of plug-ins, or all."""
    return [s for s in summary.scores if every or measure_of(s.name).headline or not measure_of(s.name).unit]


def ended(summary: Summary) -> str:
    """For instance `36 episodes, completed 34, doctor 2, open 1`."""
    parts = [f"{cause} {count}" for cause, count in summary.endings.items()]
    return ", ".join(
        [counted(summary.episodes, "episode"), *parts, *([f"open {summary.open}"] if summary.open else [])]
    )


def span(name: str, ends: tuple[float, float] | None) -> str:
    """Two values as `0.412 to 0.563`; a dash for None."""
    return f"{shown(name, ends[0])} to {shown(name, ends[1])}".replace("-", "−") if ends else "–"


def missing(score: ScoreSummary) -> str:
    """For instance `2 provider/timeout, 1 nothing_recorded`; a dash if nothing is missing."""
    return ", ".join(f"{count}\u00a0{reason}" for reason, count in score.reasons.items()) or "–"


def signed(name: str, value: float | None) -> str:
    """A difference with its sign."""
    if value is None:
        return "–"
    return ("+" if value > 0 else "−" if value < 0 else "±") + shown(name, abs(value))


def chance(p: float | None) -> str:
    """A p value with three decimals."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
