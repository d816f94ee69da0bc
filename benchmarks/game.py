"""The game that the benchmarks play: one seat asks its model, the other says the same long text each time."""

from collections.abc import Sequence

from benchmarks.load import BRIEF, Load
from wardround.engine.events import Acted
from wardround.engine.records import Action, Ending, Message, Said, View
from wardround.engine.seat import Seat


class Game:
    """A game in which `asker` calls its model and `teller` answers with a fixed text; the case is not read.

    It ends when all calls have been made.
    """

    name = "game"
    seats: Sequence[str] = ("asker", "teller")

    def __init__(self, load: Load) -> None:
        self._turns = 2 * load.calls - 1
        self._question = load.question

    def start(self, case: object) -> tuple[Said, ...]:
        """Return the state in which `teller` has asked its question."""
        return (Said(0, "teller", "say", self._question),)

    def turn(self, state: tuple[Said, ...]) -> str:
        """Return the seat whose turn it is; the two alternate."""
        return self.seats[(len(state) + 1) % 2]

    def view(self, state: tuple[Said, ...], seat: str) -> View:
        """Return what a seat sees: all that was said."""
        return View(seat=seat, brief=BRIEF, heard=state, verbs=("say",))

    def apply(self, state: tuple[Said, ...], event: Acted) -> tuple[Said, ...]:
        """Return the state with what the seat said."""
        return (*state, Said(event.seq, event.seat, event.action.verb, event.action.text))

    def ending(self, state: tuple[Said, ...]) -> Ending | None:
        """Return the ending after the last call, None before it."""
        return Ending("completed") if len(state) > self._turns else None


class Asker:
    """A seat that sends the whole conversation to its model and says the model's reply."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def act(self, view: View) -> Action:
        """Make one call and say its reply."""
        messages = [Message("system", view.brief)]
        messages += [Message("assistant" if said.seat == view.seat else "user", said.text) for said in view.heard]
        assert self._seat.model is not None
        reply = await self._seat.model.complete(messages, purpose="act")
        return Action("say", reply.text)


class Teller:
    """A seat that says the same long text each time."""

    sealed = True

    def __init__(self, text: str) -> None:
        self._text = text

    async def act(self, view: View) -> Action:
        """Say the text."""
        del view
        return Action("say", self._text)
