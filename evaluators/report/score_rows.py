"""The rows of scores and evaluations from which statistics and reports are computed, independent of the store.

A `RunScores` has all of a run: an `EpisodeScores` for each episode, its scorings, and how far judges and searches
answered (`EvaluatorCoverage`), which `AccountTally` counts without keeping the accounts.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from wardround.engine.records import Json, Score
from wardround.evaluators.evaluation import Knowledge
from wardround.evaluators.judges.panel import Vote
from wardround.evaluators.measures import Part
from wardround.evaluators.open_answers.checklist import ChecklistAccount
from wardround.evaluators.open_answers.rubric import RubricAccount
from wardround.evaluators.outcome.items import AssessmentAccount
from wardround.evaluators.outcome.outcome_record import OutcomeAccount
from wardround.evaluators.reasoning.controls import Fitness, fitness
from wardround.evaluators.reasoning.reasoning_record import Account, ReferenceAccount, StepAccount
from wardround.evaluators.reasoning.step_questions import KEYWORDS
from wardround.evaluators.search.contract import LIBRARY
from wardround.evaluators.search.results import KINDS, SEARCHED


class Accounts(msgspec.Struct, frozen=True):
    """The accounts of the outcome and, for each evaluator (each rule set), of reasoning, examinations and rubrics.

    `problems` names the accounts that could not be read or are of an unknown kind.
    """

    reasoning: Mapping[str, Account]
    outcome: OutcomeAccount | None = None
    assessments: Mapping[str, AssessmentAccount] = {}
    rubrics: Mapping[str, RubricAccount] = {}
    checklists: Mapping[str, ChecklistAccount] = {}
    problems: tuple[str, ...] = ()


class _StoredAccount(msgspec.Struct, frozen=True):
    """The account of an evaluator other than the reasoning's: one of these fields is there."""

    outcome: OutcomeAccount | None = None
    assessment: AssessmentAccount | None = None
    rubric: RubricAccount | None = None
    checklist: ChecklistAccount | None = None


def read_accounts(accounts: Mapping[str, Json]) -> Accounts:
    """Read the accounts by evaluator.

    Each is an Account of the reasoning, or an object with one of outcome, assessment, rubric and checklist.
    """
    reasoning: dict[str, Account] = {}
    others: dict[str, _StoredAccount] = {}
    problems: list[str] = []
    for name, account in accounts.items():
        fields = account if isinstance(account, Mapping) else {}
        try:
            if "parts" in fields or "search" in fields:
                reasoning[name] = msgspec.convert(fields, Account)
            elif any(fields.get(field) is not None for field in _StoredAccount.__struct_fields__):
                others[name] = msgspec.convert(fields, _StoredAccount)
            elif account is not None:
                problems.append(name)
        except msgspec.ValidationError:
            problems.append(name)
    return Accounts(
        reasoning,
        next((one.outcome for one in others.values() if one.outcome), None),
        {name: one.assessment for name, one in others.items() if one.assessment},
        {name: one.rubric for name, one in others.items() if one.rubric},
        {name: one.checklist for name, one in others.items() if one.checklist},
        tuple(problems),
    )


def digests(accounts: Mapping[str, Json]) -> list[str]:
    """Return the digests of the texts that the page of these accounts shows, each once, in order."""
    sources = list(_sources(read_accounts(accounts)))
    quoted = [one.digest for source in sources for one in source.quoted]
    shown = [digest for source in sources for look in source.looked for digest in look.texts]
    return list(dict.fromkeys([*quoted, *shown]))


def _sources(record: Accounts) -> Iterator[StepAccount | OutcomeAccount]:
    """Yield the accounts that record searches: every step of the reasoning, then the outcome."""
    for account in record.reasoning.values():
        for part in account.parts:
            yield from part.steps
    if record.outcome:
        yield record.outcome


class SeatSilence(msgspec.Struct, frozen=True):
    """A judge's seat, or `search`: `silent` of `asked` votes (searches) failed, by `reasons`, the most frequent first.

    A judge is silent if it gave no reply or an unreadable one. A query that was not sent because it would have revealed
    the truth is no failure of the search.
    """

    seat: str
    asked: int
    silent: int
    reasons: Mapping[str, int]


