"""Where the cases of a run come from: bundled ones, files, folders of files."""

from collections.abc import Iterator
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.scenarios.bundled import bundled
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.detect import load
from wardround.scenarios.select import select
from wardround.settings import RunSettings

_ENDS = tuple(end + packed for end in (".jsonl", ".ndjson", ".json") for packed in ("", ".gz"))
_ACCOUNT = ".flow.json"
"""How the account ends that a build writes beside its cases."""


def told(settings: RunSettings) -> str | list[str]:
    """What the cases are read from, for the header: as it was given, a folder by its files; a list of several."""
    names = [name for place in settings.places for name in _told(place)]
    return names[0] if len(names) == 1 else names


def cases_of(settings: RunSettings) -> Iterator[Case]:
    """The cases the settings name, in the order of their files; raises UsageError, also if two have the same id."""
    cases = _all([path for place in settings.places for path in _paths(place)])
    return iter(select(cases, settings.where, sample=settings.sample, seed=settings.seed, limit=settings.limit))


def _told(place: str) -> list[str]:
    return [str(path) for path in _paths(place)] if Path(place).is_dir() else [place]


def _paths(place: str) -> tuple[Path, ...]:
    name, _, part = place.partition(":")
    if name == "bundled":
        return bundled(part or "all")
    path = Path(place)
    return _within(path) if path.is_dir() else (path,)


def _within(folder: Path) -> tuple[Path, ...]:
    """The case files of a folder, by name; folders in it are not looked into."""
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(_ENDS))
    found = [path for path in found if not path.name.endswith(_ACCOUNT) and not path.name.startswith(".")]
    if not found:
        raise UsageError(f"{folder}: holds no case file; their names end in {', '.join(_ENDS)}")
    return tuple(found)


def _all(paths: list[Path]) -> Iterator[Case]:
    seen: dict[str, Path] = {}
    for path in paths:
        for case in load(path):
            if case.id in seen:
                raise UsageError(f"{path}: the case {case.id!r} is in {seen[case.id]} too; an id is that of one case")
            seen[case.id] = path
            yield case
