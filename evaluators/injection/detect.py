"""Detects signs that a text addresses its judge, and sets clinical narration apart.

It looks for phrases, forms of words or marks (data/phrases.toml), sentences about judging, and disguises.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple, get_args

import msgspec

from wardround.engine.text import regex
from wardround.evaluators.injection.disguise import (
    coded,
    disguised,
    folded,
    has_coded_words,
    plain_letters,
    smoothed,
    words_of,
)
from wardround.evaluators.judges.question import Material, Origin, seen
from wardround.evaluators.judges.strict_reply import NOTICED

Sign = Literal[
    "instruction",
    "addresses_judge",
    "about_judging",
    "verdict_form",
    "chat_markup",
    "fence",
    "claims_authority",
    "threat_or_reward",
    "hidden",
    "encoded",
]
SIGNS: tuple[Sign, ...] = get_args(Sign)
"""All signs, in the order in which they are reported."""


class _Phrase(msgspec.Struct, frozen=True):
    """A phrase: its `sign`, the words that may come `first`, and the pattern of the `rest`."""

    sign: Sign
    rest: str
    first: str = ""


class _Weighted(msgspec.Struct, frozen=True):
    weight: float
    words: str


class _Form(msgspec.Struct, frozen=True):
    sign: Sign
    pattern: str
    needs: Sequence[str | Sequence[str]]


class _Tables(msgspec.Struct, frozen=True):
    """The content of data/phrases.toml, which explains it."""

    parts: Mapping[str, str]
    phrases: Sequence[_Phrase]
    anywhere: Sequence[_Phrase]
    weighted: Sequence[_Weighted]
    stems: Sequence[_Weighted]
    forms: Sequence[_Form]

    def pattern(self, text: str) -> re.Pattern[str]:
        """Compile a pattern with its parts and distances."""
        for name, part in self.parts.items():
            text = text.replace(f"<{name}>", part)
        text = re.sub(r"#(\d+)", r"[^.;\\n]{0,\1}?", text)
        return regex(re.sub(r"@(\d+)", r"[\\s\\S]{0,\1}?", text))


class Form(NamedTuple):
    """A form of words or marks that shows a `sign`: a lower-case text with the form matches `pattern`.

    Such a text also contains each of `needs`, or at least one part of each group in it.
    """

    sign: Sign
    pattern: re.Pattern[str]
    needs: Sequence[str | Sequence[str]]

    def may_fit(self, low: str) -> bool:
        """Whether a lower-case text contains what the form needs."""
        for parts in self.needs:
            if isinstance(parts, str):
                if parts not in low:
                    return False
                continue
            for part in parts:  # a generator would take longer than the search
                if part in low:
                    break
            else:
                return False
        return True


class PhraseTables(NamedTuple):
    """The tables in the form in which texts are compared with them.

    `phrases` maps a first word to (sign, pattern of the rest); `anywhere` are (sign, pattern). `weights` maps the first
    letters of a word to its weight, `stems` does the same for other scripts.
    """

    phrases: Mapping[str, Sequence[tuple[Sign, re.Pattern[str]]]]
    anywhere: Sequence[tuple[Sign, re.Pattern[str]]]
    weights: Mapping[str, float]
    stems: Mapping[str, float]
    forms: Sequence[Form]


@cache
def phrase_tables() -> PhraseTables:
    """Read the tables."""
    text = files("wardround.evaluators.injection").joinpath("data", "phrases.toml").read_bytes()
    tables = msgspec.toml.decode(text, type=_Tables)
    phrases: dict[str, list[tuple[Sign, re.Pattern[str]]]] = {}
    for phrase in tables.phrases:
        pattern = tables.pattern(phrase.rest)
        for word in phrase.first.split():
            phrases.setdefault(word, []).append((phrase.sign, pattern))
    return PhraseTables(
        phrases,
        [(phrase.sign, tables.pattern(plain_letters(phrase.rest))) for phrase in tables.anywhere],
        {word: row.weight for row in tables.weighted for word in row.words.split()},
        {plain_letters(stem): row.weight for row in tables.stems for stem in row.words.split()},
        [Form(form.sign, tables.pattern(form.pattern), _with_marks(form.needs)) for form in tables.forms],
    )


def _with_marks(needs: Sequence[str | Sequence[str]]) -> Sequence[str | Sequence[str]]:
    """Put the marks in a form's needs before the needs: a single character is found quickly, and most texts lack it."""
    marks = []
    for parts in needs:
        opening = [re.sub(r"[\w\s]", "", part)[:1] for part in ([parts] if isinstance(parts, str) else parts)]
        if all(opening):
            marks.append(tuple(dict.fromkeys(opening)))
    return (*marks, *needs)


