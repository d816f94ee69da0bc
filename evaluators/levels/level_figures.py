"""Low, middle and high level side by side: normalised accuracy by model, gaps between levels, pairs of models.

`level_report` gathers them all. `figure` takes a mean with its interval, `gap` compares two levels or models.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, get_args

import msgspec

from wardround.evaluators.levels.clinician_sheet import PERSON, People, clinician_sheet
from wardround.evaluators.levels.disease_curves import NO_CURVES, Diagnosed, DiseaseCurves, disease_curves
from wardround.evaluators.report.intervals import FEWEST, percentiles, resampled_ratios, standard_error
from wardround.evaluators.report.model_facts import KnownModels, ModelFacts

Level = Literal["low", "middle", "high"]
LEVELS: tuple[Level, ...] = get_args(Level)
HIGH_SCORES = ("full_path", "diagnosis_accuracy", "treatment_accuracy")
"""The score of an encounter at the high level: the first of these that the run has."""
RECTIFICATION = "rectification"
FEW_UNITS = f"fewer than {FEWEST} questions, cases or diseases"
ALIKE = "all values are equal, which shows no spread"
LONE = "one of the tasks or sets has one question or case only"
ONE_SIDE = "only one side of the rectifications was answered"


class LevelRow(msgspec.Struct, frozen=True, kw_only=True):
    """One answered item, or one encounter, in one repeat.

    `dataset` is the set that it belongs to, `unit` the question or case it was made from: the unit of pairs and of
    resampling. `value` is the score, None with its `reason`. `chance` is the accuracy of guessing. `holds` is the side
    of a rectification. `disease` joins questions and cases of one disease ("" if unknown). `end_point` is the accuracy
    of an encounter's diagnosis alone. `difficulty` is how hard the person who answered rated it.
    """

    model: str
    run: str
    level: Level
    dataset: str
    task: str
    unit: str
    repeat: int
    value: float | None
    reason: str = ""
    chance: float = 0.0
    holds: bool | None = None
    disease: str = ""
    body_systems: tuple[str, ...] = ()
    end_point: float | None = None
    difficulty: float | None = None


class LevelFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A mean of normalised accuracies: over `items` answers of `units` questions or cases, in `repeats` repeats.

    `mean` may be None, with the `reason` in words, and so may `ci95`, with `ci95_reason`. `error` is the standard error
    over repeats, None for a single repeat. `missing` counts answers without a score by their reason. `accuracy` is the
    mean before it is normalised.
    """

    mean: float | None
    accuracy: float | None = None
    error: float | None = None
    ci95: tuple[float, float] | None = None
    ci95_reason: str = ""
    reason: str = ""
    items: int = 0
    units: int = 0
    repeats: int = 0
    missing: Mapping[str, int] = {}


