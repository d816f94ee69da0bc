"""Prints a run's scores, a ranking or a comparison as tables in the terminal, and formats values for people."""

from collections.abc import Iterator, Sequence

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from wardround.engine.text import count_noun
from wardround.evaluators.measures import format_value, is_superseded, measure_of, place_of
from wardround.evaluators.reasons import ended_by, list_reasons
from wardround.evaluators.report.compare import Comparison, Difference
from wardround.evaluators.report.ranking import Ranking
from wardround.evaluators.report.summary import WORD_MATCH, ScoreSummary, Summary

WIDE = 76
"""Width of a terminal, in columns, from which a table of scores has all of its columns."""
SIDE_BY_SIDE = 110
"""Width from which a ranking also shows other scores, and a comparison both means."""
NAME = 32
"""Number of characters of a name that a wide ranking keeps on one line."""
ORDER = "The ranking is only an order. The paired differences below say whether two runs differ."
FLOOR = "Word match: a lower bound by words, not a verdict. Have a judge decide: wardround score RUN --judge SPEC."


def score_table(name: str, summary: Summary, every: bool = False, width: int = WIDE) -> Group:
    """Show mean, interval, denominators and macro average of the headline scores; of all scores if `every`.

    Sentences below the table say which values are missing and why, and explain zeros. Empty columns are left out. Below
    WIDE columns the table omits bounds and macro average, so that it cuts no name and no count.
    """
    lines, wide = score_lines(summary, every), width >= WIDE
    lacking = wide and any(line.score.none and line.score.bounds for line in lines)
    grouped = wide and any(line.score.macro is not None for line in lines)
    table = _table()
    table.add_column("score", min_width=12)
    extra = [*(["bounds"] if lacking else []), *(["mean of groups"] if grouped else [])]
    for column in ("mean", "95% interval", "scored", *extra):
        table.add_column(column, justify="right", no_wrap=True)
    for line in lines:
        more = [*([line.bounds] if lacking else []), *([line.macro] if grouped else [])]
        table.add_row(Text(line.label), line.mean, line.intervals("\n"), line.counts("/", "\n"), *more)
    return _group(f"{name}: {endings_sentence(summary)}", table, table_notes(summary, lines))


class ScoreLine(msgspec.Struct, frozen=True):
    """A line of a table of scores, in the terminal or in a page: a score, with its thinking part if both are shown.

    The properties are the texts of its cells, the formal part first, as in MedR-Bench's tables.
    """

    score: ScoreSummary
    thinking: ScoreSummary | None = None

    @property
    def parts(self) -> list[ScoreSummary]:
        """Return the score, and that of the thinking part."""
        return [self.score] if self.thinking is None else [self.score, self.thinking]

    @property
    def label(self) -> str:
        """Return the label, which mentions the thinking part if that is shown too."""
        label = measure_of(self.score.name).label
        return f"{label} / thinking" if self.thinking else label

    @property
    def mean(self) -> str:
        """Format the means."""
        return " / ".join(format_value(one.name, one.mean) for one in self.parts)

    def intervals(self, between: str = " / ") -> str:
        """Format the 95% intervals."""
        return between.join(format_range(one.name, one.ci95) for one in self.parts)

    def counts(self, of: str = " of ", between: str = " / ") -> str:
        """Format how many episodes have the score."""
        return between.join(f"{one.scored}{of}{one.n}" for one in self.parts)

    @property
    def missing(self) -> str:
        """List what is missing: `the endpoint gave no reply in time (2)`; a dash if nothing is."""
        return "\n".join(list_reasons(one.reasons, one.name) or "–" for one in self.parts)

    @property
    def zeros(self) -> str:
        """List the zeros that have a reason: `no answer (2)`; a dash if there are none."""
        return list_reasons(self.score.zeros, self.score.name) or "–"

    @property
    def bounds(self) -> str:
        """Format the bounds if any value is missing."""
        return format_range(self.score.name, self.score.bounds if self.score.none else None)

    @property
    def macro(self) -> str:
        """Format the mean over groups."""
        return format_value(self.score.name, self.score.macro)


def score_lines(summary: Summary, every: bool = False, *, leading: bool = False) -> list[ScoreLine]:
    """Return the lines of the shown or of the `leading` scores; with `every`, one for each score."""
    scores = leading_scores(summary) if leading else shown_scores(summary, every)
    return [ScoreLine(score, None if every else _thinking_score(summary, score)) for score in scores]