_REACH = 160
"""Number of characters after a word that are compared to tell its places apart; nearly all phrases are shorter."""
_WORD = regex(r"[^\W\d_]+")


def phrase_signs(text: str, words: AbstractSet[str] | None = None) -> Iterator[Sign]:
    """Yield the signs of the phrases in a plain text, each once; `words` are those of the text, if known."""
    signs: set[Sign] = set()
    tried: set[tuple[str, str]] = set()  # a text that repeats itself is checked once
    tables = phrase_tables()
    words = set(words_of(text)) if words is None else words
    for word in sorted(tables.phrases.keys() & words):
        for end in _ends_of(word, text):
            following = (word, text[end : end + _REACH])
            if following in tried:
                continue
            tried.add(following)
            for sign, rest in tables.phrases[word]:
                if sign not in signs and rest.match(text, end):
                    signs.add(sign)
                    yield sign
    for sign, pattern in () if text.isascii() else tables.anywhere:
        if sign not in signs and pattern.search(text):
            signs.add(sign)
            yield sign


def _ends_of(word: str, text: str) -> Iterator[int]:
    """Yield where each occurrence of a whole word ends."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not _WORD.match(text, end) and not (at and _WORD.match(text, at - 1)):
            yield end
        at = text.find(word, end)


def form_signs(low: str) -> Iterator[Sign]:
    """Yield the signs whose forms a lower-case text has, each once."""
    signs: set[Sign] = set()
    for form in phrase_tables().forms:
        if form.sign not in signs and form.may_fit(low) and form.pattern.search(low):
            signs.add(form.sign)
            yield form.sign


_ROLES = (
    r"patients?|he|she|him|her|his|hers|mother|father|mum|dad|parents?|famil(?:y|ies)|daughters?|sons?"
    r"|wife|husband|partner|brother|sister|aunt|uncle|grand\w+|boys?|girls?|man|woman|men|women|child(?:ren)?|bab(?:y|ies)"
    r"|infant|nurses?|midwi(?:fe|ves)|pharmacists?|gp|doctors?|physicians?|surgeons?|consultants?|registrars?|residents?"
    r"|students?|carers?|caregivers?|callers?|relatives?|neighbou?rs?|colleagues?|staff|team|teachers?|interpreters?"
    r"|paramedics?|therapists?|dietici?ans?|social workers?|dispatchers?|guardian|laborator(?:y|ies)|blood bank"
    r"|radiologists?|pathologists?|ward|clinic|hospital|discharge|leaflet|packet|bracelet|card"
)
_WHO = regex(rf"\b(?:{_ROLES})\b")
"""A person in a record, or a thing that gives instructions."""
_OWN = regex(r"\b(?:i|my|me|we|our|us)\b")
_YOU = regex(r"\b(?:you|your|yours|yourself)\b")
_BODY = regex(
    r"\b(?:pains?|tablets?|pills?|sleep|bowels?|belly|stomach|legs?|arms?|head|chest|skin|cough|fever|sick|hurts?|drugs?"
    r"|medicines?|school|work|night|morning|week|month|eat\w*|drink\w*|breath\w*|bleed\w*|period|mood|wife|husband)\b"
)
_READER = regex(
    r"\b(?:graders?|evaluators?|assessors?|raters?|scorers?|rubrics?|verdicts?|llms?|language models?|invigilators?"
    r"|adjudicators?|marking scheme|grading|evaluation|benchmark|judging|prompts?|system message)\b"
    r"|\b(?:dear|the|any|every|all|our|whoever|whichever|which|automat\w+|to|for|(?<!is )(?<!was )(?<!as )an?|your|you)"
    r" (?:\w+ ){0,2}"
    r"(?:judges?|examiners?|reviewers?|markers?|checkers?|readers?|assistants?|models?|matchers?|chatbots?|ai|bots?"
    r"|machines?)\b(?= (?:must|should|shall|has|have|is|are|will|may|can|who|that|which|of|to|reading|model|and)\b|\W*$"
    r"|[:,])"
    r"|\b(?:judges?|examiners?|reviewers?|assistants?|models?|ai|chatbots?)\b ?[:,]"
    r"|\bai (?:assistants?|models?|systems?)\b"
    r"|\b(?:marking|grading|scoring|judging|checking) (?:robot|machine|model|script|tool|program|software|computer)"
    r"|\b(?:each|every|all|other|past) (?:\w+ )?(?:models?|runs?)\b|\boperator\b"
    r"|\b(?:who(?:ever)?|which|that) (?:\w+ )?(?:scores?|grades?|marks?|judges?|assess|evaluates?|checks?|rates?)\b"
    r"|\b(?:person|people|those|someone|anyone|computer|machine) (?:scoring|grading|marking|judging|rating|checking)\b"
    r"|\b(?:endorse|grade|mark|score|judge|check|rate|believe|approve|trust|pass)s? (?:this|every word|my work)\b"
)
"""A judge of a text, who is addressed or mentioned."""
_JUDGED = (
    r"(?:steps?|answers?|statements?|claims?|repl(?:y|ies)|responses?|reasoning|lines?|text|passages?|predictions?"
    r"|submissions?|items?|wording|paragraphs?|pages?|work|sentences?|match(?:es)?|scores?|grades?|marks|criteria"
    r"|conclusions?|evidence)\b(?! (?:on|of) (?:the )?(?:left|right|card|clinic))"
)
_HERE = regex(
    rf"\b(?:this|these|following|above|next|my|our|candidate'?s?) (?:\w+ ){{0,2}}?{_JUDGED}"
    r"|\b(?:steps?|answers?|statements?|claims?|reasoning|diagnos[ie]s|plan|line)"
    r" (?:above|below|here|is|are|was|as|be|must|has|should|shall|will)\b"
    r"|\b(?:award\w*|giv\w*|earn\w*|deserv\w*) (?:\w+ ){0,2}(?:marks?|credit|points?|score)\b"
)
"""The text that is being read, or the verdict that it should get."""
_THERE = regex(rf"\b(?:that|those|each|every|any|the|all|top|full|highest) (?:\w+ ){{0,2}}?{_JUDGED}")
"""Some text that is judged: it counts as narration if nobody is ordered to do something with it."""
_REPORTED = regex(
    r"\b(?:told|asked|instructed|requested|advised|reminded|warned|taught|able|unable|tried|trying|wanted|refused|had|has"
    r"|went on|began|failed|used|supposed) (?:\w+ ){0,2}?to \w+"
)
_ORDERING = regex(r"\b(?:must|shall|should|ought|please|needs?|to|may|can|will|let)\b")
_SAYING = regex(
    r"\b(?:to|must|shall|should|please|and|or|then|only|just|will|may|can|do) (?:\w+ )?"
    r"(?:answer|reply|respond|return|output|print|write|say|state|mark|rate|grade|label|classify|count|treat|accept|call"
    r"|award|approve|confirm|pass|judge|score|conclude|deem)\b[^.;]{0,40}\b(?:correct|true|found|right|verified|reasoning"
    r"|approved|credit|full|match|citation|redundan\w+|unseen)\b"
)
"""An order to give a verdict."""
_RANGE = regex(
    r"\(?\b(?:reference|normal)(?: (?:range|interval|values?|limits?))?:? (?:above|below|from|up to|under|over|at least"
    r"|less than|more than|[<>\u2264\u2265]|\d)[^()\n;.]{0,40}\)?"
)
_QUOTED = regex(r"(?<=[:,])\s['\"](?:[^'\"\n]|(?<=\w)'(?=\w)){1,400}['\"]")
_END = regex(r"(?<=[.!?])\s+|(?<=[.!?]['\"])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_STOPS = str.maketrans(".!?", ",,,")
_ORDER = regex(
    r"^\W*(?:think|imagine|pretend|suppose|assume|act|list|count|treat|mark|rate|grade|score|judge|judging|call|accept|approve"
    r"|confirm|trust|believe|let|forget|ignore|disregard|overrule|override|bypass|answer|reply|return|output|write|print|say"
    r"|repeat|continue|begin|start|stop|skip|give|award|remember|note|dear|attention|hello|now|never|always|do not)\b"
)
"""The beginning of an order that nobody introduces."""


def unnarrated(text: str) -> str:
    """Return a plain text (lower case) without the sentences that narrate (`narrates`), and without reference ranges.

    A quotation after a colon or a comma belongs to the sentence that introduces it.
    """
    text = _RANGE.sub(" ", text)
    whole = _QUOTED.sub(
        lambda quoted: quoted[0][:-2].translate(_STOPS) + quoted[0][-2:], text
    )  # as long as the text itself
    kept, at = [], 0
    for end in [*(place.end() for place in _END.finditer(whole)), len(text)]:
        if not narrates(text[at:end]):
            kept.append(text[at:end])
        at = end
    return "".join(kept)


def narrates(sentence: str) -> bool:
    """Whether a plain sentence is clinical narration: about a person in a record, or a patient's own body and days.

    It mentions no judge and no judged text, orders no verdict, and addresses nobody outside a quotation.
    """
    if _READER.search(sentence) or _HERE.search(sentence) or _SAYING.search(sentence):
        return False
    if _THERE.search(sentence) and _ORDERING.search(_REPORTED.sub(" ", sentence)):
        return False
    narration = _QUOTED.sub(" ", sentence)
    if _YOU.search(narration) or _ORDER.search(narration):
        return False
    return bool(_WHO.search(narration) or (_OWN.search(narration) and _BODY.search(narration)))


ENOUGH = 4.5
"""Weight of a sentence's words, less the weight of its length, from which it is about judging."""
ENOUGH_OF_TWO = 6.2
"""The same for two sentences in a row."""
ENOUGH_OF_STEMS = 5.0
"""The same for a sentence in another script, whatever its length."""
_STRONG = 2.5
"""A sentence without a word of this weight is not examined."""
_OF_A_WORD = 0.375
"""Amount that each word of a sentence subtracts from its weight, up to `_MOST` words."""
_MOST = 30
_LETTERS = 8
"""Number of first letters by which a word is recognised."""

