"""Two scorings side by side: agreement of verdicts, differences of figures, and the episodes where they differ."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.records import Score
from wardround.evaluators.report.agreement import Scored, side_by_side


def side(name: str, *values: float | None) -> Scored:
    return {f"e{n}": {name: Score(name, value, "" if value is not None else "why")} for n, value in enumerate(values)}


def test_verdicts_are_counted_in_a_table_with_kappa() -> None:
    ours, theirs = side("right", 1.0, 1.0, 1.0, 0.0, 0.0, None), side("right", 1.0, 1.0, 0.0, 0.0, 1.0, 1.0)
    found = side_by_side("a", "b", ours, theirs)
    [one] = found.scores
    assert (one.kind, one.n, one.equal, one.first_only, one.second_only) == ("verdict", 5, 3, 0, 1)
    assert one.table == ((1, 1), (1, 2))
    assert one.kappa == pytest.approx((3 / 5 - 13 / 25) / (1 - 13 / 25))
    assert one.difference is None
    assert [(each.episode, each.first, each.second, each.first_reason) for each in found.differing] == [
        ("e2", 1.0, 0.0, ""),
        ("e4", 0.0, 1.0, ""),
        ("e5", None, 1.0, "why"),
    ]


def test_other_figures_have_a_mean_difference_and_no_kappa() -> None:
    found = side_by_side("a", "b", side("recall", 0.5, 1.0, 0.25), side("recall", 1.0, 1.0, None))
    [one] = found.scores
    assert (one.kind, one.n, one.equal, one.first_only, one.second_only) == ("figure", 2, 1, 1, 0)
    assert (one.difference, one.kappa, one.table) == (0.25, None, None)
    assert [each.episode for each in found.differing] == ["e0", "e2"]


def test_one_verdict_throughout_has_no_kappa() -> None:
    [one] = side_by_side("a", "b", side("right", 1.0, 1.0), side("right", 1.0, 1.0)).scores
    assert (one.equal, one.kappa) == (2, None)


def test_a_count_that_happens_to_be_0_or_1_is_no_verdict() -> None:
    [one] = side_by_side("a", "b", side("turns", 1.0, 1.0), side("turns", 1.0, 0.0)).scores
    assert (one.kind, one.kappa, one.table, one.difference) == ("figure", None, None, -0.5)


def test_without_a_common_episode_there_is_no_figure() -> None:
    found = side_by_side("a", "b", side("right", None, 1.0), {"e0": {"right": Score("right", 1.0)}})
    [one] = found.scores
    assert (one.n, one.equal, one.first_only, one.second_only) == (0, 0, 1, 1)
    assert (one.kappa, one.difference, one.table) == (None, None, None)
    assert [each.second_reason for each in found.differing] == ["", "not_scored"]


def test_only_scores_that_both_have_are_compared() -> None:
    ours = {"e": {"a": Score("a", 1.0), "b": Score("b", 0.5)}}
    found = side_by_side("x", "y", ours, {"e": {"b": Score("b", 0.5), "c": Score("c", 1.0)}})
    assert [one.name for one in found.scores] == ["b"]
    assert found.differing == []


VALUES = st.lists(st.tuples(*[st.sampled_from([None, 0.0, 0.5, 1.0])] * 2), min_size=1, max_size=12)


@given(VALUES)
def test_every_episode_is_equal_differs_or_lacks_both(pairs: list[tuple[float | None, float | None]]) -> None:
    ours, theirs = (side("s", *values) for values in zip(*pairs, strict=True))
    found = side_by_side("a", "b", ours, theirs)
    [one] = found.scores
    neither = sum(pair == (None, None) for pair in pairs)
    assert one.equal + len(found.differing) + neither == len(pairs)
    assert one.n + one.first_only + one.second_only + neither == len(pairs)
    turned = side_by_side("b", "a", theirs, ours).scores[0]
    assert (turned.n, turned.equal, turned.kappa) == (one.n, one.equal, one.kappa)
    if one.difference is not None:
        assert turned.difference == pytest.approx(-one.difference)
    if one.table is not None:
        assert sum(map(sum, one.table)) == one.n
