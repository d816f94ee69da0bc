"""Compares a value with the recorded one: numbers within rounding, sets as sets, mappings by the keys of our side."""

import math
from collections.abc import Iterable, Mapping, Set

from conformance.vector import Vector


def agrees(value: object, vector: Vector) -> bool:
    """Whether a row's way of comparison accepts `value`."""
    accepted = [vector.expected, *vector.alternatives]
    if vector.expect == "any_of" and isinstance(vector.expected, Mapping) and "values" in vector.expected:
        accepted = list(vector.expected["values"])
    return any(same(value, one, ordered=vector.expect != "unordered") for one in accepted)


def same(value: object, recorded: object, *, ordered: bool = True) -> bool:
    """Whether two values are the same; a mapping may have more keys on the recorded side."""
    if isinstance(value, OneOf):
        return value.accepts(recorded)
    if isinstance(value, Mapping):
        return isinstance(recorded, Mapping) and all(
            str(name) in recorded and same(part, recorded[str(name)], ordered=ordered) for name, part in value.items()
        )
    if isinstance(value, Set):
        return isinstance(recorded, list | tuple) and _bag(value) == _bag(recorded)
    if isinstance(value, list | tuple):
        if not isinstance(recorded, list | tuple) or len(value) != len(recorded):
            return False
        return all(same(a, b, ordered=ordered) for a, b in zip(value, recorded, strict=True)) or (
            not ordered and _bag(value) == _bag(recorded)
        )
    if isinstance(value, float) and isinstance(recorded, int | float) and not isinstance(recorded, bool):
        return math.isclose(value, recorded, rel_tol=1e-9, abs_tol=1e-12)
    return bool(value == recorded)


def _bag(values: Iterable[object]) -> list[str]:
    return sorted(map(repr, values))


class OneOf:
    """Stands for any one of `accepted`: the published code draws one by chance."""

    def __init__(self, *accepted: object) -> None:
        self.accepted = accepted

    def accepts(self, recorded: object) -> bool:
        """Whether the recorded value is one of those."""
        return recorded in self.accepted

    def __repr__(self) -> str:
        return f"one of {list(self.accepted)}"
