"""Reads the answer to a closed question; it never guesses where a reply does not state one answer."""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from wardround.engine.text import later
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.parsers.reply_text import answer_part

_MARK = r"(?:[*_`\"'\u201c\u201d()\[\]{}<>]|\\boxed|\\text|\\mathbf|\\\()*"
_GAP = r"[ \t]*"
_IS = rf"(?:{_GAP}(?:is|was|would be|should be|:|\uff1a|=|->|\u2192|是|为|應為|应为|应该是|选择?|ist|est|es|è){_GAP})+"
_NAMED = (
    r"(?:(?:the|my|final|correct|best|right|most likely|most appropriate|single best)\s+){0,5}"
    r"(?:answers?|option|choice|response|verdict|statement|antwort|réponse|respuesta|risposta)"
)
_CHINESE = r"(?:最终|正确|最佳|我的)*(?:答案|选项|回答)"
_STATED = later(rf"(?:\b{_NAMED}\b|{_CHINESE}){_GAP}{_MARK}{_IS}{_MARK}{_GAP}(?=(?P<said>[^\n]*))", re.IGNORECASE)
_HEADED = later(
    rf"^[ \t#>*_\-]*(?:{_NAMED}|{_CHINESE}){_GAP}{_MARK}{_GAP}(?:[:\uff1a]{_MARK})?{_GAP}\n+(?P<said>[^\n]*)",
    re.IGNORECASE | re.MULTILINE,
)
_CHOOSE = later(
    r"\b(?:I\s+(?:choose|select|pick|would\s+(?:choose|select|pick))|(?:go|going)\s+with)\b:?[ \t]*(?P<said>[^\n]*)"
    r"|(?:我)?(?:选择|选)[ \t]*[:\uff1a]?[ \t]*(?P<chosen>[^\n]*)",
    re.IGNORECASE,
)
_BOXED = later(r"\\boxed\{(?:\\text\{)?(?P<said>[^{}\n]*)\}")
_JSON = later(r"[\"'](?:final_?)?(?:answer|choice|option)[\"']\s*:\s*[\"'](?P<said>[^\"'\n]*)[\"']", re.IGNORECASE)
_LEAD = later(
    r"^(?:option|choice|answer|选项)?[ \t]*[(\[*_`\"'{<]*"
    r"(?P<letter>[A-Za-z])(?![\w'\u2019])[)\]*_`\"'}>]*(?P<rest>.*)$",
    re.IGNORECASE | re.DOTALL,
)
_LABELLED = later(
    r"(?:^|(?<=[.;!?\u3002\uff1b])\s)[ \t#>*_(\[\-]*(?:(?i:option|choice)[ \t]+)?"
    r"(?P<head>[A-Z])[*_]*[)\].:\uff1a](?!\w)"
    r"|\b(?i:so|thus|hence|therefore),?[ \t]+(?:(?i:it is|it's|the answer is|option|choose)[ \t]+)*[*_(]*"
    r"(?P<end>[A-Z])[)*_]*[ \t]*(?=[.;!,]|$)",
    re.MULTILINE,
)
_MORE = later(
    r"^[ \t]*(?:,|and|or|&|/|\+|和|或|、|及)[ \t]*(?:option[ \t]*)?[(*]*[A-Z]\b(?![\w'\u2019])", re.IGNORECASE
)
_DENIED = later(r"^(?:definitely |clearly |probably )?(?:not|neither|none of|incorrect|wrong|不是|非)\b", re.IGNORECASE)
_SEPARATED = later(r"^[ \t]*(?:[.:,;\uff1a\uff0c\u3002)\]\-\u2013\u2014]|\(|because|since|as\b|for\b|$)", re.IGNORECASE)
_JOIN = (
    r"[\s,;/.()\[\]&+\-\u2013\u2014\uff0c\u3001*_]*"
    r"(?:(?i:and|or|also|alternatively|possibly|maybe|perhaps|otherwise|else|but|und|oder|ou|et|\u6216|\u548c)\b[\s,:;()]*)*"
)
"""What stands between two options of a list."""
_BEHIND = later(r"^(?:\W|\b(?:and|or|but)\b)*(?P<word>[^\W\d_]+)\s*(?:[.,;:!\uff0c\u3002]|$)", re.IGNORECASE)
_TRIM = " \t\r\n*_`\"'\u201c\u201d.,;:\uff1a\u3002\uff0c()[]{}<>#"
_YES = (
    "true",
    "t",
    "yes",
    "y",
    "correct",
    "right",
    "对",
    "正确",
    "是",
    "真",
    "有",
    "存在",
    "wahr",
    "richtig",
    "ja",
    "vrai",
    "oui",
    "verdadero",
    "sí",
    "si",
)
_NO = (
    "false",
    "f",
    "no",
    "n",
    "incorrect",
    "wrong",
    "not correct",
    "not true",
    "untrue",
    "错",
    "错误",
    "不正确",
    "否",
    "假",
    "不是",
    "没有",
    "不存在",
    "falsch",
    "nein",
    "faux",
    "non",
    "falso",
)
_OPENS = later(r"^[\W_]*(?P<word>not\s+(?:correct|true|right)|[a-zé\u00ed]+|[\u4e00-\u9fff]{1,3})", re.IGNORECASE)
_HEDGED = later(
    r"\b(?:partly|partially|possibly|may ?be|perhaps|both|neither|either|sometimes|depends)\b|可能|部分"
    r"|^\W*\w+\s*(?:/|\bor\b|或)",
    re.IGNORECASE,
)
_VERDICT = later(
    r"\b(?:statement|claim|answer|it|this|that|she|he|alice(?:'s answer)?)\s+(?:is|was)"
    r"\s+(?P<said>(?:not\s+)?[a-z]+)\b",
    re.IGNORECASE,
)
_RIGHT_ONE = later(
    r"(?:correct|right|actual|proper)\s+(?:answer|option|choice)\b[^\n]{0,20}?"
    r"(?:is|should be|would be|:|\uff1a)\s*(?P<said>[^\n]*)"
    r"|(?:正确|应)(?:的)?(?:答案|选项)?(?:应该|应)?(?:是|为|选)[:\uff1a]?\s*(?P<chosen>[^\n]*)",
    re.IGNORECASE,
)


