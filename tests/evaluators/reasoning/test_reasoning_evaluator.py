"""The Reasoning Evaluator on whole episodes: which figures there are, from which replies, and why one is missing."""

import pytest
from examples import first_ones
from graded import case, completed, trajectory
from reasoned import (
    ANSWER,
    ASKING,
    QUOTE,
    STEPS,
    TRUTH,
    judged,
    judgment,
    played,
    pleased,
    said,
    script,
    values,
)

from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Ending, Score
from wardround.evaluators.judges.panel import Sample
from wardround.evaluators.judges.question import Question
from wardround.evaluators.reasoning.evaluator import EncounterReasoning, PublishedReasoning, Reasoning
from wardround.runs.settings import load_prompts
from wardround.scenarios.case import Truth

TURNS = {"workup": 2, "one-turn": 2, "free-turn": 3, "consultation": 2, "oracle": 1, "treatment": 1}
DOWN = ProviderError("connection", "down")


def reasons(scores: dict[str, Score], part: str) -> set[str]:
    return {score.reason for name, score in scores.items() if name.endswith(part) and name.split("_")[0] != "turn"}


async def test_each_part_of_the_reply_with_the_answer() -> None:
    thought = "First, a stone.\n\nThen, no: an appendix.\n\nYes."

    def play(question: Question, sample: Sample) -> str:
        step = question.text("The step")
        if question.name == "step_class":
            return "Citation" if step.startswith("Cells") else "Redundancy" if step == "Yes." else "Reasoning"
        if question.name == "judgment" and "stone" in step:
            return judgment("wrong", QUOTE)
        if question.name == "found":
            return said(
                found=question.text("The text").count("pain moved") > 0 or "Appendicitis" in question.text("The text")
            )
        return str(script()[question.name])

    scores, account = await judged(played((ANSWER, thought)), play)
    assert values(scores, "steps_formal", "efficiency_formal", "factuality_formal", "completeness_formal") == [
        (2.0, ""), (0.5, ""), (1.0, ""), (1.0, ""),
    ]  # fmt: skip
    assert values(scores, "steps_thinking", "efficiency_thinking", "factuality_thinking") == [
        (3.0, ""), (2 / 3, ""), (0.5, ""),
    ]  # fmt: skip
    assert [(part.part, part.stage, part.turn, part.seq) for part in account.parts] == [
        ("formal", "conclusion", 1, 1), ("thinking", "conclusion", 1, 1),
    ]  # fmt: skip
    formal = account.parts[0]
    assert [(step.text, step.kind, step.verdict) for step in formal.steps] == [
        ("The pain moved.", "reasoning", "correct"), ("Cells are raised.", "citation", None),
    ]  # fmt: skip
    assert [step.text for step in formal.reference or ()] == list(STEPS)
    assert [step.final for step in formal.reference or ()] == [False, False, True]
    assert (account.judges, account.search, account.floor) == ({"judge": "played:judge"}, "played", False)


async def test_replies_before_the_answer_are_pooled_under_another_name() -> None:
    judge = pleased()
    scores, account = await judged(played(ASKING, ASKING, ANSWER, scenario="workup"), judge)
    assert values(scores, "examination_steps_formal", "examination_efficiency_formal", "steps_formal") == [
        (2.0, ""), (1.0, ""), (2.0, ""),
    ]  # fmt: skip
    assert values(scores, "examination_completeness_formal", "completeness_formal") == [
        (None, "no_reference"),
        (1.0, ""),
    ]
    assert scores["examination_efficiency_formal"].evidence == (1, 3)
    assert scores["efficiency_formal"].evidence == (5,)
    assert not [name for name in scores if name.startswith("turn_")]
    goals = [question.said["goal"] for question, *_ in judge.asked if question.name == "step_class"]
    assert len(set(goals)) == 2
    assert goals[0] == goals[1] != goals[-1]
    assert [part.unreferenced for part in account.parts if part.part == "formal"] == ["no_reference"] * 2 + [""]


async def test_free_turns_have_columns_of_their_own() -> None:
    scores, _ = await judged(played(ASKING, (ANSWER, "Hm, one thing."), scenario="free-turn"))
    assert values(scores, "turn_1_steps_formal", "turn_2_steps_formal", "turn_2_steps_thinking") == [
        (1.0, ""), (2.0, ""), (1.0, ""),
    ]  # fmt: skip
    assert values(scores, "turn_1_completeness_formal", "turn_2_completeness_formal", "turn_1_steps_thinking") == [
        (None, "no_reference"), (1.0, ""), (None, "no_thinking"),
    ]  # fmt: skip
    assert [scores[f"turn_{turn}_efficiency_formal"].evidence for turn in (1, 2)] == [(1,), (3,)]
    alone, _ = await judged(played(ANSWER, scenario="free-turn"))
    assert alone["turn_1_efficiency_formal"].value == alone["efficiency_formal"].value
    assert values(alone, "examination_efficiency_formal") == [(None, "nothing_asked")]


