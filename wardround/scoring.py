"""Scoring a stored run: each closed episode by the house metrics, or by evaluators of the user's own."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, TypedDict, Unpack

import msgspec

from wardround.cast import Part
from wardround.court import LEXICAL, Court, seats_of
from wardround.engine.batch import run_batch
from wardround.engine.episode import Ended, boundary
from wardround.engine.errors import UsageError
from wardround.engine.plugins import imported, installed, named, names
from wardround.engine.progress import Progress
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Ending, Json
from wardround.engine.rows import EpisodeRow
from wardround.evaluators.checked import check, checked
from wardround.evaluators.evaluated import Tally
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.standard import Standard
from wardround.evaluators.standing import answers
from wardround.failing import Failures
from wardround.judged import Standing, evaluations, given, judges_of, names_of_others, searches_of, spread, standing
from wardround.judging import CONCURRENCY, Judgement
from wardround.results import Run

EVALUATORS = "wardround.evaluators"


def evaluator_of(spec: str, **tables: str) -> Evaluator:
    """An evaluator by its short name or as `package.module:Class`, made from `tables` (docket.py).

    Raises UsageError.
    """
    kind: Any = imported(spec) if ":" in spec else named(EVALUATORS, spec)
    try:
        made = kind(**tables)
    except TypeError as error:
        raise UsageError(f"{spec!r} cannot be made into an evaluator: {error}") from error
    if not hasattr(made, "score") or not getattr(made, "name", ""):
        raise UsageError(f"{spec!r} is no evaluator: it needs a name and score(case, trajectory, seat)")
    checked: Evaluator = made
    return checked


def evaluator_names() -> list[str]:
    """The short names there are."""
    return names(EVALUATORS)


class Judged(TypedDict, total=False):
    """What `score_run` takes besides: `concurrency` episodes are scored at once.

    With judges, caps as in docs/cli.md; `follow` waits for episodes still played.
    """

    budget: Sequence[str]
    concurrency: int
    follow: bool


async def score_run(
    run: Run,
    evaluators: Sequence[Evaluator] = (),
    *,
    judge: Court | Part | Sequence[Court] | None = None,
    progress: Progress | None = None,
    **judged: Unpack[Judged],
) -> RunScores:
    """Score every closed episode by `evaluators` (default: the house metrics); returns all scores of the run.

    What judges are asked is kept as a run of its own, `RUN~EVALUATOR`, so that an interrupted scoring goes on and each
    verdict can be read. A judge that cannot be reached leaves None with its reason. `judge` may be a court for each
    evaluator. What one of them is refused for is raised before the first begins.
    """
    run.check_scorable()
    progress = progress or Progress()
    chosen = evaluators or [Standard()]
    check(chosen, installed(EVALUATORS))
    broken: set[str] = set()
    if judge is None:
        concurrency = judged.get("concurrency", CONCURRENCY)
        for evaluator in chosen:
            broken |= await _unjudged(run, evaluator, progress, concurrency)
    else:
        pairs = zip(chosen, _courts(judge, len(chosen)), strict=True)
        judgements = [Judgement(run, evaluator, court, progress, **judged) for evaluator, court in pairs]
        for judgement in judgements:
            await judgement.check()
        for judgement in judgements:
            await judgement.hold()
            broken |= judgement.failures.broken
    return msgspec.structs.replace(await scored(run), broken=tuple(sorted(broken)))


def _courts(judge: Court | Part | Sequence[Court], count: int) -> Sequence[Court]:
    """A court for each of so many evaluators."""
    if isinstance(judge, Part):
        judge = Court(seats_of([judge]))
    return [judge] * count if isinstance(judge, Court) else judge


async def _unjudged(run: Run, evaluator: Evaluator, progress: Progress, concurrency: int) -> set[str]:
    """Score all closed episodes without a judge and keep the scores; the episodes in which the evaluator failed.

    What it raises in one, or gives that is no score, leaves the reason there; a UsageError is raised.
    """
    others = await names_of_others(run, evaluator)
    await _cleared(run, evaluator)
    progress.begin({"open": sum(count for cause, count in (await run.endings()).items() if cause != "open")})
    failures = Failures(run.name, evaluator)

    async def score(row: EpisodeRow) -> Ending:
        case, trajectory = await run.case(row.case), await run.trajectory(row.id)
        ending = Ending("completed")
        try:
            with boundary("evaluator"):
                told = await evaluator.score(case, trajectory, None)
                scores = checked(evaluator, told, others).scores
        except Ended as ended:
            if isinstance(ended.__cause__, UsageError):
                raise ended.__cause__ from None
            ending = ended.ending
            failures.add(row.id, ending)
            scores = given(evaluator.name, ending)
        await run.store.put_scores(run.name, row.id, evaluator.name, scores)
        return ending

    await run_batch(_closed(run), score, concurrency=concurrency, progress=progress)
    failures.say()
    return failures.broken


async def _cleared(run: Run, evaluator: Evaluator) -> None:
    """Take away what judges said, before it is said without them: a scoring that stops midway is no mixture."""
    if evaluator.name not in await evaluations(run.store, run.name):
        return

    async def clear(row: EpisodeRow) -> Ending:
        await run.store.put_scores(run.name, row.id, evaluator.name, [])
        return Ending("completed")

    await run_batch(_closed(run), clear, concurrency=CONCURRENCY, progress=Progress())


async def _closed(run: Run) -> AsyncIterator[EpisodeRow]:
    async for row in run.store.episodes(run.name):
        if row.cause is not None:
            yield row


async def scored(run: Run) -> RunScores:
    """All scores of a run, episode by episode: of each evaluator those of its last scoring alone."""
    run.check_scorable()
    judging = await evaluations(run.store, run.name)
    tallies = {evaluator: Tally(evaluator) for evaluator in judging}
    kept: list[Standing] = []
    async with aclosing(standing(run, judging)) as told:
        async for one in told:
            kept.append(replace(one, account=None))  # accounts of a large run fill memory
            if one.judged:
                tallies[one.evaluator].add(one.episode, one.account)
    found, rows = spread(kept, evaluator_names()), []
    for row in await run.episodes():
        case = await run.case(row.case)
        ending = await run.ending(row)
        goal = run.header["scenario"]["goal"]
        rows.append(
            EpisodeScores(
                episode=row.id,
                case=row.case,
                repeat=row.repeat,
                group=case.group,
                cause=row.cause,
                reason=row.reason,
                scores=tuple(found.get(row.id, {}).values()),
                answer=answers(ending).get(goal, ""),
                truth=case.truth.diagnosis if goal == "diagnosis" else case.truth.treatment,
                restricted=case.data_class == "restricted",
                body_systems=case.category.body_systems,
                disorders=case.category.disorders,
                rare=case.category.rare,
            )
        )
    closed = [row.episode for row in rows if row.cause is not None]
    judges, searches = judges_of(judging.values()), searches_of(judging)
    scoring: dict[str, Json] = {"judge": ", ".join(dict.fromkeys(spec for spec, _ in judges.values())) or LEXICAL}
    if searches:
        scoring["search"] = ", ".join(dict.fromkeys(name for name, _ in searches.values()))
    return RunScores(
        name=run.name,
        header=run.header,
        episodes=rows,
        scoring=scoring,
        judges=judges,
        floor=any(spec == LEXICAL for spec, _ in judges.values()),
        searches=searches,
        evaluated=[tally.evaluated(closed) for tally in tallies.values()],
    )
