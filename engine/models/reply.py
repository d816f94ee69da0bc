"""Reads the body of a chat completion: answer and thinking apart, usage, finish reason."""

from typing import Any

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.models.thinking import split_thinking
from wardround.engine.models.usage import read_usage
from wardround.engine.records import Completion


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
