"""The data model of a table over several runs: its columns, cells and layout. "The paper" is MedR-Bench here."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec

from wardround.engine.records import Score
from wardround.evaluators.measures import why_untaken
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.report.intervals import SHARE, Interval, Method, by_case, interval, mean, published_interval
from wardround.evaluators.report.score_rows import EpisodeScores

Taken = Sequence[tuple[EpisodeScores, Mapping[str, Score]]]
"""Closed episodes, each with its scores by name."""


class Cell(msgspec.Struct, frozen=True):
    """The mean of a score over the `scored` of `n` closed episodes, as a share; `reasons` counts the others.

    `ci95` is the interval of intervals.py; under published rules Student's t over cases, as in the paper
    (`ci95_method`). It is None for companions of a score, and where `ci95_reason` says why.
    """

    score: str
    mean: float | None
    ci95: tuple[float, float] | None
    ci95_method: Method
    scored: int
    n: int
    reasons: Mapping[str, int]
    ci95_reason: str = ""

    @property
    def beyond(self) -> bool:
        """Whether the interval exceeds the possible values of a share: Student's t is not cut, as in the paper."""
        return self.ci95 is not None and not 0 <= self.ci95[0] <= self.ci95[1] <= 1

    @property
    def reason(self) -> str:
        """Return the most frequent reason for a missing value; "" if none is missing."""
        return max(self.reasons, key=lambda reason: (self.reasons[reason], reason), default="")


class Figure(msgspec.Struct, frozen=True):
    """The content of one place of a table.

    `parts` are the cells of the formal and of the thinking part, or one cell if the score has no parts. `beside` are
    the companions of each part: for factuality the unverifiable share and both bounds. Without parts, `reason` says
    why: `no_run` of the setting, `no_rare_case`.
    """

    parts: tuple[Cell, ...] = ()
    beside: tuple[tuple[Cell, ...], ...] = ()
    reason: str = ""

    @property
    def known(self) -> bool:
        """Whether any part has a value."""
        return any(cell.scored for cell in self.parts)


def score_cell(score: str, taken: Taken, rules: Rules = "default", seed: int = 0, *, bare: bool = False) -> Cell:
    """Return the mean of `score` over episodes with the interval that the rules prescribe, or without it if `bare`."""
    known = [(row.case, scores.get(score) or Score(score, None, why_untaken(score, scores))) for row, scores in taken]
    reasons = Counter(one.reason or "no_reason" for _, one in known if one.value is None)
    cases = by_case((case, one.value) for case, one in known if one.value is not None)
    values = sorted(value for repeats in cases.values() for value in repeats)
    ci = Interval(None, "")
    if not bare:
        ci = published_interval(cases) if rules == "published" else interval(cases, SHARE, seed)
    return Cell(
        score=score,
        mean=mean(values) if values else None,
        ci95=ci.ends,
        ci95_method=ci.method,
        scored=len(values),
        n=len(taken),
        reasons=dict(sorted(reasons.items())),
        ci95_reason=ci.reason,
    )


Population = Literal["all", "rare"]
POPULATIONS: dict[Population, str] = {"all": "All diseases", "rare": "Rare diseases"}


DASH = "A dash stands where nothing was measured, with the reason."


class Column(msgspec.Struct, frozen=True):
    """One column: its `label`, its population, and its `setting` (the scenario's name; "" is that of the row).

    `scores` are the names of its parts, `beside` those of its companions, part by part.
    """

    label: str
    setting: str
    scores: tuple[str, ...]
    beside: tuple[tuple[str, ...], ...] = ()
    population: Population = "all"


class TableRow(msgspec.Struct, frozen=True):
    """One doctor; of one `setting` or one `stratum` if the table separates rows by them.

    `runs` names the run behind each column's setting.
    """

    doctor: str
    runs: Mapping[str, str]
    figures: tuple[Figure, ...]
    setting: str = ""
    stratum: str = ""


class Table(msgspec.Struct, frozen=True):
    """A table with columns, rows and notes; `key` is its number in the paper, or a word for a table of our own."""

    key: str
    title: str
    rules: Rules
    columns: tuple[Column, ...]
    rows: tuple[TableRow, ...]
    notes: tuple[str, ...] = ()
    by: str = ""

    def trimmed(self) -> "Table":
        """Return the table for display: without columns and rows that have no value at all, which a note names."""
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
        """Whether the table has any value."""
        return any(figure.known for row in self.rows for figure in row.figures)


