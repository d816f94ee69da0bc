"""One passage that a search found."""

import msgspec

from wardround.engine.events import digest_of


class Found(msgspec.Struct, frozen=True, omit_defaults=True):
    """A passage: its words, and where they come from.

    `start` and `end` count characters in the document at `url`, of which `text` is a part; both are 0 where the
    provider gives a snippet without its place. `date` is what the source states (ISO, as far as it is given), `source`
    the collection or site.
    """

    title: str
    url: str
    text: str
    start: int = 0
    end: int = 0
    date: str = ""
    source: str = ""

    @property
    def digest(self) -> str:
        """The name under which a store keeps the text."""
        return digest_of(self.text)
