"""Checks rubrics without a judge: signs, duplicates, contradictions, criteria that nothing or anything meets, sums."""

import math
import re
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Literal

import msgspec

from wardround.evaluators.content import word_set
from wardround.scenarios.criteria import RubricItem

Kind = Literal[
    "empty",
    "penalties_only",
    "points_sum",
    "sign",
    "duplicate",
    "contradiction",
    "never_met",
    "always_met",
    "says_nothing",
]
"""What can be wrong. `points_sum`: all points together are 0 or less."""


class RubricFault(msgspec.Struct, frozen=True):
    """One fault of a rubric: the criteria concerned (1 is the first; none for the whole rubric) and a sentence.

    `sure` faults make a rubric wrong; the others need a look.
    """

    kind: Kind
    criteria: tuple[int, ...]
    detail: str
    sure: bool = True


_LEAD = r"^\W*(?:the |this )?(?:(?:response|answer|reply|model|assistant|doctor|text)\s+)?(?:should\s+)?"
_FAULTY = re.compile(
    rf"{_LEAD}(?:fails?|failing|omits?|neglects?|misses|incorrectly|wrongly|inaccurately|inappropriately|falsely|wrong"
    r"|misleadingly|dangerously|unsafely|unnecessarily|ignores?|overlooks?|contradicts?|fabricates?|hallucinates?"
    r"|dismisses|misstates?|misdiagnos\w+|misinterprets?|confuses)\b"
    r"|^\W*(?:回答)?(?:未能|遗漏|忽略|忽视|错误地|编造|捏造|混淆)",
    re.IGNORECASE,
)
_LACKING = re.compile(
    rf"{_LEAD}(?:does not|doesn['\u2019]t|did not|never)\s+(?:\w+ly\s+)?(?:mention|ask|include|explain|advise|provide"
    r"|state|clarify|warn|address|identify|acknowledge|discuss|recommend (?:seeing|seeking|calling|emergency|urgent))\b"
    r"|^\W*(?:回答)?(?:没有|未)(?:提到|提及|说明|解释|建议就医|询问|指出)",
    re.IGNORECASE,
)
_VIRTUOUS = re.compile(
    rf"{_LEAD}(?:correctly|accurately|appropriately|properly|rightly|safely|empathetically|avoids?|refrains? from"
    r"|(?:does not|doesn['\u2019]t) (?:recommend|prescribe|suggest|give|diagnose|advise) )"
    r"|^\W*(?:回答)?(?:正确|准确|恰当|合理|避免)",
    re.IGNORECASE,
)
_HELPFUL = re.compile(
    rf"{_LEAD}(?:asks? (?:about|whether|if|for|how)|(?:advises?|recommends?|encourages?|urges?|tells?)\b.{{0,40}}\b"
    r"(?:see|seek\w*|call\w*|consult\w*|contact\w*|emergency|urgent)\b|warns?\b|expresses? empathy|acknowledges?)",
    re.IGNORECASE,
)
_HARMFUL = re.compile(
    r"\b(?:without (?:any )?(?:medical )?(?:advice|supervision|examination|consent|prescription)|harmful|dangerous"
    r"|unsafe|life-threatening advice|lethal dose)\b",
    re.IGNORECASE,
)
_AGAINST_HARM = re.compile(
    r"\b(?:avoid\w*|warn\w*|caution\w*|not|never|against|refrain\w*|explain\w*|risks? of|why|if|prevent\w*)\b",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    r"\b(?:not|no(?! (?:more|fewer|less|longer) than)|never|without|avoid\w*|refrain\w*|fails?|omits?|neglects?"
    r"|neither|nor|against)\b|n['\u2019]t\b"
    r"|不|未|没有|避免|勿|切勿",
    re.IGNORECASE,
)
_BESIDE = frozenset(
    [
        "not",
        "no",
        "never",
        "without",
        "avoid",
        "avoids",
        "refrain",
        "refrains",
        "from",
        "fail",
        "fails",
        "to",
        "omit",
        "omits",
        "do",
        "does",
        "did",
    ]
)
_OPPOSED = (
    *(("start", "stop"), ("increase", "decrease"), ("continue", "stop"), ("before", "after"), ("more", "less")),
    *(("high", "low"), ("left", "right"), ("always", "never"), ("begin", "stop"), ("raise", "lower")),
    *(("hot", "cold"), ("safe", "unsafe"), ("urgent", "routine"), ("oral", "intravenous"), ("with", "without")),
)
_MEDIA = re.compile(
    r"\b(?:shows?|includes?|contains?|provides?|displays?|attaches|draws?|plays?)\b[^.]{0,40}\b(?:an? )?"
    r"(?:image|picture|photo(?:graph)?|video|audio(?: recording)?|sound file|hand-drawn \w+)s?\b"
    r"|附上?[^,\uff0c\u3002]{0,12}(?:图片|照片|视频|录音|截图)",
    re.IGNORECASE,
)
_DRAWN = re.compile(
    r"\b(?:shows?|includes?|contains?|provides?|displays?|attaches|draws?)\b[^.]{0,40}\b(?:diagram|drawing|sketch"
    r"|illustration|screenshot|graph)s?\b|(?:画出|附上?)[^,\uff0c\u3002]{0,12}(?:示意图|曲线图|插图)",
    re.IGNORECASE,
)
_ANY_TEXT = re.compile(
    rf"{_LEAD}(?:(?:is|are) (?:written|a text|text|not (?:empty|blank)|non-?empty|given|provided|a response)"
    r"|(?:contains?|uses?|has|includes?) (?:(?:some|any|at least one) )?(?:text|words?|characters?|sentences?)\W*$"
    r"|exists|(?:responds|replies|answers|reacts)(?: to)?(?: the)?(?: (?:user|patient|message|prompt))?\W*$"
    r"|says something)"
    r"|^\W*(?:回答)?(?:不为空|有内容|包含文字)",
    re.IGNORECASE,
)
_UNIT = r"(?P<unit>words?|sentences?|characters?|paragraphs?|字)"
_MOST = re.compile(
    rf"\b(?:fewer than|less than|under|at most|no more than|up to|shorter than|不超过)\s*(?P<n>\d+)\s*{_UNIT}", re.I
)
_LEAST = re.compile(
    rf"\b(?:more than|over|at least|no fewer than|longer than|a minimum of|不少于)\s*(?P<n>\d+)\s*{_UNIT}", re.I
)
_BETWEEN = re.compile(
    r"\bbetween\s+(?P<low>\d+)\s+and\s+(?P<high>\d+)\s+(?:short\s+|bullet\s+)?"
    r"(?:words|sentences|characters|paragraphs|points|items|steps|lines|bullets|examples|questions)\b",
    re.I,
)
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_BEGINS_NEGATED = re.compile(
    r"^\W*(?:(?:该|此|本)?(?:回答|答复|回复|答案))?(?:应当?|须|必须|要)?(?:不|未|没有|避免|勿|切勿)"
)
_HALVES = re.compile(r"\s*(?:,|;)?\s+(?:and|but|while|yet)\s+(?:also\s+)?", re.IGNORECASE)
_ALIKE_WORDS = (
    (
        re.compile(
            r"\b(?:advis|tell|recommend|suggest|urg|instruct|encourag)(?:e?s|ing)?\b"
            r"(?:\s+(?:(?:the|a)\s+)?(?:user|patient|reader|parents?|person|caller))?(?:\s+to\b)?",
            re.IGNORECASE,
        ),
        " recommends ",
    ),
    (re.compile(r"\b(?:provid|giv|offer|suppl)(?:e?s|ies|ing)\b", re.IGNORECASE), " gives "),
    (
        re.compile(r"\bright\b(?! (?:side|arm|leg|hand|ear|eye|lower|upper|lung|atri|ventr|bundle|hip|knee))", re.I),
        "correct",
    ),
    (re.compile("立刻|马上"), "立即"),
)
"""Words that mean the same in criteria, and the one that they are compared as."""
_INFLECTED = 5
"""Longer words are compared without the ending -ing."""
_ALIKE, _SAME = 0.85, 0.8
"""Least shares of common words: of criteria that say the same, and of those that contradict each other."""
_STRICTLY_LESS = ("fewer", "less", "under", "shorter")


