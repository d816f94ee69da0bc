"""The forecast covers what it says it covers, and does not claim what a pilot cannot know."""

import random
from math import inf

import pytest

from wardround.runs.pilot import forecast


def test_equal_episodes_leave_no_doubt() -> None:
    found = forecast([2.0] * 10, 90)
    assert (found.mean, found.low, found.high) == (180.0, 180.0, 180.0)


def test_one_episode_says_nothing_about_the_spread() -> None:
    assert forecast([3.0], 10) == type(forecast([3.0], 10))(30.0, 0.0, inf)


def test_nothing_left_needs_nothing() -> None:
    assert forecast([1.0, 2.0], 0).high == 0.0


def test_a_pilot_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one"):
        forecast([], 10)


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    chance = random.Random(5)
    inside = 0
    for _ in range(600):
        costs = [chance.gauss(10, 3) for _ in range(110)]
        found = forecast(costs[:10], 100)
        inside += found.low <= sum(costs[10:]) <= found.high
    assert 0.92 <= inside / 600 <= 0.98
