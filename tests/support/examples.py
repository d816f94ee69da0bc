"""How many examples a property is tried on: few in `make test`, all in `make test-all`."""

from collections.abc import Sequence

import pytest
from hypothesis import settings

QUICK = 10
"""Examples of a property in the default suite."""


def at_most(full: int, quick: int = QUICK) -> settings:
    """Settings with `full` examples in the profile `full`, and with at most `quick` in the default suite."""
    whole = settings.get_current_profile_name() == "full"
    return settings(max_examples=full if whole else min(full, quick))


def first_ones(values: Sequence[object], quick: int = 1) -> list[object]:
    """Values for `parametrize`: the first `quick` in the default suite, the others only among the long tests."""
    return [*values[:quick], *(pytest.param(value, marks=pytest.mark.long) for value in values[quick:])]


def first_rows(rows: Sequence[Sequence[object]], quick: int = 1) -> list[object]:
    """Like `first_ones`, for rows that hold a value for each of several names."""
    return [*rows[:quick], *(pytest.param(*row, marks=pytest.mark.long) for row in rows[quick:])]


def sampled(every: int) -> pytest.MarkDecorator:
    """One of `every` values in the default suite, and each among the long tests: the test takes `values[::every]`."""
    whole = pytest.param(1, id="all", marks=pytest.mark.long)
    return pytest.mark.parametrize("every", [pytest.param(every, id="a sample"), whole])
