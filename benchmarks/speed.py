"""Measures how near the engine comes to the limit that latency sets, and what a call costs against a bare loop."""

from collections.abc import Sequence
from statistics import median

import anyio

from benchmarks.bare import bare
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured
from benchmarks.played import played
from benchmarks.server import served

NARROW, WIDE = Load(), Load(episodes=5000, concurrency=1000, latency=1.0)
ZERO = Load(latency=0.0)
SHORT = Load(episodes=600)
"""The load of `--quick`; it is so short that the first and the last wave of calls weigh much."""


def narrow(quick: bool) -> Sequence[Figure]:
    """Measure 200 at once, in several turns: on a shared machine the CPU of one turn varies by a third."""
    load, turns = (SHORT, 2) if quick else (NARROW, 5)
    return _figures(load, alternated(load, turns), 0.90)


def wide(quick: bool) -> Sequence[Figure]:
    """Measure 1,000 at once, in two turns, since each takes a minute."""
    load, turns = (Load(episodes=1500, concurrency=500, latency=0.5), 1) if quick else (WIDE, 2)
    return _figures(load, alternated(load, turns), 0.85)


def zero(quick: bool) -> Sequence[Figure]:
    """Measure nothing but processor time: the server answers at once."""
    load, turns = (Load(episodes=600, latency=0.0), 2) if quick else (ZERO, 5)
    return (_cpu(load, alternated(load, turns), 1.3),)


def alternated(load: Load, turns: int) -> list[tuple[Measured, Measured]]:
    """Return (bare, engine) for each turn; they take turns to begin, so that a drift of the machine favours neither."""
    pairs = []
    with served(load.latency) as server:
        for turn in range(turns):
            clients = [bare, played] if turn % 2 == 0 else [played, bare]
            measured = {client: anyio.run(client, load, server.url) for client in clients}
            pairs.append((measured[bare], measured[played]))
    return pairs


def _figures(load: Load, turns: Sequence[tuple[Measured, Measured]], aim: float) -> Sequence[Figure]:
    walls = [load.limit / engine.wall for _, engine in turns]
    beside = median(load.limit / loop.wall for loop, _ in turns)
    name = _name(load)
    return (
        of_runs(name, walls, unit="of the latency limit", at_least=aim, note=f"bare loop {beside:.3f}"),
        _cpu(load, turns, 1.15 if load == NARROW else 1.3),
    )


def _cpu(load: Load, turns: Sequence[tuple[Measured, Measured]], aim: float) -> Figure:
    ratios = [engine.cpu / loop.cpu for loop, engine in turns]
    each = [median(row.cpu for row in column) / load.total * 1000 for column in zip(*turns, strict=True)]
    note = f"bare {each[0]:.3f} ms a call, engine {each[1]:.3f} ms"
    return of_runs(f"CPU a call, {_name(load)}", ratios, unit="of the bare loop", at_most=aim, note=note)


def _name(load: Load) -> str:
    return f"{load.concurrency:,} at once, {load.latency * 1000:g} ms"
