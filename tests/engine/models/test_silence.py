"""An endpoint that lets nothing through: what the user hears, and that it stops the run and ends no episode."""

import asyncio
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest
from examples import first_ones, first_rows
from instant import instantly
from structlog.testing import capture_logs

from wardround.engine.errors import ProviderError, RunStopped
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gate import CallOutcome, Gate
from wardround.engine.models.health import Silence
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import Limited, Patience, Retrying
from wardround.engine.records import Completion, Message

ASKED = [Message("user", "hello")]
Refusal = Callable[[], ProviderError]


def now() -> float:
    return asyncio.get_running_loop().time()


def limit(after: float | None = None) -> ProviderError:
    return ProviderError("rate_limit", "slow down", status=429, retry_after=after)


def overloaded(status: int = 503) -> ProviderError:
    return ProviderError("server", "too much to do", status=status)


def until(opens: float, refusal: Refusal) -> Scripted:
    """Answers from a time of the loop on."""

    def script(messages: object, purpose: str) -> Any:
        return "open" if now() >= opens else refusal()

    return Scripted(script)


def words(logs: Sequence[Any]) -> list[str]:
    """What was said, with times of day left out."""
    return [re.sub(r"\d\d:\d\d:\d\d", "T", str(entry["event"])) for entry in logs]


@pytest.mark.parametrize("refusal", [limit, overloaded, lambda: overloaded(529), lambda: limit(20.0)])
@pytest.mark.parametrize("calls", [1, 8])
@pytest.mark.parametrize("seed", first_ones(range(5), 2))
def test_an_endpoint_that_lets_nothing_through_stops_the_run(refusal: Refusal, calls: int, seed: int) -> None:
    async def main() -> None:
        gates = Gates()
        gate = gates.of("http://h.example/v1")
        models = [Retrying(Limited(until(1e9, refusal), gate), Patience(seed=seed + n)) for n in range(calls)]
        start = now()
        tasks = [model.complete(ASKED, purpose="test") for model in models]
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert [type(end) for end in ended] == [RunStopped] * calls
        assert 180 <= now() - start <= 180 + 61
        said = r"http://h\.example/v1 answered HTTP \d+ to every call for (\d+) s, \d+ times: see what it allows"
        lasted = re.match(said, gates.used_up)
        assert lasted
        assert float(lasted[1]) == pytest.approx(now() - start, abs=1)
        assert {str(end) for end in ended} == {gates.used_up}
        with pytest.raises(RunStopped, match="to every call"):
            await gate.enter("")

    instantly(main())


def test_an_endpoint_that_comes_back_is_waited_for_and_the_user_hears_of_both() -> None:
    async def main() -> None:
        gate = Gate("http://h.example/v1")
        model = Retrying(Limited(until(now() + 60, limit), gate))
        with capture_logs() as logs:
            assert (await model.complete(ASKED, purpose="test")).text == "open"
        said = words(logs)
        assert said[0].startswith("http://h.example/v1 answers HTTP 429 to every call since T, ")
        assert said[0].endswith(" times so far; tried again at T")
        assert 2 <= len(said) <= 4
        assert re.fullmatch(r"http://h\.example/v1 answers again, after \d+ s", said[-1])
        assert gate.silence.since is None

    instantly(main())


@pytest.mark.parametrize("refusal", [limit, overloaded, lambda: limit(100.0)])
def test_the_user_hears_of_it_within_seconds(refusal: Refusal) -> None:
    async def main() -> None:
        model = Retrying(Limited(until(1e9, refusal), Gate("http://h.example/v1")))
        with capture_logs() as logs:
            task = asyncio.create_task(model.complete(ASKED, purpose="test"))
            await asyncio.sleep(5.0)
            assert len(logs) == 1
            await asyncio.sleep(60.0)
            assert len(logs) <= 3, "not at every refusal"
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    instantly(main())


class Slow(Scripted):
    """Thinks before it does as the script says."""

    latency = 0.3

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Any) -> Completion:
        await asyncio.sleep(self.latency)
        return await super().complete(messages, purpose=purpose, **options)


