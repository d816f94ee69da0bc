"""The front door from Python: in a running loop, with classes of the user's own, scored as rows, judged by a model."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import ClassVar

import pytest
from clinic import case_file, lines

import wardround
from wardround import Action, View
from wardround.engine.errors import UsageError
from wardround.engine.records import Completion, Json, Message
from wardround.evaluators.metrics.standard import Standard
from wardround.replay_run import replay_run
from wardround.runs.seat_models import Access
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import model_seat
from wardround.runs.stored_run import Run
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore


class Own:
    """A doctor in ten lines, as the README has it."""

    async def act(self, view: View) -> Action:
        if "order" in view.verbs and not view.memo:
            return Action("order", args={"kind": "lab", "items": ["WBC", "lipase"]}, memo={"ordered": True})
        return Action("conclude", args={"diagnosis": "Acute appendicitis"})


class Forgetful:
    """Keeps state outside the memo, offers it to `recall`."""

    seen: ClassVar[list[str]] = []

    def __init__(self) -> None:
        self.turns = 0

    async def act(self, view: View) -> Action:
        self.turns += 1
        if self.turns == 1:
            return Action("order", args={"kind": "examination", "items": []})
        return Action("conclude", args={"diagnosis": f"Acute appendicitis, after {self.turns}"})

    def recall(self, view: View, action: Action) -> None:
        self.turns += 1


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    return case_file(tmp_path / "cases.jsonl", 6)


async def test_a_class_of_one_s_own_is_played_and_scored(cases: Path) -> None:
    run = await wardround.run(cases=cases, scenario="workup", doctor=Own, store=MemoryStore())
    assert await run.endings() == {"completed": 6}
    async for trajectory in run:
        assert trajectory.ending is not None
        assert trajectory.ending.facts["answer"] == {"diagnosis": "Acute appendicitis"}
    scores = await wardround.score_run(run)
    values = [row.score("diagnosis_accuracy").value for row in scores.episodes]
    assert values == [0.0, 1.0, 0.0, 1.0, 0.0, 1.0]
    assert {row.score("exam_recall_lab").value for row in scores.episodes} == {1.0}


async def test_it_replays_and_so_does_one_that_recalls(cases: Path) -> None:
    for doctor in (Own, Forgetful):
        run = await wardround.run(cases, "workup", seats={"doctor": doctor}, store=MemoryStore())
        assert [outcome.error async for outcome in replay_run(run)] == [""] * 6


async def test_repeats_differ_in_their_seed_alone(cases: Path) -> None:
    run = await wardround.run(cases, "oracle", seats={"doctor": "gold"}, store=MemoryStore(), repeats=3)
    rows = await run.episodes()
    assert len(rows) == 18
    seeds = {(await run.trajectory(row.id)).opened.seed for row in rows}
    assert len(seeds) == 18
    again = await wardround.run(cases, "oracle", seats={"doctor": "gold"}, store=MemoryStore(), repeats=3)
    assert seeds == {(await again.trajectory(row.id)).opened.seed for row in rows}


async def test_a_seat_can_play_what_it_did_in_another_run(cases: Path) -> None:
    store = MemoryStore()
    await wardround.run(cases, "consultation", seats={"doctor": "baseline"}, store=store, name="first")
    told = await wardround.run(cases, "consultation", seats={"doctor": "recorded:first"}, store=store, name="second")
    first = await Run.open(store, "first")
    for row in await told.episodes():
        one, two = await first.trajectory(row.id), await told.trajectory(row.id)
        assert [e.action.text for e in one.acted()] == [e.action.text for e in two.acted()]
        assert one.ending == two.ending


async def test_a_judge_s_verdicts_are_kept_and_not_asked_for_twice(cases: Path, tmp_path: Path) -> None:
    store = wardround.open_store(tmp_path / "runs.db")
    run = await wardround.run(cases, "oracle", seats={"doctor": "gold"}, store=store, name="r")
    async with Loopback(lambda messages, model: "Verdict: incorrect") as server:
        judge = model_seat(SeatSettings(spec="openai/judge", base_url=server.base_url), Access())
        for _ in range(2):
            scores = await wardround.score_run(run, [Standard()], judge=judge)
        assert judge.model is not None
        await judge.model.aclose()
        assert server.total == len({(await run.case(row.case)).truth.diagnosis for row in scores.episodes}) < 6
    row = scores.episodes[0]
    assert (row.score("diagnosis_accuracy").value, row.score("lexical_match").value) == (0.0, 1.0)
    assert scores.scoring == {"judge": "openai/judge"}
    calls = [call async for trajectory in await Run.open(store, "r~standard") for call in trajectory.called()]
    assert [call.reply.text for call in calls if isinstance(call.reply, Completion)] == ["Verdict: incorrect"] * 6
    await store.aclose()


async def test_a_judge_that_says_nothing_clear_leaves_none_with_its_reason(cases: Path) -> None:
    run = await wardround.run(cases, "oracle", seats={"doctor": "gold"}, store=MemoryStore(), limit=2)
    async with Loopback(lambda messages, model: "It is hard to say.") as server:
        judge = model_seat(SeatSettings(spec="openai/judge", base_url=server.base_url), Access())
        scores = await wardround.score_run(run, [Standard()], judge=judge)
        assert judge.model is not None
        await judge.model.aclose()
    found = scores.episodes[0].score("diagnosis_accuracy")
    assert (found.value, found.reason) == (None, "judge_unreadable/prose")


async def test_an_llm_patient_is_scored_by_what_was_asked(cases: Path) -> None:
    def say(messages: object, model: str) -> str:
        return "The white cells were raised." if model == "patient" else lines("free-turn", messages)  # type: ignore[arg-type]

    async with Loopback(say) as server:
        seats = {name: {"spec": f"openai/{name}", "base_url": server.base_url} for name in ("doctor", "patient")}
        run = await wardround.run(cases, "free-turn", seats=seats, store=MemoryStore(), limit=1, repeats=1)
    scores = await wardround.score_run(run, [Standard()])
    assert scores.episodes[0].score("exam_recall_lab").value == 0.5
    told = [event.action.text for event in (await run.trajectory("case-000@1")).acted("patient")]
    assert told == ["The white cells were raised."]


async def test_prices_make_costs_and_without_them_there_is_none(cases: Path, tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("model,input,output\nopenai/m,1,2\n")
    async with Loopback(lambda messages, model: lines("oracle", messages)) as server:
        seats = {"doctor": {"spec": "openai/m", "base_url": server.base_url}}
        for table, known in ((str(prices), True), ("", False)):
            run = await wardround.run(
                cases, "oracle", seats=seats, store=MemoryStore(), prices=table, limit=1, repeats=1, name="r"
            )
            usage = (await run.trajectory("case-000@1")).usage()
            assert (usage.cost is not None) is known
            assert usage.completion > 0


async def test_a_run_has_a_name_that_can_be_typed(cases: Path) -> None:
    with pytest.raises(UsageError, match="is not a name for a run"):
        await wardround.run(cases, "workup", doctor="gold", store=MemoryStore(), name="a/b")


async def test_wrong_arguments_are_usage_errors(cases: Path) -> None:
    wrong: tuple[dict[str, Json], ...] = (
        {"doctor": 3},
        {"nurse": "gold"},
        {"doctor": {"spec": "gold", "temperatur": 1}},
    )
    for seats in wrong:
        with pytest.raises(UsageError):
            await wardround.run(cases, "workup", seats=seats, store=MemoryStore())


def halves(messages: Sequence[Message], purpose: str) -> str:
    del purpose
    return lines("oracle", messages) + "\ud83d"


def garbled(messages: Sequence[Message], purpose: str) -> str:
    del messages, purpose
    return b"\xff".decode()


async def test_half_a_character_in_a_doctor_s_reply_is_no_fault_of_the_doctor(cases: Path) -> None:
    run = await wardround.run(
        cases, "oracle", doctor=f"scripted/{__name__}:halves", repeats=1, limit=2, name="r", store=MemoryStore()
    )
    assert set(await run.endings()) == {"completed"}
    assert "\ufffd" in next((await run.trajectory("case-000@1")).acted("doctor")).action.text
    run = await wardround.run(
        cases, "oracle", doctor=f"scripted/{__name__}:garbled", repeats=1, limit=2, name="r", store=MemoryStore()
    )
    ending = (await run.trajectory("case-000@1")).ending
    assert ending is not None
    assert (ending.cause, ending.reason) == ("provider", "malformed")


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("wardround.engine.models.loopback", "wardround.testing.loopback", "Loopback"),
        ("wardround.engine.models.faults", "wardround.testing.wire", "Rates"),
        ("wardround.scenarios.loaders.own", "wardround.scenarios.loaders.load", "schema"),
    ],
)
def test_import_paths_of_older_documentation_lead_to_the_new_ones(old: str, new: str, name: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"{old} is {new} now"):
        moved = import_module(old)
    assert getattr(moved, name) is getattr(import_module(new), name)
    with pytest.raises(ModuleNotFoundError):
        import_module(f"{old}s")
