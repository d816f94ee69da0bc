"""Evaluations of two versions side by side: the old one opens and replays, the new one asks what is new."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from examples import first_ones
from plain_judge import PlainJudge
from shell import Shell
from sitting import accounts, court, equal, played, table

import wardround
from wardround.engine.models.scripted import Scripted
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Store
from wardround.engine.records import Completion, Json, Message
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.reasoning.evaluator import EncounterReasoning, Reasoning
from wardround.evaluators.report.summary import summarise
from wardround.evaluators.report.warnings import doubts
from wardround.runs.settings import load_prompts
from wardround.runs.stored_run import Run
from wardround.scoring.score import evaluator_of, score_run, scored


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = wardround.open_store(tmp_path / "runs.db")
    yield opened
    await opened.aclose()


async def test_an_old_evaluation_replays_and_the_new_one_asks_only_what_is_new(store: Store) -> None:
    run, judge = await played(store), PlainJudge()
    await score_run(run, [Reasoning()], judge=court(judge))
    before = dict(judge.asked)
    assert "bearing" not in before
    new = evaluator_of("reasoning")
    assert isinstance(new, EncounterReasoning)
    await score_run(run, [new], judge=court(judge))
    same = ("keywords", "reference", "found")
    assert {name: judge.asked[name] for name in same} == {name: before[name] for name in same}
    assert judge.asked["step_class"] == before["step_class"]
    assert judge.asked["bearing"] > 20
    headers = [(await store.run(name)).header for name in ("r~reasoning", "r~reasoning.2")]
    assert [str(header.get("evaluator_version", 1)) for header in headers] == ["1", "3"]
    assert await equal(store, "r~reasoning") == await equal(store, "r~reasoning.2") == 3


async def test_a_prompt_that_came_later_makes_no_other_evaluation(store: Store) -> None:
    run, judge = await played(store), PlainJudge()
    older = Prompts({name: text for name, text in load_prompts().texts().items() if "bearing" not in name})
    await score_run(run, [Standard()], judge=court(judge, prompts=older))
    asked = judge.asked.total()
    await score_run(run, [Standard()], judge=court(judge))
    assert judge.asked.total() == asked
    assert [row.name for row in await store.runs() if row.header.get("evaluates")] == ["r~standard"]
    altered = Prompts(load_prompts().texts() | {"judge/diagnosis": "{materials} Is it right?"})
    await score_run(run, [Standard()], judge=court(judge, prompts=altered))
    assert judge.asked.total() > asked


async def test_controls_are_posed_once_in_an_evaluation_and_name_an_unfit_judge(store: Store) -> None:
    run, judge = await played(store), PlainJudge()
    scores = await score_run(run, [EncounterReasoning()], judge=court(judge))
    assert [len(account.controls) for account in await accounts(store, "r~reasoning")] == [20, 0, 0]
    ((fitness,),) = [one.controls for one in scores.evaluated]
    assert (fitness.accepted, fitness.rejected, fitness.youden, fitness.fit) == (10, 0, 0.0, False)
    (said,) = [doubt for doubt in doubts(scores, summarise(scores.episodes)) if doubt.startswith("Unfit judge")]
    assert "accepted 10 of 10" in said
    assert "rejected 0 of 10" in said
    assert said.endswith("do not rest anything on its verdicts, which are in the figures of reasoning.")
    asked = judge.asked.total()
    again = await score_run(run, [EncounterReasoning()], judge=court(judge))
    assert judge.asked.total() == asked
    assert table(again) == table(scores)


async def test_an_unfit_judge_is_marked_at_every_figure_that_it_judged(store: Store) -> None:
    run = await played(store)
    before = await score_run(run, [Standard()], judge=court(PlainJudge()))
    assert before.answer_judges == ["scripted/0"]
    await score_run(run, [EncounterReasoning()], judge=court(PlainJudge()))
    scores = await scored(run)
    summary = summarise(scores.episodes, 0, scores.answer_judges)
    accuracy = summary.score("diagnosis_accuracy")
    assert accuracy is not None
    assert accuracy.method == "judged by scripted/0 (unfit: it failed its controls)"
    (said,) = [doubt for doubt in doubts(scores, summary) if doubt.startswith("Unfit judge")]
    assert said.endswith("in the figures of reasoning and standard.")


@pytest.mark.parametrize("knowledge", first_ones(["judge", "both"], 1))
async def test_what_may_found_a_verdict_is_recorded_and_makes_another_evaluation(store: Store, knowledge: Any) -> None:
    run, judge = await played(store), PlainJudge()
    await score_run(run, [EncounterReasoning()], judge=court(judge))
    more = {"search": None} if knowledge == "judge" else {}
    scores = await score_run(run, [EncounterReasoning()], judge=court(judge, knowledge=knowledge, **more))
    header = (await store.run("r~reasoning.2")).header
    assert header["judging"]["knowledge"] == knowledge
    assert "knowledge" not in (await store.run("r~reasoning")).header["judging"]
    assert ("search" in header["seats"]) is (knowledge == "both")
    assert await equal(store, "r~reasoning.2") == 3
    assert any("their own knowledge" in doubt for doubt in doubts(scores, summarise(scores.episodes)))
    assert {row.score("whole_opinion_factuality_formal").value for row in scores.episodes} == {1.0}


class Told(Scripted):
    """A scripted model that keeps the temperatures it is asked at."""

    def __init__(self, judge: PlainJudge) -> None:
        super().__init__(judge)
        self.temperatures: list[Json] = []

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        self.temperatures.append(options.get("temperature"))
        return await super().complete(messages, purpose=purpose, **options)


async def test_seats_that_take_it_are_asked_at_temperature_0_and_the_header_says_so(store: Store) -> None:
    run, judge = await played(store, limit=1), PlainJudge()
    cool = court(judge, zeroed=frozenset({"judge"}))
    told = Told(judge)
    cool.parts["judge"].model = told
    await score_run(run, [Standard()], judge=cool)
    beside = await Run.open(store, "r~standard")
    assert beside.evaluation().zeroed == ("judge",)
    assert told.temperatures == [0.0]
    assert await equal(store, "r~standard") == 1


@pytest.mark.long
def test_knowledge_from_the_command_line(shell: Shell, tmp_path: Path) -> None:
    on = ["--store", tmp_path / "runs.db"]
    told = ["--cases", "bundled:reports", "--scenario", "oracle", "--doctor", "replies:bundled#hasty", "--limit", 2]
    assert shell("run", *told, "--name", "r", *on) == 0
    judged = ["score", "r", "--evaluators", "reasoning", "--judge", "lexical", *on]
    found = shell.json(*judged, "--knowledge", "judge")
    ((one,),) = [row["controls"] for row in found["evaluated"]]
    assert (one["supported"], one["unsupported"], one["accepted"]) == (10, 10, 0)
    assert [row["knowledge"] for row in found["evaluated"]] == ["judge"]
    assert shell("score", "r", "--judge", "lexical", "--search", "bundled", *on) == 0
    said = " ".join((shell.out + shell.err).split())
    assert "The evidence of standard is the bundled demonstration corpus" in said
    assert shell("replay", "r~reasoning", *on) == 0
    assert shell(*judged, "--knowledge", "judge", "--search", "bundled") == 2
    assert "--search bundled would not be used" in shell.err
    assert shell("score", "r", "--knowledge", "both", *on) == 2
    assert "--knowledge goes with the evaluator reasoning" in shell.err
    assert shell("score", "r", "--judge", "lexical", "--knowledge", "both", *on) == 2
    assert "--knowledge goes with the evaluator reasoning" in shell.err
