"""Names that look alike: sparse cosine of character 3-grams, weighted by how rare each is (TF-IDF).

NumPy and SciPy are imported where they compute: whoever looks no name up does without them.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_LETTERS = 38
COMMON = 0.08
"""3-grams that more than this share of the names have tell little and cost most of the time: left out of a query that
has others."""


class NGrams:
    """An index over `forms` (comparable names, wording.key). Memory about 8 bytes a character of the forms."""

    def __init__(self, forms: Sequence[str]) -> None:
        import numpy as np  # noqa: PLC0415
        from scipy.sparse import coo_array  # type: ignore[import-untyped]  # noqa: PLC0415  # SciPy ships no types

        self.size = len(forms)
        grams, rows = _grams(forms)
        counts = coo_array((np.ones(len(grams)), (rows, grams)), shape=(self.size, _LETTERS**3)).tocsr()
        held = np.bincount(counts.indices, minlength=_LETTERS**3)
        self._rarity = np.log((1 + self.size) / (1 + held)) + 1
        weighted = counts.multiply(self._rarity[None, :]).tocsr()
        lengths = np.sqrt(weighted.multiply(weighted).sum(axis=1))
        lengths[lengths == 0] = 1
        columns = weighted.multiply(1 / lengths[:, None]).tocsc().astype(np.float32)
        self._starts, self._rows, self._weights = columns.indptr, columns.indices, columns.data
        self._common = held > COMMON * max(self.size, 1000)

    def nearest(self, form: str, limit: int = 20) -> list[tuple[int, float]]:
        """The places of the most alike forms with their cosine (0 to 1), best first, equal ones in their order."""
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
    """The code of each character of one page: comparable forms are plain."""
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
        # Equal scores at the edge are all kept, so that the choice does not hang on how numpy parts them.
        edge = np.partition(scores[touched], len(touched) - limit)[len(touched) - limit]
        touched = touched[scores[touched] >= edge]
    order = sorted(touched.tolist(), key=lambda place: (-scores[place], place))
    return [(place, float(scores[place])) for place in order[:limit]]


def _grams(forms: Sequence[str]) -> "tuple[NDArray[np.int64], NDArray[np.int64]]":
    """The codes of all 3-grams and the place of the form each belongs to; a blank stands round each form."""
    import numpy as np  # noqa: PLC0415

    text = "".join(f" {form}  " for form in forms)  # one blank more than needed: it parts the forms
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
