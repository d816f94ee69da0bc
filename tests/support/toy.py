"""A game without medicine to try the engine with: two seats count to a number, one of them through a model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Message, Said, View
from wardround.engine.seat import Seat, Voice


@dataclass(frozen=True)
class Count:
    """The state: what was said, and where the count shall end."""

    goal: int
    heard: tuple[Said, ...] = ()


class Counting:
    """`caller` and `echo` speak in turn; the game is over after `goal` words, or when the caller says nothing."""

    name = "counting"
    seats: Sequence[str] = ("caller", "echo")

    def start(self, case: int) -> Count:
        return Count(case)

    def turn(self, state: Count) -> str:
        return self.seats[len(state.heard) % 2]

    def view(self, state: Count, seat: str) -> View:
        return View(seat=seat, brief="count", heard=state.heard, verbs=("say",))

    def apply(self, state: Count, event: Acted) -> Count:
        if event.action.text == "break the rules":
            raise RuntimeError("the rules broke")
        said = Said(event.seq, event.seat, event.action.verb, event.action.text)
        return replace(state, heard=(*state.heard, said))

    def ending(self, state: Count) -> Ending | None:
        if state.heard and not state.heard[-1].text:
            return Ending("caller", "no_answer", "nothing was said")
        if len(state.heard) < state.goal:
            return None
        return Ending("completed", facts={"last": state.heard[-1].text})


class Caller:
    """Asks its model what to say, twice at every third word, and keeps a count in its memo."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._model: Voice | None = seat.model

    async def act(self, view: View) -> Action:
        assert self._model is not None
        memo: Mapping[str, int] = view.memo or {"n": 0}
        messages = [Message("system", view.brief)]
        messages += [Message("assistant" if said.seat == view.seat else "user", said.text) for said in view.heard]
        reply = await self._model.complete(messages, purpose="act")
        if memo["n"] % 3 == 2:
            reply = await self._model.complete(
                [*messages, Message("assistant", reply.text), Message("user", "again")], purpose="repair"
            )
        return Action("say", reply.text, thinking=reply.thinking, memo={"n": memo["n"] + 1})


class Echo:
    """Repeats the last word; a state of its own that `recall` restores."""

    sealed = True

    def __init__(self) -> None:
        self._times = 0

    async def act(self, view: View) -> Action:
        self._times += 1
        return Action("say", f"{view.heard[-1].text} #{self._times}")

    def recall(self, view: View, action: Action) -> None:
        del view, action
        self._times += 1


NO_PROMPTS = Prompts({})
