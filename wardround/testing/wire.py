"""The bytes that the loopback server sends, and the faults that it can simulate."""

import random
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Literal, Protocol

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.models.reply import fits_schema, smallest_fit
from wardround.engine.records import Json, Message

KINDS = (
    "rate_limit",  # 429, with Retry-After if there is a `retry_after`
    "quota",  # 429 that waiting does not help
    "server_error",  # 500
    "reset",  # the connection is reset, nothing is sent
    "stall",  # nothing is sent for `seconds`, then the reply
    "truncated",  # the reply breaks off in the middle
    "malformed",  # 200, and a body that is not JSON
    "web_page",  # 200, and HTML
    "empty",  # 200, and a message without text
    "no_choices",  # 200, and no message
    "refusal",  # 200, and a formal refusal
    "filtered",  # 400 of a content filter
    "context_overflow",  # 400
    "unknown_model",  # 404
    "expired_key",  # 401
    "redirect",  # 307 to `location`
)
"""The kinds of fault, each with what the client gets."""


class Fault(msgspec.Struct, frozen=True):
    """One fault, of a kind in KINDS.

    `retry_after` is in seconds, or a text that is sent unchanged (an HTTP date). `seconds` is the length of a stall,
    `location` the address that a redirect names.
    """

    kind: str
    retry_after: float | str | None = None
    seconds: float = 3600.0
    location: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"there is no fault {self.kind!r}; there are: {', '.join(KINDS)}")


class Faults(Protocol):
    """Chooses which requests fail, and how."""

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of request `number` (from 0), the `occurrence`-th (from 0) whose body has the hash `digest`."""


class Schedule:
    """Gives the n-th request the n-th fault; None is no fault, and requests after the end of the list succeed."""

    def __init__(self, faults: Sequence[Fault | str | None]) -> None:
        self._faults = [Fault(fault) if isinstance(fault, str) else fault for fault in faults]

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of this request."""
        return self._faults[number] if number < len(self._faults) else None


class Rates:
    """Makes requests fail with the probabilities of `rates`, drawn from the seed, the body and its occurrence.

    ::

        Loopback(faults=Rates({"rate_limit": 0.1, "server_error": 0.01}, seed=1))

    The draw does not depend on the order in which requests arrive. `first` limits faults to that many occurrences of
    one body.
    """

    def __init__(self, rates: Mapping[Fault | str, float], seed: int = 0, first: int | None = None) -> None:
        self._rates = [(Fault(kind) if isinstance(kind, str) else kind, rate) for kind, rate in rates.items()]
        self._seed, self._first = seed, first
        if sum(rates.values()) > 1 or any(rate < 0 for rate in rates.values()):
            raise UsageError(f"rates of faults must lie between 0 and 1 together, not {list(rates.values())}")

    def pick(self, number: int, digest: str, occurrence: int) -> Fault | None:
        """The fault of this request."""
        if self._first is not None and occurrence >= self._first:
            return None
        draw = random.Random(f"{self._seed}/{digest}/{occurrence}").random()
        for fault, rate in self._rates:
            draw -= rate
            if draw < 0:
                return fault
        return None


_encode = msgspec.json.Encoder().encode

Answer = str | Mapping[str, Json]
"""The result of a reply function: a text, or a whole `message` object (`content`, `reasoning_content`, `refusal` ...).

`finish_reason` and `logprobs` in the object are those of the choice.
"""


Shapes = Literal["ignored", "refused", "taken"]
"""How the server treats a request for a shape of the reply."""


class ReceivedRequest(msgspec.Struct, frozen=True):
    """One request as received by the server; `body` is its JSON, `headers` have lower-case names."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Json:
        """The decoded body."""
        return msgspec.json.decode(self.body)


class _Turn(msgspec.Struct):
    role: str = "user"
    content: Json = ""


class RequestBody(msgspec.Struct):
    """The fields of a request's body that the server needs, in the form of chat completions or the Responses API."""

    model: str = ""
    messages: list[_Turn] = []
    input: str | list[_Turn] = ""
    response_format: dict[str, Json] = {}
    text: dict[str, Json] = {}

    def shape(self) -> Mapping[str, Json]:
        """The JSON schema that the reply must fit; empty if there is none."""
        wanted = self.response_format.get("json_schema") or self.text.get("format") or {}
        return dict(wanted.get("schema") or {})

    def conversation(self) -> list[Message]:
        """The messages, with content in parts joined."""
        turns = self.messages or ([_Turn("user", self.input)] if isinstance(self.input, str) else self.input)
        return [Message(turn.role, _text(turn.content)) for turn in turns]


def fit_shape(answer: Answer, shape: Mapping[str, Json]) -> Answer:
    """`answer` as sent by an endpoint that enforces the shape: replaced by the smallest value if it does not fit."""
    message = {"content": answer} if isinstance(answer, str) else dict(answer)
    try:
        value = msgspec.json.decode(message.get("content") or "")
    except msgspec.DecodeError:
        value = None
    if shape and not fits_schema(value, shape):
        message["content"] = _encode(smallest_fit(shape)).decode()
    return message


