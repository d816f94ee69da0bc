"""Wardround: doctor models in simulated patient encounters, with every action recorded, replayable and scored."""

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import ModuleType
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


_MOVED = {
    "wardround.engine.models.faults": "wardround.testing.wire",
    "wardround.engine.models.loopback": "wardround.testing.loopback",
    "wardround.scenarios.loaders.own": "wardround.scenarios.loaders.load",
}


class _MovedModules:
    """Finds modules under the paths that older documentation names, for one version more."""

    @classmethod
    def find_spec(cls, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """The module of an old path; None for any other."""
        return ModuleSpec(name, cls()) if name in _MOVED else None  # type: ignore[arg-type]  # a loader by its methods

    @staticmethod
    def create_module(spec: ModuleSpec) -> None:
        """Leave it to Python to make an empty module."""

    @staticmethod
    def exec_module(module: ModuleType) -> None:
        """Fill the module with the names of the one that took its place."""
        place = _MOVED[module.__name__]
        warnings.warn(f"{module.__name__} is {place} now; import from there", DeprecationWarning, stacklevel=2)
        new = importlib.import_module(place)
        vars(module).update({name: value for name, value in vars(new).items() if not name.startswith("__")})


sys.meta_path.append(_MovedModules)
