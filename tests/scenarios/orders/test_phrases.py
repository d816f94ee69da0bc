"""The labelled phrases: precision and recall of the default rules, on all and on those kept apart."""

import pytest

from benchmarks.phrases import Tally, count, default, phrases, score


def test_the_set_is_large_and_half_of_it_is_hard() -> None:
    rows = phrases()
    assert len(rows) >= 400
    assert len({row.text for row in rows}) == len(rows)
    assert sum(row.hard for row in rows) >= len(rows) / 2
    assert sum(row.half != "open" for row in rows) >= 200


@pytest.mark.parametrize(("half", "least"), [("", 0.98), ("open", 0.98), ("held", 0.98), ("last", 0.97)])
def test_orders_are_understood(half: str, least: float) -> None:
    tally = score([row for row in phrases() if not half or row.half == half], default)
    assert tally.f1 >= least, f"precision {tally.precision:.3f}, recall {tally.recall:.3f}"


def test_a_reader_that_understands_nothing_or_everything_wrong_scores_nothing() -> None:
    rows = phrases()
    assert score(rows, lambda text: set()).f1 == 0
    assert score(rows, lambda text: {f"not {text}"}).f1 == 0


def test_a_panel_and_the_list_of_its_members_are_one_order() -> None:
    tally = Tally()
    count(tally, {"Hemoglobin", "Hematocrit"}, {"Hemoglobin and hematocrit"})
    assert (tally.right, tally.extra, tally.missed) == (2, 0, 0)
