"""Judges and panels: one judge, or several that decide by majority; every vote is kept.

`ask_judge` asks one judge a question, and asks again after an unreadable reply. `Panel` asks all judges, several times
each if that is wanted, and joins first each judge's own answers, then the judges. `ModelJudge` asks a model;
lexical/judge.py has the judge without one.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from wardround.engine.errors import LimitReached, ProviderError, UsageError
from wardround.engine.once import Once, together
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json, Message
from wardround.engine.seat import Voice
from wardround.evaluators.judges.question import Question, fenced
from wardround.evaluators.judges.strict_reply import Unread, reports_address

T = TypeVar("T")
Reading = Callable[[str], T | Unread]
"""A strict reader of a reply."""


class Sample(msgspec.Struct, frozen=True):
    """Which of a judge's answers to the same question this is: with its texts swapped, and the number of the repeat."""

    swapped: bool = False
    repeat: int = 0


class Judge(Protocol):
    """One judge in one episode.

    ::

        class Literal(Judge):
            spec, floor = "literal", True

            async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
                same = question.text("The answer").strip() == question.text("The reference")
                return json.dumps({"verdict": "correct" if same else "wrong"})

    `seat` names the seat of its events, which is unique in its panel; `spec` is what the user wrote. `floor` marks a
    lexical stand-in, whose scores are only a lower bound of those by a real judge.
    """

    seat: str
    spec: str
    floor: bool

    async def say(self, question: Question, sample: Sample, said: Sequence[str] = ()) -> str:
        """Return the judge's reply. `said` are its unreadable replies so far, which it is asked to repair.

        Raises ProviderError and LimitReached.
        """


@runtime_checkable
class KnowsQuestions(Protocol):
    """A class of judges without a model, which answers only some questions."""

    def knows(self, question: str) -> bool:
        """Whether it answers the question of that name."""


class PanelAnswer(msgspec.Struct, Generic[T], frozen=True):
    """A `value`, or None with a `reason`: `judge_unreadable/WHY`, or `judge/KIND` if the judge could not be asked.

    `noticed`: the judge reports that a text addressed it.
    """

    value: T | None
    reason: str = ""
    noticed: bool = False


async def ask_judge(
    judge: Judge, question: Question, read: Reading[T], sample: Sample | None = None, *, repairs: int = 1
) -> PanelAnswer[T]:
    """Ask a judge, and ask again up to `repairs` times while its reply is unreadable.

    `read` reads the reply, and its result is the `value`. No default replaces a reply that stays unreadable, or that
    never came: the value is None then, with a reason.
    """
    said: list[str] = []
    while True:
        try:
            reply = await judge.say(question, sample or Sample(), said)
        except ProviderError as error:
            return PanelAnswer(None, f"judge/{error.kind}")
        except LimitReached as error:
            return PanelAnswer(None, f"judge/{error.limit}")
        value = read(reply)
        if not isinstance(value, Unread):
            return PanelAnswer(value, noticed=reports_address(reply))
        said.append(reply)
        if len(said) > repairs:
            return PanelAnswer(None, value.reason)


TORN = "judge_torn"
"""Reason: one judge's own answers (repeats, or swapped texts) have no majority."""
DIVIDED = "judges_divided"
"""Reason: no answer has more than half of the judges behind it."""


class Vote(msgspec.Struct, frozen=True, omit_defaults=True):
    """One answer of one judge (its seat); `value` is None with a `reason`, `noticed` as in PanelAnswer."""

    judge: str
    value: Json
    reason: str = ""
    swapped: bool = False
    repeat: int = 0
    noticed: bool = False


class Ruling(msgspec.Struct, Generic[T], frozen=True):
    """The panel's decision, None with a `reason`, and all `votes`, in order of judge, order of texts, and repeat."""

    value: T | None
    votes: tuple[Vote, ...]
    reason: str = ""
    by: tuple[T | None, ...] = ()
    """Each judge's own decision, in the panel's order."""

    @property
    def noticed(self) -> bool:
        """Whether a judge reports that a text addressed it."""
        return any(vote.noticed for vote in self.votes)

    @property
    def steady(self) -> bool:
        """Whether all votes agree."""
        return len({msgspec.json.encode(vote.value) for vote in self.votes}) == 1


