"""Splits names joined by commas, 'and' and slashes, and gives each the words that they share."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

import msgspec
from msgspec.structs import replace

from wardround.engine.text import regex, split_outside_brackets
from wardround.scenarios.orders import axes
from wardround.scenarios.orders.catalogue import scope
from wardround.scenarios.terms.wording import table_rows

Known = Callable[[str], bool]
ENDS = " \t.,;:!?-*\"'"
_MOST_WORDS = 12
"""Most words of a piece that is looked for without the words around it."""
LIST = regex(r"\s*(?:;|(?<!\d),|,(?!\d))\s*")
JOINED = regex(
    r"\s*(?:\band/or\b|\bas well as\b|\balong with\b|\bfollowed by\b|\btogether with\b|\bthen\b|\band\b|\bor\b"
    r"|\bplus\b|\bversus\b|\bvs\b\.?|&|(?<!\+)\+)\s+",
    re.IGNORECASE,
)
_COUNT = regex(
    r"(?i)\d{1,2}/(?:24|7|52|12|40)|0\d[0-5]\d|\d+(?:st|nd|rd|th|h|hrs?|hourly|d|x|am|pm)|cd\d+|[qxd]\d+\w*"
    r"|\d+-?(?:week|month)ly"
)
_CYCLE = regex(
    r"(?i)^(?:cycle )?(?:day|cd|d)[ -]?\d{1,2}(?:-\d{1,2})? (?:of (?:the )?cycle )?"
    r"|\s(?:(?:on|of) )?(?:the )?(?:cycle )?(?:day|cd) ?\d{1,2}(?: of (?:the )?cycle)?$"
)
"""The day of a cycle or of a life on which a test is taken ('day 21 progesterone')."""
_CLASS = regex(r"(?i)ig[gmae]")
_WITHIN = regex(r"(?i)\s(?:in|from|of|on)\s+(?:the\s+)?[\w -]+$")
_SHARED_METHODS = {"pcr", "igm", "igg", "dna", "rna"}


@cache
def order_roles() -> Mapping[str, frozenset[str]]:
    """The words of a sentence that orders, as they are written, by their role (`order_words.csv`)."""
    return {row["role"]: frozenset(row["words"].split()) for row in table_rows("order_words.csv")}


def order_words(role: str) -> frozenset[str]:
    """The words of one role in a sentence that orders."""
    return order_roles()[role]


def trimmed(piece: str, known: Known) -> str:
    """The known test in a piece without the words around it that say how, when and for whom ('her iron', 'BMP
    weekly').

    `piece` itself if that makes it no known test.
    """
    words = (piece if known(piece) else _CYCLE.sub("", piece)).split()
    if len(words) > _MOST_WORDS or known(piece):
        return piece
    start, end = 0, len(words)
    while start < end - 1 and (
        words[start].casefold().strip(ENDS) in order_words("before") or words[start].endswith(("'s", "\u2019s"))
    ):
        start += 1
    counted = start + 1 if start < end - 1 and _COUNT.fullmatch(words[start]) else start  # '2/24 VBG'
    ends = [end]
    while end > start + 1 and (
        words[end - 1].casefold().strip(ENDS) in order_words("after") or _COUNT.fullmatch(words[end - 1])
    ):
        end -= 1
        ends.append(end)
    forms = (" ".join(words[begin:place]).strip(ENDS) for begin in (start, counted) for place in ends)
    return next((form for form in forms if form and known(form)), piece)


_LONGEST_RUN = 40
"""Most words of a run of names without commas."""
_LONGEST_NAME = 5
"""Most words of a name in a run."""
_AMONG = regex(r"(?i)[+&]|stat|urgent|q\d+|x\d+")
"""What stands between the names of a run and is none of them ('VBG 2/24 UEC')."""
_WHEN = frozenset(("pre", "post", "before", "after", "later", "then"))
"""Words of time that may belong to a name and are not left out of a run."""


def run_of_names(piece: str, known: Known) -> list[str]:
    """'FBC U&E LFT B12 folate' as one request each: names without commas, and words of time between them.

    The reading with the fewest unknown words counts, of several such that with the fewest words of time, then names.
    Empty if it has only one name, or fewer than four for each unknown word.
    """
    words = piece.split()
    if not 1 < len(words) <= _LONGEST_RUN:
        return []
    best: list[_Run] = [_Run(0, 0, 0, ())]
    for start in range(len(words) - 1, -1, -1):
        behind = best[0]
        if _tells_time(words[start]):
            readings = [replace(behind, beside=behind.beside + 1)]
        else:
            readings = [replace(behind, unknown=behind.unknown + 1, parts=(words[start], *behind.parts))]
        for size in range(1, min(_LONGEST_NAME, len(words) - start) + 1):
            named = _each_name(" ".join(words[start : start + size]).strip(ENDS), known)
            after = best[size - 1]
            if named:
                readings.append(replace(after, names=after.names + len(named), parts=(*named, *after.parts)))
        best.insert(0, min(readings, key=lambda one: (one.unknown, one.beside, one.names)))
    run = best[0]
    return list(run.parts) if run.names > 1 and run.names >= _LEAST_NAMES * run.unknown else []


class _Run(msgspec.Struct, frozen=True):
    """A reading of a run: its numbers of `unknown` words, of words of time `beside` its `names`, and its parts."""

    unknown: int
    beside: int
    names: int
    parts: tuple[str, ...]


_LEAST_NAMES = 4
"""Least names of a run for each of its unknown words."""


def _each_name(text: str, known: Known) -> tuple[str, ...]:
    """The known name that a text is, or the known names that a slash joins; empty if it is neither."""
    words = text.casefold().split()
    if not words or words[0] in order_words("edge") or words[-1] in order_words("edge"):
        return ()
    taken = axes.specimen(text)
    bare = taken and not axes.without_specimen(text)
    if bare and (not text.isupper() or text == taken):  # 'urine', but 'MSU'
        return ()
    if known(text):
        return (text,)
    return tuple(slashed(text, known)) if "/" in text else ()


def _tells_time(word: str) -> bool:
    """Whether a word of a run tells the time or number of a test, or frames it, and belongs to no name."""
    bare = word.casefold().strip(ENDS)
    roles = ("before", "after", "frame")
    if bare in order_words("edge") or bare in _WHEN:  # 'methemoglobin by co-oximetry' is no run
        return False
    return bool(_COUNT.fullmatch(bare) or _AMONG.fullmatch(bare)) or any(bare in order_words(role) for role in roles)


_FAMILY = regex(r"(?i)\b(?:vitamins?|hepatitis|hep|proteins?|factors?|complements?|immunoglobulins?)$")
_MEMBER = regex(r"(?:[A-Z]\d{0,2}|[IVX]{1,4})")
"""A family of tests, and the letter or number that tells its members apart."""


def share_noun(pieces: Sequence[str], known: Known) -> Sequence[str]:
    """'the cervical', 'axillary and inguinal lymph nodes': each piece before the last with the noun that it lacks."""
    if len(pieces) < 2 or not pieces[-1].split():
        return pieces
    ends = pieces[-1].strip(ENDS).split()
    shared = _with_family(pieces, known)
    for place, piece in enumerate(pieces[:-1]):
        last = [
            word
            for word in piece.split()[-1:]
            if word[-1] not in ")]" and word.casefold().strip(ENDS) not in order_words("frame")
        ]
        nouns = [" ".join(ends[-size:]) for size in (2, 1) if len(ends) > size and ends[-size][0].isalnum()]
        noun = next((noun for noun in nouns if last and not known(last[0]) and known(f"{last[0]} {noun}")), "")
        taken = bool(last) and bool(axes.specimen(last[0])) and not axes.without_specimen(last[0])
        alone = not axes.without_specimen(piece) if taken else not axes.only_method(noun)
        if noun and alone and not known(trimmed(piece, known)):
            shared[place] = f"{piece} {noun}"
    return shared


def _with_family(pieces: Sequence[str], known: Known) -> list[str]:
    """'vitamin A', 'D', 'E' as 'vitamin A', 'vitamin D', 'vitamin E'; likewise factors, proteins and hepatitis."""
    shared, head = list(pieces), ""
    for place, piece in enumerate(pieces):
        first, _, last = trimmed(piece, known).strip(ENDS).rpartition(" ")
        member = next(iter(piece.strip(ENDS).split()), "")
        if head and _MEMBER.fullmatch(member) and known(f"{head} {member}"):
            shared[place] = f"{head} {piece.strip(ENDS)}"
        else:
            head = first if _FAMILY.search(first) and _MEMBER.fullmatch(last) else ""
    return shared


def split_commas(text: str) -> list[str]:
    """Split `text` at commas and semicolons outside brackets."""
    return split_outside_brackets(text, LIST)


_HANDED_BACK = ("CSF", "pleural fluid", "ascitic fluid", "synovial fluid", "urine", "stool", "cervix")
"""Specimens behind the last test of a list that those before it are looked for in too."""


def in_last_specimen(parts: list[str], known: Known) -> list[str]:
    """'HSV and VZV PCR in the CSF' looks for both in the CSF, 'LDH and protein in pleural fluid and serum' in both."""
    end = len(parts)
    while end > 1 and axes.only_specimen(parts[end - 1]):
        end -= 1
    last, behind = parts[end - 1] if parts else "", parts[end:]
    fluid = axes.specimen(last)
    listed = fluid in _HANDED_BACK or bool(behind)
    if not fluid or not listed or not _WITHIN.search(last):
        return parts
    named = [*parts[: end - 1], _WITHIN.sub("", last)] if behind else parts[: end - 1]
    placed = [
        (f"{axes.stated_as(taken)} {part}", part)
        for taken in (fluid, *map(axes.only_specimen, behind))
        for part in named
    ]
    return [
        *(long if not axes.specimen(part) and known(long) else part for long, part in placed),
        *([] if behind else [last]),
    ]


def _plain_end(piece: str) -> str:
    """A list without the words behind it that say how or when ('FSH/LH/E2 day 3', 'B12/folate same draw')."""
    words = _CYCLE.sub("", piece).split()
    while len(words) > 1 and (  # 'FBC/TSH tired all the time'
        words[-1].casefold() in order_words("after")
        or words[-1].casefold() in order_words("beside")
        or _COUNT.fullmatch(words[-1])
    ):
        words.pop()
    return " ".join(words)


_KIND = regex(r"(?i)(?:free|total|direct|indirect|conjugated|bioavailable|ioni[sz]ed) ")


def slashed(outer: str, known: Known) -> list[str]:
    """Split 'AST/ALT', 'flu/COVID swab' or 'PT/INR' if each part is known, alone or with the last word of the
    whole."""
    parts = [part for part in re.split(r"\s*/\s*|(?<=\w\w)\+(?=\w)", _plain_end(outer)) if part]
    if len(parts) < 2:
        return []
    last = parts[-1].split()
    fluid = axes.stated_as(axes.specimen(parts[0])) if axes.methods(parts[-1]) else ""
    tests = []
    for part in parts:
        longer = f"{part} {last[-1]}" if len(last) > 1 and part is not parts[-1] else part
        first = f"{parts[0].split()[0]} {part}" if part is not parts[0] else part
        placed = f"{fluid} {longer}" if fluid and not axes.specimen(part) else part  # 'genital swab HSV/VZV PCR'
        kind = first if _KIND.match(parts[0]) else placed  # 'free T3/T4'
        form = next((form for form in (kind, placed, part, longer, first) if known(form)), None)
        tests.append(form or part)
    # A part that no form makes known stays as it is if another one is a test by itself: 'MRI/MRCP'.
    unknown = [test for test in tests if not known(test)]
    return tests if not unknown or (len(unknown) < len(tests) and all(scope(part) for part in unknown)) else []


def rejoined(parts: list[str], known: Known) -> list[str]:
    """Rejoin parts known only together: 'CT abdomen', 'pelvis', 'MRCP' become 'CT abdomen and pelvis', 'MRCP'."""
    joined: list[str] = []
    for part in parts:
        bare = not known(part) or known(f"{part} exam")  # 'neck' alone is a region
        if joined and bare and known(f"{joined[-1]} and {part}"):
            joined[-1] = f"{joined[-1]} and {part}"
        else:
            joined.append(part)
    return joined


def shared(parts: list[str], known: Known) -> list[str]:
    """Share words: 'protein C', 'S' give 'protein C', 'protein S'; 'LDL', 'HDL cholesterol' share 'cholesterol'."""
    shared = list(parts)
    for place, part in enumerate(shared):
        if known(part):
            before = shared[place - 1].split() if place else []
            of_kind = f"{' '.join(before[:-1])} {part}"
            if len(before) > 1 and axes.only_method(part) and axes.only_method(before[-1]) and known(of_kind):
                shared[place] = of_kind  # 'fungal microscopy and culture'
                continue
            last = shared[-1].split()[-1]
            if place and _CLASS.fullmatch(part):  # 'dengue antigen and IgM'
                first = f"{shared[place - 1].split()[0]} {part}"
                shared[place] = first if known(first) and len(shared[place - 1].split()) > 1 else part
                continue
            method = (
                place < len(shared) - 1
                and not axes.methods(part)
                and set(last.casefold().split("/")) <= _SHARED_METHODS
            )
            longer = f"{part} {last}"
            if method and len(part.split()) == 1 and known(longer) and not axes.specimen(part):
                shared[place] = longer  # 'CMV and EBV PCR'
            head, looked_for, _ = shared[place - 1].rpartition(" for ") if place else ("", "", "")
            if looked_for and axes.methods(head) and axes.specimen(head) and known(f"{head} for {part}"):
                shared[place] = f"{head} for {part}"  # 'endocervical NAAT for chlamydia and gonorrhoea'
            continue
        if all(map(axes.only_specimen, shared[place:])):  # 'in CSF and serum'
            continue
        before = shared[place - 1].split() if place else []
        beside = -1 if not axes.only_specimen(part) else place + 1  # 'serum and urine osmolality and a urine sodium'
        after = shared[beside].split() if place < len(shared) - 1 else []
        forms = [" ".join([*before[:size], part]) for size in range(len(before) - 1, 0, -1)]
        forms += [" ".join([part, *before[1:]])] if len(before) > 1 else []  # 'total bilirubin and direct'
        forms += [" ".join([part, *after[-size:]]) for size in range(1, len(after))]
        shared[place] = next((form for form in forms if known(form)), part)
    return shared
