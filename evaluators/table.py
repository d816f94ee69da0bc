"""The figures of a run, or of a comparison, as a table for the terminal."""

from collections.abc import Sequence

from rich.console import Group
from rich.table import Table
from rich.text import Text

from wardround.evaluators.compare import Comparison, Difference
from wardround.evaluators.intervals import DAGGER
from wardround.evaluators.measures import counted, measure_of, shown
from wardround.evaluators.ranking import Ranking
from wardround.evaluators.summary import ScoreSummary, Summary

WIDE = 76
"""Columns of a terminal in which a table of scores has all that it can have."""
_METHODS = {"wilson": "Wilson", "bootstrap": "bootstrap of cases"}


def score_table(name: str, summary: Summary, every: bool = False, width: int = WIDE) -> Table:
    """Mean, interval, denominators and macro average of the headline scores; of all scores if `every`.

    Where something is missing there are bounds, and below the table what is missing and why. In fewer than WIDE columns
    bounds and macro average are left out, so that no name and no denominator is.
    """
    rows = chosen(summary, every)
    wide = width >= WIDE
    lacking = wide and any(score.none for score in rows)
    table = _table(f"{name}: {ended(summary)}")
    table.add_column("score", min_width=12)
    for column in ("mean", "95% interval", "scored", *(("bounds",) if lacking else ()), *(("macro",) if wide else ())):
        table.add_column(column, justify="right", no_wrap=True)
    for score in rows:
        bounds = span(score.name, score.bounds if score.none else None)
        table.add_row(
            Text(measure_of(score.name).label if every else parts(summary, score)),
            shown(score.name, score.mean) if every else both(summary, score),
            interval(score) if every else spans(summary, score, "\n"),
            f"{score.scored}/{score.n}" if every else counts(summary, score, "/", "\n"),
            *((bounds,) if lacking else ()),
            *((score.macro_reason if score.macro is None else shown(score.name, score.macro),) if wide else ()),
        )
    others = beside_them(summary, rows) if not every else []
    lines = [f"missing {why}: {'; '.join(labels)}" for why, labels in _lacking([*rows, *others]).items()]
    lines += beyond([*rows, *others])
    table.caption = Text("\n".join(lines)) if lines else None
    return table


def _lacking(scores: Sequence[ScoreSummary]) -> dict[str, list[str]]:
    """What is missing, and of which scores."""
    found: dict[str, list[str]] = {}
    for score in scores:
        if score.none:
            found.setdefault(missing(score), []).append(measure_of(score.name).label)
    return found


def ranking_table(ranking: Ranking) -> Table:
    """Runs side by side, best first; below the table what the order does not say."""
    table = _table(f"Runs by {measure_of(ranking.by).label.lower()}")
    table.add_column("rank", justify="right")
    for name in ("run", "doctor", "scenario"):
        table.add_column(name, overflow="fold")
    for name in (measure_of(ranking.by).label, "95% interval", "scored"):
        table.add_column(name, justify="right", no_wrap=name != measure_of(ranking.by).label)
    for name in ranking.others:
        table.add_column(measure_of(name).label, justify="right")
    for place in ranking.places:
        figure = place.figure
        table.add_row(
            "–" if place.rank is None else str(place.rank),
            *map(Text, (place.run, place.doctor, place.scenario)),
            shown(ranking.by, figure.mean) if figure else "–",
            interval(figure) if figure else "–",
            f"{figure.scored}/{figure.n}" if figure else "–",
            *("–" if other is None else shown(other.name, other.mean) for other in place.others),
        )
    figures = [place.figure for place in ranking.places if place.figure]
    table.caption = Text("\n".join([*beyond(figures), ORDER]))
    return table


ORDER = "An order of means alone: whether two runs differ is said by their paired differences."


def comparison_table(comparison: Comparison, every: bool = False) -> Group:
    """The paired differences, a table for each pair of runs; warnings are the caller's to print."""
    by_pair: dict[tuple[str, str], list[Difference]] = {}
    for row in comparison.differences:
        if told(row, every):
            by_pair.setdefault((row.first, row.second), []).append(row)
    return Group(*(_pair(first, second, rows) for (first, second), rows in by_pair.items()))


def told(row: Difference, every: bool = False) -> bool:
    """Whether a difference is shown: of a headline score or a plug-in's, where there is a case to compare."""
    headline = measure_of(row.score).headline or not measure_of(row.score).unit
    return every or (headline and bool(row.cases or row.left_out))


