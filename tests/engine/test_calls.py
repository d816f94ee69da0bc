"""A seat's calls: what was paid for is in the log, and a long conversation is taken up again at once."""

import anyio
from play import Shelf, Words

from wardround.engine.batch import Progress
from wardround.engine.calls import RecordingModel
from wardround.engine.events import Called, decode
from wardround.engine.records import Completion, Message
from wardround.engine.trajectory import EpisodeLog, RecordedCalls


class Slow:
    """A cache that takes for ever to keep anything."""

    async def recall(self, key: str, nth: int) -> Completion | None:
        del key, nth
        return None

    async def keep(self, key: str, nth: int, reply: Completion) -> None:
        del key, nth, reply
        await anyio.sleep_forever()


def seat(shelf: Shelf) -> tuple[RecordingModel, EpisodeLog, Words]:
    log, words = EpisodeLog(shelf.sink, tuple(shelf.rows)), Words()
    return RecordingModel("caller", words, {}, log=log, recorded=RecordedCalls()), log, words


async def test_a_reply_that_was_paid_for_is_in_the_log_though_it_was_cancelled_while_it_was_cached() -> None:
    shelf, progress = Shelf(), Progress()
    model, log, words = seat(shelf)
    model.cache, model.watch = Slow(), progress
    with anyio.move_on_after(0.05):
        await model.complete([Message("user", "hello")], purpose="act")
    await log.flush()
    assert len(words.made) == progress.spent.calls == 1
    [call] = decode(shelf.rows)
    assert isinstance(call, Called)
    assert call.reply is not None


async def talk(model: RecordingModel, said: list[Message], turns: int) -> None:
    for _ in range(turns):
        said.append(Message("user", f"{len(said)} {'x' * 500}"))
        reply = await model.complete(said, purpose="act")
        said.append(Message("assistant", reply.text))


async def test_a_conversation_that_is_taken_up_again_follows_its_last_call() -> None:
    shelf = Shelf()
    model, log, _ = seat(shelf)
    said: list[Message] = []
    await talk(model, said, 20)
    await log.flush()
    again, log, _ = seat(shelf)
    await talk(again, said, 2)
    assert [event.since for event in log.events if isinstance(event, Called)] == list(range(-1, 21))
