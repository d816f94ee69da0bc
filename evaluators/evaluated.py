"""What the stored evaluations of a run came to: how many episodes were judged, and who stayed silent how often."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec

from wardround.engine.records import Json
from wardround.evaluators.bench import Knowledge
from wardround.evaluators.evidence.failure import KINDS, SEARCHED
from wardround.evaluators.evidence.search import LIBRARY
from wardround.evaluators.judging.panel import Vote
from wardround.evaluators.measure import Part
from wardround.evaluators.reasoning.account import Account, Looked, ReferenceAccount
from wardround.evaluators.reasoning.controls import Fitness, fitness
from wardround.evaluators.reasoning.keywords import KEYWORDS
from wardround.evaluators.showing.accounts import Told, told


class Heard(msgspec.Struct, frozen=True):
    """A judge's seat, or `search`: of `asked` votes (searches) `silent` came to nothing, by `reasons`, commonest first.

    A judge is silent where its reply cannot be had or read. A query that was not sent, as it would have given the truth
    away, is no failure of the search.
    """

    seat: str
    asked: int
    silent: int
    reasons: Mapping[str, int]


class Evaluated(msgspec.Struct, frozen=True):
    """One evaluator's judging: `judged` of the run's `closed` episodes; `left` are the ids of the others.

    In `shortened` of them a judge did not see all of the case, the earlier steps, the reference or a list; in
    `overquoted` one passage was quoted for most of the steps. `controls` says how each judge fared with the questions
    whose answer is known, `uncontrolled` that they were to be asked and were not, as their episode could not be judged.
    `knowledge` is what could found a verdict.
    """

    evaluator: str
    closed: int
    judged: int
    left: tuple[str, ...] = ()
    heard: tuple[Heard, ...] = ()
    shortened: int = 0
    overquoted: int = 0
    controls: tuple[Fitness, ...] = ()
    knowledge: Knowledge = "search"
    uncontrolled: bool = False


class Tally:
    """Counts the accounts of one evaluator as they are read, one by one: none of them is kept."""

    def __init__(self, evaluator: str) -> None:
        self._evaluator = evaluator
        self._judged: set[str] = set()
        self._asked: Counter[str] = Counter()
        self._reasons: dict[str, Counter[str]] = {}
        self._shortened: set[str] = set()
        self._overquoted: set[str] = set()
        self._controls: tuple[Fitness, ...] = ()
        self._knowledge: Knowledge = "search"
        self._poses = False

    def add(self, episode: str, account: Json) -> None:
        """An episode that was judged, with its account; None where there is none."""
        self._judged.add(episode)
        found = told({self._evaluator: account})
        if _shortened(found):
            self._shortened.add(episode)
        for told_of in found.reasoning.values():
            self._knowledge = told_of.knowledge
            self._poses = self._poses or bool(told_of.whole)  # the rules that pose controls
            self._controls = tuple(fitness(told_of.controls)) or self._controls
            if told_of.overquoted:
                self._overquoted.add(episode)
        for seat, reason in _answers(found):
            self._asked[seat] += 1
            self._reasons.setdefault(seat, Counter()).update([reason] if reason else [])

    def evaluated(self, closed: Iterable[str]) -> Evaluated:
        """What it came to; `closed` are the ids of the run's closed episodes, in order."""
        episodes = list(closed)
        left = tuple(one for one in episodes if one not in self._judged)
        seats = sorted(self._asked, key=lambda seat: (seat == LIBRARY, len(seat), seat))
        heard = tuple(
            Heard(seat, self._asked[seat], why.total(), dict(sorted(why.items(), key=_commonest)))
            for seat in seats
            for why in [self._reasons[seat]]
        )
        return Evaluated(
            self._evaluator,
            len(episodes),
            len(episodes) - len(left),
            left,
            heard,
            len(self._shortened),
            len(self._overquoted),
            self._controls,
            self._knowledge,
            self._poses and not self._controls,
        )


def _commonest(pair: tuple[str, int]) -> tuple[int, str]:
    return -pair[1], pair[0]


def _answers(found: Told) -> Iterator[tuple[str, str]]:
    """The seat of each vote and search, and why nothing came of it; "" if something did."""
    for vote in _votes(found):
        unnamed = vote.reason.startswith(f"{KEYWORDS}/")
        yield vote.judge, vote.reason or "no_reason" if vote.value is None or unnamed else ""
    for look in _looked(found):
        kind = look.failure.removeprefix(SEARCHED)
        if not kind or (kind in KINDS and kind != "leak"):
            yield LIBRARY, kind


def _shortened(found: Told) -> bool:
    """Whether a judge was shown less than the whole of a text that its question is about."""
    accounts = found.reasoning.values()
    steps = (step.unseen for account in accounts for part in account.parts for step in part.steps)
    lists = (assessment.left_out for assessment in found.assessments.values())
    return any(account.unseen for account in accounts) or any(steps) or any(lists)


def _votes(found: Told) -> Iterator[Vote]:
    for account in found.reasoning.values():
        for part in account.parts:
            for step in part.steps:
                yield from (*step.kinds, *step.verdicts, *step.opinions)
            for reference in part.reference or ():
                yield from reference.votes
        for whole in account.whole:
            last = _reference_of(account, whole.part)
            for place, reference in enumerate(whole.reference or ()):
                if place >= len(last) or last[place] != reference:  # what stands behind the answer was counted there
                    yield from reference.votes
        yield from (Vote(one.judge, one.said, one.reason) for one in account.controls)
    if found.outcome:
        for outcome in (found.outcome, *found.outcome.further):
            yield from outcome.votes
    for assessment in found.assessments.values():
        for pair in assessment.pairs:
            yield from pair.votes
        for sought in (*assessment.asked_sought, *assessment.recorded_sought):
            yield from sought.votes


def _reference_of(account: Account, part: Part) -> tuple[ReferenceAccount, ...]:
    """The reference as found in the reply with the answer."""
    found = (one.reference for one in account.parts if one.part == part and one.stage == "conclusion")
    return next(found, None) or ()


def _looked(found: Told) -> Iterator[Looked]:
    for account in found.reasoning.values():
        for part in account.parts:
            for step in part.steps:
                yield from step.looked
    if found.outcome:
        yield from found.outcome.looked
