"""A curator: a language model that restructures the article of a case report, step by step."""

from collections.abc import Mapping
from typing import ClassVar

from wardround.agents.dialogue import SILENCE, model_of
from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Completion, Json, Message, View
from wardround.engine.seat import Seat
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.reply_parsers import BODY_SYSTEMS, DISORDERS, read_step

_TASKS = {"diagnosis": "how a diagnosis was made", "treatment": "how a treatment was chosen"}


class Curator:
    """Asks its model one question a turn (prompts curator/STEP); the scenario's parsers read the answer.

    All its knowledge is in the view, so it can resume at any turn. If the parser cannot read a reply, the model is
    asked once more and told what was wrong. If the endpoint refuses, the agent declines this step only. Purposes of its
    calls: the step's name, repair.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts

    async def act(self, view: View) -> Action:
        """Answer the step's question."""
        known = view.known
        if not isinstance(known, Mapping) or not {"step", "about", "article"} <= set(known):
            raise ValueError("a curator must be told its step and the article: view.known holds neither")
        step = str(known["step"])
        asked = f"{step} {known['about']}".strip()
        messages = [Message("system", self._prompts["curator/system"].text), Message("user", self._question(known))]
        try:
            reply = await self._model.complete(messages, purpose=step)
            reading = read_step(step, reply.text)
            if isinstance(reading, Unusable):
                reply = await self._ask_again(messages, reply, reading)
        except ProviderError as error:
            if error.kind != "refused":
                raise
            return Action("decline", f"refused by the endpoint: {error}", {"step": asked})
        return Action("reply", reply.text, {"step": asked}, thinking=reply.thinking)

    async def _ask_again(self, messages: list[Message], reply: Completion, fault: Unusable) -> Completion:
        asked = self._prompts["curator/repair"].render(why=fault.why)
        again = [Message("assistant", reply.text if reply.text.strip() else SILENCE), Message("user", asked)]
        return await self._model.complete([*messages, *again], purpose="repair")

    def _question(self, known: Mapping[str, Json]) -> str:
        step, about = str(known["step"]), str(known["about"])
        values = {"article": str(known["article"])}
        if step == "about":
            values["task"] = _TASKS.get(about, about)
        if step == "rare":
            values["disease"] = about
        if step in ("body_system", "disorder"):
            values["categories"] = "\n".join(BODY_SYSTEMS if step == "body_system" else DISORDERS)
        return self._prompts[f"curator/{step}"].render(**values)
