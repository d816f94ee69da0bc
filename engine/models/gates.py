"""Keeps the gates of a process, one for each endpoint and key, and sends the calls of models through them."""

import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.models.gate import CallOutcome, Gate
from wardround.engine.models.hosts import endpoint_url, host_of, normal_host, printable_url
from wardround.engine.models.quota import Quota
from wardround.engine.protocols import Model, Wrapped
from wardround.engine.records import Clock, Completion, Json, Message

ValueT = TypeVar("ValueT")


class Gates:
    """All gates of a process; each is made at its first use.

    `quotas` are keyed by address (`http://localhost:8000/v1`), host or provider (`anthropic`); an address takes
    precedence over its host. `default` is for all others. A quota for a host applies separately to each address and
    key. `share` is (n, of): worker n of `of` gets its fixed part of every quota. `spent_today` is (requests, tokens)
    that already count towards a daily quota, keyed like `quotas`.
    """

    def __init__(
        self,
        quotas: Mapping[str, Quota] | None = None,
        default: Quota | None = None,
        *,
        share: tuple[int, int] = (1, 1),
        spent_today: Mapping[str, tuple[int, int]] | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._quotas = {_normal_name(name): quota.share(*share) for name, quota in (quotas or {}).items()}
        self._default = (default or Quota()).share(*share)
        self._spent = {_normal_name(name): spent for name, spent in (spent_today or {}).items()}
        self._clock = clock
        self._gates: dict[tuple[str, bytes], Gate] = {}
        self._unused = set(self._quotas)
        self._stopped = ""

    def of(self, where: str, key: str = "") -> Gate:
        """The gate for a key and an address, or a provider whose address is unknown."""
        name = _normal_name(where)
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        gate = self._gates.get((name, digest))
        if gate is None:
            self._unused -= {name, _host(name)}
            quota = _for(self._quotas, name) or self._default
            spent = _for(self._spent, name) or (0, 0)
            gate = Gate(name, quota, key=digest, spent_today=spent, clock=self._clock)
            self._gates[name, digest] = gate
            if self._stopped:
                gate.stop(self._stopped)
        return gate

    @property
    def unused(self) -> list[str]:
        """Names of quotas that no endpoint has used so far, perhaps because they are misspelt."""
        return sorted(self._unused)

    @property
    def used_up(self) -> str:
        """A sentence that says which endpoint can take no more calls, such as by its daily quota; "" if all can."""
        return next((said for gate in self._gates.values() if (said := gate.used_up)), "")

    def stop(self, reason: str) -> None:
        """Let no call in any more: waiting and later calls get RunStopped, running calls go on."""
        self._stopped = reason
        for gate in self._gates.values():
            gate.stop(reason)

    def reopen(self) -> None:
        """Let calls in again after a stop, because another batch begins."""
        self._stopped = ""
        for gate in self._gates.values():
            gate.reopen()

    def summary(self) -> list[dict[str, Json]]:
        """The status of each gate (`Gate.summary`), without keys; `key` numbers the gates of one address from 1."""
        names = [name for name, _ in self._gates]
        numbers = [names[: place + 1].count(name) for place, name in enumerate(names)]
        return [
            {**gate.summary(), **({"key": number} if names.count(name) > 1 else {})}
            for name, number, gate in zip(names, numbers, self._gates.values(), strict=True)
        ]


def _normal_name(name: str) -> str:
    """An address, host or provider in its normal form."""
    return printable_url(endpoint_url(name)).rstrip("/") if "://" in name else normal_host(name)


def _host(name: str) -> str:
    return host_of(endpoint_url(name)) if "://" in name else name


def _for(table: Mapping[str, ValueT], name: str) -> ValueT | None:
    return table.get(name) or table.get(_host(name))


REPLY = 500
"""Tokens expected of a reply before its usual length is known."""
CHARS = 4
"""Characters of a prompt that count as one token."""
MEMORY = 0.1
"""Weight of the latest reply in the mean length of replies."""


class _Replies:
    """The mean length of replies in tokens, by role; shared by all models bound from one Limited."""

    def __init__(self) -> None:
        self._mean: dict[str, float] = {}

    def add(self, role: str, tokens: int) -> None:
        mean = self._mean.get(role)
        self._mean[role] = tokens if mean is None else mean + MEMORY * (tokens - mean)

    def expected(self, role: str, most: object) -> int:
        """The expected tokens of the next reply, at most `most`."""
        limit = most if isinstance(most, int) else None
        mean = self._mean.get(role)
        expected = int(mean) + 1 if mean is not None else limit or REPLY
        return min(expected, limit) if limit else expected


class Limited(Wrapped):
    """A model whose calls pass the gate of its endpoint and key; the time spent waiting there counts as `waited`.

    It reserves a token for every four characters of the prompt, plus the mean length of the role's replies (before the
    first reply: `max_tokens`, else REPLY).
    """

    def __init__(self, model: Model, gate: Gate) -> None:
        super().__init__(model)
        self.gate = gate
        self.role = ""
        self._replies = _Replies()

    def bound(self, role: str, episode: str) -> "Limited":
        """The model for one role and episode."""
        made = self.twin()
        made.role, made.model = role, self.model.bound(role, episode)
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The model's completion, once it is this call's turn; raises ProviderError, or RunStopped at a daily quota."""
        gate = self.gate
        ticket = await gate.enter(self.role, self._tokens(messages, options) if gate.counts_tokens else 0)
        try:
            reply = await self.model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            gate.leave(ticket, CallOutcome(error.kind, status=error.status, retry_after=error.retry_after))
            error.waited = ticket.waited
            raise
        except BaseException:
            gate.leave(ticket, CallOutcome("cancelled"))
            raise
        usage = reply.usage
        counted = usage.prompt or usage.completion  # not every endpoint counts tokens
        gate.leave(ticket, CallOutcome("ok", usage=usage if counted else None))
        if counted and gate.counts_tokens:
            self._replies.add(self.role, usage.completion)
        if ticket.waited:
            waited = reply.waited + ticket.waited
            return msgspec.structs.replace(reply, latency=reply.latency + ticket.waited, waited=waited)
        return reply

    def _tokens(self, messages: Sequence[Message], options: dict[str, Json]) -> int:
        prompt = sum(len(message.content) for message in messages) // CHARS
        return prompt + self._replies.expected(self.role, options.get("max_tokens"))
