"""What the words of a question and of a sentence mean, unit by unit, so that one can be weighed against the other."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache

from wardround.agents.history.question_kinds import LITTLE
from wardround.agents.history.vocabulary import history_concepts, topics, with_wider, word_fields
from wardround.scenarios.terms.wording import roots

_WORD = re.compile(r"[A-Za-z\d][A-Za-z\d'\u2019]*")
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """
a an the of in on at to by for and or as its it this that is was were be been being are am do does
did has have had you your yours yourself i me my we our us he him his himself she her hers herself
they them their there here any some can could will would shall should may might must please tell ask
about with without from when what which who whom whose how why where if so too very not no yes ever
just also than then but up out off over into onto don't didn't doesn't haven't hasn't isn't aren't
wasn't weren't can't couldn't won't wouldn't it's that's what's i'm i've i'd you've you're old older
patient report reports reported note notes noted deny denies denied doctor okay ok well
""",
    )
)
_LIGHT = 0.4
_NAMED_LIGHT = 0.7
_LETTERS = 6
"""What a word of little content weighs: 'start', 'long', 'anything'."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A word of content, its weight, and all that it means, alone and with its neighbours ('pass' in 'pass water')."""

    text: str
    meanings: frozenset[str]
    weight: float


@lru_cache(maxsize=16384)
def units(text: str) -> tuple[Unit, ...]:
    """The units of meaning of a question in their order.

    Example: `units("Do you pass water at night?")` has three.
    """
    named = (*_named(), *((f"@{topic.name}", topic.in_question) for topic in topics()))
    spans = [(match.start(), match.end(), name) for name, words in named for match in words.finditer(text)]
    units: list[Unit] = []
    content = [match for match in _WORD.finditer(text) if match[0].lower() not in _EMPTY]
    for start, end, name in spans:
        if not any(start < match.end() and match.start() < end for match in content):
            units.append(Unit(text[start:end], frozenset((name,)), 1.0))
    for match in content:
        alone = roots(match[0])
        names = frozenset(name for start, end, name in spans if start < match.end() and match.start() < end)
        light = all(word in LITTLE for word in alone)
        weight = 1.0 if not light else _NAMED_LIGHT if names else _LIGHT
        units.append(Unit(match[0], names | {f"={_stem(word)}" for word in alone}, weight))
    return tuple(units)


@lru_cache(maxsize=16384)
def all_meanings(text: str) -> frozenset[str]:
    """All that the words of a sentence mean, with what each of it belongs to, and the topics that it is about."""
    words = [word for match in _WORD.finditer(text) if match[0].lower() not in _EMPTY for word in roots(match[0])]
    means = {f"={_stem(word)}" for word in words}
    means |= {name for name, pattern in _named() if pattern.search(text) is not None}
    means |= {f"@{topic.name}" for topic in topics() if topic.in_text.search(text) is not None}
    return frozenset(means) | {f"!{name}" for name in with_wider(name[1:] for name in sorted(means) if name[0] == "!")}


@lru_cache(maxsize=16384)
def _stem(word: str) -> str:
    """The beginning of a root, for comparison only: 'stopped' and 'stopping' give the same."""
    if len(word) < 5:
        return word
    bare = re.sub(r"i(?:es|ed)$", "y", word)
    bare = re.sub(r"(?:ing|ed|ly|er|est|es|e|ness)$", "", bare) if len(bare) > 4 else bare
    bare = re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", bare)
    return bare[:_LETTERS] if len(bare) >= 3 else word


def narrowness(name: str) -> float:
    """How little a meaning spans, from 1 down: a field of two words is narrower than one of twenty."""
    return _narrow()[name]


@cache
def _narrow() -> Mapping[str, float]:
    named = (*_named(), *((f"@{topic.name}", topic.in_text) for topic in topics()))
    return {name: 1.0 / math.log2(3 + pattern.pattern.count("|")) for name, pattern in named}


@cache
def _named() -> tuple[tuple[str, re.Pattern[str]], ...]:
    concepts = tuple((f"!{concept.name}", concept.words) for concept in history_concepts())
    return (*concepts, *((f"~{name}", words) for name, words in word_fields()))
