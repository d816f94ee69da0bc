"""Finds the rare diseases that a text names. It is the first of two steps: a model is then asked about each of them.

The steps are those of MedR-Bench (section 4.1). A disease is rare if Orphanet's ontology or the project's list of rare
diseases has it, or if only OMIM has it. These have few names, so MONDO's names of the same diseases are looked for too.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from wardround.scenarios.diseases.lexical_linker import LexicalLinker, linker
from wardround.scenarios.diseases.linker import Concept, Linker
from wardround.scenarios.diseases.mondo import form, mondo
from wardround.scenarios.reports.article import Article, Candidate

SINGLE = 200
"""A text of at most this many characters is also read as a single name, which may be misspelt."""

_LONGEST = 8
"""Most words of a name that is looked for."""

_SENTENCE = re.compile(r"(?<=[.;:!?,])\s+|\n+")
_WORD = re.compile(r"[\w'\u2019/-]+")


def rare(text: str, names: Linker) -> Sequence[Concept]:
    """The rare diseases that `text` names, each once: those that the linker `names` finds, then those by MONDO."""
    concepts = [mention.concept for mention in names.mentions(text)]
    if len(text) <= SINGLE and (whole := names.link(text.strip())):
        concepts.append(whole.concept)
    listed = [concept for concept in concepts if _is_rare(concept)]
    if isinstance(names, LexicalLinker):
        listed += _by_other_names(text, names)
    return tuple({concept.id: concept for concept in listed}.values())


def candidates(article: Article, most: int) -> tuple[Candidate, ...]:
    """At most `most` rare diseases in the article: those of its title first, then by frequency.

    The linker takes some seconds at its first use in a process; it is not loaded if `most` is 0.
    """
    if most < 1:
        return ()
    used = linker()
    concepts = rare(article.text, used)
    named = Counter(mention.concept.id for mention in used.mentions(article.text))
    named |= Counter(concept.id for concept in _by_other_names(article.text, used))
    titled = {concept.id for concept in rare(article.title, used)}
    places = {concept.id: place for place, concept in enumerate(concepts)}
    best = sorted(concepts, key=lambda concept: (concept.id not in titled, -named[concept.id], places[concept.id]))
    return tuple(Candidate(id=concept.id, name=concept.name) for concept in best[:most])


def _is_rare(concept: Concept) -> bool:
    return bool(concept.rare) or concept.id.startswith("OMIM:")


@dataclass(frozen=True, slots=True)
class _OtherNames:
    """MONDO's names of the rare diseases, by their forms, and the roots of all words in them."""

    diseases: Mapping[str, Concept]
    roots: frozenset[str]


@cache
def _other_names(names: LexicalLinker) -> _OtherNames:
    table = mondo()
    meant: dict[int, Concept] = {}
    for concept in sorted(names.knowledge.concepts, key=_is_rare):  # common ones first: a shared name is not rare
        for number in dict.fromkeys(number for name in concept.names for number in table.named.get(form(name), ())):
            meant.setdefault(number, concept)
    diseases = {
        one: meant[number]
        for one, numbers in table.named.items() if " " in one  # the form of 'ADULT syndrome' is 'adult': no name
        for number in numbers[:1] if number in meant and _is_rare(meant[number])
    }  # fmt: skip
    return _OtherNames(diseases, frozenset(root for one in diseases for root in one.split()))


def _by_other_names(text: str, names: LexicalLinker) -> Iterator[Concept]:
    """The rare disease of each run of words that names one; from each word on, the longest run counts."""
    known = _other_names(names)
    for sentence in _SENTENCE.split(text):
        words = _WORD.findall(sentence)
        useful = [not (roots := form(word).split()) or known.roots.issuperset(roots) for word in words]
        at = 0
        while at < len(words):
            end = at
            while end < min(len(words), at + _LONGEST) and (useful[end] or len(form(words[end])) < 3):
                end += 1
            stop = next((last for last in range(end, at, -1) if form(" ".join(words[at:last])) in known.diseases), 0)
            if stop:
                yield known.diseases[form(" ".join(words[at:stop]))]
            at = stop or at + 1
