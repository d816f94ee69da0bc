"""A loopback server beside a command line that has an event loop of its own."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import anyio
import anyio.to_thread

from wardround.testing.loopback import Loopback


@contextmanager
def serving(server: Loopback) -> Iterator[str]:
    """A loopback server in a thread of its own; gives its base URL."""
    ready, stop = threading.Event(), threading.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await anyio.to_thread.run_sync(stop.wait)

    thread = threading.Thread(target=lambda: anyio.run(serve))
    thread.start()
    assert ready.wait(60)
    try:
        yield server.base_url
    finally:
        stop.set()
        thread.join()