class EvaluatorCoverage(msgspec.Struct, frozen=True):
    """One evaluator's judging: `judged` of the run's `closed` episodes; `left` are the ids of the others.

    In `shortened` of them a judge did not see all of the case, the earlier steps, the reference or a list; in
    `overquoted` one passage or a few were quoted for many steps. `controls` are the judges' results on the controls.
    `uncontrolled` means that the controls were not asked, because the episode meant for them could not be judged.
    `knowledge` says what could support a verdict.
    """

    evaluator: str
    closed: int
    judged: int
    left: tuple[str, ...] = ()
    heard: tuple[SeatSilence, ...] = ()
    shortened: int = 0
    overquoted: int = 0
    controls: tuple[Fitness, ...] = ()
    knowledge: Knowledge = "search"
    uncontrolled: bool = False


class AccountTally:
    """Counts the accounts of one evaluator as they are read one by one; it keeps none of them."""

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
        """Add a judged episode with its account; None if there is none."""
        self._judged.add(episode)
        record = read_accounts({self._evaluator: account})
        if _saw_less(record):
            self._shortened.add(episode)
        for reasoning in record.reasoning.values():
            self._knowledge = reasoning.knowledge
            self._poses = self._poses or bool(reasoning.whole)  # the rules that ask controls
            self._controls = tuple(fitness(reasoning.controls)) or self._controls
            if reasoning.overquoted:
                self._overquoted.add(episode)
        for seat, reason in _answers(record):
            self._asked[seat] += 1
            self._reasons.setdefault(seat, Counter()).update([reason] if reason else [])

    def evaluated(self, closed: Iterable[str]) -> EvaluatorCoverage:
        """Return the totals; `closed` are the ids of the run's closed episodes, in order."""
        episodes = list(closed)
        left = tuple(one for one in episodes if one not in self._judged)
        seats = sorted(self._asked, key=lambda seat: (seat == LIBRARY, len(seat), seat))
        heard = tuple(
            SeatSilence(
                seat, self._asked[seat], why.total(), dict(sorted(why.items(), key=lambda pair: (-pair[1], pair[0])))
            )
            for seat in seats
            for why in [self._reasons[seat]]
        )
        return EvaluatorCoverage(
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


def _answers(record: Accounts) -> Iterator[tuple[str, str]]:
    """Yield the seat of each vote and search, and why it failed; "" if it did not."""
    for vote in _votes(record):
        unnamed = vote.reason.startswith(f"{KEYWORDS}/")
        yield vote.judge, vote.reason or "no_reason" if vote.value is None or unnamed else ""
    for look in (look for source in _sources(record) for look in source.looked):
        kind = look.failure.removeprefix(SEARCHED)
        if not kind or (kind in KINDS and kind != "leak"):
            yield LIBRARY, kind


def _saw_less(record: Accounts) -> bool:
    """Whether a judge saw less than the whole of a text that its question is about."""
    accounts = record.reasoning.values()
    steps = (step.unseen for account in accounts for part in account.parts for step in part.steps)
    lists = (assessment.left_out for assessment in record.assessments.values())
    answers = [one.unseen for one in record.rubrics.values()] + [one.unseen for one in record.checklists.values()]
    return any(account.unseen for account in accounts) or any(steps) or any(lists) or any(answers)


def _votes(record: Accounts) -> Iterator[Vote]:
    """Yield every vote of the accounts once."""
    for account in record.reasoning.values():
        for part in account.parts:
            for step in part.steps:
                yield from (*step.kinds, *step.verdicts, *step.opinions)
            for reference in part.reference or ():
                yield from reference.votes
        for whole in account.whole:
            last = _reference_of(account, whole.part)
            for place, reference in enumerate(whole.reference or ()):
                if place >= len(last) or last[place] != reference:  # the answering reply counts the others
                    yield from reference.votes
        yield from (Vote(one.judge, one.said, one.reason) for one in account.controls)
    if record.outcome:
        for outcome in (record.outcome, *record.outcome.further):
            yield from outcome.votes
    for rubric in record.rubrics.values():
        for criterion in rubric.criteria:
            yield from criterion.votes
    for checklist in record.checklists.values():
        for turn in checklist.turns:
            yield from (Vote(one.judge, one.score, one.reason) for one in turn.markings)
    for assessment in record.assessments.values():
        for pair in assessment.pairs:
            yield from pair.votes
        for sought in (*assessment.asked_sought, *assessment.recorded_sought):
            yield from sought.votes


def _reference_of(account: Account, part: Part) -> tuple[ReferenceAccount, ...]:
    """Return the reference as judged in the reply with the answer."""
    return next((one.reference for one in account.parts if one.part == part and one.stage == "conclusion"), None) or ()


class EpisodeScores(msgspec.Struct, frozen=True, kw_only=True):
    """The scores of one episode, with the fields by which episodes are grouped.

    `cause` is None while the episode is open. The table of episodes shows `answer` and `truth`, unless the case is
    `restricted`. `group` is the disease, for macro averages; empty if the case has none. `body_systems`, `disorders`
    and `rare` (None if unknown) are the strata of tables. `unread` counts the doctor's unusable replies by their shape
    (scenarios/parsers/moves.py).
    """

    episode: str
    case: str
    repeat: int = 0
    group: str = ""
    cause: str | None
    reason: str = ""
    scores: Sequence[Score] = ()
    answer: str = ""
    truth: str = ""
    restricted: bool = False
    body_systems: tuple[str, ...] = ()
    disorders: tuple[str, ...] = ()
    rare: bool | None = None
    unread: Mapping[str, int] = {}

    def score(self, name: str) -> Score:
        """Return the score of that name; if there is none, None with the reason `not_scored`."""
        for score in self.scores:
            if score.name == name:
                return score
        return Score(name, None, "not_scored")


class Scoring(msgspec.Struct, frozen=True, kw_only=True):
    """One of the scorings of a run, by its `name` (docs/scores.md): the evaluator and the version of its rules.

    If judges took part, it has their SPECs, the search, a digest of the prompts, and the `run` that records their
    questions. `episodes` were scored. `shown`: reports use its scores. `other_rules` counts the closed episodes that
    only rules of another version scored; if there are any, there is no figure over the run.
    """

    name: str
    evaluator: str
    version: str
    run: str = ""
    judges: tuple[str, ...] = ()
    search: str = ""
    prompts: str = ""
    episodes: int = 0
    shown: bool = False
    other_rules: int = 0
    newest: str = ""
    """The version of the rules in this version of Wardround, if known."""


class RunScores(msgspec.Struct, frozen=True, kw_only=True):
    """A scored run: its name, its header (JSON object), its episodes.

    `scoring` says how it was scored if the header does not: `judge` (its SPEC, or several), `search` (its name).
    `judges` maps each judge's seat to its SPEC and model; `floor` says that a lexical stand-in is among them.
    `searches` maps each evaluator with a search to the search's name and the size of its corpus, None if it has no
    corpus or the size is unknown. `evaluated` describes each stored evaluation. `scorings` are all scorings of the
    run; reports use those that are `shown`. `broken` are the episodes of the latest scoring in which an evaluator
    failed. `damaged` maps each episode whose record or case is no longer complete in the store to the damage; its
    scores are None.
    """

    name: str
    header: Mapping[str, Json]
    episodes: Sequence[EpisodeScores]
    scoring: Mapping[str, Json] = {}
    judges: Mapping[str, tuple[str, str]] = {}
    floor: bool = False
    searches: Mapping[str, tuple[str, int | None]] = {}
    evaluated: Sequence[EvaluatorCoverage] = ()
    scorings: Sequence[Scoring] = ()
    broken: Sequence[str] = ()
    damaged: Mapping[str, str] = {}

    @property
    def answer_judges(self) -> list[str]:
        """Return the SPECs of the judges, with the verdict on those that failed the controls; empty if none judged."""
        return [
            f"{spec} (unfit: it failed its controls)" if spec != "lexical" and spec in self.unfit_judges else spec
            for spec in dict.fromkeys(spec for spec, _ in self.judges.values())
        ]

    @property
    def unfit_judges(self) -> list[str]:
        """Return the SPECs of the judges that failed the controls of an evaluator, whatever else they judged."""
        return [
            judge[0]
            for of in self.evaluated
            for one in of.controls
            if one.fit is False
            and (judge := self.judges.get(f"{one.judge} of {of.evaluator}") or self.judges.get(one.judge))
        ]

    @property
    def judged(self) -> bool:
        """Whether a judge took part: it leaves the lexical verdict beside its own."""
        return any(score.name == "lexical_match" for row in self.episodes for score in row.scores)
