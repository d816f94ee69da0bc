"""Reads a reply: answer and thinking, usage, finish reason, and the requested shape (JSON schema)."""

import re
from collections.abc import Mapping, Sequence
from math import log

import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.records import Completion, Json, Message, Usage

_TAG = re.compile(r"<(/?)(?:seed:|mm:)?(think(?:ing)?|thoughts?)>|\[(/?)(THINK)\]", re.IGNORECASE)
"""The tags of a thinking part; a block is closed by a tag of the same name."""
_CHANNEL = re.compile(
    r"(?:<\|start\|>assistant)?<\|channel\|>(?P<channel>\w+)[^<]*<\|message\|>(?P<text>.*?)"
    r"(?=<\|(?:end|return|call|start|channel)\|>|\Z)(?:<\|(?:end|return|call)\|>)?",
    re.DOTALL,
)
"""One message in the format of gpt-oss."""
_MARKED = (
    re.compile(r"\s*<unused94>(?:thought\n)?(?P<thinking>.*?)(?:<unused95>|\Z)", re.DOTALL),
    re.compile(r"\s*<\|begin_of_thought\|>(?P<thinking>.*?)(?:<\|end_of_thought\|>|\Z)", re.DOTALL),
    re.compile(r"\s*◁think▷(?P<thinking>.*?)(?:◁/think▷|\Z)", re.DOTALL),
    re.compile(r"\s*analysis(?P<thinking>.*?)assistantfinal", re.DOTALL),  # gpt-oss without its special tokens
    re.compile(r"\s*## Thinking\n(?P<thinking>.*?)\n## Final Response\n", re.DOTALL),
)
"""Other marks of a thinking part at the beginning of a text."""
_MARKS = ("<unused94>", "<|begin_of_thought|>", "◁think▷", "analysis", "## Thinking\n")
"""The beginnings of these marks, after white space."""
_FRAME = re.compile(r"<\|begin_of_solution\|>|<\|end_of_solution\|>")


def split_thinking(text: str) -> tuple[str, str]:
    """Split a text into (answer, thinking).

    Only a block at the beginning of the text counts, in any of the known marks (`<think>` and its kin, `[THINK]`, the
    channels of gpt-oss, and others); a later one belongs to the answer. A block that is never closed is all thinking.
    Nested blocks belong to the outer one. The chat template of several models writes the opening tag itself, so that
    the text begins inside the block; it is then split at `</think>`. A text without such a block is returned unchanged.
    """
    if "<|channel|>" in text[:200]:
        return _channels(text)
    for marks in _MARKED if text.lstrip().startswith(_MARKS) else ():
        if block := marks.match(text):
            return _FRAME.sub("", text[block.end() :]).strip(), block["thinking"].strip()
    first = _TAG.search(text) if "<" in text or "[" in text else None
    if first is None:
        return text, ""
    if _closes(first):
        if _word(first) not in ("think", "[think]"):
            return text, ""
        return text[first.end() :].lstrip(), text[: first.start()].strip()
    if text[: first.start()].strip():
        return text, ""
    close = _close(text, first)
    if close is None:
        return "", text[first.end() :].strip()
    return text[close.end() :].lstrip(), text[first.end() : close.start()].strip()


def _channels(text: str) -> tuple[str, str]:
    """(answer, thinking) of a text in channels: `final` is the answer, every other one is thinking."""
    messages = list(_CHANNEL.finditer(text))
    if not messages or text[: messages[0].start()].strip():
        return text, ""
    parts: dict[bool, list[str]] = {True: [], False: []}
    for message in messages:
        parts[message["channel"] == "final"].append(message["text"].strip())
    return "\n\n".join(parts[True]), "\n\n".join(parts[False])


def _closes(tag: re.Match[str]) -> bool:
    return bool(tag[1] or tag[3])


def _word(tag: re.Match[str]) -> str:
    return f"[{tag[4].lower()}]" if tag[4] else tag[2].lower()


