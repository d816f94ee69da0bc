"""Requests and tokens a minute, and the daily quota, of one endpoint and key."""

import asyncio

import pytest
from gated import call, idle, now
from instant import instantly

from wardround.engine.errors import RunStopped
from wardround.engine.models.gate import CallOutcome, Gate
from wardround.engine.models.quota import Quota
from wardround.engine.records import Usage


def in_a_minute(times: list[float]) -> int:
    return max(sum(start <= time < start + 59.999 for time in times) for start in times)


def test_requests_a_minute() -> None:
    async def main() -> None:
        gate, times = Gate("g", Quota(rpm=120)), []

        async def one() -> None:
            await call(gate, seconds=0.1)
            times.append(now())

        start = now()
        await asyncio.gather(*(one() for _ in range(360)))
        assert in_a_minute(times) <= 120
        assert now() - start < 185
        assert idle(gate)

    instantly(main())


def test_tokens_a_minute_are_reserved_and_corrected() -> None:
    async def spent(estimate: int, real: int) -> float:
        gate = Gate("g", Quota(tpm=60_000))  # 1,000 a second
        start = now()
        outcome = CallOutcome("ok", usage=Usage(prompt=real // 2, completion=real - real // 2))
        async with asyncio.TaskGroup() as group:
            for _ in range(200):
                group.create_task(call(gate, seconds=2.0, outcome=outcome, tokens=estimate))
        assert idle(gate)
        return now() - start

    async def main() -> None:
        assert await spent(600, 600) == pytest.approx(120, rel=0.05)
        assert await spent(900, 600) == pytest.approx(120, rel=0.10)  # too much was reserved
        assert await spent(300, 600) == pytest.approx(120, rel=0.10)  # too little
        assert await spent(3000, 3000) == pytest.approx(600, rel=0.05)  # more than a second's worth each

    instantly(main())


def test_a_daily_quota_stops_the_run_and_opens_again_at_midnight() -> None:
    async def main() -> None:
        today = [86400.0 * 100 + 5]
        gate = Gate("far.example", Quota(daily_requests=10, in_flight=2), spent_today=(7, 0), clock=lambda: today[0])
        calls = await asyncio.gather(*(call(gate) for _ in range(6)), return_exceptions=True)
        stopped = [said for said in calls if isinstance(said, RunStopped)]
        assert len(stopped) == 3
        assert str(stopped[0]) == (
            "the daily quota of far.example (10 requests) is used up: resume the run after 00:00 UTC"
        )
        assert gate.used_up == str(stopped[0])
        with pytest.raises(RunStopped):
            await gate.enter("")
        assert idle(gate)
        today[0] += 86400
        assert gate.used_up == ""
        assert await call(gate) == 0

    instantly(main())


def test_daily_tokens_count_what_was_used() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(daily_tokens=1000), spent_today=(0, 100))
        used = CallOutcome("ok", usage=Usage(prompt=100, completion=200))
        for _ in range(2):
            await call(gate, outcome=used, tokens=400)
        assert gate.used_up == ""
        with pytest.raises(RunStopped, match="1,000 tokens"):
            await call(gate, outcome=used, tokens=400)
        assert "(1,000 tokens) is used up" in gate.used_up  # for a smaller call there would be room
        assert gate.summary()["today"] == {"requests": 2, "tokens": 700}
        await call(gate, outcome=CallOutcome("rate_limit"), tokens=300)
        assert gate.summary()["today"] == {"requests": 3, "tokens": 700}

    instantly(main())
