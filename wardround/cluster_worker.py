"""A worker of a cluster: it opens the store itself and joins the run or the evaluation."""

import os
import socket
from importlib.metadata import version

from wardround.api import join
from wardround.cluster_run import without_password
from wardround.engine.errors import UsageError
from wardround.runs.stored_run import Run, open_store
from wardround.scoring.score import join_evaluation


async def work(
    name: str, store: str, share: tuple[int, int], concurrency: int | None, version_of: str, file_of: str
) -> None:
    """Join the run `name` until no episode is open or the operator stops it.

    `share` is as in `api.join`. `version_of` is the driver's version of this package. `file_of` is the machine on which
    the store is a file, '' if the store is a database. Raises UsageError for another version or another machine.
    """
    here, own = socket.gethostname(), version("wardround")
    if own != version_of:
        raise UsageError(f"wardround {own} is installed here and {version_of} where the run was started")
    if file_of and file_of != here:
        raise UsageError(f"the store {store} is a file on {file_of}; workers on other machines need a PostgreSQL store")
    own_url = os.environ.get("WARDROUND_STORE", "")
    opened = open_store(own_url if own_url and without_password(own_url) == store else store)
    try:
        run, part = await Run.open(opened, name), (share[0], share[1])
        if run.evaluated:
            await join_evaluation(run, part, concurrency)
        else:
            await join(name, store=opened, share=part, concurrency=concurrency)
    finally:
        await opened.aclose()