@pytest.mark.parametrize("by", first_ones([Reasoning, PublishedReasoning, EncounterReasoning], 2))
@pytest.mark.parametrize("scenario", TURNS)
async def test_the_names_are_the_same_whatever_happens(scenario: str, by: type[Reasoning]) -> None:
    full = [ASKING] * (TURNS[scenario] - 1) + [ANSWER]
    whole, _ = await judged(played(*full, scenario=scenario), by=by)
    names = [name for name in whole if not name.startswith("turn_")]
    endings = [Ending("provider", "timeout"), Ending("limit", "cost"), Ending("doctor", "no_answer"), Ending("patient")]
    for ending in [*endings, None]:
        scores, _ = await judged(played(*full, scenario=scenario, ending=ending), by=by)
        assert [name for name in scores if not name.startswith("turn_")] == names
        if ending in (*endings[:2], endings[3]):
            assert ending is not None
            assert {score.reason for score in scores.values()} == {
                "/".join(filter(None, (ending.cause, ending.reason)))
            }
            assert {score.value for score in scores.values()} == {None}
    for texts in ([ANSWER], [""], ["Appendicitis"]):
        scores, _ = await judged(played(*texts, scenario=scenario), by=by)
        assert [name for name in scores if not name.startswith("turn_")] == names
    for reply in ("Who knows.", DOWN):
        mute = dict.fromkeys(script(), reply)
        scores, _ = await judged(played(*full, scenario=scenario), mute, by=by)
        assert list(scores) == list(whole)
    no_words = trajectory(ending=completed(), scenario=scenario)
    scores, _ = await judged(no_words, by=by)
    assert [name for name in scores if not name.startswith("turn_")] == names
    assert {score.reason for score in scores.values()} == {"no_replies"}


@pytest.mark.parametrize(
    ("text", "thinking", "formal", "thought"),
    [
        ("", "", "empty_reply", "no_thinking"),
        ("  \n", "One thing.", "empty_reply", ""),
        ("### Answer:\nAppendicitis", "", "no_reasoning", "no_thinking"),
        (ANSWER, "", "", "no_thinking"),
    ],
)
async def test_why_there_are_no_steps(text: str, thinking: str, formal: str, thought: str) -> None:
    scores, account = await judged(played((text, thinking)))
    assert [scores[f"efficiency_{part}"].reason for part in ("formal", "thinking")] == [formal, thought]
    assert [part.reason for part in account.parts] == [formal, thought]
    if thought == "no_thinking":
        assert reasons(scores, "_thinking") == {"no_thinking"}


@pytest.mark.parametrize("by", [Reasoning, PublishedReasoning, EncounterReasoning])
async def test_a_typed_answer_has_no_words_to_judge(by: type[Reasoning]) -> None:
    judge = pleased()
    asked, told = ("doctor", Action("order", args={"items": ["CT"]})), ("examiner", Action("answer", "CT: thick."))
    answered = ("doctor", Action("conclude", args={"diagnosis": "Appendicitis"}))
    acted = trajectory(asked, told, answered, ending=completed("Appendicitis"))
    scores, account = await judged(acted, judge, by=by)
    formal = {name: score for name, score in scores.items() if name.endswith("_formal")}
    assert {(score.value, score.reason) for score in formal.values()} <= {(None, "no_words"), (None, "no_reference")}
    assert [part.reason for part in account.parts] == ["no_words", "no_thinking"] * 2
    assert judge.count("found") == judge.count("step_class") == 0
    # where one of the requests has words, there is something to judge
    worded = trajectory(
        asked, told, ("doctor", Action("reply", "### Answer:\nA CT")), told, answered, ending=completed()
    )
    scores, _ = await judged(worded)
    assert scores["examination_efficiency_formal"].reason == "no_reasoning"


async def test_an_empty_reply_covers_what_its_answer_covers() -> None:
    scores, _ = await judged(played(""))
    assert values(scores, "completeness_formal", "factuality_formal") == [(1.0, ""), (None, "empty_reply")]
    nothing = completed("")
    assert values((await judged(played("", ending=nothing)))[0], "completeness_formal") == [(0.0, "")]


async def test_a_case_without_reference_has_no_completeness() -> None:
    judge = pleased()
    scores, account = await judged(played(ANSWER), judge, case=case())
    assert values(scores, "completeness_formal", "completeness_without_answer_formal") == [(None, "no_reference")] * 2
    assert judge.count("reference") == judge.count("found") == 0
    assert account.parts[0].reference is None


async def test_to_the_published_code_an_answer_alone_is_a_reference() -> None:
    judge = pleased(reference=said(steps=["Appendicitis"]), found=said(found=False))
    published, _ = await judged(played(ANSWER), judge, by=PublishedReasoning, case=case())
    assert values(published, "published_completeness_formal") == [(0.0, "")]
    (asked,) = [question for question, *_ in judge.asked if question.name == "reference"]
    assert asked.text("The reference") == "The final diagnosis: Appendicitis"
    nothing = case(truth=Truth(diagnosis=" "))
    published, _ = await judged(played(ANSWER), by=PublishedReasoning, case=nothing)
    assert values(published, "published_completeness_formal") == [(None, "no_reference")]


