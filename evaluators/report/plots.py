"""Draws the plots of a report with matplotlib, as SVG inside the page.

Matplotlib draws in colours that stand for variables of the page's style sheet; `svg` puts the variables in, so that a
page has a light and a dark mode.
"""

import io
import math
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from statistics import median
from typing import TYPE_CHECKING

import msgspec
from markupsafe import Markup, escape

from wardround.engine.text import count_noun
from wardround.evaluators.measures import format_value, measure_of
from wardround.evaluators.reasons import ended_by, list_reasons
from wardround.evaluators.report.summary import ScoreSummary, Summary
from wardround.evaluators.report.terminal import endings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ticker import MaxNLocator


INK, MUTED, GRID = "#000001", "#000002", "#000003"
SERIES = ("#00000a", "#00000b", "#00000c", "#00000d", "#00000e", "#00000f")
"""Placeholders: the page's style sheet sets the colours for light and dark mode (Okabe and Ito's palette)."""

_VARIABLES = {INK: "--ink", MUTED: "--muted", GRID: "--line"} | {
    stand_in: f"--s{number}" for number, stand_in in enumerate(SERIES, 1)
}
_STYLE: dict[str, object] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "wardround",
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "text.color": INK,
    "text.parse_math": False,
    "axes.edgecolor": GRID,
    "axes.labelcolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
}
_PROLOGUE = re.compile(r"^.*?(?=<svg)|<metadata>.*?</metadata>|<!--.*?-->", re.DOTALL)
_SPACES = re.compile(r'\sxmlns(?::\w+)?="[^"]*"')
_ID = re.compile(r'(\bid="|href="#|url\(#)')
_FONT = re.compile(r"'DejaVu Sans'(?:,[^;\"]*)?")


def svg(name: str, title: str, size: tuple[float, float], draw: "Callable[[Axes], None]") -> Markup:
    """Draw one figure of `size` in inches; `title` is for screen readers, `name` is unique in the page."""
    # imported here: only drawing needs matplotlib
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]  # its stub lists every key
        # text stays text: the reader's browser chooses a font that has the letter
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        out = io.StringIO()
        # `savefig` would draw everything once more to lay it out; this lays it out as it draws
        FigureCanvasSVG(figure).print_svg(out, metadata={"Date": None, "Creator": None})  # type: ignore[no-untyped-call]
    return _inline_svg(out.getvalue(), name, title)


def _inline_svg(text: str, name: str, title: str) -> Markup:
    text = _SPACES.sub("", _PROLOGUE.sub("", text))
    text = _ID.sub(rf"\g<1>{name}-", text)
    text = _FONT.sub("var(--font)", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, f"var({variable})")
    text = text.replace("<svg", f'<svg role="img" aria-labelledby="{name}-title"', 1)
    end = text.index(">") + 1
    return Markup(f'{text[:end]}<title id="{name}-title">{escape(title)}</title>{text[end:]}')  # noqa: S704  # own drawing


WIDTH = 6.0
MOST_GROUPS = 40
MOST_BINS = 20


class Plot(msgspec.Struct, frozen=True):
    """A figure with its heading and a note; without a drawing the note says why."""

    heading: str
    note: str
    drawing: Markup | None = None


_SCORES_HEADING = "Scores from 0 to 1"


def _scored(measure: str, runs: Mapping[str, Summary]) -> str:
    """Return the number of scored episodes, as a range if the runs differ in it."""
    numbers = [score.scored for run in runs.values() if (score := run.score(measure)) and score.mean is not None]
    least, most = min(numbers), max(numbers)
    return f"{least:,}" if least == most else f"{least:,} to {most:,}"


def scores_plot(name: str, runs: Mapping[str, Summary]) -> Plot:
    """Plot accuracy, recall, full path and reasoning of each run: mean, 95% interval, and bounds behind it."""
    names = [n for n in _SHOWN if any((s := run.score(n)) and s.mean is not None for run in runs.values())]
    if not names:
        return Plot(_SCORES_HEADING, "No episode has a score.")
    rows, middles, row = [], [], 0.0
    for measure in names:  # a run without the score gets no row
        scored = [
            (place, s) for place, run in enumerate(runs.values()) if (s := run.score(measure)) and s.mean is not None
        ]
        rows += [(row + i, place, score) for i, (place, score) in enumerate(scored)]
        middles.append(row + (len(scored) - 1) / 2)
        row += len(scored) + 1

    def draw(axes: "Axes") -> None:
        for at, place, score in rows:
            _whisker(axes, at, score, *look_of(place))
        for place, run in enumerate(runs):
            colour, marker = look_of(place)
            axes.plot([], [], marker, color=colour, markersize=5, label=short_name(run, 30))
        _rows(axes, [f"{measure_of(n).label} (n = {_scored(n, runs)})" for n in names], middles)
        axes.set_ylim(row - 1.4, -0.6)
        _share_axis(axes)
        if len(runs) > 1:
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False)

    title = "; ".join(_plot_text(run, summary, names) for run, summary in runs.items())
    height = 0.7 + 0.16 * row + (0.3 if len(runs) > 1 else 0)
    note = "Point: mean over the n scored episodes. Bar: 95% interval."
    if any(score.bounds and score.bounds[0] < score.bounds[1] for _, _, score in rows):
        note += " Pale band: every missing value as 0, and as 1."
    return Plot(_SCORES_HEADING, note, svg(name, title, (WIDTH, height), draw))


