"""Several questions at once, their answers in order."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import anyio

T = TypeVar("T")


async def together(works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """What each of them returns; what one of several raises ends the others, and comes out in a group."""
    if len(works) == 1:
        return [await works[0]()]
    done: dict[int, T] = {}

    async def fill(at: int) -> None:
        done[at] = await works[at]()

    async with anyio.create_task_group() as group:
        for at in range(1, len(works)):
            group.start_soon(fill, at)
        if works:  # the first needs no task of its own
            await fill(0)
    return [done[at] for at in range(len(works))]
