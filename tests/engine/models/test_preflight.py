"""One cheap call to each endpoint: what stops a run before it starts, and what does not."""

import asyncio

import pytest
from hasty import hasty
from steady import steadily
from until import dropped, until

from wardround.engine.errors import PreflightError, ProviderError
from wardround.engine.models.preflight import preflight
from wardround.engine.models.reach import reach
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import EgressGuard
from wardround.engine.protocols import Model
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

KEY = "sk-loopback-0123456789"


def at(server: Loopback, name: str = "m", key: str = KEY) -> Model:
    return reach(f"openai/{name}", base_url=server.base_url, env={"OPENAI_API_KEY": key})


class Remote(Scripted):
    """A scripted model that pretends to be somewhere."""

    host = "far.example"


async def test_one_call_for_each_endpoint_and_model() -> None:
    async with Loopback(latency=3600) as one, Loopback(latency=3600) as two:
        models = {"a": at(one), "b": at(one), "c": at(one, "n"), "d": at(two), "e": Scripted([])}
        waiting = asyncio.create_task(preflight(models))
        await until(lambda: (one.waiting, two.waiting) == (2, 1))  # at the same time
        await dropped(waiting)
        one.latency = two.latency = 0.0
        await preflight(models)
        assert (one.total, two.total) == (2 + 2, 1 + 1)
        assert one.asked[0].json()["max_tokens"] == 16
        for model in models.values():
            await model.aclose()


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("expired_key", "check the key and what it may use.*; it is read from OPENAI_API_KEY$"),
        ("unknown_model", "check the model's name and the base URL"),
        ("web_page", "what answers there is not such an endpoint"),
        ("quota", "top up the account"),
        ("server_error", "try again when the endpoint is well"),
        ("redirect", "give the final address as base URL"),
    ],
)
@hasty
async def test_what_stops_a_run(fault: str, says: str) -> None:
    async with Loopback(faults=[fault] * 5) as server:
        model = EgressGuard(at(server), restricted=True)
        with pytest.raises(PreflightError, match=says) as caught:
            await preflight({"first seat": model})
        await model.aclose()
    assert "first seat: m at http://127.0.0.1" in str(caught.value)
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("fault", ["rate_limit", "empty", "refusal", "no_choices", "context_overflow", None])
@hasty
async def test_what_does_not(fault: str | None) -> None:
    async with Loopback(faults=[fault] * 5) as server:
        model = at(server)
        await preflight({"a": model})
        await model.aclose()


@hasty
async def test_a_passing_fault_is_tried_again_and_not_for_minutes() -> None:
    async with Loopback(faults=["reset", "server_error"]) as server:
        model = at(server)
        await preflight({"a": model})
        await model.aclose()
        assert server.total == 3
    gone = at(server)
    clock = asyncio.get_running_loop()
    start = clock.time()
    with pytest.raises(PreflightError, match="nothing listens there"):
        await preflight({"a": gone})
    await gone.aclose()
    assert clock.time() - start > 0.5


async def test_a_refused_setting_is_not_a_refused_model() -> None:
    picky = Remote([ProviderError("bad_request", "max_tokens is too small"), ""])
    await preflight({"a": picky})
    assert [options for _, _, options in picky.calls] == [{"max_tokens": 16}, {}]


def test_a_stall_ends() -> None:
    async def ended() -> None:
        async with Loopback(faults=[Fault("stall")]) as server:
            model = at(server)
            with pytest.raises(PreflightError, match=r"no reply within 0\.2 s"):
                await preflight({"a": model}, within=0.2)
            await model.aclose()

    steadily(ended())


async def test_all_that_is_wrong_is_told_at_once_and_in_order() -> None:
    async with Loopback(key=KEY, models=["m"]) as server:
        models = {"a": at(server, "x"), "b": at(server), "c": at(server, key="wrong"), "d": at(server, "y")}
        with pytest.raises(PreflightError) as caught:
            await preflight({name: models[name] for name in ("c", "b", "a", "d")})
        for model in models.values():
            await model.aclose()
    assert [line[0] for line in str(caught.value).splitlines()] == ["c", "a", "d"]


async def test_two_keys_at_one_address_are_two() -> None:
    async with Loopback(key=KEY) as server:
        models = {"a": at(server), "b": at(server, key="wrong")}
        with pytest.raises(PreflightError, match=r"^b: m at .*check the key"):
            await preflight(models)
        assert server.total == 2
        for model in models.values():
            await model.aclose()