class ModelLevels(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of one model: by level, by (level, dataset), by (level, task, dataset); with known facts."""

    model: str
    facts: ModelFacts | None
    runs: tuple[str, ...]
    levels: Mapping[Level, LevelFigure]
    datasets: Mapping[Level, Mapping[str, LevelFigure]]
    tasks: Mapping[Level, Mapping[str, Mapping[str, LevelFigure]]]


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """A difference of two normalised accuracies, `second` minus `first`, with its interval.

    `over` names the diseases: `all`, or only those that both have (`shared`). `pairs` are the units that both have, by
    which the interval is resampled (`by`: question, disease, or `nothing` where the two have no unit in common).
    """

    first: str
    second: str
    model: str = ""
    level: str = ""
    over: Literal["all", "shared"] = "all"
    difference: float | None = None
    ci95: tuple[float, float] | None = None
    reason: str = ""
    pairs: int = 0
    by: Literal["question", "disease", "nothing"] = "question"


class Stratum(msgspec.Struct, frozen=True, kw_only=True):
    """The high level in one disease or body system."""

    model: str
    by: Literal["disease", "body_system"]
    name: str
    figure: LevelFigure


class LevelReport(msgspec.Struct, frozen=True, kw_only=True):
    """All that `wardround levels` shows; `notes` are sentences about what could not be computed, and why."""

    models: Sequence[ModelLevels]
    gaps: Sequence[Gap]
    backbones: Sequence[Gap]
    siblings: Sequence[Gap]
    strata: Sequence[Stratum]
    people: Sequence[People]
    notes: Sequence[str]
    curves: DiseaseCurves = NO_CURVES


_Column = tuple[str, str]
"""A dataset and a task."""
_Ends = tuple[tuple[float, float] | None, str]
"""The ends of an interval, or None with the reason."""
_Side = tuple[float, bool | None]
"""The chance and the side of rectifications, whose two sides are averaged apart; (0, None) for other tasks."""


class _NormalisedValue(msgspec.Struct, frozen=True):
    """A normalised value with its column, side, unit and repeat."""

    column: _Column
    side: _Side
    unit: str
    repeat: int
    value: float


def normalise_by_chance(rows: Iterable[LevelRow]) -> list[_NormalisedValue]:
    """Normalise scored rows by chance (MultiCogEval, equation 4), so that their means are the normalised accuracies.

    The sides of a rectification are the items whose offered answer is right, and those whose offered answer is wrong.
    The first count 1/options in all and the second the rest, however many there are of each. A repeat with items of
    only one side is left out. With alpha = 1/options that is
    (alpha R + (1 - alpha) W - alpha) / (1 - alpha) = alpha (R - 1) / (1 - alpha) + W for the shares right R and W,
    so each side has a mean of its own.
    """
    parts: list[_NormalisedValue] = []
    sides: dict[tuple[str, str, int, float], list[LevelRow]] = defaultdict(list)
    for row in rows:
        if row.value is None:
            continue
        if row.task == RECTIFICATION and row.holds is not None:
            sides[row.dataset, row.task, row.repeat, row.chance].append(row)
            continue
        value = (row.value - row.chance) / (1 - row.chance)
        parts.append(_NormalisedValue((row.dataset, row.task), (0.0, None), row.unit, row.repeat, value))
    for (dataset, task, repeat, alpha), several in sides.items():
        if len({row.holds for row in several}) < 2:
            continue
        for row in several:
            assert row.value is not None
            value = alpha * (row.value - 1) / (1 - alpha) if row.holds else row.value
            parts.append(_NormalisedValue((dataset, task), (alpha, row.holds), row.unit, repeat, value))
    return parts


def _shares(parts: Sequence[_NormalisedValue]) -> dict[tuple[_Column, _Side], float]:
    """Return the weight of the mean of each column and side; all columns weigh the same.

    Within a column, items of one chance weigh by their number. Each side of a rectification has their whole weight,
    because the means of its two sides are added (`normalise_by_chance`).
    """
    items = Counter(part.column for part in parts)
    alike = Counter((part.column, part.side[0]) for part in parts)
    cells = sorted({(part.column, part.side) for part in parts})
    return {(column, side): alike[column, side[0]] / items[column] / len(items) for column, side in cells}


def _by_cell(parts: Iterable[_NormalisedValue]) -> dict[tuple[_Column, _Side], list[float]]:
    values: dict[tuple[_Column, _Side], list[float]] = defaultdict(list)
    for part in parts:
        values[part.column, part.side].append(part.value)
    return values


def _mean_of_columns(parts: Sequence[_NormalisedValue]) -> float | None:
    shares = _shares(parts)
    means = [shares[cell] * math.fsum(values) / len(values) for cell, values in _by_cell(parts).items()]
    return math.fsum(means) if means else None


def figure(rows: Sequence[LevelRow], seed: int = 0) -> LevelFigure:
    """The mean of normalised accuracies over datasets and tasks; each column weighs the same, as in MultiCogEval."""
    parts = normalise_by_chance(rows)
    missing = Counter(row.reason or "not_scored" for row in rows if row.value is None)
    if lonely := len(rows) - missing.total() - len(parts):
        missing["one_side"] = lonely
    units, repeats = sorted({part.unit for part in parts}), sorted({part.repeat for part in parts})
    if not parts:
        why = "nothing was played" if not rows else "no answer has a score" if not lonely else ONE_SIDE
        return LevelFigure(mean=None, reason=why, missing=missing)
    by_repeat = [_mean_of_columns([part for part in parts if part.repeat == repeat]) for repeat in repeats]
    ci95, why = _interval([parts], units, seed)
    values = [row.value for row in rows if row.value is not None]
    return LevelFigure(
        mean=_mean_of_columns(parts),
        accuracy=math.fsum(values) / len(values),
        error=standard_error([mean for mean in by_repeat if mean is not None]),
        ci95=ci95,
        ci95_reason=why,
        items=len(parts),
        units=len(units),
        repeats=len(repeats),
        missing=missing,
    )


def _interval(sides: Sequence[Sequence[_NormalisedValue]], units: Sequence[str], seed: int) -> _Ends:
    """The bootstrap interval of a mean, or of the second minus the first of two over the same units."""
    if len(units) < FEWEST:
        return None, FEW_UNITS
    if why := _spreadless(sides):
        return None, why
    draws = [_draws(side, units, seed) for side in sides]
    if len(draws) == 1:
        return _unless_one_point(percentiles(draws[0], len(units)))
    return _unless_one_point(percentiles([after - before for before, after in zip(*draws, strict=True)], len(units)))


def _spreadless(sides: Sequence[Sequence[_NormalisedValue]]) -> str:
    """Return why a bootstrap would show no spread though there may be some; '' if it would show it."""
    if all(len(set(values)) == 1 for parts in sides for values in _by_cell(parts).values()):
        return ALIKE
    for parts in sides:
        units: dict[_Column, set[str]] = defaultdict(set)
        for part in parts:
            units[part.column].add(part.unit)
        if any(len(some) == 1 for some in units.values()):
            return LONE
    return ""


def _unless_one_point(ends: tuple[float, float] | None) -> _Ends:
    """The ends of an interval, unless there are none or they are one point."""
    if ends is None:
        return None, "too few units in common"
    return (ends, "") if ends[0] < ends[1] else (None, ALIKE)


def _draws(parts: Sequence[_NormalisedValue], units: Sequence[str], seed: int) -> list[float]:
    """Bootstrap draws of the mean: units are drawn, and each side has its own mean in each draw."""
    shares = _shares(parts)
    rows = {unit: row for row, unit in enumerate(units)}
    columns = {cell: column for column, cell in enumerate(shares)}
    sums = [[0.0] * len(columns) for _ in units]
    counts = [[0.0] * len(columns) for _ in units]
    for part in parts:
        row, column = rows[part.unit], columns[part.column, part.side]
        sums[row][column] += part.value
        counts[row][column] += 1
    return resampled_ratios(sums, counts, list(shares.values()), seed)


Key = Callable[[LevelRow], str]


def unit_of(row: LevelRow) -> str:
    """The question or case that a row belongs to."""
    return row.unit


def disease_of(row: LevelRow) -> str:
    """The disease by which questions and cases are joined; '' if it is unknown."""
    return " ".join(row.disease.casefold().split())


def gap(first: Sequence[LevelRow], second: Sequence[LevelRow], key: Key, seed: int = 0) -> Gap:
    """Return the difference over the units that both sides have by `key`.

    Without a common unit it is the difference over all rows, and each side is resampled by itself.
    """
    shared = sorted(({key(row) for row in first} & {key(row) for row in second}) - {""})
    by: Literal["question", "disease", "nothing"] = "nothing"
    if shared:
        by = "disease" if key is disease_of else "question"
        kept = set(shared)
        first, second = (
            [msgspec.structs.replace(row, unit=key(row)) for row in rows if key(row) in kept]
            for rows in (first, second)
        )
    sides = [normalise_by_chance(rows) for rows in (first, second)]
    means = [_mean_of_columns(side) for side in sides]
    if means[0] is None or means[1] is None:
        return Gap(first="", second="", reason="one of the two has no scored answer", by=by)
    ends, why = _interval(sides, shared, seed) if shared else _interval_of_difference(sides, seed)
    return Gap(first="", second="", difference=means[1] - means[0], ci95=ends, reason=why, pairs=len(shared), by=by)


def _interval_of_difference(sides: Sequence[Sequence[_NormalisedValue]], seed: int) -> _Ends:
    """The interval of a difference of two sides without common units, each resampled by itself."""
    units = [sorted({part.unit for part in side}) for side in sides]
    fewest = min(map(len, units))
    if fewest < FEWEST:
        return None, FEW_UNITS
    if why := _spreadless(sides):
        return None, why
    draws = [_draws(side, some, seed + place) for place, (side, some) in enumerate(zip(sides, units, strict=True))]
    return _unless_one_point(percentiles([after - before for before, after in zip(*draws, strict=True)], fewest))


def level_report(rows: Sequence[LevelRow], known: KnownModels, seed: int = 0) -> LevelReport:
    """Figures, gaps and pairs of all models, in the order of their runs.

    Units are named by their dataset, so that equal numbers of two datasets are not one question.
    """
    by_model: dict[str, list[LevelRow]] = defaultdict(list)
    for row in rows:
        by_model[row.model].append(msgspec.structs.replace(row, unit=f"{row.dataset}/{row.unit}"))
    models = [_of_model(model, some, known, seed) for model, some in by_model.items()]
    return LevelReport(
        models=models,
        gaps=[one for model, some in by_model.items() for one in _gaps(model, some, seed)],
        backbones=list(_gaps_to_named(models, by_model, lambda facts: facts.backbone if facts.medical else "", seed)),
        siblings=[
            *_gaps_to_named(models, by_model, lambda facts: facts.plain, seed),
            *_thinking_gains(by_model, seed),
        ],
        strata=[one for model, some in by_model.items() for one in _strata(model, some, seed)],
        people=clinician_sheet(by_model.get(PERSON, ()), LEVELS),
        notes=list(_notes(models)),
        curves=disease_curves(_diagnosed_rows(rows), {one.model: one.facts.parameters for one in models if one.facts}),
    )


def _diagnosed_rows(rows: Iterable[LevelRow]) -> Iterator[Diagnosed]:
    for row in rows:
        if row.end_point is not None:
            yield Diagnosed(row.model, row.disease, f"{row.dataset}/{row.unit}", row.end_point)


THOUGHT = " (step by step)"
"""Ends the name of a model that was asked to think first."""


def _of_model(model: str, rows: Sequence[LevelRow], known: KnownModels, seed: int) -> ModelLevels:
    at = {level: [row for row in rows if row.level == level] for level in LEVELS}
    datasets = {level: sorted({row.dataset for row in some}) for level, some in at.items()}
    return ModelLevels(
        model=model,
        facts=known.find(model.removesuffix(THOUGHT), *_names(model)),
        runs=tuple(dict.fromkeys(row.run for row in rows)),
        levels={level: figure(some, seed) for level, some in at.items()},
        datasets={
            level: {name: figure([row for row in at[level] if row.dataset == name], seed) for name in datasets[level]}
            for level in LEVELS
        },
        tasks={level: _by_task(some, seed) for level, some in at.items()},
    )


def _by_task(rows: Sequence[LevelRow], seed: int) -> dict[str, dict[str, LevelFigure]]:
    figures: dict[str, dict[str, LevelFigure]] = defaultdict(dict)
    for task, name in sorted({(row.task, row.dataset) for row in rows}):
        figures[task][name] = figure([row for row in rows if (row.task, row.dataset) == (task, name)], seed)
    return figures


def _names(model: str) -> Iterator[str]:
    """Other names that a label holds: the model in brackets, and the part before it."""
    before, bracket, inside = model.removesuffix(THOUGHT).partition(" (")
    if bracket:
        yield from (before, inside.rstrip(")"))


def _gaps(model: str, rows: Sequence[LevelRow], seed: int) -> Iterator[Gap]:
    """Each level against the next one and low against high, over all and over shared diseases."""
    at = {level: [row for row in rows if row.level == level] for level in LEVELS}
    for first, second in (("low", "middle"), ("middle", "high"), ("low", "high")):
        one, two = at[first], at[second]  # type: ignore[index]  # both are levels
        if not one or not two:
            continue
        result = gap(one, two, unit_of, seed)
        yield msgspec.structs.replace(result, model=model, first=first, second=second)
        if {disease_of(row) for row in one} & {disease_of(row) for row in two} - {""}:
            result = gap(one, two, disease_of, seed)
            yield msgspec.structs.replace(result, model=model, first=first, second=second, over="shared")


def _gaps_to_named(
    models: Sequence[ModelLevels],
    rows: Mapping[str, Sequence[LevelRow]],
    other: Callable[[ModelFacts], str],
    seed: int,
) -> Iterator[Gap]:
    """Each model minus the one that its facts name, level by level, over the questions and cases of both."""
    by_name: dict[str, list[str]] = defaultdict(list)
    for one in models:
        if one.facts:
            by_name[one.facts.name].append(one.model)
    for one in models:
        for base in by_name.get(other(one.facts), ()) if one.facts else ():
            if base.endswith(THOUGHT) == one.model.endswith(THOUGHT):
                yield from _level_gaps(base, one.model, rows, seed)


def _thinking_gains(rows: Mapping[str, Sequence[LevelRow]], seed: int) -> Iterator[Gap]:
    """Each model that was asked to think first, minus itself without it."""
    for model in rows:
        plain = model.removesuffix(THOUGHT)
        if plain != model and plain in rows:
            yield from _level_gaps(plain, model, rows, seed)


def _level_gaps(base: str, model: str, rows: Mapping[str, Sequence[LevelRow]], seed: int) -> Iterator[Gap]:
    for level in LEVELS:
        one, two = ([row for row in rows[name] if row.level == level] for name in (base, model))
        if one and two:
            yield msgspec.structs.replace(gap(one, two, unit_of, seed), first=base, second=model, level=level)


def _strata(model: str, rows: Sequence[LevelRow], seed: int) -> Iterator[Stratum]:
    """The high level by disease and by body system, best first."""
    members: dict[tuple[Literal["disease", "body_system"], str], list[LevelRow]] = defaultdict(list)
    for row in rows:
        if row.level == "high":
            for system in dict.fromkeys(row.body_systems):
                members["body_system", system].append(row)
            if row.disease:
                members["disease", row.disease].append(row)
    strata = [Stratum(model=model, by=by, name=name, figure=figure(some, seed)) for (by, name), some in members.items()]
    yield from sorted(strata, key=lambda one: (one.by, -(one.figure.mean or 0.0), one.name))


def _notes(models: Sequence[ModelLevels]) -> Iterator[str]:
    for one in models:
        for level, mean in one.levels.items():
            if mean.mean is None:
                yield f"{one.model}: no figure at the {level} level: {mean.reason}."
            elif mean.units == 1:
                yield f"{one.model}: the {level} level is one question or case; its figure says little."
        if one.facts is None and re.search("[/#]", one.model):  # others are doctors without a model
            yield f"{one.model}: no facts are known of this model; add it to a file for --models (docs/levels.md)."
