"""How far the denials of a sentence reach: which of its words are denied, which affirmed, which left open.

A cue denies forwards ('no fever', 'denied fever', 'was not febrile') or backwards ('a rash was absent', 'HIV:
negative'). What follows a preposition, or a comma that may have ended a list, is left open.
"""

import re
from collections.abc import Iterator, Sequence


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOUN_CUES = _set("no without absent none nil neither")
_VERB_CUES = _set("denied denies deny denying")
_PREDICATE_CUES = _set("not never")
_OPEN_CUES = _set("cannot query~it")
_JUDGING = _set("normal no~normal positive no~positive negative present absent clear stable regular")
"""Words that say of an item of a list how it is."""
_LINKS = _set("is are was were became becomes returned tested remained remains turned being been came be")
_PLAIN_VERBS = _set("had has have showed shows revealed presented developed demonstrated reports found")
_PASSIVE = _set(
    """reported noted observed seen found detected identified present evident performed elicited visible palpable
    demonstrated appreciated apparent documented recorded felt heard there described given obtained isolated revealed
    known sought done taken made visualized visualised mentioned palpated recognized recognised encountered audible
    discernible noticeable noticed available visible raised occur occurred happen happened exist existed used
    remembered"""
)
"""Words after 'not' that say that something is not there."""
_UNDONE = _set("performed done sought given taken made obtained measured raised")
"""Words after 'not' where a step was left out, which denies no finding."""
_UNSAID = _set("detailed specified documented provided mentioned described stated available applicable given known")
"""Words after 'not' where nothing is denied."""
_DEGREES = _set(
    """subside resolve improve respond change disappear abate help alleviate decrease settle more less longer
    later only further fewer earlier doubt until just"""
)
"""Words after 'no' and 'not' that make a degree or a course of them."""
_ENDS = _set(
    """except until therefore because showed revealed presented developed demonstrated had has have apart than prompted
    required underwent complained started came due despite then since after when before suggesting noticed visited
    consulted sought attended arrived received suffered sustained went took remembers recalled so that which who whereas
    prevented prompting leading causing obscuring"""
)
"""Words with which a denial has ended."""
_ALONG = _set("for in on at during to around over between upon with as from under within by")
"""Words after which it is open whether a denial goes on: 'no imaging for pain'."""
_CLAUSES = _set("so because since as that which who when where although though after before until with while than")
"""Words with which a clause begins, so that no subject reaches over them."""
_ARTICLES = _set("a an the some his her mild moderate severe soft good slight marked")
_WHAT_IS_MEANT = _set("evidence negative sign signs history symptoms symptom")


def denied_words(lows: Sequence[str]) -> list[bool | None]:
    """For each word, in lower case, whether it is denied; None where that cannot be said."""
    denied: list[bool | None] = [False] * len(lows)
    for place in range(len(lows)):
        for at, value in _denials(lows, place):
            denied[at] = value
    if any(state and low == "no~normal" for low, state in zip(lows, denied, strict=True)):
        denied = [None if state and low != "no~normal" else state for low, state in zip(lows, denied, strict=True)]
    return denied


def _denials(lows: Sequence[str], place: int) -> Iterator[tuple[int, bool | None]]:
    """(place, denied or open) of the words that the cue at a place reaches."""
    kind = _kind(lows, place)
    if kind == "behind":
        yield from _behind(lows, place)
    elif kind:
        if lows[place - 1 : place] and lows[place - 1] in (*_LINKS, "could", "can", "would"):
            yield from ((at, None) for at, _ in _subject(lows, place))
        yield from _ahead(lows, place, kind)


