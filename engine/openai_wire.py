"""Reads requests of the openai protocol (chat completions, Responses) and writes replies, streamed or whole."""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import msgspec

from wardround.engine.records import Completion, Json, Message

_encode = msgspec.json.Encoder().encode
PIECE = 64
"""Characters of one piece of a streamed text."""


class UnsupportedRequest(Exception):
    """A request that a seat's model does not take; the message says why."""


class WireCall(NamedTuple):
    """A request: the `model` it names, its messages and options; `kind` is chat or response.

    `stream` says that the reply is to be streamed, `stream_usage` that the stream ends with the usage.
    """

    kind: str
    model: str
    messages: Sequence[Message]
    options: Mapping[str, Json]
    stream: bool
    stream_usage: bool = False


def chat_call(body: Json) -> WireCall:
    """A request for a chat completion; raises UnsupportedRequest."""
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list):
        raise UnsupportedRequest("the body has no list of messages")
    options = {name: value for name, value in body.items() if name not in _CHAT and value is not None}
    if body.get("n") not in (None, 1):
        raise UnsupportedRequest("n must be 1: one call has one reply")
    for name, other in (("max_tokens", "max_completion_tokens"), ("max_completion_tokens", "max_tokens")):
        if name in options and other not in options:
            options[other] = None  # the seat's own limit gives way to that of the call, under either name
            break
    usage = (body.get("stream_options") or {}).get("include_usage")
    messages = [_message(one) for one in body["messages"]]
    return WireCall("chat", str(body.get("model", "")), messages, options, bool(body.get("stream")), bool(usage))


_CHAT = frozenset(("messages", "model", "stream", "stream_options", "n", "purpose"))


def _message(one: Json) -> Message:
    if not isinstance(one, dict) or not isinstance(one.get("role"), str):
        raise UnsupportedRequest("a message is not an object with a role")
    content = one.get("content")
    more = {name: value for name, value in one.items() if name not in ("role", "content") and value is not None}
    if isinstance(content, list):
        more["content"] = content
        content = _text(content)
    if content is not None and not isinstance(content, str):
        raise UnsupportedRequest("the content of a message is neither a text nor a list of parts")
    return Message(one["role"], content or "", more or None)


def _text(parts: Sequence[Json]) -> str:
    texts = (part.get("text") if isinstance(part, dict) else part for part in parts)
    return "".join(text for text in texts if isinstance(text, str))


def error_body(message: str, code: str) -> Json:
    """The body of an error."""
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}}


def chat_reply(reply: Completion, name: str, refusal: str | None = None) -> dict[str, Json]:
    """The body of a chat completion; `name` is part of its id, `refusal` the text of a formal refusal."""
    calls = reply.more.get("tool_calls")
    message: dict[str, Json] = {"role": "assistant", "content": reply.text or (None if calls or refusal else "")}
    if refusal:
        message["refusal"] = refusal
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if calls:
        message["tool_calls"] = calls
    finish = "stop" if reply.finish in ("", "refusal") else reply.finish
    choice: dict[str, Json] = {"index": 0, "message": message, "finish_reason": finish, "logprobs": None}
    if "logprobs" in reply.more:
        choice["logprobs"] = reply.more["logprobs"]
    return {
        "id": f"chatcmpl-{name}",
        "object": "chat.completion",
        "created": 0,
        "model": reply.model,
        "choices": [choice],
        "usage": _usage(reply, "prompt", "completion"),
    }


def _usage(reply: Completion, into: str, out: str) -> dict[str, Json]:
    usage = reply.usage
    return {
        f"{into}_tokens": usage.prompt,
        f"{out}_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        f"{into}_tokens_details": {"cached_tokens": usage.cached},
        f"{out}_tokens_details": {"reasoning_tokens": usage.reasoning},
    }


