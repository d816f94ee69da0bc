"""Replays a stored run and compares its actions with the recorded ones; forks a run: continues an episode otherwise."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, NamedTuple

import msgspec

from wardround.engine.batch import Progress
from wardround.engine.errors import CaseLost, LogError, UsageError
from wardround.engine.events import Opened, Row, encode
from wardround.engine.records import Action, EpisodeRow, Json, View
from wardround.engine.replay import fork
from wardround.engine.seat import Seat
from wardround.runs.encounter_run import open_encounters, open_models, stored_seats
from wardround.runs.header import EvaluationHeader, ForkedHeader, RunHeader, utc_now
from wardround.runs.runner import AnyWork, Runner
from wardround.runs.seat_models import Access, access_of
from wardround.runs.seat_settings import SeatSettings, is_model
from wardround.runs.seats import SeatConfig, check_egress, seat_config
from wardround.runs.settings import without_secrets
from wardround.runs.stored_run import Run, run_name
from wardround.scoring.evaluation_run import EvaluationRun
from wardround.scoring.score import stored_evaluator
from wardround.scoring.scorings import version_of


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one replay: `error` is empty if all actions are equal, else it names event `seq`."""

    episode: str
    actions: int
    error: str = ""
    seq: int = -1


class TakenAsRecorded:
    """Stands in a replay for an agent whose rules have changed since: its actions are those of the record."""

    outside: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        """Never called: a replay takes the recorded action of a seat that is played outside."""
        raise NotImplementedError(f"the {view.seat} of a replay does not act")


class RulesChange(NamedTuple):
    """The version of an agent's rules when the run was played (`then`), and their version in this Wardround (`now`)."""

    then: int
    now: int


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A stored run whose models and judges answer from its record only.

    `changed` has the seats whose agents followed another version of their rules: their actions are taken as recorded.
    `unrecorded` are the SPECs of judges that are code, whose answers no record has.
    """

    work: AnyWork
    changed: Mapping[str, RulesChange] = field(default_factory=dict)
    unrecorded: Sequence[str] = ()

    async def replay(self, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
        """Replay `episodes`, or all that have begun; no endpoint, search or page is called."""
        runner = Runner(self.work)
        for row in await self.work.run.episodes():
            if not row.events or (episodes is not None and row.id not in episodes):
                continue
            try:
                actions = await runner.replay(row)
            except LogError as error:
                yield Outcome(row.id, 0, str(error), error.seq)
            except CaseLost as error:
                yield Outcome(row.id, 0, str(error))
            else:
                yield Outcome(row.id, actions)


async def replay_run(run: Run, episodes: Sequence[str] | None = None) -> AsyncIterator[Outcome]:
    """Replay `episodes`, or all that have begun; no endpoint, search or page is called. Raises as `recorded_run`.

    ::

        wrong = [outcome async for outcome in replay_run(await Run.open(store, "study")) if outcome.error]
    """
    async for outcome in (await recorded_run(run)).replay(episodes):
        yield outcome


async def recorded_run(run: Run) -> RecordedRun:
    """A stored run, ready to be played from its record; only this function asks whether the run is an evaluation.

    Raises UsageError for an evaluation by another version of the evaluator's rules.
    """
    if isinstance(run.header, EvaluationHeader):
        return await _recorded_evaluation(run, run.header)
    access = Access(offline=True)
    seats = await stored_seats(run, access, {})
    versions = {seat: RulesChange(run.header.seats[seat].version, config.version) for seat, config in seats.items()}
    changed = {seat: change for seat, change in versions.items() if change.then != change.now}
    for seat in changed:
        seats[seat] = replace(seats[seat], make=TakenAsRecorded, recording=None)
    return RecordedRun(await open_encounters(run, seats, access), changed)


async def _recorded_evaluation(run: Run, header: EvaluationHeader) -> RecordedRun:
    evaluator, judged_by = await stored_evaluator(run), header.evaluator_version
    if judged_by != (now := version_of(evaluator)):
        raise UsageError(
            f"run {run.name} was judged by version {judged_by} of the rules of {evaluator.name}, and this Wardround "
            f"has version {now}: verdicts by rules that are gone cannot be reached again; `wardround show {run.name}` "
            "has them as they were"
        )
    unrecorded = tuple(dict.fromkeys(spec for seat, spec in header.specs.items() if not header.seats[seat].model))
    return RecordedRun(await EvaluationRun.recorded(run, evaluator), unrecorded=unrecorded)


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

    ::

        row = await parent.episode("c1@1")
        child = await fork_run(parent, row, 4, {"doctor": {"spec": "openai/gpt-4o"}})

    `seats` maps each seat to the SeatSettings fields to change; other seats keep their agents. Raises UsageError for an
    unknown seat, LogError if the episode has fewer actions.
    """
    header = parent.played("it cannot be forked")
    named = await run_name(name or "", parent.store)
    settings = parent.settings()
    access = await access_of(settings, parent.store)
    parts = await _parts(parent, header, seats, access)
    check_egress(parts, int((await parent.item(episode.case)).data_class == "restricted"), settings.allow_hosts)
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
    """A seat's settings with `fields` changed; earlier ones are dropped if an agent that is no model takes the seat."""
    spec = fields.get("spec")
    return dict(fields) if spec and not is_model(spec) else {**before, **fields}


def _header(
    parent: RunHeader, forked: ForkedHeader, seats: Mapping[str, Mapping[str, Json]], parts: Mapping[str, SeatConfig]
) -> RunHeader:
    """The parent's header with the seats changed, so that the child resumes and replays by itself."""
    before = parent.settings.get("seats", {})
    changed = {seat: _change_seat(before.get(seat, {}), fields) for seat, fields in seats.items()}
    return msgspec.structs.replace(
        parent,
        begun=utc_now(),
        seats={seat: part.describe() for seat, part in parts.items()},
        settings=without_secrets({**parent.settings, "seats": {**before, **changed}}),
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
    rows: list[Row] = []
    for event in fork(events, after, first):
        rows.append(encode(event, rows[-1].hash if rows else b""))
    row = EpisodeRow(child_id, 0, episode.case, episode.repeat, None, "", 0, 0.0)
    await store.create_run(name, header.to_json(), [row])
    await store.append(name, child_id, rows)
    return Run(store, name, header)
