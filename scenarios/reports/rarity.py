"""The rare diseases that an article may be about: found by the linker, the likeliest first, for a model to verify."""

from collections import Counter

from wardround.scenarios.reports.article import Article, Candidate
from wardround.scenarios.terms.lexical import linker
from wardround.scenarios.terms.mentions import Linker
from wardround.scenarios.terms.rarity import rare


def candidates(article: Article, most: int, by: Linker | None = None) -> tuple[Candidate, ...]:
    """At most so many rare diseases that the article names: those of its title first, then those named most often.

    `by` is the linker; the default one takes some seconds when it is used first in a process, and is not touched where
    `most` is 0.
    """
    if most < 1:
        return ()
    used = by or linker()
    found = rare(article.text, used)
    named = Counter(mention.concept.id for mention in used.mentions(article.text))
    titled = {concept.id for concept in rare(article.title, used)}
    places = {concept.id: place for place, concept in enumerate(found)}
    best = sorted(found, key=lambda concept: (concept.id not in titled, -named[concept.id], places[concept.id]))
    return tuple(Candidate(id=concept.id, name=concept.name) for concept in best[:most])
