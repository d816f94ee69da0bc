"""A judge that is a language model: it renders a question and asks for its shape where the endpoint takes one."""

from collections.abc import Sequence

from wardround.engine.once import Once
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json, Message
from wardround.engine.seat import Voice
from wardround.evaluators.judging.fence import fenced
from wardround.evaluators.judging.judge import Sample
from wardround.evaluators.judging.question import Question

SILENCE = "(no text)"
"""Stands for an empty reply in a repair, as endpoints refuse an empty message."""


class ModelJudge:
    """Asks `voice` the question NAME by the prompts judge/system and judge/NAME, and for a repair by judge/repair.

    `structured` says that the endpoint takes a schema of the reply. `seed` is that of the seat's
    sampling, if it has one: each repeat of a question has the next. Purposes of its calls: NAME, `NAME #2` for the
    first repeat, `NAME repair`.
    """

    floor = False

    def __init__(
        self, seat: str, spec: str, voice: Voice, prompts: Prompts, *, structured: bool = False, seed: int | None = None
    ) -> None:
        self.seat, self.spec = seat, spec
        self._voice, self._prompts, self._structured = voice, prompts, structured
        self._seed = seed
        self._once = Once[str](Exception, keep=True)

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """Its reply; raises ProviderError and LimitReached."""
        asked = self._prompts[question.prompt].render(materials=fenced(question.materials), **question.said)
        messages = [Message("system", self._prompts["judge/system"].text), Message("user", asked)]
        for earlier in said:
            repair = self._prompts["judge/repair"].text
            messages += [Message("assistant", earlier.strip() or SILENCE), Message("user", repair)]
        options: dict[str, Json] = {}
        if self._structured and question.shape:
            options["shape"] = dict(question.shape)
        if sample.repeat and self._seed is not None:  # many endpoints take no seed, so it is only moved
            options["seed"] = self._seed + sample.repeat
        purpose = question.name + (f" #{sample.repeat + 1}" if sample.repeat else "") + (" repair" if said else "")

        async def ask() -> str:
            return (await self._voice.complete(messages, purpose=purpose, **options)).text

        return await self._once.ask((purpose, sample.repeat, *messages), ask)
