"""A share that a page prints beside its count follows from the count, and so does Wilson's interval."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parent.parent / "docs"
COUNTED = re.compile(r"(\d+) of (\d+), ([\d.]+)( %)? \(([\d.]+) to ([\d.]+)\)")
"""'45 of 72, 0.625 (0.510 to 0.728)' or '57 of 60, 95 % (86 to 98)'."""


def half_a_place(number: str) -> float:
    """Half of the last place that a number is printed with, and a little more for one that ends in 5."""
    return 0.51 * 10.0 ** -len(number.partition(".")[2])


def test_shares_and_intervals_follow_from_their_counts() -> None:
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # SciPy ships no types

    wrong, count = [], 0
    for page in sorted(DOCS.rglob("*.md")):
        for found in COUNTED.finditer(page.read_text(encoding="utf-8")):
            part, of, *printed = found.group(1, 2, 3, 5, 6)
            ends = binomtest(int(part), int(of)).proportion_ci(method="wilson")
            scale = 100 if found.group(4) else 1
            for number, value in zip(printed, (int(part) / int(of), ends.low, ends.high), strict=True):
                if float(number) != pytest.approx(scale * value, abs=half_a_place(number)):
                    wrong.append((page.name, found.group(), number, scale * value))
            count += 1
    assert not wrong, wrong
    assert count > 30
