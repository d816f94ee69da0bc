"""Reads examinations as structured items (MedR-Bench, prompt 21), matches them, and scores precision and recall."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import msgspec

from wardround.engine.records import Json, Score
from wardround.engine.text import regex, split_outside_brackets
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.judges.strict_reply import Unread, field, required_json, unread_reply
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_parser import understand
from wardround.scenarios.parsers.reply_text import listed_names, requests_nothing
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
    parasites" and "CT of chest, abdomen and pelvis" are one (`_split_tests`). Names keep all their words.
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
        none = any(isinstance(name, str) and requests_nothing(name) for name in listed)
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

    `pairs` are the items that a judge takes for the same: (place of the request, place of the recorded item). The
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
    return [Score("published_assessment_precision", rate(asked)), Score("published_assessment_recall", rate(recorded))]


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
    """Return the objects of prompt 21's JSON; a reply with anything else in it is `no_field`."""
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
    if not isinstance(name, str) or requests_nothing(name):
        return ()
    names: dict[str, str] = {}
    for item in listed_names(name) if _MARKED.search(name) else [name]:
        for one in (part.strip(" /") for part in _split(item)):
            names.setdefault(one.casefold(), one)
    return tuple(names.values())


def _split(name: str) -> Sequence[str]:
    name = " ".join(name.replace("\u3001", ", ").split()).strip(" .;,")  # the sign between parts of a Chinese list
    if _is_known(name):
        two = _halves(name)  # "EMG and nerve conduction studies" are two, "urea and electrolytes" one
        return two if two and {_kind(one) for one in (name, *two)} == {"investigation"} else (name,)
    parts = _split_tests(name)
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
        phrase == part or (phrase == f"{specimen} {part}" and part.partition(" ")[0] not in _MODIFIERS)
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


_LIST = regex(r"\s*(?:[;\n\uff0c\uff1b\u3001]|(?<!\d),|,(?!\d))\s*")
_LEAD = regex(r"(?i)^(?:(?:and|or|plus|also|y|et|und)\s+|(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e]))")
_AND = regex(
    r"(?i)(?<!with)(?<!without)(?<!before)(?<!between)\s+(?:and/or|as well as|along with|and|or|plus|&|\+)\s+|\s*/\s*"
)
_FOREIGN = regex(
    r"\s+(?:y|et|und)\s+"
    # no match inside the words for saturation, sum, reconciling, taking part, concerning, common, affinity
    r"|(?<=[\w)])(?<![\u9971\u603b\u8c03\u53c2\u6d89\u666e])(?:\u4ee5\u53ca|[\u548c\u53ca\u4e0e])(?!\u529b)(?=\w)"
)
_OPEN_REASON = regex(
    r"(?i)\s(?:(?:in order )?to (?=[a-z]{3})|because\b|due to\b|if\b|given\b|looking for\b|since\b|in case\b"
    r"|for (?:suspected|possible|evidence|signs|evaluation|assessment|exclusion|monitoring)\b)"
)
_LABELLED = regex(r"^(?P<label>[^:,;()\[\]]{2,60}?)\s*[:\uff1a]\s+(?P<rest>\S.*)$", re.DOTALL)
_GROUPED = regex(
    r"(?i)^(?:(?:additional|further|other|routine|initial|basic|diagnostic|lab(?:oratory)?|blood|imaging)\s+)*"
    r"(?:tests?|labs?|studies|work-?up|investigations?|imaging|laboratory|lab)$"
)
_HEAD = regex(r"(?i)^(?P<head>\S.*?\s(?P<link>for|against|of|in|de|du|des|von))\s+(?P<first>\S.*)$")
_WHOLE = frozenset({"of", "in"})
"""After these words stand the regions of one study ("CT of chest, abdomen and pelvis")."""
_LONGEST_NAME = 600
"""Names longer than this many characters are not split."""
_MEMBER = 3
"""Most words in a member of a list under a shared head."""
_MODIFYING = """serum plasma blood urine urinary stool fecal faecal sputum csf saliva wound throat nasal rectal
    vaginal synovial pleural ascitic peritoneal pericardial arterial venous capillary liver hepatic kidney renal
    thyroid adrenal cardiac pulmonary pituitary gonadal parathyroid pancreatic bladder bone muscle nerve skin lung iga
    igg igm ige aerobic anaerobic fungal bacterial viral upper lower left right bilateral fasting random total direct
    indirect free ionized ionised"""
