"""Accuracy against what a case costs in dollars: which runs no other run beats in both, as a table and a plot."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from rich.console import Group
from rich.table import Table
from rich.text import Text

from wardround.evaluators.measures import format_value
from wardround.evaluators.report.plots import GRID, INK, MUTED, SERIES, WIDTH, Plot, short_name, svg
from wardround.evaluators.report.ranking import doctor_of
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.summary import Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACY, COST, KNOWN, MOST = "diagnosis_accuracy", "case_cost_usd", "known_cost_usd", "most_cost_usd"
Place = Literal["front", "beaten", "not known"]
HEADING = "Accuracy against cost"
_MARKERS = "osD^vP"
_LONGEST = 30
"""Most characters of a run's name in the plot."""


class CostPoint(msgspec.Struct, frozen=True):
    """One run: mean accuracy and mean cost of a case in dollars, with their 95% intervals.

    `unpriced` counts the episodes with a test of unknown price, and those without a bill, such as one that the doctor's
    own error ended. `cost` counts such tests and such episodes as $0, so with them it can only be too low. `most` is
    the cost with each test of unknown price at the dearest of the list, and None if a bill is missing.

    A run takes its `place` by `most`, so that no order hides its cost. It is on the front unless another run beats it:
    is at least as accurate for at most that cost, and better in one of the two. `beaten_by` is the first such run.
    Without `most` the place is not known, unless another run beats even the least cost.
    """

    run: str
    doctor: str
    accuracy: float
    accuracy_ci95: tuple[float, float] | None
    cost: float
    cost_ci95: tuple[float, float] | None
    episodes: int
    unpriced: int
    most: float | None = None
    place: Place = "not known"
    beaten_by: str = ""

    @property
    def counted(self) -> float:
        """The cost that decides the place: the most that it can be, or the least where that is all that is known."""
        return self.cost if self.most is None else self.most


class CostFront(msgspec.Struct, frozen=True):
    """The runs by cost, the cheapest first; `note` says what the order does not show."""

    points: tuple[CostPoint, ...]
    note: str


def cost_front(runs: Sequence[RunScores], summaries: Mapping[str, Summary]) -> CostFront | None:
    """The front of these runs; None if fewer than two of them have a cost in dollars and an accuracy.

    Example: `cost_front(runs, {run.name: summarise(run.episodes, 0, run.answer_judges) for run in runs})`.
    """
    points = [point for run in runs if (point := _point(run, summaries[run.name])) is not None]
    if len(points) < 2:
        return None
    points.sort(key=lambda point: (point.counted, -point.accuracy, point.run))
    placed = tuple(_with_place(point, points) for point in points)
    notes = (
        "Front: no other run is at least as accurate for at most the same cost, and better in one of the two.",
        "The least that a run can cost counts a test of unknown price and an episode without a bill as $0. A run takes "
        "its place by the most that it can cost: a test of unknown price counts as the dearest of the price list. An "
        "episode without a bill has no such most; then the place is not known unless another run beats even the least."
        if any(point.unpriced for point in placed)
        else "",
        "The runs have different numbers of episodes, so their means are over different cases."
        if len({point.episodes for point in placed}) > 1
        else "",
    )
    return CostFront(placed, " ".join(filter(None, notes)))


def _point(run: RunScores, summary: Summary) -> CostPoint | None:
    accuracy, cost, known, most = (summary.score(name) for name in (ACCURACY, COST, KNOWN, MOST))
    if accuracy is None or accuracy.mean is None or known is None or known.mean is None:
        return None
    unbilled = known.reasons.get("no_bill", 0)
    unpriced = (cost.reasons.get("unpriced_order", 0) if cost else known.scored) + unbilled
    return CostPoint(
        run=run.name,
        doctor=doctor_of(run.header) or run.name,
        accuracy=accuracy.mean,
        accuracy_ci95=accuracy.ci95,
        cost=known.mean * known.scored / (known.scored + unbilled),
        cost_ci95=None if unbilled else known.ci95,
        episodes=accuracy.scored,
        unpriced=unpriced,
        most=None if unbilled else most.mean if most else None if unpriced else known.mean,
    )


def _with_place(point: CostPoint, points: Sequence[CostPoint]) -> CostPoint:
    first = next((other for other in points if other is not point and _beats(other, point)), None)
    if first is None:
        return point if point.most is None else msgspec.structs.replace(point, place="front")
    return msgspec.structs.replace(point, place="beaten", beaten_by=first.run)


