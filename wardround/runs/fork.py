"""Forks: copy an episode up to an action into a run of its own, and continue it with other agents."""

import time
from collections.abc import Mapping

import msgspec

from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.events import Opened, encode
from wardround.engine.records import EpisodeRow, Json
from wardround.engine.replay import fork
from wardround.runs.encounter_run import open_encounters, open_models, stored_seats
from wardround.runs.header import ForkedHeader, RunHeader, utc_now
from wardround.runs.runner import Runner
from wardround.runs.seat_models import Access, access_of, is_model
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import SeatConfig, check_egress, seat_config
from wardround.runs.settings import without_secrets
from wardround.runs.stored_run import Run, run_name


async def fork_run(
    parent: Run,
    episode: EpisodeRow,
    after: int,
    seats: Mapping[str, Mapping[str, Json]],
    *,
    name: str | None = None,
    progress: Progress | None = None,
) -> Run:
    """Fork `episode` after its action number `after`, play the fork, and return the new run.

    `seats` maps each seat to the SeatSettings fields to change; other seats keep their agents. Raises UsageError for an
    unknown seat, LogError if the episode has fewer actions.
    """
    header = parent.played("it cannot be forked")
    named = await run_name(name or "", parent.store)
    settings = parent.settings()
    access = await access_of(settings, parent.store)
    parts = await _parts(parent, header, seats, access)
    case = await parent.item(episode.case)
    check_egress(parts, int(case.data_class == "restricted"), settings.allow_hosts)
    async with open_models(parts, tried=settings.preflight, adapted=True):
        child_header = _header(header, ForkedHeader(run=parent.name, episode=episode.id, after=after), seats, parts)
        child = await _create(parent, episode, child_header, named)
        await Runner(await open_encounters(child, parts, access), progress).play()
    return child


async def _parts(
    parent: Run, header: RunHeader, seats: Mapping[str, Mapping[str, Json]], access: Access
) -> dict[str, SeatConfig]:
    unknown = sorted(set(seats) - set(header.seats))
    if unknown:
        raise UsageError(f"run {parent.name} has no seat {unknown[0]!r}; it has: {', '.join(header.seats)}")
    kept = await stored_seats(parent, Access(offline=True), {})
    for seat, part in kept.items():
        if seat in seats or part.model is not None:
            fields = _change_seat(header.seat_settings(seat), seats.get(seat, {}))
            kept[seat] = await seat_config(seat, SeatSettings.model_validate(fields), access, parent.store)
    return kept


def _change_seat(before: Mapping[str, Json], fields: Mapping[str, Json]) -> dict[str, Json]:
    """A seat's settings with `fields` changed; those of a model go if an agent without one takes the seat."""
    spec = fields.get("spec")
    return dict(fields) if spec and not is_model(spec) else {**before, **fields}


def _header(
    parent: RunHeader, forked: ForkedHeader, seats: Mapping[str, Mapping[str, Json]], parts: Mapping[str, SeatConfig]
) -> RunHeader:
    """The parent's header with the seats changed, so that the child resumes and replays by itself."""
    settings = dict(parent.settings)
    settings["seats"] = {**settings.get("seats", {})}
    for seat, fields in seats.items():
        settings["seats"][seat] = _change_seat(settings["seats"].get(seat, {}), fields)
    return msgspec.structs.replace(
        parent,
        begun=utc_now(),
        seats={seat: part.describe() for seat, part in parts.items()},
        settings=without_secrets(settings),
        forked=forked,
    )


async def _create(parent: Run, episode: EpisodeRow, header: RunHeader, name: str) -> Run:
    assert header.forked is not None
    store, after = parent.store, header.forked.after
    events = await parent.events(episode)
    opened = events[0]
    assert isinstance(opened, Opened)
    child_id = f"{episode.id}+{after}"
    first = Opened(
        seq=0,
        at=time.time(),
        episode=child_id,
        case=opened.case,
        case_hash=opened.case_hash,
        scenario=opened.scenario,
        seed=opened.seed,
        repeat=opened.repeat,
        parent=f"{parent.name}/{episode.id}",
        forked_at=after,
    )
    rows, previous = [], b""
    for event in fork(events, after, first):
        rows.append(encode(event, previous))
        previous = rows[-1].hash
    row = EpisodeRow(child_id, 0, episode.case, episode.repeat, None, "", 0, 0.0)
    await store.create_run(name, header.to_json(), [row])
    await store.append(name, child_id, rows)
    return Run(store, name, header)
