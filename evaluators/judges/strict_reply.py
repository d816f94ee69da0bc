"""Reads a judge's reply strictly: its JSON or its one word, or a typed reason why it cannot be read.

`payload` reads JSON, `word` a word of a vocabulary with its reasons, and `claimed_value` a field of JSON. A reply that
doubts its verdict, gives two, or has none in its place is `Unread`; it never becomes a default.
"""

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeVar

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import escape_surrogates, regex

Why = Literal[
    "empty",
    "too_long",
    "half_json",
    "no_field",
    "no_steps",
    "no_test",
    "too_many_steps",
    "not_in_vocabulary",
    "several",
    "hedged",
    "refusal",
    "other_language",
    "prose",
    "contradicted",
]


class Unread(msgspec.Struct, frozen=True):
    """A reply without a usable verdict: `why` is a stable word, `said` the beginning of the reply for people.

    - `empty`, `refusal`.
    - `too_long`: above 100,000 characters.
    - `half_json`: broken JSON, or JSON with a repeated key.
    - `no_field`: JSON without the required field.
    - `no_steps`, `no_test`: a list without a usable entry.
    - `too_many_steps`: more reference steps than allowed.
    - `not_in_vocabulary`: the field has another word.
    - `several`: different verdicts, also in two fields.
    - `hedged`: a verdict with a doubt or a negation ("not correct", "Correct: false", "Correct, in part"), or one that
      is followed by unreadable characters.
    - `other_language`: no Latin letter.
    - `prose`: no verdict in its place.
    - `contradicted`: the judged text itself denies what the reply says of it.
    """

    why: Why
    said: str = ""

    @property
    def reason(self) -> str:
        """Return the reason of a score that is missing because of this reply."""
        return f"judge_unreadable/{self.why}"


def unread_reply(why: Why, text: str) -> Unread:
    """Create an Unread with the beginning of `text` on one line."""
    return Unread(why, " ".join(text[:400].split())[:160])


LONGEST = 100_000
"""Longest reply of a judge, in characters, that is read at all."""

_FENCE = regex(r"```[a-z]*[ \t]*\n?(.*?)```", re.IGNORECASE | re.DOTALL)
_OPENS = regex(r'\{|\[(?=\s*[\[\]{"])')
_TRAILING = regex(r",(?=\s*[}\]])")


class Payload(msgspec.Struct, frozen=True):
    """A parsed `value`, and the prose `after` it."""

    value: Json
    after: str = ""


def payload(text: str) -> Payload | Unread | None:
    """Return the reply's JSON object or list, with or without a code block and prose around it; None if it has none.

    A comma before a closing bracket is ignored, since the published template itself has one. Any other invalid JSON is
    `half_json`: a broken object, a repeated key (in the outermost object also in other case), or two objects.
    """
    if len(text) > LONGEST:
        return unread_reply("too_long", text)
    blocks = [block for block in _FENCE.findall(text) if _OPENS.search(block)] if "```" in text else []
    if len(blocks) > 1:
        return unread_reply("several", text)
    source = blocks[0] if blocks else text
    opening = _OPENS.search(source)
    if opening is None:
        return None
    closing = source.rfind("}" if opening[0] == "{" else "]")
    body = source[opening.start() : closing + 1]
    for repaired in (False, True):
        attempt = _TRAILING.sub("", body) if repaired else body
        try:
            value = _decoder.decode(attempt)
            value = escape_surrogates(value) if "\\u" in attempt else value
        except (ValueError, RecursionError):
            continue
        if _ambiguous(only_entry(value)):
            break
        return Payload(value, text.rpartition("```")[2] if blocks else source[closing + 1 :])
    return unread_reply("half_json", text)


def required_json(text: str) -> Payload | Unread:
    """Return the JSON of a reply as `payload` does; a reply without any is `prose`, or `empty`."""
    parsed = payload(text)
    return unread_reply("prose" if text.strip() else "empty", text) if parsed is None else parsed


