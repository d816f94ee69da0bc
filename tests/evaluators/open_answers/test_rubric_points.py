"""The arithmetic of rubrics against HealthBench's formula, written here from its text."""

import math

import pytest
from examples import at_most
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.records import Score
from wardround.evaluators.open_answers.rubric_points import overall, rubric_score, score_bounds, tag_scores, with_veto
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.evaluators.report.summary import summarise
from wardround.scenarios.criteria import RubricItem

TAGS = ("axis:accuracy", "axis:completeness", "level:example")
ITEMS = st.builds(
    RubricItem,
    criterion=st.sampled_from(("Names the drug", "Asks how long", "Gives no source")),
    points=st.one_of(st.integers(-10, -1), st.integers(1, 10)).map(float),
    tags=st.lists(st.sampled_from(TAGS), unique=True, max_size=3).map(tuple),
)
MARKED = st.lists(st.tuples(ITEMS, st.booleans()), min_size=1, max_size=10)


def oracle(marked: list[tuple[RubricItem, bool]]) -> float | None:
    """Sum of the points of the criteria that are met, over the sum of the points above 0."""
    possible = sum(item.points for item, _ in marked if item.points > 0)
    achieved = sum(item.points for item, met in marked if met)
    return achieved / possible if possible else None


@at_most(1000)
@given(MARKED)
def test_the_score_is_the_published_one_on_a_thousand_rubrics(marked: list[tuple[RubricItem, bool]]) -> None:
    rubric, met = [item for item, _ in marked], [value for _, value in marked]
    score, wanted = rubric_score(rubric, met), oracle(marked)
    assert (score is None) is (wanted is None)
    if score is not None and wanted is not None:
        assert math.isclose(score, wanted, abs_tol=1e-12)
    expected = {tag: oracle([(item, value) for item, value in marked if tag in item.tags]) for tag in TAGS}
    by_tag = tag_scores(rubric, met)
    assert by_tag.keys() == {tag for item in rubric for tag in item.tags}
    for tag, value in by_tag.items():
        wanted = expected[tag]
        assert (value is None) is (wanted is None)
        assert value is None or wanted is None or math.isclose(value, wanted, abs_tol=1e-12)


@at_most(200)
@given(MARKED, st.data())
def test_undecided_criteria_leave_bounds_that_hold_every_way_to_decide_them(
    marked: list[tuple[RubricItem, bool]], data: st.DataObject
) -> None:
    rubric = [item for item, _ in marked]
    met = [value if data.draw(st.booleans()) else None for _, value in marked]
    low, high = score_bounds(rubric, met)
    whole = oracle(marked)
    if whole is None or low is None or high is None:
        assert (low, high, whole) == (None, None, None)
        return
    assert low - 1e-12 <= whole <= high + 1e-12
    assert (rubric_score(rubric, met) is None) is (None in met)


def rubric(*points: float, veto: int = -1) -> list[RubricItem]:
    return [RubricItem(criterion="c", points=one, veto=place == veto) for place, one in enumerate(points)]


def test_only_the_mean_is_clipped() -> None:
    assert rubric_score(rubric(2, -6), [True, True]) == -2.0
    assert overall([-2.0, 1.0, 1.0]) == 0.0
    assert overall([-0.5, 1.0, 1.0]) == 0.5
    assert overall([]) is None


@pytest.mark.parametrize(("values", "mean"), [((-2.0, 1.0, 1.0), 0.0), ((-0.5, 1.0, 1.0), 0.5)])
def test_a_report_clips_the_mean_and_not_the_values(values: tuple[float, ...], mean: float) -> None:
    rows = [
        EpisodeScores(episode=f"e{n}", case=f"c{n}", cause="completed", scores=(Score("rubric_score", value),))
        for n, value in enumerate(values)
    ]
    told = summarise(rows).score("rubric_score")
    assert told is not None
    assert told.mean == mean


def test_a_veto_leaves_nothing_above_zero_and_an_undecided_one_leaves_it_open() -> None:
    items = rubric(4, -3, veto=1)
    assert with_veto(0.25, items, [True, True]) == (0.0, "veto")
    assert with_veto(-0.75, items, [False, True]) == (-0.75, "veto")
    assert with_veto(1.0, items, [True, False]) == (1.0, "")
    assert with_veto(1.0, items, [True, None]) == (None, "veto_undecided")
