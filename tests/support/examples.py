"""How many examples a property is tried on: few in `make test`, all in `make test-all`."""

from collections.abc import Sequence
from typing import TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")
QUICK = 20
"""Examples of a property in the default suite."""


def at_most(full: int, quick: int = QUICK) -> settings:
    """Settings with `full` examples in the profile `full`, and with at most `quick` in the default suite."""
    whole = settings.get_current_profile_name() == "full"
    return settings(max_examples=full if whole else min(full, quick))


def first_ones(values: Sequence[object], quick: int = 1) -> list[object]:
    """Values for `parametrize`: the first `quick` in the default suite, the others only among the long tests."""
    return [*values[:quick], *(pytest.param(value, marks=pytest.mark.long) for value in values[quick:])]


def thinned(values: Sequence[T], every: int) -> list[T]:
    """One of `every` values in the default suite, all of them in the profile `full`."""
    return list(values[:: 1 if settings.get_current_profile_name() == "full" else every])
