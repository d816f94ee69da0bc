"""Finds the synthetic cases that ship with the package."""

from importlib.resources import files
from pathlib import Path

from wardround.engine.errors import UsageError

SETS = {"admissions": "admissions.jsonl", "reports": "reports.jsonl"}


def bundled(name: str = "all") -> tuple[Path, ...]:
    """Paths of the bundled case files `name`: 'admissions', 'reports', or 'all' for both in that order.

    Every id is unique across the files. Raises UsageError for another name, or where the files were not installed.
    """
    if name != "all" and name not in SETS:
        raise UsageError(f"no bundled cases named {name!r}; choose one of: all, {', '.join(SETS)}")
    folder = files("wardround.scenarios") / "data" / "cases"
    paths = tuple(Path(str(folder / file)) for set_name, file in SETS.items() if name in ("all", set_name))
    for path in paths:
        if not path.is_file():
            raise UsageError(
                f"the bundled case file {path.name} is missing beside the package; install wardround again"
            )
    return paths