def _kind(lows: Sequence[str], place: int) -> str:
    """How a word denies: 'behind', or ahead as 'noun', 'verb', 'predicate', 'open'; '' if it does not."""
    low = lows[place]
    before = lows[place - 1] if place else ""
    after = lows[place + 1] if place + 1 < len(lows) else ""
    if low == "ruled~out":
        return "behind" if before in _LINKS or not after or after in _REASONS else "verb"
    if low in _OPEN_CUES:
        return "behind" if low == "cannot" and _unseen(lows, place) else "open"
    if low == "negative":
        if after == "for":
            return "noun"
        return "behind" if place and (not after or after in _AFTER_JUDGEMENT or before in _LINKS) else "open"
    if low in ("absent", "none", "nil"):
        stands_behind = bool(place) and (before in (*_LINKS, ":", "both") or not after or after in _AFTER_JUDGEMENT)
        return "behind" if stands_behind else "noun"
    if low in _VERB_CUES:
        return (
            "behind"
            if low == "denied" and place and (before in _LINKS or not after or after in (",", "by"))
            else "verb"
        )
    if low in _NOUN_CUES:
        return "" if after in _DEGREES else "noun"
    if low == "never" and not after and before == ":":
        return "behind"
    if low in _PREDICATE_CUES or low.endswith("n't"):
        if after in _DEGREES:
            return ""
        if before in ("could", "can", "would") or after in _RELATING or lows[place + 2 : place + 3] in _FULLY:
            return "open"
        return "behind" if after in _UNSAID or _unseen(lows, place) else "predicate"
    return ""


_REASONS = _set(", by and based because as due on since with given owing through via after following from")
_RELATING = _set(
    """explain explains account exclude excluded excluding rule support supported supportive suggest align fit meet
    preclude justify indicate indicative suggestive consistent compatible typical characteristic due related attributed
    attributable responsible caused think believed considered necessarily fully entirely completely always usually
    sure clear"""
)
"""Words after 'not' that relate a finding to something, so that the finding itself is not denied."""
_FULLY = tuple([word] for word in sorted(_RELATING))
_AFTER_JUDGEMENT = _set(", in on at by and or but as throughout bilateral bilaterally everywhere today")
"""Words after 'absent' and 'negative' that show that these judge what stands before them."""


def _unseen(lows: Sequence[str], place: int) -> bool:
    """Whether 'was not seen', 'could not be felt' stand at a place."""
    after = [*lows[place + 1 : place + 4], "", "", ""]
    at = 1 if after[0] in ("be", "been") else 0
    return bool(place) and (after[at] in _PASSIVE and after[at] not in ("there",))


# --- ahead -----------------------------------------------------------------------------------------------------------


_SHOWING = _set("found showed shown revealed identified demonstrated detected explained disclosed yielded proved")
"""Verbs whose subject is a test or a look: 'no CT showed a mass' denies the mass."""


def _ahead(lows: Sequence[str], place: int, kind: str) -> Iterator[tuple[int, bool | None]]:
    value: bool | None = None if kind == "open" else True
    if kind == "noun" and lows[place] in ("no", "neither") and _shows(lows, place):
        value = None
    for at in range(place + 1, len(lows)):
        low = lows[at]
        if _ends(lows, at, place) or (_kind(lows, at) and low not in ("absent",)):
            return
        if low == ",":
            goes_on = _after_comma(lows, at, kind)
            if goes_on is False:
                return
            value = goes_on if kind == "verb" and goes_on else value and goes_on
        elif low == "and" and (stop := _after_and(lows, at, kind)) is not True:
            if stop is False:
                return
            value = None
        elif low in _ALONG and lows[at - 1] not in _WHAT_IS_MEANT:
            value = None
        yield at, value


def _shows(lows: Sequence[str], place: int) -> bool:
    """Whether what a cue denies is the subject of a verb that shows something."""
    rest = lows[place + 1 :]
    stop = next((at for at, low in enumerate(rest) if low in (",", ":") or low in _CLAUSES), len(rest))
    verb = next((at for at, low in enumerate(rest[:stop]) if low in _SHOWING), None)
    return verb is not None and verb + 1 < stop and rest[verb - 1] not in (*_LINKS, "been")


