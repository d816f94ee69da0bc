"""A share stands beside what it is a share of, counted from the same account, or beside nothing."""

import pytest
from judged import account, accounts, case, row

from wardround.engine.records import Score
from wardround.evaluators.reasoning.evaluator import Reasoning
from wardround.evaluators.reasoning.reasoning_record import scores
from wardround.evaluators.reasoning.step_questions import Rules
from wardround.evaluators.report.episode_page import episode_page, fraction

RULES: tuple[Rules, ...] = ("default", "published")


@pytest.mark.parametrize("rules", RULES)
def test_it_comes_to_the_figure_of_the_part(rules: Rules) -> None:
    found = []
    for part in account().parts:
        for score in scores(part, rules):
            figure = score.name.removeprefix("published_").removesuffix(f"_{part.part}")
            if told := fraction(part, figure, rules, score.value):
                of, whole = map(int, told.split(" of "))
                assert of / whole == score.value
                found.append((figure, told))
    assert ("efficiency", "3 of 4") in found
    assert {figure for figure, _ in found} >= {"efficiency", "factuality"}


def test_what_is_another_figure_has_none() -> None:
    part = account().parts[-1]
    assert fraction(part, "efficiency", "default", 0.123) == ""
    assert fraction(part, "efficiency", "default", None) == ""
    assert fraction(part, "steps", "default", 4.0) == ""


def test_the_page_shows_it_in_the_tile_and_beside_the_part() -> None:
    told = account()
    answer = [part for part in told.parts if part.stage == "conclusion"]
    given = [score for part in answer for score in scores(part, Reasoning.rules)]
    html = episode_page("r", row(scores=[Score("diagnosis_accuracy", 1.0), *given]), case(), accounts(told), {})
    [thinking] = [score.value for score in given if score.name == "efficiency_thinking"]
    assert thinking == 0.75
    assert '<strong>0.750</strong> <span class="sub">3 of 4</span>' in html
    assert html.count("3 of 4") >= 2
