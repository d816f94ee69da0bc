"""What stored evaluations of a run hold: who judged it, and the accounts of single verdicts."""

from collections.abc import Iterable, Mapping

from wardround.engine.errors import StoreError
from wardround.engine.protocols import Store
from wardround.engine.records import Json
from wardround.engine.rows import RunRow
from wardround.evaluators.evaluation import account_of
from wardround.evaluators.evidence.ledger import Ledger
from wardround.results import Run

LIBRARY = "search"
"""The name under which searches are recorded and counted."""


async def evaluations(store: Store, name: str) -> dict[str, RunRow]:
    """The latest judges' run of each evaluator, by the evaluator's name."""
    return {str(row.header["evaluator"]): row for row in await store.runs() if row.header.get("evaluates") == name}


def judges_of(rows: Iterable[RunRow]) -> dict[str, tuple[str, str]]:
    """SPEC and model of each judge, by seat; where evaluators were judged by others, the seat says of which."""
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        for seat, told in row.header["seats"].items():
            which = (str(told["spec"]), str(told.get("model", "")))
            if seat == LIBRARY:
                continue
            free = found.get(seat, which) == which
            found[seat if free else f"{seat} of {row.header['evaluator']}"] = which
    return found


def libraries_of(rows: Iterable[RunRow]) -> dict[str, int | None]:
    """The searches that judges could use, each with the size of its corpus if that is known."""
    seats = [row.header["seats"][LIBRARY] for row in rows if LIBRARY in row.header["seats"]]
    return {str(seat["spec"]): seat.get("options", {}).get("documents") for seat in seats}


async def accounts(run: Run, episode: str) -> Mapping[str, Json]:
    """The account of each evaluation of an episode, by evaluator, where there is one."""
    found = {}
    for evaluator, row in (await evaluations(run.store, run.name)).items():
        beside = Run(run.store, row.name, row.header)
        judged = await run.store.episode(row.name, episode)
        if judged is not None and judged.cause == "completed":
            account = account_of(await beside.trajectory(episode))
            if account is not None:
                found[evaluator] = account
    return found


async def texts(store: Store, digests: Iterable[str]) -> dict[str, str]:
    """The texts that quotations stand in; one that the store lacks or that was altered is left out."""
    ledger, found = Ledger(store), {}
    for digest in dict.fromkeys(digests):
        try:
            found[digest] = await ledger.text(digest)
        except StoreError:
            continue
    return found
