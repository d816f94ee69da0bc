"""Wraps a model: ask a question once, keep replies valid, guard restricted cases, pass the gate, retry failed calls.

A call of a run goes through these layers, from the outside in: the log of the episode (`calls.RecordingModel`),
Illustrated (for a case with images), EgressGuard (for a restricted case), Single (for judges, whose answers all
episodes share), WellFormed, Retrying, a fleet's choice of an endpoint, Limited, and the model. Nothing else in the
project retries a call.
"""

import asyncio
import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Protocol, Self, runtime_checkable

import anyio
import msgspec

from wardround.engine.calls import feed
from wardround.engine.errors import EgressError, ProviderError, RunStopped, UsageError
from wardround.engine.limits import waiting
from wardround.engine.models.gate import CallOutcome, Gate
from wardround.engine.models.health import Silence, refused_unprocessed, retry_of
from wardround.engine.models.hosts import is_loopback, normal_host
from wardround.engine.once import Once
from wardround.engine.protocols import Cache, Model, Wrapped
from wardround.engine.records import LONGEST_REPLY, Completion, Json, Message, with_whole_images
from wardround.engine.text import count_noun

_encode = msgspec.json.Encoder(order="deterministic").encode


class _WithRole(Wrapped):
    """A wrapper that treats the calls of each role by themselves; `role` is "" until the wrapper is bound to one."""

    role = ""

    def bound(self, role: str, episode: str) -> Self:
        """The same wrapper for one seat and episode; all wrappers bound from one share its state."""
        made = self.twin()
        made.role, made.model = role, self.model.bound(role, episode)
        return made


class Single(_WithRole):
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
        self.cache = cache
        self._once = Once[Completion](ProviderError)

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


TOO_LONG = "too_long"
"""The kind of a failed call whose reply exceeds LONGEST_REPLY; the model, and so its seat, is to blame."""


