"""The rare diseases a text names: the first of two steps to flag a rare case; a model verifies them."""

from collections.abc import Sequence

from wardround.scenarios.terms.concepts import Concept
from wardround.scenarios.terms.mentions import Linker

SINGLE = 200
"""Characters up to which a text is also read as one name, misspellings and all."""


def rare(text: str, linker: Linker) -> Sequence[Concept]:
    """The rare diseases that `text` names, each once, in the order of the text.

    Rare is what Orphanet's ontology or the project's list of rare diseases has, and what only OMIM has.
    """
    found = [mention.concept for mention in linker.mentions(text)]
    if len(text) <= SINGLE and (whole := linker.link(text.strip())):
        found.append(whole.concept)
    return tuple({concept.id: concept for concept in found if concept.rare or concept.id.startswith("OMIM:")}.values())