class Answered(NamedTuple):
    """What a reply answers: the index of an option, or whether something holds, or both (a rectification)."""

    option: int | None = None
    holds: bool | None = None


def read_choice(reply: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The one option that a reply states, as an index into `options`; `letters` are those shown beside them.

    A stated answer ("the answer is C", a heading, a box, JSON) counts before a bare letter or the words of an option.
    Statements that disagree, several letters, or a letter without an option are unusable: nothing is guessed.
    """
    text = answer_part(reply).strip()
    if not text:
        return Unusable("empty", "the reply is empty")
    said = [choice for statement in _statements(text) if (choice := _option(statement, options, letters)) is not None]
    if not said and len(_labelled(text, letters)) > 1:
        return Unusable("unreadable", "the reply speaks of several options and states none as its answer")
    if not said:
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        ends = dict.fromkeys((text, lines[0], lines[-1]))
        said = [choice for part in ends if (choice := _option(part, options, letters, alone=True)) is not None]
    last = said[-1:] if said and _final(text) else said
    return _one(last, letters)


def read_verdict(reply: str) -> Answered | Unusable:
    """Whether a reply says true or false, yes or no, correct or incorrect; a hedged or double verdict is unusable."""
    text = answer_part(reply).strip()
    if not text:
        return Unusable("empty", "the reply is empty")
    stated = [verdict for part in _statements(text) if (verdict := _polar(_plain(part.split(",")[0]))) is not None]
    if stated and _final(text):
        return Answered(holds=stated[-1])
    opening = _verdict(text)
    verdicts = {*stated} if opening is None else {opening, *stated}
    if not verdicts:
        last = text.splitlines()[-1]
        verdicts = {verdict for match in _VERDICT.finditer(last) if (verdict := _polar(match["said"])) is not None}
    if len(verdicts) != 1:
        return Unusable("unreadable", "the reply does not say one of the two")
    return Answered(holds=verdicts.pop())


def read_rectification(reply: str, options: Sequence[str], letters: str) -> Answered | Unusable:
    """The verdict on an offered answer and, if it is wrong, the option that the reply puts in its place.

    The option is None if the reply names none.
    """
    verdict = read_verdict(reply)
    if isinstance(verdict, Unusable) or verdict.holds:
        return verdict
    text = answer_part(reply)
    corrected = [match["said"] or match["chosen"] or "" for match in _RIGHT_ONE.finditer(text)]
    said = [choice for one in corrected if (choice := _option(one, options, letters)) is not None]
    if not said:
        return Answered(holds=False)
    option = _one(said, letters)
    return option if isinstance(option, Unusable) else Answered(option=option.option, holds=False)


def _labelled(text: str, letters: str) -> set[str]:
    """The letters that head a clause ("A: fits the fever. B. too early") or end an inference ("therefore D.")."""
    heads = (match["head"] or match["end"].upper() for match in _LABELLED.finditer(text))
    return {letter for letter in heads if letter in letters}


def _statements(text: str) -> Iterable[str]:
    """What the reply states as its answer, in the order of the text."""
    placed = []
    for pattern in (_STATED, _HEADED, _CHOOSE, _BOXED, _JSON):
        for match in pattern.finditer(text):
            groups = match.groupdict()
            placed.append((match.start(), groups.get("said") or groups.get("chosen") or ""))
    return [said.strip() for _, said in sorted(placed)]


def _final(text: str) -> bool:
    """Whether the reply marks a final answer, which then replaces what it said before."""
    return re.search(r"(?i)\bfinal\s+(?:answer|choice)\b|\\boxed|最终(?:答案|选择)", text) is not None


def _option(said: str, options: Sequence[str], letters: str, *, alone: bool = False) -> int | None:
    """The option that a statement names: by its words, or by its letter; -1 for several or for a letter beyond."""
    index = _first_option(said, options, letters, alone=alone)
    return -1 if index is not None and index >= 0 and _goes_on(said, index, options, letters) else index


def _goes_on(said: str, index: int, options: Sequence[str], letters: str) -> bool:
    """Whether a statement names another option right behind the first: 'A; B', 'A (or B)', 'Colitis, Asthma'."""
    text = re.escape(options[index].strip())
    own = rf"^[\W_]*+(?:(?i:option|choice|answer)\s+)?+(?:{letters[index]}\b)?+[\W_]*+(?i:{text})?+"
    others = [place for place in range(len(options)) if place != index]
    named = "|".join(
        rf"{letters[place]}(?=\s*(?:$|[,;/)]|(?:and|or)\b|[.:]\s*(?:$|(?i:{re.escape(options[place].strip())}))))"
        rf"|(?i:{re.escape(options[place].strip())})(?!\w)"
        for place in others
    )
    return re.match(rf"{own}{_JOIN}(?:(?i:option)\s+)?(?:{named})", said) is not None


def _first_option(said: str, options: Sequence[str], letters: str, *, alone: bool) -> int | None:
    said = said.strip(" \t*_`\"'\u201c\u201d")
    if not said or _DENIED.match(said):
        return None
    plain = _plain(said)
    if len(plain) == 1 and plain.upper() in letters:
        return letters.index(plain.upper())
    exact = [index for index, option in enumerate(options) if _plain(option) == plain]
    if len(exact) == 1:
        return exact[0]
    lead = _LEAD.match(said)
    if lead is None or (alone and not lead["letter"].isupper() and len(said) > 1):
        return _by_words(plain, options)
    rest = lead["rest"]
    if _MORE.match(rest):
        return -1
    index = letters.index(lead["letter"].upper()) if lead["letter"].upper() in letters else -1
    if _SEPARATED.match(rest) or (index >= 0 and _plain(rest).startswith(_plain(options[index]))):
        return index
    return _by_words(plain, options)


def _by_words(plain: str, options: Sequence[str]) -> int | None:
    """The only option whose words begin the statement; the longest, where one begins another."""
    matches = [
        index
        for index, option in enumerate(options)
        if plain.startswith(_plain(option)) and _SEPARATED.match(plain[len(_plain(option)) :])
    ]
    return max(matches, key=lambda index: len(_plain(options[index]))) if matches else None


def _one(said: Sequence[int], letters: str) -> Answered | Unusable:
    named = dict.fromkeys(said)
    if -1 in named:
        return Unusable("unreadable", f"the reply names several options, or one beyond {letters[-1]}")
    if len(named) != 1:
        why = "names no option" if not named else "states different options"
        return Unusable("unreadable", f"the reply {why}")
    return Answered(option=next(iter(named)))


def _verdict(said: str) -> bool | None:
    """The verdict that opens a statement; None for another word, a hedge beside it, or the opposite behind it."""
    match = _OPENS.match(said)
    if match is None or _HEDGED.search(said.split(".", maxsplit=1)[0]):
        return None
    verdict, behind = _polar(match["word"]), _BEHIND.match(said[match.end() :])
    opposite = verdict is not None and behind is not None and _polar(behind["word"]) is (not verdict)
    return None if opposite else verdict


def _polar(word: str) -> bool | None:
    plain = " ".join(word.casefold().split())
    if plain in _NO:
        return False
    if plain in _YES:
        return True
    shorter = (plain[:length] for length in (2, 1) if length < len(plain) and re.match(r"[\u4e00-\u9fff]", plain))
    return next((polar for part in shorter if (polar := _polar(part)) is not None), None)


def _plain(text: str) -> str:
    return " ".join(text.strip(_TRIM).casefold().split())