class WellFormed(Wrapped):
    """A model whose replies are valid text: lone surrogates, which no store accepts, become U+FFFD.

    An undecodable reply raises ProviderError of kind `malformed`. A reply longer than `LONGEST_REPLY` raises `too_long`
    and is not kept, so that no model can fill the memory.
    """

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except (UnicodeError, RecursionError) as error:
            raise ProviderError(
                "malformed", f"{self.name}: what it replied is not valid text ({type(error).__name__})"
            ) from None
        if (length := len(reply.text) + len(reply.thinking)) > LONGEST_REPLY:
            raise ProviderError(
                TOO_LONG, f"{self.name}: its reply has {length:,} characters, of at most {LONGEST_REPLY:,}"
            )
        text, thinking = _valid(reply.text), _valid(reply.thinking)
        more = self._valid_fields(reply) if reply.more else reply.more
        if (text, thinking, more) == (reply.text, reply.thinking, reply.more):
            return reply
        return msgspec.structs.replace(reply, text=text, thinking=thinking, more=more)

    def _valid_fields(self, reply: Completion) -> Mapping[str, Json]:
        """The other fields of the reply as valid text."""
        try:
            more = json.dumps(reply.more)
        except (TypeError, ValueError) as error:
            raise ProviderError("malformed", f"{self.name}: its reply holds what is not JSON ({error})") from None
        if len(more) > LONGEST_REPLY:
            raise ProviderError(
                TOO_LONG, f"{self.name}: its reply has {len(more):,} characters, of at most {LONGEST_REPLY:,}"
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


class Illustrated(Wrapped):
    """A model that gets an episode's images in place of the references to them in its messages."""

    def __init__(self, model: Model, images: Mapping[str, str]) -> None:
        super().__init__(model)
        self._images = images

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises ProviderError."""
        sent = [with_whole_images(message, self._images) if message.more else message for message in messages]
        return await self.model.complete(sent, purpose=purpose, **options)


def may_receive(host: str, hosts: Sequence[str]) -> bool:
    """Whether restricted text may go to `host`: nowhere (""), literally this machine, or one of `hosts`.

    The whole name of a host must match; a suffix or the address that it resolves to does not count. Raises UsageError
    if an entry of `hosts` is not a host.
    """
    named = {normal_host(entry) for entry in hosts}  # raises UsageError for an invalid one, whatever the host is
    return not host or is_loopback(host) or host in named


class EgressGuard(Wrapped):
    """A model that, if `restricted`, refuses a call before the first byte goes to a host that is not allowed.

    Every host of a fleet must be allowed, because the host of a call is not known beforehand.
    """

    def __init__(self, model: Model, allowed_hosts: Sequence[str] = (), *, restricted: bool) -> None:
        super().__init__(model)
        self._closed = tuple(host for host in self.hosts if restricted and not may_receive(host, allowed_hosts))

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion; raises EgressError if a host is not allowed."""
        if self._closed:
            raise EgressError.to_host("the case is", self.name, self._closed[0])
        return await self.model.complete(messages, purpose=purpose, **options)


USUAL_REPLY = 500
"""Tokens expected of a reply before its usual length is known."""
CHARS_PER_TOKEN = 4
"""Characters of a prompt that count as one token."""
MEAN_WEIGHT = 0.1
"""Weight of the latest reply in the mean length of replies."""


class _Replies:
    """The mean length of replies in tokens, by role; shared by all models bound from one Limited."""

    def __init__(self) -> None:
        self._mean: dict[str, float] = {}

    def add(self, role: str, tokens: int) -> None:
        mean = self._mean.get(role)
        self._mean[role] = tokens if mean is None else mean + MEAN_WEIGHT * (tokens - mean)

    def expected(self, role: str, most: object) -> int:
        """The expected tokens of the next reply, at most `most`."""
        limit = most if isinstance(most, int) else None
        mean = self._mean.get(role)
        expected = int(mean) + 1 if mean is not None else limit or USUAL_REPLY
        return min(expected, limit) if limit else expected


@runtime_checkable
class Gated(Protocol):
    """A model whose calls pass gates: one, or those of all members of a fleet."""

    @property
    def gates(self) -> tuple[Gate, ...]:
        """The gates."""


class Limited(_WithRole):
    """A model whose calls pass the gate of its endpoint and key; the time spent waiting there counts as `waited`.

    It reserves a token for every four characters of the prompt, plus the mean length of the role's replies (before the
    first reply: `max_tokens`, else USUAL_REPLY).
    """

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self.gate = gate
        self.gates = (gate,)
        self._replies = _Replies()

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion, once it is this call's turn; raises ProviderError, or RunStopped at a daily quota."""
        gate = self.gate
        tokens = self._tokens(messages, options) if gate.counts_tokens else 0
        permit = gate.enter_now(tokens) or await gate.enter(self.role, tokens)
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            gate.leave(permit, CallOutcome(error.kind, status=error.status, retry_after=error.retry_after))
            error.waited = permit.waited
            raise
        except BaseException:
            gate.leave(permit, CallOutcome("cancelled"))
            raise
        usage = reply.usage
        counted = usage.prompt or usage.completion  # not every endpoint counts tokens
        gate.leave(permit, CallOutcome("ok", usage=usage if counted else None))
        if counted and gate.counts_tokens:
            self._replies.add(self.role, usage.completion)
        if permit.waited:
            waited = reply.waited + permit.waited
            return msgspec.structs.replace(reply, latency=reply.latency + permit.waited, waited=waited)
        return reply

    def _tokens(self, messages: Sequence[Message], options: dict[str, Json]) -> int:
        prompt = sum(len(message.content) for message in messages) // CHARS_PER_TOKEN
        return prompt + self._replies.expected(self.role, options.get("max_tokens"))


TEMPORARY = frozenset(("rate_limit", "server", "timeout", "connection", "malformed", "empty"))
"""Kinds of error that may be temporary; all others are raised at once."""


BRAKE = 3
"""Consecutive calls refused for the key, the credit or the model's name, after which the run stops."""
HONOURED = 3
"""Consecutive refusals for which the endpoint's Retry-After is trusted."""


class Patience(msgspec.Struct, frozen=True):
    """How long to go on retrying a call. `attempts` includes the first one.

    The wait after the n-th failed attempt is drawn uniformly from 0 to min(`longest`, `first` * 2**(n-1)) seconds (full
    jitter), by `seed`. After a refusal (429, 503, 529, or no listener) it is drawn from the upper half of that range,
    so that 14 attempts outlast any quota window of 60 seconds. If the endpoint sends Retry-After, the wait is that time
    plus a random time of at most min(Retry-After, 4 * `first`). After more than HONOURED attempts it is no shorter than
    after n - HONOURED attempts without Retry-After, because what the endpoint said has proved wrong. There is no wait
    if another endpoint is ready. No attempt starts later than `total` seconds after the first, not counting the time
    spent waiting for a free place.

    If an endpoint refuses every call, or nothing listens there, the calls are not to blame. A call that fails in this
    way when no call has succeeded for `silence` seconds stops the run instead of ending its episode. That is less time
    than 14 attempts take.
    """

    attempts: int = 14
    total: float = 600.0
    first: float = 0.25
    longest: float = 60.0
    seed: int = 0
    silence: float = 180.0

    @classmethod
    def lasting(cls, silence: float) -> "Patience":
        """The patience with which calls to an endpoint that refuses all go on until `silence` (s) stops the run.

        A late refusal is followed by a wait of at least half of `longest`, so each such wait adds one attempt.
        """
        usual = cls()
        more = max(0.0, silence - usual.silence)
        attempts = usual.attempts + math.ceil(more / (usual.longest / 2))
        return cls(attempts=attempts, total=usual.total + more, silence=silence)

    def __post_init__(self) -> None:
        if self.attempts < 1 or min(self.total, self.first, self.longest, self.silence) < 0:
            raise UsageError(f"retries need at least one attempt and no negative time: {self}")


class Retrying(Wrapped):
    """A model whose failed calls are retried with `patience`; a call that succeeds at once costs nothing extra.

    All models bound from one share the random numbers for the waits.
    """

    def __init__(self, model: Model, patience: Patience | None = None) -> None:
        super().__init__(model)
        self.patience = patience or Patience()
        self._random = random.Random(self.patience.seed)
        self._gates = model.gates if isinstance(model, Gated) else ()

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion, with the number of attempts, the time over all of them, and the waiting time within it.

        Raises the last ProviderError, whose message says how often and how long the call was tried. Raises RunStopped,
        even during a wait, if the run is stopped or must stop because its endpoint answers no call.
        """
        now = asyncio.get_running_loop().time  # a fifth of the cost of anyio's
        start = now()
        try:
            return await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            failed = error
        attempts, queued, slept = 1, failed.waited, 0.0
        silences = [gate.silence for gate in self._gates] or [Silence(self.address or self.name)]
        with retry_of(silences):
            while True:
                if not self._gates:
                    silences[0].failed(failed.kind, failed.status, now(), 0)
                self._blame(failed, now())
                spent = now() - start - queued
                wait = self._wait(failed, attempts, spent)
                if wait is None:
                    raise _with_attempts(failed, attempts, spent + queued) from None
                await self._pause(wait, silences, now())
                attempts, slept = attempts + 1, slept + wait
                try:
                    reply = await self.model.complete(messages, purpose=purpose, **options)
                except ProviderError as error:
                    failed = error
                    queued += failed.waited
                    continue
                if not self._gates:
                    silences[0].end(now())
                latency = now() - start
                waited = min(latency, queued + slept + reply.waited)
                return msgspec.structs.replace(reply, attempts=attempts, latency=latency, waited=waited)

    def _blame(self, failed: ProviderError, now: float) -> None:
        """Stop the run if no endpoint of the model answers: for too long, or because of key, credit or model name."""
        gates = self._gates
        calls = sum(gate.locked for gate in gates)
        if calls >= BRAKE and not failed.elsewhere and all(gate.locked for gate in gates):
            why = f"{failed}. It refused {calls} calls in a row for this reason: correct it, then resume the run"
            for gate in gates:
                gate.give_up(why)
            raise RunStopped(gates[0].used_up)
        if gates and _turned_away(failed) and all(gate.silence.lasted(now) >= self.patience.silence for gate in gates):
            for gate in gates:
                gate.give_up(gate.silence.stop_message(now))
            raise RunStopped(gates[0].used_up)

    async def _pause(self, wait: float, silences: Sequence[Silence], now: float) -> None:
        """Wait before the next attempt; raises RunStopped as soon as the run is stopped."""
        for silence in silences:
            silence.next_try(now + wait, now)
        if self._gates:
            await self._gates[0].rest(wait)
            self._gates[0].again += 1
        else:
            with waiting():
                await anyio.sleep(wait)

    def _wait(self, failed: ProviderError, attempts: int, spent: float) -> float | None:
        """Seconds until the next attempt, or None if no attempt is left."""
        patience = self.patience
        if attempts >= patience.attempts:
            return None
        if failed.elsewhere:
            wait = 0.0
        elif failed.kind not in TEMPORARY:
            return None
        elif failed.retry_after is not None:
            wait = failed.retry_after + self._random.uniform(0, min(failed.retry_after, 4 * patience.first))
            if attempts > HONOURED:
                wait = max(wait, self._draw_wait(attempts - HONOURED, 0.5))
        else:
            wait = self._draw_wait(attempts, 0.5 if _turned_away(failed) else 0.0)
        return wait if spent + wait <= patience.total else None

    def _draw_wait(self, attempts: int, least: float) -> float:
        """A random wait (s): between the share `least` and the whole of the longest wait after so many attempts."""
        # 2.0 ** 60 exceeds any cap, and a much larger exponent would overflow.
        longest = min(self.patience.longest, self.patience.first * 2.0 ** min(attempts - 1, 60))
        return self._random.uniform(least * longest, longest)


def _turned_away(failed: ProviderError) -> bool:
    """Whether the call was not processed and so is not to blame: the endpoint refused it or was unreachable."""
    return failed.unheard or refused_unprocessed(failed.kind, failed.status)


def _with_attempts(failed: ProviderError, attempts: int, spent: float) -> ProviderError:
    """The same error, with the number of attempts and their duration in its message."""
    if attempts == 1 and failed.kind not in TEMPORARY:
        return failed
    times = count_noun(attempts, "attempt") + (f" in {spent:.1f} s" if attempts > 1 else "")
    asked = "" if failed.retry_after is None else f"; it asks to wait {failed.retry_after:g} s"
    last = ProviderError(failed.kind, f"{failed} (gave up after {times}{asked})")
    vars(last).update(vars(failed))
    return last
