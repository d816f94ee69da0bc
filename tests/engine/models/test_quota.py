"""Limits of one endpoint and key, and the part of each worker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import UsageError
from wardround.engine.models.quota import Quota, read_quota


@given(st.integers(1, 50), st.integers(0, 10_000), st.integers(0, 10_000))
def test_parts_add_up_and_none_is_nothing(of: int, flight: int, rpm: int) -> None:
    whole = Quota(in_flight=of + flight, rpm=of + rpm)
    parts = [whole.share(n, of) for n in range(1, of + 1)]
    assert sum(part.in_flight or 0 for part in parts) == whole.in_flight
    assert sum(part.rpm or 0 for part in parts) == whole.rpm
    sizes = [part.in_flight or 0 for part in parts]
    assert min(sizes) >= 1
    assert max(sizes) - min(sizes) <= 1
    assert all(part.tpm is None for part in parts)


def test_more_workers_than_places_are_refused() -> None:
    with pytest.raises(UsageError, match=r"4 workers cannot share 3 calls in flight \(in_flight\): use at most 3"):
        Quota(in_flight=3).share(4, 4)
    with pytest.raises(UsageError, match="no share 0 of 4"):
        Quota().share(0, 4)
    with pytest.raises(UsageError, match="no share 5 of 4"):
        Quota().share(5, 4)


@pytest.mark.parametrize("wrong", [{"rpm": 0}, {"in_flight": -1}, {"tpm": 1.5}, {"daily_tokens": True}])
def test_impossible_limits_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError, match="must be a whole number above 0"):
        Quota(**wrong)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"rpn": 5}, "unknown field `rpn`"),
        ({"rpm": "many"}, "Expected `int | null`, got `str`"),
        ({"rpm": 0}, "must be a whole number above 0"),
    ],
)
def test_what_a_settings_file_gets_wrong_is_named(fields: dict[str, object], says: str) -> None:
    with pytest.raises(UsageError, match=says.replace("|", r"\|")):
        read_quota(fields, "run.toml: quotas.localhost")
    assert read_quota({"rpm": 5}, "x") == Quota(rpm=5)
