"""An agent in a process of its own, in any language: one JSON object a line (`exec:COMMAND`, `sealed:COMMAND`,
`container:IMAGE COMMAND`).

    {"seat": "doctor", "case": "wa-001", "seed": 1, "options": {}, "past": []}   the engine's first line
    {"view": {"brief": ..., "heard": [...], "verbs": ["reply"], ...}}            at each turn
    {"verb": "reply", "text": "PE"}                                              the action: the process's answer

`args`, `thinking` and `memo` of an action are optional. Before its action the process may ask its seat's model, if
there is one, as often as it likes:

    {"model": {"messages": [{"role": "user", "content": "..."}]}}                the question
    {"completion": {"text": "...", "thinking": "", "finish": "stop"}}            the answer, or {"error": KIND, ...}

What the process writes to standard error is kept for messages. docs/faces.md has whole agents.
"""

import asyncio
import os
import platform
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Self
from uuid import uuid4

import msgspec

from wardround.agents import seal_launch
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.logs import redact
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.engine.text import printable

LONGEST = 16 * 2**20
"""The most bytes of one line."""
_ERROR_BYTES = 2400
"""Bytes of the end of standard error that are kept."""
_LOOK = 0.5
"""Seconds between two checks whether the program has ended though one of its children still holds the pipe open."""
_GRACE = 0.2
"""Seconds for a program that wrote something wrong to end by itself, so that its exit code is known."""


class _Tail(asyncio.Protocol):
    """Keeps the end of what is read."""

    def __init__(self) -> None:
        self.kept = b""
        self.over = asyncio.Event()

    def data_received(self, data: bytes) -> None:
        self.kept = (self.kept + data)[-_ERROR_BYTES:]

    def connection_lost(self, exc: Exception | None) -> None:
        self.over.set()


class ChildProcess:
    """A program with which lines are exchanged over pipes; neither side can make the event loop wait.

    ::

        child = await ChildProcess.start(["python", "agent.py"])
        await child.send(b'{"view": ...}')
        print(await child.line())
        child.end()

    It runs in a process group of its own, which ends with it. Ctrl-C in a terminal does not reach it: the engine
    decides when it ends.
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


EXEC, SEALED, CONTAINER = "exec", "sealed", "container"
"""The kinds of SPEC, `KIND:COMMAND`; a sealed process reaches no network and no file but what it needs to run.

`container:IMAGE COMMAND` is sealed by docker or podman.
"""
RUNTIME = "WARDROUND_CONTAINER_RUNTIME"
"""The variable with the program that runs containers; default: docker or podman, whichever has the image."""
_TRIAL = 30.0
"""The most seconds that a trial of a seal or a container may take."""
_TAIL = 600
"""Characters of the end of standard error that a message quotes."""


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the process: an action, or a question to its model."""

    verb: str = "reply"
    text: str | None = None
    args: dict[str, Json] = {}
    thinking: str = ""
    memo: Json = None
    model: dict[str, Json] | None = None


class ProcessFailed(RuntimeError):
    """The process could not be started, ended, or wrote a line that is no action."""


