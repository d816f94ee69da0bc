"""The scorings of a run: their names, the choice of the scoring that reports show, and the scores of each.

An evaluator may have scored a run several times: without judges, with different judges, or by different versions of its
rules. Every scoring is kept. The scores of a scoring without judges are in the table of scores under EVALUATOR@VERSION
(version 1 under the bare name, as in older stores). A scoring by judges is the run RUN~EVALUATOR, which holds their
calls. Its scores are in the table too, under the name of that run, as long as it is the scoring that counts.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from wardround.engine.batch import Progress, run_batch
from wardround.engine.errors import UsageError
from wardround.engine.events import digest_of
from wardround.engine.protocols import Evaluator, Store, Versioned
from wardround.engine.records import Ending, EpisodeRow, Score
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import is_own, scores_of
from wardround.evaluators.report.score_rows import Scoring
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.header import FIRST_RULES as FIRST
from wardround.runs.header import EvaluationRow, evaluations
from wardround.runs.stored_run import Run, StoredEpisodes
from wardround.scoring.stored_scores import StoredScores, by_episode, readable_ending, scores_of_evaluation, verdict

_AT_ONCE = 32


def version_of(evaluator: Evaluator | type[Evaluator]) -> str:
    """The version of an evaluator's rules."""
    return str(evaluator.VERSION) if isinstance(evaluator, Versioned) else FIRST


def key_of(evaluator: str, version: str) -> str:
    """The key of a scoring without judges in the table of scores."""
    return evaluator if version == FIRST else f"{evaluator}@{version}"


@dataclass(frozen=True, slots=True)
class StoredScoring:
    """A scoring in the store: its `name`, the `key` of its scores in the table, and the judges' run, if any.

    `episodes` is the number of scored episodes. `beside` says that its scores are in the table, so that it counts.
    """

    name: str
    evaluator: str
    version: str
    key: str
    episodes: int
    judged: EvaluationRow | None = None
    beside: bool = True

    def described(self, *, shown: bool, other_rules: int, newest: str) -> Scoring:
        """The scoring as reports list it."""
        row = self.judged
        header = row.header if row else None
        library = header.seats.get(LIBRARY) if header else None
        return Scoring(
            name=self.name,
            evaluator=self.evaluator,
            version=self.version,
            run=row.name if row else "",
            judges=tuple(header.specs.values()) if header else (),
            search=library.spec if library else "",
            prompts=digest_of(msgspec.json.encode(header.prompts, order="deterministic"))[:8] if header else "",
            episodes=self.episodes,
            shown=shown,
            other_rules=other_rules,
            newest=newest,
        )


async def all_scorings(store: Store, run: str) -> list[StoredScoring]:
    """All scorings of a run: first those without judges by name, then those by judges, oldest first.

    A name is EVALUATOR@VERSION, or EVALUATOR@VERSION~JUDGE+JUDGE with judges. If the same judges scored a run several
    times in different ways (other prompts, repeats or search), the later scorings are called NAME.2 and so on. Names
    never change.
    """
    counts = dict(await store.scorings(run))
    rows = await evaluations(store, run)
    copied = {name for name in counts if await _from_judges(store, run, name, rows)}
    mine = {row.name for row in rows} | copied
    scorings = [_unjudged_scoring(key, count) for key, count in counts.items() if key not in mine]
    numbers: Counter[str] = Counter()
    for row in rows:
        evaluator, version = row.header.evaluator, row.header.evaluator_version
        base = f"{evaluator}@{version}~{'+'.join(row.header.specs.values())}"
        numbers[base] += 1
        name = base if numbers[base] == 1 else f"{base}.{numbers[base]}"
        episodes = sum(count for cause, count in (await store.endings(row.name)).items() if cause != "open")
        beside = row.name in counts or (version == FIRST and evaluator in copied)
        scorings.append(StoredScoring(name, evaluator, version, row.name, episodes, row, beside))
    return scorings


def _unjudged_scoring(key: str, count: int) -> StoredScoring:
    evaluator, _, version = (key if "@" in key else f"{key}@{FIRST}").rpartition("@")
    return StoredScoring(f"{evaluator}@{version}", evaluator, version, key, count)