def _ends(lows: Sequence[str], at: int, cue: int) -> bool:
    """Whether a denial ends at a word; 'no trauma was reported' goes on."""
    low = lows[at]
    if low in ("was", "were", "is", "are"):
        return not set(lows[at + 1 : at + 3]) & _PASSIVE
    if low == ":":
        return True
    return low in _ENDS and (at - 1 != cue or low in _CLAUSES or low in ("because", "due", "despite", "therefore"))


def _item(lows: Sequence[str], at: int) -> Sequence[str]:
    """The words after a comma or an 'and' up to the next comma."""
    rest = lows[at + 1 :]
    return rest[: next((place for place, low in enumerate(rest) if low == ","), len(rest))]


def _says_itself(item: Sequence[str]) -> bool:
    """Whether an item of a list has a verb, a judgement or a denial of its own."""
    return any(
        low in _JUDGING or low in _LINKS or low in _PLAIN_VERBS or _kind(item, at) or low.startswith("no~")
        for at, low in enumerate(item)
    ) and not (set(item) & _LINKS and set(item) & _PASSIVE)


def _after_comma(lows: Sequence[str], at: int, kind: str) -> bool | None:
    """Whether a denial goes on after a comma; None where it may."""
    item = _item(lows, at)
    if not item or _says_itself(item):
        return False
    rest = lows[at + 1 :]
    clause = next((place for place, low in enumerate(rest) if low == "," and rest[place + 1 : place + 2] == ["and"]), 0)
    if "or" in rest[:clause]:
        return True  # 'no rash, fever or cough, and the pulse was normal'
    stop = next((place for place, low in enumerate(rest) if low in _ENDS or low in _LINKS or low == ":"), len(rest))
    listed = rest[:stop]
    if stop < len(rest) and rest[stop] in _LINKS and not set(rest[stop + 1 : stop + 3]) & _PASSIVE:
        return False
    if "or" in listed:
        return True
    return True if kind == "verb" and not set(listed) & _ARTICLES else None


def _after_and(lows: Sequence[str], at: int, kind: str) -> bool | None:
    item = _item(lows, at)
    if _says_itself(item) or set(item[:2]) & _ENDS:
        return False
    if lows[at - 1] == "," or (item and item[0] in _ARTICLES):
        return True if kind == "verb" else None
    return True if "or" in lows[:at] or kind in ("noun", "verb") else None


# --- behind ----------------------------------------------------------------------------------------------------------


def _behind(lows: Sequence[str], place: int) -> Iterator[tuple[int, bool | None]]:
    after = lows[place + 1] if place + 1 < len(lows) else ""
    subject = list(_subject(lows, place))
    value: bool | None = None if lows[place] == "negative" or after in _UNSAID or after in _UNDONE else True
    meant = next((at for at, _ in subject if lows[at] == "for"), None) if lows[place] == "negative" else None
    for at, sure in subject:
        yield at, True if meant is not None and at > meant else value if sure else None
    if lows[place] == "negative" and after in ("in", "on", "by"):
        yield from ((at, None) for at in range(place + 1, place + 1 + len(_item(lows, place))))
    if lows[place] not in ("negative", "absent", "none", "nil", "denied", "ruled~out"):
        yield from ((at, None) for at in range(place + 1, min(place + 4, len(lows))) if lows[at] not in (",", "and"))


_HELPERS = _set(": both all also could can would did does do had has have")


