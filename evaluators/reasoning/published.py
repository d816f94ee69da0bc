"""A judge's JSON as the published code takes it: the whole reply, with nothing around it but the marks of a block."""

from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.evaluators.judging.payload import LONGEST
from wardround.evaluators.judging.unread import Unread, unread

REPAIRS = 5
"""Times that a reply which is no JSON is put right to any effect: what comes after a sixth request is not looked at."""

_MARKS = ("```json", "```")
_PURPOSE, _MISSPELT = "info_required", "info_requried"


def strict(text: str) -> Json | Unread:
    """The value that a reply is; prose around it or a comma too many make it none.

    What Python reads beyond JSON is read here as well: NaN, and of a key that comes twice the last.
    """
    if len(text) > LONGEST:
        return unread("too_long", text)
    for mark in _MARKS:
        text = text.replace(mark, "")
    text = text.strip()
    if not text:
        return unread("empty", text)
    try:
        value: Json = loads(text)
    except (ValueError, RecursionError):
        return unread("half_json" if text.startswith(("{", "[")) else "prose", text)
    return value


def entries(text: str) -> list[dict[str, Json]] | Unread:
    """The objects of a list, or the only one, as they stand but for one misspelt key; `no_field` for anything else."""
    value = strict(text)
    if isinstance(value, Unread):
        return value
    listed = [value] if isinstance(value, dict) else value
    if not isinstance(listed, list):
        return unread("no_field", text)
    objects = [one for one in listed if isinstance(one, dict)]
    if len(objects) < len(listed):
        return unread("no_field", text)
    return [{(_PURPOSE if name == _MISSPELT else name): held for name, held in one.items()} for one in objects]
