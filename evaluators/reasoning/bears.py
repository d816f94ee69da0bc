"""Whether quoted words speak of what a step claims: they hold its subject and its object."""

from collections.abc import Mapping
from functools import cache, lru_cache

from wardround.evaluators.lexical.content import known, sentences, share
from wardround.scenarios.terms import ontologies
from wardround.scenarios.terms.knowledge import assembled, conditions
from wardround.scenarios.terms.lexical_linker import LexicalLinker

PAIR = 2
"""Linked concepts of a claim that must be held: that of which something is said, and what is said of it."""
ALIKE = 0.3
"""Least share (by weight) of a claim's other telling words that a quotation must hold where no pair of concepts is."""
BEFORE = 600
"""Characters before a quotation that may name what it speaks of."""


def bears(step: str, quote: str, context: str = "") -> bool:
    """Whether `quote` holds subject and object of one claim of `step`; each sentence of a step is a claim.

    Concepts are the project's diseases and the findings of HPO, as the lexical linker finds them. The quotation holds a
    pair of the claim's concepts; one of the two, the subject, may stand in the `context` alone (the title of the source
    and the text just before the quotation). Where no pair is held, for most objects are no linked concept, a concept of
    the claim must be held all the same, if it has one, and the quotation itself must hold telling words of the claim
    beside that concept's own: two at least, and three tenths of them by weight, or all of fewer.
    """
    said, inside, around = known(quote), concepts(quote), concepts(f"{context}\n{quote}")
    return any(_holds(claim, said, inside, around) for claim in sentences(step))


def _holds(claim: str, said: frozenset[str], inside: Mapping[str, object], around: Mapping[str, object]) -> bool:
    wanted = concepts(claim)
    held = [concept for concept in wanted if concept in around]
    if len(held) >= PAIR and any(concept in inside for concept in held):
        return True
    if wanted and not held:
        return False
    words = known(claim).difference(*(wanted[concept] for concept in held))
    return len(words & said) >= min(PAIR, len(words)) > 0 and share(words, said) >= ALIKE


@lru_cache(maxsize=8192)
def concepts(text: str) -> Mapping[str, frozenset[str]]:
    """The ids of the diseases and findings that a text names, each with the telling words that name it."""
    found: dict[str, frozenset[str]] = {}
    for mention in _linker().mentions(text):
        found[mention.concept.id] = found.get(mention.concept.id, frozenset()) | known(mention.text)
    return found


@cache
def _linker() -> LexicalLinker:
    """Over the project's table and HPO alone: the whole of ICD-10-CM and OMIM would take three times as long."""
    return LexicalLinker(assembled(conditions(), (), (ontologies.findings(),)))
