"""What `agents check` finds beside the episode: each hazard names a faulty agent, and lets a sound one pass."""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from time import sleep
from typing import Any

import pytest
from shell import Shell
from toy import NO_PROMPTS, Counting, Echo

from wardround.agents.check import AgentTrial, try_agent
from wardround.agents.hazards import Hazard, StandIn, hazards, warm_up
from wardround.engine.records import Action, Message, View
from wardround.engine.seat import Seat


class Sound:
    """Asks its model, and lets whatever that raises pass."""

    def __init__(self, seat: Seat) -> None:
        assert seat.model is not None
        self.seat, self.model = seat, seat.model

    async def asked(self) -> str:
        return (await self.model.complete([Message("user", "x")], purpose="act")).text

    async def act(self, view: View) -> Action:
        return Action("say", f"{len(view.heard)} {await self.asked()}"[:20])


class Sleepy(Sound):
    async def act(self, view: View) -> Action:
        time.sleep(0.001)  # noqa: ASYNC251 the fault that is looked for
        return await super().act(view)


class SleepyByName(Sound):
    async def act(self, view: View) -> Action:
        sleep(0.001)  # noqa: ASYNC251 see above
        return await super().act(view)


class Proud(Sound):
    async def act(self, view: View) -> Action:
        return Action("say", f"I say {view.memo['n'] if view.memo else 0}", memo={"n": 1})


class Impatient(Sound):
    async def act(self, view: View) -> Action:
        async with asyncio.timeout(0.05):
            return await super().act(view)


class Swallowing(Sound):
    async def act(self, view: View) -> Action:
        try:
            return await super().act(view)
        except BaseException:  # noqa: BLE001 the fault that is looked for
            return Action("say", "nothing")


class Masking(Sound):
    async def act(self, view: View) -> Action:
        try:
            return await super().act(view)
        except Exception:  # noqa: BLE001 see above
            raise KeyError("my own") from None


class LastVerb(Sound):
    async def act(self, view: View) -> Action:
        await self.asked()
        return Action({"dance": "danced"}.get(view.verbs[-1], "say"), "x")


class Exiting(Sound):
    async def act(self, view: View) -> Action:
        if len(view.brief) + sum(len(said.text) for said in view.heard) > 1_000_000:
            sys.exit(3)
        return await super().act(view)


class Hanging(Sound):
    async def act(self, view: View) -> Action:
        if any(said.verb == "whisper" for said in view.heard):
            await asyncio.sleep(60)
        return await super().act(view)


class Sharing(Sound):
    made: int = 0

    def __init__(self, seat: Seat) -> None:
        super().__init__(seat)
        type(self).made += 1
        self.number = self.made

    async def act(self, view: View) -> Action:
        return Action("say", f"w{self.number}")


class WarmingUp(Sound):
    """Counts in its class, which all episodes share, up to a number that the first episode reaches."""

    acts = 0

    async def act(self, view: View) -> Action:
        type(self).acts += 1
        return Action("say", f"w{min(self.acts, 3)}")


async def certificate(make: Callable[[Seat], Any]) -> dict[str, Hazard]:
    trial = AgentTrial(
        Counting(),
        9,
        "caller",
        lambda name: Seat(name, "c", 5, NO_PROMPTS),
        {"echo": lambda seat: Echo()},
        seconds=0.7,
        models={"": StandIn()},
    )
    first = await warm_up(make, trial, [""])
    checked = await try_agent(make, trial)
    return {one.name: one async for one in hazards(make, trial, checked.views, [""], first)}


async def test_a_sound_agent_passes_all() -> None:
    found = await certificate(Sound)
    assert {name: one.findings for name, one in found.items() if one.findings} == {}
    assert list(found) == [
        *("malformed views", "huge results", "unknown verbs", "slow model", "failing model", "cancellation"),
        *("resume after a kill", "another episode", "eight at once", "blocked event loop"),
    ]
    assert all(one.trials for one in found.values())


@pytest.mark.parametrize(
    ("make", "hazard", "says"),
    [
        (Sleepy, "blocked event loop", "test_hazards.py:38 in act"),
        (SleepyByName, "blocked event loop", "test_hazards.py:44 in act"),
        (Proud, "malformed views", "the memo of another agent: act raised KeyError"),
        (Impatient, "slow model", "TimeoutError|was not there"),
        (Swallowing, "cancellation", "swallows its cancellation"),
        (Masking, "failing model", r"\(timeout\) becomes an error of its own"),
        (LastVerb, "unknown verbs", "'danced'"),
        (Exiting, "huge results", "SystemExit at action 1: 3"),
        (Hanging, "malformed views", "was not there after 0.7 s"),
        (Sharing, "eight at once", "acts differently from a single one"),
        (Sharing, "resume after a kill", "keep state in Action.memo"),
        (WarmingUp, "another episode", "acts otherwise than in the first: keep nothing in a class"),
    ],
)
async def test_each_fault_is_named(make: Callable[[Seat], Any], hazard: str, says: str) -> None:
    import re

    found = await certificate(make)
    assert [one for one in found[hazard].findings if re.search(says, one)], found


def test_the_command_prints_a_certificate(shell: Shell) -> None:
    assert shell("agents", "check", "llm", "--model", "scripted/Gout") == 0
    assert "  ok     eight at once (8)" in shell.out
    assert "nothing wrong in" in shell.out
    assert shell("agents", "check", "gold", "--model", "scripted/x", "--model", "scripted/y") == 2
    found: Sequence[Any] = shell.json("agents", "check", "gold")["hazards"]
    assert [one["name"] for one in found if one["findings"]] == []


@pytest.mark.long
def test_an_act_that_cannot_be_cancelled_does_not_hang_the_check(tmp_path: Path) -> None:
    module = """
import asyncio
from contextlib import suppress

class Deaf:
    async def act(self, view):
        while True:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(3600)
"""
    (tmp_path / "deaf.py").write_text(module)
    words = [sys.executable, "-m", "wardround", "agents", "check", "deaf:Deaf", "--seconds", "0.5"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=240, cwd=tmp_path)
    assert done.returncode == 1, done.stderr
    assert "it swallows its cancellation" in done.stdout
