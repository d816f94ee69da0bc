"""Indexes the names of all concepts by comparable form, and finds similar names by 3-grams.

Similarity is the cosine of sparse character 3-gram vectors with TF-IDF weights. NumPy and SciPy are imported only where
they compute, so that exact look-ups do without them.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec
from rapidfuzz import fuzz
from rapidfuzz.distance import OSA

from wardround.scenarios.diseases.disease import DEGREES, LITTLE, ORDINARY, core_form, opposed, ordered_form
from wardround.scenarios.diseases.knowledge import OWN, Knowledge
from wardround.scenarios.diseases.ontologies import SHORT
from wardround.scenarios.terms.table_cache import building
from wardround.scenarios.terms.wording import key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


WRONG_START = 90.0
"""Least similarity (0 to 100) of a word with another first letter (otosalpingitis is not salpingitis)."""


class Dictionary(msgspec.Struct, frozen=True):
    """Maps forms of names to the places of concepts, only those of the best rank.

    A rank is 0 to 3: own names, own synonyms, other names, other synonyms. `forms` has whole names, `sorted` their
    words in alphabetical order, `cores` the words that matter (`core_form`), `short` abbreviations as written.
    `lengths` gives for the first word of names their lengths in words, the longest first. `known` are all words of all
    names: a known word is never read as a misspelling of another. `acronyms` are cores that mean the disease only in
    capitals ('adult' of 'ADULT syndrome').
    """

    forms: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    sorted: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    cores: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    short: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    known: frozenset[str] = frozenset()
    lengths: dict[str, tuple[int, ...]] = msgspec.field(default_factory=dict)
    acronyms: frozenset[str] = frozenset()


@building()
def dictionary(diseases: Knowledge) -> Dictionary:
    """Build the dictionary of `diseases`."""
    forms: dict[str, dict[int, int]] = {}
    short: dict[str, dict[int, int]] = {}
    for place, concept in enumerate(diseases.concepts):
        base = 0 if diseases.ranks[place] == OWN else 2
        for number, name in enumerate(concept.names):
            rank = base + (number > 0)
            table = short if SHORT.match(name) and sum(map(str.isupper, name)) > len(name) / 2 else forms
            form = name if table is short else key(name)
            if form and form not in ORDINARY:
                table.setdefault(form, {}).setdefault(place, rank)
        for name in concept.abbreviations:
            short.setdefault(name, {}).setdefault(place, base)
    ordered: dict[str, dict[int, int]] = {}
    cores: dict[str, dict[int, int]] = {}
    lengths: dict[str, set[int]] = {}
    known: set[str] = set()
    for form, places in forms.items():
        words = form.split()
        known.update(words)
        lengths.setdefault(words[0], set()).add(len(words))
        for table, made in ((ordered, ordered_form(words)), (cores, core_form(words))):
            if made:
                ranks = table.setdefault(made, {})
                for place, rank in places.items():
                    ranks[place] = min(rank, ranks.get(place, rank))
    return Dictionary(
        _ranked(forms),
        _ranked(ordered),
        _ranked(cores),
        _ranked(short),
        frozenset(known),
        {word: tuple(sorted(sizes, reverse=True)) for word, sizes in lengths.items()},
        frozenset(
            key(word)
            for concept in diseases.concepts
            for name in concept.names
            for word in name.split()
            if word.isupper() and len(word) > 2 and core_form(key(name).split()) == key(word)
        ),
    )


def _ranked(table: dict[str, dict[int, int]]) -> dict[str, tuple[int, ...]]:
    """Keep only the places of the best rank, so that a loose synonym does not make a name ambiguous."""
    ranked = {}
    for form, places in table.items():
        best = min(places.values())
        ranked[form] = tuple(place for place, rank in places.items() if rank == best)
    return ranked


def misspells(said: Sequence[str], form: Sequence[str], known: frozenset[str], close: float) -> bool:
    """Whether the words `said` are a misspelling of the words `form`.

    Every word that differs must be unknown and close to a word of `form` that is left over. Numbers and types must be
    equal, and prefixes must not be opposed (hyper-, hypo-). `close` is the least similarity of two words, 0 to 100. A
    single slip (a letter missing, doubled or changed, or two swapped) always passes.
    """
    extra = [word for word in said if word not in form]
    missing = [word for word in form if word not in said]
    for word in extra:
        if word in LITTLE or word in DEGREES:
            continue
        best = max(missing, key=lambda other: fuzz.ratio(word, other), default="")
        if not best or word in known or not _misspelt(word, best, close):
            return False
        missing.remove(best)
    return all(word in LITTLE or word in DEGREES for word in missing)


def _misspelt(word: str, meant: str, close: float) -> bool:
    if any(map(str.isdigit, word)) or len(word) < 3 or len(meant) < 4 or opposed(word, meant):
        return False
    if OSA.distance(word, meant, score_cutoff=1) <= 1:
        return True
    return len(word) > 3 and fuzz.ratio(word, meant) >= (close if meant[0] == word[0] else WRONG_START)


_LETTERS = 38
COMMON = 0.08
"""3-grams in more than this share of the names tell little and cost much time. A query skips them if it has others."""


class GramWeights(msgspec.Struct, frozen=True):
    """The weights of the 3-grams of `size` forms, as the bytes of arrays.

    Each 3-gram has a `rarity` (float64) and whether it is `common` (bool). The forms that contain 3-gram g are
    `rows[starts[g]:starts[g + 1]]` (int32), each with its weight in `weights` (float32).
    """

    size: int
    rarity: bytes
    common: bytes
    starts: bytes
    rows: bytes
    weights: bytes


def gram_weights(forms: Sequence[str]) -> GramWeights:
    """The weights of the 3-grams of `forms`, which are names in comparable form (`wording.key`)."""
    import numpy as np  # noqa: PLC0415
    from scipy.sparse import coo_array  # type: ignore[import-untyped]  # noqa: PLC0415  # SciPy ships no types

    size = len(forms)
    grams, rows = _grams(forms)
    counts = coo_array((np.ones(len(grams)), (rows, grams)), shape=(size, _LETTERS**3)).tocsr()
    frequency = np.bincount(counts.indices, minlength=_LETTERS**3)
    rarity = np.log((1 + size) / (1 + frequency)) + 1
    weighted = counts.multiply(rarity[None, :]).tocsr()
    lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
    lengths[lengths == 0] = 1
    columns = weighted.multiply(1 / lengths[:, None]).tocsc().astype(np.float32)
    return GramWeights(
        size,
        rarity.tobytes(),
        (frequency > COMMON * max(size, 1000)).tobytes(),
        columns.indptr.astype(np.int32).tobytes(),
        columns.indices.astype(np.int32).tobytes(),
        columns.data.tobytes(),
    )


class NGrams:
    """An index that finds the forms most similar to a name. It takes about 8 bytes per character of the forms."""

    def __init__(self, grams: GramWeights) -> None:
        import numpy as np  # noqa: PLC0415

        self.size = grams.size
        self._rarity = np.frombuffer(grams.rarity, dtype=np.float64)
        self._common = np.frombuffer(grams.common, dtype=np.bool_)
        self._starts = np.frombuffer(grams.starts, dtype=np.int32)
        self._rows = np.frombuffer(grams.rows, dtype=np.int32)
        self._weights = np.frombuffer(grams.weights, dtype=np.float32)

    def nearest(self, form: str, limit: int = 20) -> list[tuple[int, float]]:
        """The places of the most similar forms with their cosine (0 to 1), best first; ties keep the forms' order."""
        import numpy as np  # noqa: PLC0415

        grams, counts = np.unique(_grams([form])[0], return_counts=True)
        if not len(grams) or not self.size:
            return []
        weights = counts * self._rarity[grams]
        length = float(np.sqrt((weights * weights).sum()))
        telling = ~self._common[grams]
        if not telling.any():
            telling[:] = True
        scores = np.zeros(self.size, dtype=np.float32)
        for gram, weight in zip(grams[telling], weights[telling] / length, strict=True):
            start, end = self._starts[gram], self._starts[gram + 1]
            scores[self._rows[start:end]] += self._weights[start:end] * np.float32(weight)
        return _best(scores, limit)


