"""Agents, rules and evaluators that raise what ends a process, stop the loop or hang: only the episode ends."""

import asyncio
import signal
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from instant import instantly
from play import Shelf, Words, play
from structlog.testing import capture_logs
from toy import NO_PROMPTS, Caller, Count, Counting, Echo

from wardround.engine.episode import Ended, Episode, EpisodeSetup, boundary
from wardround.engine.errors import ReplayError
from wardround.engine.events import Acted, Opened, decode
from wardround.engine.limits import Limits
from wardround.engine.protocols import Agent
from wardround.engine.records import Action, Ending, View
from wardround.engine.replay import replay
from wardround.engine.seat import Seat
from wardround.engine.trajectory import EpisodeLog


def leave() -> None:
    raise SystemExit(3)


def interrupt() -> None:
    raise KeyboardInterrupt


def cancel() -> None:
    raise asyncio.CancelledError


def close() -> None:
    raise GeneratorExit


def stop() -> None:
    asyncio.get_running_loop().stop()


class Unspeakable(Exception):
    """Its text cannot be had."""

    def __str__(self) -> str:
        raise SystemExit(4)


def unspeakable() -> None:
    raise Unspeakable


def several() -> None:
    raise BaseExceptionGroup("two", [SystemExit(1), asyncio.CancelledError()])


WAYS = [leave, interrupt, cancel, close, stop, unspeakable, several]


def agent(way: Callable[[], None], where: str) -> Callable[[Seat], Agent]:
    """An agent that does it in its constructor, in its act, in a task, in a thread, or in a look at its class."""

    class Escaping:
        """It does not want to go on."""

        def __init__(self, seat: Seat) -> None:
            del seat
            if where == "__init__":
                way()

        @property
        def sealed(self) -> bool:
            if where == "sealed":
                way()
            return False

        async def act(self, view: View) -> Action:
            del view
            if where == "act":
                way()
            if where == "later":
                await asyncio.sleep(0)
                way()
            if where == "thread":
                await anyio.to_thread.run_sync(way)
            if where == "task":
                await asyncio.create_task(_soon(way))
            if where == "group":
                async with anyio.create_task_group() as group:
                    group.start_soon(_soon, way)
            await asyncio.sleep(0)
            return Action("say", "done")

    return Escaping


async def _soon(way: Callable[[], None]) -> None:
    await asyncio.sleep(0)
    way()


WHERE = ["__init__", "sealed", "act", "later", "thread", "task", "group"]
# A thread has no running loop, and asyncio itself takes a generator's exit, or a task that cancels itself, as the end.
PAIRS = [
    (way, where)
    for where in WHERE
    for way in WAYS
    if not (where == "thread" and way in (stop, close))
    and not (where in ("task", "group") and way in (cancel, several, close))
]


@pytest.mark.parametrize(("way", "where"), PAIRS)
def test_the_episode_ends_by_the_seat_and_the_loop_goes_on(way: Callable[[], None], where: str) -> None:
    async def main() -> Ending | None:
        ending = await play(Shelf(), Words(), caller=agent(way, where))
        await asyncio.sleep(0)
        return ending

    ending = asyncio.run(main())
    assert ending is not None
    assert (ending.cause, ending.reason) == ("caller", "error"), ending


@pytest.mark.parametrize("method", ["start", "turn", "view", "apply", "ending"])
@pytest.mark.parametrize("way", WAYS)
def test_rules_that_do_it_end_the_episode_by_the_rules(way: Callable[[], None], method: str) -> None:
    class Broken(Counting):
        """One of its methods does not go on."""

    def broken(*given: object) -> Any:
        del given
        way()

    setattr(Broken, method, broken)
    ending = asyncio.run(played(Broken()))
    assert ending is not None
    assert (ending.cause, ending.reason) == ("rules", "error")


async def played(rules: Counting) -> Ending | None:
    shelf = Shelf()
    log = EpisodeLog(shelf.sink)
    log.add(Opened(0, 0.0, "e", "case", "h", "counting", 1, 1))

    def cast(seat: str, voice: Callable[..., Any]) -> Agent:
        return Echo() if seat == "echo" else Caller(Seat(seat, "case", 1, NO_PROMPTS, model=voice(Words(), {})))

    return await Episode(EpisodeSetup(rules, 4, cast, log)).play()


@pytest.mark.parametrize("way", WAYS)
async def test_a_recall_that_does_it_is_a_difference_in_a_replay(way: Callable[[], None]) -> None:
    shelf = Shelf()
    assert (await play(shelf, Words())) is not None
    events = decode(shelf.rows)

    class Forgetful(Caller):
        """Its class says that it has a recall."""

        async def act(self, view: View) -> Action:
            del view
            way()
            raise AssertionError

    def cast(seat: str, voice: Callable[..., Any]) -> Agent:
        return Echo() if seat == "echo" else Forgetful(Seat(seat, "case", 1, NO_PROMPTS, model=voice(Words(), {})))

    with pytest.raises(ReplayError, match="differs"):
        await replay(events, Counting(), 6, cast)