ONE_TURN, FREE_TURN, ORACLE, TREATMENT = "one-turn", "free-turn", "oracle", "treatment"
SETTINGS = {ONE_TURN: "1-turn", FREE_TURN: "Free-turn", ORACLE: "Oracle", TREATMENT: "Treatment"}
_PARTS = ("formal", "thinking")
_BESIDE = ("unverifiable", "factuality_low", "factuality_high")
_BOTH: tuple[Population, ...] = ("all", "rare")


class Layout(msgspec.Struct, frozen=True):
    """A table without its rows. `single`: each run is a row of its own, because its settings are not the paper's."""

    key: str
    title: str
    columns: tuple[Column, ...]
    single: bool = False


def extended_layouts(rules: Rules) -> list[Layout]:
    """Return the layouts of extended tables 1 to 6."""
    both = [*_reasoning_columns(ONE_TURN, rules), *_reasoning_columns(ORACLE, rules)]
    return [
        Layout(
            "1",
            "Examinations recommended",
            _twice([*_assessment_columns(ONE_TURN, rules), *_assessment_columns(FREE_TURN, rules)]),
        ),
        Layout(
            "2",
            "Reasoning of examination recommendation, 1-turn",
            _twice(_reasoning_columns(ONE_TURN, rules, "examination_")),
        ),
        Layout("3", "Diagnoses", _twice([_accuracy(setting, rules) for setting in (ONE_TURN, FREE_TURN, ORACLE)])),
        Layout("4", "Reasoning of the diagnosis, all diseases", tuple(both)),
        Layout("5", "Reasoning of the diagnosis, rare diseases", _of(both, "rare")),
        Layout("6", "Treatment plans", _twice([_accuracy(TREATMENT, rules), *_reasoning_columns(TREATMENT, rules)])),
    ]


def by_turn(rules: Rules, turns: int) -> Layout:
    """Return the layout for reasoning in free turns, with columns for each turn; short episodes lack later turns."""
    columns = [
        column
        for turn in range(1, turns + 1)
        for column in _reasoning_columns(FREE_TURN, rules, f"turn_{turn}_", f", turn {turn}")
    ]
    return Layout("turns", "Reasoning in free turns, turn by turn", tuple(columns))


def other_columns(rules: Rules, goals: Sequence[str]) -> Layout:
    """Return the layout for scores of scenarios that the paper's tables have no column for."""
    accuracy = [Column(f"{goal.capitalize()} accuracy", "", (_outcome(goal, rules),)) for goal in goals]
    return Layout(
        "other",
        "Other scenarios",
        _twice([*accuracy, *_assessment_columns("", rules), *_reasoning_columns("", rules)]),
        single=True,
    )


def _twice(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(column for population in _BOTH for column in _of(columns, population))


def _of(columns: Sequence[Column], population: Population) -> tuple[Column, ...]:
    return tuple(msgspec.structs.replace(column, population=population) for column in columns)


def _prefix(rules: Rules) -> str:
    return "published_" if rules == "published" else ""


def _outcome(goal: str, rules: Rules) -> str:
    # the published rules differ for treatments only
    return f"{_prefix(rules) if goal == 'treatment' else ''}{goal}_accuracy"


def _accuracy(setting: str, rules: Rules) -> Column:
    return Column("Accuracy", setting, (_outcome("treatment" if setting == TREATMENT else "diagnosis", rules),))


def _assessment_columns(setting: str, rules: Rules) -> list[Column]:
    return [
        Column(name.capitalize(), setting, (f"{_prefix(rules)}assessment_{name}",)) for name in ("precision", "recall")
    ]


def _reasoning_columns(setting: str, rules: Rules, stage: str = "", label: str = "") -> list[Column]:
    """Return the columns of the reasoning, formal and thinking; the stages before the answer have no completeness.

    Factuality has the unverifiable share beside it, if that is defined.
    """
    names = ("efficiency", "factuality") if stage else ("efficiency", "factuality", "completeness")
    beside = tuple(tuple(f"{stage}{other}_{part}" for other in _BESIDE) for part in _PARTS)
    return [
        Column(
            f"{name.capitalize()}{label}",
            setting,
            tuple(f"{stage}{_prefix(rules)}{name}_{part}" for part in _PARTS),
            beside if name == "factuality" and rules == "default" else (),
        )
        for name in names
    ]
