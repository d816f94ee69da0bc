"""Reasoning longer than a judge is shown at once: all of it is looked through, and what is not is said."""

import msgspec
import pytest
from bench import PlayedJudge
from examples import first_ones
from graded import case as a_case
from hypothesis import given
from hypothesis import strategies as st
from reasoned import STEPS, found_by, judged, played, pleased, said, script, values

from wardround.engine.errors import ProviderError
from wardround.evaluators.judges.panel import Panel, Sample
from wardround.evaluators.judges.question import LONGEST, Question, left_out, text_for_judge
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning.doctor_replies import DoctorReply
from wardround.evaluators.reasoning.evaluator import PublishedReasoning
from wardround.evaluators.reasoning.evidence import Library
from wardround.evaluators.reasoning.part import ReasoningJudge, Windows, pack_steps
from wardround.evaluators.reasoning.reasoning_record import Account
from wardround.evaluators.report.score_rows import AccountTally, EpisodeScores, EvaluatorCoverage, RunScores
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts
from wardround.scenarios.case import Truth

FILLER = "Finding number {} speaks for something that is explained here at some length, so that it counts as a thought."
NEEDLE = "The needle is here."
LONG = "fever " * 5_000


def steps(count: int, needle: int = 0) -> str:
    told = [f"<step {n}> {FILLER.format(n) * 2}{f' {NEEDLE}' if n == needle else ''}" for n in range(1, count + 1)]
    return "\n".join([*told, "", "### Answer:", "Appendicitis"])


def seeing(**replies: str) -> PlayedJudge:
    """A judge that finds the needle if, and only if, it is in what a judge is shown."""

    def play(question: Question, sample: Sample) -> str:
        if question.name != "found":
            return str(script(**replies)[question.name])
        return said(found=any(NEEDLE in text_for_judge(one.text, one.longest) for one in question.materials))

    return PlayedJudge(play)


@pytest.mark.parametrize("needle", first_ones([1, 100, 190], 1))
async def test_a_reference_step_is_found_wherever_it_stands(needle: int) -> None:
    judge = seeing()
    scores, account = await judged(played(steps(190, needle)), judge)
    assert values(scores, "completeness_formal", "efficiency_formal") == [(1.0, ""), (1.0, "")]
    looked = [question.text("The text") for question, *_ in judge.asked if question.name == "found"]
    assert [left_out(text) for text in looked] == [0] * len(looked)
    first = (account.parts[0].reference or ())[0]
    assert (first.reasoning, first.answer, first.windows, len(first.votes)) == (True, False, 2, 3)


async def test_it_is_not_found_only_if_it_is_in_none() -> None:
    scores, account = await judged(played(steps(190)), seeing())
    assert values(scores, "completeness_formal") == [(0.0, "")]
    assert {step.windows for step in account.parts[0].reference or ()} == {2}


@pytest.mark.long
async def test_a_window_that_no_judge_could_read_leaves_it_open() -> None:
    down = ProviderError("timeout", "no")
    scores, _ = await judged(played(steps(190)), pleased(found=[said(found=False), down, said(found=False)]))
    assert values(scores, "completeness_formal") == [(None, "judge/timeout")]


async def test_a_step_that_is_too_long_has_no_class_and_counts() -> None:
    judge = seeing()
    scores, account = await judged(played(f"<step 1> Pain moved.\n<step 2> {LONG}\n\n### Answer:\nGout"), judge)
    short, long = account.parts[0].steps
    assert (short.kind, long.kind, long.verdict, long.reason) == ("reasoning", None, None, "too_long")
    assert values(scores, "steps_formal", "efficiency_formal", "factuality_formal") == [
        (2.0, ""), (None, "too_long"), (None, "too_long"),
    ]  # fmt: skip
    assert values(scores, "efficiency_low_formal", "efficiency_high_formal") == [(0.5, ""), (1.0, "")]
    assert values(scores, "completeness_formal") == [(None, "too_long")]
    assert all(left_out(question.text("The step")) == 0 for question, *_ in judge.asked)


