"""Doctors for attacks on questions: one that repeats the hint it reads, and one that knows only the plain question."""

from typing import ClassVar

from wardround.engine.records import Action, View
from wardround.engine.seat import Seat


class Follower:
    """Answers what the last line of the question says."""

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        """Repeat the last line."""
        return Action("reply", text=view.brief.rsplit("\n", 1)[-1])


class Stubborn:
    """Chooses ascorbic acid, whatever is asked."""

    CHOICE: ClassVar[str] = "Ascorbic acid"

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        """Choose it by its letter."""
        lines = [line for line in view.brief.splitlines() if line.endswith(self.CHOICE)]
        return Action("reply", text=f"Answer: {lines[0][0]}")


class TakesNone:
    """Takes 'None of the above' wherever it is offered, else niacin."""

    def __init__(self, seat: Seat) -> None:
        del seat

    async def act(self, view: View) -> Action:
        """Choose it by its letter."""
        lines = view.brief.splitlines()
        said = [line for line in lines if line.endswith("None of the above")] or [
            line for line in lines if line.endswith("Niacin")
        ]
        return Action("reply", text=f"Answer: {said[0][0]}")