def groups_plot(name: str, score: ScoreSummary | None) -> Plot:
    """Plot one score by group, best first; without a mean over groups (`macro`) the plot only says why."""
    heading = "By group"
    if score is None:
        return Plot(heading, "No accuracy was taken, so there is none by group.")
    if not score.scored:
        return Plot(
            heading, f"{measure_of(score.name).label}: {score.instead} ({list_reasons(score.reasons, score.name)})."
        )
    if not any(group.mean is not None for group in score.groups):
        return Plot(heading, "No case has a group.")
    if score.macro is None:
        return Plot(heading, f"No average over groups: {score.macro_reason}.")
    groups, note = score.groups, f"{measure_of(score.name).label}, mean and 95% interval; in brackets the cases."
    if len(groups) > MOST_GROUPS:
        half = MOST_GROUPS // 2
        note += f" The best and the worst {half} of {count_noun(len(groups), 'group')}."
        groups = [*groups[:half], *groups[-half:]]

    def draw(axes: "Axes") -> None:
        for row, group in enumerate(groups):
            if group.mean is not None:
                _point(axes, row, group.mean, group.ci95, *look_of(0))
        if score.macro is not None:
            axes.axvline(score.macro, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
        _rows(axes, [f"{short_name(group.group, 36)} ({group.cases})" for group in groups])
        _share_axis(axes)

    if score.macro is not None:
        note += f" Dashed: mean over groups, {format_value(score.name, score.macro)}."
    title = "; ".join(f"{group.group}: {format_value(score.name, group.mean)}" for group in groups)
    return Plot(heading, note, svg(name, title, (WIDTH, 0.7 + 0.24 * len(groups)), draw))


def endings_plot(name: str, summary: Summary) -> Plot:
    """Plot how many episodes ended in which way, with open ones separate."""
    counts = {why: count for why, count in endings(summary).items() if count}
    if not counts:
        return Plot("Endings", "No episode.")

    def draw(axes: "Axes") -> None:
        good, left = ended_by("completed"), ended_by(None)
        colours = [SERIES[2] if why == good else MUTED if why == left else SERIES[1] for why in counts]
        bars = axes.barh(range(len(counts)), list(counts.values()), height=0.6, color=colours)
        axes.bar_label(bars, padding=4, color=INK)
        _rows(axes, [short_name(why, 36) for why in counts])
        axes.set_xlim(0, max(counts.values()) * 1.12)
        _count_axis(axes, "episodes")

    title = ", ".join(f"{why} {count}" for why, count in counts.items())
    return Plot("Endings", "How episodes ended.", svg(name, title, (WIDTH, 0.7 + 0.32 * len(counts)), draw))


def spread_plot(name: str, heading: str, score: str, values: Sequence[float], none: Mapping[str, int]) -> Plot:
    """Plot a histogram of one score over episodes, with its median and total in the note.

    If a few large values would stretch the axis, it ends before them, and the note counts them. That is so if the
    largest value is over three times the 99th percentile (leaving out at least one episode).
    """
    missing = f"Without a value: {list_reasons(none, score)}." if none else ""
    if not values:
        return Plot(heading, missing or "No episode.")
    if not any(values):
        return Plot(heading, "0 in every episode.")
    inside = _usual(values)
    label, edges = measure_of(score).label, _edges(inside)
    milli = measure_of(score).unit == "seconds" and max(inside) < 0.1

    def draw(axes: "Axes") -> None:
        axes.hist(inside, bins=edges, color=SERIES[0], edgecolor="none", rwidth=0.92)
        axes.yaxis.set_major_locator(_ticks(4, whole=True))
        axes.xaxis.set_major_locator(_ticks(6, whole=_is_whole(score), fewest=1))
        if max(inside) >= 1000:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        elif milli:
            axes.xaxis.set_major_formatter(lambda value, _: f"{value * 1000:g}")
        if len(edges) == 2:
            axes.set_xlim(edges[0] - (edges[1] - edges[0]), edges[1] + (edges[1] - edges[0]))
        axes.grid(axis="y")
        axes.tick_params(length=0)
        axes.set_xlabel(f"{label}{' (ms)' if milli else _UNITS.get(measure_of(score).unit, '')}")
        axes.set_ylabel("episodes")

    middle = median(values)
    total = _figure(score, math.fsum(values))
    note = f"Median {_figure(score, middle)}, total {total} over {count_noun(len(values), 'episode')}."
    title = f"{label} per episode: median {_figure(score, middle)}, largest {_figure(score, max(values))}"
    if beyond := len(values) - len(inside):
        note += f" Beyond the axis: {count_noun(beyond, 'episode')}, up to {_figure(score, max(values))}."
    return Plot(heading, f"{note} {missing}".strip(), svg(name, title, (WIDTH, 2.2), draw))


_MARKERS = ("o", "s", "D", "^")
_UNITS = {"seconds": " (s)", "usd": " (US$)", "points": " (points)"}
_SHOWN = (
    "diagnosis_accuracy",
    "treatment_accuracy",
    "full_path_f1",
    "exam_recall",
    "exam_recall_lab",
    "exam_recall_microbiology",
    "exam_recall_imaging",
    "exam_recall_investigation",
    "exam_precision",
    "assessment_precision",
    "assessment_recall",
    "efficiency_formal",
    "factuality_formal",
    "completeness_formal",
    "efficiency_thinking",
    "factuality_thinking",
    "completeness_thinking",
)


def look_of(place: int) -> tuple[str, str]:
    """Return the colour and the marker of a run or a model: a repeated colour has another marker."""
    return SERIES[place % len(SERIES)], _MARKERS[place // len(SERIES) % len(_MARKERS)]


def _whisker(axes: "Axes", row: float, score: ScoreSummary, colour: str, marker: str) -> None:
    if score.bounds and score.bounds[0] < score.bounds[1] and score.mean is not None:
        axes.plot(score.bounds, (row, row), color=colour, alpha=0.18, linewidth=7, solid_capstyle="butt")
    if score.mean is not None:
        _point(axes, row, score.mean, score.ci95, colour, marker)


def _point(axes: "Axes", row: float, mean: float, ci95: tuple[float, float] | None, colour: str, marker: str) -> None:
    if ci95:
        axes.plot([min(max(end, 0.0), 1.0) for end in ci95], (row, row), color=colour, linewidth=1.8)
    axes.plot([mean], [row], marker, color=colour, markersize=5, clip_on=False)


def _rows(axes: "Axes", labels: Sequence[str], at: Sequence[float] = ()) -> None:
    axes.set_yticks(at or range(len(labels)), labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)


def _share_axis(axes: "Axes") -> None:
    axes.set_xlim(-0.015, 1.015)
    axes.set_xticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.grid(axis="x")
    axes.tick_params(axis="x", length=0)
    axes.spines["bottom"].set_color(GRID)


def _count_axis(axes: "Axes", label: str) -> None:
    axes.xaxis.set_major_locator(_ticks(5, whole=True))
    axes.grid(axis="x")
    axes.tick_params(axis="x", length=0)
    axes.set_xlabel(label)


def _ticks(most: int, *, whole: bool = False, fewest: int = 2) -> "MaxNLocator":
    """Place at most `most` intervals between ticks, and at least `fewest` ticks."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  # only drawing needs matplotlib

    return MaxNLocator(nbins=most, integer=whole, min_n_ticks=fewest)


def _is_whole(score: str) -> bool:
    return measure_of(score).unit in ("count", "tokens")


def _figure(score: str, value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0") if _is_whole(score) else format_value(score, value)


def _usual(values: Sequence[float]) -> Sequence[float]:
    """Return the values up to the 99th percentile if the largest is over three times as high; else all of them."""
    ordered = sorted(values)
    few = max(1, len(ordered) // 100)
    if len(ordered) < 5 or not ordered[-1 - few] or ordered[-1] <= 3 * ordered[-1 - few]:
        return values
    return ordered[: len(ordered) - few]


def _edges(values: Sequence[float]) -> list[float]:
    """Return bins of equal width; one for each whole number if there are few of them."""
    low, high = min(values), max(values)
    if all(value == int(value) for value in values) and high - low < MOST_BINS:
        return [low - 0.5 + i for i in range(int(high - low) + 2)]
    if low == high:
        return [low * 0.9, high * 1.1]
    count = min(MOST_BINS, max(5, math.ceil(math.sqrt(len(values)))))
    return [low + (high - low) * i / count for i in range(count + 1)]


def short_name(text: str, most: int = 34) -> str:
    """Shorten a name to one line of `most` printable characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def _plot_text(run: str, summary: Summary, names: Sequence[str]) -> str:
    means = [(name, score.mean) for name in names if (score := summary.score(name))]
    return f"{run}: " + ", ".join(f"{measure_of(name).label} {format_value(name, mean)}" for name, mean in means)
