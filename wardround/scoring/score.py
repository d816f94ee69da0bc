"""Scoring of a stored run: score each closed episode by the standard metrics, other evaluators or the user's own."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import TypedDict, Unpack, cast

import msgspec

from wardround.engine.batch import Progress, first_error, rare_collection, run_batch
from wardround.engine.episode import TIMEOUT, Ended, boundary
from wardround.engine.errors import CaseLost, EgressError, LogError, UsageError
from wardround.engine.limits import SeatUse
from wardround.engine.logs import log
from wardround.engine.misbehaviour import OwnTime, contain_plugin, error_text, raised_by_plugin
from wardround.engine.once import together
from wardround.engine.plugins import import_path, installed_plugins, load_plugin, plugin_names
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, EpisodeRow, Json, Score
from wardround.engine.text import in_number
from wardround.evaluators.evaluation import (
    answers,
    check_evaluators,
    checked,
    class_path,
    is_broken,
    is_own,
    needs_of,
    scores_of,
    unread_shapes,
)
from wardround.evaluators.metrics.question_answer import QuestionAnswer
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.agreement import SideBySide, side_by_side
from wardround.evaluators.report.score_rows import AccountTally, EpisodeScores, RunScores
from wardround.evaluators.report.summary import MIXED
from wardround.runs.pilot import Pilot
from wardround.runs.runner import Runner
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.source import Playable
from wardround.scenarios.question_item import QuestionItem, in_words
from wardround.scoring.evaluation_run import EvaluationRun
from wardround.scoring.judges import LEXICAL, JudgeConfig, is_floor, seats_of
from wardround.scoring.scorings import (
    StoredScoring,
    all_scorings,
    chosen_scores,
    clear_scores,
    find_scoring,
    judged_keys,
    key_of,
    names_of_others,
    only_by_other_rules,
    select,
    version_of,
)
from wardround.scoring.stored_scores import (
    DAMAGED,
    StoredScores,
    judges_of,
    log_failures,
    scores_by_name,
    searches_of,
)

EVALUATORS = "wardround.evaluators"
CONCURRENCY = 32
"""Episodes scored at once."""
LONGEST = 600.0
"""Seconds that an evaluator without a judge may take for one episode."""


def evaluator_of(spec: str, **tables: str) -> Evaluator:
    """The evaluator with this short name or `package.module:Class`; `tables` are the arguments that it is made with.

    Raises UsageError if there is no such evaluator or it cannot be made.
    """
    kind: Callable[..., object] = import_path(spec) if ":" in spec else load_plugin(EVALUATORS, spec)
    try:
        made = kind(**tables)
    except BaseException as error:
        if isinstance(error, UsageError) or not raised_by_plugin(error):
            raise
        why = error if isinstance(error, TypeError) else error_text(error)
        raise UsageError(f"{spec!r} cannot be made into an evaluator: {why}") from error
    if not hasattr(made, "score") or not getattr(made, "name", ""):  # a user's class, not checked before
        raise UsageError(f"{spec!r} is not an evaluator: it needs a name and score(case, trajectory, seat)")
    return cast(Evaluator, made)


async def stored_evaluator(run: Run) -> Evaluator:
    """The evaluator of a stored evaluation, made again from its header."""
    header = run.evaluation()
    tables = {name: (await run.store.get(digest)).decode() for name, digest in header.tables.items()}
    return evaluator_of(header.scenario.path, **tables)


async def join_evaluation(
    run: Run, share: tuple[int, int] = (1, 1), concurrency: int | None = None, progress: Progress | None = None
) -> None:
    """Judge the open episodes of an evaluation that another process began; `share` is as in `api.join`."""
    async with aclosing(await JudgeConfig.stored(run, share)) as config:
        work = EvaluationRun(await Run.open(run.store, run.evaluated), await stored_evaluator(run), config)
        await work.join(run)
        await Runner(work, progress, concurrency or CONCURRENCY).play()


class ScoreOptions(TypedDict, total=False):
    """More arguments of `score_run`. `concurrency` is the number of episodes scored at once; the rest is for judges.

    `budget` has caps as in docs/cli.md. `follow` waits for episodes that are still being played. `retry` names causes:
    only verdicts that ended by one of them are repeated (default: every failed verdict). `pilot` is a number of
    episodes to judge first; the rest is judged only if the forecast stays within the budget. `pilots` is filled with
    the forecasts, by the name of the evaluation. `called` is the name of the evaluation that must be resumed.
    `elsewhere` is called with the name of a new evaluation and lets other processes judge it.
    """

    budget: Sequence[str]
    concurrency: int
    follow: bool
    retry: Sequence[str]
    pilot: int
    pilots: dict[str, Pilot]
    called: str
    elsewhere: Callable[[str], Awaitable[None]] | None


def _fitting_evaluator(run: Run, evaluator: Evaluator) -> Evaluator:
    """The evaluator if it scores what the run plays; in place of the standard metrics, those of questions.

    Raises UsageError if it scores patients' cases and the run plays questions, or the reverse.
    """
    if isinstance(evaluator, Standard) and run.of_questions:
        return QuestionAnswer()
    items = needs_of(evaluator).items
    patients = Case in items
    if (patients and run.of_patients) or (items != (Case,) and not run.of_patients):
        return evaluator
    scored, played = ("patients' cases", "questions") if patients else ("questions", "patients' cases")
    raise UsageError(f"{evaluator.name} scores {scored}, and run {run.name} plays {played}")


async def score_run(
    run: Run,
    evaluators: Sequence[Evaluator] = (),
    *,
    judge: JudgeConfig | SeatConfig | Sequence[JudgeConfig] | None = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreOptions],
) -> RunScores:
    """Score every closed episode by `evaluators` (default: the standard metrics); returns all scores of the run.

    ::

        scores = await score_run(await Run.open(open_store("study.db"), "calm-heron-417"), [evaluator_of("standard")])

    The calls to judges are stored as a run of its own, `RUN~EVALUATOR`, so that an interrupted scoring can be resumed
    and each verdict can be read. If a judge cannot be reached, the score is None with the reason. `judge` may be one
    configuration for each evaluator. Raises UsageError or EgressError before the first evaluator begins.
    """
    run.check_scorable()
    with rare_collection():  # before and after the episodes, thousands of verdicts are read
        return await _score_run(run, evaluators, judge, progress or Progress(), options)


async def _score_run(
    run: Run,
    evaluators: Sequence[Evaluator],
    judge: JudgeConfig | SeatConfig | Sequence[JudgeConfig] | None,
    progress: Progress,
    options: ScoreOptions,
) -> RunScores:
    wanted = [_fitting_evaluator(run, evaluator) for evaluator in evaluators or [Standard()]]
    check_evaluators(wanted, installed_plugins(EVALUATORS))
    if run.restricted and (mine := [one for one in wanted if is_own(one)]):
        raise EgressError.to_plugin(
            f"{run.restricted} of the cases of run {run.name} {in_number(run.restricted, 'is')}", class_path(mine[0])
        )
    broken: set[str] = set()
    damaged: dict[str, str] = {}
    if judge is None:
        concurrency = options.get("concurrency", CONCURRENCY)
        for evaluator in wanted:
            endings, unread = await _score_unjudged(run, evaluator, progress, concurrency)
            log_failures(run.name, evaluator, endings)
            broken |= {episode for episode, ending in endings.items() if is_broken(ending)}
            damaged |= unread
    else:
        follow, retry = options.get("follow", False), options.get("retry", ())
        pairs = zip(wanted, _each(judge, len(wanted)), strict=True)
        works = [EvaluationRun(run, evaluator, config, follow, retry) for evaluator, config in pairs]
        for work in works:
            await work.check()
        for work in works:
            if await work.begin(progress, options.get("budget", ()), options.get("called", "")):
                await _judge_open(work, progress, options)
            broken |= {episode for episode, ending in (await work.failed()).items() if is_broken(ending)}
            damaged |= work.damaged
    scores = await scored(run)
    return msgspec.structs.replace(scores, broken=tuple(sorted(broken)), damaged={**scores.damaged, **damaged})


def _each(judge: JudgeConfig | SeatConfig | Sequence[JudgeConfig], count: int) -> Sequence[JudgeConfig]:
    """One configuration for each of `count` evaluators."""
    if isinstance(judge, SeatConfig):
        judge = JudgeConfig(seats_of([judge]))
    return [judge] * count if isinstance(judge, JudgeConfig) else judge


async def _judge_open(work: EvaluationRun, progress: Progress, options: ScoreOptions) -> None:
    """Judge the open episodes, in this process or in others."""
    if elsewhere := options.get("elsewhere"):
        await elsewhere(work.run.name)
    else:
        runner = Runner(work, progress, options.get("concurrency", CONCURRENCY))
        pilot = await runner.play(options.get("pilot", 0))
        if pilot is not None:
            options.get("pilots", {})[work.run.name] = pilot
    log_failures(work.judged.name, work.evaluator, await work.failed())


async def _score_unjudged(
    run: Run, evaluator: Evaluator, progress: Progress, concurrency: int
) -> tuple[dict[str, Ending], dict[str, str]]:
    """Score all closed episodes without a judge and store the scores.

    Returns the endings of the episodes in which the evaluator failed, and the errors of the damaged episodes, both by
    episode. An exception of the evaluator, or a result that is not a score, is stored as the reason of a missing score;
    only a UsageError is raised.
    """
    others, key = await names_of_others(run, evaluator), key_of(evaluator.name, version_of(evaluator))
    # done first, so that an interrupted scoring does not mix scores of judges with its own
    await clear_scores(run, judged_keys(await all_scorings(run.store, run.name), evaluator))
    progress.begin({"open": sum(count for cause, count in (await run.endings()).items() if cause != "open")})
    failed, damaged = dict[str, Ending](), dict[str, str]()

    async def score(row: EpisodeRow) -> Ending:
        ending = Ending("completed")
        try:
            case, trajectory = await run.item(row.case), await run.trajectory(row)
        except (LogError, CaseLost) as error:
            log.error("a damaged episode is skipped", run=run.name, episode=row.id, error=str(error))
            damaged[row.id] = str(error)
            await run.store.put_scores(run.name, row.id, key, [Score(evaluator.name, None, DAMAGED)])
            return ending
        own = OwnTime(LONGEST, SeatUse(), lambda: {"episode": row.id, "evaluator": class_path(evaluator)})
        try:
            with contain_plugin(), boundary("evaluator"), own:
                scores = checked(evaluator, await evaluator.score(case, trajectory, None), others).scores
            if own.over:
                raise Ended(Ending("evaluator", TIMEOUT, f"it took more than {LONGEST:g} s to score"))
        except Ended as ended:
            if isinstance(ended.__cause__, UsageError):
                raise ended.__cause__ from None
            ending = failed[row.id] = ended.ending
            scores = scores_of(evaluator.name, ending)
        finally:
            own.end()
        await run.store.put_scores(run.name, row.id, key, scores)
        return ending

    await run_batch(_closed_rows(run), score, concurrency=concurrency, progress=progress)
    return failed, damaged


async def _closed_rows(run: Run) -> AsyncIterator[EpisodeRow]:
    async for row in run.store.episodes(run.name):
        if row.cause is not None:
            yield row


async def scored(run: Run, scorings: Sequence[str] = ()) -> RunScores:
    """All scores of a run, episode by episode; each evaluator's scores come from one scoring (scorings.py).

    `scorings` names scorings to show instead of the newest ones. If an evaluator scored some episodes by one version of
    its rules and some by another, its scores are None with the reason `mixed_rules`. Raises UsageError for an unknown
    scoring, and for a run that cannot be scored.
    """
    run.check_scorable()
    every = await all_scorings(run.store, run.name)
    shown = await select(run.store, every, scorings)
    judging = {one.evaluator: one.judged for one in every if one.judged and one is shown[one.evaluator]}
    tallies = {evaluator: AccountTally(evaluator) for evaluator in judging}
    kept: list[StoredScores] = []
    async with aclosing(chosen_scores(run, shown)) as stored:
        async for one in stored:
            kept.append(replace(one, account=None))  # accounts of a large run fill memory
            if one.judged:
                tallies[one.evaluator].add(one.episode, one.account)
    episodes = await run.episodes()
    closed = [row.id for row in episodes if row.cause is not None]
    lacking = await _by_other_rules(run, every, shown, closed, scorings)
    by_episode = scores_by_name(
        _without_mixed(kept, closed, [name for name, count in lacking.items() if count]), plugin_names(EVALUATORS)
    )
    rows, damaged = await _episodes(run, episodes, by_episode)
    judges, searches = judges_of(judging.values()), searches_of(judging)
    scoring: dict[str, Json] = {"judge": ", ".join(dict.fromkeys(spec for spec, _ in judges.values())) or LEXICAL}
    if searches:
        scoring["search"] = ", ".join(dict.fromkeys(name for name, _ in searches.values()))
    return RunScores(
        name=run.name,
        header=run.json,
        episodes=rows,
        scoring=scoring,
        judges=judges,
        floor=any(is_floor(spec) for spec, _ in judges.values()),
        searches=searches,
        evaluated=[tally.evaluated(closed) for tally in tallies.values()],
        scorings=[
            one.described(
                shown=one is shown[one.evaluator],
                other_rules=lacking.get(one.evaluator, 0) if one is shown[one.evaluator] else 0,
                newest=_newest(one.evaluator),
            )
            for one in every
        ],
        damaged=damaged,
    )


async def _by_other_rules(
    run: Run,
    every: Sequence[StoredScoring],
    shown: Mapping[str, StoredScoring],
    closed: Sequence[str],
    scorings: Sequence[str],
) -> dict[str, int]:
    """How many closed episodes only another version of the rules has scored, by evaluator.

    The evaluators whose scoring the user named in `scorings` are left out.
    """
    wanted = {find_scoring(every, name).evaluator for name in scorings}
    return {
        evaluator: await only_by_other_rules(run, every, one, closed)
        for evaluator, one in shown.items()
        if evaluator not in wanted
    }


async def _episodes(
    run: Run, episodes: Sequence[EpisodeRow], by_episode: Mapping[str, Mapping[str, Score]]
) -> tuple[list[EpisodeScores], dict[str, str]]:
    """The episodes with their scores, and the errors of those whose record or case is damaged."""
    rows, damaged = list[EpisodeScores](), dict[str, str]()

    async def read(row: EpisodeRow) -> EpisodeScores:
        scores = tuple(by_episode.get(row.id, {}).values())
        try:
            return await _row(run, row, scores)
        except (LogError, CaseLost) as error:
            damaged[row.id] = str(error)
            return _damaged_scores(row, scores)

    for start in range(0, len(episodes), CONCURRENCY):  # at once, so that the store reads them together
        page = episodes[start : start + CONCURRENCY]
        await run.read_ahead(page)
        try:
            rows += await together([partial(read, row) for row in page])
        except BaseExceptionGroup as errors:
            raise first_error(errors) from errors
    return rows, {row.id: damaged[row.id] for row in episodes if row.id in damaged}


def _without_mixed(kept: Sequence[StoredScores], closed: Sequence[str], mixed: Sequence[str]) -> list[StoredScores]:
    """The scores; for each evaluator in `mixed`, each of its scores is None in every closed episode."""
    names: dict[str, dict[str, None]] = {evaluator: {} for evaluator in mixed}
    for one in kept:
        if one.evaluator in names:
            names[one.evaluator].update((score.name, None) for score in one.scores)
    none = {evaluator: [Score(name, None, MIXED) for name in score_names] for evaluator, score_names in names.items()}
    rest = [one for one in kept if one.evaluator not in none]
    return [*rest, *(StoredScores(episode, by, scores) for by, scores in none.items() for episode in closed)]


def _newest(evaluator: str) -> str:
    """The version of an installed evaluator's rules; "" if it is not installed or cannot be loaded."""
    if evaluator not in plugin_names(EVALUATORS):
        return ""
    try:
        return version_of(load_plugin(EVALUATORS, evaluator))
    except UsageError:
        return ""


