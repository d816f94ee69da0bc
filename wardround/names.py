"""Names of runs: what they may be, and readable ones for runs that were given none."""

import random
import re
from collections.abc import Collection

from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store

_HOW = "brisk calm clear early fair fresh gentle keen late lively mild neat plain quick quiet ready sharp steady warm"
_WHO = (
    "curlew dunlin finch godwit heron ibis jay kestrel lark martin oriole petrel plover raven rook swift tern teal wren"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def made_up(taken: Collection[str], chance: random.Random | None = None) -> str:
    """A name such as `calm-heron-417` that is not taken."""
    chance = chance or random.Random()
    while True:
        name = f"{chance.choice(_HOW.split())}-{chance.choice(_WHO.split())}-{chance.randrange(100, 1000)}"
        if name not in taken:
            return name


async def run_name(name: str, store: Store) -> str:
    """`name` for a new run, or one made up where it is empty.

    Raises UsageError if it is taken, or no name for a run: it stands in commands, in names of files and in RUN/EPISODE,
    and `~` is between a run and its evaluator.
    """
    taken = {run.name for run in await store.runs()}
    if not name:
        return made_up(taken)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a run: write at most 100 letters a to z, digits, dots, hyphens and underscores, "
            "beginning with neither a dot nor a hyphen"
        )
    if name in taken:
        raise UsageError(f"there is already a run {name!r} in this store; choose another --name, or --resume it")
    return name
