"""A limit a minute: never more in any 60 seconds, evenly, and without losing much of it."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.engine.models.quota import Bucket


def granted(bucket: Bucket, until: float, late: float = 0.0, amount: float = 1.0, start: float = 0.0) -> list[float]:
    """When a caller that always wants more gets it, woken `late` each time."""
    now, times = start, []
    while now < until:
        wait = bucket.wait(amount, now)
        if wait:
            now += wait + late
            continue
        bucket.take(amount)
        times.append(now)
    return times


def most_in_a_minute(times: list[float]) -> int:
    first, most = 0, 0
    for last, time in enumerate(times):
        while time - times[first] >= 60.0 - 1e-4:
            first += 1
        most = max(most, last - first + 1)
    return most


@settings(max_examples=20)
@given(st.integers(1, 3000), st.sampled_from([0.0, 0.003, 0.1]))
def test_never_more_than_the_limit_in_any_minute(limit: int, late: float) -> None:
    times = granted(Bucket(limit), 200.0, late)
    assert most_in_a_minute(times) <= limit


@pytest.mark.long
@settings(max_examples=20)
@given(st.integers(1, 3000))
def test_a_steady_stream_gets_nearly_all_of_it(limit: int) -> None:
    times = granted(Bucket(limit), 600.0, late=0.003)
    assert len(times) >= 0.97 * 10 * limit


def test_not_a_whole_minute_at_once() -> None:
    times = granted(Bucket(600), 60.0)
    assert sum(time == 0 for time in times) == 10
    assert sum(time < 1 for time in times) <= 20


def test_what_was_saved_up_in_a_pause_is_one_second() -> None:
    bucket = Bucket(600)
    assert len(granted(bucket, 1000.5, start=1000.0)) == 14


def test_an_amount_above_a_second_is_granted_and_waited_for() -> None:
    bucket = Bucket(6000)  # 100 a second
    times = granted(bucket, 60.0, amount=500.0)
    assert times[0] == 0
    assert all(abs(later - earlier - 5) < 0.2 for earlier, later in itertools.pairwise(times))


def test_what_was_not_used_comes_back() -> None:
    bucket = Bucket(6000)
    bucket.take(500)
    assert bucket.wait(100, 0.0) > 4.9
    bucket.give(400, 0.0)
    assert bucket.wait(100, 0.0) < 1.1
    bucket.give(-400, 0.0)
    assert bucket.wait(100, 0.0) > 4.9
    bucket.give(1e9, 0.0)
    bucket.take(600)  # no more than a tenth of a minute is saved up
    assert bucket.wait(100, 0.0) > 0.9


def test_what_comes_back_does_not_stop_the_flow() -> None:
    bucket = Bucket(6000)
    bucket.take(100)
    bucket.give(100, 1.0)  # a second later, in which it had filled up
    bucket.take(200)
    assert bucket.wait(1, 1.0) < 0.1
