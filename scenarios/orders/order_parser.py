"""Parses a doctor's free text into single orders, ambiguous requests and text that orders nothing."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Literal

import msgspec
from msgspec.structs import replace
from rapidfuzz import fuzz

from wardround.engine.text import regex
from wardround.scenarios.orders import axes, imaging
from wardround.scenarios.orders.background import names_finding, tells_finding, why_no_test, words_beside
from wardround.scenarios.orders.catalogue import Catalogue, catalogue, scope
from wardround.scenarios.orders.foreign_orders import Translation, order_in_english, original
from wardround.scenarios.orders.joined_names import ENDS, Known
from wardround.scenarios.orders.name_lookup import BRACKET, LEADING, Link, content, link, strip_ends, unmeasured
from wardround.scenarios.orders.named_tests import named_within
from wardround.scenarios.orders.request_lines import line_requests, request_lines
from wardround.scenarios.orders.request_pieces import Studies, listing, unframed
from wardround.scenarios.orders.shared_specimens import EMPTY, Part, what_is_meant
from wardround.scenarios.orders.withheld_clauses import Clause, denies, request_clauses
from wardround.scenarios.terms.wording import key, list_words, tokens

MOST = 200
"""Most requests read from one text, so that a model's run-away list does not stall the examiner."""
LONGEST_TEXT = 20_000
"""Most characters read from one text, for the same reason."""


def split_requests(text: str, known: Known, studies: Studies) -> tuple[Part, ...]:
    """The single requests in `text` and the parts that order nothing, each once, at most MOST.

    `known` recognises a phrase that is one test; such phrases are never split ('ova and parasites', 'CT abdomen and
    pelvis', a record's own name with a comma in it). `studies` splits a phrase with several modalities of one region
    ('MRI/MRA brain').
    """
    unique: dict[tuple[str, str, str], Part] = {}
    specimen = ""  # 'urine Na and creatinine, serum Na and creatinine' orders creatinine twice
    for part in _parts(text[:LONGEST_TEXT], known, studies):
        specimen = axes.specimen(part.text) or specimen
        inherited = "" if axes.specimen(part.text) else specimen
        unique.setdefault((key(part.text), part.why, inherited), part)
        if len(unique) >= MOST:
            break
    return tuple(part for (form, _, _), part in unique.items() if form)


def join_conditions(items: Sequence[str], known: Known) -> tuple[str, ...]:
    """The items as texts; an item that is only a condition ('if negative', 'then MRI') is joined to the next item."""
    texts: list[str] = []
    waiting = ""
    for item in items:
        text = f"{waiting}, {item}" if waiting else item
        waiting = "" if waiting or known(item) or not _opens(item, known) else item
        if not waiting:
            texts.append(text)
    return (*texts, waiting) if waiting else tuple(texts)


def _opens(item: str, known: Known) -> bool:
    parsed = list(request_clauses(item, known))
    return (
        len(parsed) == 1
        and parsed[0].why == "conditional"
        and re.match(r"(?i)(?:and |but )?(?:if|when|once)\b", item) is not None
    )


def _parts(text: str, known: Known, studies: Studies) -> Iterator[Part]:
    number = 0
    for line in request_lines(text):
        number += 1
        if known(line) and not denies(line) and not listing(line, known):
            yield Part(line, sentence=number)
            continue
        for sentence in _sentences(request_clauses(line, known)):
            number += 1
            kept = ", ".join(clause.text for clause in sentence if not clause.why)
            yield from (Part(clause.text, clause.why, number) for clause in sentence if clause.why)
            if kept.strip(ENDS):
                yield from (Part(piece, sentence=number) for piece in line_requests(kept, known, studies))


def _sentences(clauses: Iterable[Clause]) -> Iterator[list[Clause]]:
    sentence: list[Clause] = []
    for clause in clauses:
        sentence.append(clause)
        if clause.breaks:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


Repeat = Literal["", "next", "last", "series", "ends"]
LAST = regex(r"(?i)\b(?:last|latest|most recent|newest|current|discharge)\b")


class Order(msgspec.Struct, frozen=True):
    """One ordered test: `asked` is its wording, `link` gives the test, the rule that linked it and its score.

    `members` are the tests of a panel. `repeat`: next requests the result after the first, series all of them.
    """

    asked: str
    link: Link
    members: tuple[str, ...] = ()
    repeat: Repeat = ""


