"""The measure of comparison for other benchmarks: the same calls in a bare aiohttp loop that stores nothing."""

import aiohttp
import anyio
import msgspec

from benchmarks.load import BRIEF, Load, Measured, measuring


async def bare(load: Load, base_url: str) -> Measured:
    """Make the calls of a load: workers share a counter of episodes, and each keeps a growing conversation."""
    left = iter(range(load.episodes))
    asked = load.question
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def work() -> None:
            for _ in left:
                messages = [{"role": "system", "content": BRIEF}]
                for _ in range(load.calls):
                    messages.append({"role": "user", "content": asked})
                    body = msgspec.json.encode({"model": "bench", "messages": messages, "temperature": 0.8})
                    async with session.post(
                        f"{base_url}/chat/completions", data=body, headers={"Content-Type": "application/json"}
                    ) as response:
                        reply = msgspec.json.decode(await response.read())
                    messages.append({"role": "assistant", "content": reply["choices"][0]["message"]["content"]})

        with measuring() as measured:
            async with anyio.create_task_group() as group:
                for _ in range(load.concurrency):
                    group.start_soon(work)
    return measured
