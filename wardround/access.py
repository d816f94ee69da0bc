"""How models are reached: prices, timeouts, and the limits of endpoints that all seats of a process share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.models.gates import Gates
from wardround.engine.models.prices import Prices, read_prices
from wardround.engine.models.quota import Quota, read_quota
from wardround.engine.models.retry import Patience
from wardround.engine.models.transport import Timeouts
from wardround.engine.protocols import Store
from wardround.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Access:
    """`offline` makes no way to a model at all, so no key is needed (replay)."""

    prices: Prices = field(default_factory=Prices)
    gates: Gates = field(default_factory=Gates)
    offline: bool = False
    timeouts: Timeouts | None = None
    patience: Patience | None = None


async def access_of(settings: RunSettings, store: Store, share: tuple[int, int] = (1, 1)) -> Access:
    """What the settings say, with what this store's runs have spent today of daily quotas.

    `share` (i, n) gives this process its fixed part of every quota. Raises UsageError.
    """
    prices = read_prices(Path(settings.prices)) if settings.prices else Prices()
    quotas = read_quotas(settings.quotas)
    default = quotas.pop("", None)
    daily = any(quota.daily_requests or quota.daily_tokens for quota in (*quotas.values(), default or Quota()))
    spent = await spent_today(store, share[1]) if daily else {}
    timeouts = Timeouts.of(settings.timeout) if settings.timeout else None
    patience = Patience.lasting(settings.patience) if settings.patience else None
    gates = Gates(quotas, default, share=share, spent_today=spent)
    return Access(prices, gates, timeouts=timeouts, patience=patience)


def read_quotas(texts: Sequence[str]) -> dict[str, Quota]:
    """Quotas by address, host or provider, '' for all others, from texts `[ADDRESS ]NAME=N,...`."""
    found: dict[str, Quota] = {}
    for text in texts:
        first, _, rest = text.strip().partition(" ")
        where, limits = ("", text) if "=" in first or not rest else (first, rest)
        fields: dict[str, int] = {}
        for limit in limits.split(","):
            name, equals, value = limit.partition("=")
            if not equals or not value.strip().isdecimal():
                raise UsageError(f"quota {text!r}: {limit!r} is no limit; write NAME=N, such as rpm=600")
            fields[name.strip()] = int(value)
        if where in found:
            raise UsageError(f"quota {text!r}: {where or 'the quota of all endpoints'} is given twice")
        found[where] = read_quota(fields, f"quota {text!r}")
    return found


async def spent_today(store: Store, among: int = 1) -> dict[str, tuple[int, int]]:
    """(requests, tokens) by host that the runs of this store spent since 00:00 UTC, parted among so many processes."""
    headers = {run.name: run.header for run in await store.runs()}
    found: dict[str, tuple[int, int]] = {}
    for row in await store.spending(day=datetime.now(UTC).date().isoformat()):
        told = headers[row.run].get("seats", {}).get(row.seat, {})
        hosts = [host for host in told.get("host", "").split(",") if host]
        for host in hosts:
            requests, tokens = found.get(host, (0, 0))
            part = among * len(hosts)
            found[host] = (requests + -(-row.spent.calls // part), tokens + -(-row.spent.tokens // part))
    return found