@pytest.mark.parametrize("failure", [ProviderError("server", "x", status=500, retry_after=9.0), limit(9.0)])
def test_one_failed_call_is_no_silence_while_others_wait_to_be_sent(failure: ProviderError) -> None:
    async def main() -> None:
        replies: Iterator[ProviderError | str] = iter([failure, "open", "open", "open"])
        script, gate = Slow(lambda messages, purpose: next(replies)), Gate("g", Quota(in_flight=1))
        models = [Retrying(Limited(script, gate), Patience(seed=seed)) for seed in range(3)]
        with capture_logs() as logs:
            await asyncio.gather(*(model.complete(ASKED, purpose="test") for model in models))
        assert logs == []

    instantly(main())


def test_it_says_when_the_next_of_all_calls_is_made() -> None:
    silence = Silence("h")
    silence.failed("rate_limit", 429, 100.0, 0)
    for at in (150.0, 104.0, 130.0):
        silence.next_try(at, 100.0)
    told = re.findall(r"\d\d:(\d\d):(\d\d)", silence.summary(100.0))
    seconds = [int(minutes) * 60 + int(second) for minutes, second in told]
    assert (seconds[1] - seconds[0]) % 3600 == 4
    assert "tried again" not in silence.summary(151.0)


def test_what_passes_no_gate_is_spoken_of_too() -> None:
    async def main() -> None:
        with capture_logs() as logs:
            reply = await Retrying(until(now() + 60, limit)).complete(ASKED, purpose="test")
        assert reply.text == "open"
        assert words(logs)[0].startswith("scripted answers HTTP 429 to every call since T")
        assert "scripted answers again" in words(logs)[-1]

    instantly(main())


@pytest.mark.parametrize(("calls", "latency"), first_rows([(200, 0.3), (200, 5.0), (1000, 0.05)]))
def test_a_crowd_of_refused_calls_is_spoken_of_in_time_and_not_at_length(calls: int, latency: float) -> None:
    async def main() -> None:
        gate, script = Gate("g"), Slow(lambda messages, purpose: limit())
        script.latency = latency
        models = [Retrying(Limited(script, gate), Patience(seed=seed)) for seed in range(calls)]
        with capture_logs() as logs:
            tasks = [asyncio.create_task(model.complete(ASKED, purpose="test")) for model in models]
            await asyncio.sleep(20 + latency)
            assert len(logs) == 1
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert {type(end) for end in ended} == {RunStopped}
        assert len(logs) <= 8

    instantly(main())


def test_a_short_trouble_is_not_spoken_of() -> None:
    async def main() -> None:
        with capture_logs() as logs:
            await Retrying(Limited(until(now() + 2, limit), Gate("g"))).complete(ASKED, purpose="test")
        assert logs == []

    instantly(main())


def test_a_call_that_is_being_answered_holds_the_stop_back() -> None:
    async def main() -> None:
        gate = Gate("g")
        start = now()

        def one_at_a_time(messages: object, purpose: str) -> Any:
            return limit() if gate.in_flight > 1 else "open"

        slow = await gate.enter("")
        model = Retrying(Limited(Scripted(one_at_a_time), gate))
        with capture_logs() as logs:
            task = asyncio.create_task(model.complete(ASKED, purpose="test"))
            await asyncio.sleep(400)  # longer than anyone would wait for an endpoint that does nothing
            gate.leave(slow, CallOutcome("ok"))
            assert (await task).text == "open"
        assert now() - start >= 400
        assert gate.used_up == ""
        assert all(", 1 under way; tried again" in said or "answers again" in said for said in words(logs))

    instantly(main())


