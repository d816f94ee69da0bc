"""One row of the table of figures: what was measured, the aim, and whether it was met."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from statistics import median


@dataclass(frozen=True)
class Figure:
    """A measured value with its aim.

    `unit` is what `value` counts. The aim is `at_least` or `at_most`; without either no aim is set. `value` is None if
    it could not be measured; `note` then says why. `runs` holds the single values of which `value` is the median.
    """

    name: str
    value: float | None
    unit: str = ""
    at_least: float | None = None
    at_most: float | None = None
    note: str = ""
    runs: Sequence[float] = field(default=())

    @property
    def met(self) -> bool | None:
        """Whether the value meets the aim; None without an aim or a value."""
        if self.value is None or (self.at_least is None and self.at_most is None):
            return None
        low = -float("inf") if self.at_least is None else self.at_least
        high = float("inf") if self.at_most is None else self.at_most
        return low <= self.value <= high

    @property
    def aim(self) -> str:
        """The aim as the table shows it, such as `>= 0.9`."""
        if self.at_least is not None:
            return f">= {_short(self.at_least)}"
        return "none set" if self.at_most is None else f"<= {_short(self.at_most)}"

    def to_json(self) -> dict[str, object]:
        """Return the figure as an object that can be written as JSON."""
        return {**asdict(self), "runs": list(self.runs), "aim": self.aim, "met": self.met}


def of_runs(
    name: str,
    runs: Sequence[float],
    *,
    unit: str = "",
    at_least: float | None = None,
    at_most: float | None = None,
    note: str = "",
) -> Figure:
    """Return the median of several runs with their spread, which comes before `note`."""
    spread = f"{_short(min(runs))}-{_short(max(runs))} in {len(runs)}" if len(runs) > 1 else ""
    note = "; ".join(part for part in (spread, note) if part)
    return Figure(name, median(runs), unit, at_least, at_most, note, tuple(runs))


def table(figures: Iterable[Figure]) -> str:
    """Return the rows as text, and after them the figures that miss their aim."""
    rows = [("what", "measured", "aim", "met", "")]
    missed = []
    for figure in figures:
        value = "not measured" if figure.value is None else f"{_short(figure.value)} {figure.unit}".strip()
        met = {None: "-", True: "yes", False: "NO"}[figure.met]
        rows.append((figure.name, value, figure.aim, met, figure.note))
        if figure.met is False:
            missed.append(figure.name)
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    lines = [
        "  ".join([*(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=False)), row[4]]) for row in rows
    ]
    lines.append(f"missed: {'; '.join(missed)}" if missed else "no aim was missed")
    return "\n".join(line.rstrip() for line in lines)


def _short(value: float) -> str:
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 100 else f"{value:.2f}"