def chat_chunks(body: Mapping[str, Json], *, usage: bool) -> Iterator[str]:
    """A chat completion as server-sent events, in pieces."""
    choice = body["choices"][0]
    message = choice["message"]
    frame = {**body, "object": "chat.completion.chunk"}
    del frame["choices"], frame["usage"]

    def event(delta: Mapping[str, Json], finish: str | None = None) -> str:
        one = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": choice["logprobs"] if finish else None}
        return _event({**frame, "choices": [one]})

    yield event({"role": "assistant", "content": ""})
    for field in ("reasoning_content", "content", "refusal"):
        for piece in _pieces(message.get(field) or ""):
            yield event({field: piece})
    for index, call in enumerate(message.get("tool_calls") or ()):
        yield event({"tool_calls": [{"index": index, **call}]})
    yield event({}, choice["finish_reason"])
    if usage:
        yield _event({**frame, "choices": [], "usage": body["usage"]})
    yield "data: [DONE]\n\n"


def _pieces(text: str) -> Iterator[str]:
    return (text[start : start + PIECE] for start in range(0, len(text), PIECE))


def _event(body: Json, kind: str = "") -> str:
    return (f"event: {kind}\n" if kind else "") + f"data: {_encode(body).decode()}\n\n"


def response_call(body: Json) -> WireCall:
    """A request of the Responses API as one for a chat completion; raises UnsupportedRequest."""
    if not isinstance(body, dict) or not isinstance(body.get("input"), str | list):
        raise UnsupportedRequest("the body has no input")
    for name in ("previous_response_id", "conversation", "background"):
        if body.get(name):
            raise UnsupportedRequest(
                f"{name} is not taken: nothing is kept between two calls, so send the whole conversation"
            )
    messages = [Message("system", body["instructions"])] if body.get("instructions") else []
    entered = body["input"]
    items = [{"role": "user", "content": entered}] if isinstance(entered, str) else entered
    for item in items:
        _add_item(messages, item)
    options = {name: body[name] for name in _RESPONSE if body.get(name) is not None}
    if body.get("max_output_tokens") is not None:
        options |= {"max_tokens": body["max_output_tokens"], "max_completion_tokens": None}
    if effort := (body.get("reasoning") or {}).get("effort"):
        options["reasoning_effort"] = effort
    if tools := body.get("tools"):
        options["tools"] = [_tool(tool) for tool in tools]
    choice = body.get("tool_choice")
    if choice and tools:
        named = isinstance(choice, dict) and choice.get("type") == "function"
        options["tool_choice"] = {"type": "function", "function": {"name": choice["name"]}} if named else choice
    shape = (body.get("text") or {}).get("format") or {}
    if shape.get("type") == "json_schema":
        schema = {name: value for name, value in shape.items() if name != "type"}
        options["response_format"] = {"type": "json_schema", "json_schema": schema}
    elif shape.get("type") == "json_object":
        options["response_format"] = {"type": "json_object"}
    return WireCall("response", str(body.get("model", "")), messages, options, bool(body.get("stream")))


_RESPONSE = ("temperature", "top_p", "parallel_tool_calls", "seed", "stop")


def _tool(tool: Mapping[str, Json]) -> Json:
    if tool.get("type") != "function":
        raise UnsupportedRequest(f"the tool {tool.get('type')!r} runs at the endpoint; give functions of your own")
    return {"type": "function", "function": {name: value for name, value in tool.items() if name != "type"}}


def _add_item(messages: list[Message], item: Json) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else ""
    if kind == "message":
        content = item.get("content")
        if isinstance(content, list):
            parts = [_part(part) for part in content]
            if all(part["type"] == "text" for part in parts):
                content = _text(parts)
            else:
                messages.append(Message(str(item["role"]), _text(parts), {"content": parts}))
                return
        role = "system" if item.get("role") == "developer" else str(item.get("role"))
        messages.append(Message(role, content or ""))
    elif kind == "function_call":
        function = {"name": item["name"], "arguments": item["arguments"]}
        call = {"id": item["call_id"], "type": "function", "function": function}
        last = messages[-1] if messages else None
        if last and last.role == "assistant":
            calls = [*(last.more or {}).get("tool_calls", ()), call]
            messages[-1] = Message("assistant", last.content, {"tool_calls": calls})
        else:
            messages.append(Message("assistant", "", {"tool_calls": [call]}))
    elif kind == "function_call_output":
        output = item["output"]
        text = output if isinstance(output, str) else _text(output)
        messages.append(Message("tool", text, {"tool_call_id": item["call_id"]}))
    elif kind != "reasoning":
        raise UnsupportedRequest(f"an item of the input has the type {kind!r}, which is not taken")


