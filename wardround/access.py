"""How models are reached: prices, timeouts, and the limits of endpoints that all seats of a process share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.models.gates import Gates
from wardround.engine.models.hosts import HIDDEN, redacted
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
    urls: Sequence[str] = ()

    def whole(self, base_url: str, env: Mapping[str, str]) -> str:
        """An address whose secrets were not stored, with them: from `urls`, else from the environment.

        Raises UsageError if it stands in none of them.
        """
        if f"={HIDDEN}" not in base_url:
            return base_url
        given = [*self.urls, *(env[name] for name in _URLS if env.get(name))]
        for url in given:
            if redacted(url) == base_url:
                return url
        raise UsageError(
            f"the address {base_url} held a secret, which is not stored: give it whole with --base-url, or in "
            f"{_URLS[0]}"
        )


_URLS = ("OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT")


async def access_of(
    settings: RunSettings, store: Store, share: tuple[int, int] = (1, 1), urls: Sequence[str] = ()
) -> Access:
    """What the settings say, with what this store's runs have spent today of daily quotas.

    `share` (i, n) gives this process its fixed part of every quota, `urls` are addresses with their secrets. Raises
    UsageError.
    """
    prices = read_prices(Path(settings.prices)) if settings.prices else Prices()
    quotas = read_quotas(settings.quotas)
    default = quotas.pop("", None)
    daily = any(quota.daily_requests or quota.daily_tokens for quota in (*quotas.values(), default or Quota()))
    spent = await spent_today(store, share[1]) if daily else {}
    timeouts = Timeouts.of(settings.timeout) if settings.timeout else None
    patience = Patience.lasting(settings.patience) if settings.patience else None
    gates = Gates(quotas, default, share=share, spent_today=spent)
    return Access(prices, gates, timeouts=timeouts, patience=patience, urls=urls)


def read_quotas(texts: Sequence[str]) -> dict[str, Quota]:
    """Quotas by address, host or provider, '' for all others, from texts `[ADDRESS ]NAME=N,...`."""
    found: dict[str, Quota] = {}
    for text in texts:
        first, _, rest = text.strip().partition(" ")
        where, limits = (first, rest) if rest and ("://" in first or "=" not in first) else ("", text)
        fields: dict[str, int] = {}
        for limit in limits.split(","):
            name, equals, value = limit.partition("=")
            shown = redacted(text)
            if not equals or not value.strip().isdecimal():
                raise UsageError(f"quota {shown!r}: {redacted(limit)!r} is no limit; write NAME=N, such as rpm=600")
            fields[name.strip()] = int(value)
        if where in found:
            raise UsageError(
                f"quota {redacted(text)!r}: {redacted(where) or 'the quota of all endpoints'} is given twice"
            )
        found[where] = read_quota(fields, f"quota {redacted(text)!r}")
    return found


async def spent_today(store: Store, among: int = 1) -> dict[str, tuple[int, int]]:
    """(requests, tokens) by host that the runs of this store spent since 00:00 UTC, parted among so many processes."""
    rows = {run.name: run for run in await store.runs()}
    found: dict[str, tuple[int, int]] = {}
    for row in await store.spending(day=datetime.now(UTC).date().isoformat()):
        told = rows[row.run].header.get("seats", {}).get(row.seat, {})  # of a header that cannot be read too
        hosts = [host for host in told.get("host", "").split(",") if host]
        for host in hosts:
            requests, tokens = found.get(host, (0, 0))
            part = among * len(hosts)
            found[host] = (requests + -(-row.spent.calls // part), tokens + -(-row.spent.tokens // part))
    return found
