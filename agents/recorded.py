"""A seat that does again what it did in a stored episode."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from wardround.agents.replies import EXHAUSTED
from wardround.agents.turns import turn_taken, turns_taken
from wardround.engine.episode import Ended
from wardround.engine.records import Action, Ending, View


class Recorded:
    """Plays recorded actions in their order; their memos were another agent's and are left out.

    Where it is asked for more than was recorded the episode ends by this seat, `replies_exhausted`, as with recorded
    replies.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions

    async def act(self, view: View) -> Action:
        """The next action; raises Ended when there is none left."""
        turn = turns_taken(view)
        if turn >= len(self._actions):
            detail = (
                f"{view.seat} took {len(self._actions)} actions in the recorded episode, and is asked for one more: "
                "this encounter takes another course"
            )
            raise Ended(Ending(view.seat, EXHAUSTED, detail))
        return msgspec.structs.replace(self._actions[turn], memo=turn_taken(view))
