"""Spreads the calls of one model over several endpoints; each episode keeps to one endpoint while that is healthy."""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from typing import Protocol, runtime_checkable

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.logs import log
from wardround.engine.models.wrappers import Limited
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

FAILURES = 3
"""Consecutive failed calls after which a member is taken out."""
FIRST_RECHECK, LONGEST_RECHECK = 1.0, 30.0
"""Seconds until a member that was taken out is checked again: the first pause, doubled at each check up to the longest.
"""
CHECK_WITHIN = 5.0
"""Seconds within which a member must answer a check."""

UNHEALTHY = frozenset(("connection", "server", "timeout", "malformed"))
"""Kinds of error that show an unhealthy endpoint."""
MISCONFIGURED = frozenset(("auth", "unknown_model"))
"""Kinds of error that show a wrongly configured endpoint: the first one takes the member out."""


@runtime_checkable
class Checkable(Protocol):
    """A model whose endpoint can be checked at no cost."""

    async def alive(self, within: float) -> bool:
        """Whether the endpoint answers within so many seconds."""


class Member:
    """A model at one address. `load` is the number of its calls that run or wait for a place."""

    def __init__(self, model: Limited) -> None:
        self.model = model
        self.address = model.gate.name
        self.load = 0
        self.healthy = True
        self._failures = 0
        self._pause = FIRST_RECHECK
        self._check_at = 0.0
        self._checking = False

    def succeeded(self) -> None:
        """Note that a call was answered."""
        self._failures = 0
        if not self.healthy:
            self._set(healthy=True)
        self._pause = FIRST_RECHECK

    def failed(self, error: ProviderError) -> None:
        """Note that a call failed; take the member out if that shows it to be unhealthy."""
        if error.kind not in UNHEALTHY | MISCONFIGURED:
            return
        self._failures += 1
        if self.healthy and (error.kind in MISCONFIGURED or self._failures >= FAILURES):
            self._set(healthy=False)
            log.warning("endpoint taken out", address=self.address, error=str(error))
            self._schedule_check()

    async def check(self) -> None:
        """If the member is out and a check is due, check whether it answers again; one check at a time."""
        if self.healthy or self._checking or asyncio.get_running_loop().time() < self._check_at:
            return
        self._checking = True
        try:
            inner = self.model.model
            if not isinstance(inner, Checkable) or await inner.alive(CHECK_WITHIN):
                self._failures = 0
                self._set(healthy=True)
                log.info("endpoint taken in again", address=self.address)
            # Doubled even if it is back, so that a member that passes the check but fails every call is checked less.
            self._schedule_check()
        finally:
            self._checking = False

    def _schedule_check(self) -> None:
        self._check_at = asyncio.get_running_loop().time() + self._pause
        self._pause = min(LONGEST_RECHECK, 2 * self._pause)

    def _set(self, *, healthy: bool) -> None:
        self.healthy = self.model.gate.healthy = healthy


BUSY = 1.25
"""The multiple of the mean load above which an endpoint gets no new episode."""


class Fleet(Model):
    """A model at several addresses.

    Each episode has its own order of the endpoints, drawn from its name and their addresses, so that it is the same in
    every process and after a resume. At its first call the episode settles at the first endpoint that is healthy and
    not much busier than the others. It stays there because an endpoint that has seen a conversation answers the next
    turn faster (prefix caching). While that endpoint is out, the episode's calls go to the next in the order; they
    return when it is back. If a connection breaks, the call is tried at another endpoint at once. Calls outside
    episodes go to the least loaded endpoint.
    """

    def __init__(self, models: Sequence[Limited]) -> None:
        names = {model.name for model in models}
        if len(models) < 2 or len(names) > 1:
            raise UsageError("a fleet is two or more endpoints of one model")
        self.members = [Member(model) for model in models]
        self.gates = tuple(model.gate for model in models)
        self.name = models[0].name
        self._hosts = tuple(dict.fromkeys(model.host for model in models))
        self.host = ",".join(self._hosts)
        self._unbound = _BoundFleet(self, "", "")

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts of all endpoints."""
        return self._hosts

    def bound(self, role: str, episode: str) -> Model:
        """The fleet for one seat and episode."""
        return _BoundFleet(self, role, episode)

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion of the least loaded endpoint."""
        return await self._unbound.complete(messages, purpose=purpose, **options)

    def order(self, episode: str) -> list[Member]:
        """The endpoints in the order in which this episode prefers them."""
        return sorted(
            self.members, key=lambda member: blake2b(f"{episode}\x1f{member.address}".encode(), digest_size=8).digest()
        )

    async def aclose(self) -> None:
        """Close the models of all endpoints."""
        for member in self.members:
            await member.model.aclose()


class _BoundFleet(Model):
    """A fleet bound to one seat and episode."""

    def __init__(self, fleet: Fleet, role: str, episode: str) -> None:
        self._fleet, self._role, self._episode = fleet, role, episode
        self.name, self.host = fleet.name, fleet.host
        self._order: list[Member] = []
        self._models: dict[str, Limited] = {}
        self._home: Member | None = None
        self._broken: Member | None = None

    @property
    def hosts(self) -> Sequence[str]:
        """The hosts of the fleet."""
        return self._fleet.hosts

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion of this episode's endpoint; `elsewhere` of an error says whether another one is ready."""
        member = await self._pick()
        model = self._models.get(member.address)
        if model is None:
            model = self._models[member.address] = member.model.bound(self._role, self._episode)
        member.load += 1
        try:
            reply = await model.complete(messages, purpose=purpose, **options)
        except ProviderError as error:
            member.failed(error)
            self._broken = member if error.kind == "connection" else None
            others = any(other.healthy for other in self._fleet.members if other is not member)
            error.elsewhere = others and (self._broken is not None or not member.healthy)
            raise
        finally:
            member.load -= 1
        member.succeeded()
        self._broken = None
        return reply

    async def _pick(self) -> Member:
        if not self._episode:
            return await self._least()
        if not self._order:
            self._order = self._fleet.order(self._episode)
        home = self._home or self._order[0]
        if not home.healthy:
            await home.check()
        if self._home is None:
            home = self._home = self._settle()
        if home.healthy and home is not self._broken:
            return home
        ready = self._ready(self._order)
        return ready[0] if ready else home

    async def _least(self) -> Member:
        members = self._fleet.members
        for member in members:
            await member.check()
        return min(self._ready(members) or members, key=lambda member: member.load)

    def _settle(self) -> Member:
        """The endpoint at which the episode settles."""
        ready = self._ready(self._order)
        if not ready:
            return self._order[0]
        most = BUSY * sum(member.load for member in ready) / len(ready) + 1
        return next(member for member in ready if member.load <= most)

    def _ready(self, members: Sequence[Member]) -> list[Member]:
        return [member for member in members if member.healthy and member is not self._broken]
