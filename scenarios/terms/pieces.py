"""One item of a written list as single requests: its reason, brackets, 'and' and slashes undone."""

import re
from collections.abc import Callable, Iterator, Sequence

from wardround.scenarios.terms.headings import scope
from wardround.scenarios.terms.wording import key

Known = Callable[[str], bool]
Studies = Callable[[str], Sequence[str]]

ENDS = " \t.,;:!?-*\"'"

_LONGEST = 1000
"""Characters of the longest piece that is taken apart; a longer one is prose, or no text at all."""

_LIST = re.compile(r"\s*(?:;|(?<!\d),|,(?!\d))\s*")
_REASON = re.compile(
    r"\s+(?:to (?=[a-z]{3})|in order to|because|given|due to|if |which|since |so that|in view of|looking for|looking at"
    r"|before |prior to |until |after |based on |with reflex|reflex to |in case|as part of|as a "
    r"|on (?:this|the|admission)|given "
    r"|for (?!(?:gonorrh|chlamyd|hiv|h\.? ?pylori|afb|acid|c\.? ?diff|ova|malaria|fungal|gram|crystal|cytolog|cultur"
    r"|tuberc|tb\b|strep|influ|flu\b|covid|parasit|mrsa|vre|porphyr|metaneph|cortisol|protein|occult)))",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s*(?:\band/or\b|\bas well as\b|\balong with\b|\bfollowed by\b|\btogether with\b|\band\b|\bor\b|\bplus\b"
    r"|\bversus\b|\bvs\b\.?|&|\+)\s+",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^(?:(?:and|or|also|then|plus|either|both|next|first|now|followed by|as well as)\s+)+", re.IGNORECASE
)
_BRACKETS = re.compile(r"\(([^()]*)\)|\[([^\[\]]*)\]")
_NAMING = re.compile(r"^\s*(?:such as|namely|e\.g\.?,?|i\.e\.?,?)\s*:?\s+", re.IGNORECASE)
_ADDING = re.compile(r"^\s*(?:including|incl\.?|with|plus|and)\s*:?\s+", re.IGNORECASE)
_SPECIMENS = frozenset({"serum", "urine", "blood", "csf", "plasma", "stool", "sputum", "wound", "throat"})


def none(phrase: str) -> Sequence[str]:
    """Takes no phrase apart."""
    del phrase
    return ()


def cut(text: str) -> Iterator[str]:
    """`text` cut at commas and semicolons that stand outside brackets."""
    depth, start = 0, 0
    cuts = {match.start(): match.end() for match in _LIST.finditer(text)}
    for place, mark in enumerate(text):
        depth = max(0, depth + (mark in "([") - (mark in ")]"))
        if depth == 0 and place in cuts and place >= start:
            yield text[start:place]
            start = cuts[place]
    yield text[start:]


def single(piece: str, known: Known, studies: Studies = none) -> Iterator[str]:
    """`piece` as it stands if known, else without its reason, its brackets' outside, or taken apart at 'and'."""
    piece = _LEAD.sub("", piece.strip(ENDS))
    if not piece or len(piece) > _LONGEST:
        yield from [piece] if piece else ()
        return
    inner = listing(piece, known)
    if inner:
        yield from inner
        return
    if known(piece):
        yield piece
        return
    reasoned = _REASON.search(piece)
    short = piece[: reasoned.start()].strip(ENDS) if reasoned else piece
    if short and short != piece and (known(short) or scope(short)):
        yield short
        return
    yield from _apart(short if len(short.split()) > 1 else piece, known, studies)


def listing(piece: str, known: Known) -> list[str]:
    """What a bracket lists in place of, or beside, the name before it; nothing where it abbreviates or explains it.

    One bracketed test is another name of what stands before it ('Urinalysis (UA)'), unless 'including' adds it; several
    are what is meant ('inflammatory markers (CRP, ESR)').
    """
    found: list[str] = []
    adds = False
    for match in _BRACKETS.finditer(piece):
        written = match[1] or match[2] or ""
        told = _ADDING.sub("", _NAMING.sub("", written))
        adds = adds or _ADDING.match(written) is not None
        listed = [part.strip(ENDS) for part in re.split(r"\s*[,;/]\s*|\s+and\s+", told)]
        listed = [part for part in listed if part]
        first, _, rest = _BRACKETS.sub(" ", piece).strip(ENDS).partition(" ")
        narrower = [f"{first} {part} {rest}" for part in listed]  # 'MRI spine (cervical, lumbar)'
        if listed and all(known(part) for part in listed) and (len(listed) > 1 or not known(told)):
            found += listed
        elif len(listed) > 1 and rest and all(known(form) for form in narrower):
            found += narrower
        elif adds and known(told):
            found.append(told)
    outer = _BRACKETS.sub(" ", piece).strip(ENDS)
    if adds and found and known(outer):
        return [outer, *found]
    return found if len(found) > 1 else []


def _apart(piece: str, known: Known, studies: Studies) -> Iterator[str]:
    inner = [
        part.strip(ENDS) for match in _BRACKETS.finditer(piece) for part in _LIST.split(match[1] or match[2] or "")
    ]
    outer = _LEAD.sub("", _BRACKETS.sub(" ", piece).strip(ENDS))
    parts = _shared(_rejoined(_spread([part.strip(ENDS) for part in _JOINED.split(outer)]), known), known)
    if len(parts) > 1 and all(known(part) for part in parts):
        yield from parts
    elif told := studies(outer):
        yield from told
    elif len(parts) > 1 and any(known(part) for part in parts):
        for part in parts:
            yield from [part] if known(part) else single(part, known, studies)
    elif named := [part for part in inner if known(part)]:
        yield from named
    elif len(told_with := re.split(r"\s+with\s+|\s+w/\s*", outer)) > 1 and any(map(known, told_with)):
        for part in told_with:
            yield from [part] if known(part) else single(part, known, studies)
    elif slashed := _slashed(outer, known):
        yield from slashed
    elif len(parts) > 1 and all(studies(part) for part in parts):
        yield from parts
    else:
        yield piece


def _slashed(outer: str, known: Known) -> list[str]:
    """'AST/ALT', 'flu/COVID swab', 'PT/INR': each part known, alone or with the last word of all."""
    parts = [part for part in re.split(r"\s*/\s*", outer) if part]
    if len(parts) < 2:
        return []
    last = parts[-1].split()
    found = []
    for part in parts:
        longer = f"{part} {last[-1]}" if len(last) > 1 and part is not parts[-1] else part
        first = f"{parts[0].split()[0]} {part}" if part is not parts[0] else part
        form = next((form for form in (part, longer, first) if known(form)), None)
        if form is None:
            return []
        found.append(form)
    return found


def _rejoined(parts: list[str], known: Known) -> list[str]:
    """'CT abdomen', 'pelvis', 'MRCP' as 'CT abdomen and pelvis', 'MRCP': what is known only together stays so."""
    found: list[str] = []
    for part in parts:
        if found and not known(part) and known(f"{found[-1]} and {part}"):
            found[-1] = f"{found[-1]} and {part}"
        else:
            found.append(part)
    return found


def _shared(parts: list[str], known: Known) -> list[str]:
    """'protein C', 'S' as 'protein C', 'protein S'; 'LDL', 'HDL cholesterol' as they are meant."""
    found = list(parts)
    for place, part in enumerate(found):
        if known(part):
            continue
        before = found[place - 1].split() if place else []
        after = found[-1].split() if place < len(found) - 1 else []
        forms = [" ".join([*before[:size], part]) for size in range(len(before) - 1, 0, -1)]
        forms += [" ".join([part, *after[-size:]]) for size in range(1, len(after))]
        found[place] = next((form for form in forms if known(form)), part)
    return found


def _spread(parts: Sequence[str]) -> list[str]:
    """'blood', 'urine cultures' as 'blood cultures', 'urine cultures'."""
    found = [part for part in parts if part]
    for place, part in enumerate(found[:-1]):
        following = found[place + 1].split()
        if key(part) in _SPECIMENS and len(following) > 1 and key(following[0]) in _SPECIMENS:
            found[place] = " ".join([part, *following[1:]])
    return found