@cache
def _codes() -> "NDArray[np.int64]":
    """The code of each character: 0 for a space, 1 to 26 for letters, 27 to 36 for digits, 37 for all others."""
    import numpy as np  # noqa: PLC0415

    codes = np.full(0x110000 >> 8, _LETTERS - 1, dtype=np.int64)
    codes[ord(" ")] = 0
    codes[ord("a") : ord("z") + 1] = np.arange(1, 27)
    codes[ord("0") : ord("9") + 1] = np.arange(27, 37)
    return codes


def _best(scores: "NDArray[np.float32]", limit: int) -> list[tuple[int, float]]:
    import numpy as np  # noqa: PLC0415

    touched = np.flatnonzero(scores > 0.15)
    if len(touched) > limit:
        # Keep every score equal to the edge, so that the choice does not depend on how numpy partitions ties.
        edge = np.partition(scores[touched], len(touched) - limit)[len(touched) - limit]
        touched = touched[scores[touched] >= edge]
    order = sorted(touched.tolist(), key=lambda place: (-scores[place], place))
    return [(place, float(scores[place])) for place in order[:limit]]


def _grams(forms: Sequence[str]) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """(the codes of all 3-grams, the place of the form of each); each form is padded with spaces."""
    import numpy as np  # noqa: PLC0415

    text = "".join(f" {form}  " for form in forms)  # one space more than needed separates the forms
    points = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32).astype(np.int64)
    codes = _codes()[np.minimum(points, len(_codes()) - 1)]
    sizes = np.array([len(form) + 3 for form in forms], dtype=np.int64)
    rows = np.repeat(np.arange(len(forms), dtype=np.int64), sizes)
    if len(codes) < 3:
        return codes[:0], rows[:0]
    grams = codes[:-2] * _LETTERS**2 + codes[1:-1] * _LETTERS + codes[2:]
    within = np.ones(len(rows), dtype=bool)
    for back in (1, 2, 3):
        within[np.cumsum(sizes) - back] = False
    return grams[within[:-2]], rows[:-2][within[:-2]]