class ProcessAgent:
    """Starts the command at its first act and asks it for each action; the process ends with the episode."""

    def __init__(self, seat: Seat, command: Sequence[str], clean_up: Sequence[str] = ()) -> None:
        self._seat, self._command, self._options = seat, command, dict(seat.options)
        self._clean_up = clean_up
        self._past: list[Mapping[str, Json]] = []
        self._child: ChildProcess | None = None

    def recall(self, view: View, action: Action) -> None:
        """Tell a process that takes over which actions its seat has taken."""
        self._past.append(msgspec.to_builtins(action))

    async def act(self, view: View) -> Action:
        """Send the view and wait for the action; raises ProcessFailed with the end of standard error."""
        child = self._child or await self._start()
        await self._send(child, {"view": msgspec.to_builtins(view)})
        while (line := await self._line(child)).model is not None:
            await self._send(child, await self._answer_question(child, line.model))
        if line.text is None and not line.args:
            raise await self._failure(child, "it wrote a line without `text` and `args`, which is not an action")
        return Action(line.verb, line.text or "", line.args, line.thinking, line.memo)

    def end(self) -> None:
        """End the process; the episode is over."""
        if self._child is not None:
            self._child.end()
            if self._clean_up:  # the container outlives the program that began it, and its removal may take long
                Thread(target=_clean_up, args=(self._clean_up,)).start()

    async def _start(self) -> ChildProcess:
        try:
            child = self._child = await ChildProcess.start(self._command)
        except OSError as error:
            raise ProcessFailed(f"{self._command[0]!r} cannot be started: {error.strerror}") from error
        seat = self._seat
        first: dict[str, Json] = {"seat": seat.name, "case": seat.case_id, "seed": seat.seed}
        await self._send(child, {**first, "options": self._options, "past": self._past})
        return child

    async def _send(self, child: ChildProcess, value: Mapping[str, Json]) -> None:
        try:
            await child.send(msgspec.json.encode(value))
        except OSError as error:
            raise await self._failure(child, "it ended before its turn, or closed its standard input") from error

    async def _line(self, child: ChildProcess) -> Line:
        try:
            raw = await child.line()
        except ValueError as error:
            raise await self._failure(child, f"it wrote a line of more than {LONGEST} bytes") from error
        if not raw.endswith(b"\n"):
            raise await self._failure(child, "it ended without an action")
        try:
            return msgspec.json.decode(raw, type=Line)
        except (msgspec.MsgspecError, RecursionError) as error:
            shown = printable(raw[:120].decode("utf-8", "replace").rstrip())
            raise await self._failure(child, f"it wrote {shown!r}, which is not an action: {error}") from error

    async def _answer_question(self, child: ChildProcess, question: Mapping[str, Json]) -> Mapping[str, Json]:
        """The line that answers the process's question to its model: a completion, or an error."""
        if self._seat.model is None:
            return {"error": "no_model", "message": f"the seat {self._seat.name} has no model"}
        options = {name: value for name, value in question.items() if name not in ("messages", "purpose")}
        try:
            messages = msgspec.convert(question.get("messages"), list[dict[str, str]])
            asked = [Message(one["role"], one["content"]) for one in messages]
        except (msgspec.ValidationError, KeyError) as error:
            raise await self._failure(
                child, f"it asked its model without messages of role and content: {error}"
            ) from error
        try:
            reply = await self._seat.model.complete(asked, purpose=str(question.get("purpose", "act")), **options)
        except ProviderError as error:
            return {"error": error.kind, "message": str(error)}
        return {"completion": {"text": reply.text, "thinking": reply.thinking, "finish": reply.finish}}

    async def _failure(self, child: ChildProcess, what: str) -> ProcessFailed:
        code, words = await child.last_words()
        ended = "" if code is None else f" (exit code {code})"
        tail = redact(words).strip()[-_TAIL:]
        said = f"; its last words: {printable(tail)}" if tail else ""
        return ProcessFailed(f"the process {shlex.join(self._command)[:200]}: {what}{ended}{said}")


def _clean_up(command: Sequence[str]) -> None:
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(command, capture_output=True, timeout=30, check=False)  # noqa: S603


class ProcessMaker:
    """Makes the agents of a SPEC such as `exec:COMMAND`; a sealed one sees none of the `hidden` files."""

    def __init__(self, spec: str, hidden: Sequence[str] = ()) -> None:
        kind, _, command = spec.partition(":")
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise UsageError(f"{spec!r}: the command cannot be read: {error}") from error
        if not words:
            raise UsageError(f"{spec!r} names no command; write {kind}:python my_agent.py")
        if words[0] in ("python", "python3"):
            words[0] = sys.executable
        self.is_sealed = kind in (SEALED, CONTAINER)
        self._kind, self._words, self._hidden = kind, words, hidden

    def __call__(self, seat: Seat) -> ProcessAgent:
        """The agent of one episode; raises UsageError where its program cannot be started or sealed."""
        if self._kind == CONTAINER:
            image, name = self._words[0], f"wardround-{uuid4().hex}"
            runtime = container_runtime(image)
            if reason := container_obstacle(runtime, tuple(self._words)):
                raise UsageError(f"the container of {image!r} does not start: {reason}")
            return ProcessAgent(seat, container_command(runtime, name, self._words), (runtime, "rm", "--force", name))
        if shutil.which(self._words[0]) is None:
            raise UsageError(f"{self._words[0]!r} is not there, or is no program")
        return ProcessAgent(seat, sealed_command(self._words, self._hidden) if self.is_sealed else self._words)


def is_process(spec: str) -> bool:
    """Whether a SPEC names a process of its own."""
    return spec.partition(":")[0] in (EXEC, SEALED, CONTAINER) and ":" in spec


_LAUNCHER = str(Path(seal_launch.__file__).resolve())
_NOT_BESIDE = ("/", "/var", "/run", "/dev", "/proc", "/sys", "/tmp")  # noqa: S108 - folders that are not shown
"""Working directories that would show the whole machine, or that the sealed process has its own of."""