def _pair(first: str, second: str, rows: Sequence[Difference]) -> Table:
    table = _table(f"{second} minus {first}, paired by case")
    table.add_column("score")
    for column in ("first", "second", "difference", "95% interval", "p", "cases"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(measure_of(row.score).label),
            shown(row.score, row.first_mean),
            shown(row.score, row.second_mean),
            signed(row.score, row.difference),
            span(row.score, row.ci95),
            chance(row.p),
            str(row.cases),
        )
    return table


def _table(title: str) -> Table:
    return Table(title=Text(title), title_justify="left", caption_justify="left", box=None, pad_edge=False)


def chosen(summary: Summary, every: bool = False) -> Sequence[ScoreSummary]:
    """The headline scores and those of plug-ins, without what the scenario has not; or all."""
    return [
        score
        for score in summary.scores
        if every or ((measure_of(score.name).headline or not measure_of(score.name).unit) and not _absent(score))
    ]


def _absent(score: ScoreSummary) -> bool:
    return not score.scored and "not_ordered_here" in score.reasons


def ended(summary: Summary) -> str:
    """For instance `36 episodes, completed 34, doctor 2, open 1`."""
    parts = [f"{cause} {count}" for cause, count in summary.endings.items()]
    return ", ".join(
        [counted(summary.episodes, "episode"), *parts, *([f"open {summary.open}"] if summary.open else [])]
    )


def span(name: str, ends: tuple[float, float] | None) -> str:
    """Two values as `0.412 to 0.563`; a dash for None."""
    return f"{shown(name, ends[0])} to {shown(name, ends[1])}".replace("-", "−") if ends else "–"


def interval(score: ScoreSummary) -> str:
    """The 95% interval of a figure, with a dagger where it leaves what a share can be."""
    return span(score.name, score.ci95) + (DAGGER if score.ci95_within else "")


def beyond(scores: Sequence[ScoreSummary]) -> list[str]:
    """What daggers mean, and the intervals to read instead; empty where there is none."""
    marked = [score for score in scores if score.ci95_within]
    if not marked:
        return []
    instead = "; ".join(
        f"{measure_of(score.name).label} {span(score.name, score.ci95_within)} ({_METHODS[score.ci95_within_method]})"
        for score in marked
    )
    return [f"{DAGGER} by Student t, as in the paper, and beyond what a share can be; read instead: {instead}"]


def parts(summary: Summary, score: ScoreSummary) -> str:
    """The label; of a figure of the formal part it says so if the thinking part stands beside it."""
    label = measure_of(score.name).label
    return f"{label.removesuffix(' part')} / thinking" if _thinking(summary, score) else label


def both(summary: Summary, score: ScoreSummary) -> str:
    """The mean; of a figure of the formal part with that of the thinking part, as paper 002's tables print them."""
    other = _thinking(summary, score)
    mean = shown(score.name, score.mean)
    return f"{mean} / {shown(other.name, other.mean)}" if other else mean


def counts(summary: Summary, score: ScoreSummary, of: str = " of ", between: str = " / ") -> str:
    """How many episodes have the figure, and how many that of the thinking part where it stands beside it."""
    other = _thinking(summary, score)
    own = f"{score.scored}{of}{score.n}"
    return f"{own}{between}{other.scored}{of}{other.n}" if other else own


def spans(summary: Summary, score: ScoreSummary, between: str = " / ") -> str:
    """The interval, with that of the thinking part in the same way."""
    other = _thinking(summary, score)
    own = interval(score)
    return f"{own}{between}{interval(other)}" if other else own


def lacks(summary: Summary, score: ScoreSummary, between: str = " / ") -> str:
    """What is missing and why, with what the thinking part lacks in the same way."""
    other = _thinking(summary, score)
    return f"{missing(score)}{between}{missing(other)}" if other else missing(score)


def beside_them(summary: Summary, scores: Sequence[ScoreSummary]) -> list[ScoreSummary]:
    """The figures of the thinking part that are shown beside those of the formal part."""
    return [other for score in scores if (other := _thinking(summary, score)) is not None]


def _thinking(summary: Summary, score: ScoreSummary) -> ScoreSummary | None:
    """The same figure of the thinking part, if any episode has it."""
    if not score.name.endswith("_formal"):
        return None
    other = summary.score(score.name.removesuffix("_formal") + "_thinking")
    return other if other is not None and other.scored else None


def beside(summary: Summary, name: str) -> str:
    """What must be read with a figure: of factuality, its means with unverified steps as wrong and as correct."""
    ends = [summary.score(name.replace("factuality", f"factuality_{end}")) for end in ("low", "high")]
    means = [end.mean for end in ends if end is not None]
    if "factuality" not in name or len(means) < 2 or None in means or means[0] == means[1]:
        return ""
    return f"{shown(name, means[0])} to {shown(name, means[1])} with unverified steps as wrong, as correct"


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
