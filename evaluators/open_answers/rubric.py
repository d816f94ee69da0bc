"""The evaluator `rubric`: an open answer or an encounter against criteria with points, as in HealthBench.

`rubric_judging` asks the judges about the criteria, and `rubric_points` does the arithmetic. A criterion of an
encounter may have a rule in place of a judge (`decide_by_rule`).
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, Literal, get_args

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.once import together
from wardround.engine.records import Score, Scored
from wardround.engine.seat import Seat
from wardround.engine.text import regex
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import JudgeContext, missed, require_judges, unscored
from wardround.evaluators.injection.detect import hostile_signs
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.judges.question import LONGEST, Material, unseen
from wardround.evaluators.open_answers.rubric_judging import (
    ANSWER,
    CONVERSATION,
    ENCOUNTER,
    CriterionVerdict,
    PanelRule,
    decide_answers,
    decide_encounter,
)
from wardround.evaluators.open_answers.rubric_points import rubric_score, score_bounds, with_veto
from wardround.evaluators.ordered_tests import Request, orders_here, requests
from wardround.scenarios.case import Case
from wardround.scenarios.criteria import Deed, RubricItem, Rule
from wardround.scenarios.encounters.consultation import read_consultation
from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.parsers.moves import PatientQuestion
from wardround.scenarios.parsers.reply_text import answer_part
from wardround.scenarios.question_item import QuestionItem, asked_lines
from wardround.scenarios.terms.wording import key

Protocol = Literal["ours", "published"]
RUBRIC_SCORE, PUBLISHED, LOW, HIGH = "rubric_score", "published_rubric_score", "rubric_score_low", "rubric_score_high"
UNDECIDED, AGREEMENT, LENGTH, VETO = "rubric_undecided", "rubric_agreement", "answer_characters", "rubric_veto"
NAMES = (RUBRIC_SCORE, LOW, HIGH, PUBLISHED, UNDECIDED, VETO)
MOST_BATCHED = 50
"""The most criteria in a call."""
MOST_BESIDE = 6
"""Most words that a request may have beyond twice those of the test that it names: more are a list without marks."""
_SENTENCE_END = regex(r"(?<=[.?!;\n\u3002\uff1f])")
_OF_ASKING = regex(
    r"(?i)\b(?:i|we)(?:['\u2019]ve| have| had| did)?(?: already| just| also)? "
    r"(?:asked|inquired|enquired|checked|covered|discussed|screened|took|will ask|would ask|should ask|could ask"
    r"|(?:am|was|are|were)? ?going to ask)\b"
    r"|\b(?:not|never|without|instead of|rather than|no need (?:to|for)|skip(?:ping)?|n['\u2019]t)\b[^,.?!]{0,20}"
    r"\b(?:ask(?:ed|ing)?|inquir\w+|questions?)\b"
    r"|\b(?:consider it asked|has been asked|was asked|were asked|next time)\b"
)
"""Words of a sentence that is about asking and asks nothing: 'I asked about pregnancy', 'I will not ask about it'."""


class CriterionAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One criterion as judged: `met` is true, false, the share of judges that say so, or None with a `reason`.

    `by` says who decided: `judge` or `rule`, or `nobody` where the doctor gave no answer, which meets nothing. `events`
    are the events of the encounter that were cited.
    """

    criterion: str
    points: float
    tags: tuple[str, ...]
    met: bool | float | None
    reason: str = ""
    votes: tuple[Vote, ...] = ()
    veto: bool = False
    by: Literal["judge", "rule", "nobody"] = "judge"
    events: tuple[int, ...] = ()


class RubricAccount(msgspec.Struct, frozen=True, omit_defaults=True):
    """One item as judged: its criteria in order, the score with its bounds, and the length of the answer.

    `labels` are the item's own (HealthBench: `theme:...`), `judges` maps seats to SPECs, `unseen` counts characters
    that the judges did not see, `flags` are signs of texts that address the judge.
    """

    criteria: tuple[CriterionAccount, ...]
    labels: tuple[str, ...]
    judges: dict[str, str]
    floor: bool
    protocol: Protocol
    panel: PanelRule
    batch: int
    characters: int
    score: float | None
    low: float | None = None
    high: float | None = None
    unseen: int = 0
    flags: tuple[str, ...] = ()