async def test_what_is_found_beside_a_step_that_is_too_long_is_found() -> None:
    scores, _ = await judged(played(f"<step 1> {NEEDLE}\n<step 2> {LONG}\n\n### Answer:\nGout"), seeing())
    assert values(scores, "completeness_formal") == [(1.0, "")]


@pytest.mark.long
async def test_a_megabyte_in_one_piece_has_a_typed_reason_under_both_rules() -> None:
    text = "fever " * 170_000
    scores, _ = await judged(played(text))
    assert values(scores, "efficiency_formal", "factuality_formal") == [(None, "too_long")] * 2
    published, _ = await judged(played(text), by=PublishedReasoning)
    names = [f"published_{name}_formal" for name in ("efficiency", "factuality", "completeness")]
    assert values(published, *names) == [(None, "too_long")] * 3


async def shortened(account: Account) -> EvaluatorCoverage:
    tally = AccountTally("reasoning")
    tally.add("a@1", msgspec.to_builtins(account))
    return tally.evaluated(["a@1"])


@pytest.mark.long
async def test_what_a_judge_was_not_shown_of_the_earlier_steps_is_kept_and_said() -> None:
    _, account = await judged(played(steps(190)))
    unseen = [step.unseen for step in account.parts[0].steps]
    assert unseen[:100] == [0] * 100
    assert unseen == sorted(unseen)
    assert unseen[-1] > 10_000
    told = await shortened(account)
    assert told.shortened == 1
    row = EpisodeScores(episode="a@1", case="a", cause="completed")
    run = RunScores(name="r", header={}, episodes=[row], evaluated=(told,))
    assert any("in 1 episode a judge did not see all of" in doubt for doubt in doubts(run, summarise(run.episodes)))


async def test_nothing_is_said_where_all_was_shown() -> None:
    _, account = await judged(played(steps(20)))
    assert {step.windows for step in account.parts[0].reference or ()} == {1}
    assert (await shortened(account)).shortened == 0
    assert b"unseen" not in msgspec.json.encode(account)
    assert b"windows" not in msgspec.json.encode(account)


async def test_a_long_reference_is_said() -> None:
    case = a_case(truth=Truth(diagnosis="Appendicitis", reasoning=LONG))
    _, account = await judged(played(steps(2)), case=case)
    assert account.unseen > 5_000
    assert (await shortened(account)).shortened == 1


async def test_reasoning_that_is_shown_whole_is_asked_as_it_was() -> None:
    judge = pleased()
    await judged(played(steps(30)), judge)
    texts = {question.text("The text") for question, *_ in judge.asked if question.name == "found"}
    asked = [question.text("The step") for question, *_ in judge.asked if question.name == "step_class"]
    assert texts == {"\n".join(asked), "Appendicitis"}


@given(st.lists(st.text("ab \n\u200b", max_size=30), max_size=12), st.integers(5, 60))
def test_windows_hold_every_short_step_once_in_order_and_are_shown_whole(told: list[str], longest: int) -> None:
    found = pack_steps(told, longest)
    assert all(left_out(text, longest) == 0 for text in found.texts)
    if not left_out("\n".join(told), longest):
        assert found == Windows(("\n".join(told),))
        return
    short = [step for step in told if not left_out(step, longest)]
    assert "\n".join(found.texts) == "\n".join(short)
    assert found.whole is (len(short) == len(told))


def test_a_step_is_as_long_as_a_judge_is_shown() -> None:
    assert pack_steps(["a" * LONGEST]) == Windows(("a" * LONGEST,))
    assert pack_steps(["a" * (LONGEST + 1)]) == Windows((), whole=False)


async def test_an_answer_that_is_too_long_is_not_looked_through() -> None:
    library = Library(found_by())
    judging = ReasoningJudge(Panel([seeing()]), "default", "to find it", library, LONG)
    reply = DoctorReply(1, 3, "conclusion", f"<step 1> {NEEDLE}", "Another thought.", "Known.")
    parts: dict[Part, bool] = {"formal": True, "thinking": False}
    for part, seen in parts.items():
        account = await judging.judge_part(reply, part, STEPS, "")
        assert {(one.reasoning, one.answer, one.reason) for one in account.reference or ()} == {
            (seen, None, "too_long")
        }
