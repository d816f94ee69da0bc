"""The exports that are JSON lines: episodes, chats for fine-tuning, ATIF trajectories."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from importlib.metadata import version

import msgspec

from wardround.engine.events import Acted, Called, Event
from wardround.engine.records import Json, Usage
from wardround.engine.trajectory import Trajectory
from wardround.exchange.encounters import (
    Encounter,
    action_text,
    chats,
    encounters,
    model_name,
    opening_and_target,
    utc_stamp,
)
from wardround.runs.stored_run import Run

ATIF = "ATIF-v1.8"


async def episode_lines(run: Run, seat: str) -> AsyncGenerator[bytes, None]:
    """One line an episode: its turns, its ending, its scores with their reasons; `wardround import` reads it."""
    goal = run.json.get("scenario", {}).get("goal", "diagnosis")
    models = {name: model_name(header) for name, header in run.header.seats.items()}
    async with aclosing(encounters(run)) as every:
        async for one in every:
            opened = one.trajectory.opened
            opening, target = await opening_and_target(run, opened.case)
            yield msgspec.json.encode(
                {
                    "run": run.name,
                    "episode": opened.episode,
                    "case": opened.case,
                    "repeat": opened.repeat,
                    "opening": opening,
                    "treatment" if goal == "treatment" else "diagnosis": target,
                    "scenario": opened.scenario,
                    "models": models,
                    "ending": one.ending,
                    "answer": (one.trajectory.ending.facts.get("answer") if one.trajectory.ending else None),
                    "scores": one.values(),
                    "reasons": one.reasons(),
                    "turns": [turn(event) for event in one.trajectory.acted()],
                }
            )


def turn(event: Acted) -> dict[str, Json]:
    """An action as a plain object; empty fields are left out."""
    action = event.action
    fields = {"seq": event.seq, "at": event.at, "seat": event.seat, "verb": action.verb, "text": action.text}
    more = {"args": action.args, "thinking": action.thinking, "finish": event.finish}
    return {**fields, **{name: value for name, value in more.items() if value}}


async def chat_lines(run: Run, seat: str) -> AsyncGenerator[bytes, None]:
    """One line a conversation of `seat`, for fine-tuning: the messages, and the episode's scores as rewards.

    A reward is null where the score has no value, with the reason in `reasons`: null is not 0. A conversation is left
    out if it holds no word of the seat.
    """
    async with aclosing(encounters(run)) as every:
        async for one in every:
            opened = one.trajectory.opened
            for chat in chats(one.trajectory, seat):
                if any(message["role"] == "assistant" for message in chat):
                    yield msgspec.json.encode(
                        {
                            "messages": chat,
                            "rewards": one.values(),
                            "reasons": one.reasons(),
                            "run": run.name,
                            "episode": opened.episode,
                            "case": opened.case,
                            "repeat": opened.repeat,
                            "ending": one.ending,
                        }
                    )


async def atif_lines(run: Run, seat: str) -> AsyncGenerator[bytes, None]:
    """One line an episode: a trajectory of the Agent Trajectory Interchange Format, seen from `seat`."""
    header = run.header.seats[seat]
    agent = {"name": header.spec, "version": str(header.version), "model_name": model_name(header)}
    async with aclosing(encounters(run)) as every:
        async for one in every:
            if steps := _number_steps(atif_steps(one.trajectory, seat)):
                yield msgspec.json.encode(
                    {
                        "schema_version": ATIF,
                        "session_id": run.name,
                        "trajectory_id": one.row.id,
                        "agent": agent,
                        "steps": steps,
                        "final_metrics": _totals(one, seat, len(steps)),
                        "extra": {
                            "wardround": {
                                "version": version("wardround"),
                                "case": one.row.case,
                                "repeat": one.row.repeat,
                                "ending": one.ending,
                                "scores": one.values(),
                                "reasons": one.reasons(),
                            }
                        },
                    }
                )


def _number_steps(steps: Iterator[dict[str, Json]]) -> list[dict[str, Json]]:
    return [{"step_id": number, **step} for number, step in enumerate(steps, 1)]


def atif_steps(trajectory: Trajectory, seat: str) -> Iterator[dict[str, Json]]:
    """The steps: what the seat was first sent, then its actions and those of the others.

    An action by a verb is a tool call; what the other seats did up to the next action of the seat is its observation.
    """
    acts = list(trajectory.acted())
    first = next((call for call in trajectory.called(seat) if call.reply), None)
    for message in trajectory.messages(first) if first else ():
        if message.role in ("system", "user"):
            yield {"source": message.role, "message": message.content}
    place = 0
    while place < len(acts):
        event = acts[place]
        place += 1
        if event.seat != seat:
            yield {
                "source": "user",
                "message": action_text(event),
                "timestamp": utc_stamp(event.at),
                "extra": _extra(event),
            }
            continue
        answers: list[Acted] = []
        typed = event.action.verb != "reply"
        while typed and place < len(acts) and acts[place].seat != seat:
            answers.append(acts[place])
            place += 1
        yield _agent_step(trajectory, event, answers, typed)


def _agent_step(trajectory: Trajectory, event: Acted, answers: Sequence[Acted], typed: bool) -> dict[str, Json]:
    calls = calls_of(trajectory.events, event)
    step: dict[str, Json] = {
        "source": "agent",
        "message": event.action.text,
        "timestamp": utc_stamp(event.at),
        "llm_call_count": len(calls),
        "extra": _extra(event),
    }
    if calls:
        step["metrics"] = _metrics(sum((call.reply.usage for call in calls if call.reply), Usage(cost=0)))
        if event.action.thinking:
            step["reasoning_content"] = event.action.thinking
    elif event.action.thinking:
        step["extra"]["thinking"] = event.action.thinking
    if typed:
        name = f"e{event.seq}"
        arguments = event.action.args
        step["tool_calls"] = [{"tool_call_id": name, "function_name": event.action.verb, "arguments": arguments}]
        if answers:
            results = [{"source_call_id": name, "content": action_text(one), "extra": _extra(one)} for one in answers]
            step["observation"] = {"results": results}
    return step


def _extra(event: Acted) -> dict[str, Json]:
    return {"seat": event.seat, "verb": event.action.verb, "seq": event.seq}


def calls_of(events: Sequence[Event], action: Acted) -> list[Called]:
    """The answered calls of an act: those of its seat between the action before it and the action."""
    calls: list[Called] = []
    for event in reversed(events[: action.seq]):
        if isinstance(event, Called) and event.seat == action.seat:
            if event.reply is not None:
                calls.append(event)
        elif not isinstance(event, Called):
            break
    return calls[::-1]


def _metrics(usage: Usage) -> dict[str, Json]:
    fields: dict[str, Json] = {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cached_tokens": usage.cached,
    }
    return fields if usage.cost is None else {**fields, "cost_usd": usage.cost}


def _totals(one: Encounter, seat: str, steps: int) -> dict[str, Json]:
    usage = one.trajectory.usage(seat)
    fields: dict[str, Json] = {
        "total_prompt_tokens": usage.prompt,
        "total_completion_tokens": usage.completion,
        "total_cached_tokens": usage.cached,
        "total_steps": steps,
    }
    return fields if usage.cost is None else {**fields, "total_cost_usd": usage.cost}
