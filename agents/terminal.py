"""The terminal: one person, one line at a time, whoever asks."""

import io
import os
import queue
import sys
import threading
from collections.abc import Callable

import anyio
from anyio.lowlevel import RunVar

_POLL = 0.05
_CLOSED = ""


class Terminal:
    """Lines of a stream, read by a thread of its own only while somebody waits for one.

    The thread is a daemon and reads the file descriptor without Python's buffers: a program that is stopped while a
    person thinks ends at once, which it does not with `anyio.to_thread` (its workers are waited for). A line that comes
    after the wait was cancelled is kept for who asks next. Whoever talks with the person holds `turn`.
    """

    def __init__(self, read: Callable[[], str]) -> None:
        self.turn = anyio.Lock()
        self._read = read
        self._lines: queue.SimpleQueue[str | Exception] = queue.SimpleQueue()
        self._reading = False

    async def line(self) -> str:
        """The next line without its end; raises EOFError when the stream is closed."""
        if not self._reading and self._lines.empty():
            self._reading = True
            threading.Thread(target=self._one, name="terminal", daemon=True).start()
        while self._lines.empty():  # noqa: ASYNC110 - the thread outlives a cancelled wait and has no loop to tell
            await anyio.sleep(_POLL)
        self._reading = False
        line = self._lines.get()
        if isinstance(line, Exception):
            raise EOFError("the terminal cannot be read") from line
        if line == _CLOSED:
            raise EOFError("the terminal is closed")
        return line.rstrip("\r\n")

    def _one(self) -> None:
        try:
            self._lines.put(self._read())
        except (OSError, ValueError) as error:  # ValueError: the stream was closed under us
            self._lines.put(error)


_TERMINAL: RunVar[Terminal] = RunVar("terminal")


def terminal() -> Terminal:
    """The terminal of this process, the same for all episodes of a running loop."""
    found = _TERMINAL.get(None)
    if found is None:
        found = Terminal(_standard_input())
        _TERMINAL.set(found)
    return found


def _standard_input() -> Callable[[], str]:
    """Reads a line of standard input, its end included; the empty text once it is closed."""
    if sys.stdin is None:
        return lambda: _CLOSED
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError, io.UnsupportedOperation):
        return sys.stdin.readline
    encoding = sys.stdin.encoding or "utf-8"
    held = bytearray()

    def read() -> str:
        while b"\n" not in held:
            piece = os.read(descriptor, 65_536)
            if not piece:
                break
            held.extend(piece)
        end = held.find(b"\n") + 1 or len(held)
        line = bytes(held[:end])
        del held[:end]
        return line.decode(encoding, "replace")

    return read
