"""Starts, watches and ends workers on a Ray cluster, while Ray itself runs in a child process.

Ray changes the process it runs in (signal handlers, environment, output on standard output). The child
(engine/ray_process.py, the only module that imports Ray) therefore exchanges JSON lines with this process and writes
Ray's own output to a file.
"""

import math
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from signal import SIGKILL
from subprocess import PIPE
from types import TracebackType
from typing import Protocol, Self
from urllib.parse import urlsplit

import anyio
import msgspec
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from wardround.engine.errors import UsageError, WardroundError
from wardround.engine.logs import redact
from wardround.engine.records import Json

CLIENT_PORT = 10001
"""The port on which a cluster's head listens for clients by default."""
_LONGEST_LINE = 1 << 20
_PATIENCE = 180.0
"""Seconds that Ray has to start here or to join a cluster; by itself it waits for ever for one that doesn't answer."""
_GRACE = 20.0
"""Seconds that Ray has to end its processes before they are killed."""
_CHILD = "import sys; from wardround.engine.ray_process import run_pool; run_pool()"


class Cluster(msgspec.Struct, frozen=True):
    """Where workers run, and how many.

    `address` is '' for this machine, 'auto' for the cluster that this machine is a node of, or the ray://HOST:PORT of a
    cluster's head. Without `ray` the workers are plain processes of this machine (engine/process_crew.py).
    """

    address: str
    workers: int
    ray: bool = True

    @property
    def local(self) -> bool:
        """Whether the workers are processes of this machine that see its files and its environment."""
        return not self.address

    @property
    def option(self) -> str:
        """The option of the command line that asks for it."""
        return "--cluster" if self.ray else "--workers"


class Crew(Protocol):
    """Workers in numbered places."""

    async def start(self, place: int, arguments: Mapping[str, Json]) -> None:
        """Start a worker in an empty place; `next` reports what happens to it."""

    async def next(self) -> "WorkerReport":
        """Wait for the next report about a worker; may be cancelled and called again."""