def strings(text: str, names: Sequence[str]) -> tuple[str, ...] | Unread:
    """Return the non-blank texts of the list under the first of `names` that the reply's object has."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    listed = field(parsed.value, names)
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        return unread_reply("no_field", text)
    return tuple(one for one in listed if one.strip())


def entries_of(text: str, names: Sequence[str]) -> list[Json] | Unread:
    """Return the list that a reply is, or that its object has under the first of `names`; without one `no_field`."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    entries = parsed.value if isinstance(parsed.value, list) else field(parsed.value, names)
    return entries if isinstance(entries, list) else unread_reply("no_field", text)


def only_entry(value: Json) -> Json:
    """Return the only entry of a list of one, else the value itself: a judge may put its object into a list."""
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def field(value: Json, names: Sequence[str]) -> Json:
    """Return an object's value under the first of `names` that it has, in any case; None if it has none.

    It is also None if a name occurs more than once in other case or spacing: we do not guess which one is meant.
    """
    if not isinstance(value, dict):
        return None
    read: dict[str, list[Json]] = {}
    for key, content in value.items():
        read.setdefault(key.strip().casefold(), []).append(content)
    matches = next((read[name] for name in names if name in read), [])
    return matches[0] if len(matches) == 1 else None


def _ambiguous(value: Json) -> bool:
    """Whether an object has two keys that `field` would read as one: we do not guess which one is meant."""
    return isinstance(value, dict) and len({key.strip().casefold() for key in value}) < len(value)


