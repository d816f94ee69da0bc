"""Draws the plots of `wardround levels`: accuracy by level and by size, gains of one model over another, diseases."""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from wardround.engine.text import count_noun
from wardround.evaluators.levels.disease_curves import DiseaseCurves
from wardround.evaluators.levels.level_figures import LEVELS, Gap, LevelFigure, LevelReport, ModelLevels, Stratum
from wardround.evaluators.report.plots import GRID, MUTED, WIDTH, Plot, look_of, short_name, svg

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST = 40
"""The most diseases or body systems in a plot."""
_MOST_MODELS = 12
"""The most models in a plot."""
_BESIDE = 1.025
"""How far the levels of one size stand apart, so that none hides another."""


def level_plots(report: LevelReport) -> list[Plot]:
    """The plots of a report; an empty one says why in its note."""
    gains = [
        (
            "Medical model minus its backbone",
            report.backbones,
            "No medical model was played together with its backbone.",
        ),
        (
            "Thinking minus its plain sibling",
            report.siblings,
            "No thinking model was played together with a plain one.",
        ),
    ]
    return [
        _by_level(report.models),
        _by_size(report.models),
        *(_gains(f"gains{place}", title, rows, none) for place, (title, rows, none) in enumerate(gains)),
        *_strata(report.strata),
        _curves(report.curves),
    ]


def _percent(value: float) -> float:
    return 100 * value


def _span(axes: "Axes", x: float, figure: LevelFigure, colour: str) -> None:
    if figure.ci95:
        axes.plot((x, x), tuple(map(_percent, figure.ci95)), color=colour, linewidth=1.6)


def _vertical(axes: "Axes") -> None:
    axes.set_ylabel("normalised accuracy (%)")
    axes.grid(axis="y")
    axes.tick_params(length=0)
    axes.axhline(0, color=GRID, linewidth=1, zorder=0)


def _legend(axes: "Axes", columns: int = 2, *, over_labels: bool = False) -> None:
    """Place the legend above the middle of the plot, or at its right end, from where it may reach over the labels."""
    if over_labels:
        axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=columns, frameon=False)
    else:
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=columns, frameon=False)


def _by_level(models: Sequence[ModelLevels]) -> Plot:
    """Each model's normalised accuracy over the three levels."""
    heading = "By level"
    drawn = [one for one in models if any(figure.mean is not None for figure in one.levels.values())]
    if not drawn:
        return Plot(heading, "No model has a figure at any level.")
    shown = drawn[:_MOST_MODELS]

    def draw(axes: "Axes") -> None:
        width = 0.5 / len(shown)
        for place, one in enumerate(shown):
            colour, marker = look_of(place)
            points = []
            for x, level in enumerate(LEVELS):
                figure = one.levels[level]
                if figure.mean is not None:
                    at = x + (place - (len(shown) - 1) / 2) * width
                    _span(axes, at, figure, colour)
                    points.append((at, _percent(figure.mean)))
            axes.plot(*zip(*points, strict=True), color=colour, alpha=0.35, linewidth=1)
            axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, label=short_name(one.model))
        axes.set_xticks(range(len(LEVELS)), LEVELS)
        axes.set_xlim(-0.5, len(LEVELS) - 0.5)
        _vertical(axes)
        _legend(axes)

    said = "; ".join(f"{one.model}: {_levels_in_words(one)}" for one in shown)
    note = "Point: mean, whose n is in the table. Bar: 95% interval. 0 is guessing."
    if len(drawn) > len(shown):
        note += f" The first {len(shown)} of {count_noun(len(drawn), 'model')}."
    height = 2.8 + 0.2 * math.ceil(len(shown) / 2)
    return Plot(heading, note, svg("levels", said, (WIDTH, height), draw))


def _levels_in_words(one: ModelLevels) -> str:
    figures: Mapping[str, LevelFigure] = {str(level): figure for level, figure in one.levels.items()}
    return ", ".join(
        f"{level} {100 * figure.mean:z.1f}" for level, figure in figures.items() if figure.mean is not None
    )


