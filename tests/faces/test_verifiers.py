"""The verifiers environment: rollouts on a local endpoint, rewards by component, what is trained on (make faces)."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from wardround.engine.records import Json, Message
from wardround.runs.stored_run import Run, open_store
from wardround.testing.loopback import Loopback

vf = pytest.importorskip("verifiers.v1", reason="needs an environment of its own (make faces)")
LINES = ("Action: PE", "Action: LAB", "Lab Tests: Lipase", "Action: OUTPUT", "Diagnosis: Acute appendicitis")


def lines(messages: Sequence[Message], model: str) -> Mapping[str, Json]:
    del model
    said = LINES[min(sum(one.role == "assistant" for one in messages), len(LINES) - 1)]
    return {"content": said, "logprobs": {"content": [{"token": word, "logprob": -0.5} for word in said.split()]}}


async def episodes(
    monkeypatch: pytest.MonkeyPatch, count: int = 1, reply: Any = lines, **fields: Any
) -> tuple[list[Any], Loopback]:
    from wardround.faces.verifiers_env import EncounterEnv, EncounterEnvConfig

    monkeypatch.setenv("WARDROUND_TEST_KEY", "none")
    reward = fields.pop("reward", "diagnosis_accuracy")
    harness = {"id": "wardround-encounters", **fields.pop("harness", {})}
    base_url = fields.pop("base_url", "")
    taskset = {"id": "wardround-encounters", "limit": 2, **fields}
    doctor = {"harness": harness, "runtime": {"type": "subprocess"}}
    env = EncounterEnv(EncounterEnvConfig(taskset=taskset, doctor=doctor, reward=reward))
    async with Loopback(reply) as server:
        client = vf.EvalClientConfig(base_url=base_url or server.base_url, api_key_var="WARDROUND_TEST_KEY")
        context = vf.ModelContext(model="m", client=client)
        async with env.serving():
            made = await asyncio.gather(*[env.run_episode(task, context) for task in env.taskset for _ in range(count)])
        await env.close()
    return list(made), server


async def test_a_group_of_rollouts_has_rewards_and_metrics(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = await episodes(monkeypatch, 3)
    assert [episode.ok for episode in made] == [True] * 6
    assert [episode.traces[0].reward for episode in made] == [1.0] * 3 + [0.0] * 3
    for episode in made:
        trace = episode.traces[0]
        assert trace.metrics["turns"] == 5.0
        assert "exam_precision_imaging" not in trace.metrics
        assert trace.info["missing"]["exam_precision_imaging"] == "nothing_ordered"


async def test_only_the_doctor_is_trained_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made, server = await episodes(monkeypatch, harness={"tokens": True})
    trace = made[0].traces[0]
    assert [node.sampled for node in trace.nodes] == [node.message.role == "assistant" for node in trace.nodes]
    assert all(not any(node.mask) for node in trace.nodes if node.message.role != "assistant")
    kept = trace.info["turn_tokens"]
    assert [len(turn["logprobs"]) for turn in kept] == [len(line.split()) for line in LINES]
    assert server.asked[0].json()["logprobs"] is True


async def test_a_reward_that_has_no_value_is_an_error_and_not_zero(monkeypatch: pytest.MonkeyPatch) -> None:
    made, _ = await episodes(monkeypatch, reward="exam_precision_imaging")
    assert [episode.ok for episode in made] == [False, False]
    assert "nothing_ordered" in made[0].errors[0].message


async def test_episodes_that_are_kept_are_those_of_a_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    store = str(tmp_path / "v.db")
    made, _ = await episodes(monkeypatch, 2, store=store, settings={"repeats": 2, "common_answers": True})
    assert all(episode.ok for episode in made)
    opened = open_store(store)
    [row] = await opened.runs()
    run = await Run.open(opened, row.name)
    assert await run.endings() == {"completed": 4}
    await opened.aclose()


async def test_an_endpoint_that_fails_gives_no_reward(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is the endpoint's fault, and a 0 would be the doctor's."""
    made, _ = await episodes(monkeypatch, base_url="http://127.0.0.1:9/v1")
    assert not any(episode.ok for episode in made)
    assert all(not episode.traces[0].rewards for episode in made)
    assert made[0].traces[0].errors
