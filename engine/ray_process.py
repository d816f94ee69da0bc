"""The child process in which Ray runs: it starts workers on order and reports what happens to them.

The parent process is engine/cluster.py.
"""

import functools
import os
import shutil
import socket
import sys
from collections.abc import Sequence
from importlib import import_module
from io import FileIO
from queue import Empty, SimpleQueue
from threading import Thread
from types import ModuleType

import anyio
import msgspec

from wardround.engine.cluster import WorkerReport, WorkerSetup, WorkerStart
from wardround.engine.errors import WardroundError
from wardround.engine.logs import configure, redact
from wardround.engine.plugins import import_path
from wardround.engine.records import Json

_STORE_BYTES = 80_000_000
"""Bytes for objects that workers exchange: Ray's minimum, because our workers exchange none."""
_TICK = 0.2
"""Seconds between two checks for orders."""


class Worker:
    """The Ray actor that runs in each worker's process."""

    def hello(self) -> tuple[str, int]:
        """(host, process id) of the worker's process, once it has started."""
        return socket.gethostname(), os.getpid()

    def work(self, entry: str, arguments: dict[str, Json], paths: Sequence[str]) -> tuple[Json, str, str]:
        """Run the async function `entry`: (result, '', ''), or (None, class, text) of an error meant for people."""
        sys.path.extend(path for path in paths if path not in sys.path)
        configure("warning")
        try:
            return anyio.run(functools.partial(import_path(entry), **arguments)), "", ""
        except WardroundError as error:
            return None, type(error).__name__, redact(str(error))


def run_pool() -> None:
    """Serve the process that started this one, over standard input and output, until it closes the input."""
    out = FileIO(os.dup(1), "wb")
    os.dup2(2, 1)  # keep Ray's own output away from our messages
    lines = iter(FileIO(0, "rb", closefd=False).readline, b"")  # unbuffered: the thread would hold a buffer's lock
    setup = msgspec.json.decode(next(lines), type=WorkerSetup)
    orders: SimpleQueue[WorkerStart | None] = SimpleQueue()

    def listen() -> None:
        for line in lines:
            orders.put(msgspec.json.decode(line, type=WorkerStart))
        orders.put(None)

    Thread(target=listen, daemon=True).start()
    run_workers(setup, orders, out)
    shutil.rmtree(setup.folder, ignore_errors=True)  # the parent process may already be gone


def run_workers(setup: WorkerSetup, orders: "SimpleQueue[WorkerStart | None]", out: FileIO) -> None:
    """Start workers as ordered and report on `out` what happens to them, until the order None."""
    ray = import_module("ray")  # an extra, imported nowhere else
    _join_cluster(ray, setup)
    out.write(msgspec.json.encode(WorkerReport("joined")) + b"\n")
    actor = ray.remote(num_cpus=1, max_restarts=0, scheduling_strategy="SPREAD")(Worker)
    pending: dict[object, tuple[str, int, object]] = {}
    while True:
        try:
            order = orders.get(block=not pending)
        except Empty:
            for ref in ray.wait(list(pending), timeout=_TICK)[0]:
                report = _report_of(ray, ref, *pending.pop(ref))
                if report is not None:
                    out.write(msgspec.json.encode(report) + b"\n")
            continue
        if order is None:
            break
        worker = actor.remote()
        pending[worker.hello.remote()] = ("started", order.place, worker)
        pending[worker.work.remote(setup.entry, dict(order.arguments), setup.paths)] = ("finished", order.place, worker)
    ray.shutdown()


def _join_cluster(ray: ModuleType, setup: WorkerSetup) -> None:
    cluster = setup.cluster
    if cluster.local:
        ray.init(
            address="local",
            num_cpus=cluster.workers,
            include_dashboard=False,
            object_store_memory=_STORE_BYTES,
            log_to_driver=False,
            _temp_dir=setup.folder,
        )
    else:
        ray.init(address=cluster.address, log_to_driver=False)


def _report_of(ray: ModuleType, ref: object, kind: str, place: int, worker: object) -> WorkerReport | None:
    """The report about a call that ended; None if another call of the same worker will report it."""
    try:
        value = ray.get(ref)
    except ray.exceptions.RayError as error:
        if kind == "started":
            return None
        ray.kill(worker)  # a worker that is merely unreachable must not run beside its successor
        return WorkerReport("died", place, text=_reason(error))
    if kind == "started":
        return WorkerReport("started", place, host=value[0], pid=value[1])
    result, failed, text = value
    return WorkerReport("failed" if failed else "finished", place, result=result, error=failed, text=text)


def _reason(error: BaseException) -> str:
    """The part of Ray's message that says what report, on one line."""
    cause = getattr(error, "cause", None)  # Ray is an untyped extra; some of its errors have a cause
    if cause is not None:
        return redact(f"{type(cause).__name__}: {cause}")[:500]
    last = [line for line in str(error).splitlines() if line.strip()][-1]
    return redact(last.partition(" Some common causes")[0])[:500]
