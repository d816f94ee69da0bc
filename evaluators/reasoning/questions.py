"""What the Reasoning Evaluator asks (paper 002, prompts 14 to 18), and the strict reading of replies."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.judges.question import Material, Question, reply, shape
from wardround.evaluators.judges.strict_reply import (
    LONGEST,
    Payload,
    Unread,
    Why,
    claimed,
    field,
    mentioned,
    payload,
    single,
    unread,
    word,
)
from wardround.evaluators.reasoning.judged_reply import StepClass, Verdict

CASE, GOAL, EARLIER, STEP = "The case", "The goal", "Earlier steps", "The step"
REFERENCE, REFERENCE_STEP, PREDICTION = "The reference", "The reference step", "The text"
PAGE, REPLY = "The page", "The reply"
SEARCHED = "Looked up so far"
NOTHING = "(none)"

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_QUOTES = {"type": "array", "items": shape(passage={"type": "integer"}, quote=_TEXT)}


def passage(number: int) -> str:
    """The label of the passage with this number (1 is the first)."""
    return f"Passage {number}"


def step_class(case: str, goal: str, earlier: Sequence[str], step: str) -> Question:
    """What a step does (prompt 15)."""
    before = "\n".join(f"{place}. {one}" for place, one in enumerate(earlier, 1)) or NOTHING
    materials = (
        Material(CASE, case, "case"),
        Material(EARLIER, before, "reply"),
        Material(STEP, step, "reply"),
    )
    kinds = ["citation", "repetition", "reasoning", "redundancy"]
    return Question("step_class", materials, {"goal": goal}, reply(classification={"type": "string", "enum": kinds}))


def step_role(case: str, goal: str, earlier: Sequence[tuple[int, str]], step: str, turn: int) -> Question:
    """What a step of this turn does: as prompt 15, by what was known at that turn, all (turn, step) before it at hand.

    `case` is what its author had been told by then, and nothing that was told later.
    """
    lines: list[str] = []
    last = 0
    for place, (of, one) in enumerate(earlier, 1):
        if of != last:
            lines.append(f"Turn {of}:")
            last = of
        lines.append(f"{place}. {one}")
    materials = (
        Material(CASE, case, "case"),
        Material(EARLIER, "\n".join(lines) or NOTHING, "reply"),
        Material(STEP, step, "reply"),
    )
    kinds = ["citation", "repetition", "reasoning", "redundancy", "unseen"]
    fields = reply(classification={"type": "string", "enum": kinds}, finding=_TEXT)
    return Question("step_role", materials, {"goal": goal, "turn": str(turn)}, fields)


def keywords(step: str) -> Question:
    """What to look up to check a step (prompt 16); the reply is plain text."""
    return Question("keywords", (Material(STEP, step, "reply"),))


def judgment(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """Whether a step holds, by numbered passages (prompt 17); `searched`: what they were found by, a line each.

    The default asks for words of a passage; `published` takes the judge's own knowledge too, as the paper does.
    """
    found = [Material(passage(number), text, "page") for number, text in enumerate(passages, 1)]
    queries = Material(SEARCHED, "\n".join(searched) or NOTHING, "reply")
    materials = (Material(CASE, case, "case"), queries, *found, Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply(judgment=verdicts, keywords_to_search=_TEXT, evidence=_QUOTES)
    return Question("judgment", materials, {"count": str(len(found))}, fields)


def bearing(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """The same where each quoted sentence also says how it bears on the step: it supports, contradicts, or neither."""
    asked = judgment(case, passages, step, searched)
    bears = {"type": "string", "enum": ["supports", "contradicts", "neither"]}
    quotes: dict[str, Json] = {
        "type": "array",
        "items": shape(passage={"type": "integer"}, quote=_TEXT, bearing=bears),
    }
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply(judgment=verdicts, keywords_to_search=_TEXT, evidence=quotes)
    return msgspec.structs.replace(asked, name="bearing", shape=fields)


def opinion(case: str, step: str) -> Question:
    """Whether a step holds by what the judge knows itself, with nothing looked up."""
    materials = (Material(CASE, case, "case"), Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "unsure"]}
    return Question("opinion", materials, shape=reply(judgment=verdicts))


def extract(page: str, step: str) -> Question:
    """The sentences of a long page that bear on a step, word for word: the summary of section 4.3, open to checking."""
    materials = (Material(PAGE, page, "page"), Material(STEP, step, "reply"))
    return Question("extract", materials, shape=reply(quotes=_TEXTS))


def reference(text: str) -> Question:
    """The reference reasoning as at most ten atomic steps, the last being the final answer (prompt 14)."""
    return Question("reference", (Material(REFERENCE, text, "reference"),), shape=reply(steps=_TEXTS))


def found(step: str, prediction: str) -> Question:
    """Whether a reference step is in a prediction (prompt 18); to `published` what is akin to it is enough."""
    materials = (Material(REFERENCE_STEP, step, "reference"), Material(PREDICTION, prediction, "reply"))
    return Question("found", materials, shape=reply(found={"type": "boolean"}))


def published(question: Question) -> Question:
    """The same question by the criteria of the paper's prompt, in our words."""
    return msgspec.structs.replace(question, rules="published")


