"""Cohen's kappa by worked examples and by what must hold."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.agreement import agreement

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def test_a_worked_example() -> None:
    """20 both right, 15 both wrong, 5 and 10 apart: observed 0.7, by chance 0.5, kappa 0.4."""
    pairs = [(True, True)] * 20 + [(True, False)] * 5 + [(False, True)] * 10 + [(False, False)] * 15
    found = agreement(pairs)
    assert (found.n, found.agreed) == (50, 35)
    assert found.kappa == pytest.approx(0.4)
    assert found.sensitivity == pytest.approx(20 / 30)
    assert found.specificity == pytest.approx(15 / 20)


def test_one_verdict_throughout_has_no_kappa() -> None:
    assert agreement([(True, True)] * 3).kappa is None
    assert agreement([]).kappa is None
    assert agreement([(True, True)] * 3).specificity is None


@given(PAIRS)
def test_kappa_lies_in_its_range_and_is_symmetric(pairs: list[tuple[bool, bool]]) -> None:
    found, turned = agreement(pairs), agreement([(b, a) for a, b in pairs])
    assert found.kappa == turned.kappa
    if found.kappa is not None:
        assert -1 <= found.kappa <= 1
        assert (found.kappa == 1) == (found.agreed == found.n)
