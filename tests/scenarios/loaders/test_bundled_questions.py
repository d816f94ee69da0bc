"""The bundled questions: counts, no clue in their form, and answers whose worth is known."""

from collections import Counter
from collections.abc import Sequence
from math import comb
from pathlib import Path
from statistics import mean

import pytest

from wardround import run, score_run
from wardround.agents.recorded import read_replies
from wardround.evaluators.levels.level_figures import level_report
from wardround.evaluators.open_answers.checklist_scale import CATEGORIES, category_of
from wardround.evaluators.open_answers.rubric_lint import lint
from wardround.evaluators.report.model_facts import known_models
from wardround.evaluators.report.score_rows import RunScores
from wardround.runs.stored_run import Run
from wardround.scenarios.loaders.load import bundled, load, load_playable
from wardround.scenarios.question_item import QuestionItem
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.level_rows import level_rows
from wardround.scoring.score import evaluator_of
from wardround.testing.memory_store import MemoryStore

ITEMS = [one for path in bundled("questions") for one in load_playable(path) if isinstance(one, QuestionItem)]
CLOSED = [item for item in ITEMS if item.closed]
OPEN = [item for item in ITEMS if not item.closed]
CHOICES = [item for item in CLOSED if item.form == "choice"]
FAIR = "wardround.testing.fair_judge:FairJudge"


def test_there_are_20_items_a_level_and_6_open_ones_a_category_half_of_them_chinese() -> None:
    assert Counter(item.level for item in CLOSED) == {"low": 20, "middle": 20, "high": 20}
    assert Counter(category_of(item.kind) for item in OPEN) == dict.fromkeys(CATEGORIES, 6)
    for level in ("low", "middle", "high"):
        assert Counter(item.language for item in CLOSED if item.level == level) == {"en": 10, "zh": 10}
    assert Counter((category_of(item.kind), item.language) for item in OPEN) == {
        (category, language): 3 for category in CATEGORIES for language in ("en", "zh")
    }
    assert {item.form for item in CLOSED if item.level == "middle"} == {"statement", "rectification", "existence"}


def test_the_middle_level_is_made_from_the_low_one_and_diseases_are_those_of_the_cases() -> None:
    sources = [{item.source_group for item in CLOSED if item.level == level} for level in ("low", "middle", "high")]
    assert sources[0] == sources[1]
    assert not sources[0] & sources[2]
    cases = {case.group for path in bundled() for case in load(path)}
    assert {item.group for item in CLOSED} <= cases


def within_chance(hits: int, items: Sequence[QuestionItem]) -> bool:
    """Whether neither so many hits nor so few are rarer than 2.5 % under guessing."""
    n, chance = len(items), mean(item.chance or 0.0 for item in items)
    shares = [comb(n, k) * chance**k * (1 - chance) ** (n - k) for k in range(n + 1)]
    return min(sum(shares[hits:]), sum(shares[: hits + 1])) > 0.025


@pytest.mark.parametrize("level", ["low", "high"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_neither_the_place_nor_the_length_of_an_option_tells_the_right_one(level: str, language: str) -> None:
    items = [item for item in CHOICES if (item.level, item.language) == (level, language)]
    for place in range(5):
        assert within_chance(sum(item.truth.option == place for item in items), items) or place >= len(items[0].options)
    for extreme in (max, min):
        lengths = [[len(option) for option in item.options] for item in items]
        hits = sum(some.index(extreme(some)) == item.truth.option for some, item in zip(lengths, items, strict=True))
        assert within_chance(hits, items), (extreme.__name__, hits)


def test_each_verdict_is_right_as_often_and_true_statements_are_no_longer_than_false_ones() -> None:
    for form in ("statement", "rectification", "existence"):
        sides = Counter(item.truth.holds for item in CLOSED if item.form == form)
        assert sides[True] == sides[False], form
    for language in ("en", "zh"):
        lengths = {
            side: [
                len(item.question)
                for item in CLOSED
                if item.form == "statement" and item.language == language and item.truth.holds is side
            ]
            for side in (True, False)
        }
        assert mean(lengths[True]) == pytest.approx(mean(lengths[False]), rel=0.25)


def test_options_differ_and_no_question_is_asked_twice() -> None:
    for item in CLOSED:
        assert len({"".join(option.casefold().split()) for option in item.options}) == len(item.options), item.id
    asked = Counter((item.form, item.question) for item in ITEMS)
    assert asked.most_common(1)[0][1] == 1


def test_each_open_question_has_a_reference_a_checklist_and_a_rubric_without_faults() -> None:
    for item in OPEN:
        assert item.truth.answers, item.id
        assert item.checklist.core, item.id
        assert item.checklist.secondary, item.id
        assert {one.points > 0 for one in item.rubric} == {True, False}, item.id
        assert lint(item.rubric) == [], item.id
        assert all(turn.reference and turn.checklist.core for turn in item.turns)
    assert any(item.turns for item in OPEN)


async def scored(doctor: str, *evaluators: str) -> tuple[Run, RunScores]:
    store = MemoryStore()
    played = await run("bundled:questions", "questions", doctor=doctor, store=store, name="r")
    judges = await judge_config(JudgeOptions((FAIR,)), store)
    try:
        return played, await score_run(played, [evaluator_of(name) for name in evaluators], judge=judges)
    finally:
        await judges.aclose()


def average(scores: RunScores, name: str) -> float:
    values = [one.value for row in scores.episodes for one in row.scores if one.name == name and one.value is not None]
    assert len(values) == len(OPEN), name
    return mean(values)


@pytest.mark.long
@pytest.mark.parametrize(("doctor", "least", "most"), [("gold", 1.0, 1.0), ("copied", 0.0, 0.1), ("silent", 0.0, 0.1)])
async def test_open_answers_are_worth_what_they_are_under_a_fair_judge(doctor: str, least: float, most: float) -> None:
    _, scores = await scored(doctor, "questions", "rubric", "checklist")
    for name in ("rubric_score", "usable"):
        assert least <= average(scores, name) <= most


@pytest.mark.long
@pytest.mark.parametrize(
    ("doctor", "right"),
    [
        ("gold", (20, 20, 20)),
        ("replies:bundled:questions#careful", (20, 18, 17)),
        ("replies:bundled:questions#hasty", (16, 12, 9)),
    ],
)
async def test_the_planted_right_answers_are_counted_level_by_level(doctor: str, right: tuple[int, ...]) -> None:
    played, scores = await scored(doctor, "questions")
    rows, _ = await level_rows([(played, scores)])
    counts = [sum(row.value or 0 for row in rows if row.level == level) for level in ("low", "middle", "high")]
    assert tuple(counts) == right


async def test_always_the_first_option_is_guessing() -> None:
    played, scores = await scored("always-first", "questions")
    rows, _ = await level_rows([(played, scores)])
    levels = level_report(rows, known_models()).models[0].levels
    for level, found in levels.items():
        assert found.ci95 is not None, level
        assert found.ci95[0] <= 0 <= found.ci95[1], level
        assert found.mean == pytest.approx(0, abs=0.05), level


def test_the_invented_authors_answer_every_question() -> None:
    for author in ("careful", "hasty"):
        replies = read_replies(Path("bundled:questions"), author)
        assert set(replies) == {item.id for item in ITEMS}
        assert all(len(replies[item.id]) == 1 + len(item.turns) for item in ITEMS)
