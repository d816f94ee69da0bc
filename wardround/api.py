"""The public functions for runs: plan a run and play it, resume it, or join it from another process."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict, Unpack

from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.models.hosts import HIDDEN, redact_address
from wardround.engine.protocols import Store
from wardround.engine.records import Json
from wardround.runs.control import check_caps
from wardround.runs.encounter_run import open_encounters, open_models, stored_seats
from wardround.runs.plan import RunPlan, create_run, plan_run
from wardround.runs.runner import Runner, check_causes
from wardround.runs.seat_models import access_of
from wardround.runs.seats import AgentFactory, check_egress
from wardround.runs.settings import RunSettings, new_budget, validate_settings
from wardround.runs.stored_run import Run, open_store
from wardround.runs.work_queue import prepare

SEATS = ("doctor", "patient", "examiner")
"""The seats that `run` takes as arguments of their own."""
AgentSpec = str | Mapping[str, Json] | AgentFactory
"""A SPEC, a mapping of `SeatSettings` fields, or a class or function that makes an agent."""


class Options(TypedDict, total=False):
    """More arguments of `run`: seats by name, and the fields of RunSettings."""

    doctor: AgentSpec
    patient: AgentSpec
    examiner: AgentSpec

    set: Mapping[str, Json]
    repeats: int
    seed: int
    concurrency: int
    limits: Mapping[str, Json]
    limit: int
    where: Sequence[str]
    sample: float
    prompts: str
    prices: str
    budget: Sequence[str]
    quotas: Sequence[str]
    timeout: float
    patience: float
    allow_hosts: Sequence[str]
    allow_agents: Sequence[str]
    common_answers: bool
    session_header: str
    batch: bool
    preflight: bool
    name: str


class Changes(TypedDict, total=False):
    """The fields of RunSettings that can be changed when a run is resumed; times are in seconds."""

    concurrency: int | None
    budget: Sequence[str]
    timeout: float | None
    patience: float | None


async def run(
    cases: str | Path | Sequence[str | Path] = "bundled",
    scenario: str = "workup",
    *,
    seats: Mapping[str, AgentSpec] | None = None,
    store: Store | str | Path = "wardround.db",
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> Run:
    """Play cases under a scenario and return the stored run.

    ::

        played = await run("bundled", "workup", doctor="openai/gpt-4o", limit=3)
        async for trajectory in played:
            print(trajectory.opened.case, trajectory.ending)

    `cases` is a case file, a folder of case files, or `bundled`; or several of these. `doctor`, `patient` and
    `examiner` (or `seats`, a mapping by name) are a SPEC such as 'openai/gpt-4o', a mapping
    `{"spec": ..., "base_url": ...}`, or a class of your own. The other arguments are fields of RunSettings (`Options`).
    Raises UsageError for any error that can be known before the first episode, StoreError if the store cannot be
    written. An error in an episode is recorded in its ending.
    """
    fields: dict[str, Json] = dict(options)
    named = {seat: fields.pop(seat) for seat in SEATS if seat in fields}
    specs, agents = split_agents({**(seats or {}), **named})
    read = str(cases) if isinstance(cases, str | Path) else [str(place) for place in cases]
    values = {"cases": read, "scenario": scenario, "seats": specs, **fields}
    settings = validate_settings(values, "run", also=(*SEATS, "store", "progress"))
    opened = _open_store(store)
    return await play_planned(await plan_run(settings, opened, agents), opened, progress or Progress())


async def play_planned(made: RunPlan, store: Store, progress: Progress, *, pilot: int = 0) -> Run:
    """Try the endpoints of a planned run, create it in the store and play it.

    `pilot` is a number of episodes, drawn at random, to play first; the rest is played only if the forecast stays
    within the budget. Without a budget the rest is left for `resume`. The forecast is in `Run.pilot`.
    """
    settings = made.settings
    async with open_models(made.parts, tried=settings.preflight, adapted=True):
        begun = await create_run(made, store)
        work = await open_encounters(begun, made.parts, made.access)
        begun.pilot = await Runner(work, progress, settings.at_once).play(pilot)
    return begun


async def create_planned(made: RunPlan, store: Store) -> Run:
    """Try the endpoints of a planned run and create it in the store; other processes play it (`join`)."""
    async with open_models(made.parts, tried=made.settings.preflight, adapted=True):
        return await create_run(made, store)


async def prepare_to_resume(name: str, store: Store, *, retry: Sequence[str] = (), **changes: Unpack[Changes]) -> Run:
    """Make a run ready to be resumed, without playing it (`join` plays it); arguments and errors as in `resume`."""
    run = await Run.open(store, name)
    header = run.played("it is not played")
    check_causes(retry, list(header.seats))
    control: dict[str, Json] = dict(changes)
    budget = new_budget(control["budget"], header.specs, header.prices) if control.get("budget") else None
    control["budget"] = budget
    if retry:
        await check_caps(run, budget)  # an episode that is opened again and not played has no figures
        await store.reopen(name, [row.id async for row in store.episodes(name, causes=retry)])
    await prepare(run, **control)
    return run


async def resume(
    name: str,
    *,
    store: Store | str | Path = "wardround.db",
    retry: Sequence[str] = (),
    share: tuple[int, int] = (1, 1),
    seats: Mapping[str, AgentSpec] | None = None,
    progress: Progress | None = None,
    **changes: Unpack[Changes],
) -> Run:
    """Resume a run where it stopped; no recorded call is made again.

    ::

        played = await resume("calm-heron-417", retry=["provider"], budget=["50usd"])

    `retry` names causes: closed episodes that ended by one of them are reopened. `budget` replaces the earlier caps;
    spending so far still counts. `seats` and `share` are as in `join`. If other processes are at work on the run
    already, this one joins them, and a paused run stays paused. Raises UsageError for an unknown run or cause, and
    with `retry` if the budget is used up.
    """
    run = await prepare_to_resume(name, _open_store(store), retry=retry, **changes)
    return await join(name, store=run.store, share=share, seats=seats, progress=progress)


async def join(
    name: str,
    *,
    store: Store | str | Path = "wardround.db",
    share: tuple[int, int] = (1, 1),
    seats: Mapping[str, AgentSpec] | None = None,
    concurrency: int | None = None,
    progress: Progress | None = None,
) -> Run:
    """Work on a run, alone or with other processes, until no episode is open or the operator stops it.

    `share` (i, n) says that this is process i of n, which gets the n-th part of every limit of an endpoint. `seats` is
    needed only for classes of your own without an importable name, and as `{"doctor": {"base_url": URL}}` for an
    address whose secrets were not stored. Raises UsageError before the first episode, as `run` does.
    """
    run = await Run.open(_open_store(store), name)
    settings = await _settings(run)
    specs, agents = split_agents(seats or {})
    urls = [str(fields["base_url"]) for fields in specs.values() if "base_url" in fields]
    _check_urls(run, urls)
    access = await access_of(settings, run.store, share, urls)
    parts = await stored_seats(run, access, agents)
    check_egress(parts, run.restricted, settings.allow_hosts)
    async with open_models(parts, tried=settings.preflight):
        await Runner(await open_encounters(run, parts, access), progress, concurrency or settings.at_once).play()
    return run


def _check_urls(run: Run, base_urls: Sequence[str]) -> None:
    """Raise UsageError for an address that completes none of the run's that lack a secret: it would be ignored."""
    seats = run.played("it is not played").settings.get("seats", {}).values()
    wanted = {str(seat.get("base_url", "")) for seat in seats if f"={HIDDEN}" in str(seat.get("base_url", ""))}
    for url in base_urls:
        if redact_address(url) not in wanted:
            raise UsageError(
                f"--resume takes the run's settings from the store; leave out --base-url {redact_address(url)}"
                + (f" (what is missing is {', '.join(sorted(wanted))} with its secret)" if wanted else "")
            )


async def _settings(run: Run) -> RunSettings:
    """The settings that a run began with, with the timeout and the patience that were ordered later."""
    orders = await run.store.orders(run.name)
    ordered = {name: value for name, value in (("timeout", orders.timeout), ("patience", orders.patience)) if value}
    return run.settings(**ordered)


def split_agents(seats: Mapping[str, AgentSpec]) -> tuple[dict[str, Json], dict[str, AgentFactory]]:
    """Split `seats` into the SeatSettings fields of all seats, and the classes or functions of those that have one."""
    specs: dict[str, Json] = {}
    agents: dict[str, AgentFactory] = {}
    for seat, agent in seats.items():
        if isinstance(agent, str):
            specs[seat] = {"spec": agent}
        elif isinstance(agent, Mapping):
            specs[seat] = dict(agent)
        else:
            # any callable can make an agent; some, such as a partial function, have no name
            specs[seat] = {"spec": f"{getattr(agent, '__module__', '?')}:{getattr(agent, '__qualname__', repr(agent))}"}
            agents[seat] = agent
    return specs, agents


def _open_store(store: Store | str | Path) -> Store:
    return open_store(store) if isinstance(store, str | Path) else store