read_question = msgspec.json.Decoder(RequestBody).decode


def echo_last(messages: Sequence[Message], model: str) -> Answer:
    """The default reply: the last message."""
    return messages[-1].content if messages else ""


Reply = Callable[[Sequence[Message], str], Answer]
"""A reply function: from the messages and the model's name to the answer."""


def http(status: int, body: bytes, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP/1.1 reply."""
    if status == 200 and not headers:
        return (b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)) + body
    lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}"]
    sent = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    lines += [f"{name}: {value}" for name, value in sent.items()]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + body


def completion(answer: Answer, model: str, prompt_chars: int) -> bytes:
    """The body of a chat completion; a token is counted as four characters."""
    message: dict[str, Json] = (
        {"role": "assistant", "content": answer} if isinstance(answer, str) else {"role": "assistant", **answer}
    )
    finish, logprobs = message.pop("finish_reason", "stop"), message.pop("logprobs", None)
    said, thought = _lengths(message)
    return _encode(
        {
            "id": "chatcmpl-loopback",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": logprobs}],
            "usage": {
                "prompt_tokens": prompt_chars // 4,
                "completion_tokens": said + thought,
                "total_tokens": prompt_chars // 4 + said + thought,
                "completion_tokens_details": {"reasoning_tokens": thought},
                "prompt_tokens_details": {"cached_tokens": 0},
            },
        }
    )


def response(answer: Answer, model: str, prompt_chars: int, *, refused: bool = False) -> bytes:
    """The body of a reply of the Responses API."""
    message: Mapping[str, Json] = {"content": answer} if isinstance(answer, str) else answer
    said, thought = _lengths(message)
    output: list[Json] = []
    if reasoning := message.get("reasoning_content"):
        summary = [{"type": "summary_text", "text": reasoning}]
        output.append({"type": "reasoning", "id": "rs_loopback", "summary": summary})
    part: dict[str, Json] = {"type": "output_text", "text": message.get("content") or "", "annotations": []}
    if refused:
        part = {"type": "refusal", "refusal": "I cannot help with that."}
    output.append(
        {"type": "message", "id": "msg_loopback", "role": "assistant", "status": "completed", "content": [part]}
    )
    return _encode(
        {
            "id": "resp_loopback",
            "object": "response",
            "created_at": 0,
            "status": "completed",
            "model": model,
            "output": output,
            "usage": {
                "input_tokens": prompt_chars // 4,
                "output_tokens": said + thought,
                "total_tokens": prompt_chars // 4 + said + thought,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens_details": {"reasoning_tokens": thought},
            },
        }
    )


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> bytes:
    """A whole HTTP reply with an error."""
    body = {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}}
    return http(status, _encode(body), headers)


_OTHER_NAME = {"max_tokens": " Use 'max_completion_tokens' instead."}


def unsupported_param(param: str) -> bytes:
    """A whole HTTP reply that refuses a parameter of the request."""
    said = f"Unsupported parameter: '{param}' is not supported with this model.{_OTHER_NAME.get(param, '')}"
    body = {
        "error": {"message": said, "type": "invalid_request_error", "code": "unsupported_parameter", "param": param}
    }
    return http(400, _encode(body))


def refusal(fault: Fault, model: str) -> bytes | None:
    """The whole reply of a fault, or None for a fault that spoils a normal reply."""
    wait = {} if fault.retry_after is None else {"Retry-After": str(fault.retry_after)}
    match fault.kind:
        case "rate_limit":
            return error(429, "rate_limit_exceeded", "Rate limit reached.", wait)
        case "quota":
            return error(429, "insufficient_quota", "The quota is used up.", wait)
        case "server_error":
            return error(500, "server_error", "The server had an error.", wait)
        case "filtered":
            return error(400, "content_filter", "The prompt was filtered.")
        case "context_overflow":
            return error(400, "context_length_exceeded", "The maximum context length is 8 tokens.")
        case "unknown_model":
            return error(404, "model_not_found", f"The model {model} does not exist.")
        case "expired_key":
            return error(401, "invalid_api_key", "The API key has expired.")
        case "malformed":
            return http(200, b'{"choices": [{"message": {"content": ')
        case "web_page":
            return http(200, b"<!doctype html><title>Welcome</title>", {"Content-Type": "text/html"})
        case "redirect":
            return http(307, b"", {"Location": fault.location})
    return None


def _lengths(message: Mapping[str, Json]) -> tuple[int, int]:
    """Tokens of (answer, thinking)."""
    thought = message.get("reasoning_content") or message.get("reasoning") or ""
    return len(_text(message.get("content"))) // 4, len(str(thought)) // 4


def _text(content: Json) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""
