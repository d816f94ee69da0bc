"""Group commit in the event loop, for a store that is reached over the network."""

from collections.abc import Awaitable, Callable, Sequence

import anyio

from wardround.engine.errors import WardroundError
from wardround.engine.stores.rounds import Rounds
from wardround.engine.stores.work import GATHER, Failures, Work

LARGEST = 2000
"""Entries of one group at most: what came in during an outage is not sent as one huge statement."""


class Gatherer:
    """Calls `commit` with all that came in, in its order, one group after the other; it is as that of a GroupWriter."""

    def __init__(self, commit: Callable[[Sequence[Work]], Awaitable[Failures]]) -> None:
        self._commit = commit
        self._rounds: Rounds[Work, None] = Rounds(self._written, LARGEST, GATHER)

    async def write(self, work: Work) -> None:
        """Return when this, and all given before it, is committed; cancellation waits for that too."""
        with anyio.CancelScope(shield=True):
            await self._rounds.ask(work)

    async def _written(self, works: Sequence[Work]) -> Sequence[WardroundError | None]:
        failures = await self._commit(works) if any(works) else {}
        return [failures.get(place) for place in range(len(works))]

    async def aclose(self) -> None:
        """Write what waits."""
        await self._rounds.aclose()
