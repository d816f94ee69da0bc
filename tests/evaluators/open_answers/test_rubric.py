"""The evaluator `rubric` on open answers: what is asked, how it is read, what panels decide, what is scored."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from bench import PlayedJudge, bench
from open_answer import CRITERIA, item, told

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.records import Ending, Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import JudgeContext
from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.open_answers.rubric import Rubric
from wardround.evaluators.open_answers.rubric_judging import read_batch, read_met
from wardround.runs.settings import load_prompts
from wardround.scenarios.criteria import RubricItem
from wardround.scenarios.question_item import QuestionItem, QuestionTurn
from wardround.testing.fair_judge import FairJudge


def by_criterion(verdicts: Mapping[str, Any]) -> PlayedJudge:
    """A judge with a verdict, a reply or an error for each criterion, by a word of it."""

    def play(question: Any, sample: Any) -> Any:
        text = question.text("The criterion")
        value = next(value for word, value in verdicts.items() if word in text)
        return value if isinstance(value, str | Exception) else json.dumps({"why": "", "met": value})

    return PlayedJudge(play)


async def scores(
    on: JudgeContext, episode: Trajectory | None = None, case: QuestionItem | None = None, **how: str
) -> Any:
    """Scores by name, and the account."""
    given = await Rubric(**how).score(case or item(), episode or told("Call an ambulance."), on)
    account = msgspec.to_builtins(given.account)
    return {score.name: score for score in given.scores}, (account or {}).get("rubric")


async def test_met_points_are_divided_by_positive_points() -> None:
    made, account = await scores(bench(by_criterion({"ambulance": True, "since": False, "waiting": True})))
    assert made["rubric_score"].value == pytest.approx(-0.1)
    assert made["published_rubric_score"].value == pytest.approx(-0.1)
    assert made["answer_characters"].value == len("Call an ambulance.")
    assert [one["met"] for one in account["criteria"]] == [True, False, True]
    assert account["labels"] == ("theme:emergency",)


@pytest.mark.parametrize("unread", ["perhaps", '{"met": "maybe"}', "", ProviderError("timeout", "late")])
async def test_a_criterion_that_cannot_be_read_is_none_with_its_reason_and_not_false(unread: Any) -> None:
    made, account = await scores(bench(by_criterion({"ambulance": True, "since": unread, "waiting": False})))
    assert made["rubric_score"].value is None
    assert made["rubric_score"].reason.startswith("judge")
    assert (made["rubric_score_low"].value, made["rubric_score_high"].value) == (pytest.approx(0.7), 1.0)
    assert made["published_rubric_score"].value == pytest.approx(0.7)
    assert made["rubric_undecided"].value == pytest.approx(1 / 3)
    assert account["criteria"][1]["met"] is None


async def test_a_veto_that_is_met_leaves_no_points() -> None:
    unsafe = RubricItem(criterion="Prescribes an opioid by mail", points=-1, veto=True)
    judge = by_criterion({"ambulance": True, "since": True, "waiting": False, "opioid": True})
    made, _ = await scores(bench(judge), case=item(rubric=(*CRITERIA, unsafe)))
    assert made["rubric_score"] == Score("rubric_score", 0.0, "veto")
    assert made["published_rubric_score"].value == pytest.approx(0.9)


async def test_a_blank_answer_scores_zero_and_no_judge_is_asked() -> None:
    judge = by_criterion({})
    made, _ = await scores(bench(judge), told("", ending=Ending("parser", "unreadable")))
    assert made["rubric_score"] == Score("rubric_score", 0.0, "unreadable")
    assert judge.asked == []


@pytest.mark.parametrize(
    ("case", "reason"),
    [(item(rubric=()), "no_rubric"), (item(rubric=CRITERIA[2:]), "no_positive_points")],
)
async def test_a_rubric_without_criteria_or_positive_points_scores_nothing(case: QuestionItem, reason: str) -> None:
    made, _ = await scores(bench(by_criterion({"waiting": False})), case=case)
    assert made["rubric_score"] == Score("rubric_score", None, reason)


@pytest.mark.parametrize("batch", ["2", "3", "10"])
async def test_batches_ask_fewer_times_and_decide_the_same(batch: str) -> None:
    answer = told("Advises calling an ambulance at once.\nRecommends waiting until tomorrow.")
    single, batched = PlayedJudge(_fair()), PlayedJudge(_fair())
    one, _ = await scores(bench(single), answer)
    several, account = await scores(bench(batched), answer, batch=batch)
    assert one["rubric_score"] == several["rubric_score"]
    assert (len(single.asked), len(batched.asked)) == (3, -(-3 // int(batch)))
    assert account["batch"] == int(batch)


def _fair() -> Any:
    def play(question: Any, sample: Any) -> str:
        coroutine = FairJudge().say(question, sample)
        with pytest.raises(StopIteration) as stopped:
            coroutine.send(None)
        return str(stopped.value.value)

    return play


async def test_a_criterion_that_a_batch_leaves_out_is_asked_by_itself() -> None:
    batch = json.dumps({"verdicts": [{"number": 1, "met": True}, {"number": 3, "met": False}]})
    judge = PlayedJudge({"rubric_batch": batch, "rubric": '{"met": true}'})
    made, account = await scores(bench(judge), batch="3")
    assert made["rubric_score"].value == 1.0
    assert [question.text("The criterion") for question, *_ in judge.asked][1:] == [CRITERIA[1].criterion]
    assert account["criteria"][1]["met"] is True


def _saying(value: Any) -> PlayedJudge:
    return by_criterion({"ambulance": value, "since": True, "waiting": False})


async def test_a_panel_decides_by_majority_or_by_mean_and_a_judge_may_abstain() -> None:
    def jury() -> JudgeContext:
        judges = [_saying(True), _saying(False), _saying(True), _saying('{"met": "cannot tell"}')]
        for number, judge in enumerate(judges, 1):
            judge.seat = f"judge-{number}"
        return bench(*judges)

    majority, _ = await scores(jury())
    assert majority["rubric_score"].value == 1.0
    assert majority["rubric_agreement"].value == pytest.approx(2 / 3)
    mean, account = await scores(jury(), panel="mean")
    assert mean["rubric_score"].value == pytest.approx((7 * 2 / 3 + 3) / 10)
    assert account["criteria"][0]["met"] == pytest.approx(2 / 3)


async def test_all_abstaining_and_a_tie_are_undecided() -> None:
    made, _ = await scores(bench(_saying('{"met": "cannot tell"}')))
    assert made["rubric_score"].reason == "judges_abstained"
    first, second = _saying(True), _saying(False)
    second.seat = "judge-2"
    made, _ = await scores(bench(first, second))
    assert made["rubric_score"].reason == "judges_divided"


async def test_earlier_turns_stand_in_the_conversation() -> None:
    judge = _saying(True)
    turns = (QuestionTurn(question="And my leg?"),)
    episode = told("First answer.", "", "Second answer.", answered=[1, 3])
    await scores(bench(judge), episode, item(turns=turns))
    question = judge.asked[0][0]
    assert question.text("The answer") == "Second answer."
    assert "assistant: First answer.\n\nuser: And my leg?" in question.text("The conversation")


async def test_the_published_protocol_shows_the_points() -> None:
    judge = _saying(True)
    await scores(bench(judge), protocol="published")
    assert judge.asked[0][0].prompt == "judge/rubric_published"
    assert judge.asked[0][0].text("The criterion") == "[7] Advises calling an ambulance at once"


@pytest.mark.parametrize(
    "how", [{"batch": "0"}, {"batch": "x"}, {"panel": "sum"}, {"protocol": "published", "batch": "2"}]
)
def test_settings_that_mean_nothing_are_refused(how: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        Rubric(**how)


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ('{"met": true}', True),
        ('{"explanation": "no", "criteria_met": false}', False),
        ('```json\n{"met": "yes"}\n```', True),
        ('{"met": "cannot tell"}', "abstain"),
        ("met", None),
        ('{"met": 1}', None),
        ('{"met": true, "verdict": "not met"}', None),
        ('{"met": true} But it is not met.', None),
    ],
)
def test_a_verdict_is_read_strictly(reply: str, said: Any) -> None:
    read = read_met(reply)
    assert (None if isinstance(read, Unread) else read) == said


def test_a_batch_with_a_number_twice_or_beyond_is_not_guessed() -> None:
    twice = '{"verdicts": [{"number": 1, "met": true}, {"number": 1, "met": false}, {"number": 2, "met": true}]}'
    assert read_batch(2, twice) == (None, True)
    assert isinstance(read_batch(1, twice), Unread)
    assert isinstance(read_batch(2, '{"verdicts": []}'), Unread)


@pytest.mark.parametrize("name", ["rubric", "rubric_batch", "rubric_published", "rubric_encounter"])
def test_prompts_have_their_places(name: str) -> None:
    said = {"count": "2"} if name == "rubric_batch" else {}
    assert "MATERIALS" in load_prompts()[f"judge/{name}"].render(materials="MATERIALS", **said)