async def _from_judges(store: Store, run: str, key: str, rows: Sequence[EvaluationRow]) -> bool:
    """Whether the scores under an evaluator's bare name come from judges, as in stores of version 1.

    Decided by the first episode that was judged: its stored scores equal those of a verdict.
    """
    judged = [row for row in rows if (row.header.evaluator, row.header.evaluator_version) == (key, FIRST)]
    if not judged:
        return False
    async with aclosing(by_episode(store, run)) as stored:
        async for one in stored:
            if one.evaluator != key:
                continue
            verdicts = []
            for row in judged:
                there = await store.episode(row.name, one.episode)
                ending = await readable_ending(StoredEpisodes(store, row.name), there) if there else None
                if ending is not None:
                    verdicts.append(_comparable(scores_of(key, ending)))
            if verdicts:
                return _comparable(one.scores) in verdicts
    return False


def _comparable(scores: Sequence[Score]) -> list[tuple[str, float | None, str]]:
    return [(score.name, score.value, score.reason) for score in scores]


async def select(store: Store, every: Sequence[StoredScoring], names: Sequence[str] = ()) -> dict[str, StoredScoring]:
    """The scoring of each evaluator that reports show, by the evaluator's name.

    It is the latest scoring by the newest version of the rules, with judges or without. `names` selects other scorings,
    in any form that `find_scoring` accepts. Raises UsageError for a name that does not stand for exactly one scoring.
    """
    chosen: dict[str, StoredScoring] = {}
    for evaluator in dict.fromkeys(one.evaluator for one in every):
        mine = [one for one in every if one.evaluator == evaluator]
        begun = [one for one in mine if one.episodes] or mine
        newest = max(begun, key=lambda one: _version_order(one.version)).version
        mine = [one for one in mine if one.version == newest]
        plain, judged = [one for one in mine if not one.judged], [one for one in mine if one.judged]
        asked_last = any(one.beside for one in judged) or not plain
        chosen[evaluator] = await _latest(store, judged) if asked_last else plain[0]
    for name in names:
        one = find_scoring(every, name)
        chosen[one.evaluator] = one
    return chosen


def find_scoring(every: Sequence[StoredScoring], name: str) -> StoredScoring:
    """The scoring that `name` stands for.

    `name` is the scoring's name, or the name of its judges' run. If only one scoring fits, it may also be the
    evaluator, or the scoring's name without the version. Raises UsageError with the scorings that may be meant.
    """
    exact = [one for one in every if name in (one.name, one.judged and one.judged.name)]
    meant = exact or [one for one in every if name in (one.evaluator, one.name.replace(f"@{one.version}", "", 1))]
    if len(meant) == 1:
        return meant[0]
    many = f"{name!r} may be {len(meant)} scorings of this run; name one of"
    there = "".join(f"\n{one.name} ({count_noun(one.episodes, 'episode')})" for one in meant or every) or " none"
    raise UsageError(f"{many if meant else f'there is no scoring {name!r} of this run; there are'}:{there}")


def _version_order(version: str) -> tuple[bool, int, str]:
    """A sort key for versions: numbers in numeric order, then other texts in alphabetical order."""
    return (False, int(version), "") if version.isdecimal() else (True, 0, version)


async def _latest(store: Store, some: Sequence[StoredScoring]) -> StoredScoring:
    """The scoring whose latest session began last: each scoring begins one, even if it only restores stored scores."""
    if len(some) == 1:
        return some[0]
    began = []
    for one in some:
        assert one.judged is not None
        sessions = await store.sessions(one.judged.name)
        began.append(max((session.began for session in sessions), default=one.judged.created))
    return some[max(range(len(some)), key=lambda place: (began[place], place))]


async def default_scorings(store: Store, run: str) -> dict[str, StoredScoring]:
    """The scoring of each evaluator that reports show by default, by the evaluator's name."""
    return await select(store, await all_scorings(store, run))


async def chosen_scores(run: Run, chosen: Mapping[str, StoredScoring]) -> AsyncGenerator[StoredScores, None]:
    """The scores of the scorings in `chosen` only, in order of episode and evaluator.

    An episode that these judges have not judged has no scores here, even if another scoring has some.
    """
    readers = {
        evaluator: _VerdictReader(run.store, evaluator, one.judged) for evaluator, one in chosen.items() if one.judged
    }
    plain = {one.key: one.evaluator for one in chosen.values() if not one.judged}
    if not chosen:
        return
    async with aclosing(by_episode(run.store, run.name)) as scores:
        entry = await anext(scores, None)
        async for row in run.store.episodes(run.name):
            of_episode: list[StoredScores] = []
            while entry is not None and entry.episode == row.id:
                if entry.evaluator in plain:
                    of_episode.append(StoredScores(entry.episode, plain[entry.evaluator], entry.scores))
                entry = await anext(scores, None)
            for reader in readers.values():
                if (judged := await reader.at(row)) is not None:
                    of_episode.append(judged)
            for one in sorted(of_episode, key=lambda one: one.evaluator):
                yield one


