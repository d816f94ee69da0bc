"""Draws with matplotlib into SVG that stands inside a page: text stays text, colours follow the page."""

import io
import re
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING

from markupsafe import Markup, escape

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, MUTED, GRID = "#000001", "#000002", "#000003"
SERIES = ("#00000a", "#00000b", "#00000c", "#00000d", "#00000e", "#00000f")
"""Stand-ins: the page's style sheet says what they look like, in light and in dark (Okabe and Ito's palette)."""

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
    """One figure of `size` in inches; `title` is what a screen reader says of it, `name` is unique in the page."""
    # imported here: only who draws waits for matplotlib
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_STYLE), warnings.catch_warnings():  # type: ignore[arg-type]  # its stub lists every key
        # text stays text: whether a font has the letter is for the reader's browser to say
        warnings.filterwarnings("ignore", message="Glyph .* missing", category=UserWarning)
        figure = Figure(figsize=size, layout="constrained")
        draw(figure.add_subplot())
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return _embedded(out.getvalue(), name, title)


def _embedded(text: str, name: str, title: str) -> Markup:
    text = _SPACES.sub("", _PROLOGUE.sub("", text))
    text = _ID.sub(rf"\g<1>{name}-", text)
    text = _FONT.sub("var(--font)", text)
    for stand_in, variable in _VARIABLES.items():
        text = text.replace(stand_in, f"var({variable})")
    label = f'<svg role="img" aria-labelledby="{name}-title"'
    text = text.replace("<svg", label, 1)
    end = text.index(">") + 1
    return Markup(f'{text[:end]}<title id="{name}-title">{escape(title)}</title>{text[end:]}')  # noqa: S704  # own drawing
