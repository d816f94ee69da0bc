"""Compares the CPU of an episode of `workup` through Gymnasium and through the engine; neither is stored."""

import asyncio
import time
from collections.abc import Sequence
from statistics import median

from benchmarks.figure import Figure, of_runs, table
from wardround.engine.episode import Episode
from wardround.engine.records import Action, View
from wardround.engine.trajectory import EpisodeLog, discard
from wardround.faces.gymnasium_env import WardroundEnv
from wardround.runs.encounter_run import EncounterRun, open_encounters
from wardround.runs.plan import create_run, plan_run
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.settings import RunSettings
from wardround.testing.memory_store import MemoryStore

LINES = ("Action: PE", "Action: LAB", "Lab Tests: White Blood Cells, Lipase", "Action: OUTPUT", "Diagnosis: Gout")


class Fixed:
    """A doctor that says the same lines in every episode."""

    sealed = True

    async def act(self, view: View) -> Action:
        """Say the next line."""
        return Action("reply", LINES[min(sum(said.seat == "doctor" for said in view.heard), len(LINES) - 1)])


async def _work() -> EncounterRun:
    seats = {"doctor": SeatSettings(spec=f"{__name__}:Fixed")}
    made = await plan_run(RunSettings(seats=seats, preflight=False), store := MemoryStore(), {"doctor": Fixed})
    return await open_encounters(await create_run(made, store), made.parts, made.access)


async def _inside(count: int) -> float:
    """Return the milliseconds of CPU that an episode takes through the engine."""
    work = await _work()
    rows = await work.run.episodes()
    began = time.process_time()
    for number in range(count):
        row = rows[number % len(rows)]
        subject, log = await work.subject(row), EpisodeLog(discard)
        log.add(work.first_event(row, subject))
        await Episode(work.setup(row, subject, log)).play()
    return (time.process_time() - began) / count * 1000


def _outside(count: int, reward: str) -> float:
    """Return the milliseconds of CPU that an episode takes through the face."""
    env = WardroundEnv(reward=reward)
    cases = list(dict.fromkeys(row.case for row in asyncio.run(env.run.run.episodes())))
    began = time.process_time()
    for number in range(count):
        env.reset(options={"case": cases[number % len(cases)]})
        for line in LINES:
            env.step(line)
    used = (time.process_time() - began) / count * 1000
    env.close()
    return used


def face(quick: bool) -> Sequence[Figure]:
    """Measure the ratio of the two, and what scoring adds."""
    count, rounds = (40, 3) if quick else (150, 5)
    asyncio.run(_inside(20))
    _outside(20, "diagnosis_accuracy")
    inside, outside = zip(*((asyncio.run(_inside(count)), _outside(count, "")) for _ in range(rounds)), strict=True)
    ratios = [face / engine for face, engine in zip(outside, inside, strict=True)]
    scored = _outside(count, "diagnosis_accuracy")
    return (
        of_runs("workup through Gymnasium, CPU to engine without a store", ratios, at_most=1.5),
        Figure("all standard scores of an episode, CPU", scored - median(outside), "ms"),
    )


if __name__ == "__main__":
    print(table(face(False)))
