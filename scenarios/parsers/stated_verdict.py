"""Reads whether a reply says true or false, yes or no, correct or incorrect; it never guesses."""

import re

from wardround.engine.text import regex
from wardround.scenarios.parsers.stated_answers import stated_answers

_YES = frozenset(
    (
        *("true", "t", "yes", "y", "correct", "right", "accurate", "对", "正确", "是", "真", "有", "存在"),
        *("wahr", "richtig", "ja", "vrai", "oui", "verdadero", "sí", "si"),
    )
)
_NO = frozenset(
    (
        *("false", "f", "no", "n", "incorrect", "wrong", "not correct", "not true", "not right", "not accurate"),
        *("untrue", "inaccurate", "错", "错误", "不正确", "不对", "否", "假", "不是", "没有", "不存在"),
        *("falsch", "nein", "faux", "non", "falso"),
    )
)
_NOT = r"not\s+(?:correct|true|right|accurate)"
_SURELY = r"(?:definitely|absolutely|certainly|clearly|surely|indeed|therefore|thus|hence|so)"
_OPENS = regex(
    rf"^[\W_]*(?:(?:{_SURELY}|I(?: would|'d)? (?:say|think|believe)(?: that)?|(?:it|this|that) is)\b[\s,:]*)*"
    rf"(?P<word>{_NOT}|[a-zé\u00ed]+|[\u4e00-\u9fff]{{1,3}})",
    re.IGNORECASE,
)
_HEDGED = regex(
    r"\b(?:partly|partially|possibly|may ?be|perhaps|both|neither|either|sometimes|depends)\b|可能|部分|吗|是否|不一定"
    r"|^\W*\w+\s*(?:/|\bor\b|或)"
    r"|^\W*\w+\W+(?:unless|except|only\s+(?:if|when)|provided|as\s+long\s+as)\b"
    r"|^\W*\w+\W+(?:is|was|would\s+be)\s+(?:\w+\s+)?not\b|^\W*\w+\W*\?",
    re.IGNORECASE,
)
_TWOFOLD = regex(
    r"\b(?:true|yes|correct)\b[^.\n]{0,60}[,;]\s*(?:and |but )?(?:false|no|incorrect)\b\s*(?:if|in|for|when|\(|\d)"
    r"|\b(?:false|no|incorrect)\b[^.\n]{0,60}[,;]\s*(?:and |but )?(?:true|yes|correct)\b\s*(?:if|in|for|when|\(|\d)"
    r"|[真对](?:的)?[,;](?:但|也|或|有时|可)[^\n\u3002]{0,8}[假错]|[假错](?:的)?[,;](?:但|也|或|有时|可)[^\n\u3002]{0,8}[真对]",
    re.IGNORECASE,
)
"""Two verdicts, each under a condition: 'true if young, false if old'."""
_BEHIND = regex(r"^(?:\W|\b(?:and|or|but|also|too)\b)*(?P<word>[^\W\d_]+)\s*(?:[.,;:!?\u3002]|$)", re.IGNORECASE)
_SUBJECT = regex(
    r"(?:^|[.!?;:,\n]\s*|\b(?:so|thus|hence|therefore|think|believe|conclude|and|that|because)\s+)"
    r"(?:(?:the|this|her|his|a|student'?s?|offered|given|above)\s+)*"
    r"(?:statement|claim|answer|assertion|it|this|that|she|he|student|alice(?:'s answer)?)[*_\"']*\s+(?:is|was)\s+"
    rf"(?:{_SURELY}\s+)?(?:an?\s+)?[*_\"']*(?P<said>{_NOT}|[a-z]+)\b(?!\s*(?:or\b|/|\?))",
    re.IGNORECASE,
)
_HOLDS = regex(
    r"\b(?:statement|claim|assertion)\s+(?P<not>does\s+not\s+hold|fails)|\b(?:statement|claim|assertion)\s+holds\b",
    re.IGNORECASE,
)
_CHINESE = regex(
    r"(?:说法|陈述|表述|叙述|论述|观点|命题|该句|此句|这句话|(?:学生的?)?(?<!正确)(?<!最终)(?:回答|答案))(?:是)?"
    r"(?P<said>不正确|不对|错误|错|正确|对|真|假)(?:的)?(?!吗|还是|与否)"
)
_DOUBTED = regex(
    r"\b(?:not|never|doubt|whether|if|unless|evidence|case|cannot|deny|unclear|argue[sd]?|some|many|people)\b[^.!?;\n]{0,60}$|n't\b[^.!?;\n]{0,60}$"
    r"|(?:不能说|是否|如果|不认为|无法说)[^\u3002;\n]{0,20}$",
    re.IGNORECASE,
)
_CLAUSE = regex(r"[.,;!\n\u3002]")
_SHORT_FORMS = ((re.compile(r"(?i)\b(is|was)n't\b"), r"\1 not"), (re.compile(r"(?i)\b(it|that)'s\b"), r"\1 is"))


