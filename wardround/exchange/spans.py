"""The export to OpenTelemetry: episodes as spans by the GenAI conventions, one OTLP request in JSON a line."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from importlib.metadata import version

import msgspec

from wardround.engine.events import Acted, Called, digest_of
from wardround.engine.records import Json, Score
from wardround.exchange.encounters import Encounter, action_text, encounters, model_name
from wardround.runs.stored_run import Run

SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
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
    """A span whose trace and own id are `at`; a call of a model is made by a client."""
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