class Panel:
    """The judges of one evaluation.

    The panel asks each judge `repeats` times; with `swap` it asks again with the texts in reverse order, if their order
    must not matter. A judge decides by the majority of its own answers, the panel by the majority of its judges. A
    majority is more than half of all, so a judge that failed counts against every answer. Raises UsageError for a panel
    without judges.
    """

    def __init__(self, judges: Sequence[Judge], *, repeats: int = 1, swap: bool = False) -> None:
        if not judges or repeats < 1:
            raise UsageError("a panel has one judge at least, who is asked once at least")
        self.judges = tuple(judges)
        self.repeats, self.swap = repeats, swap

    @property
    def floor(self) -> bool:
        """Whether a lexical stand-in is among the judges."""
        return any(judge.floor for judge in self.judges)

    @property
    def specs(self) -> dict[str, str]:
        """The SPEC of each judge, by its seat."""
        return {judge.seat: judge.spec for judge in self.judges}

    @property
    def several(self) -> bool:
        """Whether a question may get more than one vote."""
        return len(self.judges) > 1 or self.repeats > 1 or self.swap

    async def ask(self, question: Question, read: Reading[T], *, swappable: bool = False) -> Ruling[T]:
        """Return the panel's answer to a question; `swappable` if the order of its texts must not matter."""

        async def one(judge: Judge, sample: Sample) -> PanelAnswer[T]:
            asked = question.swapped() if sample.swapped else question
            return await ask_judge(judge, asked, read, sample)

        return await self.each(one, swappable=swappable)

    async def first(self, question: Question, read: Reading[T]) -> PanelAnswer[T]:
        """Return the first readable answer of a judge: for splitting texts, where no majority is possible."""
        reason = ""
        for judge in self.judges:
            answer = await ask_judge(judge, question, read)
            if answer.value is not None:
                return answer
            reason = reason or answer.reason
        return PanelAnswer(None, reason)

    async def each(
        self, work: Callable[[Judge, Sample], Awaitable[PanelAnswer[T]]], *, swappable: bool = False
    ) -> Ruling[T]:
        """Run `work` for all judges at once and return the panel's decision. Values are hashable JSON."""
        samples = [
            Sample(swapped, n)
            for swapped in (False, True)[: 1 + (self.swap and swappable)]
            for n in range(self.repeats)
        ]
        places = [(judge, sample) for judge in self.judges for sample in samples]
        answers = await together([partial(work, judge, sample) for judge, sample in places])
        votes = tuple(
            Vote(judge.seat, answer.value, answer.reason, sample.swapped, sample.repeat, answer.noticed)
            for (judge, sample), answer in zip(places, answers, strict=True)
        )
        size = len(samples)
        own = [_majority(answers[at : at + size], TORN) for at in range(0, len(answers), size)]
        verdict = _majority(own, DIVIDED)
        return Ruling(verdict.value, votes, verdict.reason, tuple(answer.value for answer in own))


def _majority(answers: Sequence[PanelAnswer[T]], none: str) -> PanelAnswer[T]:
    """Return the value of more than half of the answers; else the reason of the first failure, else `none`."""
    if len(answers) == 1:
        return answers[0]
    for value, count in Counter(answer.value for answer in answers if answer.value is not None).items():
        if 2 * count > len(answers):
            return PanelAnswer(value)
    return PanelAnswer(None, next((answer.reason for answer in answers if answer.value is None), none))


SILENCE = "(no text)"
"""Replaces an empty reply in a repair, since endpoints refuse an empty message."""


class ModelJudge:
    """Asks a model the question NAME with the prompts judge/system and judge/NAME; for a repair with judge/repair.

    `structured` says that the endpoint takes a schema of the reply. `seed` is the seat's sampling seed, if it has one;
    each repeat of a question uses the next seed. The purposes of its calls are NAME, `NAME #2` for the first repeat,
    and `NAME repair`.
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
        """Return its reply; raises ProviderError and LimitReached."""
        asked = self._prompts[question.prompt].render(materials=fenced(question.materials), **question.said)
        messages = [Message("system", self._prompts["judge/system"].text), Message("user", asked)]
        for earlier in said:
            repair = self._prompts["judge/repair"].text
            messages += [Message("assistant", earlier.strip() or SILENCE), Message("user", repair)]
        options: dict[str, Json] = {}
        if self._structured and question.shape:
            options["shape"] = dict(question.shape)
        if sample.repeat and self._seed is not None:  # many endpoints take no seed, so one is never added
            options["seed"] = self._seed + sample.repeat
        purpose = question.name + (f" #{sample.repeat + 1}" if sample.repeat else "") + (" repair" if said else "")

        async def ask() -> str:
            return (await self._voice.complete(messages, purpose=purpose, **options)).text

        return await self._once.ask((purpose, sample.repeat, *messages), ask)
