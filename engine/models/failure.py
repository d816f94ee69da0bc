"""Turns an endpoint's error reply into a ProviderError that says what to do and contains neither key nor prompt."""

import email.utils
import re
import time
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.records import Json, Message
from wardround.engine.text import regex

_OVERFLOW = regex(
    r"context[ _](length|window|size)|prompt is too long|input is too long|too many tokens|max_model_len"
    r"|input token count|(inputs?|prompt)\b.{0,60}\btokens?\b.{0,60}(must be <=|exceed|longer)",
    re.IGNORECASE,
)
_NO_MODEL = regex(
    r"model_not_found|model.{0,120}(not found|(does )?not exist|not a valid model|is not available|deactivated)"
    r"|deploymentnotfound|unknown model|invalid model",
    re.IGNORECASE,
)
_NO_KEY = regex(
    r"(api[ _]key|token).{0,40}(not valid|invalid|incorrect|expired)|(invalid|incorrect)[ _]api[ _]key", re.I
)
_FILTER = regex(r"content_filter|content_policy|responsibleaipolicy|content management policy", re.I)
_QUOTA = regex(r"insufficient_quota|exceeded your current quota|billing|insufficient.{0,10}(balance|credit)", re.I)
_KEYLIKE = regex(r"\b(sk|pk|key|gsk|xai)[-_][\w*.-]{6,}|Bearer\s+\S+", re.IGNORECASE)

_ANY = re.compile("")
_KINDS = (
    ("context_overflow", (400, 413, 422, 500), _OVERFLOW),
    ("quota", (402,), _ANY),
    ("quota", (403, 429), _QUOTA),
    ("rate_limit", (429,), _ANY),
    ("timeout", (408,), _ANY),
    ("server", (409, 425, *range(500, 600)), _ANY),
    ("refused", (400, 403), _FILTER),
    ("unknown_model", (404,), _ANY),
    ("unknown_model", (400, 403, 422), _NO_MODEL),
    ("auth", (401, 403), _ANY),
    ("auth", (400,), _NO_KEY),
)
"""The kinds of error, in the order in which they are tried: HTTP statuses, and words of the endpoint."""

_ADVICE = {
    "auth": "the key was refused: check the key and what it may use",
    "unknown_model": "no such model or path: check the model's name and that the base URL ends where the API begins "
    "(often /v1)",
    "context_overflow": "the conversation is longer than the model's context",
    "rate_limit": "too many requests",
    "quota": "the account's quota or credit is used up",
    "refused": "the provider's content filter refused the conversation",
    "server": "the endpoint failed",
    "timeout": "the endpoint gave up waiting",
    "bad_request": "the request was refused",
    "malformed": "the reply is not a chat completion",
}


class _ErrorBody(msgspec.Struct):
    """The fields that endpoints use in the body of an error."""

    error: Json = None
    message: Json = None
    detail: Json = None
    code: Json = None
    type: Json = None


def failure(
    where: str,
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    *,
    secrets: Iterable[str] = (),
    messages: Sequence[Message] = (),
) -> ProviderError:
    """The error for a reply with HTTP `status`; `where` names model and endpoint.

    The endpoint's message is quoted in short, unless it repeats part of the prompt; `secrets` are masked.
    """
    if 300 <= status < 400:
        return ProviderError(
            "bad_request",
            f"{where}: HTTP {status}: the endpoint sends the request on to another address, which is not followed: "
            "give the final address as base URL",
            status=status,
        )
    said, code, param = _read(body)
    kind = error_kind(status, f"{code} {said}")
    quoted = quotable(f"{code}: {said}" if code and said else code or said, secrets, messages)
    message = f"{where}: HTTP {status}: {_ADVICE[kind]}" + (f" ({quoted})" if quoted else "")
    return ProviderError(kind, message, status=status, retry_after=retry_after(headers), param=param)


def error_kind(status: int, said: str) -> str:
    """The kind of an error, from the HTTP status and the endpoint's code and message."""
    return next((kind for kind, statuses, words in _KINDS if status in statuses and words.search(said)), "bad_request")


def quotable(said: str, secrets: Iterable[str] = (), messages: Sequence[Message] = ()) -> str:
    """At most 300 characters of `said` with keys masked; empty if it repeats part of the messages."""
    for secret in secrets:
        if secret:
            said = said.replace(secret, "***")
    said = " ".join(_KEYLIKE.sub("***", said).split())[:300]
    return "" if any(_shares(said, message.content) for message in messages) else said


def retry_after(headers: Mapping[str, str]) -> float | None:
    """The wait in seconds that an endpoint asks for: `retry-after-ms`, or Retry-After as seconds or as an HTTP date.

    A date is compared with the endpoint's own `Date`, so that a difference between the two clocks does no harm.
    """
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return _wait(float(milliseconds) / 1000)
        asked = (headers.get("retry-after") or "").strip()
        if not asked:
            return None
        if asked[0].isdigit() or asked[0] in "+-.":
            return _wait(float(asked))
        now = headers.get("date")
        start = email.utils.parsedate_to_datetime(now).timestamp() if now else time.time()
        return _wait(email.utils.parsedate_to_datetime(asked).timestamp() - start)
    except (ValueError, TypeError, OverflowError):
        return None


def _wait(seconds: float) -> float | None:
    return max(seconds, 0.0) if seconds < float("inf") else None


def _read(body: bytes) -> tuple[str, str, str]:
    """(message, code, parameter) of an error's body."""
    try:
        said = msgspec.json.decode(body, type=_ErrorBody)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        text = body[:2000].decode("utf-8", "replace").strip()
        return ("" if text.startswith("<") else text), "", ""
    inner = said.error if isinstance(said.error, dict) else {}
    message = inner.get("message") or said.message or said.detail or (said.error if not inner else "")
    code = inner.get("code") or inner.get("type") or said.code or said.type
    param = inner.get("param")
    return (
        message if isinstance(message, str) else "",
        str(code) if isinstance(code, str | int) else "",
        param if isinstance(param, str) else "",
    )


def _shares(said: str, prompt: str, piece: int = 12) -> bool:
    """Whether both texts share a run of 2 * `piece` - 1 characters, or `said` contains the whole of a short prompt.

    Every such run contains a whole piece of `said` that starts at a multiple of `piece`, so searching for these pieces
    is enough. A shared piece in a shorter run counts too.
    """
    said, prompt = said.casefold(), " ".join(prompt.casefold().split())
    if not prompt:
        return False
    if len(prompt) < 2 * piece:
        return len(prompt) >= 4 and prompt in said
    return any(said[start : start + piece] in prompt for start in range(0, len(said) - piece + 1, piece))