_MODIFIERS = frozenset(_MODIFYING.split())
_GENERAL = regex(r"(?i)^(?:biopsy|culture|cytology|histology|smear|aspirate|fluid)s?$")
_NAMED = regex(r"\d|[A-Z]{2}|[a-z][A-Z]")
_MODALITY = r"(?:CT|CTA|MRI|MRA|MRCP|PET|X\u7ebf|B\u8d85|\u8d85\u58f0|\u5f69\u8d85)"
_PICTURED = regex(rf"^(?P<part>[\u4e00-\u9fff]+?){_MODALITY}$")
_MODALITIES = regex(rf"^{_MODALITY}$")
_SPECIMEN = regex(r"^(?:\u8840\u6db2|\u8840|\u5c3f\u6db2|\u5c3f|\u75f0|\u5927\u4fbf|\u7caa\u4fbf|\u8111\u810a\u6db2)")
_MARKS = " \t\r\n.;,:*_`\"'"


def _halves(name: str) -> tuple[str, ...]:
    """The two tests that one name combines ("EMG/NCS"); empty if it does not combine two."""
    for place in _AND.finditer(name):
        before, after = _tidy(name[: place.start()]), _tidy(name[place.end() :])
        after = _front(before, after) or after
        if _is_known(before) and _is_known(after):
            return before, after
    return ()


def _split_tests(name: str) -> tuple[str, ...]:
    """Split a name into its tests, each with the words they share.

    Commas, semicolons and the words for "and" in five languages separate tests, unless the whole is one test. A label
    or head stated once applies to every test ("IHC for CD3, CD20"); so does the ending of the last test ("urine and
    blood cultures"). A reason ends where the next test begins. A text too long to be a name is returned unchanged.
    """
    if len(name) > _LONGEST_NAME:
        return (_tidy(name),)
    labelled = _LABELLED.match(name)
    if labelled and not _OPEN_REASON.match(f" {labelled['rest']}"):
        inner, label = _split_tests(labelled["rest"]), labelled["label"].strip(_MARKS)
        if _GROUPED.match(label):
            return inner
        return tuple(f"{label}: {one}" for one in inner) if len(inner) > 1 else (_tidy(name),)
    tests = [one for part in _listed(name) for one in _coordinated(part)]
    return tuple(dict.fromkeys(_headed(tests)))


def _listed(name: str) -> Sequence[str]:
    """The parts of a list. Parts after a reason belong to it until one is a test; regions stay with their study."""
    listed: list[str] = []
    for part in _cut(name):
        joined = listed[-1] if listed else ""
        open_reason = bool(_OPEN_REASON.search(f" {joined}"))
        head = _HEAD.match(joined)
        region = head is not None and head["link"].lower() in _WHOLE
        if joined and (open_reason or region) and not any(_is_known(_tidy(one)) for one in _AND.split(part)):
            listed[-1] = f"{joined}, {part}"
        else:
            listed.append(part)
    return listed if len(listed) < 2 else _ended(listed)


def _cut(name: str) -> Iterator[str]:
    """Split `name` at commas and semicolons outside brackets; empty parts are dropped."""
    pieces = split_outside_brackets(name, _LIST, "()[]\uff08\uff09")
    return (tidy for piece in pieces if (tidy := _tidy(_LEAD.sub("", piece.strip(_MARKS)))))


def _ended(parts: Sequence[str]) -> list[str]:
    """Give each part the ending of the last: 'liver', 'kidney and thyroid function tests' share 'function tests'."""
    ended: list[str] = []
    for part in reversed(parts):
        tail = _tail(part, ended[0].rpartition(" and ")[2]) if ended else ""
        ended.insert(0, f"{part} {tail}" if tail else part)
    return ended


