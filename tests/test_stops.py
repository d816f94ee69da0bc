"""A stop after every event of episodes of every scenario: resumed, they come out the same and pay nothing twice."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from clinic import case_file, lines

from wardround.engine.clock import Ticks
from wardround.engine.episode import Episode
from wardround.engine.events import Acted, Called, Closed, Row, decode
from wardround.engine.log import EpisodeLog
from wardround.engine.models.scripted import Scripted
from wardround.engine.progress import Progress
from wardround.engine.records import Ending, Message
from wardround.engine.stores.memory import MemoryStore
from wardround.planning import plan, write_down
from wardround.playing import Stage, play_open, stage
from wardround.settings import validated

EPISODES = 20
SCENARIOS = ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation")


def patient(messages: Sequence[Message], purpose: str) -> str:
    """A patient whose answer depends on what was asked."""
    return f"I am not sure ({len(messages)}, {len(messages[-1].content)})."


async def staged(scenario: str, tmp_path: Path) -> tuple[Stage, list[Scripted]]:
    """A planned run with a scripted doctor, and a scripted patient where there is one."""
    seats = {"doctor": {"spec": "scripted/x"}}
    if scenario in ("consultation", "free-turn"):
        seats["patient"] = {"spec": "scripted/x"}
    cases = case_file(tmp_path / f"{scenario}.jsonl", EPISODES)
    settings = validated({"cases": str(cases), "scenario": scenario, "repeats": 1, "seats": seats}, "test")
    store = MemoryStore()
    made = await plan(settings, store, {})
    models = {"doctor": Scripted(lambda messages, purpose: lines(scenario, messages)), "patient": Scripted(patient)}
    for seat in seats:
        made.parts[seat].model = models[seat]
    return await stage(await write_down(made, store), made.parts), list(models.values())


async def played(scene: Stage, episode: str, rows: Sequence[Row]) -> list[Row]:
    """Play one episode from the rows that survived."""
    kept = list(rows)

    async def sink(new: Sequence[Row], ending: Ending | None, spent: object) -> None:
        kept.extend(new)

    row = await scene.run.episode(episode)
    case = await scene.run.case(row.case)
    await Episode(scene.table(case, row.repeat, EpisodeLog(sink, rows, clock=Ticks()), None)).play()
    return kept


def told(rows: Sequence[Row]) -> list[object]:
    """What must be the same: actions and the ending."""
    return [
        event.action if isinstance(event, Acted) else event.ending
        for event in decode(rows)
        if isinstance(event, Acted | Closed)
    ]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_stopped_after_every_event(scenario: str, tmp_path: Path) -> None:
    scene, models = await staged(scenario, tmp_path)
    await play_open(scene, Progress(), 8)
    assert set(await scene.run.endings()) <= {"completed"}, await scene.run.endings()
    for row in await scene.run.episodes():
        whole = await scene.run.rows(row.id)
        calls = [event.seq for event in decode(whole) if isinstance(event, Called)]
        for cut in range(1, len(whole)):
            before = sum(model.count for model in models)
            again = await played(scene, row.id, whole[:cut])
            assert told(again) == told(whole), f"{row.id} stopped after event {cut - 1}"
            assert sum(model.count for model in models) - before == sum(seq >= cut for seq in calls), (
                "a recorded call was made again"
            )