def stated_verdict(text: str) -> bool | None:
    """The one verdict that a reply states: True or False; None if it is hedged, denied, a question or double.

    ::

        stated_verdict("The statement is false.")  # False
    """
    for pattern, plain in _SHORT_FORMS:
        text = pattern.sub(plain, text)
    stated = stated_answers(text)
    if any(_TWOFOLD.match(said.lstrip(" \t*_`#>")) for said in (stated.rest, *stated.firm)):
        return None
    firm = [said for one in stated.firm if (said := _of_statement(one)) is not None]
    if firm and "final" in text.casefold():
        return firm[-1]
    lines = [line for line in stated.rest.splitlines() if line.strip()] or [""]
    opening = _opening(stated.rest)
    ends = {polar(line.strip(" \t*_`\"'()[]{}<>#:.!\u3002")) for line in (lines[0], lines[-1])}
    if {True, False} <= {opening, *ends}:
        return None
    verdicts = {*firm} if opening is None else {opening, *firm}
    if not verdicts:
        verdicts = {said for said in (_opening(lines[-1]),) if said is not None} if len(lines) > 1 else set()
    if not verdicts:
        verdicts = set(_subjects(lines[-1])) or set(_subjects(lines[0]))
    return verdicts.pop() if len(verdicts) == 1 else None


def _of_statement(said: str) -> bool | None:
    clause = _CLAUSE.split(said, maxsplit=1)[0]
    verdict = None if _HEDGED.search(clause) else polar(clause.strip(" \t*_`\"'()[]{}<>#:"))
    behind = _BEHIND.match(said[len(clause) :])
    return None if verdict is not None and behind and _exactly(behind["word"]) is (not verdict) else verdict


def _opening(said: str) -> bool | None:
    """The verdict that opens a text; None for another word, a hedge beside it, or the opposite after it."""
    match = _OPENS.match(said)
    if match is None or _HEDGED.search(re.split(r"[.\u3002]", said, maxsplit=1)[0]):
        return None
    verdict, behind = polar(match["word"]), _BEHIND.match(said[match.end() :])
    opposite = verdict is not None and behind is not None and _exactly(behind["word"]) is (not verdict)
    return None if opposite else verdict


def _subjects(line: str) -> list[bool]:
    """The verdicts of a line on a named subject ("the statement is false"), without those that are in doubt."""
    stated = [
        said
        for pattern in (_SUBJECT, _CHINESE)
        for match in pattern.finditer(line)
        if (said := _exactly(match["said"])) is not None and not _DOUBTED.search(line[: match.start("said")])
    ]
    holds = [match["not"] is None for match in _HOLDS.finditer(line) if not _DOUBTED.search(line[: match.start()])]
    return [] if re.search(r"[?]\s*$|吗", line) else [*stated, *holds]


def _exactly(word: str) -> bool | None:
    plain = " ".join(word.casefold().split())
    return False if plain in _NO else True if plain in _YES else None


def polar(word: str) -> bool | None:
    """The verdict of a word, or of a Chinese one that begins with such a word; None if it states none."""
    plain = re.sub(r"^是(?=[错对正不假真])", "", " ".join(word.casefold().split()))
    if (verdict := _exactly(plain)) is not None:
        return verdict
    if re.search(r"[对真].*(?:错|假|也不)|[错假].*[对真]", plain):
        return None
    shorter = (plain[:length] for length in (3, 2, 1) if length < len(plain) and re.match(r"[\u4e00-\u9fff]", plain))
    return next((said for part in shorter if (said := _exactly(part)) is not None), None)
