"""Several runs in one table, best first: ties, runs without the score, and what the page and the terminal show."""

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from markup import Reader
from rich.console import Console
from tabled import run

from wardround.engine.records import Score
from wardround.evaluators.report.html import as_json, page
from wardround.evaluators.report.ranking import Ranking, ranking
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.terminal import WIDE, ranking_table, score_table


def scored(name: str, *values: float | None, score: str = "diagnosis_accuracy") -> RunScores:
    rows = [
        EpisodeScores(
            episode=f"{place}@1",
            case=str(place),
            cause="completed",
            scores=(Score(score, value, "" if value is not None else "judge/timeout"),),
        )
        for place, value in enumerate(values)
    ]
    return RunScores(name=name, header=run(name, "oracle").header, episodes=rows)


def ranked(*runs: RunScores) -> Ranking:
    found = ranking(runs, {one.name: summarise(one.episodes) for one in runs})
    assert found is not None
    return found


def order(found: Ranking) -> list[tuple[int | None, str]]:
    return [(place.rank, place.run) for place in found.places]


def test_the_best_is_first_ties_share_a_rank_and_who_has_no_value_has_none() -> None:
    runs = scored("none", None, None), scored("low", 0, 0), scored("b", 1, 0), scored("a", 0, 1), scored("top", 1, 1)
    assert order(ranked(*runs)) == [(1, "top"), (2, "b"), (2, "a"), (4, "low"), (None, "none")]


def test_a_run_without_any_value_is_named_in_place_of_a_figure() -> None:
    told = "Ranked by the mean over the 2 episodes scored in all runs"
    none, low = scored("none", None, None), scored("low", 0, 0)
    assert ranked(none, low, scored("top", 1, 1)).basis_reason == (
        f"{told} that have a value. Not ranked, without any value: none."
    )
    assert ranked(low, scored("top", 1, 1)).basis_reason == f"{told}."


def test_it_goes_by_the_headline_share_that_most_runs_have() -> None:
    runs = [scored("x", 1.0, score="treatment_accuracy"), scored("y", 0.0), scored("z", 1.0)]
    found = ranked(*runs)
    assert (found.by, found.others) == ("diagnosis_accuracy", ["treatment_accuracy"])
    assert [place.others[0] is not None for place in found.places] == [False, False, True]
    assert (
        ranking([scored("x", 5.0, score="turns")], {"x": summarise(scored("x", 5.0, score="turns").episodes)}) is None
    )


@given(st.lists(st.lists(st.sampled_from([0.0, 0.25, 1.0, None]), min_size=1, max_size=4), min_size=1, max_size=6))
def test_ranks_follow_the_means(lots: list[list[float | None]]) -> None:
    runs = [scored(f"r{place}", *values) for place, values in enumerate(lots)]
    found = ranking(runs, {one.name: summarise(one.episodes) for one in runs})
    if found is None:
        assert all(value is None for values in lots for value in values)
        return
    values = [place.value for place in found.places if place.value is not None]
    assert values == sorted(values, reverse=True)
    assert len(found.places) == len(runs)
    for place in found.places:
        assert (place.value is None) == (place.figure is None or place.figure.mean is None)
        if place.value is not None:
            assert place.rank == 1 + sum(other > place.value for other in values)
        if place.value is not None and place.figure is not None and place.figure.bounds is not None:
            low, _ = place.figure.bounds
            assert place.value == low if found.basis == "lower bound" else low - 1e-9 <= place.value
    assert found.basis in found.basis_reason


def test_runs_are_ranked_by_the_mean_over_episodes_scored_in_all_of_them() -> None:
    one = scored("one", *[1.0] * 49, None, *[0.0] * 50)
    two = scored("two", *[1.0] * 48, 0.0, *[0.0] * 50, None)
    found = ranked(one, two)
    assert (found.basis, found.episodes) == ("mean", 98)
    assert [(place.run, place.value) for place in found.places] == [("one", 49 / 98), ("two", 48 / 98)]
    assert found.basis_reason == "Ranked by the mean over the 98 episodes scored in all runs."