class Rubric:
    """`rubric_score`: met points / positive points of an item; only the mean over items is clipped to 0..1.

    ::

        wardround score RUN --evaluators rubric --judge openai/gpt-4o --set batch=8

    A criterion on which no reply can be read is undecided, never false: the score is then None with the reason, and
    `rubric_score_low` and `rubric_score_high` are its bounds. `published_rubric_score` counts such a criterion as not
    met, as a grader without retries would, and has no veto. The length of the answer stands beside the score
    (`answer_characters`). A doctor without an answer has 0.0, and no judge is asked.

    Settings (`--set NAME=VALUE`): `batch` is the number of criteria in a call. `panel` is `majority` or `mean`. With
    `protocol=published` the judge also sees the points of the criterion that it is asked about, as in HealthBench.
    """

    name = "rubric"
    VERSION: ClassVar[int] = 4
    judged: ClassVar[bool] = True
    Item = (QuestionItem, Case)

    def __init__(self, batch: str = "1", panel: str = "majority", protocol: str = "ours") -> None:
        if not batch.isdecimal() or not 1 <= int(batch) <= MOST_BATCHED:
            raise UsageError(f"batch={batch}: write a number of criteria a call, 1 to {MOST_BATCHED}")
        if panel not in get_args(PanelRule):
            raise UsageError(f"panel={panel}: write one of {', '.join(get_args(PanelRule))}")
        if protocol not in get_args(Protocol):
            raise UsageError(f"protocol={protocol}: write one of {', '.join(get_args(Protocol))}")
        if protocol == "published" and batch != "1":
            raise UsageError("protocol=published asks about one criterion a call: leave batch out")
        self._batch = int(batch)
        self._panel: PanelRule = "mean" if panel == "mean" else "majority"
        self._protocol: Protocol = "published" if protocol == "published" else "ours"
        texts = {"batch": batch, "panel": panel, "protocol": protocol}
        usual = {"batch": "1", "panel": "majority", "protocol": "ours"}
        self.tables: Mapping[str, str] = {name: text for name, text in texts.items() if text != usual[name]}

    async def score(self, case: QuestionItem | Case, trajectory: Trajectory, seat: Seat | None = None) -> Scored:
        """Return the scores of one episode with their account; raises UsageError without judges."""
        context = require_judges(seat, self.name)
        reason = unscored(trajectory.ending) or ("" if case.rubric else "no_rubric")
        if reason:
            return Scored([Score(name, None, reason) for name in NAMES])
        if reason := missed(trajectory.ending):
            zeros = [Score(name, 0.0, reason) for name in (RUBRIC_SCORE, LOW, HIGH, PUBLISHED)]
            account = self._account(
                case, [CriterionVerdict(False, (), reason)] * len(case.rubric), (), context, "", zeros
            )
            criteria = tuple(msgspec.structs.replace(one, by="nobody") for one in account.criteria)
            account = msgspec.structs.replace(account, criteria=criteria)
            scores = [*zeros, Score(UNDECIDED, 0.0), Score(VETO, 0.0), Score(LENGTH, 0.0)]
            return Scored(scores, {"rubric": msgspec.to_builtins(account)})
        if isinstance(case, Case):
            texts: tuple[Material, ...] = (Material(ENCOUNTER, numbered_text(trajectory), "reply", LONGEST),)
            decided = await self._encounter(case.rubric, texts, trajectory, context)
            said = texts[0].text
        else:
            before, said = conversation(case, trajectory)
            texts = (Material(CONVERSATION, before, "case", LONGEST), Material(ANSWER, said, "reply", LONGEST))
            decided = await self.decide(case.rubric, texts, context)
        return self._scored(case, decided, texts, context, said)

    async def decide(
        self, rubric: Sequence[RubricItem], texts: Sequence[Material], context: JudgeContext
    ) -> Sequence[CriterionVerdict]:
        """Return the panel's decisions on the criteria of an answer."""
        published = self._protocol == "published"
        criteria = [f"[{one.points:g}] {one.criterion}" if published else one.criterion for one in rubric]
        rules = "published" if published else ""
        return await decide_answers(context.panel, texts, criteria, batch=self._batch, rules=rules, by=self._panel)

    async def _encounter(
        self, rubric: Sequence[RubricItem], texts: Sequence[Material], trajectory: Trajectory, context: JudgeContext
    ) -> Sequence[CriterionVerdict]:
        events = frozenset(event.seq for event in trajectory.acted())

        async def one(item: RubricItem) -> CriterionVerdict:
            if item.rule is not None:
                return decide_by_rule(item.rule, trajectory)
            return await decide_encounter(context.panel, texts, item.criterion, events, self._panel)

        return await together([partial(one, item) for item in rubric])

    def _scored(
        self,
        case: QuestionItem | Case,
        decided: Sequence[CriterionVerdict],
        texts: Sequence[Material],
        context: JudgeContext,
        said: str,
    ) -> Scored:
        rubric, met = case.rubric, [one.met for one in decided]
        low, high = score_bounds(rubric, met)
        value, veto = with_veto(rubric_score(rubric, met), rubric, met)
        reason = veto if veto == "veto" else "" if value is not None else _why_undecided(decided, low)
        evidence = tuple(sorted({seq for one in decided for seq in one.events}))
        main = [
            Score(RUBRIC_SCORE, value, reason, evidence),
            *(
                Score(name, end, "" if end is not None else "no_positive_points")
                for name, end in ((LOW, low), (HIGH, high))
            ),
        ]
        scores = [
            *main,
            _published(rubric, met),
            Score(UNDECIDED, sum(one is None for one in met) / len(met)),
            Score(VETO, float(veto == "veto")),
            *([Score(LENGTH, float(len(said)))] if texts[-1].label == ANSWER else []),
            *_agreement(decided, context),
        ]
        return Scored(scores, {"rubric": msgspec.to_builtins(self._account(case, decided, texts, context, said, main))})

    def _account(
        self,
        case: QuestionItem | Case,
        decided: Sequence[CriterionVerdict],
        texts: Sequence[Material],
        context: JudgeContext,
        said: str,
        scores: Sequence[Score],
    ) -> RubricAccount:
        """Return the account of an item, whose score and its bounds are the first three `scores`."""
        noticed = any(vote.noticed for one in decided for vote in one.votes)
        return RubricAccount(
            criteria=tuple(_criterion(item, one) for item, one in zip(case.rubric, decided, strict=True)),
            labels=_labels(case),
            judges=context.panel.specs,
            floor=context.panel.floor,
            protocol=self._protocol,
            panel=self._panel,
            batch=self._batch,
            characters=len(said),
            score=scores[0].value,
            low=scores[1].value,
            high=scores[2].value,
            unseen=unseen(texts),
            flags=hostile_signs(texts, noticed=noticed),
        )


