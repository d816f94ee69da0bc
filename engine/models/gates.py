"""Keeps the gates of a process, one for each endpoint and key."""

import time
from collections.abc import Mapping
from hashlib import blake2b
from typing import TypeVar

from wardround.engine.models.gate import Gate
from wardround.engine.models.hosts import endpoint_url, host_of, normal_host, printable_url
from wardround.engine.models.quota import Quota
from wardround.engine.records import Clock, Json

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
