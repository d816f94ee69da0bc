"""One recorded row of a vector file, and the reading of a file."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COUNTED = frozenset({"equal", "unordered", "any_of", "decision"})


@dataclass(frozen=True)
class Vector:
    """`number` is the row's place in its file, from 0; `expect` says how `expected` is to be compared."""

    number: int
    expect: str
    input: dict[str, Any]
    expected: Any
    alternatives: tuple[Any, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the row's agreement counts."""
        return self.expect in COUNTED


def vectors(path: Path) -> list[Vector]:
    """The rows of a file; raises ValueError that says why it cannot be read."""
    loaded = json.loads(path.read_text(encoding="utf-8"))
    if not isinstance(loaded, list):
        raise ValueError("holds no list of rows")
    return [_vector(number, row) for number, row in enumerate(loaded)]


def _vector(number: int, row: Any) -> Vector:
    if not isinstance(row, dict) or not isinstance(row.get("input"), dict) or "expected" not in row:
        raise ValueError(f"row {number} has no input and expected")
    expected = row["expected"]
    others = [row.get("expected_alternative"), row.get("alternative")]
    if isinstance(expected, dict):
        others.append(expected.get("alternative"))
        expected = {name: value for name, value in expected.items() if name != "alternative"}
    kept = tuple(other for other in others if other is not None)
    return Vector(number, str(row.get("expect", "")), row["input"], expected, kept)