@pytest.mark.parametrize("by", [Reasoning, PublishedReasoning, EncounterReasoning])
async def test_where_nobody_can_be_asked_a_reply_that_was_sent_back_is_no_examination(by: type[Reasoning]) -> None:
    said_twice = [("doctor", Action("reply", text)) for text in ("Fever, so I think of an infection.", ANSWER)]
    scores, account = await judged(trajectory(*said_twice, scenario="oracle", ending=completed("Appendicitis")), by=by)
    assert [name for name in scores if name.startswith("examination_")] == []
    assert {(part.turn, part.seq) for part in account.parts} == {(1, 2)}


async def test_a_reply_that_was_sent_back_has_no_columns() -> None:
    sent_back = ("doctor", Action("reply", "Fever, so I think of an infection."))
    played_on = played(ASKING, ANSWER, scenario="free-turn")
    acts = [(event.seat, event.action) for event in played_on.acted()]
    scores, _ = await judged(trajectory(sent_back, *acts, scenario="free-turn", ending=completed("Appendicitis")))
    assert {name.split("_")[1] for name in scores if name.startswith("turn_")} == {"1", "2"}
    assert values(scores, "examination_steps_formal") == [(1.0, "")]


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("I cannot help with that.", "judge_unreadable/"),
        ("", "judge_unreadable/empty"),
        (said(steps=["one"] * 11), "judge_unreadable/too_many_steps"),
        (DOWN, "judge/connection"),
    ],
)
async def test_a_reference_that_the_judge_could_not_split_is_a_failure(reply: str | Exception, reason: str) -> None:
    scores, account = await judged(played((ANSWER, "One thing.")), pleased(reference=reply))
    for part in ("formal", "thinking"):
        assert scores[f"completeness_{part}"].value is None
        assert scores[f"completeness_{part}"].reason.startswith(reason)
    assert account.parts[0].unreferenced.startswith(reason)
    assert scores["efficiency_formal"].value == 1.0


@pytest.mark.parametrize(("by", "rules"), [(Reasoning, ""), (PublishedReasoning, "_published")])
async def test_each_rule_set_asks_by_its_own_criteria(by: type[Reasoning], rules: str) -> None:
    judge = pleased()
    await judged(played(ANSWER), judge, by=by)
    asked = {question.name: question.prompt for question, *_ in judge.asked}
    assert asked["judgment"] == f"judge/judgment{rules}"
    assert asked["found"] == f"judge/found{rules}"
    assert asked["step_class"] == "judge/step_class"
    assert set(asked.values()) <= set(load_prompts().texts())


async def test_the_reference_is_split_once_for_all_parts_and_asks_for_the_final_answer() -> None:
    judge = pleased()
    await judged(played((ASKING, "Hm."), (ANSWER, "Well."), scenario="free-turn"), judge)
    (asked,) = [question for question, *_ in judge.asked if question.name == "reference"]
    text = asked.text("The reference")
    assert TRUTH.reasoning in text
    assert TRUTH.differential in text
    assert "Appendicitis" in text.splitlines()[-1]


async def test_published_takes_ten_steps_counts_the_unsettled_as_wrong_and_zero_where_nothing_is_defined() -> None:
    steps = "\n".join(f"<step {number}> Thing number {number}." for number in range(1, 13))
    text = f"{steps}\n\n### Answer:\nAppendicitis"
    judge = pleased(
        step_class=[*["Reasoning"] * 8, "Citation"],
        judgment=[judgment("correct")] * 4 + [judgment("search", keywords="x")],
    )
    scores, account = await judged(played(text), judge, by=PublishedReasoning)
    assert judge.count("step_class") == len(account.parts[0].steps) == 10
    assert values(scores, "published_efficiency_formal", "published_factuality_formal") == [(0.8, ""), (0.5, "")]
    cited, _ = await judged(played(text), pleased(step_class="Citation"), by=PublishedReasoning)
    assert values(cited, "published_efficiency_formal", "published_factuality_formal") == [(0.0, ""), (0.0, "")]
    default, _ = await judged(played(text), pleased(step_class="Citation"))
    assert values(default, "efficiency_formal", "factuality_formal") == [(0.0, ""), (None, "no_reasoning_step")]


async def test_what_is_not_verified_stands_beside_with_both_bounds() -> None:
    wants = [judgment("correct", QUOTE), judgment("wrong", QUOTE), judgment("correct"), judgment("search", keywords="")]
    steps = "\n".join(f"<step {number}> Thing number {number}." for number in range(1, 5))
    scores, account = await judged(played(f"{steps}\n\n### Answer:\nAppendicitis"), pleased(judgment=wants))
    names = ("factuality_formal", "factuality_low_formal", "factuality_high_formal", "unverifiable_formal")
    assert values(scores, *names) == [(0.5, ""), (0.25, ""), (0.75, ""), (0.5, "")]
    assert sorted(step.reason for step in account.parts[0].steps) == ["", "", "uncited", "unresolved"]