def table_notes(summary: Summary, lines: Sequence[ScoreLine], *, missing: bool = True) -> list[str]:
    """Return what a reader must know about these scores, in sentences: method, zeros, missing values and their reasons.

    `missing` False omits the missing values, which the table already has in a column.
    """
    if summary.instead:
        return [summary.instead]
    scores = [*(line.score for line in lines), *(line.thinking for line in lines if line.thinking)]
    return [
        *([FLOOR] if any_by_words(scores) else []),
        *_judged(scores),
        *_always(scores),
        *_accuracy_notes(scores),
        *_scores_by_reason(
            "Missing",
            [(one, list_reasons(one.reasons, one.name)) for one in scores if missing and one.none and one.scored],
        ),
        *_scores_by_reason(
            "No figure", [(one, no_value_reason(one).removeprefix("no figure: ")) for one in scores if not one.scored]
        ),
        *_scores_by_reason("No interval", [(one, one.ci95_reason) for one in scores if one.scored and not one.ci95]),
        *_scores_by_reason("No average over groups", [(one, one.macro_reason) for one in scores if _lacks_macro(one)]),
    ]


def any_by_words(scores: Sequence[ScoreSummary]) -> bool:
    """Whether word match, rather than a judge, decided right and wrong in one of these scores."""
    return any(score.method == WORD_MATCH and score.scored and not measure_of(score.name).by_words for score in scores)


def _always(scores: Sequence[ScoreSummary]) -> list[str]:
    """Name the scores that use word match even if a judge took part."""
    labels = [measure_of(score.name).label for score in scores if score.scored and measure_of(score.name).by_words]
    if not labels or any_by_words(scores):
        return []
    return [f"By word match all the same (a lower bound, not a verdict): {'; '.join(labels)}."]


def _judged(scores: Sequence[ScoreSummary]) -> list[str]:
    methods = dict.fromkeys(score.method for score in scores if score.method not in ("", WORD_MATCH) and score.scored)
    return [f"Answers {method}." for method in methods]


def _accuracy_notes(scores: Sequence[ScoreSummary]) -> Iterator[str]:
    """Explain the accuracy: its zeros by reason, and the mean of the answered episodes beside that of all."""
    for score in scores:
        if not score.name.endswith("_accuracy") or not score.zeros:
            continue
        label = measure_of(score.name).label
        yield f"{label}, zeros by reason: {list_reasons(score.zeros, score.name)}."
        if score.of_answered is not None and score.answered < score.scored:
            yield (
                f"{label} of those who answered, beside the figure and not in its place: "
                f"{format_value(score.name, score.of_answered)} of {count_noun(score.answered, 'episode')}."
            )


def no_value_reason(score: ScoreSummary) -> str:
    """Say why a score has no value at all, with the reasons."""
    reasons = {reason: count for reason, count in score.reasons.items() if reason != "mixed_rules"}
    return (
        f"{score.instead} ({list_reasons(reasons, score.name)})"
        if reasons and score.instead
        else score.instead or list_reasons(reasons, score.name)
    )


def _lacks_macro(score: ScoreSummary) -> bool:
    """Whether a reader would expect an average over groups: only for the accuracy."""
    return score.macro is None and bool(score.scored) and score.name.endswith("_accuracy") and bool(score.macro_reason)


def _scores_by_reason(head: str, said: Sequence[tuple[ScoreSummary, str]]) -> Iterator[str]:
    """Yield `Missing: REASON: SCORE; SCORE.` once for each reason."""
    by_reason: dict[str, list[str]] = {}
    for score, why in said:
        by_reason.setdefault(why, []).append(measure_of(score.name).label)
    for why, labels in by_reason.items():
        yield f"{head}: {why}: {'; '.join(labels)}."


_FIGURE = 13
"""Width of a column of figures in a ranking; longer headings go over several lines."""