def starts(text: str) -> Question:
    """Where the steps of a text without marks begin: the first words of each, word for word."""
    return Question("starts", (Material(REPLY, text, "reply"),), shape=reply(starts=_TEXTS))


T = TypeVar("T")

SEARCH = "search"
_ROLES: Mapping[str, StepClass] = {str(kind): kind for kind in StepClass}
_CLASSES: Mapping[str, StepClass] = {word: kind for word, kind in _ROLES.items() if kind != StepClass.UNSEEN}
_CLASS = ("classification", "class", "type", "category", "efficiency")
_OPINIONS: Mapping[str, Verdict] = {
    "correct": Verdict.CORRECT,
    "wrong": Verdict.WRONG,
    "incorrect": Verdict.WRONG,
    "unsure": Verdict.UNVERIFIABLE,
    "unverifiable": Verdict.UNVERIFIABLE,
}
_JUDGMENTS: Mapping[str, Verdict | str] = {
    "correct": Verdict.CORRECT,
    "wrong": Verdict.WRONG,
    "incorrect": Verdict.WRONG,
    "unverifiable": Verdict.UNVERIFIABLE,
    "search": SEARCH,
}
_OUTCOMES: Mapping[str, bool] = {"correct": True, "wrong": False, "incorrect": False}
# The published prompts of the assessment are asked and answered in Chinese too.
_FOUND: Mapping[str, bool] = {
    "yes": True,
    "no": False,
    "not covered": False,
    "not found": False,
    "not included": False,
    "not present": False,
    "\u662f": True,
    "\u5426": False,
    "\u4e0d\u662f": False,
}
_KEYWORDS = re.compile(r"\bsearch\b[*_]{0,3}[ \t]*[:\uff1a](.+)", re.IGNORECASE)
_SEARCH = re.compile(r"\W*search\b[*_]{0,3}[ \t]*[:\uff1a]", re.IGNORECASE)  # 'Search: gout, red joint'

_VERDICT = ("judgment", "judgement", "verdict")


class Judgment(msgspec.Struct, frozen=True):
    """A verdict on a step, or None where the judge wants the `keywords` searched first."""

    verdict: Verdict | None
    keywords: str = ""


def read_class(text: str) -> StepClass | Unread:
    """The class of a step (prompt 15); as JSON {"classification": "Reasoning"}."""
    return _read(text, _CLASSES, _CLASS)


def read_role(step: str, known: str) -> Callable[[str], StepClass | Unread]:
    """Reads the class of `step` in an encounter: one of prompt 15's, or `unseen` with the `finding` in its words.

    A finding that does not stand in the step is `not_in_vocabulary`, none at all `no_field`, and one that stands word
    for word in what was `known` is `contradicted`.
    """

    def read(text: str) -> StepClass | Unread:
        kind = _read(text, _ROLES, _CLASS)
        if kind != StepClass.UNSEEN:
            return kind
        held = payload(text)
        said = field(single(held.value), ("finding", "unseen")) if isinstance(held, Payload) else None
        if not isinstance(said, str) or not _plain(said):
            return unread("no_field", text)
        if _plain(said) not in _plain(step):
            return unread("not_in_vocabulary", text)
        return unread("contradicted", text) if _plain(said) in _plain(known) else kind

    return read


def _plain(text: str) -> str:
    """Words and numbers alone, in small letters."""
    return " ".join(re.findall(r"\w+(?:[.,]\d+)?", text.casefold()))


def read_opinion(text: str) -> Verdict | Unread:
    """What a judge holds of a step by its own knowledge; `unsure` is unverifiable."""
    return _read(text, _OPINIONS, _VERDICT, negative=Verdict.WRONG)


def read_found(text: str) -> bool | Unread:
    """Whether a step or an item was found (prompt 18): yes or no; as JSON {"found": true}."""
    return _read(text, _FOUND, ("found", "hit", "covered", "answer", *_VERDICT), negative=False)


def read_outcome(text: str) -> bool | Unread:
    """Whether a diagnosis or a treatment is right (prompts 19 and 20); as JSON {"verdict": "correct"}."""
    return _read(text, _OUTCOMES, (*_VERDICT, "accuracy", "correct", "answer"), negative=False)


def read_judgment(text: str) -> Judgment | Unread:
    """The verdict on a step (prompt 17): {"judgment": "Correct" or "Wrong" or "Search", "keywords_to_search": ...}.

    A verdict in text is read too.
    """
    held = payload(text)
    if isinstance(held, Unread):
        return held
    if held is None and _SEARCH.match(text) and mentioned(text, _JUDGMENTS) == {SEARCH}:
        meant: Verdict | str | Unread = SEARCH
    else:
        meant = _read(text, _JUDGMENTS, _VERDICT, negative=Verdict.WRONG)
    if isinstance(meant, Unread):
        return meant
    wanted = field(held.value, ("keywords_to_search", "keywords")) if held else None
    if wanted is None and meant == SEARCH and (said := _KEYWORDS.search(text)):
        wanted = said[1]
    words = ", ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted or "")
    return Judgment(meant if isinstance(meant, Verdict) else None, " ".join(words.split()))


