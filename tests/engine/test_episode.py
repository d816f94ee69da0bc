"""The loop: play, stop anywhere, resume, and every way an episode can end."""

import gc
import weakref
from collections.abc import Sequence
from typing import Any, cast

import anyio
import pytest
from play import Shelf, Words, play, table
from toy import Caller, Count, Counting

from wardround.engine.batch import Progress
from wardround.engine.budget import Size, Spending
from wardround.engine.episode import Episode
from wardround.engine.errors import EgressError, ProviderError, StoreError
from wardround.engine.events import Called, Closed, Row, decode
from wardround.engine.limits import Limits
from wardround.engine.protocols import Agent
from wardround.engine.records import Action, Completion, Ending, Json, Message, View
from wardround.engine.seat import Seat
from wardround.engine.trajectory import Trajectory


def bodies(rows: Sequence[Row]) -> list[object]:
    return [getattr(event, "action", None) or getattr(event, "ending", None) for event in decode(rows)]


async def test_plays_to_the_end_and_keeps_every_event() -> None:
    shelf, model = Shelf(), Words()
    ending = await play(shelf, model)
    assert ending is not None
    assert ending.cause == "completed"
    trajectory = Trajectory(decode(shelf.rows), {})
    assert len(list(trajectory.called())) == len(model.made) == 6
    assert len(list(trajectory.acted())) == 9
    assert trajectory.usage().completion == 12
    assert trajectory.ending == ending


async def test_nothing_of_an_ended_episode_waits_for_the_collector_of_cycles() -> None:
    kept: list[weakref.ref[Agent]] = []

    class Seen(Caller):
        def __init__(self, seat: Seat) -> None:
            super().__init__(seat)
            kept.append(weakref.ref(self))

    gc.disable()
    try:
        await play(Shelf(), Words(), caller=Seen)
        assert kept
        assert [agent() for agent in kept] == [None] * len(kept)
    finally:
        gc.enable()


async def test_one_durable_write_a_call() -> None:
    shelf, model = Shelf(), Words()
    await play(shelf, model)
    assert shelf.writes == len(model.made)


async def test_stored_conversations_come_back_whole() -> None:
    shelf, model = Shelf(), Words()
    await play(shelf, model)
    trajectory = Trajectory(decode(shelf.rows), {})
    for call, made in zip(trajectory.called(), model.made, strict=True):
        assert (call.purpose, *(message.content for message in trajectory.messages(call))) == made


async def test_bytes_grow_linearly_with_turns() -> None:
    sizes = []
    for goal in (21, 41, 81):
        shelf = Shelf()
        await play(shelf, Words(), goal)
        sizes.append(sum(len(row.body) for row in shelf.rows))
    assert (sizes[2] - sizes[1]) / (sizes[1] - sizes[0]) == pytest.approx(2, rel=0.1)


async def test_resumed_after_every_event_it_comes_out_the_same_and_calls_nothing_twice() -> None:
    whole, model = Shelf(), Words()
    await play(whole, model)
    for cut in range(len(whole.rows)):
        shelf, again = Shelf(whole.rows[:cut]), Words()
        if cut and isinstance(decode(whole.rows[:cut])[-1], Closed):
            continue
        await play(shelf, again)
        assert bodies(shelf.rows) == bodies(whole.rows), f"stopped after event {cut - 1}"
        recorded = sum(isinstance(event, Called) for event in decode(whole.rows[:cut]))
        assert len(again.made) == len(model.made) - recorded


async def test_a_drained_run_leaves_the_episode_open_and_resumable() -> None:
    whole = Shelf()
    await play(whole, Words())

    class Stopping(Progress):
        def after_call(self, seat: str, spent: Spending | None, size: Size | None) -> None:
            super().after_call(seat, spent, size)
            if self.spent.calls == 3:
                self.drain()

    shelf = Shelf()
    assert await play(shelf, Words(), watch=Stopping()) is None
    assert not isinstance(decode(shelf.rows)[-1], Closed)
    assert sum(isinstance(event, Called) for event in decode(shelf.rows)) == 3
    assert await play(shelf, Words()) is not None
    assert bodies(shelf.rows) == bodies(whole.rows)


class Failing(Words):
    """Fails at the nth call."""

    def __init__(self, at: int, error: Exception) -> None:
        super().__init__()
        self._at, self._error = at, error

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        if len(self.made) == self._at:
            self.made.append(("failed",))
            raise self._error
        return await super().complete(messages, purpose=purpose, **options)


