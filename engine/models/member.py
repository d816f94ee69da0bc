"""One endpoint of a fleet: whether it is well, and how much it has to do."""

import asyncio
from typing import Protocol, runtime_checkable

import structlog

from wardround.engine.errors import ProviderError
from wardround.engine.models.limited import Limited

FAILURES = 3
"""Failed calls in a row, without a good one between them, after which a member is taken out."""
FIRST, LONGEST = 1.0, 30.0
"""Seconds until it is looked at again: doubled each time it is found unwell, up to the other."""
WITHIN = 5.0
"""Seconds in which it must answer when it is looked at."""

TELLING = frozenset(("connection", "server", "timeout", "malformed"))
"""Kinds of error that come from an endpoint that is unwell."""
WRONG = frozenset(("auth", "unknown_model"))
"""Kinds of error of an endpoint that is set up wrongly: the first takes it out."""

log = structlog.get_logger("wardround")


@runtime_checkable
class Askable(Protocol):
    """A model whose endpoint can be asked, at no cost, whether it is there."""

    async def alive(self, within: float) -> bool:
        """Whether it answers within so many seconds."""
        ...


class Member:
    """A model at one address. `load` is its calls that run or wait for a place."""

    def __init__(self, model: Limited) -> None:
        self.model = model
        self.address = model.gate.name
        self.load = 0
        self.well = True
        self._failures = 0
        self._pause = FIRST
        self._look_at = 0.0
        self._looking = False

    def succeeded(self) -> None:
        """A call was answered."""
        self._failures = 0
        if not self.well:
            self._set(well=True)
        self._pause = FIRST

    def failed(self, error: ProviderError) -> None:
        """A call failed; takes the member out if that shows that it is unwell."""
        if error.kind not in TELLING | WRONG:
            return
        self._failures += 1
        if self.well and (error.kind in WRONG or self._failures >= FAILURES):
            self._set(well=False)
            log.warning("endpoint taken out", address=self.address, error=str(error))
            self._later()

    async def look(self) -> None:
        """If it is out and it is time, see whether it is there again; one look at a time."""
        if self.well or self._looking or asyncio.get_running_loop().time() < self._look_at:
            return
        self._looking = True
        try:
            inner = self.model.model
            if not isinstance(inner, Askable) or await inner.alive(WITHIN):
                self._failures = 0
                self._set(well=True)
                log.info("endpoint taken in again", address=self.address)
            # Doubled even if it is back: one that answers this question and fails every call is asked less and less.
            self._later()
        finally:
            self._looking = False

    def _later(self) -> None:
        self._look_at = asyncio.get_running_loop().time() + self._pause
        self._pause = min(LONGEST, 2 * self._pause)

    def _set(self, *, well: bool) -> None:
        self.well = self.model.gate.healthy = well
