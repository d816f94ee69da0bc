"""Draws the images of the bundled cases: a rhythm strip and a rash, as SVG and PNG.

    python -m scripts.draw_case_images

Both are computed from the numbers in the case's text, so that picture and text agree. No photograph is used.
"""

from pathlib import Path

import numpy as np
from matplotlib import rcParams
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.typing import NDArray

FOLDER = Path(__file__).parent.parent / "scenarios" / "data" / "cases" / "images"
Samples = NDArray[np.float64]


def rhythm_strip(seconds: float = 7.0, atrial_rate: float = 82, ventricular_rate: float = 34) -> Figure:
    """Draw lead II in complete heart block: P waves and broad complexes each keep their own rate, a minute."""
    time: Samples = np.arange(0, seconds, 0.002)
    trace: Samples = 0.008 * np.sin(2 * np.pi * 0.31 * time)
    for beat in np.arange(0.12, seconds, 60 / atrial_rate):
        trace += _wave(time, beat, 0.024, 0.16)
    for beat in np.arange(0.48, seconds, 60 / ventricular_rate):
        trace += _wave(time, beat - 0.045, 0.013, -0.12) + _wave(time, beat, 0.022, 0.95)
        trace += _wave(time, beat + 0.06, 0.022, -0.42) + _wave(time, beat + 0.34, 0.065, 0.28)
    figure = Figure(figsize=(8.75, 1.75), dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, seconds)
    axes.set_ylim(-1.5, 2)
    for step, width, colour in ((0.04, 0.3, "#f3c9c4"), (0.2, 0.8, "#e59a92")):
        axes.vlines(np.arange(0, seconds, step), -1.5, 2, color=colour, linewidth=width)
        axes.hlines(np.arange(-1.5, 2.01, step * 2.5), 0, seconds, color=colour, linewidth=width)
    axes.plot(time, trace, color="#111111", linewidth=1.1)
    axes.text(0.06, -1.3, "II   25 mm/s   10 mm/mV", fontsize=8, family="DejaVu Sans")
    axes.axis("off")
    return figure


def _wave(time: Samples, centre: float, width: float, height: float) -> Samples:
    """Return a bell curve; `centre` and `width` are in seconds, `height` in millivolts."""
    wave: Samples = height * np.exp(-0.5 * ((time - centre) / width) ** 2)
    return wave


def growing_patch(seed: int = 5) -> Figure:
    """Draw a thigh with an oval patch of 14 by 11 cm, with a red border, a pale ring and a red point, and a scale."""
    figure = Figure(figsize=(5, 4), dpi=110)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, 25)
    axes.set_ylim(0, 20)
    axes.set_aspect("equal")
    axes.axis("off")
    rng = np.random.default_rng(seed)
    speckle = rng.normal(0, 0.012, (80, 100, 1))
    shade = np.linspace(0.05, -0.07, 80)[:, None, None]
    skin = np.clip(np.array([0.90, 0.74, 0.65]) + shade + speckle, 0, 1)
    axes.imshow(skin, extent=(0, 25, 0, 20), aspect="auto", interpolation="bilinear")
    layers = ((14.0, 11.0, "#c9504a"), (13.2, 10.2, "#d4706a"), (12.2, 9.2, "#dd8f86"), (11.0, 8.0, "#e6b3a4"))
    for width, height, colour in layers:
        axes.add_patch(Ellipse((12, 10.6), width, height, angle=12, color=colour, alpha=0.85, linewidth=0))
    axes.add_patch(Ellipse((12, 10.6), 8.6, 6.0, angle=12, color="#e8c0ae", linewidth=0))
    axes.add_patch(Ellipse((12, 10.6), 0.9, 0.9, color="#d98a80", linewidth=0))
    axes.add_patch(Ellipse((12, 10.6), 0.3, 0.3, color="#a8322f", linewidth=0))
    axes.plot((18.5, 23.5), (1.6, 1.6), color="#222222", linewidth=3, solid_capstyle="butt")
    axes.text(21, 2.1, "5 cm", ha="center", fontsize=9, color="#222222", family="DejaVu Sans")
    return figure


def main() -> None:
    """Write each image twice: as SVG for people who change it, as PNG for models."""
    rcParams["svg.hashsalt"] = "wardround"
    for name, figure in {"ws-005-patch": growing_patch(), "ws-007-strip": rhythm_strip()}.items():
        figure.savefig(FOLDER / f"{name}.svg", metadata={"Date": None})
        figure.savefig(FOLDER / f"{name}.png")


if __name__ == "__main__":
    main()
