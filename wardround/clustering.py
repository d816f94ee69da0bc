"""A run played by several workers of a cluster: the driver starts them, shows how far they are, and replaces the dead.

Nothing of an episode passes through the driver or through Ray: each worker opens the store itself and joins the run.
"""

import os
import socket
from collections import Counter
from importlib.metadata import version
from pathlib import Path

import msgspec
import structlog

import anyio

from wardround.api import join
from wardround.engine.budget import Purse
from wardround.engine.cluster import Cluster, Crew, Happened
from wardround.engine.errors import StoreError, UsageError, WardroundError
from wardround.engine.logs import redact
from wardround.engine.progress import Progress
from wardround.engine.protocols import Store
from wardround.engine.records import Json
from wardround.engine.spending import Budget
from wardround.stored import open_store
from wardround.working import span, sums

log = structlog.get_logger("wardround")
DEATHS = 3
"""Times that the worker of a place may die while the run gets no further; then the place is left empty."""
_LOOK = 1.0
"""Seconds between two looks at the store."""
_SLOW = 60.0
"""Seconds after which a worker that has not started is spoken of."""
_ENTRY = "wardround.clustering:work"


async def work(  # noqa: PLR0913 what the driver sends as JSON
    *, name: str, store: str, share: tuple[int, int], concurrency: int | None, version_: str, file_of: str
) -> None:
    """What a worker does: open the store and join the run until no episode is open or the operator says stop."""
