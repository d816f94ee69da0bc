"""One part of one reply under judgment: every step by itself, the reference steps, and what figures come of it."""

from collections.abc import Callable

import anyio
import pytest
from bench import PlayedJudge
from reasoned import OTHER, PASSAGE, QUOTE, STEPS, found_by, judgment, pleased, said, script

from wardround.evaluators.judges.panel import Panel, Sample
from wardround.evaluators.judges.question import Question
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning.doctor_replies import DoctorReply
from wardround.evaluators.reasoning.evidence import Library
from wardround.evaluators.reasoning.part import ReasoningJudge
from wardround.evaluators.reasoning.reasoning_record import scores
from wardround.evaluators.reasoning.step_questions import Rules, StepClass, StepVerdict

TEXT = "<step 1> First it is.\n<step 2> Then it is.\n<step 3> Last it is.\n\n### Answer:\nGout"
REPLY = DoctorReply(2, 7, "conclusion", TEXT, "One thought.\n\nAnother thought.", "What was known.")


def judging(*judges: PlayedJudge, rules: Rules = "default", answer: str = "Gout", swap: bool = False) -> ReasoningJudge:
    library = Library(found_by(PASSAGE, OTHER))
    return ReasoningJudge(Panel(judges or (pleased(),), swap=swap), rules, "to find it", library, answer)


async def test_each_step_is_judged_in_the_light_of_those_before_it_the_case_and_the_goal() -> None:
    judge = pleased()
    account = await judging(judge).judge_part(REPLY, "formal", (), "no_reference")
    assert (account.part, account.stage, account.turn, account.seq, account.how) == (
        "formal",
        "conclusion",
        2,
        7,
        "tags",
    )
    asked = {question.text("The step"): question for question, *_ in judge.asked if question.name == "step_class"}
    assert [step.text for step in account.steps] == ["First it is.", "Then it is.", "Last it is."]
    assert [asked[step.text].text("Earlier steps") for step in account.steps] == [
        "(none)", "1. First it is.", "1. First it is.\n2. Then it is.",
    ]  # fmt: skip
    assert {question.text("The case") for question in asked.values()} == {"What was known."}
    assert {question.said["goal"] for question in asked.values()} == {"to find it"}
    assert (account.reference, account.unreferenced) == (None, "no_reference")


async def test_only_reasoning_is_looked_up() -> None:
    def play(question: Question, sample: Sample) -> str:
        kinds = {"First": "Citation", "Then": "Repetition", "Last": "Redundancy"}
        return kinds[question.text("The step").split()[0]] if question.name == "step_class" else "unasked"

    judge = PlayedJudge(play)
    account = await judging(judge).judge_part(REPLY, "formal", (), "no_reference")
    assert {question.name for question, *_ in judge.asked} == {"step_class"}
    assert [(step.kind, step.verdict, step.reason) for step in account.steps] == [
        ("citation", None, ""), ("repetition", None, ""), ("redundancy", None, ""),
    ]  # fmt: skip


@pytest.mark.parametrize(("rules", "places"), [("default", 2), ("published", 1)])
async def test_reference_steps_are_looked_for_in_the_reasoning_and_by_default_in_the_answer(
    rules: Rules, places: int
) -> None:
    judge = pleased(found=[said(found=False), said(found=True)])
    account = await judging(judge, rules=rules).judge_part(REPLY, "thinking", STEPS, "")
    texts = [question.text("The text") for question, *_ in judge.asked if question.name == "found"]
    assert texts.count("One thought.\nAnother thought.") == len(STEPS)
    assert texts.count("Gout") == len(STEPS) * (places - 1)
    assert account.reference is not None
    assert [(step.text, step.final) for step in account.reference] == [(text, text == STEPS[-1]) for text in STEPS]
    assert {len(step.votes) for step in account.reference} == {places}
    assert [step.answer is None for step in account.reference] == [rules == "published"] * 3


async def test_nothing_is_found_in_nothing_and_no_judge_is_asked() -> None:
    judge = pleased()
    empty = DoctorReply(1, 3, "conclusion", "", "", "Known.")
    account = await judging(judge, answer=" ").judge_part(empty, "formal", STEPS, "")
    assert (account.reason, judge.asked) == ("empty_reply", [])
    assert [(step.reasoning, step.answer, step.reason) for step in account.reference or ()] == [(False, False, "")] * 3
    thinking = await judging(judge).judge_part(empty, "thinking", STEPS, "")
    assert (thinking.reason, thinking.unreferenced, thinking.reference) == ("no_thinking", "no_thinking", None)


