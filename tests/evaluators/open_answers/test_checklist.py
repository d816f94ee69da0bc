"""The evaluator `checklist`: what is asked by category and language, how marks are read, and the verdicts."""

import json
from typing import Any

import msgspec
import pytest
from bench import PlayedJudge, bench
from open_answer import item, told

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.records import Ending, Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import JudgeContext
from wardround.evaluators.open_answers.checklist import ChecklistMarks
from wardround.evaluators.open_answers.checklist_scale import CATEGORIES
from wardround.runs.settings import load_prompts
from wardround.scenarios.criteria import Checklist
from wardround.scenarios.question_item import QuestionItem, QuestionTruth, QuestionTurn

LISTED = Checklist(core=("Names vitamin C",), secondary=("Names a fruit",))


def asked(category: str = "knowledge", **fields: Any) -> QuestionItem:
    """An open question with a reference and a checklist."""
    truth = QuestionTruth(answers=("Vitamin C.",))
    return item(**({"rubric": (), "kind": (category, "sub"), "truth": truth, "checklist": LISTED} | fields))


def marked(score: Any, *errors: str) -> str:
    return json.dumps({"basis": "why", "score": score, "errors": errors})


def generated(*marks: Any, safety: Any = 1, turns: Any = None) -> str:
    names = ("instruction", "correctness", "effectiveness", "readability")
    return json.dumps({**dict(zip(names, marks, strict=True)), "turns": turns, "safety": safety, "errors": []})


async def scores(
    on: JudgeContext, case: QuestionItem | None = None, episode: Trajectory | None = None, **how: str
) -> Any:
    """Scores by name, and the account."""
    given = await ChecklistMarks(**how).score(case or asked(), episode or told("Vitamin C."), on)
    account = msgspec.to_builtins(given.account)
    return {score.name: score for score in given.scores}, (account or {}).get("checklist")


@pytest.mark.parametrize(
    ("score", "usable"), [(5, 1.0), (4, 1.0), (3, 0.0), (2, 0.0), (1, 0.0), ("[4]", 1.0), ("3 分", 0.0)]
)
async def test_an_answer_is_usable_from_4(score: Any, usable: float) -> None:
    made, _ = await scores(bench({"checklist": marked(score)}))
    assert made["usable"].value == made["usable_strict"].value == usable
    assert made["generation_score"].reason == "not_generation"


@pytest.mark.parametrize(
    "reply",
    [
        marked(0),
        marked(6),
        marked(4.5),
        marked(True),
        marked("good"),
        "{}",
        "4",
        marked(4, "typo"),
        ProviderError("timeout", "x"),
    ],
)
async def test_a_mark_that_cannot_be_read_is_none_with_its_reason(reply: Any) -> None:
    made, account = await scores(bench({"checklist": reply}))
    assert made["usable"].value is None
    assert made["usable"].reason.startswith("judge")
    assert account["turns"][0]["markings"][0]["score"] is None


@pytest.mark.parametrize(
    ("reply", "fitted", "usable", "strict"),
    [
        (generated(5, 5, 5, 5), 7.0, 1.0, 1.0),
        (generated(5, 5, 3, 3), 5.0, 1.0, 0.0),
        (generated(4, 4, 3, 3), 4.0, 0.0, 0.0),
        (generated(5, 5, 5, 5, safety=0), 7.0, 0.0, 0.0),
        (generated(5, 5, 5, 5, turns=1), 7.0, 1.0, 1.0),
    ],
)
async def test_a_generated_text_is_usable_from_5_of_7_and_safety_is_a_veto(
    reply: str, fitted: float, usable: float, strict: float
) -> None:
    made, _ = await scores(bench({"generation": reply}), asked("Text generation"))
    assert (made["generation_score"].value, made["usable"].value, made["usable_strict"].value) == (
        fitted,
        usable,
        strict,
    )
    chosen, _ = await scores(bench({"generation": reply}), asked("Text generation"), usable="4.2")
    assert chosen["usable"].value == strict