def ranking_table(ranking: Ranking, width: int = SIDE_BY_SIDE) -> Group:
    """Show runs by rank, best first; above them the basis of comparison, below what the order does not show."""
    label = measure_of(ranking.by).label
    games = dict.fromkeys(place.scenario for place in ranking.places)
    words = {"run": [place.run for place in ranking.places], "doctor": [place.doctor for place in ranking.places]}
    words |= {"scenario": [place.scenario for place in ranking.places]} if len(games) > 1 else {}
    least = {name: min(max(map(len, column), default=0), NAME) for name, column in words.items()}
    full = label if ranking.basis == "mean" else f"{label}, lower bound"
    heads = [full, *(measure_of(name).label for name in ranking.others)]
    rest = sum(least.values()) + sum(map(len, ("rank", "0.000 to 0.000", "1000/1000"))) + 2 * (len(words) + 3)
    wide = width >= max(SIDE_BY_SIDE, rest + (_FIGURE + 2) * len(heads))
    folded = _FIGURE if width < rest + sum(len(head) + 2 for head in heads) else None
    table = _table()
    table.add_column("rank", justify="right")
    for name in words:
        table.add_column(name, overflow="fold", min_width=least[name] if wide else None)
    table.add_column(full, justify="right", max_width=folded)
    for name in ("95% interval", "scored"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ranking.others if wide else ():
        table.add_column(measure_of(name).label, justify="right", max_width=folded)
    for place, *named in zip(ranking.places, *words.values(), strict=True):
        figure = place.figure
        table.add_row(
            "–" if place.rank is None else str(place.rank),
            *map(Text, named),
            format_value(ranking.by, place.value),
            format_range(ranking.by, place.ci95),
            f"{figure.scored}/{figure.n}" if figure else "–",
            *(
                "–" if other is None else format_value(other.name, other.mean)
                for other in (place.others if wide else ())
            ),
        )
    where = f" in {next(iter(games))}" if len(games) == 1 else ""
    return _group(f"Runs by {label.lower()}{where}\n{ranking_sentence(ranking)}", table, ranking_notes(ranking))


def ranking_sentence(ranking: Ranking) -> str:
    """Return the sentence on what a ranking compares, and on how right and wrong were decided."""
    figures = [place.figure for place in ranking.places if place.figure]
    return f"{ranking.basis_reason}{' ' + FLOOR.partition('. ')[0] + '.' if any_by_words(figures) else ''}"


def ranking_notes(ranking: Ranking) -> list[str]:
    """Say what an order does not show, and why a place has no interval."""
    reasons = dict.fromkeys(place.ci95_reason for place in ranking.places if place.rank and not place.ci95)
    return [ORDER, *(f"No interval: {why}." for why in reasons)]


def comparison_table(comparison: Comparison, every: bool = False, width: int = SIDE_BY_SIDE) -> Group:
    """Show the paired differences: of two runs score by score, of more runs all pairs of the first score.

    With `every`, each other score has a table of its own; otherwise it is only named. The caller prints warnings.
    """
    rows = [row for row in comparison.differences if is_compared(row, every)]
    others: list[str] = []
    if len(comparison.runs) > 2 and not every:
        scores = sorted({row.score for row in rows}, key=place_of)
        rows, others = [row for row in rows if row.score in scores[:1]], [measure_of(name).label for name in scores[1:]]
    empty = no_common_cases(comparison, every)
    by_title: dict[str, list[Difference]] = {}
    two = len(comparison.runs) == 2
    for row in rows:
        title = f"{row.second} minus {row.first}, paired by case" if two else measure_of(row.score).label
        by_title.setdefault(title if two else f"{title}: every pair of runs, by case", []).append(row)
    tables: list[RenderableType] = [_pairs(title, some, two, width) for title, some in by_title.items()]
    more = [f"Pairs of other scores with --all, or on the page: {'; '.join(others)}."] if others else []
    return Group(*tables, *_notes([*([comparison.note] if comparison.note else []), *pair_notes(rows), *more, *empty]))


def is_compared(row: Difference, every: bool = False) -> bool:
    """Whether to show a difference: of a headline or plug-in score (any if `every`), over one case at least."""
    return bool(row.cases) and (every or _first(row.score))


def no_common_cases(comparison: Comparison, every: bool = False) -> list[str]:
    """Name in a sentence the scores for which some pair of runs has no case in common."""
    rows = [row for row in comparison.differences if not row.cases and (every or _first(row.score)) and row.left_out]
    labels = dict.fromkeys(measure_of(row.score).label for row in rows)
    which = "Not compared" if len(comparison.runs) < 3 else "Some pairs are not compared"
    return [f"{which}, since no case has a value in both runs: {'; '.join(labels)}."] if labels else []


def _first(name: str) -> bool:
    measure = measure_of(name)
    return measure.headline or not measure.unit


def _pairs(title: str, rows: Sequence[Difference], two: bool, width: int) -> Group:
    table = _table()
    wide, several = width >= SIDE_BY_SIDE, len(rows) > 1 and not two
    table.add_column("score" if two else "second minus first", overflow="fold")
    for column in (*(("first", "second") if wide else ()), "difference", "95% interval", "fewer/more", "p"):
        table.add_column(column, justify="right", no_wrap=True)
    for column in (*(("p, Holm",) if several else ()), "cases"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            Text(measure_of(row.score).label if two else f"{row.second} − {row.first}"),
            *((format_value(row.score, row.first_mean), format_value(row.score, row.second_mean)) if wide else ()),
            signed_value(row.score, row.difference),
            format_range(row.score, row.ci95),
            f"{row.only_first}/{row.only_second}",
            format_p(row.p),
            *((format_p(row.p_holm),) if several else ()),
            str(row.cases),
        )
    return _group(title, table, ())


_TESTS = {
    "mcnemar exact": "exact McNemar for scores of 0 and 1",
    "permutation": "permutation of signs for others",
}


def pair_notes(rows: Sequence[Difference]) -> list[str]:
    """Explain the columns of paired differences, and why one has no interval."""
    if not rows:
        return []
    tests = [_TESTS.get(test, test) for test in dict.fromkeys(row.test for row in rows if row.test)]
    several = len({(row.first, row.second) for row in rows}) > 1
    holm = " Holm: corrected for all pairs of a score." if several else ""
    said = [
        "Over the cases that have a value in both runs. fewer/more: cases in which the second run has less, and more.",
        *([f"p: {', '.join(tests)}.{holm}"] if tests else []),
    ]
    reasons = dict.fromkeys(row.ci95_reason for row in rows if row.cases and not row.ci95 and row.ci95_reason)
    if left := max((row.left_out for row in rows), default=0):
        said.append(f"Up to {count_noun(left, 'case')} with a value in one run only are left out of a row.")
    return [*said, *(f"No interval: {why}." for why in reasons)]


def _table() -> Table:
    return Table(box=None, pad_edge=False)


def _group(title: str, table: Table, notes: Sequence[str]) -> Group:
    """Put a table between its title and its notes, which are as wide as the terminal."""
    return Group(Text(title, style="italic"), table, *_notes(notes))


def _notes(notes: Sequence[str]) -> list[RenderableType]:
    return [Text("\n".join(notes), style="dim"), Text("")] if notes else [Text("")]


def leading_scores(summary: Summary) -> Sequence[ScoreSummary]:
    """Return the headline scores and those of plug-ins, without those that the scenario lacks."""
    return [score for score in shown_scores(summary) if not measure_of(score.name).beside]


def shown_scores(summary: Summary, every: bool = False) -> Sequence[ScoreSummary]:
    """Return the leading scores and those beside them in a run's own table; with `every`, all scores.

    For reasoning, those of all turns come instead of the answering reply's, if there are any.
    """
    taken = {score.name for score in summary.scores}
    return [
        score
        for score in summary.scores
        if every
        or (
            (_first(score.name) or measure_of(score.name).beside)
            and not _is_undefined(score)
            and not is_superseded(score.name, taken)
        )
    ]


def _is_undefined(score: ScoreSummary) -> bool:
    return not score.scored and "not_ordered_here" in score.reasons


def endings_sentence(summary: Summary) -> str:
    """Return, for instance, `36 episodes: completed 33, no answer from the doctor 2, still open 1`."""
    causes = [f"{why} {count:,}" for why, count in endings(summary).items()]
    return count_noun(summary.episodes, "episode") + (f": {', '.join(causes)}" if causes else "")


def endings(summary: Summary) -> dict[str, int]:
    """Count the episodes by ending, in words: `completed` first, open ones last."""
    counts_by_words: dict[str, int] = {}
    for cause, count in summary.endings.items():
        reasons = {key: some for key, some in summary.reasons.items() if key.partition("/")[0] == cause}
        for key, some in reasons.items():
            said = ended_by(*key.split("/", 1))
            counts_by_words[said] = counts_by_words.get(said, 0) + some
        if rest := count - sum(reasons.values()):
            counts_by_words[ended_by(cause)] = counts_by_words.get(ended_by(cause), 0) + rest
    return counts_by_words | ({ended_by(None): summary.open} if summary.open else {})


def format_range(name: str, ends: tuple[float, float] | None) -> str:
    """Format two values as `0.412 to 0.563`; a dash for None."""
    return f"{format_value(name, ends[0])} to {format_value(name, ends[1])}".replace("-", "−") if ends else "–"


def _thinking_score(summary: Summary, score: ScoreSummary) -> ScoreSummary | None:
    """Return the same score of the thinking part, if any episode has it."""
    if not score.name.endswith("_formal"):
        return None
    other = summary.score(score.name.removesuffix("_formal") + "_thinking")
    return other if other is not None and other.scored else None


def score_remark(summary: Summary, name: str) -> str:
    """Return a remark on a score: for factuality, its means with unverified steps as wrong and as correct."""
    ends = [summary.score(name.replace("factuality", f"factuality_{end}")) for end in ("low", "high")]
    means = [end.mean for end in ends if end is not None]
    if "factuality" not in name or len(means) < 2 or None in means or means[0] == means[1]:
        return ""
    return (
        f"{format_value(name, means[0])} to {format_value(name, means[1])} with unverified steps as wrong, as correct"
    )


def signed_value(name: str, value: float | None) -> str:
    """Format a difference with its sign."""
    if value is None:
        return "–"
    return ("+" if value > 0 else "−" if value < 0 else "±") + format_value(name, abs(value))


def format_p(p: float | None) -> str:
    """Format a p value with three decimals."""
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"
