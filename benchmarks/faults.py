"""Measures what a usual share of faults costs: how many episodes still end right, and how much longer the run takes."""

from collections.abc import Mapping, Sequence

import anyio

from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured
from benchmarks.played import played_in_a_file
from benchmarks.server import served

RATES = {"429": 0.02, "500": 0.01, "reset": 0.005}
RETRY_AFTER = 0.05
"""Seconds that every 429 names in its Retry-After header."""
LOAD = Load()


def faults(quick: bool) -> Sequence[Figure]:
    """Play runs with and without faults by turns, each with the default settings for retries."""
    load, turns = (Load(episodes=600), 1) if quick else (LOAD, 3)
    right, times = 0.0, list[float]()
    sent: Mapping[str, int] = {}
    for turn in range(turns):
        smooth, _ = _played(load, {}, turn)
        rough, sent = _played(load, RATES, turn)
        right += rough.more["right"]
        times.append(rough.wall / smooth.wall)
    bad = ", ".join(f"{count} {kind}" for kind, count in sorted(sent.items()) if kind != "200")
    name = "2 % 429, 1 % 500, 0.5 % resets"
    return (
        Figure(f"{name}: ended right", right / (turns * load.episodes), "of episodes", at_least=1.0, note=bad),
        of_runs(f"{name}: wall", times, unit="of the run without", at_most=1.10),
    )


def _played(load: Load, rates: Mapping[str, float], seed: int) -> tuple[Measured, Mapping[str, int]]:
    with served(load.latency, rates, retry_after=RETRY_AFTER, seed=seed) as server:
        measured = anyio.run(played_in_a_file, load, server.url)
    return measured, server.sent
