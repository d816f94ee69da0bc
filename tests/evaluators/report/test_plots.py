"""The plots of a report: what tells runs apart, what takes a row, and what the notes say."""

import re

import pytest

from wardround.engine.records import Score
from wardround.evaluators.report.plots import Plot, groups_plot, scores_plot, spread_plot
from wardround.evaluators.report.score_rows import EpisodeScores
from wardround.evaluators.report.summary import Summary, summarise


def summary(*scores: str) -> Summary:
    rows = [
        EpisodeScores(
            episode=f"{n}@1",
            case=str(n),
            repeat=1,
            cause="completed",
            scores=[Score(score, value) for score in ("turns", *scores)],
        )
        for n, value in enumerate((0.0, 1.0, 1.0))
    ]
    return summarise(rows)


def drawing(plot: Plot) -> str:
    assert plot.drawing is not None
    return str(plot.drawing)


def height(plot: Plot) -> float:
    found = re.search(r'viewBox="0 0 [\d.]+ ([\d.]+)"', drawing(plot))
    assert found is not None
    return float(found[1])


def test_no_two_of_many_runs_look_alike() -> None:
    runs = {f"run-{n}": summary("diagnosis_accuracy") for n in range(20)}
    looks = re.findall(r'<use xlink:href="([^"]+)"[^>]*style="fill: ([^;"]+)', drawing(scores_plot("p", runs)))
    assert len({(marker, fill) for marker, fill in looks if "--s" in fill}) == 20


def test_a_run_without_a_score_takes_no_row_of_it() -> None:
    every = {name: summary("diagnosis_accuracy", "full_path_f1") for name in "abcd"}
    some = every | {name: summary("diagnosis_accuracy") for name in "bcd"}
    assert height(scores_plot("p", every)) - height(scores_plot("p", some)) > 20


@pytest.mark.long
def test_the_median_of_an_even_number_lies_between_the_middle_two() -> None:
    assert spread_plot("p", "Turns", "turns", [1.0, 2.0, 3.0, 10.0], {}).note == "Median 2.5, total 16 over 4 episodes."
    note = spread_plot("p", "Time", "episode_seconds", [0.0002, 0.0004, 9.0], {}).note
    assert note == "Median 0.4 ms, total 9.0 s over 3 episodes."


@pytest.mark.long
def test_one_slow_episode_does_not_stretch_the_axis_and_is_counted() -> None:
    usual = [0.01 + 0.0001 * number for number in range(40)]
    plot = spread_plot("p", "Time per episode", "episode_seconds", [1.3, *usual], {})
    assert "Beyond the axis: 1 episode, up to 1.3 s." in plot.note
    assert "Beyond" not in spread_plot("p", "Time", "episode_seconds", usual, {}).note
    assert "Beyond" not in spread_plot("p", "Time", "episode_seconds", [1.0, 1.0, 1.0, 50.0], {}).note


def test_where_the_accuracy_is_missing_the_groups_say_so() -> None:
    rows = [
        EpisodeScores(
            episode=f"{n}@1", case=str(n), group="g", cause="provider", scores=(Score("diagnosis_accuracy", None, why),)
        )
        for n, why in enumerate(["provider/timeout", "provider/timeout", "no_truth"])
    ]
    note = groups_plot("g", summarise(rows).scores[0]).note
    assert "No case has a group" not in note
    assert "the endpoint gave no reply in time" in note
    assert "the case has no reference answer" in note
    assert groups_plot("g", None).note == "No accuracy was taken, so there is none by group."
