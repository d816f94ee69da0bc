"""What plug-in code may raise or do that would end more than itself: exits, interrupts, cancellations, a stopped loop.

An episode contains all of it; a real Ctrl-C or a cancellation of the run still passes. This module tells them apart.
"""

import asyncio
import dis
import signal
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import CodeType, TracebackType
from typing import Any

from wardround.engine.errors import storable
from wardround.engine.logs import redact

_contained: ContextVar[bool] = ContextVar("contained", default=False)
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Escaped(RuntimeError):
    """A task that plug-in code started raised what would have ended the process."""


def self_raised(error: BaseException) -> bool:
    """Whether plug-in code raised this by itself, though only the event loop or the operator should.

    A cancellation that nobody requested is its own; so is SystemExit, unless the handler of a signal raised it; so is a
    KeyboardInterrupt that a `raise` of its own began. Of several at once none may be real. Exceptions count as its own.
    """
    if isinstance(error, BaseExceptionGroup):
        return all(self_raised(inner) for inner in error.exceptions)
    if isinstance(error, Exception):
        return True
    if isinstance(error, asyncio.CancelledError):
        task = _task()
        return task is not None and not task.cancelling()
    if isinstance(error, GeneratorExit):
        return _task() is not None  # else a coroutine is closed after its loop has ended
    if isinstance(error, KeyboardInterrupt):
        return not _by_signal(error.__traceback__) and _by_raise(error.__traceback__)
    return not _by_signal(error.__traceback__)


def said(error: BaseException) -> str:
    """Its type and its text without what looks like a secret, whatever its own `__str__` does."""
    try:
        text = str(error)
    except BaseException as worse:
        if not self_raised(worse):
            raise
        text = f"its text cannot be had ({type(worse).__name__})"
    return storable(redact(f"{type(error).__name__}: {text[:2000]}") if text else type(error).__name__)


@contextmanager
def contained() -> Iterator[None]:
    """In this block, and in the tasks it starts, plug-in code can neither stop the event loop nor end the process."""
    _guard(asyncio.get_running_loop())
    token = _contained.set(True)
    try:
        yield
    finally:
        _contained.reset(token)


def _guard(loop: asyncio.AbstractEventLoop) -> None:
    """Let the loop refuse a stop, and its tasks an exit, where they come from a contained block; it stays so."""
    if not isinstance(loop, asyncio.BaseEventLoop) or isinstance(loop.stop, partial):
        return
    loop.stop = partial(_stop, loop)  # type: ignore[method-assign]
    if loop.get_task_factory() is None:
        loop.set_task_factory(_task_of)


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    if _contained.get():
        raise RuntimeError("the event loop was told to stop, which only the run may do")
    type(loop).stop(loop)


def _task_of(loop: asyncio.AbstractEventLoop, coro: Any, **given: Any) -> asyncio.Task[Any]:
    return asyncio.Task(_kept_in(coro) if _contained.get() else coro, loop=loop, **given)


async def _kept_in(coro: Coroutine[Any, Any, Any]) -> Any:
    """A task of plug-in code: the loop would end with the whole process by what is turned into an exception here."""
    try:
        return await coro
    except (SystemExit, KeyboardInterrupt) as error:
        if not self_raised(error):
            raise
        raise Escaped(f"{said(error)}, in a task of its own") from error


def _task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def _by_signal(trace: TracebackType | None) -> bool:
    """Whether the handler of a signal is at work in the traceback."""
    handlers = {_code(signal.getsignal(number)) for number in _SIGNALS} - {None}
    while trace is not None:
        if trace.tb_frame.f_code in handlers:
            return True
        trace = trace.tb_next
    return False


def _code(handler: Any) -> CodeType | None:
    while isinstance(handler, partial):
        handler = handler.func
    # whatever can be called can handle a signal: a method has `__func__`, a class of one's own neither
    code = getattr(getattr(handler, "__func__", handler), "__code__", None)
    return code if isinstance(code, CodeType) else None


def _by_raise(trace: TracebackType | None) -> bool:
    """Whether a `raise` began it: Python's own handler of Ctrl-C interrupts wherever the code is at the moment."""
    if trace is None:
        return False
    while trace.tb_next is not None:
        trace = trace.tb_next
    code = trace.tb_frame.f_code.co_code
    return 0 <= trace.tb_lasti < len(code) and dis.opname[code[trace.tb_lasti]] in ("RAISE_VARARGS", "RERAISE")
