"""A model behind its gate: what is counted as waiting, what is reserved, and what retries make of it."""

import asyncio

import pytest
from endpoints import Simulated
from instant import instantly

from wardround.engine.errors import ProviderError, RunStopped
from wardround.engine.models.gate import Gate
from wardround.engine.models.quota import Quota
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import EgressGuard, Limited, Patience, Retrying
from wardround.engine.records import Completion, Message, Usage

ASKED = [Message("user", "x" * 400)]


def failing(*kinds: str) -> Scripted:
    return Scripted([*(ProviderError(kind, f"it was {kind}") for kind in kinds), "at last"])


async def test_a_call_that_finds_a_place_is_handed_through_untouched() -> None:
    reply = Completion("same", latency=1.5)
    model = Limited(Scripted([reply]), Gate("g"))
    assert await model.complete(ASKED, purpose="test") is reply
    assert (model.name, model.host, model.hosts) == ("scripted", "", ("",))


def test_time_in_the_queue_is_waited_and_not_the_endpoints() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=1))
        model = Limited(Simulated(latency=2.0), gate)
        replies = await asyncio.gather(*(model.complete(ASKED, purpose="test") for _ in range(5)))
        assert replies[0].waited == 0
        assert 4.0 <= replies[4].waited <= 12.0
        assert replies[4].latency == pytest.approx(replies[4].waited)  # the simulated endpoint tells no latency
        assert 1.0 <= gate.summary()["latency"] <= 3.0

    instantly(main())


def test_waits_between_attempts_are_waited_too() -> None:
    async def main() -> None:
        model = Retrying(Limited(failing("server", "rate_limit"), Gate("g")))
        start = asyncio.get_running_loop().time()
        reply = await model.complete(ASKED, purpose="test")
        spent = asyncio.get_running_loop().time() - start
        assert reply.attempts == 3
        assert reply.waited == pytest.approx(reply.latency)
        assert reply.waited <= reply.latency == pytest.approx(spent)
        assert spent > 0.25

    instantly(main())


def test_time_in_the_queue_does_not_exhaust_patience() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=1))
        busy = Limited(Simulated(latency=1000.0), gate)
        hog = asyncio.create_task(busy.complete(ASKED, purpose="test"))
        await asyncio.sleep(0)
        model = Retrying(Limited(failing("server"), gate), Patience(attempts=2, total=10.0))
        reply = await model.complete(ASKED, purpose="test")
        assert (reply.attempts, reply.text) == (2, "at last")
        assert reply.waited > 500
        await hog

    instantly(main())


@pytest.mark.long
def test_an_endpoint_that_does_not_keep_its_word_does_not_exhaust_patience_in_a_quota_window() -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()

        def answer(opens: float, says: float | None) -> Scripted:
            def script(messages: object, purpose: str) -> str | ProviderError:
                if loop.time() >= opens:
                    return "open"
                return ProviderError("rate_limit", "slow down", status=429, retry_after=says)

            return Scripted(script)

        for says in (None, 0.0, 0.05, 1.0, 20.0):
            for seed in range(50):
                model = Retrying(Limited(answer(loop.time() + 60, says), Gate("g")), Patience(seed=seed))
                assert (await model.complete(ASKED, purpose="test")).text == "open"

    instantly(main())


async def test_what_fails_gives_its_place_back() -> None:
    def broken(messages: object, purpose: str) -> str:
        raise ZeroDivisionError

    gate = Gate("g", Quota(in_flight=1))
    with pytest.raises(ZeroDivisionError):
        await Limited(Scripted(broken), gate).complete(ASKED, purpose="test")
    with pytest.raises(ProviderError):
        await Limited(failing("auth"), gate).complete(ASKED, purpose="test")
    assert gate.in_flight == 0


def test_a_call_that_is_cancelled_gives_its_place_back() -> None:
    async def main() -> None:
        gate = Gate("g", Quota(in_flight=1))
        model = Limited(Simulated(latency=100.0), gate)
        calls = [asyncio.create_task(model.complete(ASKED, purpose="test")) for _ in range(5)]
        await asyncio.sleep(1)
        for task in calls[:4]:
            task.cancel()
        assert (await calls[4]).text == ASKED[0].content
        assert gate.in_flight == 0

    instantly(main())


async def test_tokens_are_reserved_by_the_prompt_and_the_mean_reply() -> None:
    gate = Gate("g", Quota(daily_tokens=10_000))
    model = Limited(Scripted(lambda messages, purpose: Completion("x", usage=Usage(90, 30))), gate)
    assert model._tokens(ASKED, {}) == 100 + 500
    assert model._tokens(ASKED, {"max_tokens": 200}) == 100 + 200
    await model.complete(ASKED, purpose="test")
    assert model._tokens(ASKED, {}) == 100 + 31
    assert model._tokens(ASKED, {"max_tokens": 20}) == 100 + 20
    assert gate.summary()["today"] == {"requests": 1, "tokens": 120}
    assert model.bound("judge", "")._tokens(ASKED, {}) == 100 + 500  # each role for itself


async def test_an_endpoint_that_counts_no_tokens_is_charged_what_was_reserved() -> None:
    gate = Gate("g", Quota(daily_tokens=10_000))
    await Limited(Scripted(["x"]), gate).complete(ASKED, purpose="test", max_tokens=50)
    assert gate.summary()["today"] == {"requests": 1, "tokens": 150}


async def test_a_daily_quota_is_a_stop_and_not_a_failure() -> None:
    gate = Gate("g", Quota(daily_requests=1))
    model = Retrying(Limited(Scripted(["one", "two"]), gate))
    await model.complete(ASKED, purpose="test")
    with pytest.raises(RunStopped, match="daily quota of g"):
        await model.complete(ASKED, purpose="test")


async def test_binding_reaches_through_the_wrappers() -> None:
    gate = Gate("g", Quota(in_flight=1))
    shared = EgressGuard(Retrying(Limited(Scripted(["a", "b"]), gate), Patience(attempts=1)), restricted=False)
    model = shared.bound("judge", "case@1")
    held = await gate.enter("other")
    task = asyncio.create_task(model.complete(ASKED, purpose="test"))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert gate.summary()["waiting"] == {"judge": 1}
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert (gate.summary()["waiting"], gate.in_flight) == ({}, 1)
    assert held.waited == 0
    assert (model.name, model.host) == ("scripted", "")
    plain = Scripted([])
    assert plain.bound("judge", "case@1") is plain
    kept = Retrying(plain)
    assert kept.bound("judge", "case@1") is kept
