"""The content words of a text: their weights, keywords to look up, and the removal of asides to a judge.

The offline judge compares texts by these words, quotations are located by them, and the check of rubrics uses them.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from wardround.engine.text import regex
from wardround.scenarios.terms.wording import list_words, plain, root, stem

LONGEST = 100_000
"""Number of characters read from the beginning of a text."""

_WORD = regex(r"\d+(?:[.,]\d+)*|[^\W\d_]+\d*")
_UNSPACED = regex(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
"""Scripts without spaces between words: each pair of characters counts as a word."""
_END = regex(
    r"(?<=[^\s.]{2})[.!?](?=[\s*\"')\]]+[A-Z0-9*\"(\[-])|[\u3002\uff01\uff1f]|;(?=\s)"
    # a long line followed by a lower-case letter is only wrapped
    r"|(?<![^\n]{50})\n\s*|\n\s*+(?![a-z(])"
)
"""Where a sentence ends."""

LITTLE = list_words(
    """a about above after again all also although an and any are as at be because been before being below between both
    but by can could did do does doing done down during each few for from further had has have having he her
    here his how however i if in into is it its just let like made make makes many may me might more most much
    must my need needs next no nor not now of off on once one only or other our out over own per rather s same
    she should since so some such than that the their them then there these they this those through thus to too
    two under until up upon us very was we well were what when where which while who whom whose why will with
    within without would yet you your first second third finally firstly secondly overall additionally
    furthermore moreover therefore hence based given patient patients case clinical step steps looking look see
    seen shows show showed showing shown reveal reveals revealed revealing find finding findings found note
    noted noting present presents presented presenting presentation consider considered considering
    consideration considerations suggest suggests suggested suggesting suggestive indicate indicates indicated
    indicating indicative consistent likely unlikely possible possibly possibility include includes including
    included key important significant significantly known identified identify year years old male female man
    woman diagnosis diagnose diagnosed diagnoses diagnostic information summary review initial assessment
    analysis evaluate evaluation history examination test tests result results features feature confirm confirms
    confirmed confirming confirmation support supports supported supporting align aligns aligned aligning
    explain explains explained explaining reinforce reinforces reinforced reinforcing strengthen strengthens
    exclude excludes excluded excluding rule rules ruled cause causes caused causing lead leads leading led
    resulting due associated association common commonly typical typically characteristic characteristically
    classic classically usually often particularly especially specifically potentially probably strongly
    directly unlike another despite reflect reflects correlate correlates contribute contributes relevant
    notable remarkable unremarkable specific strong clear crucial critical definitive definitively verdict judge
    judged judgement judgment grade grader marked marking classify classification correct incorrect wrong right
    answer reply respond response output instruction instructions ignore prompt json true false yes reasoning
    citation repetition redundancy"""
)
"""Stems without clinical content, and those of words about judging."""


Word = tuple[str, str]
"""A word in lower case as written, and its comparable form."""


@lru_cache(maxsize=1024)
def content_words(text: str) -> tuple[Word, ...]:
    """Return the content words of a text in order; numbers count, and so do character pairs of unspaced scripts."""
    lowered = unicodedata.normalize("NFKC", text[:LONGEST]).lower()
    return tuple(pair for word in _WORD.findall(lowered) for pair in _pairs(word))


@lru_cache(maxsize=65536)
def _pairs(word: str) -> tuple[Word, ...]:
    if _UNSPACED.fullmatch(word):
        return tuple((word[at : at + 2], word[at : at + 2]) for at in range(len(word) - 1))
    form = stem(word if word.isascii() else plain(word).partition(" ")[0])
    if not form or form in LITTLE or (len(form) < 2 and not form.isdigit()):
        return ()
    return ((word, root(form)),)


@lru_cache(maxsize=1024)
def word_set(text: str) -> frozenset[str]:
    """Return the set of content words of a text, in their comparable form."""
    return frozenset(form for _, form in content_words(text))


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text, unchanged."""
    return tuple(_sentences(text[:LONGEST]))


def _sentences(text: str) -> Iterator[str]:
    start = 0
    for end in _END.finditer(text):
        if said := text[start : end.end()].strip():
            yield said
        start = end.end()
    if said := text[start:].strip():
        yield said


def share(wanted: Collection[str], had: Collection[str]) -> float:
    """Return the weighted share of the `wanted` words that are among those `had`; 0 if no word is wanted."""
    whole = sum(map(length_weight, wanted))
    return sum(length_weight(word) for word in wanted if word in had) / whole if whole else 0.0


def length_weight(word: str) -> int:
    """Return the weight of a word by its length alone, since no corpus is available: longer words are rarer.

    Weights are whole numbers, so that their sum does not depend on the order.
    """
    return 5 if word[0].isdigit() else min(len(word), 10)


def sentence_windows(parts: Sequence[str], size: int) -> Iterator[frozenset[str]]:
    """Yield the content words of each run of `size` neighbouring sentences."""
    known_words = [word_set(part) for part in parts]
    for at in range(max(1, len(known_words) - size + 1)):
        yield frozenset().union(*known_words[at : at + size])


