"""Contains plug-in code that would do harm: exits, interrupts, cancellations, a stopped loop, hung acts, late calls.

A real Ctrl-C and a cancellation of the run still pass; this module tells them from those that plug-in code raised.
"""

import asyncio
import dis
import signal
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import partial
from types import CodeType, TracebackType
from typing import Any, TypeVar

from wardround.engine.errors import UsageError, storable
from wardround.engine.limits import SeatUse
from wardround.engine.logs import log, redact

_T = TypeVar("_T")
_contained: ContextVar[bool] = ContextVar("contained", default=False)
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Escaped(RuntimeError):
    """A task of plug-in code raised an exit or an interrupt, which would have ended the process."""


def raised_by_plugin(error: BaseException) -> bool:
    """Whether plug-in code raised this error itself, rather than the event loop or the operator.

    True for a cancellation that nobody requested, for SystemExit unless a signal handler raised it, for a
    KeyboardInterrupt from a `raise` statement, and for every ordinary Exception. A group counts only if each of its
    errors does.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(raised_by_plugin(inner) for inner in error.exceptions)
    if isinstance(error, Exception):
        return True
    if isinstance(error, asyncio.CancelledError):
        task = _task()
        return task is not None and not task.cancelling()
    if isinstance(error, GeneratorExit):
        return _task() is not None  # otherwise a coroutine is being closed after its loop has ended
    if isinstance(error, KeyboardInterrupt):
        return not _by_signal(error.__traceback__) and _by_raise(error.__traceback__)
    return not _by_signal(error.__traceback__)


def error_text(error: BaseException) -> str:
    """The type and text of an error, with secrets hidden, even if its `__str__` fails."""
    try:
        text = str(error)
    except BaseException as worse:
        if not raised_by_plugin(worse):
            raise
        text = f"its text cannot be had ({type(worse).__name__})"
    return storable(redact(f"{type(error).__name__}: {text[:2000]}") if text else type(error).__name__)


@contextmanager
def contain_plugin() -> Iterator[None]:
    """Keep plug-in code in this block, and in the tasks it starts, from stopping the event loop or the process."""
    _guard(asyncio.get_running_loop())
    token = _contained.set(True)
    try:
        yield
    finally:
        _contained.reset(token)


def _guard(loop: asyncio.AbstractEventLoop) -> None:
    """Make the loop refuse stops, and its tasks exits, from contained blocks; the change is permanent."""
    if not isinstance(loop, asyncio.BaseEventLoop) or isinstance(loop.stop, partial):
        return
    loop.stop = partial(_stop, loop)  # type: ignore[method-assign]
    if loop.get_task_factory() is None:
        loop.set_task_factory(_task_of)


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    if _contained.get():
        raise RuntimeError("the event loop was told to stop, which only the run may do")
    type(loop).stop(loop)


def _task_of(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
    return asyncio.Task(_contain_exit(coro) if _contained.get() else coro, loop=loop, **options)


async def _contain_exit(coro: Coroutine[object, object, _T]) -> _T:
    """Run a task of plug-in code; turn an exit or interrupt, which would end the process, into an exception."""
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        if not raised_by_plugin(error):
            raise
        raise Escaped(f"{error_text(error)}, in a task of its own") from error


def _task() -> asyncio.Task[object] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _by_signal(trace: TracebackType | None) -> bool:
    """Whether a signal handler is in the traceback."""
    handlers = {_code(signal.getsignal(number)) for number in _SIGNALS} - {None}
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _code(handler: object) -> CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    # any callable can handle a signal: a method has `__func__`, an instance of a user's class has neither attribute
    code = getattr(getattr(handler, "__func__", handler), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _by_raise(trace: TracebackType | None) -> bool:
    """Whether a `raise` statement raised it: Python's own handler of Ctrl-C interrupts the code at any instruction."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code.co_code
    return 0 <= trace.tb_lasti < len(code) and dis.opname[code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")


SLOW_ACT = 60.0
"""Seconds of an act's own time after which a warning names it."""
AGAIN = 1.0
"""Seconds between two attempts to cancel an act that resists cancellation."""


class OwnTime:
    """A timer for the acts of a seat; it stands still while a call of the seat's model is under way (`away`).

    Used as a context manager round each act, whose seconds it adds to the seat's account `use`. An act that has used
    `limit` seconds of its own time is cancelled, and `over` is true after the block. A cancellation from outside
    passes. `who` describes the act for the log. `end` must follow the last act: one timer of the loop serves all acts
    of the seat.
    """

    __slots__ = (
        "_away",
        "_began",
        "_blocked",
        "_cancels",
        "_handle",
        "_limit",
        "_loop",
        "_named",
        "_task",
        "_use",
        "_who",
        "over",
    )

    def __init__(self, limit: float | None, use: SeatUse, who: Callable[[], Mapping[str, str]]) -> None:
        self._limit, self._use, self._who = limit, use, who
        self._handle: asyncio.TimerHandle | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[object] | None = None
        self._began = self._blocked = 0.0
        self._away = self._cancels = 0
        self._named = self.over = False

    def __enter__(self) -> None:
        self.over = self._named = False
        self._away = self._cancels = 0
        loop = self._loop
        if loop is None:
            loop = self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task(loop)
        self._began, self._blocked = loop.time(), 0.0
        if self._handle is None and self._limit is not None:
            self._handle = loop.call_at(self._began + min(SLOW_ACT, self._limit), self._look)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        task, self._task = self._task, None
        assert task is not None
        self._use.seconds += self._own()
        if self._cancels or self._named:
            self.end()  # it was set for this act; the next act sets a new one
        for _ in range(self._cancels):
            task.uncancel()
        if isinstance(error, asyncio.CancelledError) and task.cancelling():
            self.over = False  # the run is being stopped as well
        return self.over and (error is None or isinstance(error, Exception | asyncio.CancelledError))

    def end(self) -> None:
        """Drop the timer: no act follows."""
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None

    def away(self) -> AbstractContextManager[None]:
        """Do not count the time of the block, a call of the seat's model, as the act's own. Blocks may overlap."""
        return _NOT_TIMED if self._task is None or self._loop is None else _Away(self, self._loop)

    def leave(self, now: float) -> None:
        """Note that a call of the seat's model begins; `now` is the loop's time."""
        if not self._away:
            self._blocked -= now
        self._away += 1

    def come_back(self, now: float) -> None:
        """Note that a call of the seat's model has ended; `now` is the loop's time."""
        self._away -= 1
        if not self._away:
            self._blocked += now

    def _own(self) -> float:
        """Seconds of the present act, without the calls of its model."""
        assert self._loop is not None
        now = self._loop.time()
        return now - self._began - self._blocked - (now if self._away else 0.0)

    def _look(self) -> None:
        """Warn of the act or cancel it if that is due, and schedule the next check; between two acts do neither."""
        self._handle = None
        if self._task is None or self._loop is None or self._limit is None:
            return
        own = self._own()
        if own >= self._limit:
            self.over = True
            self._cancels += 1
            self._task.cancel()
            if self._cancels == 2:
                log.error("an agent goes on although its act was cancelled", **self._who(), seconds=round(own))
            wait = AGAIN
        else:
            if own >= SLOW_ACT and not self._named:
                self._named = True
                log.warning("an act hangs", **self._who(), seconds=round(own), ended_after=self._limit)
            wait = (self._limit if self._named or self._limit < SLOW_ACT else SLOW_ACT) - own
        self._handle = self._loop.call_later(max(wait, 0.001), self._look)


_NOT_TIMED = nullcontext()


class _Away:
    """The block in which an act waits for a call of its model; a generator would cost five times as much a call."""

    __slots__ = ("_loop", "_own")

    def __init__(self, own: OwnTime, loop: asyncio.AbstractEventLoop) -> None:
        self._own, self._loop = own, loop

    def __enter__(self) -> None:
        self._own.leave(self._loop.time())

    def __exit__(self, *raised: object) -> None:
        self._own.come_back(self._loop.time())


class ActCalls:
    """The calls of an episode's present act. None of them outlives it, so that the log and the budget are complete.

    Used as `async with`, with `seat` set first. When the act ends, the tasks that still wait for a call are cancelled,
    and the block ends when their calls have ended. `expected` says whether the log has a call that the agent gave up
    and has not made again yet. The block waits a moment for such a call, because a replay answers the others at once.
    """

    __slots__ = ("_ended", "_expected", "_tasks", "_warned", "seat")

    def __init__(self, expected: Callable[[], bool]) -> None:
        self._expected, self._tasks, self._warned = expected, dict[asyncio.Task[object] | None, int](), False
        self._ended: asyncio.Event | None = None
        self.seat = ""

    def begin(self, owner: str) -> None:
        """Count a call of the seat `owner` that begins; raises UsageError outside of its acts. `end` must follow."""
        if owner != self.seat:
            if not self._warned:
                log.warning("a call was begun after its act and is not made", seat=owner)
                self._warned = True
            raise UsageError(f"{owner} calls its model outside of its act: await every call before `act` returns")
        task = _task()
        self._tasks[task] = self._tasks.get(task, 0) + 1

    def end(self) -> None:
        """Count a call as ended."""
        task = _task()
        self._tasks[task] -= 1
        if not self._tasks[task]:
            del self._tasks[task]
        if self._ended is not None and not self._tasks:
            self._ended.set()

    async def __aenter__(self) -> None:
        """Do nothing: the act begins."""

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if kind is not GeneratorExit:  # a coroutine that is being closed can wait for nothing
            for _ in range(_PATIENCE):
                if not self._expected():
                    break
                await asyncio.sleep(0.001)  # a thread of the agent may make the call
        self.seat = ""
        for task in list(self._tasks):
            if task is not None:
                task.cancel()
        if self._tasks and kind is not GeneratorExit:
            self._ended = asyncio.Event()
            await self._ended.wait()
            self._ended = None


_PATIENCE = 1000
"""How often the block waits for a call that was given up to be made again, a millisecond or more each time."""