def conversation(item: QuestionItem, trajectory: Trajectory) -> tuple[str, str]:
    """Return what was said before the last answer to an open question, and that answer, with its speakers named."""
    replies = turn_replies(item, trajectory)
    parts = asked_lines(item)
    for reply, turn in zip(replies, item.turns, strict=False):
        parts += [f"assistant: {_HEAD.sub(_INSET, reply)}", f"user: {turn.question}"]
    return "\n\n".join(parts), replies[-1] if replies else ""


def turn_replies(item: QuestionItem, trajectory: Trajectory) -> list[str]:
    """Return the answers that the doctor gave to an open question, one for each turn."""
    ending = trajectory.ending
    seqs = ending.facts.get("answered") if ending else None
    said = {event.seq: answer_part(event.action.text).strip() for event in trajectory.acted("doctor")}
    if isinstance(seqs, Sequence) and item.turns:
        return [said.get(seq, "") for seq in seqs]
    return list(said.values())[-1:]


def numbered_text(trajectory: Trajectory) -> str:
    """Return an encounter as text: each action after the number of its event and its seat, which no text can forge."""
    lines = []
    for event in trajectory.acted():
        typed = [f"{name}: {value}" for name, value in event.action.args.items() if name != "answers"]
        words = event.action.text.strip() or f"{event.action.verb} ({'; '.join(typed)})"
        lines.append(f"[{event.seq}] {event.seat}: {_HEAD.sub(_INSET, words)}")
    return "\n\n".join(lines)


_HEAD = regex(r"(?mi)^(?=[^\S\n]*(?:\[\d+\]|(?:user|assistant|system)[^\S\n]*[:\uff1a]))")
"""The beginning of a line in a text that looks like the head of another action or message."""
_INSET = "    > "


def _published(rubric: Sequence[RubricItem], met: Sequence[bool | float | None]) -> Score:
    """Return the score with each undecided criterion as not met."""
    value = rubric_score(rubric, [one or 0.0 for one in met])
    return Score(PUBLISHED, value, "" if value is not None else "no_positive_points")


def _why_undecided(decided: Sequence[CriterionVerdict], low: float | None) -> str:
    """Return the reason of a score that is None."""
    if low is None:
        return "no_positive_points"
    return next((one.reason for one in decided if one.met is None and one.reason), "no_reason")


def _agreement(decided: Sequence[CriterionVerdict], context: JudgeContext) -> list[Score]:
    """Return the share of criteria on which all votes are the same, where a criterion gets more than one."""
    asked = [one.votes for one in decided if len(one.votes) > 1]
    if not context.panel.several or not asked:
        return []
    return [Score(AGREEMENT, sum(len({vote.value for vote in votes}) == 1 for votes in asked) / len(asked))]


