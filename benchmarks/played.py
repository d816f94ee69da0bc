"""Makes the calls of a load through the engine: a session plans, plays and stores a run as it does any other."""

import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.game import Asker, Game, Teller
from benchmarks.load import Load, Measured, measuring
from wardround.engine.batch import Progress
from wardround.engine.limits import Limits
from wardround.engine.models.prices import Prices
from wardround.engine.models.reach import reach
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Agent, Model, Store
from wardround.engine.records import EpisodeRow
from wardround.engine.seat import Seat
from wardround.runs.encounter_run import EncounterRun
from wardround.runs.header import VERSION, CasesHeader, RunHeader, ScenarioHeader, SkippedHeader, utc_now
from wardround.runs.runner import Runner
from wardround.runs.seats import Cast, SeatConfig
from wardround.runs.stored_run import Run, open_store
from wardround.scenarios.case import Case, Provenance, Truth

RUN = "bench"
_CASE = Case(id="c", opening="A case.", truth=Truth(), provenance=Provenance(source="made up"), data_class="public")


async def played(load: Load, base_url: str, asker: Callable[[Seat], Agent] = Asker) -> Measured:
    """Play the load with an agent that calls its model; raises RuntimeError if an episode does not end as it should."""
    measured = await played_in_a_file(load, base_url, asker)
    if measured.more["right"] != load.episodes:
        raise RuntimeError(f"only {measured.more['right']:.0f} of {load.episodes} episodes ended right")
    return measured


async def played_in_a_file(load: Load, base_url: str, asker: Callable[[Seat], Agent] = Asker) -> Measured:
    """Play the load into a new SQLite file; `more` of the result also has its bytes an episode."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bench.db"
        measured = await played_into(load, base_url, str(path), asker)
        measured.more["bytes"] = path.stat().st_size / load.episodes
    return measured


async def played_into(load: Load, base_url: str, where: str, asker: Callable[[Seat], Agent] = Asker) -> Measured:
    """Play the load into the store at `where`; `more` counts the episodes that ended as they should, and the calls."""
    model = reach("openai/bench", base_url=base_url, env={}, prices=Prices())
    async with scene(load, model, open_store(where), asker) as stage:
        progress = Progress()
        with measuring() as measured:
            await Runner(stage, progress, load.concurrency).play()
        measured.more = {"right": float(await right(stage.run, load)), "calls": float(progress.spent.calls)}
    return measured


@asynccontextmanager
async def scene(
    load: Load, model: Model, store: Store, asker: Callable[[Seat], Agent] = Asker
) -> AsyncIterator[EncounterRun]:
    """Plan the load into a new store; the model and the store are closed with the block."""
    try:
        [case] = await store.put([_CASE.model_dump_json(exclude_defaults=True).encode()])
        [index] = await store.put([b'[["c","%s"]]' % case.encode()])
        header = _header(index)
        await store.create_run(RUN, header.to_json(), Jobs("c", load.episodes))
        parts: Mapping[str, SeatConfig] = {
            "asker": SeatConfig("openai/bench", make=asker, model=model, sampling={"temperature": 0.8}),
            "teller": SeatConfig("teller", make=lambda seat: Teller(load.question)),
        }
        company = Cast(parts, Prompts({}), seed=1)
        yield EncounterRun(Run(store, RUN, header), Game(load), company, Limits(), {"c": case})
    finally:
        await model.aclose()
        await store.aclose()


def _header(index: str) -> RunHeader:
    """Return the header of the run, whose cases have the index `index`."""
    return RunHeader(
        version=VERSION,
        wardround="",
        begun=utc_now(),
        scenario=ScenarioHeader(name=Game.name, goal="", settings={}),
        seats={},
        repeats=1,
        seed=1,
        limits=Limits(),
        prompts={},
        cases=CasesHeader(source="", count=1, index=index, restricted=0),
        tables={},
        prices=(),
        skipped=SkippedHeader(count=0, first=(), reasons={}),
        settings={},
    )


@dataclass(frozen=True)
class Jobs:
    """The repeats of one case; each is made when it is needed, so that memory never holds all of them."""

    case: str
    episodes: int

    def __iter__(self) -> Iterator[EpisodeRow]:
        for n in range(self.episodes):
            yield EpisodeRow(f"{self.case}@{n + 1}", n, self.case, n + 1, None, "", 0, 0.0)


async def right(run: Run, load: Load) -> int:
    """Count the episodes that completed with every event of a run without faults."""
    events = 1 + load.calls + (2 * load.calls - 1) + 1
    return sum([row.cause == "completed" and row.events == events async for row in run.store.episodes(run.name)])
