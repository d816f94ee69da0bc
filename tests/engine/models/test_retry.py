"""What is tried again, how often, and how long is waited."""

import asyncio
import re
import time
from email.utils import formatdate

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st
from instant import instantly
from steady import steadily

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.chat import ChatModel, Endpoint
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import TEMPORARY, Patience, Retrying
from wardround.engine.records import Completion, Message
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

ASKED = [Message("user", "hello")]
SOON = Patience(first=0.001, longest=0.002, total=5.0)
NEVER = ("auth", "unknown_model", "bad_request", "context_overflow", "quota", "refused")


def failing(*kinds: str) -> Scripted:
    return Scripted([*(ProviderError(kind, f"it was {kind}") for kind in kinds), "at last"])


@pytest.mark.parametrize(
    "fault", ["rate_limit", "server_error", "reset", "stall", "truncated", "malformed", "web_page", "no_choices"]
)
def test_what_may_pass_is_tried_again(fault: str) -> None:
    async def twice() -> tuple[Completion, Loopback]:
        async with Loopback(faults=[fault, fault]) as server:
            model = Retrying(ChatModel("m", Endpoint(server.base_url, timeouts=Timeouts(first_byte=0.1))), SOON)
            reply = await model.complete(ASKED, purpose="test")
            await model.aclose()
        return reply, server

    reply, server = steadily(twice())  # only what stalls may take so long
    assert (reply.text, reply.attempts, server.total) == ("hello", 3, 3)
    assert reply.latency >= (0.2 if fault == "stall" else 0)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("quota", "quota"),
        ("refusal", "refusal"),
        ("filtered", "refused"),
        ("context_overflow", "context_overflow"),
        ("unknown_model", "unknown_model"),
        ("expired_key", "auth"),
        ("redirect", "bad_request"),
    ],
)
async def test_what_will_not_pass_is_not(fault: str, kind: str) -> None:
    async with Loopback(faults=[fault]) as server:
        model = Retrying(ChatModel("m", Endpoint(server.base_url)), SOON)
        with pytest.raises(ProviderError) as caught:
            await model.complete(ASKED, purpose="test")
        await model.aclose()
    assert (caught.value.kind, server.total) == (kind, 1)


def test_every_kind_is_one_or_the_other() -> None:
    assert not TEMPORARY & set(NEVER)
    for kind in TEMPORARY | set(NEVER):
        assert kind in (ProviderError.__doc__ or "")


def tried(script: Scripted, patience: Patience | None = None) -> tuple[ProviderError, float]:
    """How a call in vain ends, and after how many seconds."""

    async def complete() -> tuple[ProviderError, float]:
        now = asyncio.get_running_loop().time
        start = now()
        with pytest.raises(ProviderError) as caught:
            await Retrying(script, patience).complete(ASKED, purpose="test")
        return caught.value, now() - start

    return instantly(complete())


def test_the_number_of_attempts_is_bounded() -> None:
    script = failing(*["server"] * 9)
    error, _ = tried(script, Patience(attempts=4, first=0.001))
    assert re.search(r"it was server \(gave up after 4 attempts in 0\.\d s\)", str(error))
    assert (error.kind, script.count) == ("server", 4)
    script = failing("server")
    assert "after 1 attempt" in str(tried(script, Patience(attempts=1))[0])
    assert script.count == 1


def test_the_total_time_is_bounded() -> None:
    script = failing(*["server"] * 1000)
    _, seconds = tried(script, Patience(attempts=1000, total=0.2, first=0.02, longest=0.02))
    assert seconds <= 0.2
    assert script.count > 3


@pytest.mark.parametrize("form", first_ones(["seconds", "date"], 1))
async def test_retry_after_is_honoured(form: str) -> None:
    # A date has whole seconds, so half a second of waiting needs the later of two.
    date = int(time.time()) + 2
    asked: float | str = 0.3 if form == "seconds" else formatdate(date, usegmt=True)
    async with Loopback(faults=[Fault("rate_limit", retry_after=asked)]) as server:
        model = Retrying(ChatModel("m", Endpoint(server.base_url)), SOON)
        reply = await model.complete(ASKED, purpose="test")
        await model.aclose()
    assert reply.attempts == 2
    if form == "seconds":
        assert reply.latency >= 0.3
    else:
        assert time.time() > date - 0.01  # by the loop's clock, which differs a little


