"""Reads examinations as structured items (paper 002, prompt 21), matches them, and scores precision and recall."""

import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.judges.strict_reply import Unread, field, required_json, unread_reply
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.parsers import lists
from wardround.scenarios.parsers.lists import MODIFIERS, halves, split_tests
from wardround.scenarios.terms.wording import key

Places = tuple[int, ...]
"""Places of items in a list, from 0."""


class TextItem(msgspec.Struct, frozen=True):
    """One examination: its `type` (laboratory, imaging, history ...), its `name`, and what it is `wanted` for."""

    type: str
    name: str
    wanted: str = ""


class PairedItem(msgspec.Struct, frozen=True):
    """The recorded items (places from 0) that a request means, by majority; on the `open` ones there was no majority.

    `votes` are the judges' lists of numbers (1 is the first); `reason` says why any are open.
    """

    same: Places
    votes: tuple[Vote, ...]
    open: Places = ()
    reason: str = ""


class SoughtItem(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item, and whether the other side's text has it, by the votes; None with a `reason` if the judges failed.

    `item` is None for an entry of the judge's list without a type: the published code counts it as absent.
    """

    item: TextItem | None
    present: bool | None = msgspec.field(name="found")
    votes: tuple[Vote, ...] = ()
    reason: str = ""


class AssessmentAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """The account of one episode's examinations.

    By default `asked` and `recorded` are the items of both sides, and `pairs` says for each request which recorded
    items it means. Under the published rules `asked_sought` and `recorded_sought` say for each item whether the other
    side's text has it. `reason` says why there are no items. `left_out` counts the characters that no judge saw.
    `judges`, `floor` and `flags` are as in OutcomeAccount.
    """

    rules: Rules
    judges: dict[str, str]
    floor: bool
    asked: tuple[TextItem, ...] = ()
    recorded: tuple[TextItem, ...] = ()
    pairs: tuple[PairedItem, ...] = ()
    asked_sought: tuple[SoughtItem, ...] = ()
    recorded_sought: tuple[SoughtItem, ...] = ()
    reason: str = ""
    left_out: int = 0
    flags: tuple[str, ...] = ()


MOST = 200
"""Most items of one list."""

_INFO = ("info_required", "info_requried", "information_required", "purpose")  # the published judge misspells it
_MARKED = re.compile(r"\n|(?:^|\s)\(?\d{1,2}[.)]\s|^\s*[-*\u2022]")
_WORD = re.compile(r"\w+")
_JOINING = frozenset({"and", "or", "plus", "as", "well", "along", "with", "also", "y", "et", "und", "the", "a", "of"})


def read_items(text: str) -> tuple[TextItem, ...] | Unread:
    """Read the items of prompt 21's JSON: a list of objects, one object, or {"items": [...]}; an empty list is valid.

    An item that names several tests becomes one item for each: "CBC, CRP" and "CBC and CRP" are two, "ova and
    parasites" and "CT of chest, abdomen and pelvis" are one (scenarios/parsers/lists.py). Names keep all their words.
    An entry that says that there is no test ("not required") is no item. An entry without `type` and `test_name` is
    `no_test`.
    """
    entries = _entries(text)
    if isinstance(entries, Unread):
        return entries
    items: dict[tuple[str, str], TextItem] = {}
    for entry in entries:
        kind, named = field(entry, ("type",)), field(entry, ("test_name",))
        listed = named if isinstance(named, list) else [named]
        names = [one for name in listed for one in _tests_named(name)]
        none = any(isinstance(name, str) and lists.requests_nothing(name) for name in listed)
        if not isinstance(kind, str) or not (names or none):
            return unread_reply("no_test", text)
        for name in names:
            items.setdefault((kind.casefold(), name.casefold()), TextItem(kind, name, _info_text(entry)))
    return tuple(items.values())[:MOST]


def some_items(source: str, *, recorded: bool) -> Callable[[str], tuple[TextItem, ...] | Unread]:
    """Return a reader for the items of the text `source`; an empty list is `no_test` if the text must have some.

    It must have some if it is `recorded`, or if it names a test of the table.
    """

    def read(text: str) -> tuple[TextItem, ...] | Unread:
        items = read_items(text)
        lost = items == () and (recorded or bool(understand(source, catalogue()).orders))
        return unread_reply("no_test", text) if lost else items

    return read


def published_items(text: str) -> tuple[TextItem | None, ...] | Unread:
    """Read the entries as the published code does, none split or merged; None for one without `type`."""
    entries = _entries(text)
    if isinstance(entries, Unread):
        return entries
    return tuple(
        TextItem(str(kind), str(field(entry, ("test_name",)) or ""), _info_text(entry))
        if (kind := field(entry, ("type",))) is not None
        else None
        for entry in entries
    )


def precision_recall(asked: int, recorded: int, pairs: Sequence[tuple[int, int]]) -> list[Score]:
    """Return `assessment_precision` and `assessment_recall` of `asked` items against `recorded` ones, one to one.

    `pairs` are the items that a judge takes for the same: (place among the asked, place among the recorded). The
    largest set of pairs with each item in at most one counts: a broad request hits one reference item, not ten. The
    value is None with `nothing_asked` or `no_reference` if there is no item to count, or for precision none that could
    be hit.
    """
    hits = matching_size(asked, recorded, pairs)
    missing = "" if asked and recorded else "no_reference" if asked else "nothing_asked"
    precision = _none("precision", missing) if missing else Score("assessment_precision", hits / asked)
    return [precision, Score("assessment_recall", hits / recorded) if recorded else _none("recall", "no_reference")]


def published_precision_recall(asked: Sequence[bool], recorded: Sequence[bool]) -> list[Score]:
    """Return the share of each side's items that the other text has; several may hit the same words (0 if no items)."""
    return [
        Score("published_assessment_precision", rate(asked)),
        Score("published_assessment_recall", rate(recorded)),
    ]


def rate(hits: Sequence[bool]) -> float:
    """Return the share of hits; 0 without items, as in the published code."""
    return sum(hits) / len(hits) if hits else 0.0


def matching_size(asked: int, recorded: int, pairs: Sequence[tuple[int, int]]) -> int:
    """Return the size of the largest matching. Raises IndexError for a pair outside the lists."""
    for one, other in pairs:
        if not (0 <= one < asked and 0 <= other < recorded):
            raise IndexError(f"pair ({one}, {other}) of {asked} asked and {recorded} recorded items")
    if not pairs:
        return 0
    # imported here, since reading an account needs no SciPy, which ships no types
    from scipy.sparse import csr_array  # type: ignore[import-untyped]  # noqa: PLC0415
    from scipy.sparse.csgraph import maximum_bipartite_matching  # type: ignore[import-untyped]  # noqa: PLC0415

    distinct = sorted(set(pairs))
    rows, columns = zip(*distinct, strict=True)
    graph = csr_array(([1] * len(distinct), (rows, columns)), shape=(asked, recorded))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def _none(name: str, reason: str) -> Score:
    return Score(f"assessment_{name}", None, reason)


def _entries(text: str) -> Sequence[Mapping[str, Json]] | Unread:
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    value = parsed.value
    if isinstance(value, dict) and isinstance(listed := field(value, ("items",)), list):
        value = listed
    entries = [value] if isinstance(value, dict) else value
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        return unread_reply("no_field", text)
    return [entry for entry in entries if isinstance(entry, dict)]


def _tests_named(name: Json) -> Sequence[str]:
    """Return the tests that a name refers to; none if it says that there is none."""
    if not isinstance(name, str) or lists.requests_nothing(name):
        return ()
    names: dict[str, str] = {}
    for item in lists.listed_names(name) if _MARKED.search(name) else [name]:
        for one in (part.strip(" /") for part in _split(item)):
            names.setdefault(one.casefold(), one)
    return tuple(names.values())


def _split(name: str) -> Sequence[str]:
    name = " ".join(name.replace("\u3001", ", ").split()).strip(" .;,")  # the sign between parts of a Chinese list
    if _is_known(name):
        two = halves(name, _is_known)  # "EMG and nerve conduction studies" are two, "urea and electrolytes" one
        return two if two and {_kind(one) for one in (name, *two)} == {"investigation"} else (name,)
    parts = split_tests(name, _is_known)
    understood = understand(name, catalogue())
    phrases = () if understood.withheld or not _covers(understood.phrases, name) else understood.phrases
    return phrases if len(parts) == 1 < len(phrases) or _carries(phrases, parts) else parts


def _carries(phrases: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether the phrases are the parts with the first part's specimen added ("CSF cell count, protein")."""
    if len(phrases) != len(parts) or not parts or key(phrases[0]) != key(parts[0]):
        return False
    specimen = key(parts[0]).partition(" ")[0]
    pairs = [(key(phrase), key(part)) for phrase, part in zip(phrases[1:], parts[1:], strict=True)]
    return all(
        phrase == part or (phrase == f"{specimen} {part}" and part.partition(" ")[0] not in MODIFIERS)
        for phrase, part in pairs
    )


def _is_known(phrase: str) -> bool:
    return bool(_kind(phrase))


def _kind(phrase: str) -> str:
    """Return the kind of the test of this name, "" if there is none."""
    linked = link(phrase, catalogue())
    return "" if linked is None or linked.rule == "fuzzy" else linked.kind


def _covers(parts: Sequence[str], name: str) -> bool:
    """Whether each word of a name occurs in one of the parts."""
    covered = {word for part in parts for word in _WORD.findall(part.casefold())}
    return set(_WORD.findall(name.casefold())) - _JOINING <= covered


def _info_text(entry: Mapping[str, Json]) -> str:
    return str(field(dict(entry), _INFO) or "")
