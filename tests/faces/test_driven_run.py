"""A run whose doctor is played from outside: the same scores, one desk an episode, and a client that leaves."""

import asyncio
from pathlib import Path

import msgspec
import pytest
from clinic import WORKUP, case

from wardround import run
from wardround.engine.errors import EgressError, UsageError
from wardround.engine.records import Action, View
from wardround.engine.seat import Seat
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.faces.driven_run import DrivenEpisode, DrivenRun
from wardround.replay_run import replay_run
from wardround.runs.settings import RunSettings
from wardround.runs.stored_run import Run
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore


class Fixed:
    """The doctor of these tests within the engine: the same lines."""

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        return Action("reply", next_line(view))


def next_line(view: View) -> str:
    """The line after those that were said."""
    return WORKUP[min(sum(said.seat == "doctor" for said in view.heard), len(WORKUP) - 1)]


async def to_the_end(episode: DrivenEpisode) -> None:
    while episode.view is not None:
        await episode.act(Action("reply", next_line(episode.view)))


@pytest.fixture
def cases(tmp_path: Path) -> str:
    path = tmp_path / "c.jsonl"
    path.write_text("\n".join(case(number).model_dump_json() for number in (1, 2, 3)) + "\n")
    return str(path)


def timeless(scores: RunScores) -> list[EpisodeScores]:
    """The scores of each episode without its seconds."""
    return [
        msgspec.structs.replace(one, scores=[score for score in one.scores if score.name != "episode_seconds"])
        for one in scores.episodes
    ]


def settings(cases: str) -> RunSettings:
    return RunSettings(cases=cases, seed=7, preflight=False)


async def test_it_scores_as_the_same_doctor_inside_does(cases: str) -> None:
    store = MemoryStore()
    inside = await run(cases, "workup", doctor=Fixed, store=store, seed=7)
    driven = await DrivenRun.begin(settings(cases), store)
    for _ in range(3):
        await to_the_end(await driven.start())
    with pytest.raises(UsageError, match="no open episode"):
        await driven.start()
    await driven.aclose()
    mine, theirs = await driven.scores(), await score_run(inside)
    assert timeless(mine) == timeless(theirs)
    assert [outcome.error async for outcome in replay_run(driven.run)] == [""] * 3


async def test_what_is_not_kept_has_the_same_rewards(cases: str) -> None:
    store = MemoryStore()
    inside = await score_run(await run(cases, "workup", doctor=Fixed, store=store, seed=7))
    driven = await DrivenRun.begin(settings(cases), MemoryStore(), kept=False)
    episode = await driven.start("case-001")
    await to_the_end(episode)
    rewards = await driven.rewards(episode)
    await driven.aclose()
    wanted = {score.name: score.value for score in timeless(inside)[0].scores}
    assert {name: score.value for name, score in rewards.items() if name in wanted} == wanted
    assert wanted["diagnosis_accuracy"] == 1.0
    assert [row.events for row in await driven.run.episodes()] == [0, 0, 0]


async def test_many_episodes_at_once_do_not_mix(cases: str) -> None:
    driven = await DrivenRun.begin(settings(cases), MemoryStore())
    episodes = [await driven.start() for _ in range(3)]
    await asyncio.gather(*(to_the_end(episode) for episode in episodes))
    assert [episode.row.case for episode in episodes] == ["case-001", "case-002", "case-003"]
    for episode in episodes:
        trajectory = await driven.run.trajectory(episode.id)
        number = int(episode.row.case[-3:])
        assert any(f"({number})" in acted.action.text for acted in trajectory.acted("examiner"))
    await driven.aclose()


async def test_an_impossible_verb_leaves_the_episode_as_it_is(cases: str) -> None:
    driven = await DrivenRun.begin(settings(cases), MemoryStore())
    episode = await driven.start()
    with pytest.raises(UsageError, match="'dance' is not a verb now; there are: reply"):
        await episode.act(Action("dance"))
    await to_the_end(episode)
    assert episode.ending is not None
    assert episode.ending.cause == "completed"
    with pytest.raises(UsageError, match="cannot act now; it ended by completed"):
        await episode.act(Action("reply", "PE"))
    await driven.aclose()