class Ambiguous(msgspec.Struct, frozen=True):
    """An ambiguous request: `candidates` are the possible tests; if there are too many, only `why` is set."""

    asked: str
    why: str
    candidates: tuple[str, ...] = ()


class Withheld(msgspec.Struct, frozen=True):
    """Text that orders nothing: negated, conditional, done (reported as a result), a treatment, or a statement."""

    asked: str
    why: str


class Understood(msgspec.Struct, frozen=True):
    """The parts of a text, each list in the text's order; `phrases` are those of the first three lists.

    `pieces` are all parts in the text's order; an unknown one is its wording.
    """

    orders: tuple[Order, ...] = ()
    ambiguous: tuple[Ambiguous, ...] = ()
    unknown: tuple[str, ...] = ()
    withheld: tuple[Withheld, ...] = ()
    phrases: tuple[str, ...] = ()
    pieces: tuple[Order | Ambiguous | Withheld | str, ...] = ()


def understand(text: str | Sequence[str], table: Catalogue, own: frozenset[str] = frozenset()) -> Understood:
    """Read what `text` orders, by the default rules (docs/matching.md).

    A list is read item by item, each compared whole before any splitting. `own` are comparable forms of names that
    count as known in addition to the table's, such as those of a record. Pure and cached; reads at most 200 requests
    and 20,000 characters.
    """
    return _understood(text if isinstance(text, str) else tuple(text), table, own)


@lru_cache(maxsize=16384)
def _understood(text: str | tuple[str, ...], table: Catalogue, own: frozenset[str]) -> Understood:
    def known(phrase: str) -> bool:
        if own and key(phrase) in own:
            return True
        linked = link(phrase, table)
        if linked is None:
            alike = axes.alike(key(phrase), table)
            return bool(alike) and table.tests[alike].kind == "lab"
        return linked.rule != "fuzzy"

    def studies(phrase: str) -> Sequence[str]:
        return imaging.apart(phrase, table) or ((phrase,) if link(phrase, table) else ())

    seen = english = None
    if isinstance(text, str):
        seen = order_text(text)
        english = None if own and key(text) in own else order_in_english(seen, table)
        parsed = split_requests(english.text if english else text, known, studies)
    else:
        parsed = tuple(part for item in join_conditions(text, known) for part in _item(item, known, studies))
    meant = _cmp_written_out(tuple(_named(parsed, table)), table)
    understood = _sorted(_uncalled(list(what_is_meant(meant, table, own)), table), table)
    return _as_spelt(understood, english, seen) if english and seen and english.language == "en" else understood


def _as_spelt(understood: Understood, english: Translation, text: str) -> Understood:
    """What is understood, in the words of the text as they were before their correction; such a match is fuzzy."""
    pieces: list[Order | Ambiguous | Withheld | str] = []
    for piece in understood.pieces:
        asked = piece if isinstance(piece, str) else piece.asked
        said = original(asked, english, text)
        if said == asked:
            pieces.append(piece)
        elif isinstance(piece, Order):
            score = fuzz.ratio(said.casefold(), asked.casefold()) / 100
            pieces.append(replace(piece, asked=said, link=replace(piece.link, rule="fuzzy", score=score)))
        else:
            pieces.append(said if isinstance(piece, str) else replace(piece, asked=said))
    return _of_pieces(pieces)


def _cmp_written_out(parts: Sequence[Part], table: Catalogue) -> Sequence[Part]:
    """The parts, with 'CMP' beside urea and electrolytes written out as in Australia."""
    asked = [part.text.strip().casefold() for part in parts if not part.why]
    if "cmp" not in asked or not any(
        (one := link(text, table)) and one.test == "Basic metabolic panel" for text in asked
    ):
        return parts
    return [
        replace(part, text=text)
        for part in parts
        for text in (_CMP if not part.why and part.text.strip().casefold() == "cmp" else (part.text,))
    ]


_CMP = ("calcium", "magnesium", "phosphate")
"""What CMP means in Australia, where it is no comprehensive metabolic panel."""


