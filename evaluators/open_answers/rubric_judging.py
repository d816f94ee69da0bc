"""How judges decide the criteria of a rubric: questions, the reading of replies, and how votes become a decision.

A criterion is asked about by itself, in a batch, or together with the events of an encounter that show it. One without
a readable verdict is undecided, never "not met".
"""

import math
from collections.abc import Sequence
from functools import partial
from typing import Literal

import msgspec

from wardround.engine.once import together
from wardround.engine.records import Json, object_schema
from wardround.evaluators.judges.panel import DIVIDED, TORN, Judge, Panel, PanelAnswer, Reading, Sample, Vote, ask_judge
from wardround.evaluators.judges.question import Material, Question, reply_shape
from wardround.evaluators.judges.strict_reply import (
    Payload,
    Unread,
    claimed_value,
    entries_of,
    field,
    required_json,
    unread_reply,
)
from wardround.evaluators.open_answers.rubric_points import Met

CONVERSATION, ANSWER, CRITERION, CRITERIA, ENCOUNTER = (
    "The conversation",
    "The answer",
    "The criterion",
    "The criteria",
    "The encounter",
)
ABSTAIN = "abstain"
"""The vote of a judge that cannot tell."""
ABSTAINED = "judges_abstained"
"""Reason: every judge abstained."""
LEFT_OUT = "judge_unreadable/no_field"
"""Reason of a criterion that a reply to a batch leaves out."""

PanelRule = Literal["majority", "mean"]
Said = bool | str | None
"""True, False, ABSTAIN, or None for a reply that could not be read."""

_WORDS: dict[str, Said] = {
    **dict.fromkeys(("true", "yes", "met"), True),
    **dict.fromkeys(("false", "no", "not met", "unmet"), False),
    **dict.fromkeys((ABSTAIN, "cannot tell", "can not tell", "unsure", "unknown"), ABSTAIN),
}
_NAMES = ("met", "criteria_met", "criterion_met", "is_met")
_TEXT = {"type": "string"}
_MET = {"enum": [True, False, "cannot tell"]}
_EVENTS = {"type": "array", "items": {"type": "integer"}}


class CriterionVerdict(msgspec.Struct, frozen=True):
    """Whether a criterion is met, None with a `reason`, with the `votes` in order of judges and the cited `events`."""

    met: Met
    votes: tuple[Vote, ...] = ()
    reason: str = ""
    events: tuple[int, ...] = ()


def one_question(texts: Sequence[Material], criterion: str, rules: str = "") -> Question:
    """Ask whether one criterion is met."""
    fields = reply_shape(why=_TEXT, met=_MET)
    return Question("rubric", (*texts, Material(CRITERION, criterion, "reference")), shape=fields, rules=rules)


def batch_question(texts: Sequence[Material], criteria: Sequence[str]) -> Question:
    """Ask which of some numbered criteria are met."""
    numbered = "\n".join(f"{number}. {' '.join(one.split())}" for number, one in enumerate(criteria, 1))
    fields = reply_shape(verdicts={"type": "array", "items": object_schema(number={"type": "integer"}, met=_MET)})
    said = {"count": str(len(criteria))}
    return Question("rubric_batch", (*texts, Material(CRITERIA, numbered, "reference")), said, fields)


def encounter_question(texts: Sequence[Material], criterion: str) -> Question:
    """Ask whether one criterion on an encounter is met, and by which numbered events."""
    fields = reply_shape(why=_TEXT, met=_MET, events=_EVENTS)
    return Question("rubric_encounter", (*texts, Material(CRITERION, criterion, "reference")), shape=fields)


def read_met(text: str) -> Said | Unread:
    """Read a reply {"met": true}, false or "cannot tell"; anything else is Unread, never false."""
    parsed = required_json(text)
    return parsed if isinstance(parsed, Unread) else claimed_value(parsed, text, _NAMES, _WORDS, False)


def read_batch(count: int, text: str) -> tuple[Said, ...] | Unread:
    """Read {"verdicts": [{"number", "met"}]}; a criterion that is left out, or named twice, is None."""
    entries = entries_of(text, ("verdicts", "criteria"))
    if isinstance(entries, Unread):
        return entries
    said: dict[int, list[Said]] = {}
    for entry in entries:
        number = field(entry, ("number", "criterion"))
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= count:
            return unread_reply("not_in_vocabulary", text)
        value = claimed_value(Payload(entry), text, _NAMES, _WORDS, False)
        said.setdefault(number, []).append(None if isinstance(value, Unread) else value)
    if not said:
        return unread_reply("no_field", text)
    return tuple(said[n][0] if len(said.get(n, ())) == 1 else None for n in range(1, count + 1))


def read_encounter(events: frozenset[int], text: str) -> tuple[Said, tuple[int, ...]] | Unread:
    """Read {"met", "events"}; a criterion that is met must cite an event of the encounter (`no_field`)."""
    parsed = required_json(text)
    if isinstance(parsed, Unread):
        return parsed
    met = claimed_value(parsed, text, _NAMES, _WORDS, False)
    if isinstance(met, Unread):
        return met
    listed = field(parsed.value, ("events", "evidence"))
    cited = [one for one in listed if isinstance(one, int) and one in events] if isinstance(listed, list) else []
    if met is True and not cited:
        return unread_reply("no_field", text)
    return met, tuple(sorted(set(cited))) if met is True else ()