class WorkerReport(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happened to the worker in one place.

    `kind` is one of:

    - joined: Ray has started or joined the cluster; the report is about no place;
    - started: the worker runs, on `host` with process id `pid`;
    - finished: its function returned `result`;
    - failed: its function raised an error meant for people, of the class named `error` with the message `text`;
    - died: its process ended, or Ray failed; `text` says how.
    """

    kind: str
    place: int = 0
    host: str = ""
    pid: int = 0
    result: Json = None
    error: str = ""
    text: str = ""


class WorkerStart(msgspec.Struct, frozen=True):
    """Order to start a worker in a place; `arguments` are JSON."""

    place: int
    arguments: Mapping[str, Json]


class WorkerSetup(msgspec.Struct, frozen=True):
    """The first message to the child process.

    It names the cluster, the function `package.module:name` that a worker runs, the folder for Ray's files, and the
    folders in which workers on this machine look for modules.
    """

    cluster: Cluster
    entry: str
    folder: str
    paths: tuple[str, ...]


def cluster_of(text: str, workers: int | None = None) -> Cluster:
    """The cluster that `ray`, `ray:auto` or `ray://host[:port]` stands for; raises UsageError.

    Without `workers` there is one worker for each core of this machine; on another cluster the number is required.
    """
    address = "" if text == "ray" else "auto" if text in ("ray:auto", "ray://auto") else _head(text)
    if workers is None and address:
        raise UsageError(f"--cluster {text}: say how many workers with --workers N")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers {workers}: at least 1")
    return Cluster(address, workers or os.cpu_count() or 1)


def _head(text: str) -> str:
    try:
        parts = urlsplit(text)
        port = parts.port or CLIENT_PORT
    except ValueError as error:
        raise UsageError(f"--cluster {redact(text)}: {error}") from error
    if parts.scheme != "ray" or not parts.hostname or parts.path.strip("/") or parts.query or "@" in parts.netloc:
        raise UsageError(f"--cluster {redact(text)}: write ray, ray:auto or ray://HOST[:PORT]")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"ray://{host}:{port}"


def need_ray(cluster: Cluster) -> None:
    """Raise UsageError if Ray, or gRPC for a remote cluster, is not installed; nothing is imported."""
    if find_spec("ray") is None or (cluster.address.startswith("ray://") and find_spec("grpc") is None):
        raise UsageError("--cluster needs Ray, which is not installed: pip install 'wardround[ray]'")


class WorkerCrew:
    """Workers of a Ray cluster, as an async context manager: each runs the async function `entry` in its own process.

    Leaving the block ends all running workers at once; wait for them first if they must finish.
    """

    def __init__(self, cluster: Cluster, entry: str, patience: float = _PATIENCE) -> None:
        """`patience` is how long Ray may take to start or to be joined, in seconds."""
        self._cluster, self._entry, self._patience = cluster, entry, patience
        self._folder = Path()
        self._child: Process | None = None
        self._lines: BufferedByteReceiveStream | None = None
        self._deadline = math.inf
        """The time by which Ray must have joined the cluster; infinite once it has."""

    async def __aenter__(self) -> Self:
        need_ray(self._cluster)
        # Ray puts its sockets in this folder, and the path of a socket is limited to about a hundred bytes.
        self._folder = Path(tempfile.mkdtemp(prefix="wardround-", dir="/tmp" if os.path.isdir("/tmp") else None))  # noqa: S108, ASYNC240
        try:
            with (self._folder / "noise").open("wb") as noise:
                self._child = await anyio.open_process(
                    [sys.executable, "-c", _CHILD],
                    stdin=PIPE,
                    stdout=PIPE,
                    stderr=noise,
                    env=self._environment(),
                    start_new_session=True,  # Ctrl-C is meant for this process; the child ends when this one does
                )
            assert self._child.stdout is not None
            self._lines = BufferedByteReceiveStream(self._child.stdout)
            paths = tuple(path for path in sys.path if os.path.isdir(path or ".")) if self._cluster.local else ()  # noqa: ASYNC240
            self._deadline = anyio.current_time() + self._patience
            await self._send(WorkerSetup(self._cluster, self._entry, str(self._folder), paths))
        except BaseException:
            await self._close()
            raise
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._close()

    async def start(self, place: int, arguments: Mapping[str, Json]) -> None:
        """Start a worker in an empty place; `next` reports what happens to it."""
        await self._send(WorkerStart(place, arguments))

    async def next(self) -> WorkerReport:
        """Wait for the next report about a worker; may be cancelled and called again.

        Raises UsageError if Ray cannot be started or reached, WardroundError if it fails later.
        """
        report = await self._receive()
        if report.kind == "joined":
            self._deadline = math.inf
            report = await self._receive()
        return report

    async def _receive(self) -> WorkerReport:
        assert self._lines is not None
        try:
            with anyio.fail_after(self._deadline - anyio.current_time()):
                line = await self._lines.receive_until(b"\n", _LONGEST_LINE)
        except TimeoutError:
            raise self._error(f"it did not answer in {self._patience:g} s") from None
        except (anyio.EndOfStream, anyio.IncompleteRead, anyio.ClosedResourceError):
            raise await self._child_error() from None
        return msgspec.json.decode(line, type=WorkerReport)

    async def _send(self, message: WorkerSetup | WorkerStart) -> None:
        assert self._child is not None
        assert self._child.stdin is not None
        try:
            await self._child.stdin.send(msgspec.json.encode(message) + b"\n")
        except (anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            raise await self._child_error() from None

    async def _child_error(self) -> WardroundError:
        """The error for a child process that ended by itself."""
        assert self._child is not None
        with anyio.move_on_after(_GRACE):
            await self._child.wait()
        lines = (self._folder / "noise").read_text(errors="replace").splitlines()
        said = [line for line in lines if line.strip() and not line.startswith((" ", "\t"))]
        raised = said and self._child.returncode == 1  # then the last line is that of a traceback
        return self._error(redact(said[-1]) if raised else f"its process ended with code {self._child.returncode}")

    def _error(self, reason: str) -> WardroundError:
        where = "on this machine" if self._cluster.local else f"at {self._cluster.address}"
        if self._deadline == math.inf:
            return WardroundError(f"Ray {where} failed: {reason[:500]}")
        return UsageError(f"Ray {where} cannot be used: {reason[:500]}")

    async def _close(self) -> None:
        with anyio.CancelScope(shield=True):
            if self._child is not None:
                await self._end(self._child)
            shutil.rmtree(self._folder, ignore_errors=True)

    async def _end(self, child: Process) -> None:
        async with child:
            assert child.stdin is not None
            await child.stdin.aclose()  # the child ends when its input is closed
            with anyio.move_on_after(_GRACE):
                await child.wait()
            if child.returncode != 0:
                with suppress(ProcessLookupError):
                    os.killpg(child.pid, SIGKILL)  # the child leads the group that Ray's own processes are in

    def _environment(self) -> dict[str, str]:
        environment = {**os.environ, "RAY_USAGE_STATS_ENABLED": "0"}
        if self._cluster.local:
            environment.pop("RAY_ADDRESS", None)
            # Ray listens for commands on the loopback address only, and asks for a secret made for this run. If no
            # secret is set, Ray writes one into the home folder.
            environment |= {
                "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN": secrets.token_hex(32),
            }
        return environment