def _subject(lows: Sequence[str], place: int) -> Iterator[tuple[int, bool]]:
    """(place, whether surely) of the words that a verb or judgement at a place says something of."""
    at = place - 1
    while at >= 0 and (lows[at] in _LINKS or lows[at] in _HELPERS):
        at -= 1
    last, listed, comma = at, False, -1
    while at >= 0:
        low = lows[at]
        if low == ",":
            comma = max(comma, at)
            item = lows[next((one for one in range(at - 1, -1, -1) if lows[one] == ","), -1) + 1 : at]
            numbered = any(one[0].isdigit() for one in item)
            if not listed or numbered or _says_itself(item) or len(item) > 5 or set(item) & (_ENDS | _CLAUSES):
                if any(_kind(item, one) for one in range(len(item))):
                    at = comma  # 'no cough, fever or rash, and the lungs were normal'
                break
        elif low in ("and", "or"):
            before = lows[:at]
            clause = before[next((one for one in range(at - 1, -1, -1) if lows[one] == ","), -1) + 1 :]
            if _says_itself(clause) or set(clause) & _ENDS:
                break
            listed = True
        elif (
            low in _CLAUSES or low in _PLAIN_VERBS or low in _ENDS or low in _JUDGING or (at < last and _kind(lows, at))
        ):
            at = max(at, comma) if _kind(lows, at) else at  # 'no cough or rash, and the lungs were normal'
            break
        elif low in _LINKS or low == ":":
            yield from ((one, False) for one in range(at + 1, last + 1))
            return
        at -= 1
    yield from ((one, True) for one in range(at + 1, last + 1))


# --- judgements ------------------------------------------------------------------------------------------------------

_JUDGEMENTS = {
    "normal": ("normal", True),
    "no~normal": ("normal", False),
    **dict.fromkeys(("positive", "no~negative"), ("positive", True)),
    **dict.fromkeys(("negative", "no~positive"), ("positive", False)),
    **dict.fromkeys(("elevate", "elevation", "prolonged"), ("high", True)),
    "lower": ("high", False),
}


def judgements(lows: Sequence[str], denied: Sequence[bool | None]) -> dict[int, tuple[str, bool]]:
    """What is said of words: ('normal', False) of both words in 'abnormal strength and sensation'."""
    judged: dict[int, tuple[str, bool]] = {}
    for place, low in enumerate(lows):
        if low not in _JUDGEMENTS or denied[place] is None or (low in ("negative", "positive") and _for(lows, place)):
            continue
        kind, good = _JUDGEMENTS[low]
        turned = bool(denied[place]) and low != "negative"
        if turned and kind == "high" and not good:
            continue  # what is not low may be normal or high
        said = ("unraised", True) if turned and kind == "high" else (kind, good != turned)
        before, after = lows[place - 1] if place else "", lows[place + 1] if place + 1 < len(lows) else ""
        behind = place and (before in _LINKS or before in (":", "both") or not after or after in _AFTER_JUDGEMENT)
        start = place
        if before == "not" and lows[place - 2 : place - 1] and lows[place - 2] in _LINKS:  # 'was not raised'
            behind, start = True, place - 1
        places = [at for at, sure in _subject(lows, start) if sure] if behind else _judged_ahead(lows, place)
        if kind == "high" and not behind:
            continue  # 'lower quadrant', 'high-pitched'
        for at in places:
            judged.setdefault(at, said)
    return judged


def _for(lows: Sequence[str], place: int) -> bool:
    return lows[place + 1 : place + 2] == ["for"]


def _judged_ahead(lows: Sequence[str], place: int) -> Iterator[int]:
    tested = False  # 'negative tests for HIV, syphilis'
    for at in range(place + 1, len(lows)):
        low = lows[at]
        if low == "for":
            tested = True
            continue
        if low == "," and tested and not _says_itself(_item(lows, at)):
            continue
        if low in (",", ":") or low in _ENDS or low in _LINKS or low in _ALONG or low in _JUDGEMENTS or _kind(lows, at):
            return
        if low in ("and", "or") and _says_itself(_item(lows, at)):
            return
        yield at


# --- roundabout denials ----------------------------------------------------------------------------------------------

