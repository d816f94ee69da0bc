"""A program beside the engine with which lines are exchanged over pipes; neither side can make the event loop wait.

child = await ChildProcess.start(["python", "agent.py"])
await child.send(b'{"view": ...}')
print(await child.line())
child.end()
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from typing import Self

LONGEST = 16 * 2**20
"""The most bytes of one line."""
_TAIL = 2400
"""Bytes of the end of standard error that are kept."""
_LOOK = 0.5
"""Seconds between two looks whether the program has ended while one of its children holds the pipe open."""
_GRACE = 0.2
"""Seconds for a program that wrote something wrong to end by itself, so that its exit code is known."""


class _Tail(asyncio.Protocol):
    """Keeps the end of what is read."""

    def __init__(self) -> None:
        self.kept = b""
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.kept = (self.kept + data)[-_TAIL:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()


class ChildProcess:
    """One program in a process group of its own, which ends with it.

    Ctrl-C in a terminal does not reach it: the engine decides when it ends.
    """

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        self._reader = asyncio.StreamReader(LONGEST)
        self._errors = _Tail()
        self._writer: asyncio.StreamWriter
        self._pipes: list[asyncio.BaseTransport] = []

    @classmethod
    async def start(cls, command: Sequence[str]) -> Self:
        """Start a command; raises OSError if it cannot be started."""
        process = subprocess.Popen(  # noqa: ASYNC220, S603 - it only forks, and the user named the command
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        child = cls(process)
        try:
            await child._connect()
        except BaseException:
            child.end()
            raise
        return child

    async def _connect(self) -> None:
        loop, process, reader = asyncio.get_running_loop(), self._process, self._reader
        out, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), process.stdout)
        self._pipes.append(out)
        errors, _ = await loop.connect_read_pipe(lambda: self._errors, process.stderr)
        self._pipes.append(errors)
        pipe, flow = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), process.stdin
        )
        self._writer = asyncio.StreamWriter(pipe, flow, None, loop)
        self._pipes.append(pipe)

    async def send(self, line: bytes) -> None:
        """Write a line and wait until the pipe has taken it; raises OSError if the program reads no more."""
        self._writer.write(line + b"\n")
        await self._writer.drain()

    async def line(self) -> bytes:
        """The next line with its end, or what is left where the program has ended; raises ValueError for a huge one."""
        while True:
            try:
                async with asyncio.timeout(_LOOK):
                    return await self._reader.readline()
            except TimeoutError:
                self.exit_code()

    def exit_code(self) -> int | None:
        """The exit code if the program has ended; what it left behind in its group is killed then."""
        if self._process.returncode is None and self._process.poll() is not None:
            self._kill_group()
        return self._process.returncode

    async def last_words(self) -> tuple[int | None, str]:
        """The exit code, if it ends soon, and the end of its standard error."""
        waited = 0.0
        while self.exit_code() is None and waited < _GRACE:
            await asyncio.sleep(_GRACE / 10)
            waited += _GRACE / 10
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._errors.over.wait()
        return self.exit_code(), self._errors.kept.decode("utf-8", "replace")

    def end(self) -> None:
        """Kill the program with its children, and close the pipes; waits for nothing but the kernel."""
        if self._process.returncode is None:
            self._kill_group()
            self._process.wait()
        for pipe in self._pipes:
            if isinstance(pipe, asyncio.WriteTransport):
                pipe.abort()
            else:
                pipe.close()
        if len(self._pipes) < 3:  # it was cancelled while it began
            for file in (self._process.stdin, self._process.stdout, self._process.stderr):
                if file is not None:
                    file.close()

    def _kill_group(self) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
