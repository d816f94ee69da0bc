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
from wardround.evaluators.report.summary import ScoreSummary, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ACCURACY, COST, KNOWN = "diagnosis_accuracy", "case_cost_usd", "known_cost_usd"
Place = Literal["front", "beaten", "not known"]
HEADING = "Accuracy against cost"
_MARKERS = "osD^vP"
_LONGEST = 30
"""Most characters of a run's name in the plot."""


class CostPoint(msgspec.Struct, frozen=True):
    """One run: mean accuracy and mean cost of a case in dollars, with their 95% intervals.

    `unpriced` counts the episodes with a test of unknown price, and those without a bill, such as one that the doctor's
    own error ended; then `cost` leaves these out and can only be too low, so that the run's `place` is not known unless
    another run beats even that. A run is on the front if no other
    run whose cost is known is at least as accurate for at most the same cost, and better in one of the two.
    `beaten_by` is the first run that is.
    """

    run: str
    doctor: str
    accuracy: float
    accuracy_ci95: tuple[float, float] | None
    cost: float
    cost_ci95: tuple[float, float] | None
    episodes: int
    unpriced: int
    place: Place = "not known"
    beaten_by: str = ""


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
    points.sort(key=lambda point: (point.cost, -point.accuracy, point.run))
    placed = tuple(_with_place(point, points) for point in points)
    notes = ["Front: no other run is at least as accurate for at most the same cost, and better in one of the two."]
    if any(point.unpriced for point in placed):
        notes.append(
            "Costs with 'at least' leave out tests of unknown price and episodes without a bill; such a run takes no"
            " other's place."
        )
    if len({point.episodes for point in placed}) > 1:
        notes.append("The runs have different numbers of episodes, so their means are over different cases.")
    return CostFront(placed, " ".join(notes))


def _point(run: RunScores, summary: Summary) -> CostPoint | None:
    accuracy, cost, known = (summary.score(name) for name in (ACCURACY, COST, KNOWN))
    if accuracy is None or accuracy.mean is None or known is None or known.mean is None:
        return None
    unbilled = known.reasons.get("no_bill", 0)
    unpriced = (cost.reasons.get("unpriced_order", 0) if cost else known.scored) + unbilled
    shown: ScoreSummary = known if unpriced or cost is None else cost
    if shown.mean is None:
        return None
    return CostPoint(
        run=run.name,
        doctor=doctor_of(run.header) or run.name,
        accuracy=accuracy.mean,
        accuracy_ci95=accuracy.ci95,
        cost=shown.mean * shown.scored / (shown.scored + unbilled),
        cost_ci95=None if unbilled else shown.ci95,
        episodes=accuracy.scored,
        unpriced=unpriced,
    )


def _with_place(point: CostPoint, points: Sequence[CostPoint]) -> CostPoint:
    better = (other for other in points if other is not point and not other.unpriced and _beats(other, point))
    first = next(better, None)
    if first is None:
        return point if point.unpriced else msgspec.structs.replace(point, place="front")
    return msgspec.structs.replace(point, place="beaten", beaten_by=first.run)


def _beats(one: CostPoint, other: CostPoint) -> bool:
    """Whether `one` is at least as accurate for at most the cost of `other`, and better in one of the two."""
    if one.accuracy < other.accuracy or one.cost > other.cost:
        return False
    return one.accuracy > other.accuracy or one.cost < other.cost


def cost_cell(point: CostPoint) -> str:
    """The cost in words: `$1,250.00`, or `at least $1,250.00`."""
    return f"{'at least ' if point.unpriced else ''}{format_value(COST, point.cost)}"


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
    note = "Point: mean over the episodes. Bars: 95% intervals. Line: the Pareto front. Hollow: not on the front."
    return Plot(
        HEADING,
        note,
        svg("cost-front", title, (WIDTH, 3.2 + 0.1 * len(front.points)), lambda axes: draw_front(front, axes)),
    )


def draw_front(front: CostFront, axes: "Axes") -> None:
    """Draw the front, with the names of the runs above it."""
    on = [point for point in front.points if point.place == "front"]
    most = max(max(point.cost, *(point.cost_ci95 or (0.0,))) for point in front.points)
    right = most * 1.05 or 1.0
    if on:
        costs = [on[0].cost, *(point.cost for point in on[1:]), right]
        heights = [*(point.accuracy for point in on), on[-1].accuracy]
        axes.step(costs, heights, where="post", color=MUTED, linewidth=1.2, zorder=1)
    for number, point in enumerate(front.points):
        colour = SERIES[number % len(SERIES)]
        if point.accuracy_ci95:
            low, high = (min(max(end, 0.0), 1.0) for end in point.accuracy_ci95)
            axes.plot((point.cost, point.cost), (low, high), color=colour, linewidth=1.4, alpha=0.55)
        if point.cost_ci95:
            ends = [max(end, 0.0) for end in point.cost_ci95]
            axes.plot(ends, (point.accuracy, point.accuracy), color=colour, linewidth=1.4, alpha=0.55)
        fill = colour if point.place == "front" else "none"
        marker = _MARKERS[number % len(_MARKERS)]
        [dot] = axes.plot(
            [point.cost],
            [point.accuracy],
            marker,
            color=colour,
            markersize=6,
            label=short_name(point.run, _LONGEST),
            zorder=3,
        )
        dot.set_markerfacecolor(fill)
        dot.set_linestyle("none")
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
