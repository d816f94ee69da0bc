"""A stop after every event of a run, in every scenario and store: resumed it is the same, and nothing is paid twice."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from clinic import case_file, lines
from examples import sampled
from halting import Halted, Halting
from pgserver import PgServer
from ticks import Ticks

from wardround.engine.batch import Progress
from wardround.engine.episode import Episode
from wardround.engine.events import Acted, Called, Closed, Row, decode
from wardround.engine.models.scripted import Scripted
from wardround.engine.protocols import Store
from wardround.engine.records import Message
from wardround.engine.trajectory import EpisodeLog
from wardround.runs.encounter_run import EncounterRun, open_encounters
from wardround.runs.plan import create_run, plan_run
from wardround.runs.runner import Runner
from wardround.runs.settings import validate_settings
from wardround.runs.stored_run import Run, open_store
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

EPISODES, FEW = 40, 16
"""Episodes of a run; a run in a file or on a server has few, for it is opened once for each of their events."""
SCENARIOS = ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation")
TIMES = ("model_seconds", "episode_seconds")


class Models:
    """A scripted doctor and patient; `made` tells in which lives of the process each question was asked."""

    def __init__(self, scenario: str) -> None:
        self.life = 0
        self.made: dict[tuple[str, ...], list[int]] = defaultdict(list)
        self._scenario = scenario
        self.doctor, self.patient = Scripted(self._doctor), Scripted(self._patient)

    @property
    def count(self) -> int:
        """How many calls were made."""
        return self.doctor.count + self.patient.count

    def _doctor(self, messages: Sequence[Message], purpose: str) -> str:
        self.made[question(messages)].append(self.life)
        return lines(self._scenario, messages)

    def _patient(self, messages: Sequence[Message], purpose: str) -> str:
        self.made[question(messages)].append(self.life)
        return f"I am not sure ({len(messages)}, {len(messages[-1].content)})."


def question(messages: Sequence[Message]) -> tuple[str, ...]:
    """What makes a call the same call."""
    return tuple(message.content for message in messages)


async def staged(scenario: str, folder: Path, store: Store, episodes: int = EPISODES) -> tuple[EncounterRun, Models]:
    """A planned run with a scripted doctor, and a scripted patient where there is one."""
    seats = {"doctor": {"spec": "scripted/x"}}
    if scenario in ("one-turn", "free-turn", "consultation"):
        seats["patient"] = {"spec": "scripted/x"}
    cases = case_file(folder / f"{scenario}.jsonl", episodes)
    settings = validate_settings({"cases": str(cases), "scenario": scenario, "repeats": 1, "seats": seats}, "test")
    made = await plan_run(settings, store, {})
    models = Models(scenario)
    for seat in seats:
        made.parts[seat].model = getattr(models, seat)
    return await open_encounters(await create_run(made, store), made.parts, made.access), models


def told(rows: Sequence[Row]) -> list[object]:
    """What must be the same: actions and the ending."""
    return [
        event.action if isinstance(event, Acted) else event.ending
        for event in decode(rows)
        if isinstance(event, Acted | Closed)
    ]


async def played(scene: EncounterRun, episode: str, rows: Sequence[Row]) -> list[Row]:
    """Play one episode from the rows that survived."""
    kept = list(rows)

    async def sink(new: Sequence[Row], *_: object) -> None:
        kept.extend(new)

    row = await scene.run.episode(episode)
    case = await scene.run.case(row.case)
    await Episode(scene.setup(row, case, EpisodeLog(sink, rows, clock=Ticks()))).play()
    return kept


@pytest.mark.timeout(600)
@pytest.mark.parametrize("scenario", SCENARIOS)
@sampled(8)
async def test_each_episode_stopped_after_every_event(scenario: str, every: int, tmp_path: Path) -> None:
    scene, models = await staged(scenario, tmp_path, MemoryStore())
    await Runner(scene, Progress(), 8).play()
    assert await scene.run.endings() == {"completed": EPISODES}
    for row in [*await scene.run.episodes()][::every]:
        whole = await scene.run.rows(row.id)
        calls = [event.seq for event in decode(whole) if isinstance(event, Called)]
        for cut in range(1, len(whole)):
            before = models.count
            again = await played(scene, row.id, whole[:cut])
            assert told(again) == told(whole), f"{row.id} stopped after event {cut - 1}"
            assert models.count - before == sum(seq >= cut for seq in calls), "a recorded call was made again"


@pytest.fixture(scope="module")
def pgserver() -> Iterator[PgServer]:
    with PgServer() as server:
        yield server


SLOW = [pytest.param("sqlite", marks=pytest.mark.kill), pytest.param("postgres", marks=pytest.mark.postgres)]


@pytest.fixture(params=["memory", *SLOW])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """What `open_store` takes, or a store that cannot be opened twice."""
    if request.param == "memory":
        return MemoryStore()
    server: PgServer | None = request.getfixturevalue("pgserver") if request.param == "postgres" else None
    return server.fresh() if server else tmp_path / "stopped.db"


def opened(where: Any) -> Store:
    """The store, as a new process finds it."""
    return where if isinstance(where, MemoryStore) else open_store(where)


class Lives:
    """A run that is stopped after every one of its events and taken up by a new process each time."""

    def __init__(self, where: Any, scene: EncounterRun, models: Models) -> None:
        self.where, self.scene, self.models = where, scene, models
        self.store = opened(where)
        self.written: dict[tuple[str, int], tuple[int, bytes]] = {}

    async def live(self) -> bool:
        """One life, of one event; False if there was nothing left to do."""
        models, run = self.models, self.scene.run
        models.life += 1
        if models.life % 5 == 0:  # to connect anew takes longer than to play on
            await self.close()
            self.store = opened(self.where)
        store = self.store
        for session in await store.sessions(run.name):
            if session.ended is None:  # what bury_dead does for a process that is no more
                await store.release(session.id)
        life = Halting(store, 1)
        try:
            await Runner(replace(self.scene, run=Run(life, run.name, run.header)), Progress(), 4).play()
        except Halted:
            return True
        else:
            return False
        finally:
            self.written |= {event: (models.life, digest) for event, digest in life.written.items()}

    async def close(self) -> None:
        """Close the store, unless it is one that forgets."""
        if self.store is not self.where:
            await self.store.aclose()


@pytest.mark.long
@pytest.mark.timeout(1500)
async def test_a_run_stopped_after_every_event(where: Any, tmp_path: Path) -> None:
    """Each life of the process ends after one more event is stored; four episodes are under way at once."""
    episodes = EPISODES if isinstance(where, MemoryStore) else FEW
    usual, _ = await staged("consultation", tmp_path, MemoryStore(), episodes)
    await Runner(usual, Progress(), 4).play()
    expected = {row.id: told(await usual.run.rows(row.id)) for row in await usual.run.episodes()}
    store = opened(where)
    scene, models = await staged("consultation", tmp_path, store, episodes)
    lives = Lives(where, scene, models)
    while await lives.live():
        assert models.life < 2000, "it does not come to an end"
    stored = {row.id: await scene.run.rows(row.id) for row in await scene.run.episodes()}
    events = sum(len(rows) for rows in stored.values())
    assert (models.life - 1, len(lives.written)) == (events, events), "a life for each event, and one to see the end"
    for episode, rows in stored.items():
        assert told(rows) == expected[episode]
        assert [row.hash for row in rows] == [lives.written[episode, row.seq][1] for row in rows], "an event was lost"
        trajectory = await scene.run.trajectory(episode)
        for call in trajectory.called():
            last = max(models.made[question(trajectory.messages(call))])
            assert last <= lives.written[episode, call.seq][0], "a recorded call was made again"
    scores = [await score_run(run) for run in (usual.run, scene.run)]
    plain = [[[score for score in row.scores if score.name not in TIMES] for row in one.episodes] for one in scores]
    assert plain[0] == plain[1]
    await lives.close()
    if store is not where:
        await store.aclose()
