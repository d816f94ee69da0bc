"""The evaluation of a run by one evaluator: a run of its own, RUN~EVALUATOR, that keeps every call to the judges.

A second scoring resumes an interrupted evaluation, repeats the calls that failed, and makes no call if every episode is
judged.
"""

import os
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from wardround.engine.batch import Progress
from wardround.engine.episode import EpisodeSetup
from wardround.engine.errors import CaseLost, EgressError, LogError, RunStopped, UsageError
from wardround.engine.events import Acted, Called, Closed, Event, Opened, effective
from wardround.engine.limits import Limits
from wardround.engine.logs import log
from wardround.engine.models.reach import Gates
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, EpisodeRow
from wardround.engine.seat import seed_of
from wardround.engine.sessions import Session
from wardround.engine.text import count_noun, in_number
from wardround.engine.trajectory import EpisodeLog
from wardround.evaluators.evaluation import SEAT, Evaluation, EvaluationInput, needs_of, scores_of
from wardround.evaluators.judges.panel import KnowsQuestions
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.header import VERSION, EvaluationHeader, EvaluatorHeader, evaluations, utc_now
from wardround.runs.runner import check_causes
from wardround.runs.seats import check_hosts
from wardround.runs.settings import new_budget
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import closing_gates, follow_closed, prepare, take_open, this_machine
from wardround.scoring.judges import JudgeConfig, JudgeSession, Trial, judge_kind
from wardround.scoring.scorings import (
    all_scorings,
    clear_scores,
    judged_keys,
    names_of_others,
    under_bare_name,
    version_of,
)
from wardround.scoring.stored_scores import fingerprint, fingerprints, readable_ending

PLAYED_ON = "played on"
"""Why a verdict is outdated: its episode was continued after it was judged."""


def unanswerable(spec: str, questions: Sequence[str]) -> list[str]:
    """The names among `questions` that the judge `spec` cannot answer; only a judge without a model may have such."""
    kind = judge_kind(spec)
    return [name for name in questions if not kind.knows(name)] if isinstance(kind, KnowsQuestions) else []