class _VerdictReader:
    """Walks through the episodes of an evaluation, which have the same numbers as those of the judged run."""

    def __init__(self, store: Store, evaluator: str, row: EvaluationRow) -> None:
        self._beside, self._evaluator = StoredEpisodes(store, row.name), evaluator
        self._rows = store.episodes(row.name)
        self._next: EpisodeRow | None = None

    async def at(self, row: EpisodeRow) -> StoredScores | None:
        """The scores of an episode, None if it is not judged; the account is read from the last action."""
        while self._next is None or self._next.number < row.number:
            self._next = await anext(self._rows, None)
            if self._next is None:
                return None
        return await verdict(self._beside, self._next, self._evaluator) if self._next.id == row.id else None


async def only_by_other_rules(
    run: Run, every: Sequence[StoredScoring], one: StoredScoring, closed: Sequence[str]
) -> int:
    """How many closed episodes a scoring lacks that another version of the rules has scored.

    No figure covers both versions. Episodes that no version has scored are not counted: they are not scored yet.
    """
    others = [other for other in every if other.evaluator == one.evaluator and other.version != one.version]
    if not others or one.episodes >= len(closed):
        return 0
    mine = await _episodes(run, one)
    theirs: set[str] = set()
    for other in others:
        theirs |= await _episodes(run, other)
    return sum(episode in theirs and episode not in mine for episode in closed)


async def _episodes(run: Run, one: StoredScoring) -> set[str]:
    async with aclosing(chosen_scores(run, {one.evaluator: one})) as stored:
        return {each.episode async for each in stored}


async def score_names(run: Run) -> dict[str, str]:
    """Maps the names of the scores of a run to their evaluators."""
    whose = {one.key: one.evaluator for one in await all_scorings(run.store, run.name)}
    async with aclosing(run.store.scores(run.name)) as stored:  # type: ignore[type-var]  # every store's is a generator
        return {score.name: whose.get(key, key) async for _, key, score in stored}


async def names_of_others(run: Run, evaluator: Evaluator) -> dict[str, str]:
    """Maps the names of other evaluators' scores in a run to those evaluators.

    Empty for an evaluator of this package.
    """
    names = await score_names(run) if is_own(evaluator) else {}
    return {name: by for name, by in names.items() if by != evaluator.name}


def judged_keys(every: Sequence[StoredScoring], evaluator: Evaluator) -> list[str]:
    """The keys in the table of scores under which judges' scores by the same rules are stored."""
    name, version = evaluator.name, version_of(evaluator)
    judged = [one for one in every if one.judged and one.beside and (one.evaluator, one.version) == (name, version)]
    return [*(one.key for one in judged), *([name] if judged and under_bare_name(every, evaluator) else [])]


def under_bare_name(every: Sequence[StoredScoring], evaluator: Evaluator) -> bool:
    """Whether judges' scores may be stored under the bare name of an evaluator, as in stores of version 1."""
    return version_of(evaluator) == FIRST and all(one.key != evaluator.name for one in every)


async def clear_scores(run: Run, keys: Sequence[str]) -> None:
    """Delete the scores under `keys` from the table of scores; the judges' own runs keep their verdicts."""
    there = await run.store.scorings(run.name)
    wanted = [key for key in keys if key in there]
    if not wanted:
        return

    async def clear(row: EpisodeRow) -> Ending:
        for key in wanted:
            await run.store.put_scores(run.name, row.id, key, [])
        return Ending("completed")

    # several at once, since writes at the same time share one commit
    await run_batch(run.store.episodes(run.name), clear, concurrency=_AT_ONCE, progress=Progress())


async def run_scores(run: Run) -> AsyncGenerator[StoredScores, None]:
    """The scores that count: of an evaluation its own, of another run those of the scorings that reports show."""
    if run.evaluated:
        scores = scores_of_evaluation(run)
    else:
        scores = chosen_scores(run, await default_scorings(run.store, run.name))
    async with aclosing(scores) as stored:
        async for one in stored:
            yield one