def _beats(one: CostPoint, other: CostPoint) -> bool:
    """Whether `one` is at least as accurate for at most the cost of `other`, and better in one of the two."""
    return (
        one.most is not None
        and one.accuracy >= other.accuracy
        and one.most <= other.counted
        and (one.accuracy > other.accuracy or one.most < other.counted)
    )


def cost_cell(point: CostPoint) -> str:
    """The cost in words: `$1,250.00`, `at least $1,250.00`, or `$1,250.00 to $9,000.00`."""
    if not point.unpriced:
        return format_value(COST, point.cost)
    least = format_value(COST, point.cost)
    return f"at least {least}" if point.most is None else f"{least} to {format_value(COST, point.most)}"


def place_cell(point: CostPoint) -> str:
    """The place in words: on the front, beaten by a run, or not known."""
    return {"front": "on the front", "beaten": f"beaten by {point.beaten_by}", "not known": "not known"}[point.place]


def cost_table(front: CostFront) -> Group:
    """The table for the terminal."""
    table = Table(box=None, pad_edge=False)
    table.add_column("run", overflow="fold")
    for name in ("cost of a case", "accuracy", "episodes"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Pareto front", overflow="fold")
    for point in front.points:
        accuracy, count = format_value(ACCURACY, point.accuracy), f"{point.episodes:,}"
        table.add_row(Text(point.run), cost_cell(point), accuracy, count, Text(place_cell(point)))
    return Group(Text(f"{HEADING}, the cheapest run first"), table, Text(f"{front.note}\n"))


def cost_plot(front: CostFront) -> Plot:
    """The plot: each run a point with its intervals, the front a line of steps through its runs."""
    title = "; ".join(
        f"{point.run}: {format_value(ACCURACY, point.accuracy)} for {cost_cell(point)}, {place_cell(point)}"
        for point in front.points
    )
    note = (
        "Point: mean over the episodes. Bars: 95% intervals; dotted: from the least to the most that a cost can be. "
        "Line: the Pareto front. Hollow: not on the front."
    )
    return Plot(
        HEADING,
        note,
        svg("cost-front", title, (WIDTH, 3.2 + 0.1 * len(front.points)), lambda axes: draw_front(front, axes)),
    )


def draw_front(front: CostFront, axes: "Axes") -> None:
    """Draw the front, with the names of the runs above it."""
    on = [point for point in front.points if point.place == "front"]
    most = max(max(point.counted, *(point.cost_ci95 or (0.0,))) for point in front.points)
    right = most * 1.05 or 1.0
    if on:
        costs = [*(point.counted for point in on), right]
        heights = [*(point.accuracy for point in on), on[-1].accuracy]
        axes.step(costs, heights, where="post", color=MUTED, linewidth=1.2, zorder=1)
    for number, point in enumerate(front.points):
        _draw_point(point, SERIES[number % len(SERIES)], _MARKERS[number % len(_MARKERS)], axes)
    axes.set_xlim(-0.02 * right, right)
    axes.set_ylim(-0.04, 1.06)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "0.25", "0.5", "0.75", "1"])
    axes.xaxis.set_major_formatter(lambda value, _: f"${value:,.0f}")
    axes.locator_params(axis="x", nbins=6)
    axes.set_xlabel("Cost of a case, US dollars")
    axes.set_ylabel("Diagnosis accuracy")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, frameon=False, labelcolor=INK)
    axes.grid(color=GRID)
    axes.tick_params(length=0)


def _draw_point(point: CostPoint, colour: str, marker: str, axes: "Axes") -> None:
    """Draw one run with its intervals; the marker is hollow unless the run is on the front."""
    if point.accuracy_ci95:
        low, high = (min(max(end, 0.0), 1.0) for end in point.accuracy_ci95)
        axes.plot((point.counted, point.counted), (low, high), color=colour, linewidth=1.4, alpha=0.55)
    if point.counted > point.cost:
        axes.plot((point.cost, point.counted), (point.accuracy, point.accuracy), color=colour, linestyle="dotted")
    elif point.cost_ci95:
        ends = [max(end, 0.0) for end in point.cost_ci95]
        axes.plot(ends, (point.accuracy, point.accuracy), color=colour, linewidth=1.4, alpha=0.55)
    axes.plot(
        [point.counted],
        [point.accuracy],
        marker,
        color=colour,
        linestyle="none",
        markerfacecolor=colour if point.place == "front" else "none",
        markersize=6,
        label=short_name(point.run, _LONGEST),
        zorder=3,
    )