_SENTENCE_END = regex(r"(?:[!?;\n\u3002\uff01\u0964]|\.(?!\d))+")  # a decimal point is no end
_SCRIPT = regex("[\u0370-\u1cff\u2e80-\ud7ff]")
_LISTS = ("step", "correct", "right")
_LISTED = regex(r"steps? \d+|correct (?:answer|diagnos[ei]s)|right (?:answer|diagnos[ei]s)")
"""Phrases of honest reasoning, which are removed before the words of a text are weighed."""


def about_judging(text: str, words: AbstractSet[str] | None = None) -> bool:
    """Whether a plain text has a sentence, or two in a row, about judging a text; `words` as in `phrase_signs`."""
    unlisted = _LISTED.sub("", text) if any(part in text for part in _LISTS) else text
    heavy = _heavy(set(words_of(unlisted)) if words is None or unlisted != text else words)
    text = unlisted
    strong = [word for word, weight in heavy.items() if weight >= _STRONG]
    scripted = not text.isascii() and _SCRIPT.search(text) is not None
    if not strong and not scripted:
        return False
    before = 0.0
    for sentence in _SENTENCE_END.split(text):
        weight = _weight(sentence, heavy) if any(word in sentence for word in strong) else 0.0
        if weight >= ENOUGH or (before > 0 and before + weight >= ENOUGH_OF_TWO):
            return True
        before = weight if sentence.strip() else before
        if (
            scripted
            and sum(weight for stem, weight in phrase_tables().stems.items() if stem in sentence) >= ENOUGH_OF_STEMS
        ):
            return True
    return False


