"""Measures what a user's own agent pays: for its openai client and for a tool over MCP, each against a bare one."""

import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from statistics import median

import anyio
import httpx
import mcp
import openai
import uvicorn
from openai.types.chat import ChatCompletionMessageParam

from benchmarks.face import LINES
from benchmarks.figure import Figure, of_runs, table
from benchmarks.load import BRIEF, Load, Measured, measuring, prose
from benchmarks.played import played
from benchmarks.server import served
from wardround.engine.records import Action, Json, View, json_object
from wardround.engine.seat import Seat
from wardround.faces.driven_run import DrivenRun
from wardround.faces.mcp_server import mcp_server
from wardround.faces.open_episodes import ClientTurn, OpenEpisodes
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore

CLIENT = Load(episodes=400, concurrency=50, latency=0.0)
WIDE = Load(episodes=2000, concurrency=1000, latency=1.0)


class ClientAgent:
    """An agent as users write one: it sends the conversation through an openai client at each turn."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._client = seat.openai()

    async def act(self, view: View) -> Action:
        """Make one request and say its reply."""
        said = [("assistant" if one.seat == view.seat else "user", one.text) for one in view.heard]
        return Action("say", await _completion(self._client, said))


async def _completion(client: openai.AsyncOpenAI, said: Sequence[tuple[str, str]]) -> str:
    messages: list[ChatCompletionMessageParam] = [{"role": "system", "content": BRIEF}]
    for role, text in said:
        messages.append(
            {"role": "assistant", "content": text} if role == "assistant" else {"role": "user", "content": text}
        )
    reply = await client.chat.completions.create(model="bench", messages=messages, temperature=0.8)
    return reply.choices[0].message.content or ""


async def _bare_client(load: Load, base_url: str) -> Measured:
    """Send the same requests through one openai client, without an engine."""
    left = iter(range(load.episodes))
    network = httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=60)
    async with openai.AsyncOpenAI(api_key="none", base_url=base_url, max_retries=0, http_client=network) as client:

        async def work() -> None:
            for _ in left:
                said: list[tuple[str, str]] = []
                for _ in range(load.calls):
                    said.append(("user", load.question))
                    said.append(("assistant", await _completion(client, said)))

        with measuring() as measured:
            async with anyio.create_task_group() as group:
                for _ in range(load.concurrency):
                    group.start_soon(work)
    return measured


def own_agents(quick: bool) -> Sequence[Figure]:
    """Measure the CPU of a call through `seat.openai()`, the same with 1,000 agents at once, and a call over MCP."""
    small, rounds = (Load(episodes=100, concurrency=20, latency=0.0), 2) if quick else (CLIENT, 5)
    many = Load(episodes=300, concurrency=300, latency=0.5) if quick else WIDE
    with served(0.0) as server:
        pairs = [
            (anyio.run(played, small, server.url, ClientAgent), anyio.run(_bare_client, small, server.url))
            for _ in range(rounds)
        ]
    ours, theirs = ([pair[place].cpu / small.total * 1000 for pair in pairs] for place in (0, 1))
    with served(many.latency) as server:
        asked = anyio.run(played, many, server.url)
        wide, bare = anyio.run(played, many, server.url, ClientAgent), anyio.run(_bare_client, many, server.url)
    return (
        of_runs(
            "own agent by seat.openai(), CPU a call to a bare openai client",
            [one / other for one, other in zip(ours, theirs, strict=True)],
            at_most=1.5,
            note=f"{median(ours):.2f} ms, bare client {median(theirs):.2f} ms",
        ),
        Figure(f"own agents by seat.model, {many}", many.limit / asked.wall, "of the latency limit", at_least=0.85),
        Figure(
            f"own agents by seat.openai(), {many}",
            many.limit / wide.wall,
            "of the latency limit",
            note=f"bare openai client {many.limit / bare.wall:.2f}: its CPU is the limit",
        ),
        *anyio.run(_tools, 10 if quick else 60),
    )


async def _tools(episodes: int) -> Sequence[Figure]:
    """Compare a call over MCP that acts in an episode with a tool of the same server that returns as much text."""
    driven = await DrivenRun.begin(RunSettings(preflight=False, seed=1, repeats=10), MemoryStore())
    acted, bare = list[float](), list[float]()
    async with _mcp_client(driven) as client:
        for _ in range(episodes):
            started = await client.call_tool("start", {})
            words = {"episode": started.structured_content["episode"]}
            for line in LINES[:-1]:  # the last ends the episode, and its scores are another figure
                for tool, times in (("reply", acted), ("bare", bare)):
                    began = time.perf_counter()
                    result = await client.call_tool(tool, {**words, "text": line})
                    times.append(time.perf_counter() - began)
                    if result.is_error:
                        raise RuntimeError(f"the tool {tool} failed: {result.content}")
            await client.call_tool("leave", words)
    await driven.aclose()
    name = "a call through MCP HTTP, time to a bare tool of the server"
    note = f"{median(acted) * 1000:.2f} ms, bare tool {median(bare) * 1000:.2f} ms"
    return (Figure(name, median(acted) / median(bare), at_most=1.5, note=note),)


@asynccontextmanager
async def _mcp_client(driven: DrivenRun) -> AsyncIterator[mcp.Client]:
    """Yield a client that reaches the served run over HTTP; the server has another tool, `bare`, that does nothing."""
    server = mcp_server(OpenEpisodes(driven))
    turn = json_object(
        ClientTurn("case-01@1", "case-01", driven.seat, prose(600), ("reply", "ask", "order", "conclude"))
    )

    @server.tool()
    async def bare(episode: str, text: str) -> dict[str, Json]:
        """Return a turn that was made beforehand."""
        return turn

    app = server.streamable_http_app(streamable_http_path="/", json_response=True)
    web = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error"))
    async with anyio.create_task_group() as group:
        group.start_soon(web.serve)
        while not web.started:  # noqa: ASYNC110 - uvicorn tells nobody
            await anyio.sleep(0.02)
        port = web.servers[0].sockets[0].getsockname()[1]
        async with mcp.Client(f"http://127.0.0.1:{port}/") as client:
            yield client
        web.should_exit = True


if __name__ == "__main__":
    print(table(own_agents(False)))
