"""Whether what a case says stands in its article: sentence by sentence, loosely, and number by number, strictly."""

import re
from dataclasses import dataclass

from rapidfuzz import fuzz

from wardround.scenarios.reports.profile import MISSING
from wardround.scenarios.reports.prose import folded, sentences

_LABEL = re.compile(r"^[^:]{1,60}:\s+")
_FEWEST = 4
"""Words of the shortest sentence that is looked for; shorter ones ('Hypertension.') are found in any article."""
_EMPTY = re.compile(
    r"(?i)^(?:none|no|not|nil|unremarkable|n/?a)\b(?:\W+(?:\w+\W*){0,4})?$|.*\bnot (?:reported|specified|mentioned"
    r"|provided|documented|described|detailed|stated|available)\b.*"
)
_NUMBER = re.compile(r"\d+(?:[.,\u00b7]\d+)*")
_WORDS = """one 1 two 2 three 3 four 4 five 5 six 6 seven 7 eight 8 nine 9 ten 10 eleven 11 twelve 12 thirteen 13
fourteen 14 fifteen 15 sixteen 16 seventeen 17 eighteen 18 nineteen 19 twenty 20 thirty 30 forty 40 fifty 50 sixty 60
seventy 70 eighty 80 ninety 90 first 1 second 2 third 3 fourth 4 fifth 5 once 1 twice 2 single 1"""
_SPELLED = dict(zip(_WORDS.split()[::2], _WORDS.split()[1::2], strict=True))
_COUNTED = re.compile(r"(?im)^\s*\d{1,2}[.)]\s+|\b(?:test|case|patient|step|item|number|no\.) \d{1,2}(?=\s*:)")
"""Numbers that only count: those of a list, and those of labels such as 'Test 2:'."""

_POWER = re.compile(r"[x*\u00d7]\s*10(?:\s*\^\s*[-\u2212]?\d+|[\u2070\u00b9\u00b2\u00b3\u2074-\u2079\u207b]+|\d\b)")
"""A power of ten: sources that lost their superscripts have 109 for 10^9."""


@dataclass(frozen=True, slots=True)
class Found:
    """A sentence with its score (0 to 100) and the passage of the article that is most like it."""

    sentence: str
    score: float
    passage: str


def found(text: str, source: str) -> tuple[Found, ...]:
    """How well each sentence of `text` can be found in `source`, without labels and sentences that nothing is reported.

    The score is the better of two: the likeness of the whole sentence to the best passage (rapidfuzz's partial ratio),
    and the share of its longer words that the article has. Models shorten and join sentences: a strict quotation would
    refuse most of what is right (docs/records.md has the calibration).
    """
    whole = folded(source)
    words = frozenset(whole.split())
    told = []
    for sentence in sentences(text):
        said = _LABEL.sub("", sentence)
        form = folded(said)
        if said == MISSING or len(form.split()) < _FEWEST or _EMPTY.fullmatch(said):
            continue
        alignment = fuzz.partial_ratio_alignment(form, whole)
        score, passage = (alignment.score, whole[alignment.dest_start : alignment.dest_end]) if alignment else (0.0, "")
        told.append(Found(sentence, max(score, _shared(form, words)), passage))
    return tuple(told)


def _shared(form: str, words: frozenset[str]) -> float:
    own = [word.strip(".%") for word in form.split() if len(word) > 3 and not word[0].isdigit()]
    return 100 * sum(word in words or f"{word}." in words for word in own) / len(own) if own else 0.0


def invented(text: str, source: str) -> tuple[str, ...]:
    """Numbers of `text` that `source` has nowhere, neither in figures nor in words."""
    known = _numbers(source) | {_SPELLED[word] for word in folded(source).replace(".", " ").split() if word in _SPELLED}
    own = _POWER.sub("", _COUNTED.sub("", text))
    return tuple(dict.fromkeys(said for said in _NUMBER.findall(own) if not _forms(said) & known))


def _numbers(text: str) -> set[str]:
    return {form for said in _NUMBER.findall(text) for form in _forms(said)}


def _forms(said: str) -> set[str]:
    """'1,000' is 1000; '4,5' may be 4.5; '7.0' is 7."""
    said = said.replace("\u00b7", ".")
    forms = {said, said.replace(",", ""), said.replace(",", ".")}
    return {form.rstrip("0").rstrip(".") if "." in form else form.lstrip("0") or "0" for form in forms}
