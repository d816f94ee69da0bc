"""Reads the body of a reply of the Responses API."""

from typing import Any

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.prices import Price
from wardround.engine.models.thinking import split_thinking
from wardround.engine.models.usage import read_usage
from wardround.engine.records import Completion


class _Text(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    content: list[_Text] | None = None
    summary: list[_Text] | None = None


class _Reason(msgspec.Struct):
    reason: str | None = None
    code: str | None = None


class _Body(msgspec.Struct):
    output: list[_Item]
    status: str | None = None
    model: str | None = None
    usage: Any = None
    error: _Reason | None = None
    incomplete_details: _Reason | None = None


_decode = msgspec.json.Decoder(_Body).decode
_FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def read_response(body: bytes, where: str, name: str, price: Price | None = None) -> Completion:
    """The completion in `body` (latency not filled in); `finish` in the words of chat completions.

    Raises ProviderError: malformed, empty (nothing said and no reason given), refusal, content_filter, or what the
    endpoint says under HTTP 200 (rate_limit, server).
    """
    try:
        read = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ProviderError("malformed", f"{where}: the reply is none of the Responses API", status=200) from None
    if read.status == "failed" or read.error:
        code = (read.error.code if read.error else None) or ""
        kind = "rate_limit" if "rate_limit" in code else "server"
        raise ProviderError(kind, f"{where}: the endpoint reports that it failed", status=200)
    finish = "stop"
    if read.status == "incomplete":
        reason = (read.incomplete_details.reason if read.incomplete_details else None) or "incomplete"
        finish = _FINISH.get(reason, reason)
    spoken = [part for item in read.output if item.type == "message" for part in item.content or ()]
    text = "".join(part.text or "" for part in spoken if part.type == "output_text")
    if not text.strip() and finish == "content_filter":
        raise ProviderError("content_filter", f"{where}: the endpoint's filter took the whole reply", status=200)
    if not text.strip() and any(part.refusal for part in spoken):
        raise ProviderError("refusal", f"{where}: the model declined to answer", status=200)
    if not read.output and finish == "stop":
        raise ProviderError("empty", f"{where}: the reply holds no output", status=200)
    text, tagged = split_thinking(text)
    thoughts = [part.text for item in read.output if item.type == "reasoning" for part in _thoughts(item) if part.text]
    thinking = "\n\n".join([*thoughts, tagged] if tagged else thoughts)
    usage = read_usage(read.usage, price, into="input", out="output")
    return Completion(text, thinking, finish, read.model or name, usage)


def _thoughts(item: Any) -> list[_Text]:
    """The thinking itself where the endpoint shows it, else its summary."""
    return item.content or item.summary or []
