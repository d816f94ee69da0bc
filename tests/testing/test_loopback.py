"""The loopback server: what it speaks, counts and spoils."""

import asyncio
import os
import sys
from collections.abc import Sequence

import aiohttp
import msgspec
import pytest
from until import dropped, until

from wardround.engine.errors import UsageError
from wardround.engine.records import Json, Message
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault, Rates, Schedule

BODY = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


async def post(url: str, body: Json = None, **headers: str) -> tuple[int, Json]:
    async with aiohttp.ClientSession() as session, session.post(url, json=body or BODY, headers=headers) as reply:
        return reply.status, await reply.json()


async def get(url: str) -> Json:
    async with aiohttp.ClientSession() as session, session.get(url) as reply:
        return await reply.json()


async def test_the_four_paths() -> None:
    def reply(messages: Sequence[Message], model: str) -> str:
        return f"{model}: {messages[-1].content}"

    async with Loopback(reply, models=["m", "dep"]) as server:
        _, chat = await post(f"{server.base_url}/chat/completions")
        assert chat["choices"][0]["message"]["content"] == "m: hello"
        azure = f"{server.url}/openai/deployments/dep/chat/completions?api-version=1"
        _, chat = await post(azure)
        assert chat["choices"][0]["message"]["content"] == "dep: hello"
        _, said = await post(f"{server.base_url}/responses", {"model": "m", "input": "hi"})
        assert said["output"][-1]["content"][0]["text"] == "m: hi"
        assert [model["id"] for model in (await get(f"{server.base_url}/models"))["data"]] == ["m", "dep"]
        assert (await post(f"{server.url}/chat/completions"))[0] == 404
        assert (await post(f"{server.base_url}/chat/completions", {**BODY, "model": "x"}))[0] == 404
        assert (await post(f"{server.base_url}/chat/completions", [1]))[0] == 400


async def test_keys_are_checked_where_one_is_set() -> None:
    async with Loopback(key="k") as server:
        url = f"{server.base_url}/chat/completions"
        assert (await post(url))[0] == 401
        assert (await post(url, Authorization="Bearer k"))[0] == 200
        assert (await post(url, **{"api-key": "k"}))[0] == 200


async def test_calls_are_counted_by_their_body() -> None:
    async with Loopback() as server:
        for text in ("a", "b", "a"):
            await post(f"{server.base_url}/chat/completions", {**BODY, "messages": [{"role": "user", "content": text}]})
        assert server.total == 3
        assert sorted(server.counts.values()) == [1, 2]
        told = await get(f"{server.url}/counts")
        assert (told["total"], sorted(told["counts"].values())) == (3, [1, 2])


async def test_latency_is_kept_and_does_not_add_up() -> None:
    async with Loopback(latency=0.2) as server:
        loop = asyncio.get_running_loop()
        start = loop.time()
        await post(f"{server.base_url}/chat/completions")
        assert loop.time() - start >= 0.2
    async with Loopback(latency=3600) as server:
        calls = [asyncio.create_task(post(f"{server.base_url}/chat/completions")) for _ in range(20)]
        await until(lambda: server.waiting == 20)
        assert server.most == 20
        await dropped(*calls)
        await until(lambda: server.waiting == 0)


async def test_requests_sent_together_on_one_connection_are_answered_in_order() -> None:
    async with Loopback() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        sent = b""
        for text in ("one", "two"):
            body = msgspec.json.encode({"model": "m", "messages": [{"role": "user", "content": text}]})
            sent += b"POST /v1/chat/completions HTTP/1.1\r\ncontent-LENGTH: %d\r\n\r\n%s" % (len(body), body)
        for byte in (sent[:10], sent[10:200], sent[200:]):
            writer.write(byte)
            await writer.drain()
            await asyncio.sleep(0.01)
        texts = []
        for _ in range(2):
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            answer = msgspec.json.decode(await reader.readexactly(length))
            texts.append(answer["choices"][0]["message"]["content"])
        writer.close()
        await writer.wait_closed()
    assert texts == ["one", "two"]


async def test_a_client_that_goes_away_leaves_nothing_behind() -> None:
    async with Loopback(latency=3600) as server:
        call = asyncio.create_task(post(f"{server.base_url}/chat/completions"))
        await until(lambda: server.waiting == 1)
        await dropped(call)
        await until(lambda: (server.waiting, len(server.connections)) == (0, 0))


def test_faults_by_schedule_and_by_rate() -> None:
    schedule = Schedule(["reset", None, Fault("stall", seconds=2)])
    assert [schedule.pick(n, "x", 0) for n in range(4)] == [Fault("reset"), None, Fault("stall", seconds=2), None]
    rates = Rates({"reset": 0.2, "server_error": 0.1}, seed=5)
    drawn = [rates.pick(0, f"body {n}", 0) for n in range(4000)]
    assert drawn == [rates.pick(n, f"body {n}", 0) for n in range(4000)]
    kinds = [fault.kind for fault in drawn if fault]
    assert 0.17 < kinds.count("reset") / 4000 < 0.23
    assert 0.08 < kinds.count("server_error") / 4000 < 0.12
    assert drawn != [Rates({"reset": 0.2, "server_error": 0.1}, seed=6).pick(0, f"body {n}", 0) for n in range(4000)]
    once = Rates({"reset": 1.0}, first=1)
    assert [once.pick(n, "x", n) for n in range(2)] == [Fault("reset"), None]


async def test_faults_can_be_kept_to_some_requests() -> None:
    async with Loopback(faults=Rates({"server_error": 1.0}), only=lambda asked: b"spoil me" in asked.body) as server:
        url = f"{server.base_url}/chat/completions"
        assert (await post(url))[0] == 200
        assert (await post(url, {"model": "m", "messages": [{"role": "user", "content": "spoil me"}]}))[0] == 500
        assert server.total == 2


def test_unknown_faults_and_rates_are_refused() -> None:
    with pytest.raises(UsageError, match="no fault 'flood'"):
        Fault("flood")
    with pytest.raises(UsageError, match="between 0 and 1"):
        Rates({"reset": 0.7, "stall": 0.7})


async def test_it_runs_alone() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "wardround.testing.loopback", "--latency", "0.05", "--reply", "fixed",
        stdout=asyncio.subprocess.PIPE, env={**os.environ, "PYTHONWARNINGS": "error"},
    )  # fmt: skip
    assert process.stdout is not None
    try:
        base_url = (await process.stdout.readline()).decode().strip()
        _, chat = await post(f"{base_url}/chat/completions")
        assert chat["choices"][0]["message"]["content"] == "fixed"
    finally:
        process.terminate()
        await process.wait()


async def test_alone_on_a_port_in_use_it_says_so() -> None:
    async with Loopback() as server:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "wardround.testing.loopback", "--port", str(server.port),
            stderr=asyncio.subprocess.PIPE,
        )  # fmt: skip
        _, told = await process.communicate()
        assert process.returncode == 2
        assert b"Traceback" not in told
        assert f"port {server.port} cannot be listened to".encode() in told
