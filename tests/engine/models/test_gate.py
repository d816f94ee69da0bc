"""The limiter of one endpoint and key: places, quotas, fair shares, pauses; in a loop whose waiting takes no time."""

import asyncio
import random

import msgspec
import pytest
from examples import first_ones
from gated import OK, call, idle, now
from instant import instantly

from wardround.engine.errors import RunStopped
from wardround.engine.models.gate import CallOutcome, Gate, Permit
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates


def test_a_free_place_is_had_without_suspension() -> None:
    async def main() -> None:
        for quota in (Quota(), Quota(in_flight=2, rpm=100, tpm=1000, daily_requests=10, daily_tokens=10_000)):
            entering = Gate("g", quota).enter("a", 10)
            with pytest.raises(StopIteration) as done:
                entering.send(None)
            assert isinstance(done.value.value, Permit)

    instantly(main())


def test_no_more_than_the_places_and_all_of_them() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=7))
        start = now()
        async with asyncio.TaskGroup() as group:
            for _ in range(70):
                group.create_task(call(gate))
            await asyncio.sleep(0.5)
            assert gate.in_flight == 7
        assert now() - start == pytest.approx(10.0)
        assert idle(gate)

    instantly(main())


def test_a_role_with_ten_thousand_waiting_does_not_hold_up_another() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=10))
        crowd = [asyncio.create_task(call(gate, "many", random.Random(n).uniform(0.5, 1.5))) for n in range(10_000)]
        await asyncio.sleep(3.0)
        for role in ("one", "two"):
            assert await call(gate, role) <= 1.5
        for task in crowd:
            task.cancel()
        await asyncio.gather(*crowd, return_exceptions=True)
        assert idle(gate)

    instantly(main())


def test_shares_of_three_roles_are_equal_while_all_wait() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=6))
        done = {"a": 0, "b": 0, "c": 0}

        async def worker(role: str) -> None:
            for _ in range(100):
                await call(gate, role)
                done[role] += 1

        roles = ["a"] * 200 + ["b"] * 20 + ["c"] * 20
        tasks = [asyncio.create_task(worker(role)) for role in roles]
        await asyncio.sleep(100.5)
        assert max(done.values()) - min(done.values()) <= 6
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert idle(gate)

    instantly(main())


@pytest.mark.parametrize("seed", first_ones(range(10), 4))
def test_cancellation_anywhere_leaks_no_place(seed: int) -> None:
    async def main() -> None:
        draw = random.Random(seed)
        gate = Gate("g", Quota(in_flight=3, rpm=600, tpm=60_000))
        most = 0

        async def watched() -> None:
            nonlocal most
            await call(gate, draw.choice("abc"), draw.choice([0.0, 0.1, 1.0]), tokens=draw.randrange(3000))
            most = max(most, gate.in_flight)

        tasks = []
        for _ in range(300):
            tasks.append(asyncio.create_task(watched()))
            if draw.random() < 0.5:
                draw.choice(tasks).cancel()
            if draw.random() < 0.3:
                await asyncio.sleep(draw.choice([0.0, 0.0, 0.05, 0.3]))
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(end) for end in ended} == {type(None), asyncio.CancelledError}
        assert most <= 3
        assert idle(gate)
        assert await call(gate) < 10

    instantly(main())


def test_cancelled_at_the_moment_it_is_let_in() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=1, daily_requests=3))
        first = await gate.enter("")
        second = asyncio.create_task(call(gate))
        await asyncio.sleep(0)
        gate.leave(first, OK)  # lets the second in, which has not run since
        second.cancel()
        await asyncio.gather(second, return_exceptions=True)
        assert idle(gate)
        assert (gate.calls, gate.summary()["today"]) == (1, {"requests": 1, "tokens": 0})

    instantly(main())


def test_an_isolated_refusal_delays_nobody_else() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=20))
        refused = CallOutcome("rate_limit", status=429, retry_after=30.0)
        waits = []
        for n in range(200):
            waits.append(await call(gate, seconds=0.1, outcome=refused if n % 50 == 10 else OK))
        assert max(waits) == 0
        assert (gate.adaptive.cap, gate.paused_until) == (20, 0)
        assert gate.summary()["rate_limited"] == 0.02

    instantly(main())


@pytest.mark.parametrize(("asked", "paused"), [(30.0, 30.0), (3600.0, 120.0), (None, 0.0)])
def test_many_refusals_pause_the_gate_as_long_as_the_endpoint_asks(asked: float | None, paused: float) -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=20))
        refused = CallOutcome("rate_limit", status=429, retry_after=asked)
        await asyncio.gather(*(call(gate, seconds=0.1, outcome=refused) for _ in range(20)))
        assert gate.adaptive.cap < 20
        start = now()
        waited = await call(gate)
        assert waited == pytest.approx(paused, abs=0.01)
        assert (gate.summary()["paused_until"], idle(gate)) == (None, True)
        assert start > 0

    instantly(main())


def test_a_stop_lets_go_who_waits_and_finishes_what_runs() -> None:
    async def main() -> None:
        gates = Gates({"g.example": Quota(in_flight=1)})
        gate = gates.of("http://g.example/v1")
        calls = [asyncio.create_task(call(gate, role)) for role in "aabb"]
        await asyncio.sleep(0.5)
        start = now()
        gates.stop("the run was asked to stop")
        ended = await asyncio.gather(*calls, return_exceptions=True)
        assert now() - start == pytest.approx(0.5)
        assert ended[0] == 0.0
        assert [str(end) for end in ended[1:]] == ["the run was asked to stop"] * 3
        assert idle(gate)
        for later in (gate, gates.of("http://h.example/v1")):
            with pytest.raises(RunStopped):
                await later.enter("")
        gates.reopen()
        start = now()
        assert await asyncio.gather(*(call(gate, "a") for _ in range(3))) == [0.0, 1.0, 2.0]
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(9.0):
                await gate.rest(10.0)
        assert now() - start == pytest.approx(12.0)

    instantly(main())


def test_gates_do_not_wait_for_each_other() -> None:
    async def main() -> None:
        slow, quick = Gate("slow", Quota(in_flight=1)), Gate("quick", Quota(in_flight=1))
        stuck = [asyncio.create_task(call(slow, seconds=3600.0)) for _ in range(5)]
        await asyncio.sleep(0)
        start = now()
        for _ in range(100):
            await call(quick, seconds=0.1)
        assert now() - start == pytest.approx(10.0)
        assert slow.summary()["waiting"] == {"": 4}
        for task in stuck:
            task.cancel()
        await asyncio.gather(*stuck, return_exceptions=True)

    instantly(main())


def test_what_it_tells_is_json() -> None:
    async def main() -> None:
        gate = Gate("http://localhost:8000/v1", Quota(in_flight=1))
        held = await gate.enter("a")
        waiting = [asyncio.create_task(call(gate, role)) for role in ("b", "a", "b")]
        await asyncio.sleep(2)
        told = gate.summary()
        assert msgspec.json.decode(msgspec.json.encode(told)) == told
        assert told == {
            "address": "http://localhost:8000/v1",
            "in_flight": 1,
            "cap": 1,
            "waiting": {"a": 1, "b": 2},
            "rate_limited": 0.0,
            "paused_until": None,
            "healthy": True,
            "calls": 1,
            "again": 0,
            "latency": None,
        }
        gate.leave(held, OK)
        await asyncio.gather(*waiting)
        assert (gate.summary()["latency"], gate.summary()["calls"]) == (1.0, 4)
        assert Gate("x").summary()["cap"] is None

    instantly(main())
