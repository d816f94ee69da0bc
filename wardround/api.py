"""The front door: plan a run or take up one that was interrupted, and play it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypedDict, Unpack

from wardround.engine.batch import Progress
from wardround.engine.models.prices import Prices, read_prices
from wardround.engine.protocols import Store
from wardround.planning import plan, write_down
from wardround.playing import Stage, check_causes, parts_of, play_open, reached, stage
from wardround.results import Run
from wardround.settings import RunSettings, validated
from wardround.stored import open_store

SEATS = ("doctor", "patient", "examiner")
AgentSpec = Any
"""A SPEC, a mapping of `SeatSettings` fields, or a class or function that makes an agent."""


class Options(TypedDict, total=False):
    """What `run` takes besides: seats by name, and the fields of RunSettings."""

    doctor: AgentSpec
    patient: AgentSpec
    examiner: AgentSpec

    set: Mapping[str, Any]
    repeats: int
    seed: int
    concurrency: int
    limits: Mapping[str, Any]
    limit: int
    where: Sequence[str]
    sample: float
    prompts: str
    prices: str
    allow_hosts: Sequence[str]
    preflight: bool
    name: str


async def run(
    cases: str | Path = "bundled",
    scenario: str = "workup",
    *,
    seats: Mapping[str, AgentSpec] | None = None,
    store: Store | str | Path = "wardround.db",
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Run:
    """Play cases under a scenario and return the stored run.

    `doctor`, `patient` and `examiner` (or `seats`, which maps names) are a SPEC such as 'openai/gpt-4o', a mapping
    `{"spec": ..., "base_url": ...}`, or a class of your own. Raises UsageError for anything wrong that can be known
    before the first episode, StoreError if the store cannot be written. What goes wrong in an episode is in that
    episode's ending.
    """
    fields: dict[str, Any] = dict(options)
    named = {seat: fields.pop(seat) for seat in SEATS if seat in fields}
    specs, agents = split_agents({**(seats or {}), **named})
    settings = validated({"cases": str(cases), "scenario": scenario, "seats": specs, **fields}, "run")
    return await begin(settings, _opened(store), agents, progress or Progress())


async def begin(settings: RunSettings, store: Store, agents: Mapping[str, Any], progress: Progress) -> Run:
    """Plan a run, try its endpoints, write it down, play it."""
    made = await plan(settings, store, agents)
    async with reached(made.parts, tried=settings.preflight):
        begun = await write_down(made, store)
        await play_open(await stage(begun, made.parts), progress, settings.concurrency)
    return begun


async def resume(
    name: str,
    *,
    store: Store | str | Path = "wardround.db",
    seats: Mapping[str, AgentSpec] | None = None,
    retry: Sequence[str] = (),
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Go on with a run where it stopped; no recorded call is made again.

    `retry` reopens closed episodes of these causes. `seats` is needed only for classes of your own that have no
    importable name.
    """
    run = await Run.open(_opened(store), name)
    check_causes(retry, list(run.header["seats"]))
    settings = RunSettings.model_validate(run.header["settings"])
    prices = read_prices(Path(settings.prices)) if settings.prices else Prices()
    parts = await parts_of(run, prices, split_agents(seats or {})[1])
    async with reached(parts, tried=settings.preflight):
        await play_open(await stage(run, parts), progress or Progress(), concurrency or settings.concurrency, retry)
    return run


async def offline_stage(run: Run) -> Stage:
    """The stage of a stored run for replay: no endpoint is reached, so no key is needed."""
    return await stage(run, await parts_of(run, Prices(), {}, offline=True))


def split_agents(seats: Mapping[str, AgentSpec]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Seats given by SPEC or fields, and seats given by a class or function."""
    specs: dict[str, Any] = {}
    agents: dict[str, Any] = {}
    for seat, given in seats.items():
        if isinstance(given, str):
            specs[seat] = {"spec": given}
        elif isinstance(given, Mapping):
            specs[seat] = dict(given)
        else:
            specs[seat] = {"spec": f"{getattr(given, '__module__', '?')}:{getattr(given, '__qualname__', repr(given))}"}
            agents[seat] = given
    return specs, agents


def _opened(store: Store | str | Path) -> Store:
    return open_store(store) if isinstance(store, str | Path) else store
