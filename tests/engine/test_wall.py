"""The limit on an episode's wall time: what hangs is ended, what holds the run back is not counted."""

from collections.abc import Sequence

import anyio
from instant import instantly
from play import Shelf, Words, play

from wardround.engine.batch import Progress
from wardround.engine.limits import Limits
from wardround.engine.records import Action, Completion, Ending, Json, Message, View
from wardround.engine.seat import Seat
from wardround.engine.sessions import RunControl


async def test_a_limit_on_wall_time_ends_an_act_that_hangs() -> None:
    class Slow:
        """An agent that never answers."""

        def __init__(self, seat: Seat) -> None:
            del seat

        async def act(self, view: View) -> Action:
            await anyio.sleep_forever()
            return Action("say", "late")

    ending = await play(Shelf(), Words(), caller=Slow, limits=Limits(wall=0.05))
    assert ending is not None
    assert (ending.cause, ending.reason) == ("limit", "wall")


def test_the_wall_limit_does_not_count_what_holds_the_run_back() -> None:
    endings: list[Ending | None] = []

    async def main() -> None:
        progress = Progress()
        progress.obey(RunControl("pause"))

        async def played() -> None:
            endings.append(await play(Shelf(), Words(), watch=progress, limits=Limits(wall=0.2)))

        async with anyio.create_task_group() as group:
            group.start_soon(played)
            await anyio.sleep(0.4)
            progress.obey(RunControl("run"))

    instantly(main())
    assert [ending.cause for ending in endings if ending] == ["completed"]


async def test_the_wall_limit_counts_a_call_that_hangs() -> None:
    class Hanging(Words):
        async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
            await anyio.sleep_forever()
            return await super().complete(messages, purpose=purpose, **options)

    ending = await play(Shelf(), Hanging(), watch=Progress(), limits=Limits(wall=0.05))
    assert ending is not None
    assert (ending.cause, ending.reason) == ("limit", "wall")