def _read(text: str, vocabulary: Mapping[str, T], names: Sequence[str], negative: T | None = None) -> T | Unread:
    held = payload(text)
    if isinstance(held, Unread):
        return held
    return word(text, vocabulary, negative) if held is None else claimed(held, text, names, vocabulary, negative)


KEYWORDS = "keywords"
"""Stands before the reason for which keywords could not be read: `keywords/refusal`."""
QUERY = 500
"""Characters of a query."""
TERM = 16
"""Words of one term: what has more is a sentence."""
_SAID = 6
"""Words from which a line that ends with a full stop is a sentence."""
_NONE = frozenset({"none", "null", "n/a", "nothing", "no keywords"})

_FIELDS = ("keywords", "keywords_to_search", "terms")
_LETTER = re.compile(r"[^\W\d_]")
_LINE = re.compile(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_LABEL = re.compile(
    r"^\W*(?:[^\W\d]+[\s,!'\u2019]+){0,6}(?:keywords?|(?:search )?(?:terms?|quer(?:y|ies)))\W*[:\uff1a]", re.IGNORECASE
)
_COLONS = (":", "\uff1a")
_PARTS = re.compile(r"[,;\uff0c\u3001\uff1b]")
REFUSAL = re.compile(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able|afraid)|I (?:cannot|must decline|do not|apologi[sz]e)"
    r"|I (?:ca|wo|do)n['\u2019]t|(?:ca|wo)n['\u2019]t|sorry|as an AI|unable to|not able to|lo siento|no puedo"
    r"|d\u00e9sol\u00e9|je ne peux|es tut mir leid|ich kann)\b"
    r"|\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u65e0\u6cd5|\u4e0d\u80fd|\u62d2\u7edd",
    re.IGNORECASE,
)
# in the case of a sentence only: WAS, ARE and CAN are names as well, and so is a I behind a word ("type I")
_SENTENCE = re.compile(
    r"\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad|[Ss]hould|[Ww]ould|[Cc]ould|[Cc]an|[Mm]ust|[Ww]ill|[Yy]ou|"
    r"[Yy]our|[Ww]e|[Mm]y|[Mm]e|[Pp]lease|[Bb]ecause|[Ll]et)\b(?!-)"
    r"|^\s*(?:I|This|These|It|There|Here|Ignore)\s|\bI(?:['\u2019]\w+|\s(?:am|need|think|will|want|have)\b)"
    r"|[a-z]{4}[.]\s+[A-Z]"
)
_SIGN = re.compile(r"[?!\u3002\uff1f]|\u6211|\u8bf7|\u8fd9")


def read_keywords(text: str) -> str | Unread:
    """The terms of a reply on one line, separated by commas; "" if it says that there are none.

    Terms stand on one line or on several, behind a label or not, or in a JSON list. A refusal is `refusal`, and so is
    `prose` what is a sentence, or a term of more than 16 words; above 500 characters it is `too_long`.
    """
    if len(text) > LONGEST:
        return unread("too_long", text)
    held = payload(text) if text.lstrip("` \n\t").startswith(("{", "[", "json")) else None
    if isinstance(held, Unread):
        return held
    if held is not None:
        listed = held.value if isinstance(held.value, list) else field(held.value, _FIELDS)
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            listed = "\n".join(listed) or "none"
        return _terms(listed, text) if isinstance(listed, str) else unread("no_field", text)
    return _terms(text, text)


def _terms(told: str, text: str) -> str | Unread:
    if " ".join(told.split()).strip(" .`\"'").casefold() in _NONE:
        return ""
    lines = [_LABEL.sub("", _LINE.sub("", line)) for line in told.splitlines()]
    lines = [line for line in lines if _LETTER.search(line) and not line.rstrip().endswith(_COLONS)]
    terms = ", ".join(" ".join(line.split()).strip(" .,;`*\"'") for line in lines)
    if not terms:
        return unread("empty", text)
    why = _why(lines, terms)
    return unread(why, text) if why else terms


def _why(lines: list[str], terms: str) -> Why | None:
    """Why these are no keywords."""
    if REFUSAL.search(terms):
        return "refusal"
    if _SIGN.search(terms) or any(map(_closed, lines)) or any(map(_said, _PARTS.split(terms))):
        return "prose"
    return "too_long" if len(terms) > QUERY else None


def _said(term: str) -> bool:
    """Whether a term is a piece of a sentence; one or two words are none, whichever they are."""
    words = len(term.split())
    return words > TERM or (words > 2 and _SENTENCE.search(term) is not None)


def _closed(line: str) -> bool:
    """Whether a line ends as a sentence does: with a full stop, behind a term of some length."""
    return line.rstrip(" *`").endswith(".") and any(len(term.split()) >= _SAID for term in _PARTS.split(line))