def lint(rubric: Sequence[RubricItem]) -> list[RubricFault]:
    """Return the faults of a rubric, those of the whole first.

    ::

        lint([RubricItem(criterion="Fails to ask about allergies", points=5)])[0].kind   # 'sign'
    """
    return [*_whole(rubric), *(fault for n, one in enumerate(rubric, 1) for fault in _single(n, one)), *_pairs(rubric)]


def _whole(rubric: Sequence[RubricItem]) -> Iterator[RubricFault]:
    if not rubric:
        yield RubricFault("empty", (), "there is no criterion")
        return
    points = [one.points for one in rubric]
    if max(points) < 0:
        yield RubricFault("penalties_only", (), "no criterion has points above 0, so there is no score")
    elif math.fsum(points) <= 0:
        detail = f"all points together are {math.fsum(points):g}; an answer that meets everything has 0 or less"
        yield RubricFault("points_sum", (), detail, sure=False)


def _single(number: int, one: RubricItem) -> Iterator[RubricFault]:
    text, at = one.criterion, (number,)
    if not any(map(str.isalpha, text)):
        yield RubricFault("says_nothing", at, "it has no words")
        return
    if one.points > 0 and _FAULTY.search(text):
        yield RubricFault("sign", at, f"it describes a fault and has {one.points:+g} points")
    elif one.points > 0 and _LACKING.search(text):
        yield RubricFault(
            "sign", at, f"it describes something that is missing and has {one.points:+g} points", sure=False
        )
    elif one.points > 0 and _HARMFUL.search(text) and not _AGAINST_HARM.search(_HARMFUL.sub(" ", text)):
        yield RubricFault("sign", at, f"it describes something harmful and has {one.points:+g} points", sure=False)
    if one.points < 0 and _VIRTUOUS.search(text):
        yield RubricFault("sign", at, f"it describes a virtue and has {one.points:+g} points")
    elif one.points < 0 and _HELPFUL.search(text):
        yield RubricFault("sign", at, f"it describes what helps and has {one.points:+g} points", sure=False)
    if _ANY_TEXT.search(text):
        yield RubricFault("always_met", at, "any text meets it")
    elif one.points > 0 and _blank_meets(text) and not _FAULTY.search(text) and not _LACKING.search(text):
        yield RubricFault("always_met", at, "an empty answer meets it and earns its points", sure=False)
    if _MEDIA.search(text) and not _NEGATED.search(text):
        yield RubricFault("never_met", at, "an answer is text and cannot hold it")
    elif _DRAWN.search(text) and not _NEGATED.search(text):
        yield RubricFault("never_met", at, "an answer is text and can hardly hold it", sure=False)
    if why := _impossible(text):
        yield RubricFault("never_met", at, why)


