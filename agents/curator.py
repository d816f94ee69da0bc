"""The agents of builds: the curator of case reports, and the writer and checker of middle-level items."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import ClassVar

from wardround.agents.dialogue import SILENCE, model_of
from wardround.engine.errors import ProviderError
from wardround.engine.records import Action, Json, Message, View
from wardround.engine.seat import Seat
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, read_verdict_line, written_text
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.finding_evidence import citation_fault
from wardround.scenarios.reports.reply_parsers import (
    BODY_SYSTEMS,
    DISORDERS,
    CaseSections,
    Reading,
    finding_verdict,
    read_step,
)

_TASKS = {"diagnosis": "how a diagnosis was made", "treatment": "how a treatment was chosen"}


class StepAgent:
    """Asks its model one question a turn; a subclass writes the question, and the scenario's parsers read the answer.

    All its knowledge is in the view, so it can resume at any turn. If a reply cannot be read, the model is asked once
    more, with what was wrong. If the endpoint refuses, the agent declines this step only. Purposes of its calls: the
    step's name, repair.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, seat: Seat) -> None:
        self._model = model_of(seat)
        self._prompts = seat.prompts
        self._name = seat.name

    async def answer(
        self, step: str, question: str, read: Callable[[str], object], repair: str, args: Mapping[str, Json]
    ) -> Action:
        """The model's answer to a question, as an action with `args`; `repair` is the prompt after an unusable one."""
        messages = [Message("system", self._prompts[f"{self._name}/system"].text), Message("user", question)]
        try:
            reply = await self._model.complete(messages, purpose=step)
            reading = read(reply.text)
            if isinstance(reading, Unusable):
                said = Message("assistant", reply.text if reply.text.strip() else SILENCE)
                again = Message("user", self._prompts[repair].render(why=reading.why))
                reply = await self._model.complete([*messages, said, again], purpose="repair")
        except ProviderError as error:
            if error.kind != "refused":
                raise
            return Action("decline", f"refused by the endpoint: {error}", args)
        return Action("reply", reply.text, args, thinking=reply.thinking)


class Curator(StepAgent):
    """Restructures the article of a case report (prompts curator/STEP)."""

    async def act(self, view: View) -> Action:
        """Answer the step's question."""
        known = view.known
        if not isinstance(known, Mapping) or not {"step", "about", "article"} <= set(known):
            raise ValueError("a curator needs its step and the article: view.known holds neither")
        step = str(known["step"])
        asked = {"step": f"{step} {known['about']}".strip()}
        read = partial(_read_cited, step, str(known["article"])) if known.get("numbered") else partial(read_step, step)
        return await self.answer(step, self._question(known), read, "curator/repair", asked)

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


def _read_cited(step: str, article: str, text: str) -> Reading:
    """Read a reply; a case with a wrong citation is unusable, so that it is asked for once more."""
    reading = read_step(step, text)
    fault = citation_fault(reading.sections, article) if isinstance(reading, CaseSections) else ""
    return Unusable("unreadable", fault) if fault else reading


_FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (WRITER, "statement"): ("question", "options", "right", "option"),
    (WRITER, "distractor"): ("question", "options", "right"),
    (CHECKER, "statement"): ("question", "options", "option", "text"),
    (CHECKER, "distractor"): ("question", "options", "right", "text"),
    (CHECKER, "finding"): ("item", "finding", "sentences"),
}


class ItemWriter(StepAgent):
    """Writes a text of a middle-level item (prompts writer/STEP), or checks such a text or a finding (checker/STEP)."""

    async def act(self, view: View) -> Action:
        """Write a text, or check one."""
        known = view.known
        if not isinstance(known, Mapping) or "piece" not in known:
            raise ValueError(f"a {self._name} needs what to write or to check: view.known holds no piece")
        step, read = str(known["step"]), self._read(str(known["step"]))
        return await self.answer(step, self._question(step, known), read, "writer/repair", {"piece": known["piece"]})

    def _read(self, step: str) -> Callable[[str], object]:
        if step == "finding":
            return finding_verdict
        return read_verdict_line if self._name == CHECKER else written_text

    def _question(self, step: str, known: Mapping[str, Json]) -> str:
        values = {name: str(known[name]) for name in _FIELDS[self._name, step]}
        if self._name == WRITER:
            why = str(known["why"])
            values["revision"] = "\n" + self._prompts["writer/revision"].render(why=why) + "\n" if why else ""
        return self._prompts[f"{self._name}/{step}"].render(**values)
