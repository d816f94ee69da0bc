"""What a stated answer asserts: without what it denies, with what it leaves undecided kept apart."""

import re
from dataclasses import dataclass

from wardround.scenarios.terms.wording import plain

MOST = 20_000
"""Characters of an answer that are compared: a model that repeats itself for a megabyte said it before."""

_HEADED = re.compile(
    r"(?:^|\n)\s*(?:\d+[.)]\s*)?(?:the\s+)?(?:most likely|final|primary|main|principal|definitive|working|leading)?\s*"
    r"diagnos[ei]s(?: is)?\s*:",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[a-z0-9)\]]{2})[.!?]\s+(?=[A-Z0-9*#-])|[;\n]+")
_BULLET = re.compile(r"^\s*(?:[-*•+–]+|\(?\d{1,2}[.)])\s*")
_CLAUSE = re.compile(r"[,;()\[\]]|\bbut\b|\bhowever\b|\balthough\b|\bwhile\b|\bwhereas\b|\bdespite\b|\s[-–—]\s", re.I)
_DENIED = re.compile(
    r"\b(?:rul(?:ed?|es|ing)[\s-]*out|r/o|exclud(?:e|ed|es|ing)|unlikely|less likely|least likely|not supported"
    r"|considered but|no longer)\b|\b(?:is|are|was|were|be|been) not\b|\b(?:isn|wasn|aren|don|doesn|didn)'t\b",
    re.IGNORECASE,
)
_NOT = re.compile(
    r"\b(?:not (?!only|otherwise|elsewhere|specified)|no (?!other|further|doubt)|without|rather than|instead of"
    r"|as opposed to|absence of|negative for|neither|never|nor|more likely than|(?:favou?red|preferred) over"
    r"|mimic(?:king|s|ked)?|(?:past |prior |previous |known |remote |family )?history of|status[- ]post|s/p|previous"
    r"|prior)\b",
    re.IGNORECASE,
)
_DIFFERENTIAL = re.compile(
    r"\b(?:differentials?(?: diagnos[ei]s)?|ddx|alternative diagnos[ei]s|other (?:possibilities|considerations"
    r"|diagnoses))\b(?:\s+(?:includes?|are|is|considerations?|remains?|with))*\s*[:\-]?",
    re.IGNORECASE,
)
_SETTLED = re.compile(
    r"\b(?:final|most likely|main|primary|definitive|leading|working)\b.*?\b(?:diagnos[ei]s)?\b", re.I
)
_JOINER = re.compile(
    r"\b(?:with|due to|secondary to|caused by|causing|resulting|leading to|associated|complicated by|because|following"
    r"|in the (?:context|setting)|involving|affecting|from|presenting)\b",
    re.IGNORECASE,
)
_VERSUS = re.compile(r"\b(?:versus|vs)\b", re.IGNORECASE)
_OPEN = re.compile(r"\b(?:versus|vs\.?|or)\b|\s/\s", re.IGNORECASE)
_ALTERNATIVES = re.compile(r"\s*(?:\bversus\b|\bvs\b\.?|\bor\b|,|\beither\b|/)\s*", re.IGNORECASE)
_LEAD = re.compile(
    r"^.*?\b(?:consistent with|suggestive of|compatible with|indicative of|diagnosis (?:is|of|would be|remains)"
    r"|(?:diagnosed|presents) with|suffers? from|(?:between))\b[:\s]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Statement:
    """`asserted` segments; `undecided` groups of alternatives; `denied` parts."""

    asserted: tuple[str, ...]
    undecided: tuple[tuple[str, ...], ...]
    denied: tuple[str, ...]


def denies(text: str) -> bool:
    """Whether a text holds words of denial, as the name 'absence of the corpus callosum' does."""
    return bool(_DENIED.search(text) or _NOT.search(text))


def statement(answer: str, *, denials: bool = True) -> Statement:
    """Read an answer: a heading `Diagnosis:` first, then each sentence by what it denies and leaves open.

    `denials` false: words of denial are part of the name looked for, and deny nothing.
    """
    text = re.sub(r"[^\S\n]+", " ", answer[:MOST].replace("**", "").replace("__", ""))
    heads = list(_HEADED.finditer(text))
    if heads:
        text = text[heads[-1].end() :]
    asserted: list[str] = []
    undecided: list[tuple[str, ...]] = []
    denied: list[str] = []
    listing = False
    for line in _SENTENCE.split(text):
        segment = _BULLET.sub("", line).strip(" .")
        if not segment:
            continue
        kept, gone = _undenied(segment) if denials else (segment, [])
        denied += gone
        before, differential, after = _cut(kept)
        if listing and _SETTLED.search(before):
            listing = False
        listing = listing or differential
        if listing and not differential:
            undecided.append((before,))
            continue
        if before:
            _sort(before, asserted, undecided)
        if after:
            undecided.append(_parts(after))
    return Statement(tuple(asserted), tuple(undecided), tuple(denied))


def _sort(segment: str, asserted: list[str], undecided: list[tuple[str, ...]]) -> None:
    """A segment with 'or' or 'versus' among its main words leaves its answer open."""
    calm = re.sub(r"\bwith or without\b|\band/or\b|\bw/wo\b", "with", segment, flags=re.IGNORECASE)
    said = _LEAD.sub("", calm) or calm
    joiner = _JOINER.search(said)
    head = said[: joiner.start()] if joiner else said
    tail = said[joiner.start() :] if joiner else ""
    if (_OPEN.search(head) and plain(head)) or _VERSUS.search(tail):
        undecided.append(_parts(said))
    else:
        asserted.append(segment)


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip(" .()") for part in _ALTERNATIVES.split(text) if plain(part.strip(" .()")))


def _cut(segment: str) -> tuple[str, bool, str]:
    """(what stands before a differential, whether there is one, what it lists)."""
    found = _DIFFERENTIAL.search(segment)
    if found is None:
        return segment, False, ""
    return segment[: found.start()].strip(" ,;:-("), True, segment[found.end() :].strip(" ,;:-)")


def _undenied(segment: str) -> tuple[str, list[str]]:
    """`segment` without its denied clauses, and those clauses."""
    kept, gone, start = "", [], 0
    bounds = [*_CLAUSE.finditer(segment), None]
    for bound in bounds:
        end = bound.start() if bound else len(segment)
        clause = segment[start:end]
        if _DENIED.search(clause):
            gone.append(clause.strip())
            clause = " "
        elif found := _NOT.search(clause):
            gone.append(clause[found.start() :].strip())
            clause = clause[: found.start()]
        kept += clause + (bound[0] if bound else "")
        start = bound.end() if bound else end
    return kept.strip(), gone