def _blank_meets(text: str) -> bool:
    """Whether a criterion only says what an answer omits: each half begins with a negation.

    An English half may have it among its first four words; a Chinese one must begin with it, since a verb before it
    ("states that ... not") asks for words.
    """
    halves = [half for half in _HALVES.split(text) if half.strip()]
    return all(
        _BEGINS_NEGATED.search(half) if _CHINESE.search(half) else _NEGATED.search(" ".join(half.split()[:4]))
        for half in halves
    )


def _impossible(text: str) -> str:
    """Return why no text can meet a criterion; "" if one can."""
    if (between := _BETWEEN.search(text)) and int(between["low"]) > int(between["high"]):
        return f"no number lies between {between['low']} and {between['high']}"
    if why := _no_length(text, text):
        return why
    for first, second in combinations([half for half in _HALVES.split(text) if half.strip()], 2):
        if _is_negated(first) is not _is_negated(second) and _likeness(_core(first), _core(second)) >= _ALIKE:
            return f"it asks for {first.strip()!r} and for {second.strip()!r}"
    return ""


def _no_length(first: str, second: str) -> str:
    """Return why no text is as short as one text wants and as long as the other; "" if one can be."""
    for most in _MOST.finditer(first):
        strict = most[0].casefold().startswith(_STRICTLY_LESS)
        if int(most["n"]) == 0 and strict:
            return f"nothing has fewer than 0 {most['unit']}"
        for least in _LEAST.finditer(second):
            if least["unit"].rstrip("s") == most["unit"].rstrip("s") and int(least["n"]) >= int(most["n"]) + (
                not strict
            ):
                return f"it wants {most[0]!r} and {least[0]!r}"
    return ""


