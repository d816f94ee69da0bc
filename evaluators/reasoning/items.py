"""Examinations asked for and recorded as structured items (paper 002, prompt 21), with precision and recall."""

from collections.abc import Mapping, Sequence

import msgspec
from scipy.sparse import csr_array  # type: ignore[import-untyped]  # SciPy ships no types
from scipy.sparse.csgraph import maximum_bipartite_matching  # type: ignore[import-untyped]

from wardround.engine.records import Json, Score
from wardround.evaluators.judging.payload import field, needed
from wardround.evaluators.judging.unread import Unread, unread
from wardround.scenarios import listing
from wardround.scenarios.terms.catalogue import catalogue
from wardround.scenarios.terms.understanding import understand
from wardround.scenarios.terms.wording import key

MOST = 200
"""Items of one list."""

_INFO = ("info_required", "info_requried", "information_required", "purpose")  # the published judge misspells it


class Item(msgspec.Struct, frozen=True):
    """One examination: its `type` (laboratory, imaging, history ...), its `name`, what it is `wanted` for."""

    type: str
    name: str
    wanted: str = ""


def read_items(text: str) -> tuple[Item, ...] | Unread:
    """The items of prompt 21's JSON: a list of objects, one object, or {"items": [...]}; an empty list is one.

    An item that names several tests is one item for each: "CBC, CRP" and "CBC and CRP" are two, "ova and parasites" and
    "CT of chest, abdomen and pelvis" are one. `no_test`: an entry without `type` and `test_name`.
    """
    entries = _entries(text)
    if isinstance(entries, Unread):
        return entries
    found: dict[tuple[str, str], Item] = {}
    for entry in entries:
        kind, named = field(entry, ("type",)), field(entry, ("test_name",))
        names = [apart for name in (named if isinstance(named, list) else [named]) for apart in _apart(name)]
        if not isinstance(kind, str) or not names:
            return unread("no_test", text)
        for name in names:
            found.setdefault((kind.casefold(), name.casefold()), Item(kind, name, _wanted(entry)))
    return tuple(found.values())[:MOST]


def published_items(text: str) -> tuple[Item | None, ...] | Unread:
    """The entries as the published code has them, none split or merged; None for one without `type`."""
    entries = _entries(text)
    if isinstance(entries, Unread):
        return entries
    return tuple(
        Item(str(kind), str(field(entry, ("test_name",)) or ""), _wanted(entry))
        if (kind := field(entry, ("type",))) is not None
        else None
        for entry in entries
    )


def precision_recall(asked: int, recorded: int, pairs: Sequence[tuple[int, int]]) -> list[Score]:
    """`assessment_precision` and `assessment_recall` of `asked` items against `recorded` ones, one to one.

    `pairs` are those that a judge took for the same, (place among the asked, place among the recorded). As many pairs
    count as can be had with each item in one pair at most: a broad request hits one reference and not ten. None,
    `nothing_asked` or `no_reference`, where there is nothing to share.
    """
    hits = matched(asked, recorded, pairs)
    precision = Score("assessment_precision", hits / asked) if asked else _none("precision", "nothing_asked")
    recall = Score("assessment_recall", hits / recorded) if recorded else _none("recall", "no_reference")
    return [precision, recall]


def published_precision_recall(asked: Sequence[bool], recorded: Sequence[bool]) -> list[Score]:
    """Each side's items found in the other side's text, item by item: any number may hit the same (0 for no items)."""
    return [
        Score("published_assessment_precision", rate(asked)),
        Score("published_assessment_recall", rate(recorded)),
    ]


def rate(hits: Sequence[bool]) -> float:
    """Share of hits; 0 without items, as in the published code."""
    return sum(hits) / len(hits) if hits else 0.0


def matched(asked: int, recorded: int, pairs: Sequence[tuple[int, int]]) -> int:
    """The size of the largest matching. Raises IndexError for a pair that is outside of the lists."""
    for one, other in pairs:
        if not (0 <= one < asked and 0 <= other < recorded):
            raise IndexError(f"pair ({one}, {other}) of {asked} asked and {recorded} recorded items")
    if not pairs:
        return 0
    distinct = sorted(set(pairs))
    rows, columns = zip(*distinct, strict=True)
    graph = csr_array(([1] * len(distinct), (rows, columns)), shape=(asked, recorded))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _none(name: str, reason: str) -> Score:
    return Score(f"assessment_{name}", None, reason)


def _entries(text: str) -> Sequence[Mapping[str, Json]] | Unread:
    held = needed(text)
    if isinstance(held, Unread):
        return held
    value = held.value
    if isinstance(value, dict) and isinstance(listed := field(value, ("items",)), list):
        value = listed
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return unread("no_field", text)
    return [entry for entry in entries if isinstance(entry, dict)]


def _apart(name: Json) -> Sequence[str]:
    """The tests that a name names: parted where the table of tests knows what "and" and commas part, else at commas."""
    if not isinstance(name, str):
        return ()
    understood = understand(name, catalogue())
    if len(understood.phrases) > 1 and not understood.withheld:
        return understood.phrases
    # one test of several regions or views; what follows its name ("FISH for MDM2") belongs to it
    if len(understood.orders) == 1 and key(understood.phrases[0]) == key(name):
        return (" ".join(name.split()),)
    return listing.items(name)


def _wanted(entry: Mapping[str, Json]) -> str:
    return str(field(dict(entry), _INFO) or "")
