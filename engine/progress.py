"""What a running batch has done so far, and whether it may go on: shared by all its episodes."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import anyio

from wardround.engine.budget import Purse, Size
from wardround.engine.errors import RunStopped
from wardround.engine.records import Json
from wardround.engine.sessions import RunControl
from wardround.engine.spending import Budget, Spending
from wardround.engine.waiting import waiting


class Progress:
    """One for each process at work on a run. `why` says why it drains, '' while it does not.

    `run` names the run at hand. `endings` counts its episodes that have closed, `own` those that this process closed
    since its session on that run began (`begin`).
    """

    def __init__(self, total: int = 0) -> None:
        self.total = total
        self.running = self.left_open = self.own = 0
        self.endings: Counter[str] = Counter()
        self.purse = Purse(Budget(), {})
        self.paused = False
        self.why = self.run = ""
        self._stir = anyio.Event()
        self._waiting = 0
        self._told: list[Callable[[str], None]] = []
        self._ordered = RunControl()

    def begin(self, endings: Mapping[str, int], run: str = "") -> None:
        """Count anew, for a session on a run: so many of its episodes ended by each cause, or are `open`."""
        self.run = run or self.run
        self.total = sum(endings.values())
        self.endings = Counter({cause: count for cause, count in endings.items() if cause != "open"})
        self.own = self.left_open = 0
        self.paused, self._ordered = False, RunControl()

    def at_once(self, concurrency: int) -> int:
        """The number of episodes to play at once: `concurrency`, if the operator orders no other."""
        return self._ordered.concurrency or concurrency

    @property
    def closed(self) -> int:
        """Episodes that ended, one way or another."""
        return sum(self.endings.values())

    @property
    def spent(self) -> Spending:
        """What the run has spent, its earlier sessions included."""
        return self.purse.spent

    @property
    def draining(self) -> bool:
        """Whether no further action may begin."""
        return bool(self.why)

    def drain(self, why: str = "the run was asked to stop") -> None:
        """Begin no further action; what is under way is finished and kept."""
        if not self.why:
            self.why = why
            for told in tuple(self._told):
                told(why)
        self.stir()

    @contextmanager
    def when_draining(self, told: Callable[[str], None]) -> Iterator[None]:
        """Tell `told` why, if the run drains while the block runs or did so before."""
        self._told.append(told)
        try:
            if self.why:
                told(self.why)
            yield
        finally:
            self._told.remove(told)

    @contextmanager
    def unless_draining(self) -> Iterator[None]:
        """Break the block off once the run drains, and raise RunStopped: for waits whose end is not worth keeping."""
        if self.why:
            raise RunStopped(self.why)
        with anyio.CancelScope() as scope, self.when_draining(lambda _why: scope.cancel()):
            yield
        if scope.cancelled_caught:
            raise RunStopped(self.why)

    def stir(self) -> None:
        """Let all who wait look again."""
        self._stir.set()
        self._stir = anyio.Event()

    async def stirred(self) -> None:
        """Wait until something changes."""
        await self._stir.wait()

    async def before_act(self) -> None:
        """Wait while the run is paused; raise RunStopped if it is draining."""
        while self.paused and not self.why:
            with waiting():
                await self._stir.wait()
        if self.why:
            raise RunStopped(self.why)

    async def before_call(self, seat: str) -> Size:
        """Wait until the call fits the budget; raise RunStopped if it never will: then the run drains."""
        if self.paused or self.why:
            await self.before_act()
        while True:
            refused, never = self.purse.refused(seat)
            if not refused:
                break
            if never:
                self.drain(f"the budget is used up: {refused}")
            if self.why:
                raise RunStopped(self.why)
            self._waiting += 1
            try:
                with waiting():
                    await self._stir.wait()
            finally:
                self._waiting -= 1
        return self.purse.set_aside(seat)

    def after_call(self, seat: str, spent: Spending | None, size: Size) -> None:
        """Book a call."""
        self.purse.settle(seat, spent, size)
        if self._waiting:
            self.stir()

    def obey(self, orders: RunControl) -> None:
        """Do what the operator wants."""
        last, self._ordered = self._ordered, orders
        if orders.state == "stop":
            self.drain("the run was told to stop")
        self.paused = orders.state == "pause"
        if orders.budget != self.purse.budget:
            self.purse.change(orders.budget)
        if last != orders:
            self.stir()

    def told(self) -> Mapping[str, Json]:
        """How this process stands, for the status."""
        own = self.purse.own
        return {
            "running": self.running,
            "own": self.own,
            "calls": own.calls,
            "failed": own.failed,
            "tokens": own.tokens,
            "cost": own.cost,
            "paused": self.paused,
            "draining": self.why,
            "budget": self.purse.told(),
        }