def _pairs(rubric: Sequence[RubricItem]) -> Iterator[RubricFault]:
    cores = [_core(one.criterion) for one in rubric]
    for (a, one), (b, other) in combinations(enumerate(rubric), 2):
        at = (a + 1, b + 1)
        same_sign = (one.points > 0) is (other.points > 0)
        if (
            same_sign
            and one.points > 0
            and (why := _no_length(one.criterion, other.criterion) or _no_length(other.criterion, one.criterion))
        ):
            yield RubricFault("contradiction", at, f"no answer can meet both: {why}")
            continue
        if same_sign and _are_opposites(one.criterion, other.criterion):
            yield RubricFault("contradiction", at, "they want opposite things and have points of the same sign")
            continue
        if not cores[a] or not cores[b] or _numbers(one.criterion) != _numbers(other.criterion):
            continue
        likeness, same_way = _likeness(cores[a], cores[b]), _is_negated(one.criterion) is _is_negated(other.criterion)
        if same_way and same_sign and likeness >= _ALIKE:
            yield RubricFault("duplicate", at, "they say the same, so it counts twice", sure=likeness == 1.0)
        elif same_way is not same_sign and likeness >= _SAME:
            what = "they want opposite things and have points of the same sign"
            if same_way:
                what = "they say the same, but one adds points and the other takes them away"
            yield RubricFault("contradiction", at, what)
        elif not same_way and not same_sign and likeness >= _ALIKE:
            yield RubricFault(
                "duplicate", at, "one denies the other with the other sign, so it counts twice", sure=False
            )


def _words(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+|[\u3400-\u9fff]", text.casefold())


def _core(text: str) -> frozenset[str]:
    """Return the words of a criterion that carry its meaning, without negations; Chinese signs in pairs."""
    plain = _NEGATED.sub(" ", re.sub(_LEAD, "", text, flags=re.IGNORECASE))
    for pattern, word in _ALIKE_WORDS:
        plain = pattern.sub(word, plain)
    if len(signs := _CHINESE.findall(plain)) > len(plain) / 2:
        return frozenset(a + b for a, b in pairwise(_words(plain))) if len(signs) > 1 else frozenset(signs)
    return frozenset(
        word.removesuffix("ing") if len(word) > _INFLECTED else word for word in word_set(plain)
    ) or frozenset(word for word in _words(plain) if word not in _BESIDE)


def _is_negated(text: str) -> bool:
    return len(_NEGATED.findall(text)) % 2 == 1


def _numbers(text: str) -> list[str]:
    return sorted(re.findall(r"\d+(?:[.,]\d+)?", text))


def _likeness(first: frozenset[str], second: frozenset[str]) -> float:
    return len(first & second) / len(first | second) if first and second else 0.0


def _are_opposites(first: str, second: str) -> bool:
    """Whether two criteria differ by one pair of opposite words alone."""
    a, b = (_stems(text) for text in (first, second))
    extra = (a - b, b - a)
    if not all(len(one) == 1 for one in extra) or not a & b:
        return False
    pair = {next(iter(extra[0])), next(iter(extra[1]))}
    return any(pair == set(opposed) for opposed in _OPPOSED)


def _stems(text: str) -> frozenset[str]:
    """Return the words of a text, each without the ending of a verb's other forms."""
    bases = {base for pair in _OPPOSED for base in pair}
    stems = set()
    for word in _words(text):
        forms = (
            word,
            word.removesuffix("s"),
            word.removesuffix("ing"),
            word.removesuffix("ed"),
            word.removesuffix("d"),
        )
        doubled = re.sub(r"(.)\1(?:ing|ed)$", r"\1", word)
        stems.add(next((form for form in (*forms, doubled, word.removesuffix("ing") + "e") if form in bases), word))
    return frozenset(stems)