def test_a_wait_that_is_too_long_is_not_begun() -> None:
    script = Scripted([ProviderError("rate_limit", "slow down", retry_after=3600.0), "late"])
    error, seconds = tried(script)
    assert "it asks to wait 3600 s" in str(error)
    assert (error.kind, error.retry_after, script.count, seconds) == ("rate_limit", 3600.0, 1, 0.0)


async def test_a_first_success_is_handed_through_untouched() -> None:
    reply = Completion("same", latency=1.5)
    model = Retrying(Scripted([reply]))
    assert await model.complete(ASKED, purpose="test") is reply
    assert (model.name, model.host) == ("scripted", "")


async def test_other_errors_are_not_the_models() -> None:
    def broken(messages: object, purpose: str) -> str:
        raise ZeroDivisionError

    script = Scripted(broken)
    with pytest.raises(ZeroDivisionError):
        await Retrying(script, SOON).complete(ASKED, purpose="test")
    assert script.count == 1


async def test_a_model_is_not_changed_by_what_it_is_given() -> None:
    script = failing("server")
    await Retrying(script, SOON).complete(ASKED, purpose="test", temperature=0.5)
    assert script.calls == [(tuple(ASKED), "test", {"temperature": 0.5})] * 2


def waits(patience: Patience, count: int) -> list[float]:
    model = Retrying(Scripted([]), patience)
    failed = ProviderError("server", "x")
    return [model._wait(failed, attempt, 0.0) or 0.0 for attempt in range(1, count + 1)]


@given(st.integers(0, 2**32), st.integers(1, 11))
def test_waits_are_seeded_jittered_and_capped(seed: int, count: int) -> None:
    drawn = waits(Patience(seed=seed), count)
    assert drawn == waits(Patience(seed=seed), count)
    assert all(0 <= wait <= min(60.0, 2.0**n) for n, wait in enumerate(drawn))


def test_the_defaults_outlast_a_quota_window_of_a_minute() -> None:
    attempts = Patience().attempts
    sums = [sum(waits(Patience(seed=seed), attempts - 1)) for seed in range(1000)]
    assert sum(total > 60 for total in sums) >= 995
    assert max(sums) < Patience().total


def test_no_exponent_is_too_large() -> None:
    model = Retrying(Scripted([]), Patience(attempts=10**6, total=1e9))
    assert 0 <= (model._wait(ProviderError("server", "x"), 10**5, 0.0) or 0) <= 60


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"total": -1.0}, {"first": -0.1}])
def test_impossible_patience_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        Patience(**wrong)  # type: ignore[arg-type]  # one of the fields is a whole number


@pytest.mark.long
@given(st.floats(min_value=1, max_value=1e6))
def test_attempts_and_time_last_as_long_as_an_endpoint_may_be_silent(silence: float) -> None:
    patience = Patience.lasting(silence)
    longest = [min(patience.longest, patience.first * 2.0 ** min(n, 60)) for n in range(patience.attempts - 1)]
    assert sum(longest) / 2 >= silence - 1e-6, "a refused call waits for at least half of each"
    assert patience.total >= silence + patience.longest, "the stop of the run comes before the end of a call"


async def test_an_error_after_several_attempts_keeps_all_that_is_known_of_it() -> None:
    last = ProviderError("bad_request", "no such parameter", status=400, retry_after=1.5, unheard=True, param="top_k")
    last.elsewhere, last.waited = False, 0.25
    model = Retrying(Scripted([ProviderError("server", "it was away"), last]), SOON)
    with pytest.raises(ProviderError, match=r"no such parameter \(gave up after 2 attempts in") as caught:
        await model.complete(ASKED, purpose="test")
    assert vars(caught.value) == vars(last)
