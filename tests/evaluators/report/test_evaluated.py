"""How many episodes were judged, and who was silent how often, from the accounts of evaluations."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from judged import account, accounts, assessment, outcome
from judged import looked as a_look
from reasoned import found_by, judged, played, pleased

from wardround.engine.errors import ProviderError
from wardround.engine.records import Json
from wardround.evaluators.report.html import as_json, page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import (
    AccountTally,
    EpisodeScores,
    EvaluatorCoverage,
    RunScores,
    SeatSilence,
)
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts
from wardround.evaluators.search.results import SearchError

JUDGES = {"judge": ("openai/gpt-5", "gpt-5"), "judge-2": ("played/dead", "dead")}
ANSWER = "### Reasoning:\n<step 1> The pain moved.\n<step 2> Cells are raised.\n\n### Answer:\nAppendicitis"


def run(*evaluations: EvaluatorCoverage, **fields: Any) -> RunScores:
    row = EpisodeScores(episode="a@1", case="a", cause="completed")
    whole: dict[str, Any] = {"name": "r", "header": {}, "episodes": [row], "judges": JUDGES, "evaluated": evaluations}
    return RunScores(**(whole | fields))


def evaluated(evaluator: str, closed: Sequence[str], accounts: Mapping[str, Json]) -> EvaluatorCoverage:
    tally = AccountTally(evaluator)
    for episode, held in accounts.items():
        tally.add(episode, held)
    return tally.evaluated(closed)


def said(told: RunScores) -> list[str]:
    return [doubt for doubt in doubts(told, summarise(told.episodes)) if doubt.startswith(("Silent", "reasoning"))]


async def account_of(**replies: Any) -> Json:
    """What a panel of a good judge and one with these replies leaves."""
    _, found = await judged(played(ANSWER), pleased(), pleased("judge-2", **replies))
    built: Json = msgspec.to_builtins(found)
    return built


async def test_a_judge_that_always_fails_is_named_with_its_count_and_reason() -> None:
    down = ProviderError("connection", "down")
    dead = await account_of(**dict.fromkeys(("step_class", "keywords", "judgment", "found"), down))
    told = evaluated("reasoning", ["a", "b"], {"a": dead, "b": dead})
    good, silent = told.heard[:2]
    assert (good.seat, good.silent, good.reasons) == ("judge", 0, {})
    assert silent == SeatSilence("judge-2", good.asked, good.asked, {"judge/connection": good.asked})
    [sentence] = said(run(told))
    assert sentence.startswith(
        f"Silent judge: judge-2 (played/dead) gave no usable answer in all {good.asked} votes "
        "(mostly: judge: could not be reached)"
    )
    assert "counts against every majority" in sentence
    assert "Silent judge: judge-2" in page(ReportFigures([run(told)]))
    assert sentence in str(as_json(ReportFigures([run(told)]))["runs"])


async def test_a_judge_that_names_no_terms_is_silent_too() -> None:
    refusing = await account_of(keywords="I'm sorry, but I can't.")
    told = evaluated("reasoning", ["a"], {"a": refusing})
    assert told.heard[1].reasons == {"keywords/refusal": 2}


async def test_a_search_that_fails_is_named_and_one_that_kept_a_secret_is_not() -> None:
    _, late = await judged(played(ANSWER), search=found_by(SearchError("timeout", "late")))
    told = evaluated("reasoning", ["a"], {"a": msgspec.to_builtins(late)})
    assert told.heard[-1] == SeatSilence("search", 2, 2, {"timeout": 2})
    [sentence] = said(run(told, searches={"reasoning": ("pubmed", None)}))
    assert sentence.startswith("Silent search: pubmed failed in all 2 look-ups (mostly: no reply in time)")
    secret = outcome(looked=(a_look("appendectomy", failure="search/leak"), a_look("pain", failure="search/refused")))
    told = evaluated("standard", ["a"], {"a": {"outcome": msgspec.to_builtins(secret)}})
    assert told.heard[-1] == SeatSilence("search", 1, 1, {"refused": 1})


def test_the_search_of_one_evaluator_is_not_blamed_for_that_of_another() -> None:
    silent, fine = SeatSilence("search", 3, 3, {"refused": 3}), SeatSilence("search", 9, 0, {})
    two = EvaluatorCoverage("standard", 1, 1, (), (silent,)), EvaluatorCoverage("reasoning", 1, 1, (), (fine,))
    apart = {"standard": ("brave", None), "reasoning": ("corpus:big", 16_407)}
    [sentence] = said(run(*two, searches=apart))
    assert sentence.startswith("Silent search: brave of standard failed in all 3 look-ups (mostly: refused to answer).")
    assert said(run(*two, searches={"standard": ("brave", None), "reasoning": ("brave", None)}))[0].startswith(
        "Silent search: brave failed in 3 of 12 look-ups"
    )


def test_a_fifth_is_passed_over_and_more_is_not() -> None:
    for silent, told in ((20, False), (21, True)):
        heard = SeatSilence("judge", 100, silent, {"judge_unreadable/prose": silent})
        assert bool(said(run(EvaluatorCoverage("reasoning", 1, 1, (), (heard,))))) is told


def test_votes_of_all_evaluators_count_together_unless_the_judges_differ() -> None:
    good, bad = SeatSilence("judge", 90, 0, {}), SeatSilence("judge", 10, 10, {"judge/timeout": 10})
    two = EvaluatorCoverage("standard", 1, 1, (), (bad,)), EvaluatorCoverage("reasoning", 1, 1, (), (good,))
    assert said(run(*two)) == []
    apart = {"judge": ("a/a", "a"), "judge of standard": ("b/b", "b")}
    [sentence] = said(run(*two, judges=apart))
    assert sentence.startswith("Silent judge: judge of standard (b/b) gave no usable answer in all 10 votes")
    [sentence] = said(run(two[0], judges={"judge": ("b/b", "b")}))
    assert sentence.endswith("what hung on them has no verdict.")


def test_votes_on_the_answer_and_on_examinations_count() -> None:
    held = accounts(account(), standard={"outcome": outcome()}, assessment={"assessment": assessment()})
    asked = {name: evaluated(name, ["a"], {"a": told}).heard for name, told in held.items()}
    assert [(one.seat, one.asked) for one in asked["standard"]] == [("judge", 1), ("judge-2", 1), ("search", 1)]
    assert [(one.seat, one.asked) for one in asked["assessment"]] == [("judge", 2), ("judge-2", 2)]
    assert {one.seat: one.reasons for one in asked["reasoning"]}["search"] == {"timeout": 2}


def test_what_was_not_judged_yet_is_counted_and_listed() -> None:
    told = evaluated("reasoning", ["a", "b", "c"], {"b": None})
    assert (told.judged, told.closed, told.left, told.heard) == (1, 3, ("a", "c"), ())
    [sentence] = said(run(told))
    assert sentence.startswith("reasoning: 1 of 3 closed episodes judged so far")
    [first] = msgspec.json.decode(msgspec.json.encode(as_json(ReportFigures([run(told)]))))["runs"]
    assert first["evaluated"][0]["left"] == ["a", "c"]
