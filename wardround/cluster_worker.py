"""A worker, on a cluster or on this machine: it opens the store itself and joins the run or the evaluation."""

import os
import socket
from collections.abc import Mapping
from importlib.metadata import version

import msgspec

from wardround.api import join
from wardround.cluster_run import without_password
from wardround.engine.batch import Progress
from wardround.engine.budget import BudgetPart, Spending
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.runs.stored_run import Run, open_store
from wardround.scoring.score import join_evaluation


async def work(
    name: str,
    store: str,
    share: tuple[int, int],
    concurrency: int | None,
    driver: tuple[str, str],
    spent: Mapping[str, Json] | None = None,
) -> str:
    """Join the run `name` until no episode is open or the operator stops it.

    `share` is as in `api.join`. `driver` is the version of this package at the driver, and the machine on which the
    store is a file ('' if it is a database). `spent` is what each seat had spent before: the worker spends its part of
    the rest. Returns why it drained, '' if it did not. Raises UsageError for another version or another machine.
    """
    here, own, (version_of, file_of) = socket.gethostname(), version("wardround"), driver
    if own != version_of:
        raise UsageError(f"wardround {own} is installed here and {version_of} where the run was started")
    if file_of and file_of != here:
        raise UsageError(f"the store {store} is a file on {file_of}; workers on other machines need a PostgreSQL store")
    own_url = os.environ.get("WARDROUND_STORE", "")
    opened = open_store(own_url if own_url and without_password(own_url) == store else store)
    try:
        run, part = await Run.open(opened, name), (share[0], share[1])
        progress = Progress(part=BudgetPart(part[1], msgspec.convert(spent or {}, dict[str, Spending])))
        if run.evaluated:
            await join_evaluation(run, part, concurrency, progress)
        else:
            await join(name, store=opened, share=part, concurrency=concurrency, progress=progress)
        return progress.why
    finally:
        await opened.aclose()
