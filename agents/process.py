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
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO
from uuid import uuid4

import msgspec

from wardround.agents import seal_launch
from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.logs import redact
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.engine.text import printable

EXEC, SEALED, CONTAINER = "exec", "sealed", "container"
"""The kinds of SPEC, `KIND:COMMAND`; a sealed process reaches no network and no file but what it needs to run.

`container:IMAGE COMMAND` is sealed by docker or podman.
"""
RUNTIME = "WARDROUND_CONTAINER_RUNTIME"
"""The variable with the program that runs containers; default: docker or podman, whichever is there."""
LONGEST = 16 * 2**20
"""The most bytes of one line."""
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
    """The process ended, or wrote what is not an action."""


class ProcessAgent:
    """Starts the command at its first act and asks it for each action; the process ends with the episode."""

    def __init__(self, seat: Seat, command: Sequence[str], clean_up: Sequence[str] = ()) -> None:
        self._seat, self._command, self._options = seat, command, dict(seat.options)
        self._clean_up = clean_up
        self._past: list[Mapping[str, Json]] = []
        self._process: subprocess.Popen[bytes] | None = None
        self._errors: IO[bytes] | None = None
        self._reader: asyncio.StreamReader
        self._pipe: asyncio.ReadTransport | None = None

    def recall(self, view: View, action: Action) -> None:
        """Tell a process that takes over which actions its seat has taken."""
        del view
        self._past.append(msgspec.to_builtins(action))

    async def act(self, view: View) -> Action:
        """Send the view and wait for the action; raises ProcessFailed with the end of standard error."""
        if self._process is None:
            await self._start()
        await self._send({"view": msgspec.to_builtins(view)})
        while True:
            line = await self._line()
            if line.model is None:
                break
            await self._send(await self._answer_question(line.model))
        if line.text is None and not line.args:
            raise self._failure("it wrote a line without `text` and `args`, which is not an action")
        return Action(line.verb, line.text or "", line.args, line.thinking, line.memo)

    def end(self) -> None:
        """End the process; the episode is over."""
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if self._process is not None:
            assert self._process.stdin is not None
            with suppress(OSError):
                self._process.stdin.close()
            self._process.kill()
            self._process.wait()
            if self._clean_up:  # the container outlives the program that began it
                with suppress(OSError, subprocess.TimeoutExpired):
                    subprocess.run(self._clean_up, capture_output=True, timeout=30, check=False)  # noqa: S603
        if self._errors is not None:
            self._errors.close()

    async def _start(self) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - it is closed with the episode
        try:
            self._process = subprocess.Popen(  # noqa: ASYNC220, S603 - it only forks, and the user named the command
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        except OSError as error:
            raise ProcessFailed(f"{self._command[0]!r} cannot be started: {error.strerror}") from error
        self._reader = asyncio.StreamReader(LONGEST)
        loop = asyncio.get_running_loop()
        self._pipe, _ = await loop.connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(self._reader), self._process.stdout
        )
        seat = self._seat
        first: dict[str, Json] = {"seat": seat.name, "case": seat.case_id, "seed": seat.seed}
        await self._send({**first, "options": self._options, "past": self._past})

    async def _send(self, value: Mapping[str, Json]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            await asyncio.to_thread(_write, self._process.stdin, msgspec.json.encode(value) + b"\n")
        except OSError as error:
            raise self._failure("it ended before its turn") from error

    async def _line(self) -> Line:
        try:
            raw = await self._reader.readline()
        except ValueError as error:
            raise self._failure(f"it wrote a line of more than {LONGEST} bytes") from error
        if not raw.endswith(b"\n"):
            raise self._failure("it ended without an action")
        try:
            return msgspec.json.decode(raw, type=Line)
        except msgspec.MsgspecError as error:
            shown = printable(raw[:120].decode("utf-8", "replace").rstrip())
            raise self._failure(f"it wrote {shown!r}, which is not an action: {error}") from error

    async def _answer_question(self, question: Mapping[str, Json]) -> Mapping[str, Json]:
        if self._seat.model is None:
            return {"error": "no_model", "message": f"the seat {self._seat.name} has no model"}
        options = {name: value for name, value in question.items() if name not in ("messages", "purpose")}
        try:
            messages = msgspec.convert(question.get("messages"), list[dict[str, str]])
            asked = [Message(one["role"], one["content"]) for one in messages]
        except (msgspec.ValidationError, KeyError) as error:
            raise self._failure(f"it asked its model without messages of role and content: {error}") from error
        try:
            reply = await self._seat.model.complete(asked, purpose=str(question.get("purpose", "act")), **options)
        except ProviderError as error:
            return {"error": error.kind, "message": str(error)}
        return {"completion": {"text": reply.text, "thinking": reply.thinking, "finish": reply.finish}}

    def _failure(self, what: str) -> ProcessFailed:
        assert self._process is not None
        assert self._errors is not None
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(0.2)
        code = self._process.poll()
        ended = "" if code is None else f" (exit code {code})"
        self._errors.seek(0, 2)
        self._errors.seek(max(0, self._errors.tell() - 4 * _TAIL))
        tail = redact(self._errors.read().decode("utf-8", "replace")).strip()[-_TAIL:]
        said = f"; its last words: {printable(tail)}" if tail else ""
        return ProcessFailed(f"the process {shlex.join(self._command)[:200]}: {what}{ended}{said}")


def _write(pipe: IO[bytes], line: bytes) -> None:
    pipe.write(line)
    pipe.flush()


class ProcessMaker:
    """Makes the agents of a SPEC `exec:COMMAND` or `sealed:COMMAND`."""

    def __init__(self, spec: str) -> None:
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
        self._kind = kind
        self._words = words

    def __call__(self, seat: Seat) -> ProcessAgent:
        """The agent of one episode; raises UsageError where a process cannot be sealed."""
        if self._kind == CONTAINER:
            runtime, name = container_runtime(), f"wardround-{uuid4().hex}"
            return ProcessAgent(seat, container_command(runtime, name, self._words), (runtime, "rm", "--force", name))
        return ProcessAgent(seat, sealed_command(self._words) if self.is_sealed else self._words)


def is_process(spec: str) -> bool:
    """Whether a SPEC names a process of its own."""
    return spec.partition(":")[0] in (EXEC, SEALED, CONTAINER) and ":" in spec


_LAUNCHER = str(Path(seal_launch.__file__).resolve())
_NOT_BESIDE = ("/", "/var", "/run", "/dev", "/proc", "/sys", "/tmp")  # noqa: S108 - folders that are not shown
"""Working directories that would show the whole machine, or that the sealed process has its own of."""


def sealed_command(words: Sequence[str]) -> list[str]:
    """The command that runs `words` sealed; raises UsageError with the reason where that cannot be had."""
    here = os.getcwd()
    if here in _NOT_BESIDE:
        raise UsageError(
            f"a sealed process sees its working directory, and {here} is too much: begin the run elsewhere"
        )
    if reason := sealing_obstacle():
        raise UsageError(f"the process cannot be sealed here: {reason}; play public cases, or add --allow-agent")
    folders = dict.fromkeys((here, sys.prefix, sys.base_prefix))
    return [sys.executable, "-I", "-S", _LAUNCHER, *folders, "--", *words]


def container_runtime() -> str:
    """The program that runs containers; raises UsageError if there is none."""
    wanted = [os.environ[RUNTIME]] if os.environ.get(RUNTIME) else ["docker", "podman"]
    program = next((path for name in wanted if (path := shutil.which(name))), None)
    if program is None:
        raise UsageError(f"container: needs {' or '.join(wanted)}, which is not there; or use sealed:COMMAND on Linux")
    return program


def container_command(runtime: str, name: str, words: Sequence[str]) -> list[str]:
    """The command that runs an image (first of `words`) without network, rights, or anything to write to but `/tmp`."""
    rights = ("--network=none", "--read-only", "--tmpfs=/tmp", "--cap-drop=ALL", "--security-opt=no-new-privileges")
    bounds = ("--pids-limit=256", "--memory=4g", "--pull=never")
    return [runtime, "run", "--rm", "--interactive", "--init", f"--name={name}", *rights, *bounds, *words]


@cache
def sealing_obstacle() -> str:
    """Why no process can be sealed on this machine; "" if a trial process was sealed."""
    if sys.platform != "linux":
        return f"sealing takes Linux namespaces, and this is {platform.system()}"
    if platform.machine() not in seal_launch.ARCHES:
        return f"no filter of calls is known for {platform.machine()} (there are: {', '.join(seal_launch.ARCHES)})"
    folders = dict.fromkeys((sys.prefix, sys.base_prefix))
    words = [sys.executable, "-I", "-S", _LAUNCHER, *folders, "--", sys.executable, "-I", "-S", "-c", ""]
    try:
        tried = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)  # noqa: S603
    except subprocess.TimeoutExpired:
        return "a trial did not end within 30 s"
    if tried.returncode == 0:
        return ""
    return printable(tried.stderr.strip()[-300:]) or f"a trial ended with exit code {tried.returncode}"