def _labels(case: QuestionItem | Case) -> tuple[str, ...]:
    return tuple(f"disorder:{one}" for one in case.category.disorders) if isinstance(case, Case) else case.kind


def _criterion(item: RubricItem, one: CriterionVerdict) -> CriterionAccount:
    return CriterionAccount(
        criterion=item.criterion,
        points=item.points,
        tags=item.tags,
        met=one.met,
        reason=one.reason,
        votes=one.votes,
        veto=item.veto,
        by="rule" if item.rule is not None else "judge",
        events=one.events,
    )


def decide_by_rule(rule: Rule, trajectory: Trajectory) -> CriterionVerdict:
    """Decide a criterion by its rule, with the doctor's events as evidence.

    It is met if the deed was done, among the first `within` orders if the rule says so, and earlier than `before` if
    that was done at all. Two orders of one message are made at the same time, so neither is before the other. It is
    undecided (None) in a scenario where the deed is not possible: `not_ordered_here`, `nobody_to_ask`, or
    `unstructured` if orders were answered in free text.
    """
    for deed in (rule.did, rule.before):
        if deed is not None and (reason := _impossible(deed, trajectory)):
            return CriterionVerdict(None, (), reason)
    done = _first(rule.did, trajectory, rule.within)
    if done is None:
        return CriterionVerdict(False)
    other = _first(rule.before, trajectory) if rule.before else None
    if other is not None and other <= done:
        return CriterionVerdict(False, (), "", tuple(sorted({other, done})))
    return CriterionVerdict(True, (), "", (done,) if other is None else (done, other))


def _impossible(deed: Deed, trajectory: Trajectory) -> str:
    """Return the reason why nobody can do this in the scenario; "" if it can be done."""
    if deed.asked:
        return "" if "patient" in trajectory.header.get("seats", ()) else "nobody_to_ask"
    if deed.ordered:
        if not orders_here(trajectory):
            return "not_ordered_here"
        return "unstructured" if requests(trajectory) is None else ""
    return ""


def _first(deed: Deed, trajectory: Trajectory, within: int | None = None) -> int | None:
    """Return the doctor's first event that is this deed; None if there is none."""
    doctor = list(trajectory.acted("doctor"))
    if deed.concluded:
        ending = trajectory.ending
        return doctor[-1].seq if doctor and ending is not None and ending.cause == "completed" else None
    if deed.asked:
        return next((seq for seq, text in _questions(trajectory) if _names_one(deed.asked, text)), None)
    answered = next((one.seq for one in (requests(trajectory) or ())[:within] if _orders(deed.ordered, one)), None)
    return None if answered is None else max((event.seq for event in doctor if event.seq < answered), default=None)


def _questions(trajectory: Trajectory) -> list[tuple[int, str]]:
    """Return the doctor's messages that the patient answered, with their events."""
    asked: list[tuple[int, str]] = []
    said: tuple[int, str] | None = None
    for event in trajectory.acted():
        if event.seat == "doctor":
            move = read_consultation(event.action.text)
            spoken = move.text if isinstance(move, PatientQuestion) else event.action.text
            words = [spoken, *(one for one in event.action.args.values() if isinstance(one, str))]
            said = event.seq, " ".join(words)
        elif event.seat == "patient" and said is not None:
            asked.append(said)
            said = None
    return asked


def _names_one(words: Sequence[str], text: str) -> bool:
    """Whether a sentence that asks something has one of the words; one that only speaks of asking does not count."""
    asking = (one for one in _SENTENCE_END.split(text) if not _OF_ASKING.search(one))
    folded = [" ".join(sentence.casefold().split()) for sentence in asking]
    return any(" ".join(word.casefold().split()) in sentence for word in words for sentence in folded)


def _orders(name: str, request: Request) -> bool:
    """Whether a request means a test: the same, a panel that holds it, or a name with all of its words."""
    table = catalogue()
    wanted, asked = link(name, table), link(request.asked, table)
    if wanted is not None:
        if request.test and request.test == wanted.test:
            return True
        if asked is not None and (asked.test == wanted.test or wanted.test in table.below.get(asked.test, ())):
            return True
        if asked is not None and wanted.kind != "imaging":
            return False  # both are known tests, and not the same
    words, said = set(key(name).split()), key(request.asked).split()
    return bool(words) and words <= set(said) and len(said) <= 2 * len(words) + MOST_BESIDE
