"""Finds misspelt names of a disease and of its drugs, organisms and operations, by letters and by sound."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from rapidfuzz.distance import DamerauLevenshtein

from wardround.engine.text import regex
from wardround.scenarios.diseases.giveaway_terms import listed_words
from wardround.scenarios.terms.wording import lexicon, stem

DERIVED = regex(r"(?:ly|ive|al|ous|ity|ation|ed|ing|ic)$")
"""Endings that derive another word from a name and do not misspell it: 'prematurely' from 'prematurity'."""
_LETTERS = regex(r"[A-Za-z]+(?:-[A-Za-z]+)*")
_WORD = regex(r"[A-Za-z][A-Za-z'\u2019-]{4,}")
_SOUNDS = tuple(
    (regex(pattern), sound)
    for pattern, sound in (
        (r"[^a-z]", ""),
        (r"^(?:pn|kn|gn|mn)", "n"),
        (r"^ps", "s"),
        (r"^pt", "t"),
        (r"sch", "sk"),
        (r"ph|gh(?=t?$)|v", "f"),
        (r"sc(?=[eiy])|c(?=[eiy]|ae|oe)", "s"),
        (r"ti(?=on|a)|sh|ci(?=a)", "s"),
        (r"dg|j", "g"),
        (r"x", "ks"),
        (r"ch|ck|q|c", "k"),
        (r"z", "s"),
        (r"[hw]", ""),
        (r"(.)\1+", r"\1"),
        (r"(?<=.)[aeiouy]+", ""),
        (r"^[aeiouy]+", "a"),
        (r"(.)\1+", r"\1"),
    )
)
"""How the letters of medical English sound. Vowels count only at the start: 'newmonia' sounds like 'pneumonia'."""
_SHORTEST_SOUND = 3
"""Number of consonants in the shortest word that is recognised by its sound."""
_LONG_SOUND = 6
"""Number of consonants in the shortest word that is recognised if one of them is wrong."""
_PLAIN_END = regex(r"(?:ion|ive|ing|ed|ent|ant|able|al)$")
"""Endings of many plain words. A name with one is matched only by its whole sound: 'interaction' is no 'infarction'."""
_MOST_LETTERS = 4
"""Most letters by which a word may differ from a name that sounds the same."""


@lru_cache(maxsize=32768)
def sound(word: str) -> str:
    """The consonants of a word as they sound, with an 'a' for vowels at the start.

    >>> sound("pylonefritis") == sound("pyelonephritis")
    True
    """
    word = word.casefold()
    for pattern, heard in _SOUNDS:
        word = pattern.sub(heard, word)
    return word


@dataclass(frozen=True, slots=True)
class Misspellings:
    """Looks for misspelt forms of each of the `words`, and of each name of several words in `phrases`."""

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]

    @classmethod
    def of(cls, names: Iterable[str], words: Iterable[str]) -> "Misspellings":
        """Make them of the names with two to five words, and of single words in small letters."""
        parts = (tuple(re.findall(r"[a-z]+", name.casefold())) for name in names)
        phrases = tuple(dict.fromkeys(part for part in parts if 2 <= len(part) <= 5 and sum(map(len, part)) > 9))
        return cls(tuple(sorted(set(words))), phrases)

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """(start, end) of each misspelt word and name of a text."""
        wrong: dict[str, bool] = {}
        for match in _WORD.finditer(text):
            word = match[0].casefold().removesuffix("'s").removesuffix("\u2019s").strip("'\u2019")
            if word not in wrong:
                wrong[word] = any(_word_for(word, name) for name in self.words)
            if wrong[word]:
                yield match.span()
        words = [(hit.start(), hit.end(), hit[0].casefold().replace("-", "")) for hit in _LETTERS.finditer(text)]
        for name in self.phrases:
            for at in range(len(words) - len(name) + 1):
                window = words[at : at + len(name)]
                if _phrase_for([said for _, _, said in window], name):
                    yield window[0][0], window[-1][1]


def _word_for(word: str, name: str) -> bool:
    """Whether a word of a text is the name of one word, but misspelt, cut short or without its first letter."""
    if abs(len(word) - len(name)) > _MOST_LETTERS and not name.startswith(word):
        return False
    if word == name[1:] or (name.startswith(word) and 7 <= len(word) <= len(name) - 3 and stem(word) not in lexicon()):
        return True
    bare = word.replace("-", "")
    if bare == name:
        return bare != word  # 'sub-arachnoid'
    if _real(bare):
        return False
    if len(name) == 5:  # an eponym, only with its letters in another order: 'cronhs', but not 'crown'
        return bare[0] == name[0] and sorted(bare.removesuffix("s")) == sorted(name)
    form = DERIVED.search(bare)
    if _ends_otherwise(bare, name) or (form and not name.endswith(form[0])):
        return False
    return _near(bare, name) or _sounds_alike(bare, name)


def _phrase_for(said: list[str], name: tuple[str, ...]) -> bool:
    """Whether the words of a text are a name with one word misspelt, or with several that are no words of English."""
    wrong = [(word, meant) for word, meant in zip(said, name, strict=True) if word != meant]
    if not wrong or any(_ends_otherwise(*pair) or DERIVED.search(pair[0]) for pair in wrong):
        return False
    if len(wrong) == 1:
        return _near(*wrong[0]) or _swapped(*wrong[0]) or (_sounds_alike(*wrong[0]) and not _real(wrong[0][0]))
    if any(_real(word) for word, _ in wrong) or not any(_near(*pair) or _sounds_alike(*pair) for pair in wrong):
        return False
    return all(_near(*pair) or _sounds_alike(*pair) or sound(pair[0]) == sound(pair[1]) for pair in wrong)


def _swapped(word: str, name: str) -> bool:
    """Whether a word has the four letters of another in another order: 'vien' for 'vein'."""
    return len(name) == 4 and word[0] == name[0] and sorted(word) == sorted(name)


def _near(word: str, name: str) -> bool:
    """Whether two words with the same first letter differ by at most one letter: two in long words, none in short."""
    most = 0 if len(name) < 5 else 1 if len(name) < 9 else 2
    if not word or word[0] != name[0] or abs(len(word) - len(name)) > most:
        return False
    return DamerauLevenshtein.distance(word, name, score_cutoff=most) <= most


def _sounds_alike(word: str, name: str) -> bool:
    """Whether two words sound alike and look alike enough."""
    if len(name) < 6 or abs(len(word) - len(name)) > _MOST_LETTERS:
        return False
    ours, theirs = sound(word), sound(name)
    if len(theirs) < _SHORTEST_SOUND or ours[:1] != theirs[:1]:
        return False
    if ours != theirs:
        long = len(theirs) >= _LONG_SOUND and not _PLAIN_END.search(name)
        if not long or DamerauLevenshtein.distance(ours, theirs, score_cutoff=1) > 1:
            return False
    most = min(_MOST_LETTERS, len(name) // 3)
    return DamerauLevenshtein.distance(word, name, score_cutoff=most) <= most


@lru_cache(maxsize=32768)
def _real(word: str) -> bool:
    """Whether a word stands in the tables, alone or after a prefix: 'ineffective'."""
    bare = re.sub(r"^(?:in|un|re|non|dis|im|pre)(?=[a-z]{5})", "", word)
    return word in listed_words() or any(stem(one) in lexicon() for one in (word, bare))


def _ends_otherwise(word: str, name: str) -> bool:
    """Whether a word is a name, or the name with another ending: 'malarial' and 'embolisms', but not 'malariia'."""
    cut = word == name[:-1] and not name.endswith("s")
    return word.startswith(name) or (
        word.startswith(name[:-1]) and word[len(name) - 1 :] not in (name[-2:], name[-1] * 2) and not cut
    )
