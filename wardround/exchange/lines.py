"""The exports that are JSON lines: episodes, chats for fine-tuning, ATIF trajectories, OpenTelemetry spans."""

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from importlib.metadata import version

import msgspec

from wardround.engine.events import Acted, Called, Event, digest_of
from wardround.engine.records import Json, Score, Usage
from wardround.engine.trajectory import Trajectory
from wardround.exchange.encounters import (
    Encounter,
    action_text,
    chats,
    encounters,
    goal_of_run,
    model_name,
    opening_and_target,
    utc_stamp,
)
from wardround.runs.stored_run import Run

ATIF = "ATIF-v1.8"
"""The version of the Agent Trajectory Interchange Format that is written."""


async def episode_lines(run: Run, seat: str) -> AsyncGenerator[bytes, None]:
    """One line an episode: its turns, its ending, its scores with their reasons; `wardround import` reads it."""
    goal = goal_of_run(run)
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
            for chat in await chats(run, one.trajectory, seat):
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
            if steps := [{"step_id": n, **step} for n, step in enumerate(atif_steps(one.trajectory, seat), 1)]:
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
    place = action.seq - 1
    while place >= 0 and isinstance(event := events[place], Called):
        if event.seat == action.seat and event.reply is not None:
            calls.append(event)
        place -= 1
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


SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
"""The version of OpenTelemetry's semantic conventions that the attributes follow."""
_INTERNAL, _CLIENT = 1, 3
_UNSET, _OK, _ERROR = 0, 1, 2


async def span_lines(run: Run, seat: str) -> AsyncGenerator[bytes, None]:
    """One line an episode: an `invoke_agent` span with a `chat` span for each call and `execute_tool` for each verb.

    Ids are digests of run, episode and event, so that a second export gives the same spans. Scores are events
    `gen_ai.evaluation.result` of the first span; one without a value has its reason and no value.
    """
    resource = _attributes({"service.name": "wardround", "service.version": version("wardround")})
    scope = {"name": "wardround", "version": version("wardround")}
    async with aclosing(encounters(run)) as every:
        async for one in every:
            spans = _spans(run, one, seat)
            yield msgspec.json.encode(
                {
                    "resourceSpans": [
                        {
                            "resource": {"attributes": resource},
                            "scopeSpans": [{"scope": scope, "spans": spans, "schemaUrl": SCHEMA}],
                            "schemaUrl": SCHEMA,
                        }
                    ]
                }
            )


def _spans(run: Run, one: Encounter, seat: str) -> list[dict[str, Json]]:
    events, header = one.trajectory.events, run.header.seats.get(seat)
    trace = digest_of(f"{run.name}/{one.row.id}")
    root = _span_id(trace, -1)
    session = {"gen_ai.conversation.id": one.row.id}
    first = _span((trace, root), f"invoke_agent {seat}", events[0].at, events[-1].at)
    first["attributes"] = _attributes(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": seat,
            "gen_ai.request.model": model_name(header),
            "wardround.run": run.name,
            "wardround.case": one.row.case,
            "wardround.repeat": one.row.repeat,
            "wardround.ending": one.ending,
            **session,
        }
    )
    first["events"] = [_evaluation(events[-1].at, score) for score in one.scores.values()]
    first["status"] = {"code": _OK if one.row.cause == "completed" else _ERROR if one.row.cause else _UNSET}
    spans = [first]
    for event in events:
        if isinstance(event, Called):
            spans.append(_call(run, trace, root, event, session))
        elif isinstance(event, Acted) and event.action.verb != "reply":
            spans.append(_verb(trace, root, event, session))
    return spans


def _call(run: Run, trace: str, root: str, event: Called, session: dict[str, Json]) -> dict[str, Json]:
    header = run.header.seats.get(event.seat)
    asked = header.models.get(event.label, header) if header else None
    named = (asked.model if asked else "") or model_name(header)
    reply = event.reply
    took = reply.latency if reply else 0.0
    span = _span((trace, _span_id(trace, event.seq)), f"chat {named}", event.at - took, event.at, root)
    fields: dict[str, Json] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": (asked.spec if asked else "").partition("/")[0],
        "gen_ai.request.model": named,
        "gen_ai.agent.name": event.seat,
        "wardround.purpose": event.purpose,
        **session,
    }
    for name in ("temperature", "top_p", "max_tokens", "seed"):
        if isinstance(event.options.get(name), int | float):
            fields[f"gen_ai.request.{name}"] = event.options[name]
    if reply is not None:
        said = [{"type": "text", "content": reply.text}]
        thought = [{"type": "reasoning", "content": reply.thinking}] if reply.thinking else []
        answer = {"role": "assistant", "parts": [*thought, *said], "finish_reason": reply.finish or "stop"}
        fields |= {
            "gen_ai.response.model": reply.model or named,
            "gen_ai.response.finish_reasons": [reply.finish or "stop"],
            "gen_ai.usage.input_tokens": reply.usage.prompt,
            "gen_ai.usage.output_tokens": reply.usage.completion,
            "gen_ai.output.messages": msgspec.json.encode([answer]).decode(),
        }
        span["status"] = {"code": _UNSET}
    else:
        kind, message = event.error or ("error", "")
        fields["error.type"] = kind
        span["status"] = {"code": _ERROR, "message": message}
    span["attributes"] = _attributes(fields)
    return span


def _verb(trace: str, root: str, event: Acted, session: dict[str, Json]) -> dict[str, Json]:
    span = _span((trace, _span_id(trace, event.seq)), f"execute_tool {event.action.verb}", event.at, event.at, root)
    span["attributes"] = _attributes(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": event.action.verb,
            "gen_ai.tool.call.id": str(event.seq),
            "gen_ai.tool.call.arguments": msgspec.json.encode(event.action.args).decode(),
            "gen_ai.tool.call.result": action_text(event),
            "gen_ai.agent.name": event.seat,
            **session,
        }
    )
    return span


def _span(at: tuple[str, str], name: str, began: float, ended: float, parent: str = "") -> dict[str, Json]:
    """A span; `at` is (trace id, span id). The span of a model's call is of the kind `client`."""
    kind = _CLIENT if name.startswith("chat ") else _INTERNAL
    fields = {"traceId": at[0], "spanId": at[1], "name": name, "kind": kind}
    times = {"startTimeUnixNano": _nanoseconds(began), "endTimeUnixNano": _nanoseconds(ended)}
    return {**fields, **({"parentSpanId": parent} if parent else {}), **times}


def _evaluation(at: float, score: Score) -> dict[str, Json]:
    fields: dict[str, Json] = {"gen_ai.evaluation.name": score.name}
    if score.value is not None:
        fields["gen_ai.evaluation.score.value"] = score.value
    if score.reason:
        fields["gen_ai.evaluation.explanation"] = score.reason
    return {"timeUnixNano": _nanoseconds(at), "name": "gen_ai.evaluation.result", "attributes": _attributes(fields)}


def _span_id(trace: str, seq: int) -> str:
    return digest_of(f"{trace}/{seq}")[:16]


def _nanoseconds(at: float) -> str:
    return str(max(0, round(at * 1e9)))


def _attributes(fields: dict[str, Json]) -> list[dict[str, Json]]:
    return [{"key": name, "value": _value(value)} for name, value in fields.items()]


def _value(value: Json) -> dict[str, Json]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(one) for one in value]}}
    return {"stringValue": str(value)}
