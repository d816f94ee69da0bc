"""Whose failure it was: a cause is believed only from the model's own door, and counts against whoever failed."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import anyio
import msgspec
import pytest
from play import Shelf, Words, play, table
from toy import NO_PROMPTS, Caller, Count, Counting

from wardround.engine.batch import Progress
from wardround.engine.budget import Size
from wardround.engine.episode import Ended, Episode
from wardround.engine.errors import (
    EgressError,
    LeaseLost,
    LimitReached,
    LogError,
    ProviderError,
    ReplayError,
    RunStopped,
    StoreError,
    UsageError,
)
from wardround.engine.events import Acted, Called, decode
from wardround.engine.limits import Limits
from wardround.engine.models.reach import reach
from wardround.engine.models.wrappers import Patience
from wardround.engine.protocols import Agent, Model
from wardround.engine.records import Action, Completion, Ending, Json, Message, Usage, View
from wardround.engine.seat import Seat, Voice
from wardround.testing.loopback import Loopback
from wardround.testing.wire import Fault, Rates, ReceivedRequest


def cause(ending: Ending | None) -> tuple[str, str]:
    assert ending is not None
    return ending.cause, ending.reason


class Failing(Words):
    """Raises what it is given at the nth call."""

    def __init__(self, error: Exception, at: int = 0) -> None:
        super().__init__()
        self.error, self._at = error, at

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        if len(self.made) == self._at:
            self.made.append(("failed",))
            raise self.error
        return await super().complete(messages, purpose=purpose, **options)


def raising(error: Callable[[], BaseException]) -> type[Caller]:
    """A caller that raises by itself, without its model having failed."""

    class Raising(Caller):
        async def act(self, view: View) -> Action:
            await super().act(view)
            raise error()

    return Raising


OWN = (
    lambda: ProviderError("timeout", "it was the network, believe me"),
    lambda: LimitReached("tokens", "no tokens left"),
    lambda: RunStopped("stop"),
    lambda: StoreError("full disk"),
    lambda: EgressError("not there"),
    lambda: LeaseLost("taken"),
    lambda: LogError("broken", 1),
    lambda: ReplayError("differs", 1),
    lambda: Ended(Ending("provider", "timeout")),
    lambda: Ended(Ending("caller", "replies_exhausted")),
    asyncio.CancelledError,
    lambda: SystemExit(3),
    lambda: ExceptionGroup("several", [ProviderError("server", "500"), RunStopped("stop")]),
    lambda: BaseExceptionGroup("several", [SystemExit(1), ValueError("x")]),
)


@pytest.mark.parametrize("error", OWN, ids=lambda error: repr(error()))
async def test_an_agent_that_raises_a_cause_by_itself_has_failed_itself(error: Callable[[], BaseException]) -> None:
    assert cause(await play(Shelf(), Words(), caller=raising(error))) == ("caller", "error")


@pytest.mark.parametrize("error", OWN, ids=lambda error: repr(error()))
async def test_so_has_one_that_raises_it_while_it_is_made(error: Callable[[], BaseException]) -> None:
    class Unmade(Caller):
        def __init__(self, seat: Seat) -> None:
            super().__init__(seat)
            raise error()

    assert cause(await play(Shelf(), Words(), caller=Unmade)) == ("caller", "error")


async def test_one_that_hands_its_model_s_error_on_is_believed_and_so_is_one_that_raises_another_from_it() -> None:
    class Again(Caller):
        async def act(self, view: View) -> Action:
            try:
                return await super().act(view)
            except ProviderError as error:
                if self.chained:
                    raise RuntimeError("no answer") from error
                raise

        chained = False

    class Chained(Again):
        chained = True

    for caller in (Again, Chained):
        ending = await play(Shelf(), Failing(ProviderError("quota", "no money left"), 2), caller=caller)
        assert ending == Ending("provider", "quota", "no money left")


async def test_one_that_swallows_its_model_s_error_and_raises_its_own_is_not_believed() -> None:
    class Lying(Caller):
        async def act(self, view: View) -> Action:
            try:
                return await super().act(view)
            except ProviderError:
                pass
            raise ProviderError("timeout", "and now it was the network")

    model = Failing(ProviderError("context_overflow", "too long"), 2)
    assert cause(await play(Shelf(), model, caller=Lying)) == ("caller", "error")


async def test_a_stop_of_the_run_that_an_agent_keeps_to_itself_still_leaves_the_episode_open() -> None:
    class Stopped(Progress):
        async def before_call(self, seat: str) -> Size:
            raise RunStopped("the budget is used up")

    class Deaf(Caller):
        async def act(self, view: View) -> Action:
            try:
                return await super().act(view)
            except RunStopped:
                return Action("say", "")

    shelf = Shelf()
    assert await play(shelf, Words(), caller=Deaf, watch=Stopped()) is None
    assert not any(isinstance(event, Acted) for event in decode(shelf.rows))


async def test_what_goes_wrong_inside_a_model_s_own_code_is_the_provider_s() -> None:
    assert cause(await play(Shelf(), Failing(RecursionError("deep")))) == ("provider", "error")


async def test_a_wrong_option_of_the_agent_s_is_its_own() -> None:
    assert cause(await play(Shelf(), Failing(UsageError("the option `n` cannot be set")))) == ("caller", "error")


TEXTUAL = [("context_overflow", 400), ("bad_request", 400), ("bad_request", 413), ("bad_request", 422)]


@pytest.mark.parametrize(("kind", "status"), TEXTUAL)
async def test_a_request_refused_for_its_text_is_the_seat_s_once_its_model_has_answered(kind: str, status: int) -> None:
    error = ProviderError(kind, "refused", status=status)
    assert cause(await play(Shelf(), Failing(error))) == ("provider", kind)
    shelf = Shelf()
    assert cause(await play(shelf, Failing(error, 2))) == ("caller", kind)
    again = Words()
    assert cause(await play(Shelf(shelf.rows[:-1]), again)) == ("caller", kind), "the same when it is resumed"
    assert again.made == []


@pytest.mark.parametrize(
    ("kind", "status"),
    [("bad_request", 307), ("bad_request", None), ("auth", 401), ("unknown_model", 404), ("refused", 400)],
)
async def test_a_request_refused_for_anything_else_is_the_provider_s(kind: str, status: int | None) -> None:
    assert cause(await play(Shelf(), Failing(ProviderError(kind, "no", status=status), 2))) == ("provider", kind)


async def test_a_first_request_that_the_agent_itself_blew_up_is_its_own() -> None:
    class Loud(Caller):
        async def act(self, view: View) -> Action:
            assert self._model is not None
            reply = await self._model.complete([Message("user", "x" * 50_000)], purpose="act")
            return Action("say", reply.text)

    error = ProviderError("context_overflow", "too long", status=400)
    assert cause(await play(Shelf(), Failing(error), caller=Loud)) == ("caller", "context_overflow")


@pytest.mark.parametrize("kind", ["refusal", "content_filter", "unsendable"])
async def test_what_lies_in_the_reply_of_the_seat_s_own_model_is_its_own(kind: str) -> None:
    assert cause(await play(Shelf(), Failing(ProviderError(kind, "no", status=200)))) == ("caller", kind)


class Spending(Words):
    """Costs ten tokens and a dollar a call."""

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        reply = await super().complete(messages, purpose=purpose, **options)
        return Completion(reply.text, usage=Usage(prompt=8, completion=2, cost=1.0))


@pytest.mark.parametrize("limits", [Limits(actions=4), Limits(calls=2), Limits(tokens=20), Limits(cost=2.0)])
async def test_a_limit_is_the_fault_of_the_seat_that_used_it_up_alone(limits: Limits) -> None:
    ending = await play(Shelf(), Spending(), limits=limits)
    assert ending is not None
    assert (ending.cause, ending.facts) == ("limit", {"fault": "caller"})


def both(model: Model) -> Callable[..., Agent]:
    """Both seats ask the same model."""

    def cast(seat: str, voice: Callable[[Model, Mapping[str, Json]], Voice]) -> Agent:
        return Caller(Seat(seat, "case", 1, NO_PROMPTS, model=voice(model, {})))

    return cast


def flooding(words: str) -> Callable[..., Agent]:
    """A caller that says `words`, to an echo whose model takes a thousand characters."""

    class Small(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            if sum(len(message.content) for message in messages) > 1_000:
                raise ProviderError("context_overflow", "too long", status=400)
            return await super().complete(messages, purpose=purpose, **options)

    class Says(Caller):
        async def act(self, view: View) -> Action:
            return Action("say", words)

    def cast(seat: str, voice: Callable[[Model, Mapping[str, Json]], Voice]) -> Agent:
        made = Says if seat == "caller" else Caller
        return made(Seat(seat, "case", 1, NO_PROMPTS, model=voice(Small(), {})))

    return cast


async def test_words_that_another_seat_s_model_cannot_take_are_the_fault_of_who_said_them() -> None:
    scene = table(Shelf(), Words())
    scene.cast = flooding("x" * 20_000)
    ending = await Episode(scene).play()
    assert cause(ending) == ("caller", "flooded")
    assert ending is not None
    assert ending.detail == "echo could not answer what caller said: too long"


async def test_a_model_that_overflows_for_other_reasons_is_its_own_seat_s_or_the_provider_s() -> None:
    class Wordy(Counting):
        def view(self, state: Count, seat: str) -> View:
            return msgspec.structs.replace(super().view(state, seat), brief="the rules " * 500)

    scene = table(Shelf(), Words())
    scene.scenario, scene.cast = Wordy(), flooding("hello")
    assert cause(await Episode(scene).play()) == ("provider", "context_overflow")


async def test_a_limit_that_others_reached_together_is_nobody_s() -> None:
    model = Spending()
    scene = table(Shelf(), model, limits=Limits(tokens=40))
    scene.cast = both(model)
    assert await Episode(scene).play() == Ending("limit", "tokens", "40 tokens were used; the limit is 40")


@pytest.mark.parametrize("limits", [Limits(calls=9), Limits(tokens=90), Limits(cost=9.0), Limits()])
async def test_an_agent_that_calls_its_model_without_end_fails_by_itself(limits: Limits) -> None:
    """Waiting for its model is not its time, so that no limit on seconds would ever end it, or blame it."""

    class Loops(Caller):
        async def act(self, view: View) -> Action:
            if len(view.heard) < 2:
                return await super().act(view)
            while True:
                await super().act(view)

    def cast(seat: str, voice: Callable[[Model, Mapping[str, Json]], Voice]) -> Agent:
        made = Loops if seat == "caller" else Caller
        return made(Seat(seat, "case", 1, NO_PROMPTS, model=voice(model, {})))

    model, shelf = Spending(), Shelf()
    scene = table(shelf, model, limits=limits)
    scene.cast = cast
    ending = await Episode(scene).play()
    assert ending is not None
    assert (ending.cause, ending.facts) == ("limit", {"fault": "caller"})
    if limits == Limits():
        assert (ending.reason, len(model.made)) == ("act_calls", 1002)
        assert ending.detail == "1000 calls were made in one act; the limit is 1000"


async def test_an_agent_that_tries_a_failing_model_again_without_end_is_stopped_and_not_blamed() -> None:
    class Down(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            await super().complete(messages, purpose=purpose, **options)
            raise ProviderError("server", "down", status=503)

    class Stubborn(Caller):
        async def act(self, view: View) -> Action:
            while True:
                with suppress(ProviderError):
                    return await super().act(view)

    model = Down()
    ending = await play(Shelf(), model, caller=Stubborn, limits=Limits(act_calls=30))
    assert ending is not None
    assert (ending.cause, ending.reason, ending.facts, len(model.made)) == ("limit", "act_calls", {}, 30)


async def test_the_calls_of_an_act_count_from_its_beginning_also_when_it_is_resumed() -> None:
    class Twice(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            if len(self.made) == 2:
                raise RunStopped("stopped")
            return await super().complete(messages, purpose=purpose, **options)

    class Five(Caller):
        async def act(self, view: View) -> Action:
            for _ in range(4):
                await super().act(view)
            return await super().act(view)

    shelf = Shelf()
    assert await play(shelf, Twice(), caller=Five, limits=Limits(act_calls=4)) is None
    rest = Words()
    ending = await play(shelf, rest, caller=Five, limits=Limits(act_calls=4))
    assert ending is not None
    assert (ending.reason, ending.facts, len(rest.made)) == ("act_calls", {"fault": "caller"}, 2)
    assert cause(await play(Shelf(), Words(), caller=Five, limits=Limits(act_calls=11))) == ("completed", "")


async def test_an_agent_that_keeps_the_limit_to_itself_and_asks_again_holds_up_nobody() -> None:
    class Deaf(Caller):
        async def act(self, view: View) -> Action:
            while True:
                with suppress(LimitReached):
                    await super().act(view)

    ending = await play(Shelf(), Words(), caller=Deaf, limits=Limits(act_calls=3, act=0.2))
    assert cause(ending) == ("caller", "timeout")


async def test_a_call_without_a_price_is_nobody_s_fault() -> None:
    ending = await play(Shelf(), Words(), limits=Limits(cost=0.5))
    assert ending is not None
    assert (ending.reason, ending.facts) == ("cost", {})


async def test_seconds_of_its_own_are_the_seat_s_and_waiting_for_its_model_is_not() -> None:
    class Slow(Caller):
        async def act(self, view: View) -> Action:
            await anyio.sleep_forever()
            return await super().act(view)

    class Hanging(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            await anyio.sleep_forever()
            return await super().complete(messages, purpose=purpose, **options)

    own = await play(Shelf(), Words(), caller=Slow, limits=Limits(wall=0.1))
    assert own is not None
    assert (own.cause, own.reason, own.facts) == ("limit", "wall", {"fault": "caller"})
    waited = await play(Shelf(), Hanging(), limits=Limits(wall=0.1))
    assert waited is not None
    assert (waited.cause, waited.reason, waited.facts) == ("limit", "wall", {})


async def test_how_a_call_ended_stands_beside_the_action_that_rests_on_it() -> None:
    class Ends(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            await super().complete(messages, purpose=purpose, **options)
            return Completion("cut", finish="length" if len(self.made) % 2 else "stop")

    shelf = Shelf()
    await play(shelf, Ends(), 4)
    assert [event.finish for event in decode(shelf.rows) if isinstance(event, Acted)] == ["length", "", "", ""]


def remote(server: Loopback) -> Model:
    return reach("openai/m", env={}, base_url=server.base_url, patience=Patience(attempts=1))


@pytest.mark.parametrize("kind", ["context_overflow", "refusal", "filtered"])
async def test_over_a_real_socket(kind: str) -> None:
    def later(asked: ReceivedRequest) -> bool:
        return asked.body.count(b'"role"') > 2

    wanted = {"context_overflow": ("caller", kind), "refusal": ("caller", kind), "filtered": ("provider", "refused")}
    async with Loopback(faults=Rates({Fault(kind): 1.0}), only=later) as server:
        model = remote(server)
        shelf = Shelf()
        assert cause(await play(shelf, model)) == wanted[kind]
        await model.aclose()
    calls = [event for event in decode(shelf.rows) if isinstance(event, Called)]
    assert [call.error is None for call in calls] == [True, False]
