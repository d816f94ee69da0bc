"""The check of an agent names what is wrong in plain words, and lets a sound one pass."""

import itertools
import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from toy import NO_PROMPTS, Caller, Counting, Echo

from wardround.agents.check import AgentCheck, AgentTrial, try_agent
from wardround.engine.errors import ProviderError
from wardround.engine.models.scripted import Scripted
from wardround.engine.records import Action, Message, View
from wardround.engine.seat import Seat


async def tried(make: Callable[[Seat], Any], goal: int = 9, model: Scripted | None = None, **more: Any) -> AgentCheck:
    voice = model or Scripted(lambda messages, purpose: f"word {len(messages)}")
    trial = AgentTrial(
        Counting(),
        goal,
        "caller",
        lambda name: Seat(name, "c", 5, NO_PROMPTS, model=voice),
        {"echo": lambda seat: Echo()},
        **more,
    )
    return await try_agent(make, trial)


class Plain:
    """Sound: says a word that follows from the view."""

    async def act(self, view: View) -> Action:
        return Action("say", f"w{len(view.heard)}", memo={"n": len(view.heard)})


class Base:
    """Takes the seat."""

    def __init__(self, seat: Seat) -> None:
        self.seat, self.count = seat, 0


class Stateful(Base):
    async def act(self, view: View) -> Action:
        self.count += 1
        return Action("say", f"w{self.count}")


class Recalling(Stateful):
    def recall(self, view: View, action: Action) -> None:
        self.count += 1


class Forgetful(Stateful):
    def recall(self, view: View, action: Action) -> None:
        raise KeyError("what")


class Chancy(Base):
    async def act(self, view: View) -> Action:
        return Action("say", str(random.random()))


class Drawing(Base):
    async def act(self, view: View) -> Action:
        return Action("say", str(self.seat.draw(view.seq).random()))


class NotAsync(Base):
    def act(self, view: View) -> Action:
        return Action("say", "x")


class Raising(Base):
    async def act(self, view: View) -> Action:
        raise ValueError("no idea")


class Unmakeable(Base):
    def __init__(self, seat: Seat) -> None:
        raise LookupError("no table")


class Slow(Base):
    async def act(self, view: View) -> Action:
        time.sleep(0.06)  # noqa: ASYNC251 - what is to be found
        return Action("say", "x")


class Stuck(Base):
    async def act(self, view: View) -> Action:
        import anyio

        await anyio.sleep_forever()
        return Action("say", "x")


def giving(action: object) -> Callable[[Seat], Any]:
    class Gives(Base):
        async def act(self, view: View) -> object:
            return action

    return Gives


@pytest.mark.parametrize("make", [lambda seat: Plain(), Caller, Recalling, Drawing])
async def test_a_sound_agent_passes(make: Callable[[Seat], Any]) -> None:
    checked = await tried(make)
    assert checked.findings == []
    assert len(checked.actions) == 5
    assert checked.ending is not None
    assert checked.ending.cause == "completed"


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Stateful, "after a resume it acts otherwise"),
        (Forgetful, "recall raised KeyError"),
        (Chancy, "two plays with the same seed differ"),
        (NotAsync, "act is not a coroutine"),
        (Raising, "act raised ValueError at action 1: no idea"),
        (Unmakeable, "making it raised LookupError"),
        (lambda seat: object(), "has no method act"),
        (giving("hello"), "act must return an Action"),
        (giving(None), "act must return an Action"),
        (giving(Action("sing")), "the verb 'sing'; possible were: say"),
        (giving(Action("say", 5)), "text must be text"),  # type: ignore[arg-type]  # what is to be found
        (giving(Action("say", "\ud800")), "text cannot be stored"),
        (giving(Action("say", "x", memo=object())), "memo cannot be stored as JSON"),
        (giving(Action("say", "x", memo={1: "x"})), "memo comes back otherwise"),
        (giving(Action("say", "x", memo={"x": {1, 2}})), "memo comes back otherwise"),
        (giving(Action("say", "x", memo=float("nan"))), "memo comes back otherwise"),
        (giving(Action("say", "x", args=["a"])), "args must be an object"),  # type: ignore[arg-type]  # what is to be found
    ],
)
async def test_what_is_wrong_is_named(make: Callable[[Seat], Any], said: str) -> None:
    checked = await tried(make)
    assert len(checked.findings) == 1
    assert said in checked.findings[0]


