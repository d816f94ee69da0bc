"""Accuracy against cost: which runs no other beats, and what an unknown price does to that."""

from collections.abc import Mapping, Sequence

import pytest
from examples import first_ones

from wardround.engine.records import Score
from wardround.evaluators.report.cost_front import CostFront, cost_cell, cost_front, cost_plot, cost_table
from wardround.evaluators.report.html import as_json, page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import Summary, summarise


def run(name: str, accuracy: Sequence[float], costs: Sequence[float | None]) -> RunScores:
    rows = []
    for number, (right, cost) in enumerate(zip(accuracy, costs, strict=True)):
        priced = Score("case_cost_usd", cost, "" if cost is not None else "unpriced_order")
        known, most = Score("known_cost_usd", cost or 50.0), Score("most_cost_usd", cost or 10_000.0)
        scores = (Score("diagnosis_accuracy", right), priced, known, most)
        rows.append(episode(f"c{number}", scores))
    header = {"seed": 0, "seats": {"doctor": {"spec": name}}, "scenario": {"name": "sequential"}}
    return RunScores(name=name, header=header, episodes=rows)


def episode(case: str, scores: Sequence[Score]) -> EpisodeScores:
    return EpisodeScores(episode=f"{case}@1", case=case, repeat=1, cause="completed", reason="", scores=tuple(scores))


def front_of(*runs: RunScores) -> CostFront | None:
    summaries: Mapping[str, Summary] = {one.name: summarise(one.episodes, 0) for one in runs}
    return cost_front(runs, summaries)


CHEAP = run("cheap", [0, 1, 0, 0], [100.0] * 4)
GOOD = run("good", [1, 1, 1, 0], [900.0] * 4)
WASTE = run("waste", [1, 0, 1, 0], [2000.0] * 4)
UNKNOWN = run("unknown", [1, 1, 1, 1], [100.0, None, 100.0, 100.0])


def places(front: CostFront | None) -> dict[str, tuple[str, str]]:
    assert front is not None
    return {point.run: (point.place, point.beaten_by) for point in front.points}


def test_a_run_is_on_the_front_unless_another_beats_it_in_both() -> None:
    front = front_of(WASTE, GOOD, CHEAP)
    assert places(front) == {"cheap": ("front", ""), "good": ("front", ""), "waste": ("beaten", "good")}
    assert front is not None
    assert [point.cost for point in front.points] == [100.0, 900.0, 2000.0]


def test_equal_runs_are_both_on_the_front() -> None:
    other = run("other", [0, 1, 0, 0], [100.0] * 4)
    assert set(places(front_of(CHEAP, other)).values()) == {("front", "")}


def test_an_order_without_a_price_hides_no_cost() -> None:
    """A run takes its place by the most that it can cost, whether that is a good place or a bad one."""
    front = front_of(UNKNOWN, GOOD)
    assert places(front) == {"unknown": ("front", ""), "good": ("front", "")}
    assert front is not None
    assert [(point.run, point.unpriced, point.cost, point.most) for point in front.points] == [
        ("good", 0, 900.0, 900.0),
        ("unknown", 1, 87.5, 2575.0),
    ]
    assert "unknown price" in front.note
    assert cost_cell(front.points[1]) == "$87.50 to $2,575.00"
    hides = run("hides", [1, 1, 1, 0], [None, None, None, None])
    assert places(front_of(hides, GOOD)) == {"hides": ("beaten", "good"), "good": ("front", "")}


def test_a_mean_cost_over_priced_episodes_alone_has_bounds() -> None:
    """Who orders a test without a price in each dear case would show the mean of the cheap ones."""
    cost = summarise(UNKNOWN.episodes, 0).score("case_cost_usd")
    assert cost is not None
    assert (cost.mean, cost.scored, cost.n, cost.bounds) == (100.0, 3, 4, (87.5, 2575.0))
    assert cost.reasons == {"unpriced_order": 1}
    whole = summarise(GOOD.episodes, 0).score("case_cost_usd")
    assert whole is not None
    assert whole.bounds is None


def test_an_episode_that_the_doctor_breaks_off_hides_no_cost() -> None:
    """Who raises an error where a case has become dear and hopeless has no bill there: its mean is not known."""
    breaks_off = run("breaks off", [1, 1, 1], [900.0] * 3)
    names = ("case_cost_usd", "known_cost_usd", "most_cost_usd")
    lost = (Score("diagnosis_accuracy", 0.0, "agent_error"), *(Score(name, None, "no_bill") for name in names))
    breaks_off = RunScores(
        name=breaks_off.name, header=breaks_off.header, episodes=[*breaks_off.episodes, episode("c3", lost)]
    )
    front = front_of(breaks_off, run("good", [1, 1, 1, 0], [950.0] * 4))
    assert places(front) == {"breaks off": ("not known", ""), "good": ("front", "")}
    assert front is not None
    assert (front.points[0].cost, front.points[0].unpriced) == (675.0, 1)
    assert "an episode without a bill as $0" in front.note, "the words of the count: 3 * 900 / 4"
    assert "leaves out" not in front.note
    assert cost_cell(front.points[0]) == "at least $675.00"


def test_one_run_or_runs_without_a_cost_have_no_front() -> None:
    bare = RunScores(name="bare", header={"seed": 0}, episodes=[episode("c0", [Score("diagnosis_accuracy", 1.0)])])
    assert front_of(GOOD) is None
    assert front_of(GOOD, bare) is None


@pytest.mark.long
def test_the_front_stands_in_table_plot_page_and_json() -> None:
    front = front_of(WASTE, GOOD, CHEAP)
    assert front is not None
    assert cost_table(front) is not None
    plot = cost_plot(front)
    assert plot.drawing is not None
    for text in ("Cost of a case, US dollars", "good", "waste: 0.500 for $2,000.00, beaten by good"):
        assert text in plot.drawing
    html = page(ReportFigures([WASTE, GOOD, CHEAP]))
    assert "Accuracy against cost" in html
    assert "beaten by good" in html
    assert as_json(ReportFigures([WASTE, GOOD, CHEAP]))["cost_front"]["points"][0]["run"] == "cheap"
    assert "cost_front" not in as_json(ReportFigures([WASTE]))


@pytest.mark.parametrize("name", first_ones(["x" * 60, "a<b>&c"], 1))
def test_any_name_of_a_run_can_be_drawn(name: str) -> None:
    front = front_of(run(name, [1, 0], [0.0, 0.0]), CHEAP)
    assert front is not None
    assert "<b>" not in (cost_plot(front).drawing or "")
