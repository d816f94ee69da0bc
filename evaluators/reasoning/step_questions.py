"""The questions of the Reasoning Evaluator (MedR-Bench, prompts 14 to 18), and the strict readers of their replies.

The questions come first, then the readers of verdicts, of keywords and of the reference's steps.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Literal, TypeVar

import msgspec

from wardround.engine.records import Json, object_schema
from wardround.engine.text import regex
from wardround.evaluators.judges.question import Material, Question, reply_shape
from wardround.evaluators.judges.strict_reply import (
    LONGEST,
    Payload,
    Unread,
    Why,
    claimed_value,
    field,
    only_entry,
    payload,
    unread_reply,
    verdicts_in,
    word,
)

Rules = Literal["default", "published"]

ABSENT = ("no_thinking", "no_words")
"""Reasons of a part that does not exist: none of its scores has a value, under any rules."""

PUBLISHED_STEPS = 10
"""Number of steps of a reply that the published code reads."""


class StepClass(StrEnum):
    """What a step does (MedR-Bench, section 4.3 and prompt 15); only `reasoning` is effective.

    We add `unseen`: a step that relies on a finding which the doctor did not know by then.
    """

    CITATION = "citation"
    REPETITION = "repetition"
    REASONING = "reasoning"
    REDUNDANCY = "redundancy"
    UNSEEN = "unseen"


class StepVerdict(StrEnum):
    """Whether a reasoning step holds (prompt 17); `unverifiable` means that the allowed searches did not settle it."""

    CORRECT = "correct"
    WRONG = "wrong"
    UNVERIFIABLE = "unverifiable"


CASE, EARLIER, STEP = "The case", "Earlier steps", "The step"
REFERENCE, REFERENCE_STEP, PREDICTION = "The reference", "The reference step", "The text"
PAGE, REPLY = "The page", "The reply"
SEARCHED = "Looked up so far"
NOTHING = "(none)"

_TEXT = {"type": "string"}
_TEXTS = {"type": "array", "items": _TEXT}
_QUOTES = {"type": "array", "items": object_schema(passage={"type": "integer"}, quote=_TEXT)}


def passage(number: int) -> str:
    """Return the label of the passage with this number (1 is the first)."""
    return f"Passage {number}"


def step_class(case: str, goal: str, earlier: Sequence[str], step: str) -> Question:
    """Ask what a step does (prompt 15)."""
    before = "\n".join(f"{place}. {one}" for place, one in enumerate(earlier, 1)) or NOTHING
    materials = (
        Material(CASE, case, "case"),
        Material(EARLIER, before, "reply"),
        Material(STEP, step, "reply"),
    )
    kinds = ["citation", "repetition", "reasoning", "redundancy"]
    return Question(
        "step_class", materials, {"goal": goal}, reply_shape(classification={"type": "string", "enum": kinds})
    )


def step_role(case: str, goal: str, earlier: Sequence[tuple[int, str]], step: str, turn: int) -> Question:
    """Ask what a step of this turn does: prompt 15, with all (turn, step) pairs before it.

    `case` is only what the doctor knew at that turn.
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
    fields = reply_shape(classification={"type": "string", "enum": kinds}, finding=_TEXT)
    return Question("step_role", materials, {"goal": goal, "turn": str(turn)}, fields)


def keywords(step: str) -> Question:
    """Ask what to look up to check a step (prompt 16); the reply is plain text."""
    return Question("keywords", (Material(STEP, step, "reply"),))


