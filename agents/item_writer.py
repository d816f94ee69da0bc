"""The writer and the checker of middle-level items: language models that answer one question a turn."""

from collections.abc import Mapping
from typing import ClassVar

from wardround.agents.dialogue import SILENCE, model_of
from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Completion, Json, Message, View
from wardround.engine.seat import Seat
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, read_verdict_line, written_text
from wardround.scenarios.parsers.moves import Unusable

_FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (WRITER, "statement"): ("question", "options", "right", "option"),
    (WRITER, "distractor"): ("question", "options", "right"),
    (CHECKER, "statement"): ("question", "options", "option", "text"),
    (CHECKER, "distractor"): ("question", "options", "right", "text"),
}


class ItemWriter:
    """Asks its model (prompts writer/STEP, checker/STEP); the scenario reads the answer.

    All its knowledge is in the view, so it can resume at any turn. If a reply cannot be read, the model is asked once
    more and told what was wrong. If the endpoint refuses, the agent declines this text only. Purposes of its calls: the
    step, repair.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts
        self._name = seat.name

    async def act(self, view: View) -> Action:
        """Write a text, or check one."""
        known = view.known
        if not isinstance(known, Mapping) or "piece" not in known:
            raise ValueError(f"a {self._name} must be told what to write or to check: view.known holds no piece")
        step = str(known["step"])
        messages = [
            Message("system", self._prompts[f"{self._name}/system"].text),
            Message("user", self._question(step, known)),
        ]
        try:
            reply = await self._model.complete(messages, purpose=step)
            reading = read_verdict_line(reply.text) if self._name == CHECKER else written_text(reply.text)
            if isinstance(reading, Unusable):
                reply = await self._repaired(messages, reply, reading)
        except ProviderError as error:
            if error.kind != "refused":
                raise
            return Action("decline", f"refused by the endpoint: {error}", {"piece": known["piece"]})
        return Action("reply", reply.text, {"piece": known["piece"]}, thinking=reply.thinking)

    async def _repaired(self, messages: list[Message], reply: Completion, fault: Unusable) -> Completion:
        asked = self._prompts["writer/repair"].render(why=fault.why)
        again = [Message("assistant", reply.text if reply.text.strip() else SILENCE), Message("user", asked)]
        return await self._model.complete([*messages, *again], purpose="repair")

    def _question(self, step: str, known: Mapping[str, Json]) -> str:
        values = {name: str(known[name]) for name in _FIELDS[self._name, step]}
        if self._name == WRITER:
            why = str(known["why"])
            values["revision"] = "\n" + self._prompts["writer/revision"].render(why=why) + "\n" if why else ""
        return self._prompts[f"{self._name}/{step}"].render(**values)