async def test_every_judge_and_repeat_checks_by_searches_of_its_own() -> None:
    one, two = pleased(), pleased("judge-2", keywords="stones", judgment=judgment("wrong", QUOTE | {"passage": 1}))
    three = pleased("judge-3", judgment=judgment("wrong", {"passage": 2, "quote": "A stone hurts in waves."}))
    at_work = judging(one, two, three)
    account = await at_work.judge_part(
        DoctorReply(1, 3, "conclusion", "<step 1> It is.", "", ""), "formal", (), "no_reference"
    )
    (step,) = account.steps
    assert (step.verdict, [vote.value for vote in step.verdicts]) == ("wrong", ["correct", "wrong", "wrong"])
    assert [(look.judge, look.query) for look in step.looked] == [
        ("judge", "appendix, pain"), ("judge-2", "stones"), ("judge-3", "appendix, pain"),
    ]  # fmt: skip
    assert [quoted.digest for quoted in step.quoted] == [PASSAGE.digest, PASSAGE.digest, OTHER.digest]
    assert at_work.steady == [True, False]


@pytest.mark.parametrize(
    ("verdicts", "verdict", "reason"),
    [
        (("correct", "wrong"), None, "judges_divided"),
        (("correct", "Who knows."), None, "judge_unreadable/prose"),
        (("unverifiable", "unverifiable"), "unverifiable", "unresolved"),
    ],
)
async def test_why_a_panel_could_not_settle_a_step(verdicts: tuple[str, ...], verdict: str | None, reason: str) -> None:
    judges = [
        pleased(f"judge-{n}", judgment=judgment(word, QUOTE) if word[-1] != "." else word)
        for n, word in enumerate(verdicts)
    ]
    account = await judging(*judges).judge_part(REPLY, "formal", (), "no_reference")
    assert {(step.verdict, step.reason) for step in account.steps} == {(verdict, reason)}


async def test_the_order_of_texts_is_swapped_where_a_step_is_looked_for() -> None:
    judge = pleased()
    await judging(judge, swap=True).judge_part(REPLY, "formal", STEPS, "")
    swapped = [sample.swapped for question, sample, _ in judge.asked if question.name == "found"]
    assert (swapped.count(True), swapped.count(False)) == (6, 6)
    assert not any(sample.swapped for question, sample, _ in judge.asked if question.name != "found")


async def test_all_steps_and_reference_steps_are_asked_at_the_same_time() -> None:
    gate, waiting = anyio.Event(), list[str]()

    class Held(PlayedJudge):
        async def say(self, question: Question, sample: Sample, said: object = ()) -> str:
            waiting.append(question.name)
            await gate.wait()
            return str(script()[question.name])

    async with anyio.create_task_group() as group:
        group.start_soon(judging(Held({})).judge_part, REPLY, "formal", STEPS, "")
        await anyio.wait_all_tasks_blocked()
        assert sorted(waiting) == ["found"] * 6 + ["step_class"] * 3
        gate.set()


@pytest.mark.parametrize("part", ["formal", "thinking"])
async def test_the_figures_are_computed_from_what_the_account_says(part: Part) -> None:
    def play(question: Question, sample: Sample) -> str:
        if question.name == "step_class" and question.text("The step").startswith(("Then", "Another")):
            return "What?"
        return str(script()[question.name])

    account = await judging(PlayedJudge(play)).judge_part(REPLY, part, STEPS, "")
    figures = {score.name: score.value for score in scores(account)}
    assert [(step.kind, step.verdict, step.reason) for step in account.steps][:2] == [
        (StepClass.REASONING, StepVerdict.CORRECT, ""),
        (None, None, "judge_unreadable/prose"),
    ]
    assert figures[f"efficiency_low_{part}"] == (len(account.steps) - 1) / len(account.steps)
    assert [step.hit for step in account.reference or ()] == [True] * 3
    assert figures[f"completeness_{part}"] == 1


async def test_who_is_done_first_changes_nothing() -> None:
    def late(by: Callable[[Question], int]) -> PlayedJudge:
        class Late(PlayedJudge):
            async def say(self, question: Question, sample: Sample, said: object = ()) -> str:
                for _ in range(by(question)):
                    await anyio.lowlevel.checkpoint()
                text = question.text("The step") + question.text("The reference step")
                kind = "Reasoning" if "it" in text else "Citation"
                return kind if question.name == "step_class" else str(script()[question.name])

        return Late({})

    async def one(by: Callable[[Question], int]) -> object:
        return await judging(late(by), late(lambda question: 3)).judge_part(REPLY, "formal", STEPS, "")

    works: list[Callable[[Question], int]] = [
        lambda question: 0,
        lambda question: len(question.text("Earlier steps")) % 7,
        lambda question: 9 - len(question.text("The reference step")) % 9,
    ]
    accounts = [await one(by) for by in works]
    assert accounts[0] == accounts[1] == accounts[2]