_RELATIVES = (
    r"(?:famil\w+(?: members?)?|relatives?|siblings?|parents|children|kin|relations?|household|sisters?|brothers?|sons?"
    r"|daughters?)"
)
_KIN = r"(?:relatives?|family members?|sibling|siblings|parent|one|member of (?:his|her|the) family)"
_REWRITTEN = (
    # the denial stands before what it judges, or behind the finding
    (
        r"\b(?:no|neither) ([\w' /-]{3,60}?) n?or ([\w' /-]{3,60}?) (?:was|were)"
        r" (positive|negative|normal|elevate|lower)\b",
        r" \1 and \2 were not \3",
    ),
    (rf"(?:^|(?<=[;.,] ))([\w' -]{{3,60}}?) (?:in|among) no {_KIN}\b", r" family : no \1"),
    (rf"(?:^|(?<=[;.,] ))([\w' -]{{3,60}}?) in none of (?:his|her|the) {_KIN}\b", r" family : no \1"),
    # nobody of the family had: the denial is of what they had
    (
        rf"\b(?:no ?(?:one|body)|none|no (?:other )?{_RELATIVES})\b(?: (?:else|other|of|in|among|from|at home|around))?"
        rf"(?: (?:his|her|their|the|the patient's|close|other|first-degree))*(?: {_RELATIVES})?,?"
        r"(?: (?:had|has|have|was|were|is|are|ever|been|suffered|suffers|from|with|a|any|similar|known|affected|by"
        r"|experienced|history|of|diagnosed|developed))+\b",
        " family : no ",
    ),
    (r"\b(?:was|were|is|are)(?: all| both| also| \w+ly)* denied\b", " denied "),
    (r"\b(?:denied|denies|absent|negatives?|no)\s*:(?=\s*\w)|\babsent (?:was|were|are|is)\b", " denied "),
    (r"\bno~smoking (?:or|and|nor) (?:drink|use|consume|drank)\w*\b", " no~smoking, no "),
    (r"\bwithout (?:\w+ )?evidence of (?:acute |active |recent |current )?infection\b", " : negative "),
    (r"\bneither\b", " no "),
    (r"\bnon-(?=[a-z]{4,})", " no~"),
    (r"\bexclusion of\b|\bno~positive for\b", " without "),
    (r"(\w+)-(negative|positive)\b", r" \1 : \2 , "),
    (
        r",? \bnor (?:did|was|were|had|has|have|is|are|any)\b(?: (?:he|she|there|they|it|the patient|have|report"
        r"|any))*",
        ", no ",
    ),
    (r"\bnor\b", " or "),
    (
        r"\b(?:did|does|do|has|had|have|could)(?: not|n't|n't ever| never)(?: ever)?"
        r"(?: (?:have|had|report|reported|show|shown|reveal|demonstrate|disclose|identify|detect|find|mention|describe"
        r"|complain of|complained of|experience|experienced|notice|noticed|suffer from|suffered from|develop|developed"
        r"|take|taken(?! place)|use|used|recall|yield|contain|include|exhibit|display|present with|suggest|admit to))\b"
        r"(?: any\b)?",
        " no ",
    ),
    (r"\bfailed to (?:show|reveal|demonstrate|disclose|identify|detect|find)\b", " no "),
    (r"\bclear of\b|\b(?:abstain\w*|abstinent) from\b", " without "),
    (r"\b(?:lacking|wanting|missing|without)(?=\s*(?:[.;]|$))", " absent"),
    (r"\b(?:looked|sought|searched) (?:for )?in vain\b", " absent "),
    (r"\bat present\b", " currently "),
)
_REWRITES = tuple((re.compile(f"(?i){pattern}"), new) for pattern, new in _REWRITTEN)
_AS_WELL = re.compile(r"(?i),? (?:and )?as (?:was|were|is|are|did|had)\b(?: (?:any|the|use|of|his|her))*")


def plain_denials(text: str) -> str:
    """`text` with roundabout denials put as 'no': 'none of his relatives had gout' gives 'family : no gout'.

    ::

        >>> " ".join(plain_denials("Fever was denied, as was cough").split())
        'Fever denied, no cough'
    """
    for pattern, new in _REWRITES:
        text = pattern.sub(new, text)
    if hit := _AS_WELL.search(text):
        before = text[: hit.start()].lower()
        new = ", no " if re.search(r"\b(?:denied|absent|negative|no|not|without|ruled~out)\b", before) else ""
        new = new or (", normal " if re.search(r"(?<!no~)\bnormal\b", before) else "")
        text = _AS_WELL.sub(new, text, count=1) if new else text
    return text
