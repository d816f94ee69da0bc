"""The same question goes out once, also while it is under way, and also when it fails."""

import anyio
import pytest

from wardround.engine.errors import ProviderError
from wardround.engine.once import Once


class Slow:
    """Answers with a number when it is let go, or fails with an error."""

    def __init__(self, error: Exception | None = None) -> None:
        self.count, self.go, self.error = 0, anyio.Event(), error

    async def __call__(self) -> int:
        self.count += 1
        mine = self.count
        await self.go.wait()
        if self.error is not None:
            raise self.error
        return mine


async def test_asked_at_the_same_moment_it_goes_out_once() -> None:
    once, slow, got = Once[int](Exception, keep=True), Slow(), list[int]()

    async def ask() -> None:
        got.append(await once.ask("q", slow))

    async with anyio.create_task_group() as group:
        for _ in range(5):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
    await ask()
    assert (got, slow.count) == ([1] * 6, 1)
    assert await once.ask("another", slow) == 2


async def test_its_failure_holds_for_all_who_asked_and_will_ask() -> None:
    once, slow, told = Once[int](Exception, keep=True), Slow(ProviderError("timeout", "late")), list[str]()

    async def ask() -> None:
        with pytest.raises(ProviderError) as caught:
            await once.ask("q", slow)
        told.append(caught.value.kind)

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
    await ask()
    assert (told, slow.count) == (["timeout"] * 4, 1)


async def test_whoever_waits_asks_if_the_first_is_cancelled() -> None:
    once, slow, got = Once[int](Exception, keep=True), Slow(), list[int]()
    first = anyio.CancelScope()

    async def gives_up() -> None:
        with first:
            await once.ask("q", slow)

    async def waits() -> None:
        got.append(await once.ask("q", slow))

    async with anyio.create_task_group() as group:
        group.start_soon(gives_up)
        await anyio.wait_all_tasks_blocked()
        group.start_soon(waits)
        group.start_soon(waits)
        await anyio.wait_all_tasks_blocked()
        first.cancel()
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
    assert (got, slow.count) == ([2, 2], 2)


async def test_what_is_not_kept_is_asked_anew_once_it_is_answered() -> None:
    once, slow = Once[int](ProviderError), Slow()
    slow.go.set()
    assert [await once.ask("q", slow) for _ in range(3)] == [1, 2, 3]


async def test_an_error_of_another_type_is_met_by_each_who_waits() -> None:
    once, slow, met = Once[int](ProviderError), Slow(RuntimeError("broken")), list[str]()

    async def ask() -> None:
        with pytest.raises(RuntimeError):
            await once.ask("q", slow)
        met.append("broken")

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        slow.go.set()
    assert (slow.count, len(met)) == (3, 3)


async def test_an_error_that_many_raise_does_not_gather_their_traces() -> None:
    once, slow, depths = Once[int](ProviderError, keep=True), Slow(ProviderError("timeout", "late")), list[int]()
    slow.go.set()
    for _ in range(20):
        with pytest.raises(ProviderError) as caught:
            await once.ask("q", slow)
        depths.append(len(caught.traceback))
    assert max(depths[1:]) == depths[1]
