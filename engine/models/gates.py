"""The gates of a process: one for each endpoint and key, shared by all that use it."""

from collections.abc import Mapping
from hashlib import blake2b
from typing import TypeVar

from wardround.engine.clock import Clock, wall
from wardround.engine.models.gate import Gate
from wardround.engine.models.hosts import address, host_of, normal, shown
from wardround.engine.models.quota import Quota
from wardround.engine.records import Json

ValueT = TypeVar("ValueT")


class Gates:
    """Makes each gate when it is first asked for.

    `quotas` are by address (`http://localhost:8000/v1`), host or provider (`anthropic`), an address before its host;
    `default` is for all others. A quota named by a host is for each address and key there by itself. `share` is
    (n, of): worker n of so many has its fixed part of every quota. `spent_today` is (requests, tokens) that count
    already towards a daily quota, named as quotas are.
    """

    def __init__(
        self,
        quotas: Mapping[str, Quota] | None = None,
        default: Quota | None = None,
        *,
        share: tuple[int, int] = (1, 1),
        spent_today: Mapping[str, tuple[int, int]] | None = None,
        clock: Clock = wall,
    ) -> None:
        self._quotas = {_named(name): quota.share(*share) for name, quota in (quotas or {}).items()}
        self._default = (default or Quota()).share(*share)
        self._spent = {_named(name): spent for name, spent in (spent_today or {}).items()}
        self._clock = clock
        self._gates: dict[tuple[str, bytes], Gate] = {}
        self._unused = set(self._quotas)
        self._stopped = ""

    def of(self, where: str, key: str = "") -> Gate:
        """The gate of an address, or of a provider whose address nobody knows, and a key."""
        name = _named(where)
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        gate = self._gates.get((name, digest))
        if gate is None:
            self._unused -= {name, _host(name)}
            quota = _found(self._quotas, name) or self._default
            spent = _found(self._spent, name) or (0, 0)
            gate = Gate(name, quota, key=digest, spent_today=spent, clock=self._clock)
            self._gates[name, digest] = gate
            if self._stopped:
                gate.stop(self._stopped)
        return gate

    @property
    def unused(self) -> list[str]:
        """Names of quotas that no endpoint has had so far: written wrongly, perhaps."""
        return sorted(self._unused)

    @property
    def used_up(self) -> str:
        """Which daily quota is used up, in a sentence; "" if none is."""
        return next((said for gate in self._gates.values() if (said := gate.used_up)), "")

    def stop(self, reason: str) -> None:
        """Let no call in any more: RunStopped for those that wait and those that come; what runs goes on."""
        self._stopped = reason
        for gate in self._gates.values():
            gate.stop(reason)

    def reopen(self) -> None:
        """Let calls in again after a stop: another batch begins."""
        self._stopped = ""
        for gate in self._gates.values():
            gate.reopen()

    def told(self) -> list[dict[str, Json]]:
        """How each gate stands (`Gate.told`), without keys; where an address has several, `key` numbers them from 1."""
        names = [name for name, _ in self._gates]
        told = []
        for place, (name, gate) in enumerate(zip(names, self._gates.values(), strict=True)):
            number = {"key": names[: place + 1].count(name)} if names.count(name) > 1 else {}
            told.append({**gate.told(), **number})
        return told


def _named(name: str) -> str:
    """An address, host or provider in one form."""
    return shown(address(name)).rstrip("/") if "://" in name else normal(name)


def _host(name: str) -> str:
    return host_of(address(name)) if "://" in name else name


def _found(table: Mapping[str, ValueT], name: str) -> ValueT | None:
    return table.get(name) or table.get(_host(name))
