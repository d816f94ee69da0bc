"""Finds the tests that a sentence names among its other words, the longest name first."""

from collections.abc import Iterator, Sequence

from wardround.engine.text import regex
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.joined_names import order_words
from wardround.scenarios.orders.name_lookup import LEADING, LONGEST, TRAILING, link_as_written, strip_ends
from wardround.scenarios.orders.spelling import misspelt
from wardround.scenarios.terms.wording import key, tokens

_WORD = regex(r"[^\s,;:()\[\]?!\"]+")
_LONGEST_NAME = 8
"""Most words of a name that is looked for in a sentence."""
_MOST_WORDS = 60
"""Most words of a sentence that are searched."""
_ORDERS = (
    r"get|getting|order|ordering|check|checking|obtain|obtaining|send|sending|do|doing|have|see|run|perform|request"
    r"|repeat|measure|arrange|add|draw|examine|test|assess|inspect|proceed|start|begin|ask|know|review|book|schedule"
    r"|include"
)
_ASKS = regex(
    rf"(?i)\b(?:{_ORDERS}|would|could|can|should|must|needs?|warrants?|appreciate|like|wants?|chance|how about|useful"
    r"|next|best|helpful|recommend|suggest|consider|favou?r|merits?|deserves?|requires?|requesting|please|pls"
    r"|indicated|reasonable|due|order(?:ed)?|plan|calculate|compute|monitor|tell me|interested|what(?:['\u2019]?s| is"
    r"| are| does| did| was| were)|how(?:['\u2019]?s| is))\b"
)
"""Words of a clause that asks for something."""
_TELLS = regex(
    r"(?i)\b(?:is|are|was|were|has|had|been|takes?|took|taking|show(?:s|ed)|denie[sd]|presents?|presented|complains?"
    r"|reports?|reported|develop(?:s|ed)|suggests?|explains?|drinks?|smokes?|lives?|came|went|received|underwent"
    r"|suspect|think|believe|worr(?:y|ied)|concerned|thank)\b"
)
"""Verbs of a clause that tells something; without a word of `_ASKS` such a clause orders nothing."""
_ASIDE = regex(
    r"(?i)(?:^|\s)(?:because|since|given|due to|in (?:view|light) of|as (?:he|she|it|they|we|i|there|this|that|the"
    r"|her|his)\b|as a cause|which|who(?! (?:needs?|requires?|should|warrants?|would benefit)\b)|whose|whether|if"
    r"|when|while|although|despite|after|until|before|so that|in order to|history of"
    rf"|known|suspected|possible|to (?!(?:{_ORDERS}|the)\b)[a-z]{{3,}}|on (?:warfarin|heparin|insulin)"
    rf"|with symptoms)\b"
)
"""What opens a clause that says why, when or in whom."""
_EXAMINES = regex(
    r"(?i)\b(?:examin(?:e|ing|ation)|exam|inspect(?:ing)?|palpat(?:e|ing|ion)|auscultat(?:e|ing)|percuss(?:ing)?"
    r"|listen(?:ing)?|feel(?:ing)?|look(?:ing)?|test(?:ing)?|check(?:ing)?|assess(?:ing)?|measur(?:e|ing)|take|elicit"
    r"|perform|do|see|evaluat(?:e|ing)|attention to|record|compare|observe|note|include|including|what|how|show|tell"
    r"|count|get|obtain)\b"
)


def named_within(text: str, table: Catalogue) -> tuple[str, ...]:
    """The parts of `text` that name a test, from the left, the longest at each place; none if it asks for nothing.

    A clause that tells something, and what says why ('because', 'to exclude', 'if'), orders nothing. A part of the body
    or a sign is an examination only behind a verb that examines.

    ::

        named_within("This patient warrants a head CT today", catalogue())  # ('head CT',)
    """
    aside = _ASIDE.search(text, 1)
    clause = text[: aside.start()] if aside else text
    if _TELLS.search(clause) and not _ASKS.search(clause):
        return ()
    words = [(match.start(), match.end()) for match in _WORD.finditer(clause)]
    return tuple(_named(clause, words[:_MOST_WORDS], table))


def respelt(text: str, table: Catalogue) -> list[tuple[int, int, str]]:
    """(start, end, word) of each misspelt word of `text` that makes a test's name with the words beside it.

    ::

        respelt("islet antibodes please", catalogue())  # [(6, 15, 'antibodies')]
    """
    wrong = misspelt(text, table)
    right = {start: word for start, _, word in wrong}
    words = {match.start(): right.get(match.start(), match[0]) for match in _TOKEN.finditer(text)} if wrong else {}
    places = {start: place for place, start in enumerate(words)}
    return [one for one in wrong if _in_name(places[one[0]], [*words.values()], table)]


