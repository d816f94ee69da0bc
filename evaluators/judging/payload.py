"""The one JSON value in a judge's reply, and what was written after it."""

import json
import re
from collections.abc import Sequence

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import mended
from wardround.evaluators.judging.unread import Unread, unread

LONGEST = 100_000
"""Characters of a judge's reply that are read at all."""

_FENCE = re.compile(r"```[a-z]*[ \t]*\n?(.*?)```", re.IGNORECASE | re.DOTALL)
_OPENS = re.compile(r'\{|\[(?=\s*[\[\]{"])')
_TRAILING = re.compile(r",(?=\s*[}\]])")


class Payload(msgspec.Struct, frozen=True):
    """A parsed `value`, and the prose `after` it."""

    value: Json
    after: str = ""


def payload(text: str) -> Payload | Unread | None:
    """The reply's JSON object or list, in a code block or not, with prose around it or not; None if it holds none.

    A comma before a closing bracket is overlooked, since the published template itself has one. Anything else that is
    no JSON is `half_json`: a broken object, a key that comes twice (in the outermost object in other letters too), two
    objects.
    """
    if len(text) > LONGEST:
        return unread("too_long", text)
    blocks = [block for block in _FENCE.findall(text) if _OPENS.search(block)]
    if len(blocks) > 1:
        return unread("several", text)
    source = blocks[0] if blocks else text
    opening = _OPENS.search(source)
    if opening is None:
        return None
    closing = source.rfind("}" if opening[0] == "{" else "]")
    body = source[opening.start() : closing + 1]
    for attempt in (body, _TRAILING.sub("", body)):
        try:
            value = _decoder.decode(attempt)
            value = mended(value) if "\\u" in attempt else value
        except (ValueError, RecursionError):
            continue
        if _ambiguous(single(value)):
            break
        return Payload(value, text.rpartition("```")[2] if blocks else source[closing + 1 :])
    return unread("half_json", text)


def needed(text: str) -> Payload | Unread:
    """The same where nothing but JSON will do: a reply without any is `prose`, or `empty`."""
    held = payload(text)
    return unread("prose" if text.strip() else "empty", text) if held is None else held


def strings(text: str, names: Sequence[str]) -> tuple[str, ...] | Unread:
    """The texts, blank ones left out, of the list under the first of `names` that the reply's object has."""
    held = needed(text)
    if isinstance(held, Unread):
        return held
    listed = field(held.value, names)
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return unread("no_field", text)
    return tuple(one for one in listed if one.strip())


def single(value: Json) -> Json:
    """The only entry of a list of one, else the value itself: a judge may put its object into a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def field(value: Json, names: Sequence[str]) -> Json:
    """What an object holds under the first of `names` that it has, in any case; None if it has none.

    None too where it has that name more than once, in other letters or spaces: which one is meant is not to be guessed.
    """
    if not isinstance(value, dict):
        return None
    read: dict[str, list[Json]] = {}
    for key, held in value.items():
        read.setdefault(key.strip().casefold(), []).append(held)
    found = next((read[name] for name in names if name in read), [])
    return found[0] if len(found) == 1 else None


def _ambiguous(value: Json) -> bool:
    """Whether an object has two keys that `field` would read as one: it is not to be guessed which is meant."""
    return isinstance(value, dict) and len({key.strip().casefold() for key in value}) < len(value)


def _once(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """An object whose keys are each there once; keys that only look alike are two (`field` knows what it reads)."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _refused(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_once, parse_constant=_refused)
