"""What a linker gives back and what it must be able to do: the contract of every linker of diseases."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from wardround.scenarios.terms.concepts import Concept


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text (`text == whole[start:end]`) that names `concept`.

    `rule` says how it was found and `score` (0 to 1) how well. `others` are concepts that the words may mean as well
    ('PE' and the like): the first choice is a choice then, and a careful caller passes it over.
    """

    text: str
    start: int
    end: int
    concept: Concept
    score: float
    rule: str
    others: tuple[Concept, ...] = ()


class Linker(Protocol):
    """Names to concepts. Pure after its first use: the same text gives the same answer."""

    def mentions(self, text: str) -> Sequence[Mention]:
        """The diseases named in a text of any length, in its order, none overlapping another."""
        ...

    def link(self, name: str) -> Mention | None:
        """What a single name means as a whole; None where nothing fits well enough."""
        ...

    def candidates(self, name: str, limit: int = 5) -> Sequence[Mention]:
        """What a single name may mean, best first, without the threshold of `link`."""
        ...