def _by_size(models: Sequence[ModelLevels]) -> Plot:
    """Normalised accuracy against the number of parameters; lines join the models of one family."""
    heading = "By size"
    sized = [(one, one.facts.parameters) for one in models if one.facts and one.facts.parameters]
    if not sized:
        return Plot(heading, "The number of parameters is known of none of these models.")

    def draw(axes: "Axes") -> None:
        for place, level in enumerate(LEVELS):
            colour, marker = look_of(place)
            beside = _BESIDE ** (place - 1)
            families: dict[str, list[tuple[float, float]]] = {}
            for one, size in sized:
                figure = one.levels[level]
                if figure.mean is None:
                    continue
                _span(axes, size * beside, figure, colour)
                family = one.facts.family if one.facts else ""
                families.setdefault(family or one.model, []).append((size * beside, _percent(figure.mean)))
            points = [point for several in families.values() for point in several]
            for several in families.values():
                axes.plot(*zip(*sorted(several), strict=True), color=colour, alpha=0.35, linewidth=1)
            if points:
                axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=5, label=level)
        axes.set_xscale("log")
        sizes = _apart(sorted({size for _, size in sized}))
        axes.set_xticks(sizes, [f"{size:g}" for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel("billions of parameters")
        _vertical(axes)
        _legend(axes, 3)

    said = "; ".join(f"{one.model}, {size:g} billion: {_levels_in_words(one)}" for one, size in sized)
    left = [one.model for one in models if not (one.facts and one.facts.parameters)]
    note = "Lines join models of one family; levels of one model stand side by side."
    if left:
        note += f" Size unknown: {', '.join(left)}."
    return Plot(heading, note, svg("size", said, (WIDTH, 3.2), draw))


def _apart(sizes: Sequence[float]) -> list[float]:
    """Those of ascending sizes that stand far enough apart on a logarithmic axis to be labelled."""
    least = math.log(sizes[-1] / sizes[0]) / 20
    kept = [sizes[0]]
    for size in sizes[1:]:
        kept += [size] if math.log(size / kept[-1]) >= least else []
    return kept


def _gains(name: str, heading: str, rows: Sequence[Gap], none: str) -> Plot:
    """Differences of pairs of models by level, with their intervals."""
    drawn = [(row, row.difference) for row in rows if row.difference is not None]
    if not drawn:
        return Plot(heading, none if not rows else "No pair has scored answers in common.")
    labels = [_pair_label(short_name(row.second), short_name(row.first), row.level) for row, _ in drawn]

    def draw(axes: "Axes") -> None:
        for place, (row, difference) in enumerate(drawn):
            colour, marker = look_of(LEVELS.index(row.level))
            if row.ci95:
                axes.plot(tuple(map(_percent, row.ci95)), (place, place), color=colour, linewidth=1.8)
            axes.plot([_percent(difference)], [place], marker, color=colour, markersize=5)
        axes.axvline(0, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        axes.set_yticks(range(len(drawn)), labels)
        axes.set_ylim(len(drawn) - 0.4, -0.6)
        axes.spines["left"].set_visible(False)
        axes.set_xlabel("difference (points)")
        axes.grid(axis="x")
        axes.tick_params(length=0)

    said = "; ".join(f"{row.second} minus {row.first}, {row.level}: {100 * gain:+z.1f}" for row, gain in drawn)
    note = (
        "Normalised accuracy over the questions and cases that both answered; right of the dashed line the first-named "
        "is better."
    )
    row_height = 0.36 if any("\n" in label for label in labels) else 0.26
    return Plot(heading, note, svg(name, said, (WIDTH, 0.9 + row_height * len(drawn)), draw))


_ONE_LINE = 32
"""The most characters of two names that leave room for a plot beside them."""


def _pair_label(second: str, first: str, level: str) -> str:
    """The pair on one line, or on two if their names are long."""
    return f"{second} −{' ' if len(second) + len(first) <= _ONE_LINE else chr(10)}{first}, {level}"


def _strata(strata: Sequence[Stratum]) -> list[Plot]:
    """The high level by disease and by body system: one row each, a mark for each model."""
    plots = []
    for by, heading in (("disease", "High level by disease"), ("body_system", "High level by body system")):
        rows = [(one, one.figure.mean) for one in strata if one.by == by and one.figure.mean is not None]
        if not rows:
            plots.append(Plot(heading, f"No encounter with a score names a {by.replace('_', ' ')}."))
            continue
        if why := mostly_single(_most_cases(rows).values()):
            plots.append(Plot(heading, f"Not drawn: {why}."))
            continue
        plots.append(_stratum(f"by_{by}", heading, rows))
    return plots


def _most_cases(rows: Iterable[tuple[Stratum, float]]) -> dict[str, int]:
    """The cases of each disease or system, by the model that played most of them."""
    cases: dict[str, int] = {}
    for one, _ in rows:
        cases[one.name] = max(one.figure.units, cases.get(one.name, 0))
    return cases


def mostly_single(units: Iterable[int]) -> str:
    """Say that most groups have one case, from whose figures no curve or mean follows; else empty."""
    sizes = list(units)
    single = sizes.count(1)
    return f"{single} of {len(sizes)} have one case" if len(sizes) > 1 and single * 2 > len(sizes) else ""


def _stratum(name: str, heading: str, rows: Sequence[tuple[Stratum, float]]) -> Plot:
    played = list(dict.fromkeys(one.model for one, _ in rows))
    models = played[:_MOST_MODELS]
    rows = [(one, mean) for one, mean in rows if one.model in models]
    means: dict[str, list[float]] = {}
    for one, mean in rows:
        means.setdefault(one.name, []).append(mean)
    ordered = sorted(means, key=lambda group: (-math.fsum(means[group]) / len(means[group]), group))
    note = (
        "Point: mean. Bar: 95% interval, where five cases or more allow one. In brackets the questions and cases. In "
        "the order of the mean over the models that played them."
    )
    if len(played) > len(models):
        note += f" The first {len(models)} of {count_noun(len(played), 'model')}."
    if len(ordered) > _MOST:
        note += f" The best {_MOST // 2} and the worst {_MOST // 2} of {len(ordered)}."
        ordered = [*ordered[: _MOST // 2], *ordered[-(_MOST // 2) :]]
    said = "; ".join(f"{one.model}, {one.name}: {100 * mean:z.1f}" for one, mean in rows)
    height = 0.9 + (0.22 + 0.06 * len(models)) * len(ordered) + (0.3 if len(models) > 1 else 0)
    return Plot(heading, note, svg(name, said, (WIDTH, height), partial(_draw_groups, rows, ordered, models)))


def _draw_groups(
    rows: Sequence[tuple[Stratum, float]], groups: Sequence[str], models: Sequence[str], axes: "Axes"
) -> None:
    """Draw a row for each group, and in it a mark with its interval for each model."""
    for one, mean in rows:
        if one.name not in groups:
            continue
        place = models.index(one.model)
        colour, marker = look_of(place)
        at = groups.index(one.name) + (place - (len(models) - 1) / 2) * 0.5 / len(models)
        if one.figure.ci95:
            axes.plot(tuple(map(_percent, one.figure.ci95)), (at, at), color=colour, linewidth=1.6)
        axes.plot([_percent(mean)], [at], marker, color=colour, markersize=4.5, clip_on=False)
    cases = _most_cases(rows)
    axes.set_yticks(range(len(groups)), [f"{short_name(group)} ({cases[group]})" for group in groups])
    axes.set_ylim(len(groups) - 0.4, -0.6)
    lowest = min([0.0, *(value for one, mean in rows for value in (mean, *(one.figure.ci95 or ())))])
    axes.set_xlim(_percent(lowest) - 2, 102)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel("normalised accuracy (%)" if lowest < 0 else "accuracy (%)")
    axes.grid(axis="x")
    axes.tick_params(length=0)
    if len(models) > 1:
        for place, model in enumerate(models):
            colour, marker = look_of(place)
            axes.plot([], [], marker, color=colour, markersize=5, label=short_name(model, 30))
        _legend(axes, over_labels=True)


_NAMED = 30
"""The most diseases whose names fit below the curves."""


def _curves(curves: DiseaseCurves) -> Plot:
    """Diagnosis accuracy by disease, best first, with a curve for each size of model (MultiCogEval, figure 7)."""
    heading = "Diagnosis by disease and size"
    if len(curves.diseases) < 2:
        return Plot(heading, "Fewer than two diseases have an encounter with a scored diagnosis.")

    names = [f"{short_name(name, 26)} ({curves.cases[name]})" for name in curves.diseases]
    names = names if len(names) <= _NAMED else []

    def draw(axes: "Axes") -> None:
        for place, one in enumerate(curves.curves):
            colour, marker = look_of(place)
            points = [
                (x, _percent(one.accuracy[name])) for x, name in enumerate(curves.diseases) if name in one.accuracy
            ]
            label = f"{one.size}, {count_noun(len(one.models), 'model')}"
            axes.plot(*zip(*points, strict=True), color=colour, alpha=0.6, linewidth=1.2)
            axes.plot(*zip(*points, strict=True), marker, color=colour, markersize=4, label=label, clip_on=False)
        if names:
            axes.set_xticks(range(len(names)), names, rotation=90)
        else:
            axes.set_xlabel(f"{count_noun(len(curves.diseases), 'disease')}, from the best to the worst")
        axes.set_ylim(-2, 102)
        axes.set_ylabel("right diagnoses (%)")
        axes.grid(axis="y")
        axes.tick_params(length=0)
        _legend(axes)

    said = "; ".join(
        f"{one.size}, {', '.join(one.models)}: "
        + ", ".join(f"{name} {100 * value:z.1f}" for name, value in one.accuracy.items())
        for one in curves.curves
    )
    note = (
        "Right final diagnoses, whatever was examined before. A curve is the mean of its models. Diseases are in the "
        "order of their mean over all models that played them, with their cases in brackets."
    )
    named = 0.075 * max(map(len, names)) if names else 0.2
    return Plot(heading, note, svg("curves", said, (WIDTH, 2.6 + named), draw))
