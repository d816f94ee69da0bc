"""Measures what waiting episodes cost in memory, against a bare pool of workers; each has a process of its own."""

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

import anyio

from benchmarks.figure import Figure
from benchmarks.load import Load
from benchmarks.server import served

TURN = 3100
"""Characters of a question: with the answer a turn has 4 KB."""
COUNTS, FEW = (10_000, 100_000), (1_000, 20_000)
FLAT = 50
"""The bytes that a further waiting episode may cost.

Peaks differ by 2 MB from one run to the next, and a job that anything keeps takes at least 200 bytes.
"""
ROOT = Path(__file__).resolve().parent.parent


def memory(quick: bool) -> Sequence[Figure]:
    """Compare the engine's peaks with the bare pool's, and those of many episodes with those of few."""
    few, many = FEW if quick else COUNTS
    with served(0.0) as server:
        peak = {
            (client, count): grown(client, count, server.url)
            for client in ("bare", "played", "planned")
            for count in (few, many)
        }
    figures = [
        Figure(
            f"memory, {count:,} queued",
            peak["played", count] / peak["bare", count],
            "of the bare pool",
            at_most=2.0,
            note=f"bare pool {peak['bare', count]:.1f} MB, engine {peak['played', count]:.1f} MB above their imports",
        )
        for count in (few, many)
    ]
    for client, what in (("played", "played"), ("planned", "planned by wardround.run")):
        less, more = peak[client, few], peak[client, many]
        each = (more - less) * 2**20 / (many - few)
        note = f"{less:.1f} MB with {few:,}, {more:.1f} MB with {many:,}"
        name = f"memory, each episode more that is {what}"
        figures.append(Figure(name, each, "bytes", at_most=FLAT, note=note))
    return figures


def grown(client: str, episodes: int, url: str) -> float:
    """Peak resident memory of a fresh process less that after its imports, in MB."""
    command = [sys.executable, "-m", "benchmarks.memory", client, str(episodes), url]
    # The last line: what the engine logs comes before.
    output = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return float(json.loads(output.splitlines()[-1])["grown"])


def resident(key: str) -> float:
    """Return this process's `VmRSS` (memory now) or `VmHWM` (the most so far) in MB; Linux only.

    The `ru_maxrss` of getrusage would be wrong, because a child inherits it from its parent.
    """
    for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


def main() -> None:
    """Run the measured process: `python -m benchmarks.memory CLIENT EPISODES URL`."""
    parser = argparse.ArgumentParser()
    parser.add_argument("client", choices=["bare", "played", "planned"])
    parser.add_argument("episodes", type=int)
    parser.add_argument("url")
    options = parser.parse_args()
    load = Load(episodes=options.episodes, latency=0.0, turn_chars=TURN)
    # Loaded by name: the bare pool's process must not hold the engine too.
    client = getattr(import_module(f"benchmarks.{options.client}"), options.client)
    before = resident("VmRSS")
    anyio.run(client, load, options.url)
    print(json.dumps({"grown": resident("VmHWM") - before}))


if __name__ == "__main__":
    main()