def sealed_command(words: Sequence[str], hidden: Sequence[str] = ()) -> list[str]:
    """The command that runs `words` sealed; raises UsageError with the reason where that is not possible.

    Of the `hidden` files and folders it sees nothing, even if they lie in the working directory.
    """
    here = os.getcwd()
    if here in _NOT_BESIDE:
        raise UsageError(
            f"a sealed process sees its working directory, and {here} is too much: begin the run elsewhere"
        )
    if reason := sealing_obstacle():
        raise UsageError(f"the process cannot be sealed here: {reason}; play public cases, or add --allow-agent")
    folders = dict.fromkeys((here, sys.prefix, sys.base_prefix))
    program = os.path.realpath(shutil.which(words[0]) or words[0])
    if not any(Path(program).is_relative_to(os.path.realpath(one)) for one in (*folders, *seal_launch.SYSTEM)):
        raise UsageError(f"a sealed process sees the system, Python and {here}, and {program} lies elsewhere")
    covered = [os.path.realpath(one) for one in hidden]
    if above := next((one for one in covered if Path(here).is_relative_to(one)), None):
        raise UsageError(f"a sealed process sees its working directory, and the cases of {above} lie in it: move them")
    return [sys.executable, "-I", "-S", _LAUNCHER, *folders, "--hide", *covered, "--", *words]


@cache
def container_runtime(image: str) -> str:
    """The program that runs containers and has the image; raises UsageError, with what each one says, if none has."""
    faults = []
    for name in [os.environ[RUNTIME]] if os.environ.get(RUNTIME) else ["docker", "podman"]:
        program = shutil.which(name)
        if program is None:
            faults.append(f"{name} is not there")
            continue
        reason = _fault_of([program, "image", "inspect", "--format={{.Id}}", image])
        if not reason:
            return program
        faults.append(f"{name}: {reason}")
    raise UsageError(
        f"container: no program that runs containers has the image {image!r} ({'; '.join(faults)}); it is not fetched. "
        "Build or pull it, or use sealed:COMMAND on Linux"
    )


@cache
def container_obstacle(runtime: str, words: Sequence[str]) -> str:
    """Why a container with this image and command does not start; "" if one started, whatever the command did."""
    name = f"wardround-{uuid4().hex}"
    try:
        return _fault_of(container_command(runtime, name, words), _NOT_STARTED, seconds=_TRIAL / 3)
    finally:
        _clean_up((runtime, "rm", "--force", name))


_NOT_STARTED = (125, 126, 127)
"""Exit codes of docker and podman where the command was not started: their own fault, no permission, no program."""


def _fault_of(
    command: Sequence[str], codes: Sequence[int] = (), folder: str | None = None, seconds: float = _TRIAL
) -> str:
    """The last words of a command that failed, by one of `codes` if there are any; "" if it did not."""
    try:
        tried = subprocess.run(  # noqa: S603
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds, check=False, cwd=folder
        )
    except subprocess.TimeoutExpired:
        return "" if codes else f"it did not answer within {seconds:g} s"
    if tried.returncode == 0 or (codes and tried.returncode not in codes):
        return ""
    words = redact(tried.stderr.decode("utf-8", "replace")).strip()[-300:]
    return printable(words) or f"exit code {tried.returncode}"


def container_command(runtime: str, name: str, words: Sequence[str]) -> list[str]:
    """The command that runs an image (first of `words`) without network, rights, or anything to write to but `/tmp`."""
    rights = ("--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
    bounds = ("--pids-limit=256", "--memory=4g", "--pull=never")
    return [runtime, "run", "--rm", "--interactive", f"--name={name}", *rights, *bounds, *words]


@cache
def sealing_obstacle() -> str:
    """Why no process can be sealed on this machine; "" if a trial process was sealed."""
    if sys.platform != "linux":
        return f"sealing takes Linux namespaces, and this is {platform.system()}"
    if platform.machine() not in seal_launch.ARCHES:
        return f"no filter of calls is known for {platform.machine()} (there are: {', '.join(seal_launch.ARCHES)})"
    folders = dict.fromkeys((sys.prefix, sys.base_prefix))
    words = [sys.executable, "-I", "-S", _LAUNCHER, *folders, "--hide", "--", sys.executable, "-I", "-S", "-c", ""]
    return _fault_of(words, folder="/")  # the trial does not see the working directory