@pytest.mark.parametrize(("make", "said"), [(Slow, "blocked everything else"), (Stuck, "was not there after 0.05 s")])
async def test_what_takes_too_long_is_named(make: Callable[[Seat], Any], said: str) -> None:
    checked = await tried(make, seconds=0.05)
    assert len(checked.findings) == 1
    assert said in checked.findings[0]


async def test_tuples_are_lists_once_stored_and_no_fault() -> None:
    assert (await tried(giving(Action("say", "x", memo={"a": (1, 2)})))).findings == []


async def test_an_episode_without_end_is_stopped() -> None:
    checked = await tried(lambda seat: Plain(), goal=10**6, actions=4)
    assert checked.findings == ["the episode is not over after 4 of its actions"]


async def test_a_model_that_answers_by_chance_is_no_fault_of_the_agent() -> None:
    numbers = itertools.count()
    model = Scripted(lambda messages, purpose: f"{next(numbers)}")
    assert (await tried(Caller, model=model)).findings == []
    assert model.count == 6, "five acts, one of them with a repair: the plays after the first make no call"


async def test_a_model_that_fails_is_named() -> None:
    model = Scripted([ProviderError("auth", "a wrong key")])
    assert (await tried(Caller, model=model)).findings == ["act raised ProviderError at action 1: a wrong key"]


async def test_a_person_is_asked_once() -> None:
    class Person(Chancy):
        outside = True

    checked = await tried(Person)
    assert checked.findings == []


async def test_a_state_that_shows_only_in_what_is_sent_is_found() -> None:
    class Chatty(Stateful):
        async def act(self, view: View) -> Action:
            assert self.seat.model is not None
            self.count += 1
            reply = await self.seat.model.complete([Message("user", f"turn {self.count}")], purpose="act")
            return Action("say", reply.text)

    numbers = itertools.count()
    checked = await tried(Chatty, model=Scripted(lambda messages, purpose: f"{next(numbers)}"))
    assert "after a resume" in checked.findings[0]


async def test_a_call_that_is_made_again_after_a_resume_is_found() -> None:
    class Summarising(Base):
        summary = ""

        async def act(self, view: View) -> Action:
            assert self.seat.model is not None
            if not self.summary:
                reply = await self.seat.model.complete([Message("user", "sum up")], purpose="summarise")
                self.summary = reply.text
            return Action("say", self.summary)

    [finding] = (await tried(Summarising, model=Scripted(lambda messages, purpose: "always the same"))).findings
    assert "after a resume" in finding
    assert "a call (summarise) that the log does not have" in finding


async def test_a_difference_is_told() -> None:
    [finding] = (await tried(Stateful)).findings
    assert finding.endswith("(event 3 differs: text was 'w2' and is now 'w1')")


async def test_what_breaks_the_rules_is_named() -> None:
    [finding] = (await tried(giving(Action("say", "break the rules")))).findings
    assert finding.startswith("the episode ended by rules: RuntimeError: the rules broke")


async def test_a_memo_comes_back_as_a_log_has_it() -> None:
    class Paired(Base):
        async def act(self, view: View) -> Action:
            kind = type((view.memo or {"pair": ()})["pair"]).__name__
            return Action("say", kind, memo={"pair": (1, 2)})

    [finding] = (await tried(Paired)).findings
    assert "text was 'tuple' and is now 'list'" in finding
