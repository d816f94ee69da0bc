"""Wraps a model to ask each question once, to keep replies valid text, and to guard restricted cases."""

import asyncio
import json
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec

from wardround.engine.calls import Cache, feed
from wardround.engine.errors import EgressError, ProviderError
from wardround.engine.models.hosts import is_loopback, normal_host
from wardround.engine.once import Once
from wardround.engine.protocols import Model, Wrapped
from wardround.engine.records import Completion, Json, Message

_encode = msgspec.json.Encoder(order="deterministic").encode


class Single(Wrapped):
    """A model that is asked each question only once by all callers that share it.

    A question consists of the messages, the purpose, the options, and the role that asks (`bound`), so that two roles
    get separate answers. A caller that asks a question under way waits for its answer. It gets the answer marked
    `recalled`, with its usage, the caller's own waiting time as `latency`, and nothing spent; or it gets the
    ProviderError, raised after all retries. If the asking caller is cancelled or fails otherwise, the next one asks.

    With a `cache`, answers are looked up there first and stored there before they are returned, so that no question is
    sent twice by the models that share the cache. Without one, only concurrent questions are joined. Only questions
    under way are kept in memory.
    """

    def __init__(self, model: Model, cache: Cache | None = None) -> None:
        super().__init__(model)
        self.cache, self.role = cache, ""
        self._once = Once[Completion](ProviderError)

    def bound(self, role: str, episode: str) -> "Single":
        """The model for one seat and episode; all models bound from one share the questions under way."""
        made = self.twin()
        made.role, made.model = role, self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The answer, possibly to another caller's request; raises ProviderError."""
        key, asked = _key(messages, (self.role, purpose), options), False

        async def ask() -> Completion:
            nonlocal asked
            asked = True
            answer = await self.cache.recall(key, 0) if self.cache else None
            if answer is None:
                answer = await self.model.complete(messages, purpose=purpose, **options)
                if self.cache and not answer.recalled:
                    await self.cache.keep(key, 0, answer)
            return answer

        now = asyncio.get_running_loop().time
        start = now()
        answer = await self._once.ask(key, ask)
        if asked:
            return answer
        return msgspec.structs.replace(answer, recalled=True, latency=now() - start, waited=0.0, attempts=0)


def _key(messages: Sequence[Message], who: tuple[str, str], options: Mapping[str, Json]) -> str:
    hasher = blake2b(_encode([*who, options]), digest_size=16)
    for message in messages:
        feed(hasher, message)
    return hasher.hexdigest()


LONGEST = 2_000_000
"""The most characters of a reply with its thinking; no model's real reply is this long."""
TOO_LONG = "too_long"
"""The kind of a failed call whose reply is longer; its own model, and so its seat, is to blame."""


class WellFormed(Wrapped):
    """A model whose replies are valid text: lone surrogates, which no store accepts, become U+FFFD.

    An undecodable reply raises ProviderError of kind `malformed`. A reply longer than `LONGEST` raises `too_long` and
    is not kept, so that no model can fill the memory.
    """

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except (UnicodeError, RecursionError) as error:
            raise ProviderError(
                "malformed", f"{self.name}: what it replied is no valid text ({type(error).__name__})"
            ) from None
        if (length := len(reply.text) + len(reply.thinking)) > LONGEST:
            raise ProviderError(TOO_LONG, f"{self.name}: its reply has {length:,} characters, of at most {LONGEST:,}")
        text, thinking = _valid(reply.text), _valid(reply.thinking)
        more = self._more(reply) if reply.more else reply.more
        if (text, thinking, more) == (reply.text, reply.thinking, reply.more):
            return reply
        return msgspec.structs.replace(reply, text=text, thinking=thinking, more=more)

    def _more(self, reply: Completion) -> Mapping[str, Json]:
        """The other fields of the reply as valid text."""
        try:
            more = json.dumps(reply.more)
        except (TypeError, ValueError) as error:
            raise ProviderError("malformed", f"{self.name}: its reply holds what is no JSON ({error})") from None
        if len(more) > LONGEST:
            raise ProviderError(
                TOO_LONG, f"{self.name}: its reply has {len(more):,} characters, of at most {LONGEST:,}"
            )
        valid: Mapping[str, Json] = json.loads(_SURROGATE.sub(_whole_or_mark, more)) if "\\ud" in more else reply.more
        return valid


_SURROGATE = re.compile(r"(\\ud[89ab][0-9a-f]{2}\\ud[c-f][0-9a-f]{2})|\\ud[89a-f][0-9a-f]{2}")
"""A pair of halves, or a half alone, as JSON escapes."""


def _whole_or_mark(match: re.Match[str]) -> str:
    return match[1] or "\\ufffd"


def _valid(text: str) -> str:
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def allowed(host: str, hosts: Sequence[str]) -> bool:
    """Whether restricted text may go to `host`: nowhere (""), literally this machine, or one of `hosts`.

    The whole name of a host must match; a suffix or the address that it resolves to does not count. Raises UsageError
    if an entry of `hosts` is not a host.
    """
    named = {normal_host(entry) for entry in hosts}
    return not host or is_loopback(host) or host in named


class EgressGuard(Wrapped):
    """A model that, if `restricted`, refuses a call before the first byte goes to a host that is not allowed.

    Every host of a fleet must be allowed, because the host of a call is not known beforehand.
    """

    def __init__(self, model: Model, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        super().__init__(model)
        self._closed = tuple(host for host in self.hosts if restricted and not allowed(host, allowed_hosts))

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises EgressError if a host is not allowed."""
        if self._closed:
            raise EgressError.to_host("the case is", self.name, self._closed[0])
        return await self.model.complete(messages, purpose=purpose, **options)
