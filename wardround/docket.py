"""The run that keeps what judges are asked about another run: what it says of itself, its name, its beginning."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from wardround.court import Court, Trial
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Json
from wardround.engine.seat import seed_of
from wardround.evaluators.checked import needs_of
from wardround.evaluators.evidence.search import LIBRARY
from wardround.results import Run
from wardround.scorings import FIRST, version_of

_SAME = ("evaluates", "evaluator", "evaluator_version", "tables", "seats", "judging")
"""What two scorings of a run must share to be one, beside their prompts."""


async def header_of(run: Run, evaluator: Evaluator, court: Court) -> dict[str, Json]:
    """All that tells this judging from another, and what is needed to replay it.

    An evaluator that was made from texts of the user's (a price list) has them as `tables`, by the name of the argument
    that each was given as.
    """
    texts, tables = court.prompts.texts(), needs_of(evaluator).tables
    mine = {name: text for name, text in texts.items() if name.startswith("judge/")}
    digests = await run.store.put([text.encode() for text in (*mine.values(), *tables.values())])
    kind = type(evaluator)
    header: dict[str, Json] = {
        "evaluates": run.name,
        "evaluator": evaluator.name,
        **court.describe(),
        "prompts": dict(zip(mine, digests, strict=False)),
        "begun": datetime.now(UTC).isoformat(timespec="seconds"),
        "scenario": {"name": evaluator.name, "class": f"{kind.__module__}:{kind.__qualname__}"},
        "cases": run.header["cases"],
        "seed": run.header["seed"],
    }
    if (version := version_of(evaluator)) != FIRST:  # of the first version a header says nothing
        header["evaluator_version"] = version
    return header | ({"tables": dict(zip(tables, digests[len(mine) :], strict=True))} if tables else {})


async def named(run: Run, header: Mapping[str, Json]) -> tuple[str, Mapping[str, Json] | None]:
    """The name of the run that keeps this judging, and its header if it was begun already.

    What was judged in another way keeps its name.
    """
    base, number = f"{run.name}~{header['evaluator']}", 1
    kept = {other.name: other.header for other in await run.store.runs()}
    name = base
    while name in kept and not _same(kept[name], header):
        number += 1
        name = f"{base}.{number}"
    return name, kept.get(name)


def _same(kept: Mapping[str, Json], header: Mapping[str, Json]) -> bool:
    """Whether two headers tell of one way of judging; a prompt that there was not then was asked of nobody."""
    prompts = header["prompts"]
    return all(kept.get(key) == header.get(key) for key in _SAME) and all(
        prompts.get(name) == digest for name, digest in kept["prompts"].items()
    )


async def _before(run: Run, header: Mapping[str, Json], zeroed: frozenset[str]) -> frozenset[str]:
    """The seats at temperature 0 in the last evaluation of the run by the same judges; `zeroed` if there is none."""
    for row in reversed(await run.store.runs()):
        other = row.header
        if other.get("evaluates") == run.name and _judges(other) == _judges(header):
            return frozenset(other.get("zeroed", ()))
    return zeroed


def _judges(header: Mapping[str, Any]) -> tuple[Json, Json]:
    seats = {seat: told for seat, told in header["seats"].items() if seat != LIBRARY}
    return seats, header["judging"]["repeats"]


async def controlled_in(evaluation: Run) -> str:
    """The id of the episode in which the controls of an evaluation are posed: its first one."""
    async for row in evaluation.store.episodes(evaluation.name, limit=1):
        return row.id
    return ""


def control_seed(run: Run) -> int:
    """The seed by which the controls of an evaluation of this run are drawn."""
    return seed_of(int(run.header["seed"]), "controls")


async def laid_down(run: Run, header: Mapping[str, Json], tried: Trial) -> tuple[str, Trial]:
    """Begin that run, or join it where it was begun; its name, and what its endpoints are asked for.

    `tried` is what they take now: what was found out when a judging began holds for all of it. Judges that have judged
    this run before, by other rules, are asked at the temperature they were asked at then: what they have answered is
    asked of nobody again, and the two scorings differ by their rules alone.
    """
    while True:
        name, kept = await named(run, header)
        if kept is not None:
            return name, Trial(frozenset(kept["structured"]), frozenset(kept.get("zeroed", ())))
        tried = Trial(tried.structured, await _before(run, header, tried.zeroed))
        rows = [msgspec.structs.replace(row, cause=None, reason="", events=0) for row in await run.episodes()]
        try:
            found: dict[str, Json] = {"structured": sorted(tried.structured), "zeroed": sorted(tried.zeroed)}
            await run.store.create_run(name, {**header, **found}, rows)
        except UsageError:
            if all(other.name != name for other in await run.store.runs()):
                raise
            continue  # another process was quicker: what it began may be judged in the same way
        return name, tried
