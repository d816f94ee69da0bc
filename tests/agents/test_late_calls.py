"""Calls that an agent leaves behind: they end with their act, stand in the log and the account, and replay equal."""

import asyncio
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

import pytest

from wardround.api import run
from wardround.engine.errors import UsageError
from wardround.engine.events import Called
from wardround.engine.records import Action, Message, View
from wardround.engine.seat import Seat
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run
from wardround.testing.loopback import Loopback


def slow_or_quick(messages: Sequence[Message], model: str) -> str:
    return f"Diagnosis: gout ({messages[-1].content})"


def said(text: str) -> list[Message]:
    return [Message("user", text)]


class Hedging:
    """Asks two models and takes the first reply; the other request goes on."""

    def __init__(self, seat: Seat) -> None:
        self.models = seat.models

    async def act(self, view: View) -> Action:
        asked = [
            asyncio.ensure_future(model.complete(said(name), purpose="act")) for name, model in self.models.items()
        ]
        done, _ = await asyncio.wait(asked, return_when=asyncio.FIRST_COMPLETED)
        return Action("reply", done.pop().result().text)


class InThread:
    """Leaves a request in a thread that it does not wait for."""

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai(sync=True)

    def ask(self) -> None:
        self.client.chat.completions.create(model="quick", messages=[{"role": "user", "content": "now"}])
        self.began.set()
        self.client.chat.completions.create(model="slow", messages=[{"role": "user", "content": "late"}])

    async def act(self, view: View) -> Action:
        self.began = threading.Event()
        self.thread = asyncio.get_running_loop().run_in_executor(None, self.ask)
        await asyncio.to_thread(self.began.wait)
        await asyncio.sleep(0.3)
        return Action("reply", "Diagnosis: gout")


class Failing:
    """Raises an error of its own while a request goes on."""

    def __init__(self, seat: Seat) -> None:
        self.models = seat.models

    async def act(self, view: View) -> Action:
        self.late = asyncio.ensure_future(self.models["slow"].complete(said("late"), purpose="act"))
        await self.models["quick"].complete(said("now"), purpose="act")
        raise ValueError("my own fault")


class TooLate:
    """Starts a task whose request begins only after the act has returned, and keeps what comes of it."""

    came: ClassVar[list[str]] = []

    def __init__(self, seat: Seat) -> None:
        self.models = seat.models

    async def late(self) -> None:
        try:
            await self.models["slow"].complete(said("late"), purpose="act")
        except UsageError as error:
            self.came.append(str(error))

    async def act(self, view: View) -> Action:
        self.task = asyncio.ensure_future(self.late())
        return Action("reply", "Diagnosis: gout")


class Stubborn(Hedging):
    """Swallows the cancellation of what it left behind and asks again."""

    async def again(self) -> None:
        for _ in range(3):
            with suppress(asyncio.CancelledError, Exception):
                await self.models["slow"].complete(said("again"), purpose="act")

    async def act(self, view: View) -> Action:
        self.task = asyncio.ensure_future(self.again())
        return Action("reply", (await self.models["quick"].complete(said("now"), purpose="act")).text)


async def played(agent: type, folder: Path, **options: Any) -> tuple[Run, list[Called]]:
    async with Loopback(slow_or_quick) as quick, Loopback(slow_or_quick, latency=30) as slow:
        models = {
            "slow": {"spec": "openai/slow", "base_url": slow.base_url},
            "quick": {"spec": "openai/quick", "base_url": quick.base_url},
        }
        seats = {"doctor": {"spec": f"{__name__}:{agent.__name__}", "models": models}}
        settings = {"limit": 1, "repeats": 1, "seats": seats, "preflight": False, **options}
        made = await run(store=folder / "runs.db", **settings)
    row = (await made.episodes())[0]
    return made, list((await made.trajectory(row.id)).called("doctor"))


@pytest.mark.parametrize("agent", [Hedging, pytest.param(InThread, marks=pytest.mark.long), Failing, Stubborn])
async def test_a_call_left_behind_is_ended_recorded_and_left_behind_again(
    agent: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    made, calls = await played(agent, tmp_path)
    assert sorted(call.error[0] if call.error else "" for call in calls) == ["", "cancelled"]
    [row] = await made.episodes()
    assert (row.cause, row.reason) == (("doctor", "error") if agent is Failing else ("completed", ""))
    assert sum(row.spent.calls for row in await made.store.spending(made.name)) == 2
    assert [one.error async for one in replay_run(made)] == [""]


async def test_calls_given_up_count_for_the_budget(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    made, calls = await played(Hedging, tmp_path, limit=2, concurrency=1, budget=["doctor=2calls"])
    assert len(calls) == 2
    assert [row.cause for row in await made.episodes()] == ["completed", None]
    assert sum(row.spent.calls for row in await made.store.spending(made.name)) == 2


async def test_a_call_begun_after_its_act_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    TooLate.came.clear()
    made, calls = await played(TooLate, tmp_path)
    await asyncio.sleep(0)
    assert not calls
    assert TooLate.came == ["doctor calls its model outside of its act: await every call before `act` returns"]
    assert [one.error async for one in replay_run(made)] == [""]
