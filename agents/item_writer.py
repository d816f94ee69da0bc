"""The writer and the checker of middle-level items: language models that answer one question a turn."""

from collections.abc import Mapping

from wardround.agents.curator import StepAgent
from wardround.engine.records import Action, Json, View
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, read_verdict_line, written_text

_FIELDS: Mapping[tuple[str, str], tuple[str, ...]] = {
    (WRITER, "statement"): ("question", "options", "right", "option"),
    (WRITER, "distractor"): ("question", "options", "right"),
    (CHECKER, "statement"): ("question", "options", "option", "text"),
    (CHECKER, "distractor"): ("question", "options", "right", "text"),
}


class ItemWriter(StepAgent):
    """Writes a text, or checks one (prompts writer/STEP, checker/STEP)."""

    async def act(self, view: View) -> Action:
        """Write a text, or check one."""
        known = view.known
        if not isinstance(known, Mapping) or "piece" not in known:
            raise ValueError(f"a {self._name} needs what to write or to check: view.known holds no piece")
        step, read = str(known["step"]), read_verdict_line if self._name == CHECKER else written_text
        return await self.answer(step, self._question(step, known), read, "writer/repair", {"piece": known["piece"]})

    def _question(self, step: str, known: Mapping[str, Json]) -> str:
        values = {name: str(known[name]) for name in _FIELDS[self._name, step]}
        if self._name == WRITER:
            why = str(known["why"])
            values["revision"] = "\n" + self._prompts["writer/revision"].render(why=why) + "\n" if why else ""
        return self._prompts[f"{self._name}/{step}"].render(**values)
