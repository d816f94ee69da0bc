"""The score of a question whose ending keeps, or lacks, what was read from the answer."""

from typing import Any

import pytest
from open_answer import item, told

from wardround.engine.records import Score
from wardround.evaluators.metrics.question_answer import QuestionAnswer
from wardround.evaluators.reasons import WORDS
from wardround.scenarios.question_item import QuestionItem

OPTIONS = ("Gout", "Septic arthritis")


def closed(form: str) -> QuestionItem:
    """A closed question: the second option is right, and the first one is offered."""
    fields: dict[str, Any] = {"form": form, "rubric": (), "options": () if form == "statement" else OPTIONS}
    if form in ("choice", "rectification"):
        fields["truth"] = {"option": 1, "holds": None if form == "choice" else False}
    else:
        fields["truth"] = {"holds": False}
    return item(**fields, offered=0 if form == "rectification" else None)


async def scored(asked: QuestionItem, **facts: Any) -> Score:
    return (await QuestionAnswer().score(asked, told("B", **facts)))[0]


@pytest.mark.parametrize("form", ["choice", "statement", "rectification", "existence"])
@pytest.mark.parametrize("facts", [{}, {"reading": "B"}, {"reading": {}}, {"reading": {"other": 1}}])
async def test_an_answer_whose_reading_is_not_stored_has_no_score(form: str, facts: dict[str, Any]) -> None:
    score = await scored(closed(form), **facts)
    assert (score.value, score.reason) == (None, "no_reading")


@pytest.mark.parametrize("form", ["choice", "statement"])
async def test_what_the_published_rules_cannot_read_is_wrong_and_says_why(form: str) -> None:
    score = await scored(closed(form), guessed=False)
    assert (score.value, score.reason) == (0.0, "nothing_read")


@pytest.mark.parametrize(
    ("form", "reading", "value"),
    [
        ("choice", {"option": 1}, 1.0),
        ("choice", {"option": 0}, 0.0),
        ("statement", {"holds": False}, 1.0),
        ("rectification", {"holds": False, "option": 1}, 1.0),
        ("rectification", {"holds": False}, 0.0),
        ("rectification", {"holds": True}, 0.0),
    ],
)
async def test_a_stored_reading_is_scored_without_a_reason(form: str, reading: dict[str, Any], value: float) -> None:
    score = await scored(closed(form), reading=reading)
    assert (score.value, score.reason) == (value, "")


def test_every_reason_has_words() -> None:
    assert {"no_reading", "nothing_read", "open_question"} <= set(WORDS)


@pytest.mark.parametrize(
    ("reply", "value"),
    [
        ("Vitamin C", 1.0),
        ("**Answer:** Vitamin C.", 1.0),
        ("The answer is vitamin C.", 1.0),
        ("The answer is **vitamin C**, because collagen needs it.", 1.0),
        ("Collagen needs it.\n\nFinal answer: vitamin C", 1.0),
        ('{"answer": "vitamin C"}', 1.0),
        ("\\boxed{vitamin C}", 1.0),
        ("Answer: vitamin C (ascorbate). It is found in oranges.", 1.0),
        ("Answer: vitamin C (ascorbate)", 1.0),
        ("Answer: vitamin C. It is found in oranges.", 1.0),
        ("\u7b54\u6848\uff1avitamin C\u3002", 1.0),
        ("Vitamin C or vitamin D", 0.0),
        ("Vitamin C, vitamin D, vitamin E", 0.0),
        ("Answer: vitamin C, vitamin D", 0.0),
        ("The answer is not vitamin C", 0.0),
        ("If she eats no fruit, the answer is vitamin C; otherwise it is iron.", 0.0),
        ("Answer: vitamin D. Vitamin C is wrong.", 0.0),
        ("", 0.0),
    ],
)
async def test_a_short_answer_is_what_the_reply_states(reply: str, value: float) -> None:
    asked = item(form="short", rubric=(), truth={"answers": ["vitamin C", "ascorbic acid"]})
    score = (await QuestionAnswer().score(asked, told(reply)))[0]
    assert score.value == value
