"""What workers of a cluster are sent to do in tests: small errands, and agents that misbehave on one case."""

import os
from pathlib import Path

import anyio
from clinic import WORKUP

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, View
from wardround.engine.seat import Seat

MARKS = "WARDROUND_TEST_MARKS"
"""The environment variable that names a folder for marks that outlive a process."""


async def errand(what: str, secret: str = "") -> Json:
    """Do as told; returns the process id and what Ray was told about usage statistics."""
    if what == "refuse":
        raise UsageError(f"this errand is refused, key sk-{'a' * 30}")
    if what == "stumble":
        raise ValueError(f"a bug with {len(secret)} secret letters")
    if what == "vanish":
        os._exit(4)
    if what == "wait":
        await anyio.sleep(600)
    return {"pid": os.getpid(), "statistics": os.environ.get("RAY_USAGE_STATS_ENABLED"), "letters": len(secret)}


class Clumsy:
    """Plays the work-up; in one case it raises, and in another it takes its whole process with it, once."""

    def __init__(self, seat: Seat) -> None:
        self._case = seat.case_id

    async def act(self, view: View) -> Action:
        """The next line."""
        said = sum(heard.seat == view.seat for heard in view.heard)
        if said == 2 and self._case == "case-003":
            raise RuntimeError("I cannot do case 3")
        mark = Path(os.environ[MARKS]) / "killed"
        if said == 2 and self._case == "case-005" and not mark.exists():
            mark.write_text(str(os.getpid()))
            os._exit(9)
        return Action("reply", WORKUP[min(said, len(WORKUP) - 1)])
