"""Renders the templates: everything escaped, nothing undefined, no hidden character."""

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from markupsafe import Markup

from wardround.engine.records import Json
from wardround.evaluators.showing.visible import visible

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).resolve().parent.parent / "templates"


@cache
def environment() -> "Environment":
    """One whose every expression is escaped and made visible; made once, so that templates are compiled once."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415  # only who writes pages waits

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_finalised,
    )


def style(*names: str) -> Markup:
    """Our own style sheets, one after the other."""
    texts = [(TEMPLATES / name).read_text(encoding="utf-8") for name in names]
    return Markup("".join(texts))  # noqa: S704  # our own files


def _finalised(value: Json) -> Json:
    return visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value
