"""How models are reached: prices, and the limits that all seats of a process share."""

from dataclasses import dataclass, field
from pathlib import Path

from wardround.engine.models.prices import Prices, read_prices
from wardround.engine.protocols import Store
from wardround.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Access:
    """`offline` makes no way to a model at all, so no key is needed (replay)."""

    prices: Prices = field(default_factory=Prices)
    offline: bool = False


async def access_of(settings: RunSettings, store: Store, share: tuple[int, int] = (1, 1)) -> Access:
    """What the settings say, with what was already spent today of daily quotas."""
    return Access(read_prices(Path(settings.prices)) if settings.prices else Prices())