def _part(part: Mapping[str, Json]) -> dict[str, Json]:
    match part.get("type"):
        case "input_text" | "output_text" | "text":
            return {"type": "text", "text": part.get("text", "")}
        case "refusal":
            return {"type": "text", "text": part.get("refusal", "")}
        case "input_image":
            return {
                "type": "image_url",
                "image_url": {"url": part.get("image_url"), "detail": part.get("detail", "auto")},
            }
        case other:
            raise UnsupportedRequest(f"a part of the input has the type {other!r}, which is not taken")


def response_reply(reply: Completion, name: str, refusal: str | None, call: WireCall) -> dict[str, Json]:
    """The body of a reply of the Responses API to `call`; `name` and `refusal` are as in `chat_reply`."""
    output: list[Json] = []
    if reply.thinking:
        summary = [{"type": "summary_text", "text": reply.thinking}]
        output.append({"type": "reasoning", "id": f"rs-{name}", "summary": summary})
    if reply.text or refusal or not reply.more.get("tool_calls"):
        part: dict[str, Json] = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        if refusal:
            part = {"type": "refusal", "refusal": refusal}
        output.append(
            {"type": "message", "id": f"msg-{name}", "role": "assistant", "status": "completed", "content": [part]}
        )
    for one in reply.more.get("tool_calls") or ():
        function = one["function"]
        output.append(
            {
                "type": "function_call",
                "id": f"fc-{one['id']}",
                "call_id": one["id"],
                "name": function["name"],
                "arguments": function["arguments"],
                "status": "completed",
            }
        )
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(reply.finish)
    return {
        "id": f"resp-{name}",
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": cut} if cut else None,
        "error": None,
        "instructions": None,
        "metadata": {},
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": call.options.get("temperature"),
        "top_p": call.options.get("top_p"),
        "tool_choice": "auto",
        "tools": [],
        "usage": _usage(reply, "input", "output"),
    }


def response_events(body: Mapping[str, Json]) -> Iterator[str]:
    """A reply of the Responses API as server-sent events."""
    number = -1

    def event(kind: str, **fields: Json) -> str:
        nonlocal number
        number += 1
        return _event({"type": kind, "sequence_number": number, **fields}, kind)

    yield event("response.created", response={**body, "status": "in_progress", "output": [], "usage": None})
    for index, item in enumerate(body["output"]):
        where = {"output_index": index, "item_id": item["id"]}
        begun = {**item, "status": "in_progress"}
        if item["type"] == "message":
            part = item["content"][0]
            yield event("response.output_item.added", output_index=index, item={**begun, "content": []})
            yield event("response.content_part.added", **where, content_index=0, part={**part, "text": ""})
            for piece in _pieces(part.get("text", "")):
                yield event("response.output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
            yield event("response.output_text.done", **where, content_index=0, text=part.get("text", ""), logprobs=[])
            yield event("response.content_part.done", **where, content_index=0, part=part)
        elif item["type"] == "function_call":
            yield event("response.output_item.added", output_index=index, item={**begun, "arguments": ""})
            yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            yield event(
                "response.function_call_arguments.done", **where, arguments=item["arguments"], name=item["name"]
            )
        else:
            yield event("response.output_item.added", output_index=index, item=item)
        yield event("response.output_item.done", output_index=index, item=item)
    yield event("response.completed" if body["status"] == "completed" else "response.incomplete", response=body)
