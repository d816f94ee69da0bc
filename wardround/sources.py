"""Where the cases of a run come from: bundled ones, files, folders of files."""

from collections.abc import Iterator
from pathlib import Path

import structlog

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import bundled, load, suffixes
from wardround.scenarios.loaders.select import select
from wardround.settings import RunSettings

log = structlog.get_logger("wardround")

_ENDS = tuple(end + packed for end in (".jsonl", ".ndjson", ".json") for packed in ("", ".gz"))
_ACCOUNT = ".flow.json"
"""How the account ends that a build writes beside its cases."""


def told(settings: RunSettings) -> str | list[str]:
    """What the cases are read from, for the header: as it was given, a folder by its files; a list of several."""
    names = [name for place in settings.places for name in _told(place)]
    return names[0] if len(names) == 1 else names


def cases_of(settings: RunSettings) -> Iterator[Case]:
    """The cases the settings name, in the order of their files; raises UsageError, also for one given twice."""
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
    ends = (*_ENDS, *suffixes())
    found = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(ends))
    found = [path for path in found if not path.name.endswith(_ACCOUNT) and not path.name.startswith(".")]
    if not found:
        raise UsageError(f"{folder}: holds no case file; their names end in {', '.join(ends)}")
    return tuple(found)


def _all(paths: list[Path]) -> Iterator[Case]:
    """The cases of all files; where an id stands in several, each of its cases is called `FILE:ID`.

    Which name a case gets depends on the files, not on their order. Two cases that are equal word for word are one that
    was given twice, which is refused.
    """
    if len(paths) == 1:
        yield from load(paths[0])
        return
    held = [(path, case) for path in paths for case in load(path)]
    places: dict[str, list[Path]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path, case in held:
        whole = (case.id, case.model_dump_json())
        if whole in seen:
            raise UsageError(f"{path}: the case {case.id!r} is in {seen[whole]} too, word for word; name it once")
        seen[whole] = path
        places.setdefault(case.id, []).append(path)
    told = {case_id: _apart(where) for case_id, where in places.items() if len(where) > 1}
    if told:
        first = next(iter(told))
        log.warning(
            "cases of several files have equal ids and are called FILE:ID",
            ids=len(told),
            first=f"{next(iter(told[first].values()))}:{first}",
        )
    for path, case in held:
        yield case.model_copy(update={"id": f"{told[case.id][path]}:{case.id}"}) if case.id in told else case


def _apart(paths: list[Path]) -> dict[Path, str]:
    """The shortest ends of the paths, without the file's ending, that tell them apart."""
    stems = {path: (*path.resolve().parts[:-1], path.name.partition(".")[0] or path.name) for path in paths}
    most = max(map(len, stems.values()))
    for length in range(1, most + 1):
        found = {path: "-".join(parts[-length:]) for path, parts in stems.items()}
        if len(set(found.values())) == len(paths):
            return found
    return {path: path.name for path in paths}  # they differ in their ending alone
