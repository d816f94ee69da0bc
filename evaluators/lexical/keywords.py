"""What to look up to check a text: its rarest words, as far as a judge without a corpus can tell."""

from collections.abc import Collection, Iterable

from wardround.evaluators.lexical.content import weight, words

MOST = 10
"""Words of a query."""


def keywords(texts: Iterable[str], without: Collection[str] = (), most: int = MOST) -> str:
    """The longest telling words of the texts, as written, in their order and separated by commas; "" if none is left.

    Long words are rare ones; numbers are left out. `without` are comparable forms that were looked up before.
    """
    kept: dict[str, str] = {}
    for text in texts:
        for written, form in words(text):
            if form not in without and not form[0].isdigit():
                kept.setdefault(form, written)
    ranked = sorted(kept, key=weight, reverse=True)[:most]
    chosen = frozenset(ranked)
    return ", ".join(written for form, written in kept.items() if form in chosen)