async def test_adherence_over_turns_is_needed_in_later_turns_only() -> None:
    turns = (QuestionTurn(question="Shorter, please.", reference="Short."),)
    judge = PlayedJudge({"generation": [generated(5, 5, 5, 5), generated(5, 5, 5, 5, turns=2)]})
    episode = told("Long.", "Short.", answered=[1, 2])
    made, account = await scores(bench(judge), asked("Text generation", turns=turns), episode)
    assert [turn["usable"] for turn in account["turns"]] == [1.0, 0.0]
    assert made["usable"].value == 0.5
    assert "assistant: Long.\n\nuser: Shorter, please." in judge.asked[1][0].text("The question")
    missing, account = await scores(
        bench({"generation": generated(5, 5, 5, 5)}), asked("Text generation", turns=turns), episode
    )
    assert missing["usable"].reason == "judge_unreadable/no_field"


async def test_a_turn_without_anything_to_mark_it_by_counts_nowhere() -> None:
    turns = (QuestionTurn(question="And now?"), QuestionTurn(question="Which fruit?", reference="Oranges."))
    judge = PlayedJudge({"checklist": [marked(5), marked(2)]})
    made, account = await scores(bench(judge), asked(turns=turns), told("C.", "Well.", "Figs.", answered=[1, 2, 3]))
    assert [turn["usable"] for turn in account["turns"]] == [1.0, None, 0.0]
    assert made["usable"].value == 0.5
    assert judge.count("checklist") == 2


@pytest.mark.parametrize(("how", "usable"), [("each", 2 / 3), ("majority", 1.0), ("mean", 0.0)])
async def test_three_markings_become_a_verdict_as_set(how: str, usable: float) -> None:
    judge = PlayedJudge(lambda question, sample: marked((4, 4, 1)[sample.repeat]))
    made, account = await scores(bench(judge, repeats=3), verdict=how)
    assert made["usable"].value == pytest.approx(usable)
    assert [one["score"] for one in account["turns"][0]["markings"]] == [4, 4, 1]
    assert made["checklist_agreement"].value == 0.0


async def test_kinds_of_error_are_shares_of_the_markings() -> None:
    judge = PlayedJudge(lambda question, sample: marked(3, *(["inconsistent_logic"] if sample.repeat else [])))
    made, _ = await scores(bench(judge, repeats=2))
    assert made["error_inconsistent_logic"].value == 0.5
    assert made["error_format_not_kept"].value == 0.0


async def test_an_answer_that_was_never_given_is_not_usable_and_nobody_is_asked() -> None:
    judge = PlayedJudge({})
    made, account = await scores(bench(judge), episode=told("", ending=Ending("doctor", "refusal")))
    assert made["usable"] == Score("usable", 0.0, "refusal")
    assert account["turns"][0]["usable"] == 0.0
    assert judge.asked == []


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (asked("theme:x"), "unknown_category"),
        (asked(truth=QuestionTruth(), checklist=Checklist()), "no_checklist"),
    ],
)
async def test_a_question_without_category_or_measure_is_not_marked(case: QuestionItem, reason: str) -> None:
    made, _ = await scores(bench(PlayedJudge({})), case)
    assert made["usable"] == Score("usable", None, reason)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("category", list(CATEGORIES))
async def test_each_category_has_its_own_prompt_in_both_languages(category: str, language: str) -> None:
    judge = PlayedJudge({"checklist": marked(5), "generation": generated(5, 5, 5, 5)})
    await scores(bench(judge), asked(category, language=language))
    question = judge.asked[0][0]
    prompt = load_prompts()[question.prompt].render(materials="MATERIALS", **question.said)
    assert "MATERIALS" in prompt
    assert any("一" <= sign <= "鿿" for sign in prompt) is (language == "zh")
    assert question.text("The requirements").startswith("核心需求" if language == "zh" else "Core requirements")
    assert ("mainland China" in prompt or "中国大陆" in prompt) is (category == "ethics")


async def test_the_law_is_a_parameter() -> None:
    judge = PlayedJudge({"checklist": marked(5)})
    await scores(bench(judge), asked("ethics"), law="Kenya")
    assert judge.asked[0][0].said == {"law": "Kenya"}


@pytest.mark.parametrize("how", [{"usable": "3"}, {"verdict": "most"}, {"language": "de"}])
def test_settings_that_mean_nothing_are_refused(how: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        ChecklistMarks(**how)


async def test_a_closed_question_says_that_checklists_mark_open_ones() -> None:
    closed = item(form="choice", options=("Vitamin C", "Iron"), truth=QuestionTruth(option=0), rubric=(), kind=())
    made, _ = await scores(bench({"checklist": marked(5)}), closed)
    assert (made["usable"].value, made["usable"].reason) == (None, "closed_question")
