"""The run that keeps what judges are asked about another run: what it says of itself, its name, its beginning."""

import msgspec

from wardround.court import Court, Trial
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Evaluator
from wardround.engine.seat import seed_of
from wardround.results import Run
from wardround.runs.header import VERSION, EvaluationHeader, EvaluatorHeader, evaluations, now
from wardround.scorings import version_of


async def header_of(run: Run, evaluator: Evaluator, court: Court) -> EvaluationHeader:
    """All that tells this judging from another, and what is needed to replay it.

    An evaluator that was made from texts of the user's (a price list) has them as `tables`, by the name of the argument
    that each was given as.
    """
    texts, tables = court.prompts.texts(), dict(getattr(evaluator, "tables", {}))
    mine = {name: text for name, text in texts.items() if name.startswith("judge/")}
    digests = await run.store.put([text.encode() for text in (*mine.values(), *tables.values())])
    kind = type(evaluator)
    return EvaluationHeader(
        version=VERSION,
        evaluates=run.name,
        evaluator=evaluator.name,
        evaluator_version=version_of(evaluator),
        seats=court.seats(),
        judging=court.judging(),
        prompts=dict(zip(mine, digests, strict=False)),
        tables=dict(zip(tables, digests[len(mine) :], strict=True)),
        begun=now(),
        scenario=EvaluatorHeader(name=evaluator.name, path=f"{kind.__module__}:{kind.__qualname__}"),
        cases=run.header.cases,
        seed=run.header.seed,
    )


async def named(run: Run, header: EvaluationHeader) -> tuple[str, EvaluationHeader | None]:
    """The name of the run that keeps this judging, and its header if it was begun already.

    What was judged in another way keeps its name.
    """
    base, number = f"{run.name}~{header.evaluator}", 1
    taken = {other.name for other in await run.store.runs()}
    kept = {other.name: other.header for other in await evaluations(run.store, run.name)}
    name = base
    while name in taken and not (name in kept and kept[name].same_judging(header)):
        number += 1
        name = f"{base}.{number}"
    return name, kept.get(name)


async def _before(run: Run, header: EvaluationHeader, zeroed: frozenset[str]) -> frozenset[str]:
    """The seats at temperature 0 in the last evaluation of the run by the same judges; `zeroed` if there is none."""
    for other in reversed(await evaluations(run.store, run.name)):
        if other.header.same_judges(header):
            return frozenset(other.header.zeroed)
    return zeroed


async def controlled_in(evaluation: Run) -> str:
    """The id of the episode in which the controls of an evaluation are posed: its first one."""
    async for row in evaluation.store.episodes(evaluation.name, limit=1):
        return row.id
    return ""


def control_seed(run: Run) -> int:
    """The seed by which the controls of an evaluation of this run are drawn."""
    return seed_of(run.header.seed, "controls")


async def laid_down(run: Run, header: EvaluationHeader, tried: Trial) -> tuple[str, Trial]:
    """Begin that run, or join it where it was begun; its name, and what its endpoints are asked for.

    `tried` is what they take now: what was found out when a judging began holds for all of it. Judges that have judged
    this run before, by other rules, are asked at the temperature they were asked at then: what they have answered is
    asked of nobody again, and the two scorings differ by their rules alone.
    """
    while True:
        name, kept = await named(run, header)
        if kept is not None:
            return name, Trial(frozenset(kept.structured), frozenset(kept.zeroed))
        tried = Trial(tried.structured, await _before(run, header, tried.zeroed))
        rows = [msgspec.structs.replace(row, cause=None, reason="", events=0) for row in await run.episodes()]
        try:
            takes = {"structured": tuple(sorted(tried.structured)), "zeroed": tuple(sorted(tried.zeroed))}
            await run.store.create_run(name, msgspec.structs.replace(header, **takes).to_json(), rows)
        except UsageError:
            if all(other.name != name for other in await run.store.runs()):
                raise
            continue  # another process was quicker: what it began may be judged in the same way
        return name, tried