_WORDS = (
    "ignor", "disregard", "forget", "overrid", "bypass", "verdict", "judg", "classif", "label", "grade", "grading",
    "rating", "score", "mark ", "rate ", "count ", "treat ", "deem", "accept", "consider", "regard", "report ",
    "return", "output", "print", "say ", "write ", "answer", "respon", "reply", "instruction", "prompt", "system",
    "developer", "admin", "assistant", "evaluator", "reviewer", "<|", "[inst", "<<sys", "user:", "human:", "{",
    "\u5ffd\u7565", "\u65e0\u89c6", "\u8bf7", "\u5224\u5b9a", "\u0438\u0433\u043d\u043e\u0440",
)  # fmt: skip
"""`without_asides` drops only sentences that contain one of these, so this fast check skips most texts."""
_VERDICTS = (
    r"(?:correct|incorrect|wrong|search|true|false|reasoning|citation|repetition|redundancy|yes|no|unverifiable)\b"
)
_JUDGES = r"(?:judge|grader|evaluator|reviewer|rater|assistant|ai|llm|language\smodel)s?\b"
_BEHEST = regex(
    rf"""(?xi)
    \b(?:ignor(?:e|ing|a|ad|en|ez|iere?n?)|disregard(?:ing)?|forget|overrid(?:e|ing)|bypass(?:ing)?)\b[^\n.!?]{{0,60}}
        \b(?:instructions?|prompts?|rules?|above|previous|criteria|guidelines?|system|everything|instru\w+|anweisung\w*|consignes?)\b
    |\b(?:verdict|judge?ment|classification|label|grade|rating|score)\b[^\n.!?\w]{{0,6}}
        (?:\s(?:is|as|must\sbe|should\sbe)\b|[:=])[^\n.!?\w]{{0,6}}{_VERDICTS}
    |\b(?:mark|rate|grade|classify|label|judge|score|count|treat|deem|accept|consider|regard|report|return|output|print
        |say|write|answer|respond|reply)\b[^\n.!?]{{0,60}}
        \b(?:as|with|only|is|exactly|simply|just)\b[^\n.!?\w]{{0,6}}{_VERDICTS}
    |\b(?:answer|respond|reply|output|say|return|print)\s[^\n.!?\w]{{0,3}}{_VERDICTS}
    |\b(?:dear|attention|hey|(?:note|message|instructions?)\s(?:to|for))[\s,:]{{1,2}}(?:the\s|all\s|any\s)?{_JUDGES}
    |\b(?:as|you\sare(?:\snow)?)\s(?:the\s|an?\s)?(?:\w+\s){{0,2}}{_JUDGES}
    |\b(?:system|developer|admin\w*)\s?(?:prompt|message|override|note|instruction)s?\b
    |<\|?/?\w*\|>|\[/?INST\]|<</?SYS>>|^\#{{2,}}\s?(?:instruction|system|response|assistant|user)\b
    |^\s*(?:system|assistant|user|human)\s*:
    |\{{[^{{}}]{{0,200}}"(?:judge?ment|verdict|classification|found|steps?|same|items|keywords_to_search)"
    |\u5ffd\u7565|\u65e0\u89c6|\u8bf7(?:\u5224|\u56de\u7b54|\u8f93\u51fa|\u5c06)|\u5224\u5b9a\u4e3a
    |\b(?:\u043f\u0440\u043e)?\u0438\u0433\u043d\u043e\u0440\u0438\u0440\w*
    """,
    re.MULTILINE,
)
_SPLIT = regex(r"(?<=[.!?\u3002\uff01\uff1f])(?=\s|$|[\u3400-\u9fff])|(?<=\n)")


@lru_cache(maxsize=1024)
def without_asides(text: str) -> str:
    """Return `text` with a line end in place of each sentence that tells a judge what to do.

    A lexical judge follows no instruction, but it weighs the words of every sentence, and words that are not about the
    case would distort the weights. So sentences that are plainly about judging are dropped; all others stay.
    """
    if not _speaks(text.lower()):
        return text
    return "".join("\n" if _speaks(part.lower()) and _BEHEST.search(part) else part for part in _SPLIT.split(text))


def _speaks(lowered: str) -> bool:
    return any(word in lowered for word in _WORDS)


MOST = 10
"""Highest number of words in a query."""


def longest_words(texts: Iterable[str], without: Collection[str] = (), most: int = MOST) -> str:
    """Return the longest content words of the texts, as written and in order, separated by commas; "" if none is left.

    Long words tend to be rare; numbers are left out. `without` holds comparable forms that were already looked up.
    """
    kept: dict[str, str] = {}
    for text in texts:
        for written, form in content_words(text):
            if form not in without and not form[0].isdigit():
                kept.setdefault(form, written)
    chosen = frozenset(sorted(kept, key=length_weight, reverse=True)[:most])
    return ", ".join(written for form, written in kept.items() if form in chosen)
