"""Checks that the same cases, doctor and seed give the same score JSON through every face that is installed.

`python -m scripts.compare_faces [--limit N] [--scenario NAME]` plays bundled cases through the command line, Python, a
process, a sealed process, Gymnasium, chat over HTTP, MCP, verifiers and OpenEnv, and prints the digest of each score
JSON. Faces whose libraries exclude each other are compared in environments of their own (make faces).
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from hashlib import blake2b
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio
import httpx

from scripts.line_doctor import LINES, line
from wardround import run
from wardround.agents.process import sealing_obstacle
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.faces.driven_run import DrivenRun
from wardround.faces.open_episodes import OpenEpisodes
from wardround.runs.settings import RunSettings
from wardround.runs.stored_run import open_store
from wardround.testing.loopback import Loopback

SEED = 11
TIMED = ("episode_seconds", "model_seconds")
"""Scores that measure time, so that any two runs differ in them."""
Face = Callable[[RunSettings, Path], Awaitable[str]]


async def by_command_line(settings: RunSettings, store: Path) -> str:
    """Play through `wardround run` in a process of its own."""
    words = ["run", "--cases", str(settings.cases), "--scenario", settings.scenario, "--seed", str(SEED)]
    more = [
        "--limit",
        str(settings.limit),
        "--doctor",
        "scripts.line_doctor:Lines",
        "--name",
        "r",
        "--store",
        str(store),
    ]
    await anyio.run_process([sys.executable, "-m", "wardround", *words, *more])
    return "r"


async def by_python(settings: RunSettings, store: Path, doctor: str = "scripts.line_doctor:Lines") -> str:
    """Play through `wardround.run`."""
    options: dict[str, Any] = {"seed": SEED, "limit": settings.limit, "doctor": doctor}
    return (await run(settings.cases, settings.scenario, store=str(store), **options)).name


def _gymnasium(settings: RunSettings, store: Path) -> str:
    env = import_module("wardround.faces.gymnasium_env").WardroundEnv(
        settings.cases, settings.scenario, seed=SEED, store=str(store), settings={"limit": settings.limit}
    )
    for _ in range(settings.limit or 0):
        env.reset()
        over = cut = False
        taken = 0
        while not (over or cut):
            *_, over, cut, _ = env.step(line(taken))
            taken += 1
    name: str = env.run.run.name
    env.close()
    return name


async def by_gymnasium(settings: RunSettings, store: Path) -> str:
    """Play through the loop of Gymnasium."""
    return await anyio.to_thread.run_sync(_gymnasium, settings, store)


async def _driven(settings: RunSettings, store: Path, play: Callable[[OpenEpisodes, int], Awaitable[None]]) -> str:
    opened = open_store(store)
    driven = await DrivenRun.begin(settings, opened)
    await play(OpenEpisodes(driven), settings.limit or 0)
    await driven.aclose()
    await opened.aclose()
    return driven.run.name


async def by_chat(settings: RunSettings, store: Path) -> str:
    """Play through an openai client over HTTP."""
    import openai  # noqa: PLC0415  # it takes a second, and every process of the suite imports this script

    async def play(episodes: OpenEpisodes, count: int) -> None:
        app = import_module("wardround.faces.server").serve_app(episodes)
        http = httpx.AsyncClient(transport=httpx.ASGITransport(app=app))
        client = openai.AsyncOpenAI(api_key="x", base_url="http://localhost/v1", http_client=http)
        for number in range(count):
            messages: list[Any] = []
            for taken in range(len(LINES) + 1):
                done = await client.chat.completions.create(model="wardround", messages=messages, user=str(number))
                if (done.model_extra or {})["wardround"]["done"]:
                    break
                messages.append({"role": "assistant", "content": done.choices[0].message.content})
                messages.append({"role": "user", "content": line(taken)})

    return await _driven(settings, store, play)


async def by_mcp(settings: RunSettings, store: Path) -> str:
    """Play through an MCP client."""

    async def play(episodes: OpenEpisodes, count: int) -> None:
        server = import_module("wardround.faces.mcp_server").mcp_server(episodes)
        async with import_module("mcp").Client(server) as client:
            for _ in range(count):
                turn = (await client.call_tool("start", {})).structured_content
                taken = 0
                while not turn["done"]:
                    asked = {"episode": turn["episode"], "text": line(taken)}
                    turn = (await client.call_tool("reply", asked)).structured_content
                    taken += 1

    return await _driven(settings, store, play)


async def by_verifiers(settings: RunSettings, store: Path) -> str:
    """Play each case as a rollout of verifiers; a local endpoint says the lines."""
    vf, face = import_module("verifiers.v1"), import_module("wardround.faces.verifiers_env")
    fields = {"id": "wardround-encounters", "cases": settings.cases, "scenario": settings.scenario, "seed": SEED}
    agent = {"harness": {"id": "wardround-encounters"}, "runtime": {"type": "subprocess"}}
    taskset = {**fields, "limit": settings.limit, "store": str(store)}
    env = face.EncounterEnv(face.EncounterEnvConfig(taskset=taskset, doctor=agent))
    os.environ.setdefault("WARDROUND_COMPARED", "none")
    async with Loopback(lambda messages, model: line(sum(one.role == "assistant" for one in messages))) as server:
        client = vf.EvalClientConfig(base_url=server.base_url, api_key_var="WARDROUND_COMPARED")
        async with env.serving():
            for task in env.taskset:
                await env.run_episode(task, vf.ModelContext(model="lines", client=client))
    name: str = env.driven.run.name
    await env.close()
    return name


async def by_openenv(settings: RunSettings, store: Path) -> str:
    """Step an OpenEnv environment as its server does."""
    face = import_module("wardround.faces.openenv_server")
    more = {"seed": SEED, "limit": settings.limit}
    env = face.environment_maker(settings.cases, settings.scenario, store=str(store), **more)()
    for _ in range(settings.limit or 0):
        seen, taken = await env.reset_async(), 0
        while not seen.done:
            seen = await env.step_async(face.DoctorAction(text=line(taken)))
            taken += 1
    name: str = env.driven.run.name
    await env.driven.aclose()
    return name


PROCESS = f"exec:{sys.executable} -m scripts.line_doctor"
FACES: Mapping[str, tuple[Face, str]] = {
    "command line": (by_command_line, ""),
    "python": (by_python, ""),
    "process": (partial(by_python, doctor=PROCESS), ""),
    "sealed process": (partial(by_python, doctor=PROCESS.replace("exec:", "sealed:")), "sealed"),
    "gymnasium": (by_gymnasium, "gymnasium"),
    "chat": (by_chat, "starlette"),
    "mcp": (by_mcp, "mcp"),
    "verifiers": (by_verifiers, "verifiers"),
    "openenv": (by_openenv, "openenv"),
}
"""Each face with the library that it needs."""


def score_json(name: str, store: Path) -> dict[str, Any]:
    """Return what `wardround score RUN --json` prints, without the run's name and the times."""
    words = [sys.executable, "-m", "wardround", "score", name, "--store", str(store), "--json"]
    said: dict[str, Any] = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    del said["run"]
    said["scores"] = [score for score in said["scores"] if score["name"] not in TIMED]
    return said