_CALLED_OFF = regex(r"(?i)^(?:scrap|ignore|forget|disregard|leave|drop)\s(?:out\s)?(?:the|that)\s(?P<name>.{2,60})$")


def _uncalled(parts: Sequence[Part], table: Catalogue) -> Sequence[Part]:
    """The parts, those marked that a later part names and takes back ('ferritin, B12 - scrap the B12')."""
    called = [(one.sentence, _CALLED_OFF.match(one.text)) for one in parts if one.why == "negated"]
    named = [(sentence, link(match["name"], table)) for sentence, match in called if match]
    if not named:
        return parts
    tests = {linked.test: sentence for sentence, linked in named if linked is not None}
    ours = [None if one.why else link(one.text, table) for one in parts]
    return [
        replace(one, why="negated") if linked and one.sentence <= tests.get(linked.test, -1) else one
        for one, linked in zip(parts, ours, strict=True)
    ]


def _named(parts: Iterable[Part], table: Catalogue) -> Iterator[Part]:
    """The parts, each sentence that is no test's name replaced by the tests that it names."""
    for each in parts:
        part = each
        if "(" in part.text and not part.why:  # 'CTPA (eGFR 60)'
            bare = BRACKET.sub(lambda one: "" if _reported(one[1] or one[2] or "", table) else one[0], part.text)
            part = replace(part, text=bare.strip() or part.text)
        linked = None if part.why else link(part.text, table)
        composed = linked is not None and linked.kind == "imaging" and linked.rule == "region"
        if composed and (films := imaging.films(part.text, table)):
            yield from (replace(part, text=film) for film in films)
            continue
        plain = (
            part.why
            or " " not in part.text
            or _reported(part.text, table) is not None
            or link(part.text, table) is not None
            or _unclear(part.text, table) is not None
        )
        plain = plain or why_no_test(part.text) == "treatment"
        named = () if plain else named_within(part.text, table)
        yield from (replace(part, text=name) for name in named) if named else (part,)


