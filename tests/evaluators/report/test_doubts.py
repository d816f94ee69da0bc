"""What a reader is told before believing the figures of judges."""

from typing import Any, get_args

import pytest

from wardround.engine.records import Score
from wardround.evaluators.report.html import page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import SHAPES, cautions, doubts
from wardround.scenarios.parsers.moves import Shape

SEATS = {"seats": {"doctor": {"spec": "openai/o3-mini", "model": "o3-mini"}}}


def run(*scores: Score, **fields: Any) -> RunScores:
    """A run of one episode with these scores."""
    row = EpisodeScores(episode="a@1", case="a", cause="completed", scores=scores)
    whole: dict[str, Any] = {"name": "r", "header": SEATS, "episodes": [row]}
    return RunScores(**(whole | fields))


def said(judged: RunScores) -> str:
    return "\n".join(doubts(judged, summarise(judged.episodes)))


def test_a_run_that_no_judge_has_seen_has_nothing_said_of_it() -> None:
    assert said(run(Score("diagnosis_accuracy", 1.0))) == ""


def test_a_floor_is_said_first_and_in_the_page() -> None:
    floor = run(Score("hostile_texts", 1.0), floor=True)
    assert doubts(floor, summarise(floor.episodes))[0].startswith("LOWER BOUND: a lexical stand-in judged")
    assert "LOWER BOUND" in page(ReportFigures([floor]))


def test_a_judge_of_the_doctor_s_family_is_named() -> None:
    kin = run(judges={"judge": ("azure/deployed", "gpt-4o"), "judge-2": ("google/gemma-3", "gemma-3")})
    assert "judge (azure/deployed) and the doctor (openai/o3-mini) are of one family, openai" in said(kin)
    assert "judge-2" not in said(kin)


@pytest.mark.parametrize("header", [{}, {"seats": 3}, {"seats": {"doctor": "gold"}}])
def test_a_strange_header_is_no_error(header: dict[str, Any]) -> None:
    assert said(run(header=header, judges={"judge": ("openai/gpt-4o", "gpt-4o")})) == ""


@pytest.mark.parametrize(
    ("fields", "part"),
    [
        ({"searches": {"reasoning": ("bundled@1f2e", 40)}}, "The evidence is the bundled demonstration corpus"),
        ({"searches": {"reasoning": ("corpus:x", 12)}}, "The evidence is a corpus of 12 documents"),
        ({"searches": {"reasoning": ("corpus:x", 16_407)}}, ""),
        ({"searches": {"reasoning": ("pubmed", None)}}, ""),
        (
            {"searches": {"standard": ("brave", None), "reasoning": ("bundled@1f2e", 40)}},
            "The evidence of reasoning is the bundled",
        ),
    ],
)
def test_thin_evidence_is_said(fields: dict[str, Any], part: str) -> None:
    assert (part in said(run(**fields))) if part else said(run(**fields)) == ""


@pytest.mark.parametrize(("share", "told"), [(0.31, True), (0.3, False)])
def test_many_unverifiable_steps_are_said(share: float, told: bool) -> None:
    assert ("0.310" in said(run(Score("unverifiable_formal", share)))) is told


def test_hostile_texts_divided_panels_and_silent_doctors_are_counted() -> None:
    text = said(
        run(
            Score("hostile_texts", 2.0),
            Score("diagnosis_accuracy", None, "judges_divided"),
            Score("factuality_formal", None, "judge_torn"),
            Score("efficiency_formal", None, "no_reasoning"),
        )
    )
    assert "1 episode with text that speaks to the judge" in text
    assert "no majority in 1 episode" in text
    assert "1 episode without reasoning in the answer" in text


def test_a_divided_panel_is_no_unreadable_judge() -> None:
    divided = run(Score("diagnosis_accuracy", None, "judges_divided"))
    assert "could not be read" not in "\n".join(cautions(divided, summarise(divided.episodes)))
    unread = run(Score("diagnosis_accuracy", None, "judge_unreadable/prose"))
    assert "1 answer without a verdict" in "\n".join(cautions(unread, summarise(unread.episodes)))


def test_a_seat_that_left_its_role_is_named_with_how() -> None:
    told = said(run(Score("role_breaks_patient", 2.0, "recites, plays_other"), Score("role_breaks_doctor", 0.0)))
    assert "The patient left its role in 1 episode:" in told
    assert "recited its instructions" in told
    assert "spoke for another seat" in told
    assert "The doctor left" not in told


def test_every_shape_of_an_unread_reply_has_words() -> None:
    assert set(SHAPES) == set(get_args(Shape))


def test_unread_replies_are_counted_by_what_they_looked_like() -> None:
    rows = [
        EpisodeScores(episode=f"{n}@1", case=str(n), cause="completed", unread={"empty": 2, "new_shape": 1})
        for n in range(2)
    ]
    told = said(run(episodes=rows))
    assert "could not be used, 6, by what they looked like: no text at all (4); new shape (2)." in told
