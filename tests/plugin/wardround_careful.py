"""An agent that plays the doctor with its seat's model."""

from wardround import Action, View
from wardround.engine.records import Message
from wardround.engine.seat import Seat


class Agent:
    """Asks its model once a turn; `hint` is an option: --options '{"hint": "..."}'."""

    def __init__(self, seat: Seat, *, hint: str = "Think step by step.") -> None:
        if seat.model is None:
            raise ValueError("name a model: --doctor-model openai/gpt-4o")
        self.model, self.hint = seat.model, hint

    async def act(self, view: View) -> Action:
        """Reply to what was said so far; what must outlast the turn goes into `memo`."""
        said = "\n".join(f"{one.seat}: {one.text}" for one in view.heard)
        asked = [Message("system", self.hint), Message("user", f"{view.brief}\n\n{said}")]
        reply = await self.model.complete(asked, purpose="act")
        return Action(view.verbs[0], reply.text or "(nothing)", thinking=reply.thinking)
