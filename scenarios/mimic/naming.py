"""The plain linker: the names of a list of diseases, word for word in any spelling, nothing fuzzy."""

from collections.abc import Iterable

from wardround.scenarios.mimic.phrases import Phrases
from wardround.scenarios.mimic.pool import Disease
from wardround.scenarios.terms.concepts import Concept
from wardround.scenarios.terms.mentions import Mention


class Naming:
    """A linker (terms/mentions.py) over diseases."""

    def __init__(self, diseases: Iterable[Disease]) -> None:
        concepts = [
            (disease, Concept(f"POOL:{place}", disease.name, disease.synonyms, (), disease.icd10, disease.icd9))
            for place, disease in enumerate(diseases)
        ]
        self._phrases = Phrases((name, concept) for disease, concept in concepts for name in disease.names)

    def mentions(self, text: str) -> tuple[Mention, ...]:
        """The diseases that `text` names."""
        return tuple(
            Mention(
                text[hit.start : hit.end],
                hit.start,
                hit.end,
                hit.what,
                1.0,
                "abbreviation" if hit.short else "exact",
            )
            for hit in self._phrases.found(text)
        )
