"""A doctor that never says anything: the floor of every scenario."""

from typing import ClassVar

from wardround.engine.records import Action, View


class Silent:
    """Gives an empty reply at every turn; an empty reply is no answer, so it scores 0.0."""

    sealed: ClassVar[bool] = True

    async def act(self, view: View) -> Action:
        """Say nothing."""
        del view
        return Action("reply")
