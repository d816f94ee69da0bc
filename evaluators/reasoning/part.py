"""Judges one part of one reply: splits it into steps, judges each, and looks in them for the steps of the reference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

import anyio
import msgspec
from rapidfuzz import fuzz

from wardround.engine.once import together
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.injection.detect import signs
from wardround.evaluators.judges.panel import Judge, Panel, PanelAnswer, Ruling, Sample
from wardround.evaluators.judges.question import LONGEST, left_out, unseen
from wardround.evaluators.judges.strict_reply import NOTICED, Unread, strings, unread_reply
from wardround.evaluators.measures import Part
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.doctor_replies import DoctorReply
from wardround.evaluators.reasoning.evidence import Library, locate
from wardround.evaluators.reasoning.inquiry import Check
from wardround.evaluators.reasoning.reasoning_record import PartAccount, ReferenceAccount, StepAccount
from wardround.evaluators.reasoning.step_questions import (
    ABSENT,
    Rules,
    StepClass,
    StepVerdict,
    read_class,
    read_opinion,
    read_presence,
    read_role,
)
from wardround.evaluators.reasoning.steps import ANYWHERE, MANY, ReplyContext, Split, split

DENSE = 800
"""Length, in characters, from which a judge is asked to split a part that is one unmarked step."""


async def steps_of(
    text: str, part: Part, rules: Rules, panel: Panel, played: ReplyContext = ANYWHERE, most: int | None = MANY
) -> Split:
    """Split a text as `steps.split` does; a judge of the panel says where the steps of one long piece begin.

    The judge names the first words of each step, so the steps stay in the text's own words. If no judge gives a
    readable answer, or if its words do not occur in the text in that order, the text stays in one piece.
    """
    whole_split = split(text, part, rules, played, most)
    if rules == "published" or len(whole_split.steps) != 1 or len(whole_split.steps[0]) < DENSE:
        return whole_split
    whole = whole_split.steps[0]
    pieces = cut_at_starts(whole, (await panel.first(step_questions.starts(whole), read_starts)).value or ())
    if len(pieces) < 2:
        return whole_split
    surplus = max(0, len(pieces) - most) if most is not None else 0
    reason = "too_many_steps" if surplus else ""
    return msgspec.structs.replace(
        whole_split, steps=tuple(pieces[:most]), how="judge", reason=reason, left_out=surplus
    )


def read_starts(text: str) -> tuple[str, ...] | Unread:
    """Read the first words of each step from a reply {"starts": ["...", ...]}."""
    return strings(text, ("starts",)) or unread_reply("no_steps", text)


def cut_at_starts(text: str, starts: Sequence[str]) -> list[str]:
    """Cut `text` into pieces that begin with `starts`; a start that does not follow the one before is skipped."""
    places, at = [0], 0
    for start in starts:
        place = locate(text[at:], start)
        if place is None or place.how == "aligned":
            continue
        begin = at + place.start
        if begin > places[-1]:
            places.append(begin)
        at += place.end
    pieces = [text[begin:end].strip() for begin, end in zip(places, [*places[1:], len(text)], strict=True)]
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


TOO_LONG = "too_long"
"""Reason: a step or an answer is longer than a judge is shown, so its content was not judged."""


class Windows(msgspec.Struct, frozen=True):
    """The `texts` in which something is sought; `whole` if they leave nothing out."""

    texts: tuple[str, ...]
    whole: bool = True


def pack_steps(steps: Sequence[str], longest: int = LONGEST) -> Windows:
    """Pack the steps, in order and uncut, into as few texts as possible; a step that is too long itself is left out."""
    joined = "\n".join(steps)
    if not left_out(joined, longest):
        return Windows((joined,))
    short = [step for step in steps if not left_out(step, longest)]
    texts: list[list[str]] = []
    length = longest
    for step in short:
        if length + 1 + len(step) > longest:
            texts.append([])
            length = -1
        texts[-1].append(step)
        length += 1 + len(step)
    return Windows(tuple("\n".join(text) for text in texts), len(short) == len(steps))


T = TypeVar("T")


NO_SEARCH = "no_search"
"""Reason: nothing was looked up, because the judges use only their own knowledge."""


class SplitPart(msgspec.Struct, frozen=True):
    """A part of a reply that is `split` into steps; those at the `places` are to be judged (None: all).

    `flags` are the signs of the part; `before` are the steps of earlier turns, each with its turn.
    """

    part: Part
    reply: DoctorReply
    split: Split
    flags: tuple[str, ...]
    before: Sequence[tuple[int, str]] = ()
    places: Sequence[int] | None = None

    @property
    def chosen(self) -> Sequence[int]:
        """The places of the steps that are judged."""
        return range(len(self.split.steps)) if self.places is None else self.places


@dataclass(slots=True)
class ReasoningJudge:
    """Judges the replies of one episode with a panel, by a set of rules, for a goal, with the evidence of a library.

    `answer` is the final answer, in which reference steps are sought besides the reasoning. `steady` says, for each
    question with more than one vote and at least one value, whether all votes agree.

    `whole`: the replies are one reasoning, each step is judged with those of earlier turns, and quotations must bear on
    the step. `knowledge` says what may support a verdict; `library` is None where nothing is looked up.
    """

    panel: Panel
    rules: Rules
    goal: str
    library: Library | None
    answer: str
    whole: bool = False
    knowledge: Knowledge = "search"
    steady: list[bool] = field(default_factory=list)

    async def judge_part(
        self, reply: DoctorReply, part: Part, reference: Sequence[str], unreferenced: str
    ) -> PartAccount:
        """Judge the formal or the thinking part of a reply against the reference steps, if there are any."""
        return await self.judge_split(await self.split_reply(reply, part), reference, unreferenced)

    async def split_reply(self, reply: DoctorReply, part: Part) -> SplitPart:
        """Return the part with its steps, none of them judged yet."""
        text = reply.text if part == "formal" else reply.thinking
        played = ReplyContext(reply.scenario, reply.stage == "examination", self.answer)
        parted = await steps_of(text, part, self.rules, self.panel, played, None if self.whole else MANY)
        if reply.typed and parted.reason == "empty_reply":
            parted = msgspec.structs.replace(parted, reason="no_words")
        return SplitPart(part, reply, parted, signs(text, "reply"))

    async def judge_split(self, split_part: SplitPart, reference: Sequence[str], unreferenced: str) -> PartAccount:
        """Judge the chosen steps of a part, and look for the reference in all of its steps."""
        reply, parted = split_part.reply, split_part.split
        account = partial(
            PartAccount,
            *(split_part.part, reply.stage, reply.turn, reply.seq),
            how=parted.how,
            reason=parted.reason,
            left_out=parted.left_out,
            flags=split_part.flags,
        )
        if parted.reason in ABSENT:
            return account(unreferenced=unreferenced or parted.reason)
        steps: list[StepAccount] = []
        compared: list[ReferenceAccount] = []

        async def judge_steps() -> None:
            steps.extend(await together([partial(self._judge_step, split_part, at) for at in split_part.chosen]))

        async def compare() -> None:
            compared.extend(await self.find_reference(parted.steps, reference))

        async with anyio.create_task_group() as group:
            group.start_soon(compare)
            await judge_steps()
        referred = None if unreferenced else tuple(compared)
        return account(steps=tuple(steps), reference=referred, unreferenced=unreferenced)

    async def find_reference(
        self, steps: Sequence[str], reference: Sequence[str], places: Sequence[int] | None = None
    ) -> list[ReferenceAccount]:
        """Look for each reference step in these steps and in the answer; the last reference step is the final answer.

        With `places`, look only for the reference steps at these places.
        """
        reasoning, answer, last = pack_steps(steps), pack_steps([self.answer]), len(reference) - 1
        sought = range(len(reference)) if places is None else places
        return await together(
            [partial(self._find_reference_step, reference[at], reasoning, answer, at == last) for at in sought]
        )

    async def _judge_step(self, split_part: SplitPart, at: int) -> StepAccount:
        """Ask what a step does and, if it is reasoning, whether it holds."""
        step, earlier, known = split_part.split.steps[at], split_part.split.steps[:at], split_part.reply.known
        flags = signs(step, "reply") if split_part.flags else ()
        if left_out(step):
            return StepAccount(step, None, reason=TOO_LONG, flags=flags)
        if self.whole:
            turn = split_part.reply.turn
            before = [*split_part.before, *((turn, one) for one in earlier)]
            question = step_questions.step_role(known, self.goal, before, step, turn)
            kind = self._count_votes(await self.panel.ask(question, read_role(step, known)))
        else:
            question = step_questions.step_class(known, self.goal, earlier, step)
            kind = self._count_votes(await self.panel.ask(question, read_class))
        flags = (*flags, NOTICED) if kind.noticed else flags
        account = partial(StepAccount, step, kind.value, kinds=kind.votes, unseen=unseen(question.materials))
        if kind.value == StepClass.REASONING:
            return await self._give_verdict(account, step, known, flags)
        repeats = repeats_turn(step, split_part.before, earlier) if kind.value == StepClass.REPETITION else 0
        return account(reason=kind.reason, flags=flags, repeats=repeats)

    async def _give_verdict(
        self, reasoning: Callable[..., StepAccount], step: str, known: str, flags: tuple[str, ...]
    ) -> StepAccount:
        """Give a reasoning step all that may support its verdict: search results, the judges' knowledge, or both."""
        if self.library is None:
            account = reasoning(verdict=StepVerdict.UNVERIFIABLE, reason=NO_SEARCH, flags=flags)
        else:
            account = await self._check_by_search(reasoning, step, known, flags, self.library)
        if self.knowledge == "search" or account.verdict in (StepVerdict.CORRECT, StepVerdict.WRONG):
            return account
        ruling = self._count_votes(await self.panel.ask(step_questions.opinion(known, account.text), read_opinion))
        return msgspec.structs.replace(account, opinion=ruling.value, opinions=ruling.votes, unheld=ruling.reason)

    async def _check_by_search(
        self, reasoning: Callable[..., StepAccount], step: str, known: str, flags: tuple[str, ...], library: Library
    ) -> StepAccount:
        """Give a reasoning step its verdict and the evidence for it; each judge runs searches of its own."""
        checks: dict[tuple[str, bool, int], Check] = {}

        async def check(judge: Judge, sample: Sample) -> PanelAnswer[str]:
            one = Check(judge, sample, step, known, library, self.rules, self.whole)
            checks[judge.seat, sample.swapped, sample.repeat] = one
            return await one.verdict()

        ruling = self._count_votes(await self.panel.each(check))
        ordered = [checks[vote.judge, vote.swapped, vote.repeat] for vote in ruling.votes]
        pages = (f"page:{flag}" for one in ordered for flag in one.flags)
        return reasoning(
            verdict=None if ruling.value is None else StepVerdict(ruling.value),
            reason=ruling.reason or _why_unverifiable(ruling),
            verdicts=ruling.votes,
            looked=tuple(look for one in ordered for look in one.looked),
            quoted=tuple(quoted for one in ordered for quoted in one.quoted),
            beside=tuple(quoted for one in ordered for quoted in one.beside),
            flags=tuple(dict.fromkeys([*flags, *pages, *([NOTICED] if ruling.noticed else [])])),
        )

    async def _find_reference_step(
        self, step: str, reasoning: Windows, answer: Windows, final: bool
    ) -> ReferenceAccount:
        looks = [lambda: self._find_in_texts(step, reasoning)]
        if self.rules == "default":  # the published evaluator looks only into the reasoning
            looks.append(lambda: self._find_in_texts(step, answer))
        rulings = await together(looks)
        reason = next((ruling.reason for ruling in rulings if ruling.value is None), "")
        said = rulings[1].value if len(rulings) > 1 else None
        votes = tuple(vote for ruling in rulings for vote in ruling.votes)
        return ReferenceAccount(step, rulings[0].value, said, final, reason, votes, len(reasoning.texts))

    async def _find_in_texts(self, step: str, where: Windows) -> Ruling[bool]:
        """A step is present if any text has it, and absent only if no text has it and nothing was left out."""
        rulings = await together([partial(self._find_in_text, step, text) for text in where.texts])
        votes = tuple(vote for ruling in rulings for vote in ruling.votes)
        if any(ruling.value for ruling in rulings):
            return Ruling(True, votes)
        failed = next((ruling.reason for ruling in rulings if ruling.value is None), "" if where.whole else TOO_LONG)
        return Ruling(None if failed else False, votes, failed)

    async def _find_in_text(self, step: str, text: str) -> Ruling[bool]:
        if not text.strip():  # an empty text contains nothing, so no judge is needed
            return Ruling(False, ())
        asked = step_questions.step_in_text(step, text)
        asked = step_questions.published_question(asked) if self.rules == "published" else asked
        return self._count_votes(await self.panel.ask(asked, read_presence, swappable=True))

    def _count_votes(self, ruling: Ruling[T]) -> Ruling[T]:
        if len(ruling.votes) > 1 and any(vote.value is not None for vote in ruling.votes):  # failing is not agreeing
            self.steady.append(ruling.steady)
        return ruling


def repeats_turn(step: str, before: Sequence[tuple[int, str]], earlier: Sequence[str]) -> int:
    """Return the first earlier turn with the step most like this one; 0 if a step of its own turn is more like it."""
    likeness = [fuzz.token_set_ratio(step, one) for _, one in before]
    own = max((fuzz.token_set_ratio(step, one) for one in earlier), default=-1.0)
    best = max(likeness, default=-1.0)
    return before[likeness.index(best)][0] if best > own else 0


def _why_unverifiable(ruling: Ruling[str]) -> str:
    """Return why the panel could not settle a step: the first reason among the votes for that result."""
    if ruling.value != StepVerdict.UNVERIFIABLE:
        return ""
    return next((vote.reason for vote in ruling.votes if vote.value == ruling.value and vote.reason), "unresolved")
