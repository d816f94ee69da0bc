"""An agent through which a person at the terminal plays a seat."""

import io
import os
import queue
import sys
import threading
from collections.abc import Callable
from typing import ClassVar

import anyio
from anyio.lowlevel import RunVar
from rich.console import Console
from rich.markup import escape

from wardround.engine.episode import Ended
from wardround.engine.records import Action, Ending, View
from wardround.engine.seat import Seat
from wardround.engine.text import printable

_POLL = 0.05
"""Seconds between two looks for a line."""
_CLOSED = ""


class Terminal:
    """The lines of a stream, read by a separate thread, and only while a task waits for one.

    The thread is a daemon and reads the file descriptor without Python's buffers, so that a program that is stopped
    while a person thinks ends at once. With `anyio.to_thread` it would wait for the thread. A line that arrives after a
    cancelled wait is kept for the next one. A task that talks with the person holds the lock `turn`.
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
            threading.Thread(target=self._read_line, name="terminal", daemon=True).start()
        while self._lines.empty():  # noqa: ASYNC110 - the thread outlives a cancelled wait and has no loop to tell
            await anyio.sleep(_POLL)
        self._reading = False
        line = self._lines.get()
        if isinstance(line, Exception):
            raise EOFError("the terminal cannot be read") from line
        if line == _CLOSED:
            raise EOFError("the terminal is closed")
        return line.rstrip("\r\n")

    def _read_line(self) -> None:
        try:
            self._lines.put(self._read())
        except (OSError, ValueError) as error:  # ValueError: the stream was closed meanwhile
            self._lines.put(error)


_TERMINAL: RunVar[Terminal] = RunVar("terminal")


def shared_terminal() -> Terminal:
    """The terminal of this process, the same for all episodes of a running loop."""
    current = _TERMINAL.get(None)
    if current is None:
        current = Terminal(_standard_input())
        _TERMINAL.set(current)
    return current


def _standard_input() -> Callable[[], str]:
    """A function that reads a line of standard input with its line end; it returns "" once the input is closed."""
    if sys.stdin is None:
        return lambda: _CLOSED
    try:
        descriptor = sys.stdin.fileno()
    except (OSError, ValueError, io.UnsupportedOperation):
        return sys.stdin.readline
    encoding = sys.stdin.encoding or "utf-8"
    buffer = bytearray()

    def read() -> str:
        while b"\n" not in buffer:
            piece = os.read(descriptor, 65_536)
            if not piece:
                break
            buffer.extend(piece)
        end = buffer.find(b"\n") + 1 or len(buffer)
        line = bytes(buffer[:end])
        del buffer[:end]
        return line.decode(encoding, "replace")

    return read


_COMMANDS = {
    "ask": "/ask QUESTION",
    "order": "/order [examination:|lab:|microbiology:|imaging:] NAME, NAME, ... (or ; where names hold commas)",
    "conclude": "/conclude ANSWER",
}
UNATTENDED = "unattended"
_KINDS = ("examination", "lab", "microbiology", "imaging", "any")


class Human:
    """Shows what is new in the view and takes the person's words.

    ::

        wardround run --limit 1 --scenario consultation --doctor human

    A line that begins with / is a command: one for each verb that is possible now, and /quit, which ends the encounter
    without an answer. Anything else is a reply like that of a model, which ends with an empty line. The person is asked
    again until the input can be used. The agent is not sealed, so all events are durable before the person sees them.
    """

    outside: ClassVar[bool] = True

    def __init__(self, seat: Seat, source: Terminal | None = None, console: Console | None = None) -> None:
        self._seat = seat
        self._source = source
        self._console = console or Console()

    async def act(self, view: View) -> Action:
        """Ask the person for an action; raises Ended if the terminal is closed, because nobody can answer then."""
        source = self._source or shared_terminal()
        async with source.turn:
            self._show(view)
            try:
                action = None
                while action is None:
                    action = await self._once(source, view)
            except EOFError as error:
                detail = f"{error}, so nobody can answer; seat human needs an open standard input"
                raise Ended(Ending(view.seat, UNATTENDED, detail)) from error
        return Action(action.verb, action.text, action.args, memo={"seen": _newest(view)})

    def _show(self, view: View) -> None:
        seen = view.memo.get("seen") if isinstance(view.memo, dict) else None
        if not isinstance(seen, int):
            self._console.rule(escape(printable(f"{self._seat.case_id}: you are the {view.seat}")))
            self._print(view.brief)
            seen = -1
        for said in view.heard:
            if said.seq > seen and said.seat != view.seat:
                self._console.rule(escape(printable(said.seat)), align="left")
                self._print(said.text)
        self._print(_help(view))

    def _print(self, text: str) -> None:
        self._console.print(printable(text, lines=True), markup=False, highlight=False)

    async def _once(self, source: Terminal, view: View) -> Action | None:
        """Read one action from the person; None if the input was not understood."""
        line = await source.line()
        if not line.strip():
            self._print("Nothing was said. " + _help(view))
            return None
        if not line.startswith("/"):
            return await self._reply(source, line)
        word, _, rest = line[1:].strip().partition(" ")
        rest = rest.strip()
        if word == "quit":
            return Action("reply")
        if word not in _COMMANDS or word not in view.verbs or (not rest and word != "order"):
            self._print(f"/{word} is not possible now, or its text is missing. " + _help(view))
            return None
        if word == "ask":
            return Action("ask", rest)
        if word == "conclude":
            return Action("conclude", rest, {"diagnosis": rest, "treatment": rest})
        action = _order(rest)
        if action is None:
            self._print("Which ones? " + _help(view))
        return action

    async def _reply(self, source: Terminal, first: str) -> Action:
        lines = [first]
        try:
            while (line := await source.line()).strip():
                lines.append(line)
        except EOFError:  # closing the terminal ends the text too
            pass
        return Action("reply", "\n".join(lines))


def _order(text: str) -> Action | None:
    """The order in a text; None if it names no test, unless it orders the whole examination."""
    kind, _, names = text.partition(":")
    kind = kind.strip().lower()
    if kind not in _KINDS:
        kind, names = "any", text
    items = [name.strip() for name in names.split(";" if ";" in names else ",") if name.strip()]
    return None if not items and kind != "examination" else Action("order", text, {"kind": kind, "items": items})


def _newest(view: View) -> int:
    return max((said.seq for said in view.heard), default=-1)


def _help(view: View) -> str:
    possible = [usage for verb, usage in _COMMANDS.items() if verb in view.verbs]
    return "\n".join(("Your reply, ended by an empty line; or", *(f"  {usage}" for usage in possible), "  /quit"))
