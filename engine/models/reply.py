"""Reads a reply: answer and thinking apart, usage, finish reason, and the shape that was asked for."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.records import Completion, Json, Usage

_TAG = re.compile(r"<(/?)think>", re.IGNORECASE)


def split_thinking(text: str) -> tuple[str, str]:
    """(answer, thinking) of a text.

    Only a `<think>` block that opens the text counts: a later one is something the answer talks about. A block that is
    never closed is all thinking. Blocks within the block belong to it. A text that begins inside the block (the chat
    template of several models has written the opening tag itself, so that only `</think>` comes) is split there.
    A text without such a block comes back unchanged.
    """
    first = _TAG.search(text)
    if first is None:
        return text, ""
    if first[1]:
        return text[first.end() :].lstrip(), text[: first.start()].strip()
    if text[: first.start()].strip():
        return text, ""
    close = _close(text, first.end())
    if close is None:
        return "", text[first.end() :].strip()
    return text[close.end() :].lstrip(), text[first.end() : close.start()].strip()


def _close(text: str, start: int) -> re.Match[str] | None:
    """The tag that closes a block: where opening and closing tags balance, else the last closing one."""
    depth, last = 1, None
    for tag in _TAG.finditer(text, start):
        depth += -1 if tag[1] else 1
        if tag[1]:
            last = tag
        if depth == 0:
            return tag
    return last


_MOST = 2**53
"""A count beyond it is no count: no model reads so much, and not every reader of JSON tells it from its neighbour."""


def read_usage(told: Any, price: Price | None, *, into: str = "prompt", out: str = "completion") -> Usage:
    """The tokens in a reply's `usage`; `into` and `out` are what its API calls them.

    What is not told counts as 0, and a call of which either side is not told has no known cost.
    """
    prompt, completion = _count(told, f"{into}_tokens"), _count(told, f"{out}_tokens")
    cached = _count(_part(told, f"{into}_tokens_details"), "cached_tokens") or 0
    reasoning = _count(_part(told, f"{out}_tokens_details"), "reasoning_tokens") or 0
    cost = None
    if price is not None and prompt is not None and completion is not None:
        cost = price.cost(prompt, completion, cached)
    return Usage(prompt or 0, completion or 0, reasoning, cached, cost)


def told_by(usage: Any) -> bool:
    """Whether both sides are told, in the words of chat completions."""
    return _count(usage, "prompt_tokens") is not None and _count(usage, "completion_tokens") is not None


def _part(told: Any, name: str) -> Any:
    return told.get(name) if isinstance(told, dict) else None


def _count(told: Any, name: str) -> int | None:
    """A number of tokens; None where it is not told, or is no number from 0 to 2**53."""
    value = _part(told, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return None
    return int(value)


OPTION = "shape"
NAME = "reply"
"""What the schema is called where it must have a name: the same always, for endpoints that keep what they compiled."""


def chat_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options as chat completions take them: without those that are None, `shape` as `response_format`."""
    sent, shape = _parted(options, "response_format")
    if shape:
        named = {"name": NAME, "schema": shape, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": named}
    return sent


def response_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options as the Responses API takes them: without those that are None, `shape` as `text.format`."""
    sent, shape = _parted(options, "text")
    if shape:
        sent["text"] = {"format": {"type": "json_schema", "name": NAME, "schema": shape, "strict": True}}
    return sent


def _parted(options: Mapping[str, Json], field: str) -> tuple[dict[str, Json], Json]:
    sent = {name: value for name, value in options.items() if value is not None}
    shape = sent.pop(OPTION, None)
    if shape and field in sent:
        raise UsageError(f"a call has the options `{OPTION}` and `{field}`, which both say what its reply is to be")
    return sent, shape


def fits(value: Json, schema: Mapping[str, Json]) -> bool:
    """Whether a value has the shape, for the schemas that strict endpoints take: types, `enum`, closed objects."""
    if "enum" in schema:
        return any(value == one and type(value) is type(one) for one in schema["enum"])
    match schema.get("type"):
        case "object":
            fields: Mapping[str, Json] = schema.get("properties", {})
            return (
                isinstance(value, dict)
                and value.keys() == fields.keys()
                and all(fits(value[name], fields[name]) for name in fields)
            )
        case "array":
            return isinstance(value, list) and all(fits(one, schema.get("items", {})) for one in value)
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "null":
            return value is None
    return True


def least(schema: Mapping[str, Json]) -> Json:
    """The smallest value that has the shape: what the loopback server says where it is held to one."""
    choices: Sequence[Json] = schema.get("enum", ())
    if choices:
        return choices[0]
    match schema.get("type"):
        case "object":
            return {name: least(field) for name, field in schema.get("properties", {}).items()}
        case "array":
            return []
        case "boolean":
            return False
        case "integer" | "number":
            return 0
        case "string":
            return ""
    return None


class _Message(msgspec.Struct):
    content: str | list[Any] | None = None
    reasoning_content: Any = None
    reasoning: Any = None
    refusal: Any = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Any = None
    model: str | None = None
    error: Any = None


_decode = msgspec.json.Decoder(_Body).decode


def read_reply(body: bytes, where: str, name: str, price: Price | None = None) -> Completion:
    """The completion in `body` (latency not filled in); fields not known are passed over.

    Raises ProviderError: malformed (no chat completion), empty (no choice in it), content_filter (a filter left nothing
    of the reply), refusal (the model formally declined), or the kind of an error sent under HTTP 200.
    """
    try:
        read = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _malformed(where, body) from None
    return _completion(read, where, name, price)


def read_object(reply: Any, where: str, name: str, price: Price | None = None) -> Completion:
    """The same of a reply that a library has decoded."""
    try:
        read = msgspec.convert(reply, _Body)
    except (msgspec.ValidationError, RecursionError):
        raise _malformed(where, b"{") from None
    return _completion(read, where, name, price)


def _completion(read: _Body, where: str, name: str, price: Price | None) -> Completion:
    if read.error and not read.choices:
        raise _hidden_error(where, read.error)
    if read.choices is None:
        raise _malformed(where, b"{")
    if not read.choices or read.choices[0].message is None:
        raise ProviderError("empty", f"{where}: the reply holds no choice", status=200)
    choice, message = read.choices[0], read.choices[0].message
    finish = choice.finish_reason or ""
    text, thinking = _parts(message.content) if isinstance(message.content, list) else (message.content or "", "")
    if not text.strip() and finish == "content_filter":
        raise ProviderError("content_filter", f"{where}: the endpoint's filter took the whole reply", status=200)
    if not text.strip() and message.refusal:
        raise ProviderError("refusal", f"{where}: the model declined to answer", status=200)
    text, tagged = split_thinking(text)
    told = message.reasoning_content or message.reasoning
    pieces = (told if isinstance(told, str) else "", thinking, tagged)
    thinking = "\n\n".join(piece for piece in pieces if piece)
    return Completion(text, thinking, finish, read.model or name, read_usage(read.usage, price))


def _parts(parts: list[Any]) -> tuple[str, str]:
    """(answer, thinking) of a content that comes in parts of type `text` and `thinking`."""
    texts: list[str] = []
    thoughts: list[str] = []
    for part in parts:
        if not isinstance(part, dict):
            continue
        inner = part.get("thinking")
        if isinstance(inner, list):
            thoughts.append(_parts(inner)[0])
        elif isinstance(inner, str):
            thoughts.append(inner)
        elif isinstance(part.get("text"), str):
            texts.append(part["text"])
    return "".join(texts), "\n".join(thoughts)


def _malformed(where: str, body: bytes) -> ProviderError:
    first = body.lstrip()[:1]
    looks = "a web page" if first == b"<" else "nothing" if not first else "broken or other JSON"
    return ProviderError("malformed", f"{where}: the reply is no chat completion but {looks}", status=200)


def _hidden_error(where: str, error: Any) -> ProviderError:
    """The error some gateways send under HTTP 200; its `code` is then the real status."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    # The body is not quoted: it may repeat the prompt, which is not at hand here.
    return failure(where, status, {}, b"")
