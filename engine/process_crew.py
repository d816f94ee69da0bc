"""Workers that are processes of this machine: a crew starts each in a Python of its own and reports what happens to it.

A worker ends with the process that started it: it reads its standard input, and stops at once when that is closed.
"""

import asyncio
import functools
import os
import socket
import sys
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from io import FileIO
from subprocess import PIPE
from threading import Thread

import anyio
import msgspec
from anyio.abc import Process, TaskGroup
from anyio.streams.buffered import BufferedByteReceiveStream
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from wardround.engine.cluster import WorkerReport
from wardround.engine.errors import WardroundError
from wardround.engine.logs import configure, redact
from wardround.engine.plugins import import_path
from wardround.engine.records import Json

_CHILD = (
    "import sys; sys.path.extend(path for path in sys.argv[1:] if path not in sys.path); "
    "from wardround.engine.process_crew import run_worker; run_worker()"
)
_GRACE = 5.0
"""Seconds that a worker has to end after its input was closed, before it is killed."""
_LONGEST_LINE = 1 << 20


class WorkerOrder(msgspec.Struct, frozen=True):
    """What a worker reads first: the function `package.module:name` to run, its arguments, and what it logs."""

    entry: str
    arguments: Mapping[str, Json]
    log_level: str


class ProcessCrew:
    """Workers of this machine; each runs the async function `entry` in its own process. `process_crew` makes one."""

    def __init__(self, entry: str, group: TaskGroup) -> None:
        self._entry, self._group = entry, group
        self._send: MemoryObjectSendStream[WorkerReport]
        self._reports: MemoryObjectReceiveStream[WorkerReport]
        self._send, self._reports = anyio.create_memory_object_stream[WorkerReport](1000)

    async def start(self, place: int, arguments: Mapping[str, Json]) -> None:
        """Start a worker in an empty place; `next` reports what happens to it."""
        # All workers would log the same warnings, so only the worker in place 1 logs them.
        order = WorkerOrder(self._entry, arguments, "warning" if place == 1 else "error")
        child = await anyio.open_process(
            [sys.executable, "-P", "-c", _CHILD, *(path for path in sys.path if path)],
            stdin=PIPE,
            stdout=PIPE,
            stderr=None,
            start_new_session=True,  # Ctrl-C is meant for this process, which drains the run for all
        )
        self._group.start_soon(self._watch, place, child)
        assert child.stdin is not None
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):  # it died: `_watch` reports it
            await child.stdin.send(msgspec.json.encode(order) + b"\n")

    async def next(self) -> WorkerReport:
        """Wait for the next report about a worker; may be cancelled and called again."""
        return await self._reports.receive()

    def close(self) -> None:
        """Report nothing more."""
        self._send.close()
        self._reports.close()

    async def _watch(self, place: int, child: Process) -> None:
        """Pass on what a worker reports; a worker that ends without a last word has died."""
        assert child.stdout is not None
        lines, last = BufferedByteReceiveStream(child.stdout), ""
        try:
            with suppress(anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
                while True:
                    report = msgspec.json.decode(await lines.receive_until(b"\n", _LONGEST_LINE), type=WorkerReport)
                    last = report.kind
                    await self._send.send(msgspec.structs.replace(report, place=place))
            code = await child.wait()
            if last not in ("finished", "failed"):
                await self._send.send(WorkerReport("died", place, text=f"its process ended with code {code}"))
        finally:
            with anyio.CancelScope(shield=True):
                await _end(child)


@asynccontextmanager
async def process_crew(entry: str) -> AsyncIterator[ProcessCrew]:
    """A crew for the length of the block, whose workers run `entry`; leaving it ends all workers at once."""
    try:
        async with anyio.create_task_group() as group:
            crew = ProcessCrew(entry, group)
            try:
                yield crew
            finally:
                group.cancel_scope.cancel()
                crew.close()
    except BaseExceptionGroup as errors:
        if len(errors.exceptions) > 1:
            raise
        raise errors.exceptions[0] from None  # that of the block


async def _end(child: Process) -> None:
    """End a worker by closing its input; kill it if it does not heed that."""
    assert child.stdin is not None
    with suppress(anyio.BrokenResourceError, OSError):
        await child.stdin.aclose()
    with anyio.move_on_after(_GRACE):
        await child.wait()
    if child.returncode is None:
        child.kill()
    await child.aclose()


def run_worker() -> None:
    """Run what the parent process orders, and report on standard output how it went."""
    order = msgspec.json.decode(sys.stdin.buffer.readline(), type=WorkerOrder)
    out = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # keep what agents print away from our messages
    configure(order.log_level)

    def report(said: WorkerReport) -> None:
        with suppress(BrokenPipeError):  # the parent process is gone
            out.write(msgspec.json.encode(said) + b"\n")

    report(WorkerReport("started", 0, host=socket.gethostname(), pid=os.getpid()))
    try:
        report(WorkerReport("finished", 0, result=anyio.run(_until_closed, order)))
    except WardroundError as error:
        report(WorkerReport("failed", 0, error=type(error).__name__, text=redact(str(error))))


async def _until_closed(order: WorkerOrder) -> Json:
    """Run the function; cancel it if the parent process closes our input, as it does when it ends in any way."""
    loop, scope = asyncio.get_running_loop(), anyio.CancelScope()

    def listen() -> None:
        while os.read(0, 4096):
            pass
        with suppress(RuntimeError):  # the loop has ended by itself
            loop.call_soon_threadsafe(scope.cancel)
        time.sleep(_GRACE)
        os._exit(130)  # an act goes on although it was cancelled; the store is as after a kill

    Thread(target=listen, daemon=True).start()
    with scope:
        return await functools.partial(import_path(order.entry), **order.arguments)()
    return None
