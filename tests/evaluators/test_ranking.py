"""Several runs in one table, best first: ties, runs without the score, and what the page and the terminal show."""

import io
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from markup import Reader
from rich.console import Console
from tabled import run

from wardround.engine.records import Score
from wardround.evaluators.ranking import Ranking, ranking
from wardround.evaluators.report import as_json, page
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.summary import summarise
from wardround.evaluators.table import WIDE, ranking_table, score_table


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
    means = [one.mean for place in found.places if (one := place.figure) and one.mean is not None]
    assert means == sorted(means, reverse=True)
    assert len(found.places) == len(runs)
    for place in found.places:
        mean = place.figure.mean if place.figure else None
        assert place.rank == (None if mean is None else 1 + sum(other > mean for other in means))


def shown(tables: Sequence[object], width: int) -> str:
    out = io.StringIO()
    for table in tables:
        Console(width=width, file=out).print(table)
    return out.getvalue()


def test_terminal_page_and_json_have_it() -> None:
    runs = [scored("low", 0.0, 0.0), scored("top", 1.0, 1.0)]
    lines = shown([ranking_table(ranked(*runs))], 140).splitlines()
    assert lines[0].strip() == "Runs by diagnosis accuracy"
    assert lines[2].split()[:5] == ["1", "top", "maker/top", "oracle", "1.000"]
    assert "2/2" in lines[2]
    text = Reader(page(runs)).text
    assert "Runs by diagnosis accuracy" in text
    told = as_json(runs)["ranking"]
    assert isinstance(told, dict)
    assert [place["run"] for place in told["places"]] == ["top", "low"]
    assert told["places"][0]["diagnosis_accuracy"] == {"mean": 1.0, "ci95": (1.0, 1.0), "scored": 2, "n": 2}
    assert as_json(runs[:1])["ranking"] is None


def test_a_narrow_terminal_loses_neither_names_nor_denominators() -> None:
    summary = summarise(scored("r", 1.0, None, 0.0).episodes)
    for width in (50, 60, WIDE - 1):
        text = shown([score_table("r", summary, width=width)], width)
        assert "2/3" in text
        assert "Diagnosis" in text
        assert "…" not in text
    assert "bounds" in shown([score_table("r", summary)], 140)
