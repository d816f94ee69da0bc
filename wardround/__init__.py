"""Wardround: doctor models in simulated patient encounters, with every action recorded, replayable and scored."""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wardround.api import resume, run
    from wardround.engine.records import Action, Completion, Message, Score, View
    from wardround.engine.seat import Seat
    from wardround.engine.trajectory import Trajectory
    from wardround.runs.stored_run import Run, open_store
    from wardround.scenarios.case import Case
    from wardround.scoring.score import score_run

_WHERE = {
    "Action": "wardround.engine.records",
    "Case": "wardround.scenarios.case",
    "Completion": "wardround.engine.records",
    "Message": "wardround.engine.records",
    "Run": "wardround.runs.stored_run",
    "Score": "wardround.engine.records",
    "Seat": "wardround.engine.seat",
    "Trajectory": "wardround.engine.trajectory",
    "View": "wardround.engine.records",
    "open_store": "wardround.runs.stored_run",
    "resume": "wardround.api",
    "run": "wardround.api",
    "score_run": "wardround.scoring.score",
}
__all__ = [
    "Action", "Case", "Completion", "Message", "Run", "Score", "Seat", "Trajectory", "View",
    "open_store", "resume", "run", "score_run",
]  # fmt: skip


def __getattr__(name: str) -> object:
    """Import a public name on first use, so that `wardround --help` does not wait for modules that it does not need."""
    if name not in _WHERE:
        raise AttributeError(f"module 'wardround' has no attribute {name!r}")
    return getattr(importlib.import_module(_WHERE[name]), name)