def _close(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """The tag that closes a block: the one at which the tags of its name balance, else the last closing tag."""
    depth, last = 1, None
    for tag in _TAG.finditer(text, opening.end()):
        if _word(tag) != _word(opening):
            continue
        depth += -1 if _closes(tag) else 1
        if _closes(tag):
            last = tag
        if depth == 0:
            return tag
    return last


_MOST = 2**53
"""The largest count of tokens that is accepted: larger integers are not exact in every JSON reader."""


def read_usage(usage: Json, price: Price | None, *, into: str = "prompt", out: str = "completion") -> Usage:
    """The tokens in a reply's `usage`; `into` and `out` are the API's words for prompt and completion.

    A missing count counts as 0. If the prompt or the completion count is missing, the cost is unknown.
    """
    prompt, completion = _count(usage, f"{into}_tokens"), _count(usage, f"{out}_tokens")
    cached = _count(_part(usage, f"{into}_tokens_details"), "cached_tokens") or 0
    reasoning = _count(_part(usage, f"{out}_tokens_details"), "reasoning_tokens") or 0
    cost = None
    if price is not None and prompt is not None and completion is not None:
        cost = price.cost(prompt, completion, cached)
    return Usage(prompt or 0, completion or 0, reasoning, cached, cost)


def counts_both(usage: Json) -> bool:
    """Whether `usage` has both the prompt and the completion count, as named in chat completions."""
    return _count(usage, "prompt_tokens") is not None and _count(usage, "completion_tokens") is not None


def _part(usage: Json, name: str) -> Json:
    return usage.get(name) if isinstance(usage, dict) else None


def _count(usage: Json, name: str) -> int | None:
    """A number of tokens; None if it is missing or not a number from 0 to 2**53."""
    value = usage.get(name) if isinstance(usage, dict) else None
    if value.__class__ is int and 0 <= value <= _MOST:
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST:
        return None
    return int(value)


def turns(messages: Sequence[Message]) -> list[Json]:
    """The messages as JSON objects of chat completions."""
    return [
        {"role": message.role, "content": message.content, **message.more}
        if message.more
        else {"role": message.role, "content": message.content}
        for message in messages
    ]


SHAPE_OPTION = "shape"
"""The option of a call that has the JSON schema of its reply."""
SCHEMA_NAME = "reply"
"""The name of every schema; it never changes, because some endpoints cache compiled schemas."""


def chat_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options for chat completions: those that are None left out, `shape` as `response_format`."""
    sent, shape = _part_options(options, "response_format")
    if shape:
        named = {"name": SCHEMA_NAME, "schema": shape, "strict": True}
        sent["response_format"] = {"type": "json_schema", "json_schema": named}
    return sent


def response_options(options: Mapping[str, Json]) -> dict[str, Json]:
    """A call's options for the Responses API: those that are None left out, `shape` as `text.format`."""
    sent, shape = _part_options(options, "text")
    if shape:
        sent["text"] = {"format": {"type": "json_schema", "name": SCHEMA_NAME, "schema": shape, "strict": True}}
    return sent


def _part_options(options: Mapping[str, Json], field: str) -> tuple[dict[str, Json], Json]:
    sent = {name: value for name, value in options.items() if value is not None}
    shape = sent.pop(SHAPE_OPTION, None)
    if shape and field in sent:
        raise UsageError(
            f"a call has the options `{SHAPE_OPTION}` and `{field}`, which both say what its reply is to be"
        )
    return sent, shape


def fits_schema(value: Json, schema: Mapping[str, Json]) -> bool:
    """Whether a value fits a schema of the kind that strict endpoints accept: types, `enum`, closed objects."""
    if "enum" in schema:
        return any(value == one and type(value) is type(one) for one in schema["enum"])
    match schema.get("type"):
        case "object":
            fields: Mapping[str, Json] = schema.get("properties", {})
            return (
                isinstance(value, dict)
                and value.keys() == fields.keys()
                and all(fits_schema(value[name], fields[name]) for name in fields)
            )
        case "array":
            return isinstance(value, list) and all(fits_schema(one, schema.get("items", {})) for one in value)
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


def smallest_fit(schema: Mapping[str, Json]) -> Json:
    """The smallest value that fits the schema; the loopback server sends it if a shape is required."""
    choices: Sequence[Json] = schema.get("enum", ())
    if choices:
        return choices[0]
    match schema.get("type"):
        case "object":
            return {name: smallest_fit(field) for name, field in schema.get("properties", {}).items()}
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
    content: str | list[Json] | None = None
    reasoning_content: Json = None
    reasoning: Json = None
    refusal: Json = None
    tool_calls: list[dict[str, Json]] | None = None
    thinking: Json = None
    thought: Json = None
    thinking_blocks: Json = None
    reasoning_details: Json = None


class _Choice(msgspec.Struct):
    message: _Message | None = None
    finish_reason: str | None = None
    logprobs: Json = None


class _Body(msgspec.Struct):
    choices: list[_Choice] | None = None
    usage: Json = None
    model: str | None = None
    error: Json = None
    completion_probabilities: Json = None


_decode = msgspec.json.Decoder(_Body).decode


def read_reply(body: bytes, where: str, name: str, price: Price | None = None) -> Completion:
    """The completion in `body`, without its latency; unknown fields are ignored.

    Raises ProviderError: malformed (no chat completion), empty (no choice in it), content_filter (a filter removed the
    whole reply), refusal (the model formally declined), or the kind of an error sent under HTTP 200.
    """
    try:
        read = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise _malformed_error(where, body) from None
    return _completion(read, where, name, price)


def read_object(reply: Json, where: str, name: str, price: Price | None = None) -> Completion:
    """Like `read_reply`, for a reply that a library has already decoded; raises ProviderError likewise."""
    try:
        read = msgspec.convert(reply, _Body)
    except (msgspec.ValidationError, RecursionError):
        raise _malformed_error(where, b"{") from None
    return _completion(read, where, name, price)


def _completion(read: _Body, where: str, name: str, price: Price | None) -> Completion:
    if read.error and not read.choices:
        raise _hidden_error(where, read.error)
    if read.choices is None:
        raise _malformed_error(where, b"{")
    if not read.choices or read.choices[0].message is None:
        raise ProviderError("empty", f"{where}: the reply has no message in `choices`", status=200)
    choice, message = read.choices[0], read.choices[0].message
    finish = choice.finish_reason or ""
    text, thinking = _parts(message.content) if isinstance(message.content, list) else (message.content or "", "")
    if not text.strip() and finish == "content_filter":
        raise ProviderError("content_filter", f"{where}: the endpoint's filter took the whole reply", status=200)
    if not text.strip() and message.refusal:
        raise ProviderError("refusal", f"{where}: the model declined to answer", status=200)
    text, tagged = split_thinking(text)
    thinking = "\n\n".join(piece for piece in (_thought(message), thinking, tagged) if piece)
    more = {"tool_calls": message.tool_calls, "logprobs": _logprobs(choice.logprobs or read.completion_probabilities)}
    kept = {field: value for field, value in more.items() if value}
    return Completion(text, thinking, finish, read.model or name, read_usage(read.usage, price), more=kept)


def _logprobs(field: Json) -> dict[str, Json] | None:
    """The log-probabilities of a reply in the form of chat completions; None if there are none in a known form.

    The other known forms are rows without `content` around them, the form of plain completions (vLLM, Together), and
    the probabilities of older llama.cpp servers.
    """
    if isinstance(field, dict) and isinstance(field.get("content"), list):
        return field
    rows = field if isinstance(field, list) else _plain_rows(field) if isinstance(field, dict) else []
    content = [row for row in map(_logprob_row, rows) if row]
    return {"content": content} if content else None


def _plain_rows(field: Mapping[str, Json]) -> list[Json]:
    """The rows of plain completions: lists of tokens, of their values, and of the alternatives by token."""
    lists = [field.get(name) or () for name in ("tokens", "token_logprobs", "top_logprobs")]
    tokens, values, tops = (one if isinstance(one, list) else [] for one in lists)
    rows: list[Json] = []
    for place, token in enumerate(tokens):
        top = tops[place] if place < len(tops) else None
        other = [{"token": name, "logprob": value} for name, value in top.items()] if isinstance(top, dict) else top
        rows.append({"token": token, "logprob": values[place] if place < len(values) else None, "top_logprobs": other})
    return rows


def _logprob_row(row: Json) -> dict[str, Json] | None:
    """A token with its alternatives, as chat completions have it; None for anything else."""
    if not isinstance(row, dict):
        return None
    if not isinstance(row.get("probs"), list):
        return row if isinstance(row.get("token"), str) else None
    pairs = [(one.get("tok_str"), one.get("prob")) for one in row["probs"] if isinstance(one, dict)]
    known = [(token, prob) for token, prob in pairs if isinstance(prob, int | float) and 0 < prob <= 1]
    top = [{"token": token, "logprob": log(prob)} for token, prob in known]
    return {"token": row.get("content", ""), "top_logprobs": top}


def _thought(message: _Message) -> str:
    """The thinking in the fields of a message: the first field that has any, since gateways send it under several."""
    for said in (
        message.reasoning_content,
        message.reasoning,
        message.thinking,
        message.thought,
        message.thinking_blocks,
        message.reasoning_details,
    ):
        if said is None:
            continue
        if isinstance(said, str) and said.strip():
            return said
        blocks = said if isinstance(said, list) else [said]
        texts = [_block_text(block) for block in blocks if isinstance(block, dict)]
        if any(texts):
            return "\n\n".join(text for text in texts if text)
    return ""


def _block_text(block: Mapping[str, Json]) -> str:
    """The text of one block of thinking; one that is encrypted has none."""
    inner = next((block[name] for name in ("thinking", "text", "summary", "content") if block.get(name)), "")
    if isinstance(inner, list):
        return "\n".join(_block_text(one) for one in inner if isinstance(one, dict))
    return inner if isinstance(inner, str) else ""


def _parts(parts: list[Json]) -> tuple[str, str]:
    """(answer, thinking) of content that consists of parts of type `text` and `thinking`."""
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


def _malformed_error(where: str, body: bytes) -> ProviderError:
    first = body.lstrip()[:1]
    looks = "a web page" if first == b"<" else "nothing" if not first else "broken or other JSON"
    return ProviderError("malformed", f"{where}: the reply is not a chat completion but {looks}", status=200)


def _hidden_error(where: str, error: Json) -> ProviderError:
    """The error some gateways send under HTTP 200; its `code` is then the real status."""
    code = error.get("code") if isinstance(error, dict) else None
    status = code if isinstance(code, int) and 400 <= code < 600 else 502
    # The body is not quoted because it may repeat the prompt, which cannot be checked here.
    return failure(where, status, {}, b"")
