"""A seat that does again what it did in a stored episode."""

from collections.abc import Sequence
from typing import ClassVar

import msgspec

from wardround.agents.turns import turn_taken, turns_taken
from wardround.engine.records import Action, View


class Recorded:
    """Plays recorded actions in their order; their memos were another agent's and are left out."""

    sealed: ClassVar[bool] = True

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions

    async def act(self, view: View) -> Action:
        """The next action; raises RuntimeError when there is none left."""
        turn = turns_taken(view)
        if turn >= len(self._actions):
            raise RuntimeError(
                f"{view.seat} took {len(self._actions)} actions in the recorded episode, and is asked for one more: "
                "this encounter takes another course"
            )
        return msgspec.structs.replace(self._actions[turn], memo=turn_taken(view))
