"""The sheet on which people verify a sample of the written texts (MultiCogEval, appendix A.2).

In the paper people verified 100 texts, and fewer than 5 % were wrong.
"""

import csv
import io
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wardround.engine.text import csv_cell
from wardround.scenarios.level_items.item_account import WrittenText
from wardround.scenarios.level_items.item_writing import PIECES, Piece

SHEET = 100
"""Number of texts that people verify, as in MultiCogEval, appendix A.2."""
COLUMNS = (
    "id",
    "piece",
    "question",
    "options",
    "right answer",
    "option",
    "text",
    "expected",
    "correct",
    "reader",
    "note",
)
_EXPECTED: Mapping[Piece, str] = {
    "true_statement": "the statement says the right answer",
    "false_statement": "the statement says this wrong option",
    "distractor": "it is wrong, and differs from every option",
}


def verification_sheet(texts: Sequence[WrittenText], most: int = SHEET, seed: int = 0) -> str:
    """A CSV of texts, drawn by seed and evenly from the kinds, in which people mark the column `correct` yes or no."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in _drawn_texts(texts, most, seed):
        item = one.source.item
        option = one.source.false_option if one.piece == "false_statement" else one.source.right
        listed = " | ".join(item.options)
        row = (
            item.id,
            one.piece,
            item.question,
            listed,
            item.options[one.source.right],
            item.options[option],
            one.text,
        )
        writer.writerow([*map(csv_cell, row), _EXPECTED[one.piece], "", "", ""])
    return stream.getvalue()


def _drawn_texts(texts: Sequence[WrittenText], most: int, seed: int) -> Iterator[WrittenText]:
    """At most `most` texts, of each kind in turn; the order within a kind is drawn by seed."""
    piles: dict[str, list[WrittenText]] = {piece: [one for one in texts if one.piece == piece] for piece in PIECES}
    for place, pile in enumerate(piles.values()):
        random.Random(seed + place).shuffle(pile)
    turns = (
        pile[row]
        for row in range(max(map(len, piles.values()), default=0))
        for pile in piles.values()
        if row < len(pile)
    )
    for _, one in zip(range(most), turns, strict=False):
        yield one


@dataclass(frozen=True, slots=True)
class SheetResult:
    """What people marked on a sheet, for one kind of text: how many texts, how many marked, how many correct."""

    piece: str
    texts: int
    marked: int
    correct: int

    @property
    def errors(self) -> int:
        """How many of the marked texts are wrong."""
        return self.marked - self.correct


def sheet_results(text: str) -> list[SheetResult]:
    """The marks of a sheet, of all texts and then by kind.

    Raises ValueError if the columns are missing, or for a mark that is neither yes nor no.
    """
    rows = list(csv.DictReader(io.StringIO(text)))
    if not rows or not {"piece", "correct"} <= rows[0].keys():
        raise ValueError("holds no rows with the columns `piece` and `correct`")
    marks: dict[str, list[bool | None]] = {"all": []}
    for number, row in enumerate(rows, 2):
        said = (row["correct"] or "").strip().casefold()
        if said not in _MARKS:
            raise ValueError(f"row {number}, column correct: {said!r} is neither yes nor no")
        for name in ("all", row["piece"]):
            marks.setdefault(name, []).append(_MARKS[said])
    return [
        SheetResult(name, len(some), sum(one is not None for one in some), sum(one is True for one in some))
        for name, some in marks.items()
    ]


_MARKS: Mapping[str, bool | None] = {
    "": None,
    **dict.fromkeys(("yes", "y", "1", "true", "是", "对"), True),
    **dict.fromkeys(("no", "n", "0", "false", "否", "错"), False),
}