_CONTROLS = regex(r"[\x00-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]")  # those that break a line stay
_SPACES = regex(r"[^\S\n]{2,}")
_UNSEEN = regex(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")


def order_text(text: str) -> str:
    """The part of `text` that is read: without unseen characters, control characters and runs of spaces as a space."""
    return _SPACES.sub(" ", _CONTROLS.sub(" ", _UNSEEN.sub("", text[:LONGEST_TEXT])))


def _item(item: str, known: Known, studies: Studies) -> Iterator[Part]:
    if known(item):
        yield Part(item)
    else:
        english = order_in_english(item, catalogue()).text
        yield from split_requests(english, known, studies) or (Part(item),)


def _sorted(parts: Sequence[Part], table: Catalogue) -> Understood:
    pieces: list[Order | Ambiguous | Withheld | str] = []
    unique = {(key(part.text), part.why): part for part in reversed(parts)}
    alone = sum(not part.why for part in parts) == 1
    links = [link(part.text, table) for part in parts if not part.why and not names_finding(part.text)]
    others = any(one is not None and one.kind == "examination" for one in links)
    for part in (part for part in parts if unique[key(part.text), part.why] is part):
        linked = None if part.why else link(part.text, table)
        reported = None if part.why else _reported(part.text, table)
        empty = linked is None and (
            set(tokens(unmeasured(part.text))) <= EMPTY or _PURPOSE.match(part.text) is not None
        )
        if part.why:
            pieces.append(Withheld(part.text, part.why))
        elif linked is not None and alone and (open_ended := _open_ended(linked, part.text)) is not None:
            pieces.append(open_ended)
        elif linked is not None and linked.kind == "lab" and _GIVES.match(part.text):
            pieces.append(Withheld(part.text, "treatment"))
        elif reported is not None and _reports(part.text, reported, linked, table):
            pieces.append(Withheld(part.text, "done" if alone else "statement"))
        elif linked is not None and not alone and tells_finding(part.text, linked.kind, examined=others):
            pieces.append(Withheld(part.text, "statement"))
        elif linked is not None:
            below = tuple(sorted(table.below.get(linked.test, ())))
            pieces.append(Order(part.text, linked, below, repetition(part.text)))
        elif (unclear := _unclear(unframed(part.text), table) or _unclear(part.text, table)) is not None:
            pieces.append(_beside(unclear, pieces, table) or unclear)
        elif why := why_no_test(part.text) or ("" if alone or empty or not words_beside(part.text) else "statement"):
            pieces.append(Withheld(part.text, why))
        elif not empty:
            examined = pieces and isinstance(pieces[-1], Order) and pieces[-1].link.kind == "examination"
            exam = link(f"{' '.join(content(part.text))} exam", table) if examined else None
            seen = exam is not None and exam.kind == "examination" and exam.rule != "fuzzy"
            pieces.append(Order(part.text, exam) if exam is not None and seen else part.text)
    return _of_pieces(pieces)


def _of_pieces(pieces: Sequence[Order | Ambiguous | Withheld | str]) -> Understood:
    """What is understood, from its pieces; a text is an unknown name."""
    phrases = [piece if isinstance(piece, str) else piece.asked for piece in pieces if not isinstance(piece, Withheld)]
    return Understood(
        tuple(piece for piece in pieces if isinstance(piece, Order)),
        tuple(piece for piece in pieces if isinstance(piece, Ambiguous)),
        tuple(piece for piece in pieces if isinstance(piece, str)),
        tuple(piece for piece in pieces if isinstance(piece, Withheld)),
        tuple(phrases),
        tuple(pieces),
    )


_UNCOUNTED = (
    r"(?!(?:19|20)\d\d\b|0\d{3}\b|\d{1,2}:\d\d|[\d\s.,/&+-]*(?:and |to )?[\d\s]*(?:x|h|hr?s?|hours?|hr?ly|hourly"
    r"|am|pm|min"
    r"|mins|minutes?|d|days?|wks?|wkly|weeks?|mths?|months?|times|sets?|samples?|views?|v|units?|bottles?"
    r"|tubes?|pairs?|th|st|nd|rd|leads?"
    r"|mc?g|g|ml|iu|weekly|monthly|daily)\b(?!/))"
)
"""A number that no time, count, date or dose makes of it."""
_VALUE = regex(
    rf"(?i)(?P<name>(?:\d\d?)?[a-z][\w+-]*(?: (?!and\b|\d+\b)[\w+-]+){{0,3}}?)(?:\s(?:was|is|of|only|still|now|at)"
    rf"|\s(?:up|down|drop|risen|fallen|rising|falling|dropped)(?:\s(?:from|to|at))?"
    rf"|:)?(?:\s?[=<>~\u2264\u2265]{{1,2}}\s?|\s)"
    rf"(?:{_UNCOUNTED}\d+(?:[./,]\d+)?(?![\w:])|\+{{2,4}}|(?<=\s)(?:neg|trace|nil)\b)\s?(?:%|[a-zµ]+/[a-z]+\b)?"
    r"(?P<rest>[^\w]*|\s*(?:[,?(]|->|(?:\w+ed|so|but|both|and|in|on|at|since|this|for|after|from|to|with|today"
    r"|tonight|yesterday"
    r"|last|now|despite|post)\b).*)$"
)
"""A test with its value, which reports it ('eGFR 22', 'Hb 7.1 g/dL', 'INR 3.1 and drowsy')."""
_ONE_OF_SEVERAL = regex(r"(?<=[\d+%])\s+(?=[A-Za-z]{2})")
_TIMED_LEVEL = regex(r"(?i)\b(?:level|trough|peak|dose)\s(?:at )?\d{1,2}(?:/\d{1,2}|\d\d)\b")
"""A drug's level with the time or the date of its sample ('trough 0800', 'level 12/6')."""


def _reported(asked: str, table: Catalogue) -> Link | None:
    """The test whose value a text reports, None if there is none or a verb orders it."""
    if _TIMED_LEVEL.search(asked) or axes.NEXT.match(asked):
        return None
    several = [_VALUE.match(text) for text in _ONE_OF_SEVERAL.split(asked)]
    value = several[0] if all(several) else _VALUE.match(asked)
    if value is None or (value["rest"] and named_within(value["rest"].strip(), table)):
        return None
    return link(value["name"], table)


def _reports(asked: str, named: Link, linked: Link | None, table: Catalogue) -> bool:
    """Whether a text reports the value of a test ('Hb 7.1', 'Wells 7') and is no name of one ('CA 125')."""
    if linked is None:
        return named.kind in ("lab", "investigation", "examination")
    scored = named.kind in ("investigation", "examination") and key(asked) not in table.names
    return scored and unmeasured(asked) == asked


_OPEN_ENDED = {
    "Biopsy": ("it names no tissue", ("Skin biopsy", "Lymph node biopsy", "Liver biopsy", "Renal biopsy")),
    "Drug levels": ("it names no drug", ("Vancomycin level", "Digoxin level", "Lithium level", "Tacrolimus level")),
}
_KIND_ALONE = EMPTY | list_words(
    "biopsy biopsies tissue sample drug drugs medication level levels monitoring therapeutic"
)


def _open_ended(linked: Link, asked: str) -> Ambiguous | None:
    """A kind of test that is all that a text says ('biopsy', 'drug level'), so that it may mean several."""
    why, candidates = _OPEN_ENDED.get(linked.test, ("", ()))
    alone = bool(why) and set(tokens(asked)) <= _KIND_ALONE | LEADING
    return Ambiguous(asked, why, candidates) if alone else None


_GIVES = regex(
    r"(?i)(?:start|begin|give|administer|continue|prescribe|on(?=\s[\w-]+\W*$))\s(?!with\b|.*\b(?:level|trough"
    r"|peak)\b)"
)
"""What begins like this gives a drug and measures none ('start heparin')."""


def _beside(unclear: Ambiguous, before: Sequence[Order | Ambiguous | Withheld | str], table: Catalogue) -> Order | None:
    """The only laboratory test that a word may mean beside another of its specimen ('VBG, lactate, ketones')."""
    last = before[-1] if before else None
    labs = [name for name in unclear.candidates if name in table.tests and table.tests[name].kind == "lab"]
    if len(unclear.candidates) < 2 or not isinstance(last, Order) or last.link.kind != "lab":
        return None
    if len(labs) > 1:
        taken = last.link.specimen
        labs = [name for name in labs if axes.same_specimen(axes.own_specimen(table.tests[name]), taken) and taken]
    if len(labs) != 1:
        return None
    linked = link(labs[0], table)
    return None if linked is None else Order(unclear.asked, linked, (), repetition(unclear.asked))


_PICTURES = list_words("imaging image images scan film films picture")
_PURPOSE = regex(
    r"(?i)(?:while|before|meanwhile|in the meantime|after that|until then)\b|r/o\b|rule out\b|for comparison\b"
    r"|with (?:pain|symptoms)$|\?|(?:exclude|confirm|differentiate|distinguish|clarify|narrow)\b"
    r"|(?:in order )?to (?:confirm|evaluate|assess|rule|exclude|look|determine|narrow|establish|investigate|help"
    r"|better|support|make|differentiate|distinguish|further|check for|screen|identify|clarify|work)\b|(?:because"
    r"|since|so that|with \w+(?: \w+){0,3} in mind|based on|given|in view of|in light of|considering|because of"
    r"|due to|for (?:further|better))\b"
)
"""What begins like this says why; it is context."""


def repetition(asked: str) -> Repeat:
    """Whether the wording requests the next measurement of a test, the last, all of them, or the first."""
    if axes.SERIES.search(asked):
        return "series"
    if LAST.search(asked):
        return "last"
    return "next" if axes.NEXT.search(asked) else ""


def _unclear(asked: str, table: Catalogue) -> Ambiguous | None:
    """Why a phrase without a test of its own is ambiguous; None if it is simply unknown."""
    several = table.ambiguous.get(key(asked)) or table.ambiguous.get(strip_ends(key(asked)))
    if several:
        return Ambiguous(asked, "it may mean several tests", several)
    broad = scope(asked)
    if broad is not None:
        return Ambiguous(asked, "it covers many tests")
    if axes.only_method(asked):
        return Ambiguous(asked, "it names a method, not what to look for")
    read = imaging.read_study(asked, table)
    if read.modalities and not read.regions and not read.rest:
        return Ambiguous(asked, "it names no part of the body")
    if read.regions and not read.modalities and set(read.rest) <= _PICTURES and _PICTURES & set(tokens(asked)):
        return Ambiguous(asked, "it names no kind of imaging")
    return None