@dataclass(slots=True)
class EvaluationRun:
    """Judges the episodes of a run by one evaluator.

    `judged` is the run whose episodes are judged. With `follow` the evaluation waits for episodes that are still being
    played. `retry` names causes: only verdicts that ended by one of them are repeated; if it is empty, every failed
    verdict is. `damaged` maps each episode that could not be read to the error.
    """

    judged: Run
    evaluator: Evaluator
    judges: JudgeConfig
    follow: bool = False
    retry: Sequence[str] = ()
    damaged: dict[str, str] = field(default_factory=dict)
    _run: Run | None = None
    _session: JudgeSession | None = None
    _others: Mapping[str, str] = field(default_factory=dict)
    _controls: str = ""

    @property
    def run(self) -> Run:
        """The run that stores the evaluation; only after `begin` or `join`."""
        assert self._run is not None, "begin it first"
        return self._run

    @property
    def specs(self) -> Mapping[str, str]:
        """SPEC by seat."""
        return {seat: part.spec for seat, part in self.judges.parts.items()}

    @property
    def gates(self) -> Sequence[Gates]:
        """The gates of the judges' endpoints, each once."""
        return list({id(part.gates): part.gates for part in self.judges.parts.values() if part.gates}.values())

    @property
    def one_at_a_time(self) -> bool:
        """False: many episodes are judged at once."""
        return False

    async def check(self) -> None:
        """Check the settings before anything is judged.

        Raises UsageError for a missing search, a judge that cannot answer or an unknown cause, and EgressError if
        restricted cases would be sent to a host that is not allowed. If every episode is judged already, nothing is
        sent, so EgressError is not raised.
        """
        check_causes(self.retry, [SEAT])
        knows = self.judges.knowledge == "judge" and needs_of(self.evaluator).knowledge
        if needs_of(self.evaluator).search and self.judges.search is None and not knows:
            raise UsageError(f"the evaluator {self.evaluator.name} looks things up: give the judges a search")
        for spec in self.specs.values():
            if unanswerable(spec, needs_of(self.evaluator).questions):
                raise UsageError(
                    f"the evaluator {self.evaluator.name} asks what the judge {spec} cannot answer, since it only "
                    "compares words: name a model, for instance --judge openai/gpt-4o"
                )
        try:
            self._check_egress()
        except EgressError:
            await self._find()
            if await self._has_work() or await self._has_stale():
                raise

    async def begin(self, progress: Progress, budget: Sequence[str] = (), called: str = "") -> bool:
        """Create the evaluation or join it, and reopen the episodes to be judged again.

        Returns whether any episode is to be judged; if none is, no endpoint is called. `called` is the name that the
        evaluation must have, if any. Before anything is stored it raises what `check` raises, and UsageError for a
        budget that cannot be read, a judge that does not answer, and an evaluation with another name than `called`.
        """
        store, judges = self.judged.store, self.judges
        await self.check()
        caps = new_budget(budget, self.specs, ()) if budget else None
        header = await self._find()
        begun = self._run
        if called and (begun is None or begun.name != called):
            raise UsageError(f"{called} was judged in another way (its judges, prompts, search or rules): {_AGAIN}")
        if begun and under_bare_name(every := await all_scorings(store, self.judged.name), self.evaluator):
            await clear_scores(
                self.judged, [one for one in judged_keys(every, self.evaluator) if one == self.evaluator.name]
            )
        stale = await self._restore() if begun else []
        if not stale and not await self._has_work():
            if begun:
                session = await store.begin(begun.name, host=this_machine(), pid=os.getpid())
                await session.end()  # an empty session records when the evaluation was last asked for
            return False
        try:
            with closing_gates(self.gates, progress), progress.unless_draining():
                tried = await judges.trial()
        except RunStopped as stopped:
            progress.drain(str(stopped))
            return False
        await self._use(await self._create(header, tried), others=True)
        await prepare(self.run, budget=caps)
        await self.run.store.reopen(self.run.name, stale)
        return True

    async def join(self, run: Run) -> None:
        """Work on an evaluation that another process began; raises UsageError if its judging differs from this one."""
        if not run.evaluation().same_judging(await self._header()):
            raise UsageError(f"{run.name} was judged in another way (its judges, prompts, search or rules): {_AGAIN}")
        self.judges.check_keys()
        await self._use(run, others=True)

    @classmethod
    async def recorded(cls, run: Run, evaluator: Evaluator) -> "EvaluationRun":
        """A stored evaluation, to be replayed: its judges answer from its record only."""
        made = cls(await Run.open(run.store, run.evaluation().evaluates), evaluator, await JudgeConfig.recorded(run))
        await made._use(run, others=False)
        return made

    async def failed(self) -> dict[str, Ending]:
        """The endings of the episodes that could not be judged, by episode."""
        failed: dict[str, Ending] = {}
        endings = await self.run.endings() if self._run else {}
        if causes := [cause for cause in endings if cause not in ("open", "completed")]:
            async for row in self.run.store.episodes(self.run.name, causes=causes):
                if (ending := await readable_ending(self.run, row)) is not None:
                    failed[row.id] = ending
        return failed

    # the methods of `Work`, which the runner calls

    def rows(
        self, session: Session, progress: Progress, concurrency: int, among: Sequence[str]
    ) -> AsyncIterator[EpisodeRow]:
        """The episodes to judge; with `follow`, each as soon as it closes."""
        if self.follow:
            return follow_closed(self.judged, session, progress, concurrency)
        return take_open(self.judged, session, progress, concurrency, among)

    async def waiting(self) -> list[str]:
        """The closed episodes that are not judged yet."""
        return [name async for name in self._waiting()]

    async def subject(self, row: EpisodeRow) -> EvaluationInput | None:
        """The input of the evaluator for one episode; None while that is still being played."""
        judged = self.judged
        played = await judged.store.episode(judged.name, row.id)
        if played is None or played.cause is None:
            return None
        case, trajectory = await judged.item(row.case), await judged.trajectory(played)
        controls_seed = seed_of(judged.header.seed, "controls") if row.id == self._controls else None
        return EvaluationInput(case, trajectory, played.events, self._others, controls_seed)

    def setup(self, row: EpisodeRow, subject: EvaluationInput, episode: EpisodeLog) -> EpisodeSetup:
        """The setup of one judging: the evaluator with its judges."""
        assert self._session is not None
        cast = self._session.caster(self.evaluator, subject, row.id, self._seed(subject))
        rules = Evaluation(self.evaluator.name)
        return EpisodeSetup(rules, subject, cast, episode, limits=Limits(actions=None, act_calls=None), trusted=(SEAT,))

    def first_event(self, row: EpisodeRow, subject: EvaluationInput) -> Opened:
        """The first event, with the seed of the verdict."""
        case_hash = subject.trajectory.opened.case_hash
        return Opened(0, time.time(), row.id, row.case, case_hash, self.evaluator.name, self._seed(subject), row.repeat)

    def _seed(self, subject: EvaluationInput) -> int:
        return seed_of(subject.trajectory.opened.seed, self.evaluator.name)

    def keep(self, events: Sequence[Event], subject: EvaluationInput) -> int:
        """The number of the last event before the verdict; 0 if the episode was continued since it was judged."""
        closed = events[-1]
        assert isinstance(closed, Closed)
        return _before_verdict(events) if _is_unchanged(closed.ending, subject.events) else 0

    def check_unchanged(self, row: EpisodeRow, events: Sequence[Event], subject: EvaluationInput) -> None:
        """Raise UsageError if the episode was continued since it was judged."""
        acted = [event.action for event in effective(events) if isinstance(event, Acted)]
        count = acted[-1].args.get("events") if acted else None
        if count is not None and count != subject.events:
            raise UsageError(
                f"{row.id} of run {self.judged.name} has {count_noun(subject.events, 'event')} and had {count} when it "
                "was judged: it was played on; score it again"
            )

    async def ended(self, row: EpisodeRow, ending: Ending) -> None:
        """Store the scores with the episode; a failed evaluation stores only the reason."""
        await self._store_scores(row.id, ending)

    def skipped(self, row: EpisodeRow, error: Exception) -> None:
        """Add an episode whose record or case is damaged to `damaged`."""
        if isinstance(error, LogError | CaseLost):
            self.damaged[row.id] = str(error)

    # the run that stores the evaluation

    async def _find(self) -> EvaluationHeader:
        """The header of this evaluation; sets `run` if the evaluation was begun before."""
        header = await self._header()
        name, kept = await self._name(header)
        self._run = Run(self.judged.store, name, kept) if kept else None
        return header

    async def _header(self) -> EvaluationHeader:
        """The header: what identifies this evaluation, and what is needed to resume and to replay it.

        If the evaluator was made from texts of the user (such as a price list), `tables` maps the name of each argument
        to the digest of its text.
        """
        run, evaluator, judges = self.judged, self.evaluator, self.judges
        texts, tables = judges.prompts.texts(), needs_of(evaluator).tables
        mine = {name: text for name, text in texts.items() if name.startswith("judge/")}
        digests = await run.store.put([text.encode() for text in (*mine.values(), *tables.values())])
        kind = type(evaluator)
        return EvaluationHeader(
            version=VERSION,
            evaluates=run.name,
            evaluator=evaluator.name,
            evaluator_version=version_of(evaluator),
            seats=judges.seats(),
            judging=judges.judging(),
            prompts=dict(zip(mine, digests, strict=False)),
            tables=dict(zip(tables, digests[len(mine) :], strict=True)),
            begun=utc_now(),
            scenario=EvaluatorHeader(name=evaluator.name, path=f"{kind.__module__}:{kind.__qualname__}"),
            cases=run.header.cases,
            seed=run.header.seed,
            settings=judges.options.to_json() if judges.options else {},
        )

    async def _name(self, header: EvaluationHeader) -> tuple[str, EvaluationHeader | None]:
        """The name of the run that stores this evaluation, and its header if it was begun already.

        An evaluation that was judged in another way keeps its name; this one then gets a number.
        """
        store, base, number = self.judged.store, f"{self.judged.name}~{header.evaluator}", 1
        taken = {other.name for other in await store.runs()}
        kept = {other.name: other.header for other in await evaluations(store, self.judged.name)}
        name = base
        while name in taken and not (name in kept and kept[name].same_judging(header)):
            number += 1
            name = f"{base}.{number}"
        return name, kept.get(name)

    async def _create(self, header: EvaluationHeader, tried: Trial) -> Run:
        """Create the run that stores the evaluation, or return it if it was begun already.

        `tried` says what the endpoints accept now. The header keeps it, and it holds for the whole evaluation. If the
        same judges have judged this run before by other rules, they are asked at the same temperature as then: cached
        answers can be used again, and the two scorings differ by their rules alone.
        """
        run = self.judged
        while True:
            name, kept = await self._name(header)
            if kept is not None:
                return Run(run.store, name, kept)
            before = [other.header for other in await evaluations(run.store, run.name)]
            zeroed = next((one.zeroed for one in reversed(before) if one.same_judges(header)), sorted(tried.zeroed))
            begun = msgspec.structs.replace(header, structured=tuple(sorted(tried.structured)), zeroed=tuple(zeroed))
            rows = [msgspec.structs.replace(row, cause=None, reason="", events=0) for row in await run.episodes()]
            try:
                await run.store.create_run(name, begun.to_json(), rows)
            except UsageError:
                if all(other.name != name for other in await run.store.runs()):
                    raise
                continue  # another process was quicker, and its evaluation may be the same as this one
            return Run(run.store, name, begun)

    async def _use(self, run: Run, *, others: bool) -> None:
        header, self._run = run.evaluation(), run
        agreed = Trial(frozenset(header.structured), frozenset(header.zeroed))
        self._session = JudgeSession(self.judges, run.store, agreed)
        self._others = await names_of_others(self.judged, self.evaluator) if others else {}
        self._controls = next((row.id for row in await run.episodes(limit=1)), "")

    # the episodes to judge

    async def _waiting(self) -> AsyncIterator[str]:
        """The closed episodes that are not judged yet."""
        judged, store = self.judged, self.judged.store
        if self._run is None:
            async for row in store.episodes(judged.name):
                if row.cause is not None:
                    yield row.id
            return
        async for row in store.episodes(self.run.name, causes=["open"]):
            played = await store.episode(judged.name, row.id)
            if played is not None and played.cause is not None:
                yield row.id

    async def _has_work(self) -> bool:
        """Whether an episode can be judged now, or, with `follow`, may close later."""
        if self.follow and "open" in await self.judged.endings():
            return True
        async for _ in self._waiting():
            return True
        return False

    def _check_egress(self) -> None:
        """Raise EgressError if restricted cases would go to a host that is not allowed, or to a judge of the user's.

        The search counts only if the evaluator uses one.
        """
        if not self.judged.restricted:
            return
        which = (
            f"{self.judged.restricted} of the cases of run {self.judged.name} {in_number(self.judged.restricted, 'is')}"
        )
        for seat, part in self.judges.parts.items():
            if part.foreign:
                raise EgressError.to_plugin(which, f"the {seat} {part.spec!r}")
        search = needs_of(self.evaluator).search
        hosts = {f"the {seat}": theirs for seat, theirs in self.judges.hosts().items() if seat != LIBRARY or search}
        check_hosts(which, hosts, self.judges.allow_hosts)

    async def _store_scores(self, episode: str, ending: Ending) -> None:
        run = self.judged
        await run.store.put_scores(run.name, episode, self.run.name, scores_of(self.evaluator.name, ending))

    async def _restore(self) -> list[str]:
        """Put the scores of an earlier scoring back into the table of scores, where other scores took their place.

        Returns the episodes to be judged again.
        """
        stale: list[str] = []
        stored = await fingerprints(self.judged.store, self.judged.name, self.run.name)
        async for name, ending, outdated in self._verdicts():
            if outdated:
                stale.append(name)
            elif stored.get(name) != fingerprint(scores_of(self.evaluator.name, ending)):
                await self._store_scores(name, ending)
        return stale

    async def _has_stale(self) -> bool:
        """Whether any episode is to be judged again."""
        return self._run is not None and any([outdated async for _, _, outdated in self._verdicts()])

    async def _verdicts(self) -> AsyncIterator[tuple[str, Ending, bool]]:
        """The verdicts of an earlier scoring: episode, ending, and whether it is to be judged again.

        A verdict is to be repeated if a call to a judge or a search failed (if `retry` names causes, by one of them
        only), or if the episode was continued since.
        """
        store = self.run.store
        async for row in store.episodes(self.run.name):
            if row.cause is None:
                continue
            played = await store.episode(self.judged.name, row.id)
            try:
                events = await self.run.events(row)
            except LogError as error:
                if row.id not in self.damaged:
                    log.error("a damaged episode is skipped", run=self.run.name, error=str(error))
                self.skipped(row, error)
                continue
            if played is None or not events or not isinstance(closed := events[-1], Closed):
                continue
            why = _reason_to_repeat(events, closed.ending, played.events)
            yield row.id, closed.ending, why == PLAYED_ON or (why != "" and (not self.retry or why in self.retry))


_AGAIN = "score the run again with these judges, or with those that it was begun with"


def _reason_to_repeat(events: Sequence[Event], ending: Ending, played: int) -> str:
    """Why an episode is to be judged again, '' if its verdict is valid.

    The reason is PLAYED_ON, the cause of an ending other than `completed`, or `provider` for an unanswered call.
    """
    if not _is_unchanged(ending, played):
        return PLAYED_ON
    if ending.cause != "completed":
        return ending.cause
    return "provider" if any(isinstance(event, Called) and event.error for event in effective(events)) else ""


def _is_unchanged(ending: Ending, events: int) -> bool:
    """Whether an episode has as many events as when it was judged."""
    return bool(ending.facts.get("events", events) == events)


def _before_verdict(events: Sequence[Event]) -> int:
    """The number of the last event before the verdict."""
    kept = effective(events)
    return min([event.seq for event in kept if isinstance(event, Acted | Closed)], default=len(events)) - 1
