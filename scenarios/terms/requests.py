"""Free text of a doctor's request as single requests: lists, bullets, headings, brackets, reasons and 'and' undone."""

import re
from collections.abc import Callable, Iterable, Iterator

from wardround.scenarios.terms.headings import scope
from wardround.scenarios.terms.wording import key

MOST = 200
"""Requests that are read of one text; nobody orders more, and a model's run-away list must not stall the examiner."""

LONGEST_TEXT = 20_000
"""Characters of a text that are read for the same reason."""

_NUMBERED = re.compile(r"(?:(?<=[\s,;])|^)\(?\d{1,2}[.)]\s+(?=[A-Za-z*])")
_BULLET = re.compile(r"^\s*(?:[-*•+–—]+|[a-zA-Z]\))\s+")  # not 'C. difficile'
_SENTENCE = re.compile(r"(?<=[a-z0-9)]{3})\.\s+(?=[A-Z])")
_LIST = re.compile(r"\s*(?:;|(?<!\d),|,(?!\d))\s*")
_NAMING = re.compile(r",?\s*\b(?:including|such as|consisting of|namely|e\.g\.,?|i\.e\.,?)\s*:?\s+", re.IGNORECASE)
_REASON = re.compile(
    r"\s+(?:to (?=[a-z]{3})|in order to|because|given|due to|if |which|since |so that|in view of|looking for|looking at"
    r"|for (?!(?:gonorrh|chlamyd|hiv|h\.? ?pylori|afb|acid|c\.? ?diff|ova|malaria|fungal|gram|crystal|cytolog|cultur"
    r"|tuberc|tb\b)))",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s*(?:\band/or\b|\bas well as\b|\balong with\b|\bfollowed by\b|\band\b|\bor\b|\bplus\b|&|\+)\s+", re.I
)
_SPECIMENS = frozenset({"serum", "urine", "blood", "csf", "plasma", "stool", "sputum"})
_ENDS = " \t.,;:!?-*\"'"

Known = Callable[[str], bool]


def split(text: str, known: Known) -> tuple[str, ...]:
    """The single requests in `text`, in order, without repeats, at most MOST.

    `known` says whether a phrase is one test as it stands: what is known is never taken apart ('ova and parasites',
    'CT abdomen and pelvis', a record's own name with a comma in it).
    """
    found: dict[str, str] = {}
    for piece in _pieces(text[:LONGEST_TEXT], known):
        found.setdefault(key(piece), piece)
        if len(found) >= MOST:
            break
    found.pop("", None)
    return tuple(found.values())


def _pieces(text: str, known: Known) -> Iterator[str]:
    for line in _lines(text):
        yield from [line] if known(line) else _line(line, known)


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        for numbered in _NUMBERED.split(line):
            bare = _BULLET.sub("", numbered).replace("**", "").replace("__", "").strip(_ENDS)
            if bare:
                yield bare


def _line(line: str, known: Known) -> Iterator[str]:
    """The requests of one line; what stands behind a heading's or a test's colon explains or lists."""
    line = _NAMING.sub(": ", line, count=1)
    head, colon, tail = line.partition(": ")
    head = head.strip(_ENDS)
    if colon and "," not in head and tail.strip(_ENDS):
        behind = [part for piece in _list(tail) for part in _single(piece, known)]
        named = [part for part in behind if known(part)]
        if known(head):
            yield head
            yield from named
        elif scope(head) or named:
            yield from behind if scope(head) else named
        else:
            yield from _single(head, known)
        return
    for piece in _list(line):
        yield from _single(piece, known)


def _list(text: str) -> Iterator[str]:
    """`text` cut at commas, semicolons and full stops that stand outside brackets."""
    depth, start = 0, 0
    cuts = {match.start(): match.end() for match in _LIST.finditer(text)}
    cuts |= {match.start(): match.end() for match in _SENTENCE.finditer(text)}
    for place, mark in enumerate(text):
        depth = max(0, depth + (mark in "([") - (mark in ")]"))
        if depth == 0 and place in cuts and place >= start:
            yield text[start:place]
            start = cuts[place]
    yield text[start:]


def _single(piece: str, known: Known) -> Iterator[str]:
    """`piece` as it stands if known, else without its reason, its brackets' outside, or taken apart at 'and'."""
    piece = re.sub(r"^(?:and|or|also|then|plus)\s+", "", piece.strip(_ENDS), flags=re.IGNORECASE)
    if not piece:
        return
    if known(piece):
        yield piece
        return
    reasoned = _REASON.search(piece)
    short = piece[: reasoned.start()].strip(_ENDS) if reasoned else piece
    if short and short != piece and (known(short) or scope(short)):
        yield short
        return
    yield from _apart(short if len(short.split()) > 1 else piece, known)


def _apart(piece: str, known: Known) -> Iterator[str]:
    inner = [part for match in re.finditer(r"\(([^()]*)\)", piece) for part in _LIST.split(match[1])]
    outer = re.sub(r"\([^()]*\)", " ", piece).strip(_ENDS)
    parts = _rejoined(_spread([part.strip(_ENDS) for part in _JOINED.split(outer)]), known)
    if len(parts) > 1 and any(known(part) for part in parts):
        yield from parts
    elif named := [part.strip(_ENDS) for part in inner if known(part.strip(_ENDS))]:
        yield from named
    elif (slashed := _known_all(re.split(r"\s*/\s*", outer), known)) or (
        slashed := _known_all(re.split(r"\s+with\s+", outer), known)
    ):
        yield from slashed
    else:
        yield piece


def _rejoined(parts: list[str], known: Known) -> list[str]:
    """'CT abdomen', 'pelvis', 'MRCP' as 'CT abdomen and pelvis', 'MRCP': what is known only together stays so."""
    found: list[str] = []
    for part in parts:
        if found and not known(part) and known(f"{found[-1]} and {part}"):
            found[-1] = f"{found[-1]} and {part}"
        else:
            found.append(part)
    return found


def _known_all(parts: list[str], known: Known) -> list[str]:
    return parts if len(parts) > 1 and all(known(part) for part in parts) else []


def _spread(parts: Iterable[str]) -> list[str]:
    """'blood', 'urine cultures' as 'blood cultures', 'urine cultures'."""
    found = [part for part in parts if part]
    for place, part in enumerate(found[:-1]):
        following = found[place + 1].split()
        if part.lower() in _SPECIMENS and len(following) > 1 and following[0].lower() in _SPECIMENS:
            found[place] = " ".join([part, *following[1:]])
    return found
