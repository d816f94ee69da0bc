"""Waiting for what others bring about, however busy the machine is."""

import asyncio
from collections.abc import Callable


async def until(reached: Callable[[], bool], within: float = 60) -> None:
    """Return when `reached` holds; TimeoutError if it does not `within` so many seconds."""
    async with asyncio.timeout(within):
        while not reached():  # noqa: ASYNC110 - a count at a server is no event
            await asyncio.sleep(0.01)