async def test_a_client_that_leaves_ends_its_episode_by_its_seat_and_can_take_it_up_again(cases: str) -> None:
    store = MemoryStore()
    driven = await DrivenRun.begin(settings(cases), store)
    episode = await driven.start("case-001")
    assert episode.view is not None
    await episode.act(Action("reply", next_line(episode.view)))
    ending = await episode.leave("its connection closed")
    assert ending is not None
    assert (ending.cause, ending.reason, ending.detail) == ("doctor", "left", "its connection closed")
    again = await driven.start("case-001")
    assert again.view is not None
    assert sum(said.seat == "doctor" for said in again.view.heard) == 1  # what it had said was kept
    await to_the_end(again)
    await driven.aclose()
    assert (await (await Run.open(store, driven.run.name)).episode("case-001")).cause == "completed"


async def test_a_face_that_stops_leaves_its_episodes_open_and_another_process_goes_on(cases: str) -> None:
    store = MemoryStore()
    driven = await DrivenRun.begin(settings(cases), store)
    episode = await driven.start("case-002")
    assert episode.view is not None
    await episode.act(Action("reply", next_line(episode.view)))
    await driven.aclose()
    assert (await driven.run.endings()) == {"open": 3}
    later = await DrivenRun.resume(driven.run.name, store)
    again = await later.start("case-002")
    assert again.view is not None
    assert sum(said.seat == "doctor" for said in again.view.heard) == 1
    await to_the_end(again)
    await later.aclose()
    assert [outcome.error async for outcome in replay_run(later.run)] == [""]


async def test_a_restricted_case_goes_to_no_client(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    path.write_text(case(1).model_copy(update={"data_class": "restricted"}).model_dump_json() + "\n")
    with pytest.raises(EgressError, match="1 of the cases is restricted, and doctor 'external'"):
        await DrivenRun.begin(settings(str(path)), MemoryStore())


async def test_the_name_of_a_case_is_its_next_free_episode(cases: str) -> None:
    driven = await DrivenRun.begin(RunSettings(cases=cases, repeats=3, preflight=False), MemoryStore())
    first, second = await driven.start("case-002"), await driven.start("case-002")
    assert [first.id, second.id] == ["case-002@1", "case-002@2"]
    await to_the_end(first)
    assert (await driven.start("case-002")).id == "case-002@3"
    with pytest.raises(UsageError, match="case case-002 has no open episode that is free"):
        await driven.start("case-002")
    await driven.aclose()


@pytest.mark.parametrize(
    "wrong",
    [
        Action("reply", "a\ud800b"),
        Action("reply", 5),  # type: ignore[arg-type]
        Action("reply", "x", {"items": [object()]}),
        Action("reply", "x", memo=object()),
        Action("reply", "x" * 2_000_001),
    ],
)
async def test_an_action_that_no_log_could_keep_leaves_the_episode_as_it_is(cases: str, wrong: Action) -> None:
    driven = await DrivenRun.begin(RunSettings(cases=cases, preflight=False), MemoryStore())
    episode = await driven.start("case-001")
    with pytest.raises(UsageError, match="action"):
        await episode.act(wrong)
    await to_the_end(episode)
    assert episode.ending is not None
    assert episode.ending.cause == "completed"
    await driven.aclose()


async def test_an_episode_that_was_let_go_is_taken_up_and_not_kept_in_memory(cases: str) -> None:
    driven = await DrivenRun.begin(RunSettings(cases=cases, preflight=False), MemoryStore())
    for _ in range(3):
        episode = await driven.start("case-001")
        await episode.stop()
    await to_the_end(await driven.start("case-001"))
    assert await driven.run.endings() == {"completed": 1, "open": 2}
    assert len(driven.live) == 1
    await driven.aclose()