@pytest.mark.parametrize("kind", ["server", "connection", "timeout", "malformed"])
def test_what_may_lie_in_the_call_is_told_but_ends_the_episode_as_ever(kind: str) -> None:
    async def main() -> None:
        gate = Gate("g")
        script = Scripted(lambda messages, purpose: ProviderError(kind, "no"))
        with capture_logs() as logs, pytest.raises(ProviderError, match="gave up after 14 attempts"):
            await Retrying(Limited(script, gate)).complete(ASKED, purpose="test")
        assert words(logs)[0].startswith(f"g answers no call ({kind}) since T")
        assert gate.used_up == ""

    instantly(main())


def test_where_nobody_listens_any_more_the_run_stops() -> None:
    async def main() -> None:
        gate = Gate("g")
        gone = until(1e9, lambda: ProviderError("connection", "nothing listens there", unheard=True))
        start = now()
        with pytest.raises(RunStopped, match=r"answered no call .connection. for .* see whether it still runs"):
            await Retrying(Limited(gone, gate)).complete(ASKED, purpose="test")
        assert 180 <= now() - start < 250

    instantly(main())


def test_old_trouble_that_nobody_waited_out_counts_for_nothing() -> None:
    async def main() -> None:
        gate = Gate("g")
        hasty = Retrying(Limited(until(1e9, limit), gate), Patience(attempts=2))
        for _ in range(3):
            with pytest.raises(ProviderError):
                await hasty.complete(ASKED, purpose="test")
            await asyncio.sleep(1000)
        assert (gate.silence.since, gate.used_up) == (None, "")

    instantly(main())


def test_of_a_fleet_all_must_be_silent() -> None:
    async def main() -> None:
        for well in (True, False):
            gates = [Gate("http://a.example/v1"), Gate("http://b.example/v1")]
            scripts = [until(0.0 if well else 1e9, overloaded), until(1e9, overloaded)]
            for script in scripts:
                script.name = "m"
            fleet = Retrying(Fleet([Limited(one, gate) for one, gate in zip(scripts, gates, strict=True)]))
            tasks = [fleet.bound("", f"e{n}").complete(ASKED, purpose="test") for n in range(8)]
            ended = await asyncio.gather(*tasks, return_exceptions=True)
            stopped = [isinstance(end, RunStopped) for end in ended]
            assert stopped == [not well] * 8

    instantly(main())


def test_what_it_tells_of_a_gate_has_it() -> None:
    async def main() -> None:
        gate = Gate("g")
        assert "silent" not in gate.summary()
        task = asyncio.create_task(Retrying(Limited(until(1e9, limit), gate)).complete(ASKED, purpose="test"))
        await asyncio.sleep(3)
        assert "silent" not in gate.summary(), "a few calls that failed say nothing of an endpoint that serves others"
        await asyncio.sleep(3)
        assert str(gate.summary()["silent"]).startswith("answers HTTP 429 to every call since ")
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert "silent" not in gate.summary()

    instantly(main())


def test_a_stop_wakes_who_waits_for_the_next_attempt() -> None:
    async def main() -> None:
        gates = Gates()
        gate = gates.of("http://h.example/v1")
        model = Retrying(Limited(until(1e9, lambda: limit(300.0)), gate))
        tasks = [asyncio.create_task(model.complete(ASKED, purpose="test")) for _ in range(3)]
        await asyncio.sleep(1)
        start = now()
        gates.stop("the run was asked to stop")
        ended = await asyncio.gather(*tasks, return_exceptions=True)
        assert now() == start
        assert [str(end) for end in ended] == ["the run was asked to stop"] * 3
        assert all(isinstance(end, RunStopped) for end in ended)
        assert gates.used_up == "", "nothing was used up"
        with pytest.raises(RunStopped):  # one that comes back refused when all is over does not wait either
            await gate.rest(60.0)

    instantly(main())


def test_a_wait_that_is_cancelled_leaves_nothing_behind() -> None:
    async def main() -> None:
        gate = Gate("g")
        task = asyncio.create_task(Retrying(Limited(until(1e9, limit), gate)).complete(ASKED, purpose="test"))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (gate.silence.retried, gate.silence.since, gate.in_flight) == (0, None, 0)

    instantly(main())