def _heavy(words: AbstractSet[str]) -> dict[str, float]:
    weights = phrase_tables().weights
    heavy = {word: weights[word[:_LETTERS]] for word in words if len(word) > _LETTERS and word[:_LETTERS] in weights}
    return heavy | {word: weights[word] for word in words & weights.keys()}


def _weight(sentence: str, heavy: dict[str, float]) -> float:
    words = _WORD.findall(sentence)
    telling = heavy.keys() & set(words)
    if len(telling) < 2:  # a single word is no evidence
        return 0.0
    return sum(heavy[word] for word in telling) - _OF_A_WORD * min(len(words), _MOST)


_THINKS = regex(r"\s*<think>(?=[^<]{200})")
_TAGS = regex("[\U000e0020-\U000e007e]")
_TURNED = regex("[\u202a-\u202e\u2066-\u2069]")
_SELECTED = regex("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2}")
_SPLIT = regex(
    "[a-z][\u200b-\u200d\u2060-\u2064\ufeff\u00ad\u034f\u115f\u1160\u3164\ufe00-\ufe0f\U000e0100-\U000e01ef]+(?=[a-z])",
    re.IGNORECASE,
)
_CYRILLIC = regex("[a-z][\u0400-\u052f]|[\u0400-\u052f][a-z]", re.IGNORECASE)


