"""Waits for what others bring about, and not for a time: a busy machine takes longer, and nothing else differs."""

import asyncio
import time
from collections.abc import Callable
from typing import Any

import anyio

WITHIN = 240.0
"""Seconds after which it is taken for what never happens."""


async def until(reached: Callable[[], bool], within: float = WITHIN) -> None:
    """Wait for what other tasks, threads or processes bring about; raises TimeoutError if it does not come about."""
    with anyio.fail_after(within):
        while not reached():  # noqa: ASYNC110 what is waited for tells nobody
            await anyio.sleep(0.01)


def until_there(reached: Callable[[], bool], within: float = WITHIN) -> None:
    """The same where no event loop runs: only threads and other processes go on meanwhile."""
    end = time.monotonic() + within
    while not reached():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.02)


async def dropped(*calls: "asyncio.Task[Any]") -> None:
    """Give up calls that wait for an answer, and wait until they have ended."""
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