def _coordinated(part: str) -> Sequence[str]:
    """Split what 'and' joins if one side is a test or both share an ending; otherwise keep it whole."""
    for pattern in (_FOREIGN, _AND):
        for place in pattern.finditer(part):
            before, after = _tidy(part[: place.start()]), _tidy(part[place.end() :])
            if not before or not after or _inside(part, place.start()) or _is_known(part):
                continue
            if _OPEN_REASON.search(f" {before}") and not _is_known(after):
                continue
            if pattern is _FOREIGN:
                return _unspaced(before, after)
            tail = _tail(before, after)
            if tail:
                return [f"{before} {tail}", *_coordinated(after)]
            if "/" in place[0]:
                slashed = [before, *_coordinated(after)] if _is_known(before) else []
                if slashed and all(map(_is_known, slashed)):
                    return slashed
                continue
            if _is_known(before) or (_is_known(after) and not _study(before)):
                after = _front(before, after) or after
                return [*_coordinated(before), *_coordinated(after)]
    return [part]


def _front(before: str, after: str) -> str:
    """The words of `before` that complete `after` to a test ('protein C', 'S': 'protein S'); "" if none do."""
    words, head = before.split(), _HEAD.match(before)
    if head and (first := link(head["first"], catalogue())) and first == link(after, catalogue()):  # BRCA1, BRCA2
        return f"{head['head']} {after}"
    if len(after.split()) > 2 or (_is_known(after) and not _GENERAL.match(after)):
        return ""
    forms = (f"{' '.join(words[:size])} {after}" for size in range(len(words) - 1, 0, -1))
    whole = next((form for form in forms if _is_known(form)), "")
    return whole or (f"{head['head']} {after}" if head and not _is_known(after) else "")


def _tail(before: str, after: str) -> str:
    """The ending of `after` that also applies to `before`; "" if there is none."""
    if len(before.split()) > 2:
        return ""
    words = _AND.split(after)[-1].split()
    if before.casefold() in _MODIFIERS and len(words) > 1 and words[0].casefold() in _MODIFIERS:
        return " ".join(words[1:])
    if _is_known(before):
        return ""
    ends = (" ".join(whole[size:]) for whole in (words, after.split()) for size in range(1, len(whole)))
    return next((end for end in ends if _is_known(f"{before} {end}")), "")


def _unspaced(before: str, after: str) -> list[str]:
    """Two names joined by a foreign word for "and", each with the body part or ending that they share."""
    pictured, specimen = _PICTURED.match(before), _SPECIMEN.match(after)
    head = _HEAD.match(before)
    if pictured and _MODALITIES.match(after):
        after = f"{pictured['part']}{after}"
    elif specimen and _SPECIMEN.fullmatch(before) and specimen.end() < len(after) and not _FOREIGN.search(after):
        before += after[specimen.end() :]
    elif head and len(after.split()) == 1 and not _is_known(after):
        after = f"{head['head']} {after}"
    return [*_coordinated(before), *_coordinated(after)]


def _headed(parts: Sequence[str]) -> list[str]:
    """Repeat a shared head: 'IHC for CD3', 'CD20 and CD30' become 'IHC for CD3', 'IHC for CD20', 'IHC for CD30'."""
    names: list[str] = []
    head = ""
    for part in parts:
        match = None if _OPEN_REASON.search(f" {part}") else _HEAD.match(part)
        if match and match["link"].lower() not in _WHOLE:
            head = match["head"]
            members = [_tidy(one) for one in _AND.split(match["first"])]
            short = len(members) > 1 and all(_NAMED.search(one) and _member(one) for one in members)
            names += [f"{head} {one}" for one in members] if short and not _is_known(part) else [part]
        elif head and all(_member(_tidy(one)) for one in _AND.split(part)):
            names += [f"{head} {_tidy(one)}" for one in _AND.split(part)]
        else:
            head = ""
            names.append(part)
    return names


def _member(text: str) -> bool:
    return bool(text) and len(text.split()) <= _MEMBER and not _is_known(text)


def _study(text: str) -> bool:
    """Whether a list of regions may follow the text ("CT of chest", "X-ray of hands")."""
    match = _HEAD.match(text)
    return match is not None and match["link"].lower() in _WHOLE


def _inside(text: str, place: int) -> bool:
    """Whether a position lies within brackets."""
    return sum(text.count(sign, 0, place) for sign in "([\uff08") > sum(text.count(one, 0, place) for one in ")]\uff09")


def _tidy(text: str) -> str:
    return " ".join(text.split()).strip(_MARKS)