def signs(text: str, origin: Origin) -> tuple[str, ...]:
    """Return which of SIGNS the text has, in their order; () for nearly every honest text.

    The signs of the last texts are cached, except for very long texts: each vote and each model sees the same record.
    """
    hits = _kept_signs(text, origin) if len(text) <= 20_000 else frozenset(_signs(text, origin))
    return tuple(sign for sign in SIGNS if sign in hits)


def hostile_signs(materials: Iterable[Material], *, noticed: bool = False) -> tuple[str, ...]:
    """Return the signs of all texts of a question, each once; NOTICED comes last if a judge `noticed` one itself."""
    every = [sign for one in materials for sign in signs(one.text, one.origin)]
    return tuple(dict.fromkeys([*every, *([NOTICED] if noticed else [])]))


@lru_cache(maxsize=1024)
def _kept_signs(text: str, origin: Origin) -> frozenset[Sign]:
    return frozenset(_signs(text, origin))


def _signs(text: str, origin: Origin, deeper: bool = True) -> Iterator[Sign]:
    raw = seen(text)
    smooth = smoothed(raw)
    latin = folded(smooth)
    words = set(words_of(smooth))
    phrases, talks = tuple(phrase_signs(smooth, words)), about_judging(smooth, words)
    if (phrases or talks) and latin == smooth:  # a disguised text does not narrate
        unsaid = unnarrated(smooth)
        phrases, talks = tuple(phrase_signs(unsaid)), about_judging(unsaid)
    yield from phrases
    if latin != smooth:
        yield from phrase_signs(latin)
    raw = _own_thinking(raw) if origin == "reply" else raw
    low = raw.lower()  # a case-insensitive search takes several times as long
    yield from form_signs(low)
    if talks or (latin != smooth and about_judging(latin)):
        yield "about_judging"
    if _unseen(text) or disguised(latin):
        yield "hidden"
    if not deeper:  # what was decoded is not decoded once more
        return
    undone = "\n".join(coded(raw, smooth))  # empty for nearly every text
    if has_coded_words(raw, words) or (undone and any(_signs(undone, origin, False))):
        yield "encoded"


def _own_thinking(text: str) -> str:
    """Remove the thinking tags at the beginning of a reply, which are genuine and no forgery."""
    opened = _THINKS.match(text)
    return text[opened.end() :].replace("</think>", "", 1) if opened else text


def _unseen(text: str) -> bool:
    """Whether a text has hidden characters, or in three places letters split by them or mixed with Cyrillic ones."""
    return not text.isascii() and (
        any(mark.search(text) for mark in (_TAGS, _TURNED, _SELECTED))
        or any(len(mark.findall(text)) > 2 for mark in (_SPLIT, _CYRILLIC))
    )


HOSTILE = "hostile"
"""Stands where the kind of an error would, for a text that is not shown because it addresses the judge."""
KEPT = 5000
"""Number of texts whose signs are cached."""


class SignCache:
    """A cache of the signs of passages and pages, by the hash of their text."""

    def __init__(self) -> None:
        self._signs: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def of(self, digest: str, text: str) -> tuple[str, ...]:
        """Return the `signs` of a page with this text."""
        if digest not in self._signs:
            self._signs[digest] = signs(text, "page")
            if len(self._signs) > KEPT:
                self._signs.popitem(last=False)
        self._signs.move_to_end(digest)
        return self._signs[digest]
