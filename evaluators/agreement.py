"""How well two markers agree on right and wrong beyond chance: Cohen's kappa, and what a marker misses or grants."""

from collections.abc import Iterable

import msgspec


class Agreement(msgspec.Struct, frozen=True):
    """One marker held against a reference marker, over the `n` answers that both marked.

    `kappa` is None if chance alone would make them agree always (one verdict throughout). `sensitivity`: share of the
    reference's right answers found right; `specificity`: of its wrong ones found wrong; None where there are none.
    """

    n: int
    agreed: int
    kappa: float | None
    sensitivity: float | None
    specificity: float | None


def agreement(pairs: Iterable[tuple[bool, bool]]) -> Agreement:
    """From pairs (marker's verdict, reference's verdict)."""
    table = [[0, 0], [0, 0]]
    for ours, theirs in pairs:
        table[ours][theirs] += 1
    (wrong_wrong, wrong_right), (right_wrong, right_right) = table
    n = wrong_wrong + wrong_right + right_wrong + right_right
    agreed = wrong_wrong + right_right
    by_chance = (right_wrong + right_right) * (wrong_right + right_right)
    by_chance += (wrong_wrong + wrong_right) * (wrong_wrong + right_wrong)
    return Agreement(
        n=n,
        agreed=agreed,
        kappa=(n * agreed - by_chance) / (n * n - by_chance) if n * n > by_chance else None,
        sensitivity=right_right / (right_right + wrong_right) if right_right + wrong_right else None,
        specificity=wrong_wrong / (wrong_wrong + right_wrong) if wrong_wrong + right_wrong else None,
    )