async def test_a_provider_that_fails_ends_the_episode_by_provider_and_the_call_is_kept() -> None:
    shelf = Shelf()
    ending = await play(shelf, Failing(2, ProviderError("quota", "no money left")))
    assert ending == Ending("provider", "quota", "no money left")
    failed = [event for event in decode(shelf.rows) if isinstance(event, Called)][-1]
    assert (failed.reply, failed.error) == (None, ("quota", "no money left"))


async def test_a_recorded_failure_is_not_tried_again_on_resume() -> None:
    shelf = Shelf()
    await play(shelf, Failing(2, ProviderError("quota", "no money left")))
    again = Words()
    ending = await play(Shelf(shelf.rows[:-1]), again)
    assert ending == Ending("provider", "quota", "no money left")
    assert again.made == []


@pytest.mark.parametrize("error", [StoreError("full disk"), EgressError("not there")])
async def test_what_concerns_the_whole_run_passes(error: Exception) -> None:
    with pytest.raises(type(error)):
        await play(Shelf(), Failing(1, error))


class Custom:
    """An agent made of one function."""

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        raise ZeroDivisionError("by the agent")


async def test_an_agent_that_raises_ends_the_episode_by_its_seat_and_says_where() -> None:
    ending = await play(Shelf(), Words(), caller=Custom)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("caller", "error")
    assert "ZeroDivisionError: by the agent (test_episode.py:" in ending.detail


async def test_several_calls_at_once_fail_by_the_provider_and_resume_by_key() -> None:
    class Wide(Caller):
        async def act(self, view: View) -> Action:
            assert self._model is not None
            model, replies = self._model, dict[int, str]()

            async def one(number: int) -> None:
                replies[number] = (await model.complete([Message("user", f"{view.seq} {number}")], purpose="act")).text

            async with anyio.create_task_group() as group:
                for number in range(3):
                    group.start_soon(one, number)
            return Action("say", " ".join(replies[number] for number in range(3)))

    ending = await play(Shelf(), Failing(4, ProviderError("server", "500")), caller=Wide)
    assert ending == Ending("provider", "server", "500")
    whole = Shelf()
    await play(whole, Words(), caller=Wide)
    for cut in range(1, len(whole.rows) - 1):
        shelf, again = Shelf(whole.rows[:cut]), Words()
        await play(shelf, again, caller=Wide)
        assert bodies(shelf.rows) == bodies(whole.rows)
        assert len(again.made) == 15 - sum(isinstance(event, Called) for event in decode(whole.rows[:cut]))


async def test_an_act_that_is_no_coroutine_is_told_what_to_write() -> None:
    class Plain(Custom):
        def act(self, view: View) -> Any:
            return Action("say", "hello")

    ending = await play(Shelf(), Words(), caller=Plain)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("caller", "error")
    assert "write `async def act(self, view)`" in ending.detail


@pytest.mark.parametrize(
    ("answer", "detail"),
    [
        (Action("shout", "hello"), "verb 'shout' is not one of say"),
        ("hello", "act() returned str, not an Action"),
        (Action("say", "hello", memo=object()), "`memo` of the action cannot be written as JSON"),
        (Action("say", cast(Any, None)), "text is NoneType"),  # as the content of a reply that calls a tool
        (Action("say", "hello", args=cast(Any, ["x"])), "args list"),
        (Action("say", "hello", thinking=cast(Any, None)), "thinking NoneType"),
    ],
)
async def test_an_action_that_breaks_the_contract_ends_by_the_seat(answer: Any, detail: str) -> None:
    class Wrong(Custom):
        async def act(self, view: View) -> Action:
            made: Action = answer
            return made

    shelf = Shelf()
    ending = await play(shelf, Words(), caller=Wrong)
    assert ending is not None
    assert ending.cause == "caller"
    assert detail in ending.detail
    assert decode(shelf.rows), "what it did can be read"


async def test_rules_that_raise_end_by_rules() -> None:
    class Breaking(Custom):
        async def act(self, view: View) -> Action:
            return Action("say", "break the rules")

    ending = await play(Shelf(), Words(), caller=Breaking)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("rules", "error")


async def test_rules_that_cannot_start_end_by_rules() -> None:
    class Unstartable(Counting):
        def start(self, case: int) -> object:  # type: ignore[override]
            raise ValueError("no such case")

    seated = table(Shelf(), Words())
    seated.scenario = Unstartable()
    ending = await Episode(seated).play()
    assert ending is not None
    assert ending.cause == "rules"