async def test_a_cancellation_of_the_run_passes() -> None:
    begun = anyio.Event()

    class Waiting:
        """It waits for ever."""

        def __init__(self, seat: Seat) -> None:
            del seat

        async def act(self, view: View) -> Action:
            begun.set()
            await anyio.sleep_forever()
            return Action("say", "late")

    shelf = Shelf()
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: play(shelf, Words(), caller=Waiting))
        await begun.wait()
        group.cancel_scope.cancel()
    assert not any(b'"closed"' in row.body for row in shelf.rows)


@pytest.mark.parametrize("handler", ["python", "runner"])
def test_a_real_interrupt_passes(handler: str) -> None:
    """By Python's own handler, and by asyncio's, which cancels first and interrupts at the second signal."""

    class Pressed:
        """While it acts, the user presses Ctrl-C (twice)."""

        def __init__(self, seat: Seat) -> None:
            del seat

        async def act(self, view: View) -> Action:
            del view
            for _ in range(2):
                signal.raise_signal(signal.SIGINT)
            return Action("say", "done")

    shelf = Shelf()

    async def main() -> None:
        if handler == "python":
            signal.signal(signal.SIGINT, signal.default_int_handler)
        await play(shelf, Words(), caller=Pressed)

    before = signal.getsignal(signal.SIGINT)
    try:
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main())
    finally:
        signal.signal(signal.SIGINT, before)
    assert not any(b'"closed"' in row.body for row in shelf.rows)


def test_a_signal_handler_that_exits_passes() -> None:
    def handler(number: int, frame: object) -> None:
        raise SystemExit(143)

    before = signal.signal(signal.SIGTERM, handler)
    try:
        with pytest.raises(SystemExit), boundary("doctor"):
            signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    with pytest.raises(Ended), boundary("doctor"):
        raise SystemExit(143)


class Hanging:
    """It calls its model, which takes an hour, and then never answers."""

    stubborn = False

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def act(self, view: View) -> Action:
        del view
        while True:
            try:
                await anyio.sleep_forever()
            except asyncio.CancelledError:
                if not self.stubborn:
                    raise
                type(self).stubborn = False


def test_an_act_that_hangs_is_named_and_ends_by_its_seat() -> None:
    shelf, endings = Shelf(), list[Ending | None]()

    async def main() -> None:
        endings.append(await play(shelf, Words(), caller=Hanging))

    with capture_logs() as logs:
        instantly(main())
    assert [(ending.cause, ending.reason) for ending in endings if ending] == [("caller", "timeout")]
    [said] = [line for line in logs if line["event"] == "an act hangs"]
    assert (said["seat"], said["seconds"], said["ended_after"]) == ("caller", 60, 600.0)
    assert said["agent"].endswith(":Hanging")
    assert not [event for event in decode(shelf.rows) if isinstance(event, Acted)]


def test_one_that_does_not_let_itself_be_cancelled_is_asked_again() -> None:
    class Stubborn(Hanging):
        stubborn = True

    endings = list[Ending | None]()

    async def main() -> None:
        endings.append(await play(Shelf(), Words(), caller=Stubborn, limits=Limits(act=5)))
        task = asyncio.current_task()
        assert task is not None
        assert not task.cancelling()

    with capture_logs() as logs:
        instantly(main())
    assert [(ending.cause, ending.reason) for ending in endings if ending] == [("caller", "timeout")]
    assert any(line["event"] == "an agent goes on although its act was cancelled" for line in logs)


def test_waiting_for_its_model_is_not_an_acts_own_time() -> None:
    class Slow(Words):
        async def complete(self, *given: Any, **more: Any) -> Any:
            await anyio.sleep(3600)
            return await super().complete(*given, **more)

    endings = list[Ending | None]()

    async def main() -> None:
        endings.append(await play(Shelf(), Slow(), limits=Limits(act=5)))

    instantly(main())
    assert [ending.cause for ending in endings if ending] == ["completed"]


def test_a_person_may_take_as_long_as_they_like() -> None:
    class Person(Caller):
        outside = True

        async def act(self, view: View) -> Action:
            await anyio.sleep(86_400)
            return await super().act(view)

    endings = list[Ending | None]()

    async def main() -> None:
        endings.append(await play(Shelf(), Words(), caller=Person))

    instantly(main())
    assert [ending.cause for ending in endings if ending] == ["completed"]


async def test_a_replay_does_not_wait_again_for_what_hung() -> None:
    shelf = Shelf()
    await play(shelf, Words(), caller=Hanging, limits=Limits(act=0.01))
    events = decode(shelf.rows)

    def cast(seat: str, voice: Callable[..., Any]) -> Agent:
        del voice
        return Echo() if seat == "echo" else Hanging(Seat(seat, "case", 1, NO_PROMPTS))

    with anyio.fail_after(100):
        assert await replay(events, Counting(), 6, cast) == 0
    assert Count(1).heard == ()
