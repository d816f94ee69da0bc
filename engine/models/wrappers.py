"""Wrappers round a model: each question asked once, replies of valid text, restricted talk kept at home."""

import asyncio
import copy
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import msgspec

from wardround.engine.calls import Cache, feed
from wardround.engine.errors import EgressError, ProviderError
from wardround.engine.models.hosts import is_loopback, normal
from wardround.engine.once import Once
from wardround.engine.protocols import Model, Wrapped
from wardround.engine.records import Completion, Json, Message

_encode = msgspec.json.Encoder(order="deterministic").encode


class Single(Wrapped):
    """A model that is asked each question once by all who share it.

    A question is the messages, the purpose, the options, and the role that asks (`bound`): two roles are two voices,
    and have answers of their own. Who asks while the question is under way waits for its answer and gets it marked
    `recalled`, with its usage, the time of its own waiting as `latency`, and nothing spent; or gets the ProviderError,
    which came after all retries. If the one that asked is cancelled, or ends by anything else, the next of them asks.

    With a `cache` an answer is looked up there before it is asked for, and kept there before it is handed out, so that
    no question of all that share the cache goes out twice. Without one only questions at the same time are joined.
    Nothing is held in memory but the questions under way.
    """

    def __init__(self, model: Model, cache: Cache | None = None) -> None:
        super().__init__(model)
        self.cache, self.role = cache, ""
        self._once = Once[Completion](ProviderError)

    def bound(self, role: str, episode: str) -> "Single":
        """For one seat and episode; what is under way is known to all that are bound from one."""
        made = copy.copy(self)
        made.role, made.model = role, self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The answer, whoever asked for it; raises ProviderError."""
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

    async def aclose(self) -> None:
        """Close the model."""
        await self.model.aclose()


def _key(messages: Sequence[Message], who: tuple[str, str], options: Mapping[str, Json]) -> str:
    hasher = blake2b(_encode([*who, options]), digest_size=16)
    for message in messages:
        feed(hasher, message)
    return hasher.hexdigest()


LONGEST = 2_000_000
"""Characters of a reply and its thinking together: more than any model writes in its longest reply."""
TOO_LONG = "too_long"
"""Kind of the failed call whose reply is longer: it lies in the model that wrote it, and its seat's is the fault."""


class WellFormed(Wrapped):
    """Half of a surrogate pair, which no store takes, becomes U+FFFD; what cannot be made out is `malformed`.

    A reply longer than `LONGEST` is `too_long` and kept by nobody: no model should fill the memory.
    """

    def bound(self, role: str, episode: str) -> "WellFormed":
        """For one seat and episode."""
        return WellFormed(self.model.bound(role, episode))

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
        if (text, thinking) == (reply.text, reply.thinking):
            return reply
        return msgspec.structs.replace(reply, text=text, thinking=thinking)


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

    A host is allowed by its whole name: not by a suffix, and not by what it resolves to. Raises UsageError if an entry
    of `hosts` is no host.
    """
    named = {normal(entry) for entry in hosts}
    return not host or is_loopback(host) or host in named


class Guarded(Wrapped):
    """A model that, if `restricted`, refuses before the first byte leaves for a host that is not allowed.

    Of a fleet every host must be allowed: which of them a call goes to is not known before.
    """

    def __init__(self, model: Model, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        super().__init__(model)
        self._closed = tuple(host for host in self.hosts if restricted and not allowed(host, allowed_hosts))

    def bound(self, role: str, episode: str) -> "Guarded":
        """For one seat and episode."""
        made = copy.copy(self)
        made.model = self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises EgressError."""
        if self._closed:
            host = self._closed[0]
            raise EgressError(
                f"restricted text was about to be sent to {host} ({self.name}), which is neither this machine nor "
                f"named: if your agreement on the data permits it, add --allow-host {host}"
            )
        return await self.model.complete(messages, purpose=purpose, **options)