_STOPS = frozenset(",;:?!().")
_TOKEN = regex(r"[,;:?!()]|\.(?=\s|$)|(?:[^\s,;:?!().]|\.(?!\s|$))+")
"""A word, or a mark at which a name ends."""
_WINDOW = 4
"""Most words of a name in which a misspelt word is looked for."""


def _in_name(place: int, words: Sequence[str], table: Catalogue) -> bool:
    """Whether the word at a place is in the name of a test other than an examination."""
    sizes = range(1, _WINDOW + 1)
    windows = (words[first : first + size] for size in sizes for first in range(max(0, place - size + 1), place + 1))
    named = (link_as_written(" ".join(window), table) for window in windows if not _STOPS & set(window))
    return any(one is not None and one.kind != "examination" for one in named)


def _named(clause: str, words: Sequence[tuple[int, int]], table: Catalogue) -> Iterator[str]:
    at, last = 0, 0
    while at < len(words):
        sizes = range(min(_LONGEST_NAME, len(words) - at), 0, -1)
        size = next((size for size in sizes if _is(clause, words, at, size, table, at == last)), 0)
        if size:
            last = at + size
            yield clause[words[at][0] : words[at + size - 1][1]].strip(" .'")
        at += size or 1


def _is(clause: str, words: Sequence[tuple[int, int]], at: int, size: int, table: Catalogue, free: bool) -> bool:
    """Whether `size` words from `at` on name a test here; `free` if a name ends or the clause begins before them."""
    start, end = words[at][0], words[at + size - 1][1]
    name = clause[start:end].strip(" .'")
    said = tokens(name)
    if not said or len(name) > LONGEST or said[0] in order_words("edge") or said[-1] in order_words("edge"):
        return False
    if (len(name) < 3 and not name[0].isupper()) or "," in name:  # 'mg', 'pt', 'hepatitis (B, C)'
        return False
    after = tokens(clause[words[at + size][0] : words[at + size][1]]) if at + size < len(words) else ()
    if after and after[0] in order_words("not_a_test"):
        return False
    linked = link_as_written(name, table)
    if linked is None:
        return False
    if linked.kind in ("lab", "microbiology"):
        stated = axes.specimen(clause)
        if stated and not (linked.specimen and axes.same_specimen(stated, linked.specimen)):
            return False  # a name never loses the specimen that its sentence states
        return not _modified(clause, words, at, size, free)
    if linked.kind != "examination":
        return size > 1 or name not in order_words("beside")  # 'toe' is no echocardiogram
    listed = key(name) in table.names or strip_ends(key(name)) in table.names  # no 'physical examination renal'
    return listed and _EXAMINES.search(clause[:end]) is not None


def _modified(clause: str, words: Sequence[tuple[int, int]], at: int, size: int, free: bool) -> bool:
    """Whether an unknown word beside a name makes another test of it ('zoster IgG', 'sodium channel antibodies')."""
    first, last = words[at], words[at + size - 1]
    name = clause[first[0] : last[1]].strip(" .'")
    before = clause[words[at - 1][0] : words[at - 1][1]] if at else ""
    short = name[1:] != name[1:].lower() and not axes.only_method(name) and axes.without_specimen(name) != ""
    free = free or (short and before.islower() and before not in _STATES)  # 'rhabdo CK'
    beside = not free and not clause[words[at - 1][1] : first[0]].strip()
    if beside and not (_little(before) or _ASKS.fullmatch(before) or _EXAMINES.fullmatch(before)):
        return True
    if size == 1 and at + 1 < len(words) and not clause[last[1] : words[at + size][0]].strip():
        after = clause[words[at + size][0] : words[at + size][1]]
        return _CONTENT.fullmatch(after) is not None and not (_little(after) or _ASKS.fullmatch(after))
    return False


_STATES = ("pos", "neg", "positive", "negative", "normal", "raised", "high", "low")
"""Words that tell the state of what follows."""
_CONTENT = regex(r"[A-Za-z][A-Za-z-]{4,}")
_LITTLE = ("edge", "before", "after", "frame")


def _little(word: str) -> bool:
    said = tokens(word)
    return any(word.casefold().strip(".'") in order_words(role) for role in _LITTLE) or set(said) <= LEADING | TRAILING
