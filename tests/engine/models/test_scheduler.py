"""Retries, gates and fleets together, against real servers on this machine."""

import asyncio
import time
from collections import Counter, deque

import pytest
from steady import steadily
from until import dropped, until

from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates, reach
from wardround.engine.models.wrappers import Patience
from wardround.engine.protocols import Model
from wardround.engine.records import Message
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

QUICK = Patience(first=0.05, longest=0.2)


class Busy:
    """Answers 429 to what comes while `most` calls of `latency` seconds are being served."""

    def __init__(self, most: int, latency: float, retry_after: float | None = None) -> None:
        self.refused = 0
        self._most, self._latency, self._fault = most, latency, Fault("rate_limit", retry_after=retry_after)
        self._ends: deque[float] = deque()

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of a request that comes now."""
        now = asyncio.get_running_loop().time()
        while self._ends and self._ends[0] <= now:
            self._ends.popleft()
        if len(self._ends) >= self._most:
            self.refused += 1
            return self._fault
        self._ends.append(now + self._latency)
        return None


class Play:
    """Episodes of three seats that speak in turn; every reply must be the right one."""

    def __init__(self, models: dict[str, Model]) -> None:
        self.models = models
        self.calls: Counter[str] = Counter()
        self.waited: dict[str, list[float]] = {role: [] for role in models}

    async def episode(self, name: str, turns: int) -> None:
        seats = {role: model.bound(role, name) for role, model in self.models.items()}
        for turn in range(turns):
            for role, model in seats.items():
                said = f"{name} {turn} {role}"
                reply = await model.complete([Message("user", said)], purpose="act")
                assert reply.text == said
                self.calls[role] += 1
                self.waited[role].append(reply.waited)

    async def run(self, count: int, concurrency: int, turns: int = 2) -> None:
        names = iter([f"e{n}" for n in range(count)])

        async def worker() -> None:
            for name in names:
                await self.episode(name, turns)

        async with asyncio.TaskGroup() as group:
            for _ in range(concurrency):
                group.create_task(worker())
        for model in self.models.values():
            await model.aclose()


@pytest.mark.long
def test_three_roles_over_two_endpoints_that_refuse_above_what_they_can_take() -> None:
    async def refusing() -> None:
        small, large = Busy(20, 0.02, retry_after=0.05), Busy(60, 0.02)
        async with Loopback(latency=0.02, faults=small) as one, Loopback(latency=0.02, faults=large) as two:
            gates = Gates()
            models = {
                "a": reach("openai/m", base_url=one.base_url, env={}, gates=gates, patience=QUICK),
                "b": reach("openai/n", base_url=one.base_url, env={}, gates=gates, patience=QUICK),
                "c": reach("openai/m", base_url=[one.base_url, two.base_url], env={}, gates=gates, patience=QUICK),
            }
            play = Play(models)
            await play.run(200, 200)
        assert play.calls == {"a": 400, "b": 400, "c": 400}
        assert small.refused > 0
        told = {gate["address"]: gate for gate in gates.summary()}
        assert len(told) == 2
        assert all(gate["in_flight"] == 0 and gate["waiting"] == {} for gate in told.values())
        assert told[one.base_url]["cap"] is not None
        assert told[one.base_url]["cap"] < 100

    steadily(refusing())  # on a slow machine too they come faster than they are served


def test_places_are_kept_and_shared_by_all_seats() -> None:
    async def played() -> None:
        async with Loopback(latency=0.01) as server:
            gates = Gates({"127.0.0.1": Quota(in_flight=10)})
            models = {role: reach(f"openai/{role}", base_url=server.base_url, env={}, gates=gates) for role in "abc"}
            await Play(models).run(60, 50)
        assert server.most == 10

    steadily(played())


async def test_a_single_call_does_not_wait_for_a_thousand_of_another_role() -> None:
    async with Loopback(latency=0.05) as server:
        model = reach("openai/m", base_url=server.base_url, env={}, gates=Gates({"127.0.0.1": Quota(in_flight=10)}))
        crowd = model.bound("crowd", "e1")
        calls = [asyncio.create_task(crowd.complete([Message("user", f"{n}")], purpose="act")) for n in range(1000)]
        await until(lambda: server.waiting == 10)
        before = server.total
        await model.bound("single", "e1").complete([Message("user", "me")], purpose="act")
        assert server.total - before < 100, "it waits for a place that is free next, and no longer"
        await dropped(*calls)
        await model.aclose()


async def test_a_paused_endpoint_holds_up_no_other() -> None:
    async with Loopback(faults=[Fault("rate_limit", retry_after=120.0)] * 500) as shut, Loopback() as open_:
        gates = Gates()
        closed = reach("openai/m", base_url=shut.base_url, env={}, gates=gates)
        stuck = [asyncio.create_task(closed.complete([Message("user", f"{n}")], purpose="act")) for n in range(100)]
        await until(lambda: gates.summary()[0]["paused_until"] is not None)
        told = gates.summary()[0]
        assert told["rate_limited"] == 1.0
        assert told["paused_until"] - time.time() > 60
        quick = reach("openai/m", base_url=open_.base_url, env={}, gates=gates)
        for n in range(50):
            await quick.complete([Message("user", f"{n}")], purpose="act")
        assert told["paused_until"] > time.time(), "they did not wait until the other one is open again"
        await dropped(*stuck)
        assert shut.total <= 100
        await closed.aclose()
        await quick.aclose()