def _unique_keys(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    """Build an object with unique keys; keys that differ in case or spaces are kept (`field` handles them)."""
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key comes twice")
    return dict(pairs)


def _refuse_constant(constant: str) -> Json:
    raise ValueError(f"{constant} is no JSON")


_decoder = json.JSONDecoder(object_pairs_hook=_unique_keys, parse_constant=_refuse_constant)

_HEDGES = regex(
    r"\b(?:partial(?:ly)?|partly|mostly|largely|somewhat|however|but|although|though|except|unless|maybe|perhaps|"
    r"possibly|probably|unsure|uncertain|unclear|doubt(?:s|ful)?|instead|rather|actually|almost|nearly|half|halfway|"
    r"in part|parts?(?= of (?:it|the|this))|disagree[sd]?|opposite|refuse[sd]?|aside|debatable|questionable|yet|"
    r"as (?:far|long) as)\b|\?",
    re.IGNORECASE,
)
_TAKEN_BACK = regex(
    r"\b(?:fail\w*|miss(?:es|ed|ing)?|false\w*|untrue|wrong\w*|incorrect\w*|inaccura\w*|imprecise\w*|inexact\w*|"
    r"incomplete\w*|mistak\w*|errors?|erroneous\w*|lack(?:s|ed|ing)?|omit\w*|omission\w*|overlook\w*|ignor\w*|"
    r"neglect\w*|differ(?:s|ent|ently|ed|ing)?|contradict\w*|contrary|opposed?|oppos(?:es|ing)|den(?:y|ies|ied)|"
    r"reject\w*|only|merely|just|if|provided|assuming|part|otherwise|another|too|vague|broader|narrower|less|"
    r"insufficient\w*|inadequate\w*|unsupported|unproven|invalid|nope|nah|false[oa]?|fals[oa]|falsch|faux|fausse|pero|"
    r"sino|aber|nicht|kein\w*|mais|pas)\b",
    re.IGNORECASE,
)
_NEGATIONS = regex(
    r"\b(?:not|no|non|never|neither|nor|none|nothing|without|cannot|hardly|scarcely|barely)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_AFFIRMED = regex(
    r"\b(?:right(?=\W*$| (?:that|about|on|answer|after))|true|valid|accurate|agrees?|match(?:es|ed)?|correctly|yes|"
    r"(?:is|are|says|say|means|mean|names|name) the same|bears? (?:it|this|that) out|"
    r"(?:is|are|was|were) (?:\w+ )?(?:found|covered|included|present|contained|supported|confirmed|correct|right))\b",
    re.IGNORECASE,
)
_CLAUSE = regex(r"[.,;:\n]")
_UNREAD = regex(
    "[^\\x00-\\x7f\u00a0-\u024f\u0370-\u03ff\u1e00-\u1eff\u2010-\u2027\u202f-\u205e\u2070-\u209f\u20ac\u2122\u2190\u2192"
    "\u2248\u2264\u2265\u2212\ufffd]"
)
"""Characters other than Latin and Greek letters, the signs of medical prose and U+FFFD: a tick, another script."""


def is_hedged(text: str) -> bool:
    """Whether a text contains a doubt or a negation anywhere, which makes its verdict unusable."""
    return any(pattern.search(text) for pattern in (_HEDGES, _NEGATIONS, _TAKEN_BACK, _UNREAD))


def retraction(text: str, *, negative: bool) -> Why | None:
    """Return why the words after a verdict leave it open; None if they do not.

    After a `negative` verdict one expects a negation, but not a clause that affirms without one.
    """
    if _UNREAD.search(text) or _HEDGES.search(text):
        return "hedged"
    if not negative:
        return "hedged" if _NEGATIONS.search(text) or _TAKEN_BACK.search(text) else None
    for clause in _CLAUSE.split(text):
        if _AFFIRMED.search(clause) and not _NEGATIONS.search(clause):
            return "several"
    return None


FIELD = "addressed"
"""The field in which a judge reports that a text addressed it (prompts/judge/system.md)."""
NOTICED = "noticed_by_judge"
"""The flag of a text that a judge reports."""


def reports_address(reply: str) -> bool:
    """Whether the JSON of a reply reports that a text addressed the judge. Anything but a clear `true` counts as no."""
    if FIELD not in reply:
        return False
    parsed = payload(reply)
    return isinstance(parsed, Payload) and field(only_entry(parsed.value), (FIELD,)) is True


T = TypeVar("T")

_AROUND = " \t\r\n*_`\"'[](){}<>.!:#-\u201c\u201d\u2018\u2019\u3002\uff01\uff1a\u3010\u3011"
_BEFORE = _AROUND.replace("!", "")
_LABEL = regex(
    r"^[^\w\n!]*(?:here(?:['\u2019]s| is)\s+)?(?:(?:final|my|the)\s+)*(?:verdict|judge?ment|classification|class|type"
    r"|category|answer|result|output|what i found)[ \t*_`\"']*(?::|=|\uff1a)(?P<said>.*\w.*)$",
    re.IGNORECASE | re.MULTILINE,
)
# 'The current thinking step is Reasoning.', 'Yes, it is correct.'
_IS = regex(
    r"^[^\w!]*(?:(?P<yes>yes|no)[,.]?\s+)?(?:(?:the|this|my|current|thinking|predicted|final)\s+){0,4}(?:step|prediction"
    r"|diagnosis|treatment|plan|statement|description|answer|verdict|judge?ment|classification|class|type|category|it)"
    r"\s+is\s*:?\s+(?P<said>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
# What may separate a verdict from words about it: the end of a sentence, or the opening of a clause of reasons.
_CLOSED = regex(r"[*_`\"')\]\u201d ]*[.!\u3002\uff01\n]")
_REASONED = regex(
    r"[*_`\"')\]\u201d]*(?:\s*[,;\uff0c]\s*|\s+[-\u2013\u2014]\s+|\s+)(?:because|since)\b"
    r"|[*_`\"')\]\u201d ]*(?:[,;\uff0c]|\s[-\u2013\u2014]\s)\s*"
    r"(?=(?:as\s+)?(?:it|its|this|that|the|these|those|they|both|all|each|every|step|passages?)\b)",
    re.IGNORECASE,
)

_REFUSALS = regex(
    r"\b(?:I(?:['\u2019]m| am) (?:sorry|unable|not able)|I (?:cannot|must decline)|I (?:ca|wo)n['\u2019]t|as an AI\b)",
    re.IGNORECASE,
)
_LATIN = regex(r"[a-z]", re.IGNORECASE)
_SPOKEN = regex(r"[^\W\d_]{2,}")
_FEW = 2
"""Least words of a sentence of reasons after a verdict: a single mark or word there is another verdict."""


def word(text: str, vocabulary: Mapping[str, T], negative: T | None = None) -> T | Unread:
    """Return the meaning of the one word of `vocabulary` (lower case, also phrases) in `text`.

    Its place is the whole reply, a line `Verdict: WORD`, a sentence `the step is WORD`, or the beginning of the reply.
    Only reasons may follow: sentences of their own, or a clause that opens as reasons do. Reasons may contain neither
    another verdict nor a doubt, and no negation unless the verdict is the `negative` one. Anything else is Unread:
    "Correct: false" is no verdict.
    """
    if not text.strip():
        return unread_reply("empty", text)
    if len(text) > LONGEST:
        return unread_reply("too_long", text)
    if (plain := _plain(text)) in vocabulary:
        return vocabulary[plain]
    if labels := [label for label in _LABEL.finditer(text) if verdicts_in(label["said"], vocabulary)]:
        return _labelled_verdict(text, labels, vocabulary, negative)
    if (sentence := _IS.match(text)) and verdicts_in(sentence["said"], vocabulary):
        meant = _opening_verdict(sentence["said"], vocabulary, negative)
        says_no = (sentence["yes"] or "").casefold() == "no"
        if not sentence["yes"] or isinstance(meant, Unread) or says_no is (meant == negative):
            return meant
        return unread_reply("several", text)
    return _opening_verdict(text, vocabulary, negative)


def only_word(text: str, vocabulary: Mapping[str, T]) -> T | Unread:
    """Return the meaning of a field of JSON, which may hold only a word of `vocabulary`, or a label and the word."""
    label = _LABEL.fullmatch(text.strip())
    plain = _plain(label["said"] if label else text)
    return vocabulary[plain] if plain in vocabulary else unread_reply(_why(text, vocabulary), text)


def contradiction(after: str, vocabulary: Mapping[str, T], meant: T, negative: T | None = None) -> Why | None:
    """Return why the words `after` a verdict leave it open; None if they do not."""
    if verdicts_in(after, vocabulary) - {meant}:
        return "several"
    return retraction(_any(vocabulary).sub(" ", after), negative=negative is not None and meant == negative)


def verdicts_in(text: str, vocabulary: Mapping[str, T]) -> set[T]:
    """Return the verdicts that `text` names anywhere as whole words."""
    return {vocabulary[" ".join(match.casefold().split())] for match in _any(vocabulary).findall(text)}


def _labelled_verdict(
    text: str, labels: Sequence[re.Match[str]], vocabulary: Mapping[str, T], negative: T | None
) -> T | Unread:
    """Return the verdict of labelled lines: all must agree, and only reasons may follow the last."""
    said = [_opening_verdict(label["said"], vocabulary, negative) for label in labels[:-1]]
    said.append(_opening_verdict(text[labels[-1].start("said") :], vocabulary, negative))
    if any(isinstance(one, Unread) for one in said):
        return unread_reply(_why(text, vocabulary), text)
    return said[0] if all(one == said[0] for one in said) else unread_reply("several", text)


def _opening_verdict(text: str, vocabulary: Mapping[str, T], negative: T | None) -> T | Unread:
    """Return the verdict at the beginning of a text, which may continue with reasons."""
    first = _any(vocabulary).match(text, len(text) - len(text.lstrip(_BEFORE)))
    if first is None:
        return unread_reply(_why(text, vocabulary), text)
    meant = vocabulary[" ".join(first[0].casefold().split())]
    rest = text[first.end() :]
    if not rest.strip(_AROUND):
        return meant
    goes_on = _CLOSED.match(rest) or _REASONED.match(rest)
    if goes_on is None:
        why = _why(text, vocabulary)
        marked = why == "prose" and not rest.lstrip()[:1].isalpha()
        return unread_reply("hedged" if marked else why, text)
    why_not = contradiction(rest, vocabulary, meant, negative)
    if why_not is None and len(_SPOKEN.findall(rest)) < _FEW:
        why_not = "hedged"
    return meant if why_not is None else unread_reply(why_not, text)


def _why(text: str, vocabulary: Mapping[str, T]) -> Why:
    """Return why the text has no verdict in its place."""
    verdicts = len(verdicts_in(text, vocabulary))
    if verdicts > 1:
        return "several"
    if _REFUSALS.search(text):
        return "refusal"
    if verdicts and is_hedged(_any(vocabulary).sub(" ", text)):
        return "hedged"
    return "prose" if _LATIN.search(text) else "other_language"


def _any(vocabulary: Mapping[str, T]) -> re.Pattern[str]:
    """Return a pattern for any word of the vocabulary as a whole word, the longest first."""
    return _any_of(tuple(vocabulary))


@lru_cache(maxsize=64)  # there are few vocabularies, and every reply needs one
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    longest = sorted(words, key=lambda name: (-len(name), name))
    either = "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


def _plain(text: str) -> str:
    return " ".join(text.lstrip(_BEFORE).rstrip(_AROUND).split()).casefold()


_CLAIMS = (
    *("judgment", "judgement", "verdict", "accuracy", "correct", "is_correct", "right", "found", "hit", "covered"),
    *("matched", "match", "answer", "result", "outcome", "conclusion"),
)
"""Fields in which a judge may give a verdict, whichever of them the question asked for."""
_YES, _NO = frozenset(("yes", "true", "right", "correct")), frozenset(("no", "false", "wrong", "incorrect"))


def claimed_value(
    parsed: Payload, text: str, names: Sequence[str], vocabulary: Mapping[str, T], negative: T | None = None
) -> T | Unread:
    """Return the meaning of the first of `names` in the object: that of a word of `vocabulary`, or a boolean.

    A boolean is read only if True and False are among the vocabulary's meanings (`negative` is False then). The reply
    is Unread if another field gives another verdict, or if words after the object do so or express a doubt. A list of
    one text is read as that text.
    """
    value = only_entry(parsed.value)
    said = value if isinstance(value, str) else field(value, names)
    if said is None:
        return unread_reply("no_field", text)
    if isinstance(said, bool) and negative is False:
        meant: T | Unread = next(one for one in vocabulary.values() if one is said)
    elif isinstance(said, str):
        meant = only_word(said, vocabulary)
    else:
        return unread_reply("not_in_vocabulary", text)
    if isinstance(meant, Unread):
        return unread_reply("not_in_vocabulary" if meant.why == "prose" else meant.why, text)
    why = _other_verdict(value, names, vocabulary, meant, negative) or contradiction(
        parsed.after, vocabulary, meant, negative
    )
    return unread_reply(why, text) if why else meant


def _other_verdict(
    value: Json, names: Sequence[str], vocabulary: Mapping[str, T], meant: T, negative: T | None
) -> Why | None:
    """Return `several` if any field of the object gives another verdict."""
    for name, said in value.items() if isinstance(value, dict) else ():
        key = name.strip().casefold()
        if isinstance(said, bool) and key in vocabulary and key not in names:
            agrees = (vocabulary[key] == meant) is said or (not said and vocabulary[key] != meant)
        elif key in _CLAIMS or key in names:
            agrees = _agrees(said, vocabulary, meant, negative)
        else:
            continue
        if not agrees:
            return "several"
    return None


def _agrees(said: Json, vocabulary: Mapping[str, T], meant: T, negative: T | None) -> bool:
    """Whether a field gives no other verdict than `meant`; a field without a verdict agrees."""
    plain = " ".join(said.split()).casefold().strip(" .!*") if isinstance(said, str) else said
    if negative is not None and (isinstance(plain, bool) or plain in _YES | _NO):
        positive = plain is True or plain in _YES
        return positive is (meant != negative)
    return not isinstance(said, str) or not verdicts_in(said, vocabulary) - {meant}