async def test_a_seat_without_an_answer_is_that_seats_ending() -> None:
    class Mute(Custom):
        async def act(self, view: View) -> Action:
            return Action("say", "")

    assert await play(Shelf(), Words(), caller=Mute) == Ending("caller", "no_answer", "nothing was said")


@pytest.mark.parametrize(
    ("limits", "reason"), [(Limits(actions=4), "actions"), (Limits(tokens=10), "tokens"), (Limits(cost=1.0), "cost")]
)
async def test_limits_end_the_episode_the_same_way_when_resumed(limits: Limits, reason: str) -> None:
    whole = Shelf()
    ending = await play(whole, Words(), limits=limits)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("limit", reason)
    for cut in range(1, len(whole.rows)):
        shelf = Shelf(whole.rows[:cut])
        await play(shelf, Words(), limits=limits)
        assert bodies(shelf.rows) == bodies(whole.rows)


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"text": "a\ud800b"}, "`text` of the action holds U+D800, half of a surrogate pair"),
        ({"thinking": "\udfff"}, "`thinking` of the action holds U+DFFF"),
        ({"args": {"why": ["\ud83d"]}}, "`args` of the action holds U+D83D"),
        ({"memo": object()}, "`memo` of the action cannot be written as JSON: Encoding objects of type object"),
        ({"args": {"x": {(1, 2): 3}}}, "`args` of the action cannot be written as JSON: Only dicts with str-like"),
    ],
)
async def test_an_action_that_no_log_can_keep_ends_with_the_field_and_why(fields: dict[str, Any], detail: str) -> None:
    class Mumbling(Custom):
        async def act(self, view: View) -> Action:
            return Action("say", **fields)

    shelf = Shelf()
    ending = await play(shelf, Words(), caller=Mumbling)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("caller", "error")
    assert ending.detail.startswith(detail)
    assert isinstance(decode(shelf.rows)[-1], Closed)


async def test_half_a_surrogate_pair_in_an_error_ends_the_episode_and_no_more() -> None:
    class Mumbling(Custom):
        async def act(self, view: View) -> Action:
            raise ValueError("\ud83d")

    shelf = Shelf()
    ending = await play(shelf, Words(), caller=Mumbling)
    assert ending is not None
    assert (ending.cause, ending.reason) == ("caller", "error")
    assert ending.detail.startswith("ValueError: \\ud83d (")
    assert isinstance(decode(shelf.rows)[-1], Closed)
    ending = await play(Shelf(), Failing(2, ProviderError("server", "it said \udfff")))
    assert ending == Ending("provider", "server", "it said \\udfff")


async def test_an_ending_that_no_store_takes_is_the_fault_of_the_rules() -> None:
    class Unclear(Counting):
        def ending(self, state: Count) -> Ending | None:
            ending = super().ending(state)
            return ending and Ending("completed", facts={"last": object()})

    shelf = Shelf()
    scene = table(shelf, Words())
    scene.scenario = Unclear()
    ending = await Episode(scene).play()
    assert ending is not None
    assert (ending.cause, ending.reason) == ("rules", "error")
    assert isinstance(decode(shelf.rows)[-1], Closed)


@pytest.mark.parametrize(
    ("given", "reason", "detail"),
    [
        (Ending("completed", facts={"answer": "seven"}), "bad_answer", "facts['answer'] is 'seven', and must be"),
        (Ending("completed", facts={"answer": {"word": 7}}), "bad_answer", "facts['answer'] is {'word': 7}"),
        (Ending("completed", facts={"answer": None}), "bad_answer", "facts['answer'] is None"),
        ("over", "bad_ending", "ending() returned str, not an Ending"),
    ],
)
async def test_an_ending_that_nobody_can_read_is_the_fault_of_the_rules(given: Any, reason: str, detail: str) -> None:
    class Unclear(Counting):
        def ending(self, state: Count) -> Ending | None:
            said: Ending | None = super().ending(state) and given
            return said

    shelf = Shelf()
    scene = table(shelf, Words())
    scene.scenario = Unclear()
    ending = await Episode(scene).play()
    assert ending is not None
    assert (ending.cause, ending.reason) == ("rules", reason)
    assert detail in ending.detail
    assert isinstance(decode(shelf.rows)[-1], Closed)