def judgment(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """Ask whether a step holds by numbered passages (prompt 17); `searched` lists the queries behind them.

    By default the judge must quote a passage. The `published` rules also accept its own knowledge, as the paper does.
    """
    pages = [Material(passage(number), text, "page") for number, text in enumerate(passages, 1)]
    queries = Material(SEARCHED, "\n".join(searched) or NOTHING, "reply")
    materials = (Material(CASE, case, "case"), queries, *pages, Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply_shape(judgment=verdicts, keywords_to_search=_TEXT, evidence=_QUOTES)
    return Question("judgment", materials, {"count": str(len(pages))}, fields)


def judgment_by_quotes(case: str, passages: Sequence[str], step: str, searched: Sequence[str] = ()) -> Question:
    """Ask what `judgment` asks, and whether each quoted sentence supports the step, contradicts it, or neither."""
    asked = judgment(case, passages, step, searched)
    bears = {"type": "string", "enum": ["supports", "contradicts", "neither"]}
    quotes: dict[str, Json] = {
        "type": "array",
        "items": object_schema(passage={"type": "integer"}, quote=_TEXT, bearing=bears),
    }
    verdicts = {"type": "string", "enum": ["correct", "wrong", "search"]}
    fields = reply_shape(judgment=verdicts, keywords_to_search=_TEXT, evidence=quotes)
    return msgspec.structs.replace(asked, name="bearing", shape=fields)


def opinion(case: str, step: str) -> Question:
    """Ask whether a step holds by the judge's own knowledge, without a search."""
    materials = (Material(CASE, case, "case"), Material(STEP, step, "reply"))
    verdicts = {"type": "string", "enum": ["correct", "wrong", "unsure"]}
    return Question("opinion", materials, shape=reply_shape(judgment=verdicts))


def extract(page: str, step: str) -> Question:
    """Ask for the sentences of a long page that bear on a step, verbatim: a checkable summary (section 4.3)."""
    materials = (Material(PAGE, page, "page"), Material(STEP, step, "reply"))
    return Question("extract", materials, shape=reply_shape(quotes=_TEXTS))


def split_reference(text: str) -> Question:
    """Ask for the reference reasoning as at most ten atomic steps, the last being the final answer (prompt 14)."""
    return Question("reference", (Material(REFERENCE, text, "reference"),), shape=reply_shape(steps=_TEXTS))


def step_in_text(step: str, prediction: str) -> Question:
    """Ask whether a prediction contains a reference step (prompt 18); under `published` a related one is enough."""
    materials = (Material(REFERENCE_STEP, step, "reference"), Material(PREDICTION, prediction, "reply"))
    return Question("found", materials, shape=reply_shape(found={"type": "boolean"}))


def published_question(question: Question) -> Question:
    """Return the same question by the criteria of the paper's prompt, in our own words."""
    return msgspec.structs.replace(question, rules="published")


def starts(text: str) -> Question:
    """Ask where the steps of an unmarked text begin: for the first words of each, verbatim."""
    return Question("starts", (Material(REPLY, text, "reply"),), shape=reply_shape(starts=_TEXTS))


T = TypeVar("T")

SEARCH = "search"
_ROLES: Mapping[str, StepClass] = {str(kind): kind for kind in StepClass}
_CLASSES: Mapping[str, StepClass] = {word: kind for word, kind in _ROLES.items() if kind != StepClass.UNSEEN}
_CLASS = ("classification", "class", "type", "category", "efficiency")
_OPINIONS: Mapping[str, StepVerdict] = {
    "correct": StepVerdict.CORRECT,
    "wrong": StepVerdict.WRONG,
    "incorrect": StepVerdict.WRONG,
    "unsure": StepVerdict.UNVERIFIABLE,
    "unverifiable": StepVerdict.UNVERIFIABLE,
}
_JUDGMENTS: Mapping[str, StepVerdict | str] = {
    "correct": StepVerdict.CORRECT,
    "wrong": StepVerdict.WRONG,
    "incorrect": StepVerdict.WRONG,
    "unverifiable": StepVerdict.UNVERIFIABLE,
    "search": SEARCH,
}
_OUTCOMES: Mapping[str, bool] = {"correct": True, "wrong": False, "incorrect": False}
# The published prompts of the assessment are also used in Chinese.
_PRESENCE: Mapping[str, bool] = {
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
_KEYWORDS = regex(r"\bsearch\b[*_]{0,3}[ \t]*[:\uff1a](.+)", re.IGNORECASE)
_SEARCH = regex(r"\W*search\b[*_]{0,3}[ \t]*[:\uff1a]", re.IGNORECASE)  # 'Search: gout, red joint'

_VERDICT = ("judgment", "judgement", "verdict")


class Judgment(msgspec.Struct, frozen=True):
    """A verdict on a step, or None if the judge first wants a search for the `keywords`."""

    verdict: StepVerdict | None
    keywords: str = ""


def read_class(text: str) -> StepClass | Unread:
    """Read the class of a step (prompt 15), a word or JSON {"classification": "Reasoning"}."""
    return _read(text, _CLASSES, _CLASS)


def read_role(step: str, known: str) -> Callable[[str], StepClass | Unread]:
    """Return a reader for the class of `step` in an encounter: one of prompt 15, or `unseen` with a `finding` quoted.

    A finding that does not occur in the step is `not_in_vocabulary`, a missing one `no_field`, and one that occurs word
    for word in what was `known` is `contradicted`.
    """

    def read(text: str) -> StepClass | Unread:
        kind = _read(text, _ROLES, _CLASS)
        if kind != StepClass.UNSEEN:
            return kind
        parsed = payload(text)
        said = field(only_entry(parsed.value), ("finding", "unseen")) if isinstance(parsed, Payload) else None
        if not isinstance(said, str) or not _plain(said):
            return unread_reply("no_field", text)
        if _plain(said) not in _plain(step):
            return unread_reply("not_in_vocabulary", text)
        return unread_reply("contradicted", text) if _plain(said) in _plain(known) else kind

    return read


def _plain(text: str) -> str:
    """Return the words and numbers of a text in lower case."""
    return " ".join(re.findall(r"\w+(?:[.,]\d+)?", text.casefold()))


def read_opinion(text: str) -> StepVerdict | Unread:
    """Read a verdict by the judge's own knowledge; `unsure` means unverifiable."""
    return _read(text, _OPINIONS, _VERDICT, negative=StepVerdict.WRONG)


def read_presence(text: str) -> bool | Unread:
    """Read whether a text has a step or an item (prompt 18): yes or no, or JSON {"found": true}."""
    return _read(text, _PRESENCE, ("found", "hit", "covered", "answer", *_VERDICT), negative=False)


def read_outcome(text: str) -> bool | Unread:
    """Read whether a diagnosis or a treatment is right (prompts 19 and 20), a word or JSON {"verdict": "correct"}."""
    return _read(text, _OUTCOMES, (*_VERDICT, "accuracy", "correct", "answer"), negative=False)


def read_judgment(text: str) -> Judgment | Unread:
    """Read a verdict on a step (prompt 17): {"judgment": "Correct" or "Wrong" or "Search", "keywords_to_search": ...}.

    A verdict in plain text is accepted too.
    """
    parsed = payload(text)
    if isinstance(parsed, Unread):
        return parsed
    if parsed is None and _SEARCH.match(text) and verdicts_in(text, _JUDGMENTS) == {SEARCH}:
        meant: StepVerdict | str | Unread = SEARCH
    else:
        meant = _read(text, _JUDGMENTS, _VERDICT, negative=StepVerdict.WRONG)
    if isinstance(meant, Unread):
        return meant
    wanted = field(parsed.value, ("keywords_to_search", "keywords")) if parsed else None
    if wanted is None and meant == SEARCH and (said := _KEYWORDS.search(text)):
        wanted = said[1]
    words = ", ".join(map(str, wanted)) if isinstance(wanted, list) else str(wanted or "")
    return Judgment(meant if isinstance(meant, StepVerdict) else None, " ".join(words.split()))


def _read(text: str, vocabulary: Mapping[str, T], names: Sequence[str], negative: T | None = None) -> T | Unread:
    parsed = payload(text)
    if isinstance(parsed, Unread):
        return parsed
    return (
        word(text, vocabulary, negative) if parsed is None else claimed_value(parsed, text, names, vocabulary, negative)
    )


KEYWORDS = "keywords"
"""Prefix of the reason why keywords could not be read: `keywords/refusal`."""
QUERY = 500
"""Longest query, in characters."""
TERM = 16
"""Most words of one term; anything longer is a sentence."""
_SAID = 6
"""Number of words from which a line that ends with a full stop counts as a sentence."""
_NONE = frozenset({"none", "null", "n/a", "nothing", "no keywords"})

_FIELDS = ("keywords", "keywords_to_search", "terms")
_LETTER = regex(r"[^\W\d_]")
_LINE = regex(r"^\s*(?:[-*\u2022]|\d{1,2}[.)])\s+")
_LABEL = regex(
    r"^\W*(?:[^\W\d]+[\s,!'\u2019]+){0,6}(?:keywords?|(?:search )?(?:terms?|quer(?:y|ies)))\W*[:\uff1a]", re.IGNORECASE
)
_COLONS = (":", "\uff1a")
_PARTS = regex(r"[,;\uff0c\u3001\uff1b]")
REFUSAL = regex(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able|afraid)|I (?:cannot|must decline|do not|apologi[sz]e)"
    r"|I (?:ca|wo|do)n['\u2019]t|(?:ca|wo)n['\u2019]t|sorry|as an AI|unable to|not able to|lo siento|no puedo"
    r"|d\u00e9sol\u00e9|je ne peux|es tut mir leid|ich kann)\b"
    r"|\u62b1\u6b49|\u5bf9\u4e0d\u8d77|\u65e0\u6cd5|\u4e0d\u80fd|\u62d2\u7edd",
    re.IGNORECASE,
)
# only in the case of a sentence: WAS, ARE and CAN are also names, and so is an I after a word ("type I")
_SENTENCE = regex(
    r"\b(?:[Ii]s|[Aa]re|[Ww]as|[Ww]ere|[Hh]as|[Hh]ave|[Hh]ad|[Ss]hould|[Ww]ould|[Cc]ould|[Cc]an|[Mm]ust|[Ww]ill|[Yy]ou|"
    r"[Yy]our|[Ww]e|[Mm]y|[Mm]e|[Pp]lease|[Bb]ecause|[Ll]et)\b(?!-)"
    r"|^\s*(?:I|This|These|It|There|Here|Ignore)\s|\bI(?:['\u2019]\w+|\s(?:am|need|think|will|want|have)\b)"
    r"|[a-z]{4}[.]\s+[A-Z]"
)
_SIGN = regex(r"[?!\u3002\uff1f]|\u6211|\u8bf7|\u8fd9")


def read_keywords(text: str) -> str | Unread:
    """Read the search terms of a reply on one line, separated by commas; "" if it says that there are none.

    Terms may be on one line or several, with or without a label, or in a JSON list. A refusal is `refusal`, a sentence
    or a term of more than 16 words is `prose`, and more than 500 characters are `too_long`.
    """
    if len(text) > LONGEST:
        return unread_reply("too_long", text)
    parsed = payload(text) if text.lstrip("` \n\t").startswith(("{", "[", "json")) else None
    if isinstance(parsed, Unread):
        return parsed
    if parsed is not None:
        listed = parsed.value if isinstance(parsed.value, list) else field(parsed.value, _FIELDS)
        if isinstance(listed, list) and all(isinstance(one, str) for one in listed):
            listed = "\n".join(listed) or "none"
        return _terms(listed, text) if isinstance(listed, str) else unread_reply("no_field", text)
    return _terms(text, text)


def _terms(listed: str, text: str) -> str | Unread:
    if " ".join(listed.split()).strip(" .`\"'").casefold() in _NONE:
        return ""
    lines = [_LABEL.sub("", _LINE.sub("", line)) for line in listed.splitlines()]
    lines = [line for line in lines if _LETTER.search(line) and not line.rstrip().endswith(_COLONS)]
    terms = ", ".join(" ".join(line.split()).strip(" .,;`*\"'") for line in lines)
    if not terms:
        return unread_reply("empty", text)
    why = _why(lines, terms)
    return unread_reply(why, text) if why else terms


def _why(lines: list[str], terms: str) -> Why | None:
    """Return why the terms are no keywords, None if they are."""
    if REFUSAL.search(terms):
        return "refusal"
    if _SIGN.search(terms) or any(map(_closed, lines)) or any(map(_said, _PARTS.split(terms))):
        return "prose"
    return "too_long" if len(terms) > QUERY else None


def _said(term: str) -> bool:
    """Whether a term is part of a sentence; one or two words never are."""
    words = len(term.split())
    return words > TERM or (words > 2 and _SENTENCE.search(term) is not None)


def _closed(line: str) -> bool:
    """Whether a line ends like a sentence: with a full stop, after a term of some length."""
    return line.rstrip(" *`").endswith(".") and any(len(term.split()) >= _SAID for term in _PARTS.split(line))


MOST_STEPS = 10
"""Highest number of steps that prompt 14 allows."""

_STEP_MARK = regex(
    r"(?im)^[ \t>*_#-]*(?:<step\s{0,9}\d{1,4}\s{0,9}>|step[ \t]+\d{1,4}[*_]{0,3}[:.)]|\d{1,4}[.)][ \t])[*_:]*"
)
_CLOSED = regex(r"(?i)</step\s{0,9}\d{0,4}>")
_JSON = regex(r'[{\[]\s*["{\[\]}]')
_PARAGRAPH = regex(r"\n[ \t]*\n")
# what a judge writes when its list ends
_BEHIND = regex(
    r"(?im)^[ \t]*(?:```|(?:i )?hope this|let me know|(?:please )?feel free|if you (?:have|need|want)|please note)"
)


def read_reference(text: str, most: int | None = MOST_STEPS) -> tuple[str, ...] | Unread:
    """Read 1 to 10 steps, the last being the final answer (prompt 14), from JSON {"steps": ["...", ...]} or from text.

    In text, `<Step n>`, `Step n:` or a number at the beginning of a line opens a step. Text before the first step or
    after the list is no step. More than `most` steps are `too_many_steps`, since we cannot choose which would count.
    The published code takes any number (None).
    """
    if not text.strip() or len(text) > LONGEST:
        return unread_reply("too_long" if text.strip() else "empty", text)
    raw = _raw_steps(text)
    if isinstance(raw, Unread):
        return raw
    steps = tuple(" ".join(step.split()) for step in raw if any(map(str.isalnum, step)))
    if not steps:
        return unread_reply(_why_no_steps(text), text)
    return unread_reply("too_many_steps", text) if most is not None and len(steps) > most else steps


def _raw_steps(text: str) -> list[str] | Unread:
    """Return the raw steps of a JSON value, or of a list in text if no JSON value comes before it."""
    marks, opening = list(_STEP_MARK.finditer(text)), _JSON.search(text)
    listed = marks and not (opening and opening.start() < marks[0].start())
    parsed = None if listed else payload(text)
    if isinstance(parsed, Unread):
        return parsed
    if isinstance(parsed, Payload):
        steps = parsed.value if isinstance(parsed.value, list) else field(parsed.value, ("steps", "reasoning_steps"))
        if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
            return unread_reply("no_field", text)
        return [_CLOSED.sub("", _STEP_MARK.sub("", str(step))) for step in steps]
    ends = [mark.start() for mark in marks[1:]] + ([len(text)] if marks else [])
    pieces = [_CLOSED.sub("", text[mark.end() : end]).strip() for mark, end in zip(marks, ends, strict=True)]
    return [*pieces[:-1], _ended(pieces[-1], pieces[:-1])] if pieces else []


def _ended(last: str, others: Sequence[str]) -> str:
    """Return the last step without the text after the list, and only its first paragraph if each other step is one."""
    behind = _BEHIND.search(last)
    last = last[: behind.start()] if behind else last
    return last if any(map(_PARAGRAPH.search, others)) else _PARAGRAPH.split(last, maxsplit=1)[0]


def _why_no_steps(text: str) -> Why:
    """Return why a reply has no steps."""
    if REFUSAL.search(text):
        return "refusal"
    return "no_steps" if re.search("[a-zA-Z]", text) or not any(map(str.isalpha, text)) else "other_language"
