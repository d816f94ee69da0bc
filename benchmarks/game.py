"""The game that is played: one seat asks its model, the other says the same long text each time."""

from collections.abc import Sequence

from benchmarks.load import BRIEF, Load
from wardround.engine.events import Acted
from wardround.engine.records import Action, Ending, Message, Said, View
from wardround.engine.seat import Seat


class Game:
    """`asker` calls its model, `teller` answers with a fixed text, until the calls are made; the case is not read."""

    name = "game"
    seats: Sequence[str] = ("asker", "teller")

    def __init__(self, load: Load) -> None:
        self._turns = 2 * load.calls - 1
        self._question = load.question

    def start(self, case: object) -> tuple[Said, ...]:
        """The question."""
        return (Said(0, "teller", "say", self._question),)

    def turn(self, state: tuple[Said, ...]) -> str:
        """The two seats alternate."""
        return self.seats[(len(state) + 1) % 2]

    def view(self, state: tuple[Said, ...], seat: str) -> View:
        """Both seats see all that was said."""
        return View(seat=seat, brief=BRIEF, heard=state, verbs=("say",))

    def apply(self, state: tuple[Said, ...], event: Acted) -> tuple[Said, ...]:
        """Add what the seat said."""
        return (*state, Said(event.seq, event.seat, event.action.verb, event.action.text))

    def ending(self, state: tuple[Said, ...]) -> Ending | None:
        """After the last call."""
        return Ending("completed") if len(state) > self._turns else None


class Asker:
    """Sends the whole conversation and says its model's reply."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    async def act(self, view: View) -> Action:
        """One call."""
        messages = [Message("system", view.brief)]
        messages += [Message("assistant" if said.seat == view.seat else "user", said.text) for said in view.heard]
        assert self._seat.model is not None
        reply = await self._seat.model.complete(messages, purpose="act")
        return Action("say", reply.text)


class Teller:
    """Says the same long text each time."""

    sealed = True

    def __init__(self, text: str) -> None:
        self._text = text

    async def act(self, view: View) -> Action:
        """The text."""
        del view
        return Action("say", self._text)
