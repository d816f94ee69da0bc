"""Names found in a text: whole words in any spelling and number, the longest first; abbreviations in capitals only."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from wardround.scenarios.terms.vocabulary import vocabulary
from wardround.scenarios.terms.wording import tokens

_WORD = re.compile(r"[^\W_]+(?:['\u2019]s?\b)?")
_DENIED = re.compile(
    r"(?i)\b(?:no|not|without|denies|negative for|rule out|ruled out|r/o|history of|h/o|hx of|s/p|status post|prior"
    r"|previous|resolved)\s+(?:[\w-]+\s+){0,2}$"
)
Named = TypeVar("Named")
Form = Callable[[str], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Found(Generic[Named]):
    """`text[start:end]` names `what`; `denied`: the words before it deny it or put it into the past."""

    start: int
    end: int
    what: Named
    short: bool
    denied: bool


class Phrases(Generic[Named]):
    """A dictionary of names. The first to claim a name keeps it. `form` makes a text's words comparable."""

    def __init__(self, names: Iterable[tuple[str, Named]], form: Form = tokens) -> None:
        self._form = form
        self._names: dict[tuple[str, ...], Named] = {}
        self._short: dict[str, Named] = {}
        for name, what in names:
            if name.isupper() and name.isalnum() and len(name) <= 6:
                self._short.setdefault(name, what)
            elif words := form(name):
                self._names.setdefault(words, what)
        self._longest = max(map(len, self._names), default=0)
        self._shifts: Mapping[tuple[str, ...], tuple[str, ...]] = {
            tuple(core.split()): words for core, words in vocabulary().shifts.items()
        }

    def found(self, text: str, *, shifts: bool = True) -> tuple[Found[Named], ...]:
        """The names in `text`, in its order, none overlapping another.

        With `shifts`, a name behind a word that makes another disease of it is passed over: 'pulmonary hypertension'
        is no hypertension.
        """
        words = [(match[0], *match.span()) for match in _WORD.finditer(text)]
        forms = [self._form(word) for word, _, _ in words]
        hits: list[Found[Named]] = []
        place = 0
        while place < len(words):
            word, start, _ = words[place]
            size, what = self._at(forms, place)
            short = what is None and word in self._short
            if short:
                size, what = 1, self._short[word]
            if what is None or (shifts and not short and self._shifted(forms, place, size)):
                place += 1
                continue
            denied = bool(_DENIED.search(text, max(0, start - 60), start))
            hits.append(Found(start, words[place + size - 1][2], what, short, denied))
            place += size
        return tuple(hits)

    def _at(self, forms: Sequence[tuple[str, ...]], place: int) -> tuple[int, Named | None]:
        """How many words from `place` on make the longest name, and whose it is."""
        name: tuple[str, ...] = ()
        best: tuple[int, Named | None] = (0, None)
        for size in range(1, len(forms) - place + 1):
            name += forms[place + size - 1]
            if len(name) > self._longest:
                break
            if forms[place + size - 1] and name in self._names:
                best = (size, self._names[name])
        return best

    def _shifted(self, forms: Sequence[tuple[str, ...]], place: int, size: int) -> bool:
        core = tuple(word for form in forms[place : place + size] for word in form)
        before = " ".join(word for form in forms[max(0, place - 2) : place] for word in form)
        return any(f" {before}".endswith(f" {word}") for word in self._shifts.get(core, ()))
