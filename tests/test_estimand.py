"""Who failed, played over real sockets: what counts against the doctor and what is no score."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from clinic import case_file, lines
from examples import first_ones

import wardround
from wardround.engine.errors import ProviderError, RunStopped
from wardround.engine.records import LONGEST_REPLY, Action, Message, View
from wardround.engine.seat import Seat
from wardround.evaluators.evaluation import UNANSWERED, ZERO
from wardround.replay_run import replay_run
from wardround.runs.stored_run import Run
from wardround.testing import wire
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore
from wardround.testing.wire import Answer, Fault, ReceivedRequest

Says = Callable[[Sequence[Message], str], Answer]
BIG = 12_000
"""Bytes that the servers of this file take in a request."""


class Small(Loopback):
    """Answers 413 to what is larger, as a proxy before a model does."""

    def answer(self, asked: ReceivedRequest) -> tuple[bytes, Fault | None]:
        if len(asked.body) > BIG:
            return wire.http(413, b"<html><title>413 Request Entity Too Large</title></html>"), None
        return super().answer(asked)


async def played(path: Path, says: Says, scenario: str, doctor: Any = "openai/doctor", **more: Any) -> Run:
    """One episode with a doctor's and, in a consultation, a patient's model at a server."""
    async with Small(says) as server:
        seats: dict[str, Any] = {"doctor": doctor}
        if doctor == "openai/doctor":
            seats["doctor"] = {"spec": doctor, "base_url": server.base_url}
        if scenario == "consultation":
            seats["patient"] = {"spec": "openai/patient", "base_url": server.base_url}
        given: dict[str, Any] = {"repeats": 1, "preflight": False, "store": MemoryStore()} | more
        return await wardround.run(case_file(path / "cases.jsonl", 1), scenario, seats=seats, **given)


async def outcome(run: Run) -> tuple[str, float | None, str]:
    """How the one episode ended, its accuracy, and the reason of it."""
    (row,) = (await wardround.score_run(run)).episodes
    accuracy = next(score for score in row.scores if score.name.endswith("_accuracy"))
    assert [one.error async for one in replay_run(run)] == [""], "it replays"
    return f"{row.cause}/{row.reason}".rstrip("/"), accuracy.value, accuracy.reason


def doctor(text: Answer) -> Says:
    """A doctor that always says this, and a patient who answers."""
    return lambda messages, model: text if model == "doctor" else "It hurts."


FILTERED: Answer = {"content": "The diagnosis is", "finish_reason": "content_filter"}
REFUSING: Answer = {"content": None, "refusal": "I cannot help with that."}
TOOL: Answer = {"content": None, "finish_reason": "tool_calls", "tool_calls": [{"type": "function"}]}
THOUGHT: Answer = {"content": "", "reasoning_content": "long thoughts", "finish_reason": "length"}


@pytest.mark.parametrize("scenario", first_ones(["oracle", "workup", "consultation"], 1))
@pytest.mark.parametrize(
    ("said", "ended", "reason"),
    [
        (FILTERED, "doctor/content_filter", "content_filter"),
        (REFUSING, "doctor/refusal", "refusal"),
        ("As an AI language model I cannot diagnose.", "doctor/refusal", "refusal"),
        (TOOL, "doctor/no_answer", "no_answer"),
        (THOUGHT, "doctor/no_answer", "no_answer"),
    ],
    ids=["content filter", "formal refusal", "refusal", "tool call", "all thinking"],
)
async def test_a_doctor_that_had_its_chance(
    tmp_path: Path, scenario: str, said: Answer, ended: str, reason: str
) -> None:
    run = await played(tmp_path, doctor(said), scenario)
    assert await outcome(run) == (ended, 0.0, reason)
    assert reason in ZERO
    assert reason in UNANSWERED


async def test_a_doctor_that_floods_the_patient_s_model_has_failed_itself(tmp_path: Path) -> None:
    run = await played(tmp_path, doctor("ASK: " + "does it hurt here? " * 1_050), "consultation")
    assert await outcome(run) == ("doctor/flooded", 0.0, "flooded")


async def test_a_doctor_whose_own_words_its_model_no_longer_takes_has_failed_itself(tmp_path: Path) -> None:
    run = await played(tmp_path, doctor("ASK: " + "does it hurt here? " * 300), "consultation")
    ended, value, reason = await outcome(run)
    assert (value, reason) == (0.0, ended.removeprefix("doctor/"))
    assert reason in ("bad_request", "flooded")


async def test_a_patient_s_model_that_fails_for_itself_is_no_score(tmp_path: Path) -> None:
    def refuses(messages: Sequence[Message], model: str) -> Answer:
        return REFUSING if model == "patient" else "ASK: Since when?"

    assert await outcome(await played(tmp_path, refuses, "consultation")) == (
        "patient/refusal",
        None,
        "patient/refusal",
    )


class Raises:
    """An agent of one's own that raises what it is not."""

    error: Exception = ProviderError("timeout", "the network, believe me")

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        raise self.error


class Stops(Raises):
    """One that wants out of the run."""

    error = RunStopped("stop")


class Garbled(Raises):
    """One that gives no action."""

    async def act(self, view: View) -> Action:
        return Action("dance")


class Flooding(Raises):
    """One that says more than anybody reads."""

    async def act(self, view: View) -> Action:
        return Action("reply", "A" * LONGEST_REPLY, args={"more": "B"})


@pytest.mark.parametrize(
    ("agent", "ended", "reason"),
    [
        (Flooding, "doctor/bad_action", "bad_action"),
        (Raises, "doctor/error", "agent_error"),
        (Stops, "doctor/error", "agent_error"),
        (Garbled, "doctor/bad_action", "bad_action"),
    ],
)
async def test_an_agent_of_one_s_own_that_fails(tmp_path: Path, agent: type[Raises], ended: str, reason: str) -> None:
    assert await outcome(await played(tmp_path, doctor(""), "oracle", agent)) == (ended, 0.0, reason)


async def test_a_limit_counts_against_the_doctor_only_for_what_it_used_itself(tmp_path: Path) -> None:
    def asks(messages: Sequence[Message], model: str) -> Answer:
        return "ASK: Since when?" if model == "doctor" else "word " * 2_000

    own = await played(tmp_path, asks, "consultation", limits={"calls": 4})
    assert await outcome(own) == ("limit/calls", None, "limit/calls")
    wordy = await played(tmp_path, asks, "consultation", limits={"tokens": 3_000})
    assert await outcome(wordy) == ("limit/tokens", None, "limit/tokens")
    alone = await played(tmp_path, lambda messages, model: lines("workup", messages), "workup", limits={"calls": 2})
    assert await outcome(alone) == ("limit/calls", 0.0, "limit_calls")
