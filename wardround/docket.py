"""The run that keeps what judges are asked about another run: what it says of itself, its name, its beginning."""

from collections.abc import Mapping
from datetime import UTC, datetime

import msgspec

from wardround.court import Court
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Evaluator
from wardround.engine.records import Json
from wardround.results import Run

_SAME = ("evaluates", "evaluator", "tables", "seats", "judging", "prompts")
"""What two scorings of a run must share to be one."""


async def header_of(run: Run, evaluator: Evaluator, court: Court) -> dict[str, Json]:
    """All that tells this judging from another, and what is needed to replay it.

    An evaluator that was made from texts of the user's (a price list) has them as `tables`, by the name of the argument
    that each was given as.
    """
    texts, tables = court.prompts.texts(), dict(getattr(evaluator, "tables", {}))
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
    return header | ({"tables": dict(zip(tables, digests[len(mine) :], strict=True))} if tables else {})


async def named(run: Run, header: Mapping[str, Json]) -> tuple[str, Mapping[str, Json] | None]:
    """The name of the run that keeps this judging, and its header if it was begun already.

    What was judged in another way keeps its name.
    """
    told = {key: header.get(key) for key in _SAME}
    base, number = f"{run.name}~{header['evaluator']}", 1
    kept = {other.name: other.header for other in await run.store.runs()}
    name = base
    while name in kept and {key: kept[name].get(key) for key in _SAME} != told:
        number += 1
        name = f"{base}.{number}"
    return name, kept.get(name)


async def laid_down(run: Run, header: Mapping[str, Json], takers: frozenset[str]) -> tuple[str, frozenset[str]]:
    """Begin that run, or join it where it was begun; its name, and the seats that are asked for a shape.

    `takers` are the seats whose endpoints take one now: what was found out when a judging began holds for all of it.
    """
    while True:
        name, kept = await named(run, header)
        if kept is not None:
            return name, frozenset(kept["structured"])
        rows = [msgspec.structs.replace(row, cause=None, reason="", events=0) for row in await run.episodes()]
        try:
            await run.store.create_run(name, {**header, "structured": sorted(takers)}, rows)
        except UsageError:
            if all(other.name != name for other in await run.store.runs()):
                raise
            continue  # another process was quicker: what it began may be judged in the same way
        return name, takers
