"""Words of two names that mean one thing: a kind, a part of a site, a typing error, an abbreviation."""

import re
from collections.abc import Mapping, Sequence

from rapidfuzz.distance import OSA

from wardround.scenarios.terms.disease import opposed
from wardround.scenarios.terms.phrasing import Token
from wardround.scenarios.terms.vocabulary import lexicon, vocabulary
from wardround.scenarios.terms.wording import tokens

_BRACKET = re.compile(r"\s*[(\[]([^()\[\]]*)[)\]]")
_JOINING = frozenset(("of", "the", "and", "with", "in", "to", "a", "due", "by", "for", "or"))
_KIND = re.compile(r"(?:itis|itid|osis|oma|iasis|emia|uria|pathy|algia|ectasia|penia|cytosis|plasia|trophy|it|os)$")
_LONG, _LONGER = 5, 9
"""Letters of the shortest word that may hold one typing error, and two."""


def spelled(truth: str, said: str) -> bool:
    """Whether the two have the same words, one by one, but for typing errors in long words."""
    ours, theirs = tokens(truth), tokens(said)
    if len(ours) != len(theirs):
        return False
    differing = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
    return bool(differing) and all(mistyped(one, other) for one, other in differing)


def abbreviated(truth: str, said: str) -> bool:
    """Whether `said` is one abbreviation, unknown to the table, of the first letters of the truth's words."""
    letters = re.sub(r"[^A-Za-z0-9]", "", said)
    if not re.fullmatch(r"[A-Z][A-Za-z0-9-]{2,6}", said.strip(" .")) or sum(map(str.isupper, said)) < 3:
        return False
    if letters in vocabulary().abbreviations:
        return False
    words = re.findall(r"[A-Za-z]+|\d+", _BRACKET.sub(" ", truth))
    main = [word for word in words if word.lower() not in _JOINING]
    return any(
        "".join(word[0] if word.isalpha() else word for word in held).upper() == letters.upper()
        for held in (words, main)
    )


def paired(
    missing: Sequence[str], extra: Sequence[str], held: Mapping[str, Token] | None = None
) -> tuple[list[str], list[str]]:
    """The two lists without words that are each other's spelling, kind or part."""
    lost, new = list(dict.fromkeys(missing)), list(dict.fromkeys(extra))
    for word in tuple(lost):
        other = next((one for one in new if _alike(word, one, held or {})), None)
        if other is not None:
            lost.remove(word)
            new.remove(other)
    return lost, new


def _alike(word: str, other: str, held: Mapping[str, Token]) -> bool:
    """Whether a said word means a word of the truth: narrower, a part of its site, a typing error."""
    table = vocabulary()
    if other in table.narrower.get(word, frozenset()):
        return True
    if word in table.within.get(other, frozenset()) or other in table.within.get(word, frozenset()):
        return True
    if word not in held or other not in held:
        return False
    return mistyped(held[word].stem, held[other].stem)


def mistyped(one: str, other: str) -> bool:
    """Whether two words differ by a typing error: one letter, two in long words, never in an opposed prefix."""
    short = min(len(one), len(other))
    if short < _LONG or one[0] != other[0] or opposed(one, other) or not (one.isalpha() and other.isalpha()):
        return False
    kinds = _KIND.search(one), _KIND.search(other)
    if kinds[0] and kinds[1] and kinds[0][0] != kinds[1][0]:
        return False
    most = 2 if short >= _LONGER else 1
    if OSA.distance(one, other, score_cutoff=most) > most:
        return False
    return one not in lexicon() or other not in lexicon()