async def decide_answers(
    panel: Panel,
    texts: Sequence[Material],
    criteria: Sequence[str],
    *,
    batch: int = 1,
    rules: str = "",
    by: PanelRule = "majority",
) -> list[CriterionVerdict]:
    """Return the panel's decision on each criterion, asked in batches of at most `batch`.

    A criterion that a reply to a batch leaves out is asked again by itself.
    """
    if batch == 1:
        asked = await together([partial(_single, panel, one_question(texts, one, rules)) for one in criteria])
        return [decision(votes, by) for votes in asked]
    chunks = [criteria[at : at + batch] for at in range(0, len(criteria), batch)]
    by_chunk = await together([partial(_batch, panel, texts, chunk) for chunk in chunks])
    ballots = [votes for chunk in by_chunk for votes in chunk]
    again = [place for place, votes in enumerate(ballots) if any(vote.reason == LEFT_OUT for vote in votes)]
    singles = await together([partial(_single, panel, one_question(texts, criteria[place], rules)) for place in again])
    for place, votes in zip(again, singles, strict=True):
        ballots[place] = votes
    return [decision(votes, by) for votes in ballots]


async def decide_encounter(
    panel: Panel, texts: Sequence[Material], criterion: str, events: frozenset[int], by: PanelRule = "majority"
) -> CriterionVerdict:
    """Return the panel's decision on a criterion of an encounter, with the events that the agreeing judges cite."""
    question = encounter_question(texts, criterion)
    cited: dict[tuple[str, int], tuple[int, ...]] = {}

    async def ask(judge: Judge, sample: Sample) -> PanelAnswer[Said]:
        answer: PanelAnswer[tuple[Said, tuple[int, ...]]] = await ask_judge(
            judge, question, partial(read_encounter, events), sample
        )
        if answer.value is None:
            return PanelAnswer(None, answer.reason, answer.noticed)
        cited[judge.seat, sample.repeat] = answer.value[1]
        return PanelAnswer(answer.value[0], "", answer.noticed)

    made = decision((await panel.each(ask)).votes, by)
    if made.met is None or made.met <= 0.5:
        return made
    agreed = {seq for vote in made.votes if vote.value is True for seq in cited.get((vote.judge, vote.repeat), ())}
    return msgspec.structs.replace(made, events=tuple(sorted(agreed)))


async def _single(panel: Panel, question: Question) -> tuple[Vote, ...]:
    reading: Reading[Said] = read_met
    return (await panel.ask(question, reading)).votes


async def _batch(panel: Panel, texts: Sequence[Material], criteria: Sequence[str]) -> list[tuple[Vote, ...]]:
    reading: Reading[tuple[Said, ...]] = partial(read_batch, len(criteria))
    votes = (await panel.ask(batch_question(texts, criteria), reading)).votes
    return [tuple(_of(vote, place) for vote in votes) for place in range(len(criteria))]


def _of(vote: Vote, place: int) -> Vote:
    """Return a judge's vote on one criterion of a batch."""
    value: Json = None if vote.value is None else vote.value[place]
    reason = vote.reason or (LEFT_OUT if value is None else "")
    return msgspec.structs.replace(vote, value=value, reason=reason)


def decision(votes: Sequence[Vote], by: PanelRule = "majority") -> CriterionVerdict:
    """Return what the votes on one criterion decide.

    `majority`: a judge decides by most of its own votes, the panel by more than half of its judges. A judge that
    abstains leaves the count; one that failed counts against every answer. `mean`: the share of judges that say that
    it is met, each by its own mean, over the judges that said something.
    """
    own = [
        _own_decision([vote for vote in votes if vote.judge == seat], by)
        for seat in dict.fromkeys(v.judge for v in votes)
    ]
    if by == "mean":
        said = [value for value, _ in own if isinstance(value, bool | float)]
        if said:
            return CriterionVerdict(math.fsum(said) / len(said), tuple(votes))
    value, reason = _most(own, DIVIDED)
    return CriterionVerdict(value if isinstance(value, bool) else None, tuple(votes), reason)


def _own_decision(votes: Sequence[Vote], by: PanelRule) -> tuple[Json, str]:
    """Return one judge's decision over its repeats."""
    said = [vote.value for vote in votes if isinstance(vote.value, bool)]
    if by == "mean" and said:
        return math.fsum(said) / len(said), ""
    return _most([(vote.value, vote.reason) for vote in votes], TORN)


def _most(values: Sequence[tuple[Json, str]], none: str) -> tuple[Json, str]:
    counted = [(value, reason) for value, reason in values if value != ABSTAIN]
    if not counted:
        return (ABSTAIN, ABSTAINED) if values else (None, ABSTAINED)
    for value in (True, False):
        if 2 * sum(one is value for one, _ in counted) > len(counted):
            return value, ""
    return None, next((reason for value, reason in counted if value is None and reason), none)
