"""Signs of texts that come up again and again, looked for once."""

from collections import OrderedDict

from wardround.evaluators.judging.hostile import signs

HOSTILE = "hostile"
"""Stands where the kind of an error stands for a text that speaks to the judge: it is not shown."""
KEPT = 5000
"""Texts whose signs are kept at hand."""


class Signed:
    """The signs of passages and pages by the hash of their text."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, tuple[str, ...]] = OrderedDict()

    def of(self, digest: str, text: str) -> tuple[str, ...]:
        """As `signs` of a page with this text."""
        if digest not in self._found:
            self._found[digest] = signs(text, "page")
            if len(self._found) > KEPT:
                self._found.popitem(last=False)
        self._found.move_to_end(digest)
        return self._found[digest]
