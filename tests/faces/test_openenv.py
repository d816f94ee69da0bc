"""The OpenEnv environment: many clients at once, rewards by component, mistakes that change nothing (make faces)."""

import asyncio
import os
from pathlib import Path
from typing import Any

import pytest

from wardround.engine.errors import UsageError
from wardround.runs.stored_run import Run, open_store

pytest.importorskip("openenv.core", reason="needs an environment of its own (make faces)")
LINES = ("Action: PE", "Action: LAB", "Lab Tests: Lipase", "Action: OUTPUT", "Diagnosis: Acute appendicitis")


def a_maker(**more: Any) -> Any:
    from wardround.faces.openenv_server import environment_maker

    return environment_maker(**more)


async def played(env: Any, **reset: Any) -> Any:
    from wardround.faces.openenv_server import DoctorAction

    seen = await env.reset_async(**reset)
    for said in LINES:
        seen = await env.step_async(DoctorAction(text=said))
    return seen


async def test_sessions_play_apart_at_the_same_time() -> None:
    make = a_maker()
    environments = [make() for _ in range(8)]
    ends = await asyncio.gather(*[played(env, case=f"wa-00{1 + n % 2}") for n, env in enumerate(environments)])
    assert [end.reward for end in ends] == [1.0, 0.0] * 4
    assert all(end.done and end.rewards["exam_precision_imaging"] is None for end in ends)
    assert ends[0].missing["exam_precision_imaging"] == "nothing_ordered"
    assert environments[0].state.step_count == 5
    for env in environments:
        await env.driven.aclose()


async def test_an_impossible_action_changes_nothing() -> None:
    from wardround.faces.openenv_server import DoctorAction

    env = a_maker()()
    assert (await env.step_async(DoctorAction(text="x"))).error == "no episode is under way: reset first"
    first = await env.reset_async()
    seen = await env.step_async(DoctorAction(verb="dance", text="x"))
    assert "'dance' is not a verb now" in seen.error
    assert (seen.text, seen.done, seen.reward) == (first.text, False, None)
    await env.driven.aclose()


async def test_a_reward_without_a_value_is_none() -> None:
    env = a_maker(reward="exam_precision_imaging")()
    assert (await played(env)).reward is None
    await env.driven.aclose()


async def test_episodes_that_are_kept_are_those_of_a_run(tmp_path: Path) -> None:
    store = str(tmp_path / "o.db")
    env = a_maker(store=store, limit=2)()
    for _ in range(2):
        assert (await played(env)).done
    await env.driven.aclose()
    opened = open_store(store)
    [row] = await opened.runs()
    assert await (await Run.open(opened, row.name)).endings() == {"completed": 2}
    await opened.aclose()


@pytest.mark.parametrize("scenario", ["workup", "werkup"])
async def test_what_is_closed_or_cannot_begin_leaves_no_store_open(scenario: str, tmp_path: Path) -> None:
    """An open store has files beside its own."""
    env = a_maker(store=str(tmp_path / "o.db"), limit=1, scenario=scenario)()
    if scenario == "workup":
        await env.reset_async()
        assert len(os.listdir(tmp_path)) > 1
        env.close()
        await asyncio.sleep(0.1)
        await env.closing
    else:
        with pytest.raises(UsageError):
            await env.reset_async()
    assert [name for name in os.listdir(tmp_path) if name != "o.db"] == []


async def test_the_application_serves() -> None:
    import httpx

    from wardround.faces.openenv_server import openenv_app

    transport = httpx.ASGITransport(app=openenv_app())
    async with httpx.AsyncClient(transport=transport, base_url="http://ward") as client:
        assert (await client.get("/health")).status_code == 200
        assert "verbs" in str((await client.get("/schema")).json())
