"""The clients of the openai package that a seat gives: recorded, streamed, with tools, rightly blamed, replayed."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from examples import first_ones

from wardround.api import run
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault

if TYPE_CHECKING:  # loaded by the seat's client; every worker of the suite reads this file
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputParam

TOOL: Any = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a word up.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}
CALL = {"id": "call_1", "type": "function", "function": {"name": "look_up", "arguments": '{"word": "fever"}'}}


def answering(messages: Sequence[Message], model: str) -> str | Mapping[str, Json]:
    """A call of the tool first, then the diagnosis with what the tool said."""
    last = messages[-1]
    if last.role == "tool":
        return {"content": f"Diagnosis: {last.content}", "reasoning_content": "the tool knows"}
    return {"content": None, "tool_calls": [CALL], "finish_reason": "tool_calls"}


class WithTools:
    """Written for the openai package, with a loop over the tools."""

    stream = False

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai()

    async def act(self, view: View) -> Action:
        messages: list[ChatCompletionMessageParam] = [{"role": "user", "content": view.brief[:200]}]
        while True:
            reply = await self.client.chat.completions.create(
                model="gpt-4o", messages=messages, tools=[TOOL], temperature=0.3
            )
            said = reply.choices[0].message
            assert reply.usage is not None
            if not said.tool_calls:
                return Action("reply", said.content or "", memo={"tokens": reply.usage.total_tokens})
            messages.append(said.model_dump(exclude_none=True))  # type: ignore[arg-type]
            for call in said.tool_calls:
                assert call.type == "function"
                word = json.loads(call.function.arguments)["word"]
                messages.append({"role": "tool", "tool_call_id": call.id, "content": f"{word} means gout"})


class Streaming:
    """Reads the reply as a stream, with tools."""

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai()

    async def act(self, view: View) -> Action:
        messages: list[Any] = [{"role": "user", "content": view.brief[:200]}]
        chunks = await self.client.chat.completions.create(
            model="m", messages=messages, tools=[TOOL], stream=True, stream_options={"include_usage": True}
        )
        calls: list[Any] = []
        tokens = 0
        async for chunk in chunks:
            tokens += chunk.usage.total_tokens if chunk.usage else 0
            for choice in chunk.choices:
                calls += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
        assert tokens
        messages += [{"role": "assistant", "content": None, "tool_calls": calls}]
        messages += [{"role": "tool", "tool_call_id": calls[0]["id"], "content": "fever means gout"}]
        pieces = await self.client.chat.completions.create(model="m", messages=messages, stream=True)
        text = "".join([piece.choices[0].delta.content or "" async for piece in pieces])
        return Action("reply", text, memo={"tokens": tokens})


class Threaded:
    """Written for the synchronous client."""

    def __init__(self, seat: Seat) -> None:
        self.seat = seat

    def work(self, brief: str) -> str:
        client = self.seat.openai(sync=True)
        first = client.chat.completions.create(model="m", messages=[{"role": "user", "content": brief}], tools=[TOOL])
        calls = first.choices[0].message.tool_calls
        assert calls
        messages: list[Any] = [
            {"role": "user", "content": brief},
            {"role": "assistant", "content": None, "tool_calls": [call.model_dump() for call in calls]},
            {"role": "tool", "tool_call_id": calls[0].id, "content": "fever means gout"},
        ]
        reply = client.chat.completions.create(model="m", messages=messages)
        return reply.choices[0].message.content or ""

    async def act(self, view: View) -> Action:
        return Action("reply", await asyncio.to_thread(self.work, view.brief[:200]))


class Responding:
    """Written for the Responses API, streamed."""

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai()

    async def act(self, view: View) -> Action:
        tool: Any = {"type": "function", **TOOL["function"], "strict": False}
        asked: ResponseInputParam = [{"role": "user", "content": view.brief[:200]}]
        first = await self.client.responses.create(model="m", instructions="Be brief.", input=asked, tools=[tool])
        calls = [item for item in first.output if item.type == "function_call"]
        asked += [call.model_dump() for call in calls]  # type: ignore[misc]
        asked += [{"type": "function_call_output", "call_id": calls[0].call_id, "output": "fever means gout"}]
        async with self.client.responses.stream(
            model="m", instructions="Be brief.", input=asked, tools=[tool]
        ) as stream:
            last = await stream.get_final_response()
        return Action("reply", last.output_text)


class Blocking:
    """Uses the synchronous client in the event loop."""

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai(sync=True)

    async def act(self, view: View) -> Action:
        reply = self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        return Action("reply", reply.choices[0].message.content or "")


class Wrapping:
    """Raises an error of its own from that of the client, as frameworks do."""

    def __init__(self, seat: Seat) -> None:
        self.client = seat.openai()

    async def act(self, view: View) -> Action:
        import openai

        try:
            await self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
        except openai.APIError as error:
            raise RuntimeError("the framework failed") from error
        return Action("reply", "Diagnosis: none")


async def played(agent: Callable[..., Any], server: Loopback, store: Path, **more: Any) -> Run:
    doctor = {"base_url": server.base_url, "model": "openai/m", **more}
    from wardround.api import split_agents

    specs, _ = split_agents({"doctor": agent})
    return await run(
        limit=1, repeats=1, seats={"doctor": {**specs["doctor"], **doctor}}, store=store, preflight=False, name="r"
    )


@pytest.mark.parametrize("agent", first_ones([WithTools, Streaming, Threaded, Responding], 3))
async def test_an_agent_of_the_openai_package_is_recorded_and_replays_equal(
    agent: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    async with Loopback(answering) as server:
        played_run = await played(agent, server, tmp_path / "runs.db", max_tokens=99)
        bodies = [request.json() for request in server.asked]
    [row] = await played_run.episodes()
    trajectory = await played_run.trajectory(row.id)
    assert trajectory.ending is not None
    assert "fever means gout" in str(trajectory.ending.facts["answer"])
    calls = list(trajectory.called("doctor"))
    assert len(calls) == len(bodies) == 2
    assert calls[0].reply is not None
    assert calls[0].reply.more["tool_calls"] == [CALL]
    assert (calls[1].since, calls[1].echo, len(calls[1].new)) == (calls[0].seq, True, 1)
    assert [message["role"] for message in bodies[1]["messages"]][-2:] == ["assistant", "tool"]
    assert bodies[1]["messages"][-2]["tool_calls"] == [CALL]
    assert all(body["max_tokens"] == 99 for body in bodies)
    assert bodies[0]["tools"][0]["function"]["name"] == "look_up"
    outcomes = [one async for one in replay_run(played_run)]
    assert [(one.actions > 0, one.error) for one in outcomes] == [(True, "")]


@pytest.mark.parametrize(
    ("fault", "cause", "reason"),
    [
        ("context_overflow", "provider", "context_overflow"),
        ("filtered", "provider", "refused"),
        ("unknown_model", "", ""),
    ],
)
async def test_a_failure_of_the_model_is_not_blamed_on_the_agent(
    fault: str, cause: str, reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    async with Loopback(answering, faults=[Fault(fault)] * 9) as server:
        played_run = await played(Wrapping, server, tmp_path / "runs.db")
    [row] = await played_run.episodes()
    assert (row.cause or "", row.reason) == (cause, reason) if cause else row.cause != "doctor"


async def test_a_sync_client_in_the_loop_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    async with Loopback(answering) as server:
        played_run = await played(Blocking, server, tmp_path / "runs.db")
    [row] = await played_run.episodes()
    trajectory = await played_run.trajectory(row.id)
    assert row.cause == "doctor"
    assert trajectory.ending is not None


@pytest.mark.long
async def test_a_budget_stops_an_agent_of_the_openai_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    async with Loopback(answering) as server:
        seats = {"doctor": {"spec": "test_openai_client:WithTools", "model": "openai/m", "base_url": server.base_url}}
        played_run = await run(
            limit=3,
            repeats=1,
            seats=seats,
            store=tmp_path / "r.db",
            preflight=False,
            budget=["doctor=3calls"],
            concurrency=1,
        )
        assert server.total == 3
    rows = await played_run.episodes()
    assert [row.cause for row in rows] == ["completed", None, None]


class Impatient:
    """Does not wait long for its model, in three ways, and goes on without it."""

    def __init__(self, seat: Seat) -> None:
        self.client, self.model = seat.openai(), seat.model

    async def act(self, view: View) -> Action:
        assert self.model is not None
        asked = [Message("user", view.brief[:50])]
        with suppress(TimeoutError):
            await asyncio.wait_for(self.model.complete(asked, purpose="first"), 0.2)
        with suppress(TimeoutError):
            async with asyncio.timeout(0.2):
                await self.model.complete(asked, purpose="second")
        call = self.client.chat.completions.create(model="m", messages=[{"role": "user", "content": "third"}])
        task = asyncio.create_task(call)
        await asyncio.sleep(0.2)
        task.cancel()
        return Action("reply", f"Diagnosis: gout, {len(await asyncio.gather(task, return_exceptions=True))}")


async def test_calls_that_an_agent_gives_up_are_recorded_and_given_up_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    async with Loopback(answering, latency=30) as server:
        played_run = await played(Impatient, server, tmp_path / "runs.db")
    [row] = await played_run.episodes()
    assert row.cause == "completed"
    calls = list((await played_run.trajectory(row.id)).called("doctor"))
    assert [call.error[0] for call in calls if call.error] == ["cancelled"] * 3
    assert [one.error async for one in replay_run(played_run)] == [""]


def test_a_seat_without_a_model_says_how_to_name_one() -> None:
    from toy import NO_PROMPTS

    from wardround.engine.errors import UsageError

    with pytest.raises(UsageError, match="--caller-model"):
        Seat("caller", "c", 1, NO_PROMPTS).openai()