def test_where_under_nine_of_ten_episodes_are_shared_every_lower_bound_is_ranked() -> None:
    shy = scored("shy", *[1.0] * 8, None, None)
    bold = scored("bold", *[1.0] * 9, 0.0)
    found = ranked(shy, bold)
    assert (found.basis, found.episodes) == ("lower bound", 8)
    assert [(place.run, place.value) for place in found.places] == [("bold", 0.9), ("shy", 0.8)]
    assert "only 8 of 10 episodes of shy are scored in all runs, which is under 90 %" in found.basis_reason


def test_where_missing_values_are_more_than_two_points_apart_every_lower_bound_is_ranked() -> None:
    full = scored("full", *[1.0] * 50, *[0.0] * 50)
    near = scored("near", *[1.0] * 50, *[0.0] * 48, None, None)
    far = scored("far", *[1.0] * 50, *[0.0] * 47, None, None, None)
    assert ranked(full, near).basis == "mean"
    found = ranked(full, far)
    assert found.basis == "lower bound"
    assert "3.0 % of the values of far are missing and 0.0 % of those of full" in found.basis_reason


def test_a_figure_that_does_not_exist_is_no_missing_value() -> None:
    one, two = scored("one", *[1.0] * 10), scored("two", *[1.0] * 10)
    bare = EpisodeScores(
        episode="x@1", case="x", cause="completed", scores=(Score("diagnosis_accuracy", None, "no_truth"),)
    )
    both = [RunScores(name=run.name, header=run.header, episodes=[*run.episodes, *[bare]]) for run in (one, two)]
    assert ranked(*both).basis == "mean"


def test_repeats_are_episodes_of_their_own_in_a_ranking() -> None:
    def twice(name: str, value: float | None) -> RunScores:
        rows = [
            EpisodeScores(
                episode=f"{case}@{repeat}",
                case=str(case),
                repeat=repeat,
                cause="completed",
                scores=(Score("diagnosis_accuracy", value if (case, repeat) == (0, 2) else 1.0, "judge/timeout"),),
            )
            for case in range(30)
            for repeat in (1, 2)
        ]
        return RunScores(name=name, header=run(name, "oracle").header, episodes=rows)

    found = ranked(twice("a", None), twice("b", 0.0))
    assert (found.basis, found.episodes) == ("mean", 59)
    assert order(found) == [(1, "a"), (1, "b")]


def shown(tables: Sequence[object], width: int) -> str:
    out = io.StringIO()
    for table in tables:
        Console(width=width, file=out).print(table)
    return out.getvalue()


def test_terminal_page_and_json_have_it() -> None:
    runs = [scored("low", 0.0, 0.0), scored("top", 1.0, 1.0)]
    lines = shown([ranking_table(ranked(*runs))], 140).splitlines()
    assert lines[0].strip() == "Runs by diagnosis accuracy in oracle"
    assert lines[1].startswith(
        "Ranked by the mean over the 2 episodes scored in all runs. Word match: a lower bound by words"
    )
    assert lines[3].split()[:4] == ["1", "top", "maker/top", "1.000"]
    assert "2/2" in lines[3]
    text = Reader(page(ReportFigures(runs))).text
    assert "Runs by diagnosis accuracy" in text
    told = as_json(ReportFigures(runs))["ranking"]
    assert isinstance(told, dict)
    assert [place["run"] for place in told["places"]] == ["top", "low"]
    assert told["places"][0]["diagnosis_accuracy"] == {"mean": 1.0, "ci95": None, "scored": 2, "n": 2}
    assert (told["basis"], told["episodes"], told["places"][0]["value"]) == ("mean", 2, 1.0)
    assert as_json(ReportFigures(runs[:1]))["ranking"] is None


def test_a_narrow_terminal_loses_neither_names_nor_denominators() -> None:
    summary = summarise(scored("r", 1.0, None, 0.0).episodes)
    for width in (50, 60, WIDE - 1):
        text = shown([score_table("r", summary, width=width)], width)
        assert "2/3" in text
        assert "Diagnosis" in text
        assert "…" not in text
    assert "bounds" in shown([score_table("r", summary)], 140)
