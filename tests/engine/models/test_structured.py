"""Whether an endpoint takes a shape is found out by a call: taken, refused, passed over, or no answer at all."""

import asyncio
from collections.abc import Sequence

import pytest
from hasty import hasty
from steady import steadily
from until import dropped, until

from wardround.engine.errors import PreflightError
from wardround.engine.models.preflight import SHAPE_TOKENS, seats_taking_shape, takes_shape
from wardround.engine.models.reach import reach
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.wrappers import EgressGuard, Single
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message
from wardround.testing import wire
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

PATHS = ("openai/m", "openai-responses/m", "azure/m")


def at(server: Loopback, spec: str = "openai/m") -> Model:
    base = server.url if spec.startswith("azure") else server.base_url
    return reach(spec, base_url=base, env={"AZURE_OPENAI_API_KEY": "k", "OPENAI_API_KEY": "k"})


async def found(server: Loopback, spec: str = "openai/m") -> bool:
    model = at(server, spec)
    try:
        return await takes_shape(model)
    finally:
        await model.aclose()


@pytest.mark.parametrize("spec", PATHS)
async def test_taken_refused_or_passed_over(spec: str) -> None:
    async with Loopback(shapes="taken") as server:
        assert await found(server, spec) is True
        assert server.total == 1
    async with Loopback(shapes="refused") as server:
        assert await found(server, spec) is False
    async with Loopback(shapes="ignored") as server:
        assert await found(server, spec) is False
        assert server.total == 1


@pytest.mark.parametrize(
    "said", ['{"answer": "perhaps"}', '{"answer": "yes", "why": "it melts"}', '"yes"', "Yes.", "{", "[" * 10_000, "NaN"]
)
async def test_json_of_another_shape_is_not_it(said: str) -> None:
    async with Loopback(lambda _messages, _model: said) as server:
        assert await found(server) is False


async def test_thinking_before_the_answer_is_no_prose() -> None:
    async with Loopback(lambda _messages, _model: '<think>ice</think>{"answer": "yes"}') as server:
        assert await found(server) is True


class Cut(Scripted):
    """A model somewhere that thinks for more tokens than are asked for at first, or takes no such limit."""

    host = "far.example"

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        reply = await super().complete(messages, purpose=purpose, **options)
        return Completion("", "hm", "length") if options.get("max_tokens") == SHAPE_TOKENS else reply


async def test_one_that_thinks_for_long_is_asked_without_a_limit() -> None:
    model = Cut(['{"answer": "no"}'] * 2)
    assert await takes_shape(model) is True
    assert [options.get("max_tokens") for _, _, options in model.calls] == [SHAPE_TOKENS, None]
    assert all(purpose == "preflight" and options["shape"] for _, purpose, options in model.calls)


def shaped(asked: wire.ReceivedRequest) -> bool:
    return b"json_schema" in asked.body


@pytest.mark.parametrize("fault", ["server_error", "unknown_model", "refusal", "filtered"])
@hasty
async def test_where_only_a_call_with_the_shape_fails_the_shape_is_to_blame(fault: str) -> None:
    async with Loopback(faults=[fault] * 9, only=shaped, shapes="taken") as server:
        assert await found(server) is False
        assert not shaped(server.asked[-1])


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("expired_key", "check the key and what it may use.*; it is read from OPENAI_API_KEY$"),
        ("unknown_model", "check the model's name"),
        ("quota", "top up the account"),
        ("server_error", "try again when the endpoint is well"),
        ("redirect", "give the final address as base URL"),
    ],
)
@hasty
async def test_an_endpoint_that_fails_without_the_shape_too_is_no_answer(fault: str, says: str) -> None:
    async with Loopback(faults=[fault] * 9) as server:
        with pytest.raises(PreflightError, match=says):
            await found(server)


@hasty
async def test_a_passing_fault_and_a_short_rate_limit_are_waited_for() -> None:
    faults: list[Fault | str] = ["reset", Fault("rate_limit", retry_after=0.01), Fault("rate_limit", retry_after=0.01)]
    async with Loopback(faults=faults, shapes="taken") as server:
        assert await found(server) is True


def test_one_that_never_answers_is_given_up() -> None:
    async def given_up() -> None:
        async with Loopback(latency=60) as server:
            model = at(server)
            with pytest.raises(PreflightError, match=r"m at http://127.0.0.1:\d+/v1: no reply within 0.05 s"):
                await takes_shape(model, within=0.05)
            await model.aclose()

    steadily(given_up())


async def test_all_of_a_fleet_must_take_it() -> None:
    async with Loopback(shapes="taken") as one, Loopback(shapes="taken") as two, Loopback() as three:
        env = {"OPENAI_API_KEY": "k"}
        both = reach("openai/m", base_url=[one.base_url, two.base_url], env=env)
        odd = reach("openai/m", base_url=[one.base_url, three.base_url], env=env)
        assert (await takes_shape(both), await takes_shape(odd)) == (True, False)
        assert (one.total, two.total, three.total) == (2, 1, 1)
        await both.aclose()
        await odd.aclose()


async def test_a_model_that_sends_nothing_is_not_asked() -> None:
    model = Scripted([])
    assert await takes_shape(EgressGuard(Single(model), restricted=True)) is True
    assert model.count == 0


async def test_several_are_asked_at_the_same_time_and_named_by_their_seats() -> None:
    async with Loopback(shapes="taken", latency=3600) as one, Loopback(latency=3600) as two:
        models = {"b": at(one), "a": at(two), "c": at(one), "d": Scripted([])}
        waiting = asyncio.create_task(seats_taking_shape(models))
        await until(lambda: (one.waiting, two.waiting) == (2, 1))
        await dropped(waiting)
        await until(lambda: one.waiting == two.waiting == 0)
        one.latency = two.latency = 0.0
        assert await seats_taking_shape(models) == {"b", "c", "d"}
        assert (one.most, two.most) == (2, 1)
        one.key = two.key = "another"
        with pytest.raises(PreflightError) as caught:
            await seats_taking_shape(models)
        for model in models.values():
            await model.aclose()
    assert [line.partition(":")[0] for line in str(caught.value).splitlines()] == ["b", "a", "c"]