def _damaged_scores(row: EpisodeRow, scores: Sequence[Score]) -> EpisodeScores:
    """An episode whose record or case is damaged: its scores are None and its texts are not shown."""
    return EpisodeScores(
        episode=row.id,
        case=row.case,
        repeat=row.repeat,
        cause=row.cause,
        reason=row.reason,
        scores=tuple(Score(score.name, None, DAMAGED) for score in scores),
        restricted=True,
    )


def _truth(case: Playable, goal: str) -> str:
    """What the answer is compared with, as a text."""
    if isinstance(case, QuestionItem):
        return in_words(case, case.truth.option, case.truth.holds) or "; ".join(case.truth.answers)
    return case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment


async def _row(run: Run, row: EpisodeRow, scores: Sequence[Score]) -> EpisodeScores:
    case, goal = await run.item(row.case), run.played("it is not scored").scenario.goal
    ending = await run.ending(row)
    return EpisodeScores(
        episode=row.id,
        case=row.case,
        repeat=row.repeat,
        group=case.group,
        cause=row.cause,
        reason=row.reason,
        scores=scores,
        answer=answers(ending).get(goal, ""),
        truth=_truth(case, goal),
        restricted=case.data_class == "restricted",
        body_systems=case.category.body_systems,
        disorders=case.category.disorders,
        rare=case.category.rare,
        unread=unread_shapes([ending]),
    )


async def compare_scorings(run: Run, first: str, second: str) -> SideBySide:
    """Compare two scorings of a run: their agreement on each score, and the episodes in which they differ.

    `first` and `second` are names from `scored(run).scorings`. Raises UsageError for an unknown name, for the same
    scoring twice, and for two scorings without a score in common.
    """
    every = await all_scorings(run.store, run.name)
    pair = [find_scoring(every, name) for name in (first, second)]
    if pair[0] is pair[1]:
        raise UsageError(f"{first!r} and {second!r} are one scoring: name two")
    comparison = side_by_side(pair[0].name, pair[1].name, *[await _scores_of(run, one) for one in pair])
    if not comparison.scores:
        raise UsageError(f"the scorings {pair[0].name} and {pair[1].name} have no score in common")
    return comparison


async def _scores_of(run: Run, one: StoredScoring) -> dict[str, dict[str, Score]]:
    async with aclosing(chosen_scores(run, {one.evaluator: one})) as stored:
        kept = [replace(each, account=None) async for each in stored]
    return scores_by_name(kept, plugin_names(EVALUATORS))
