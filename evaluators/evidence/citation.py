"""A place in a stored text, and the words that stand there."""

import msgspec

from wardround.engine.errors import StoreError
from wardround.engine.protocols import Store
from wardround.evaluators.evidence.found import Found
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.page import Page
from wardround.evaluators.evidence.quoted import locate

LEAST = 8
"""Letters and digits of a quotation that a verdict may rest on."""


class Citation(msgspec.Struct, frozen=True, omit_defaults=True):
    """`start` to `end` (characters) of the stored text `digest`.

    `how` says how the quoted words were found there: exact, spaced or aligned (quoted.py); `likeness` is 100 but for
    aligned ones.
    """

    digest: str
    start: int
    end: int
    how: str = "exact"
    likeness: float = 100.0


def cite(source: Found | Page, words: str) -> Citation | None:
    """Where `words` stand in a passage or page, or None if they do not: then they are nobody's evidence.

    None also for what stands in any text: two words and 8 letters or digits say something (Chinese more in less).
    """
    place = locate(source.text, words) if _telling(words) else None
    return place and Citation(source.digest, place.start, place.end, place.how, place.likeness)


async def quote(store: Store, citation: Citation) -> str:
    """The words at a citation, exactly as they stand in the store.

    Raises StoreError if the text is missing or was changed, or if the citation points outside it.
    """
    text = await Ledger(store).text(citation.digest)
    if not 0 <= citation.start < citation.end <= len(text):
        raise StoreError(f"the text {citation.digest} has no characters {citation.start} to {citation.end}")
    return text[citation.start : citation.end]


def _telling(words: str) -> bool:
    """Whether quoted words say something: a word or two stand in any text. Chinese says more in a character."""
    letters = [char for char in words if char.isalnum()]
    dense = sum(char >= "\u3040" for char in letters)
    return len(letters) + dense >= LEAST and (dense > 0 or len(words.split()) > 1)
