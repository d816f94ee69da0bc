"""`kill -9` at random moments of a run, resumed each time: nothing recorded is lost or paid twice."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anyio
import pytest
from clinic import case_file, lines

from wardround.engine.events import Called, Row, decode
from wardround.engine.models.chat import encode_body
from wardround.engine.models.loopback import Loopback
from wardround.engine.trajectory import Trajectory

KILLS = 25
EPISODES = 200


def command(*more: str) -> list[str]:
    return [sys.executable, "-m", "wardround", *more]


def recorded(store: Path) -> Counter[str]:
    """The bodies of all calls that are in the store, as the server hashes them."""
    found: Counter[str] = Counter()
    connection = sqlite3.connect(store)
    rows: dict[int, list[Row]] = {}
    for episode, seq, digest, body in connection.execute("SELECT episode, seq, hash, body FROM events ORDER BY 1, 2"):
        rows.setdefault(episode, []).append(Row(seq, digest, body))
    connection.close()
    for stored in rows.values():
        events = decode(stored)
        trajectory = Trajectory(events, {})
        for event in events:
            if isinstance(event, Called):
                sent = encode_body("m", trajectory.messages(event), {"temperature": 0.8}, new_name=False)
                found[blake2b(sent, digest_size=16).hexdigest()] += 1
    return found


async def killed(process: "anyio.abc.Process", server: Loopback, after: int, wait: float) -> bool:
    """Kill the process once the server got `after` more requests; False if it ended by itself before."""
    goal = server.total + after
    while server.total < goal:
        if process.returncode is not None:
            return False
        with anyio.move_on_after(0.01):
            await process.wait()
    await anyio.sleep(wait)
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    await process.wait()
    return process.returncode == -signal.SIGKILL


async def finished(store: Path, *more: str) -> dict[str, Any]:
    done = await anyio.run_process(command(*more, "--store", str(store), "--json"), check=False)
    assert done.stdout, done.stderr.decode()
    return dict(json.loads(done.stdout))


@pytest.mark.kill
@pytest.mark.timeout(600)
async def test_killed_25_times_it_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    cases = case_file(tmp_path / "cases.jsonl", EPISODES)
    chance = random.Random(7)
    play = [
        "run",
        "--cases",
        str(cases),
        "--doctor",
        "openai/m",
        "--repeats",
        "1",
        "--concurrency",
        "20",
        "--name",
        "r",
    ]
    async with Loopback(lambda messages, model: lines("workup", messages), latency=0.05) as server:
        play += ["--base-url", server.base_url, "--no-preflight"]
        whole, cut = tmp_path / "whole.db", tmp_path / "cut.db"
        assert (await finished(whole, *play))["endings"] == {"completed": EPISODES}
        assert server.total == 5 * EPISODES
        server.counts.clear()
        begun, kills = server.total, 0
        frozen: list[tuple[Counter[str], Counter[str]]] = []
        arguments = play
        while kills < KILLS:
            process = await anyio.open_process(
                command(*arguments, "--store", str(cut)),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=os.environ,
            )
            assert await killed(process, server, chance.randrange(1, 36), chance.uniform(0, 0.1)), "it ended too soon"
            kills += 1
            kept = recorded(cut)
            frozen.append((kept, Counter({body: server.counts[body] for body in kept})))
            arguments = ["run", "--resume", "r"]
        ended = await finished(cut, *arguments)
        assert ended["endings"] == {"completed": EPISODES}
        for _, counts in frozen:
            assert all(server.counts[body] == count for body, count in counts.items()), "a recorded call was made again"
        assert all(count == 1 for count in recorded(cut).values())
        again = server.total - begun - 5 * EPISODES
        assert 0 <= again <= kills * 20, "only calls in flight at a kill may be made again"
    scores = [await finished(store, "score", "r") for store in (whole, cut)]
    timeless = [
        [s for s in table["scores"] if "second" not in s["name"] and "time" not in s["name"]] for table in scores
    ]
    assert timeless[0] == timeless[1]
    assert (await finished(cut, "replay", "r"))["equal"] == EPISODES
