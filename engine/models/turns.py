"""Who goes next of those who wait: in order of arrival within a role, in fair shares between roles."""

import asyncio
from collections import deque
from typing import Generic, TypeVar

ResultT = TypeVar("ResultT")


class Waiter(Generic[ResultT]):
    """One who waits, since `since` seconds, with the tokens that the call may need."""

    __slots__ = ("future", "line", "since", "tokens")

    def __init__(self, line: "_Line[ResultT]", tokens: int, since: float) -> None:
        self.line, self.tokens, self.since = line, tokens, since
        self.future: asyncio.Future[ResultT] = asyncio.get_running_loop().create_future()


class _Line(Generic[ResultT]):
    """Those of one role. `turn` is how many calls it has had."""

    __slots__ = ("queue", "role", "turn", "waiting")

    def __init__(self, role: str) -> None:
        self.role = role
        self.queue: deque[Waiter[ResultT]] = deque()
        self.turn = 0
        self.waiting = 0


class Turns(Generic[ResultT]):
    """A queue for each role. The role that has had least goes next; one that waited for nothing has saved up nothing.

    Shares are of calls, and equal.
    """

    def __init__(self) -> None:
        self._lines: dict[str, _Line[ResultT]] = {}
        self._now = 0
        self.waiting = 0

    def add(self, role: str, tokens: int, since: float) -> Waiter[ResultT]:
        """Someone waits."""
        line = self._lines.get(role)
        if line is None:
            line = self._lines[role] = _Line(role)
        if not line.waiting:
            line.queue.clear()
            line.turn = max(line.turn, self._now)
        waiter = Waiter(line, tokens, since)
        line.queue.append(waiter)
        line.waiting += 1
        self.waiting += 1
        return waiter

    def next(self) -> Waiter[ResultT] | None:
        """Who goes next; stays in the queue."""
        if not self.waiting:
            return None
        for line in sorted((line for line in self._lines.values() if line.waiting), key=_had):
            queue = line.queue
            while queue and queue[0].future.done():  # given up, and `drop` takes it off the count
                queue.popleft()
            if queue:
                return queue[0]
        return None

    def pop(self, waiter: Waiter[ResultT]) -> None:
        """The one that `next` named goes."""
        line = waiter.line
        line.queue.popleft()
        self._now = line.turn
        line.turn += 1
        self._less(line)

    def drop(self, waiter: Waiter[ResultT]) -> None:
        """One gave up waiting; its future is done."""
        self._less(waiter.line)

    def _less(self, line: "_Line[ResultT]") -> None:
        line.waiting -= 1
        self.waiting -= 1

    def by_role(self) -> dict[str, int]:
        """How many wait, by role, in order of name."""
        return {role: line.waiting for role, line in sorted(self._lines.items()) if line.waiting}


def _had(line: "_Line[ResultT]") -> int:
    return line.turn