async def compare(scenario: str, limit: int) -> dict[str, str]:
    """Return the digest of the score JSON by face, or "-" and the reason for a face that cannot run here."""
    settings = RunSettings(cases="bundled", scenario=scenario, seed=SEED, limit=limit, preflight=False)
    digests: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, (face, needs) in FACES.items():
            missing = (
                sealing_obstacle() if needs == "sealed" else "" if not needs or find_spec(needs) else f"no {needs}"
            )
            if missing:
                digests[name] = f"- {missing}"
                continue
            store = Path(folder) / f"{name.replace(' ', '-')}.db"
            try:
                played = await face(settings, store)
            except UsageError as error:  # another version of its library stands here
                digests[name] = f"- {str(error)[:80]}"
                continue
            said = json.dumps(await anyio.to_thread.run_sync(score_json, played, store), sort_keys=True)
            digests[name] = blake2b(said.encode(), digest_size=8).hexdigest()
    return digests


def main() -> int:
    """Print the digests; the exit code is 1 if two differ."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenario", default="workup")
    parser.add_argument("--limit", type=int, default=3)
    asked = parser.parse_args()
    configure("error")
    os.environ.setdefault("PYTHONPATH", os.getcwd())
    digests = anyio.run(compare, asked.scenario, asked.limit)
    for name, digest in digests.items():
        print(f"{name:16} {digest}")
    return int(len({digest for digest in digests.values() if not digest.startswith("-")}) > 1)


if __name__ == "__main__":
    sys.exit(main())
