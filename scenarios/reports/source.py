"""Files and folders of articles, read one article at a time; what cannot be read is named and passed on."""

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from wardround.engine.errors import UsageError
from wardround.engine.text import loads
from wardround.scenarios.loaders.problem import Problem
from wardround.scenarios.loaders.source import lines
from wardround.scenarios.reports import jats, plain
from wardround.scenarios.reports.article import Article, Unread

_XML = (".xml", ".nxml")
_LINES = (".jsonl", ".ndjson")
_LARGEST = 256 * 1024 * 1024
OPEN = ("CC-", "CC0", "PUBLIC DOMAIN")
"""How the name of a licence begins under which an article may be sent on."""


def articles(paths: Sequence[Path], *, licence: str = "", data_class: str = "auto") -> Iterator[Article | Unread]:
    """The articles of `paths` (files, or folders with all below them in order of name), streamed.

    `licence` stands in where a source names none. With `data_class` 'auto' an article under a Creative Commons licence
    or in the public domain is public, every other restricted. An article that came before comes as Unread, as does a
    file or line that cannot be read. Raises UsageError where there is nothing to read at all.
    """
    seen: set[str] = set()
    any_file = False
    for path in _files(paths):
        any_file = True
        for place, found in _read(path):
            if isinstance(found, Unread):
                yield found
                continue
            made = _made(path, place, found, licence, data_class)
            if isinstance(made, Article) and made.id in seen:
                yield Unread(made.id, "unique", f"{place}: {made.id} was read before")
                continue
            seen.add(made.id)
            yield made
    if not any_file:
        raise UsageError(f"{', '.join(map(str, paths))}: holds no file of articles (.xml, .nxml, .jsonl; .gz of each)")


def _files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.exists():
            raise UsageError(f"{path}: there is no such file or folder")
        if not path.is_dir():
            if _kind(path) is None:
                raise UsageError(f"{path}: is none of .xml, .nxml, .jsonl, .ndjson, nor .gz of one")
            yield path
            continue
        for folder, folders, names in os.walk(path):
            folders.sort()
            yield from (Path(folder, name) for name in sorted(names) if _kind(Path(name)))


def _kind(path: Path) -> str | None:
    name = path.name.lower().removesuffix(".gz")
    return "xml" if name.endswith(_XML) else "lines" if name.endswith(_LINES) else None


def _read(path: Path) -> Iterator[tuple[str, dict[str, Any] | Unread]]:
    """(where, fields) of each article of a file."""
    try:
        yield from _xml(path) if _kind(path) == "xml" else _json(path)
    except UsageError as error:
        yield str(path), Unread(path.name, "readable", str(error))


def _xml(path: Path) -> Iterator[tuple[str, dict[str, Any] | Unread]]:
    try:
        if path.stat().st_size > _LARGEST:
            raise jats.Broken(f"it is larger than {_LARGEST >> 20} MB")
        with gzip.open(path, "rb") if path.name.lower().endswith(".gz") else path.open("rb") as stream:
            for found in jats.articles(stream):  # type: ignore[arg-type]  # a GzipFile reads as a file does
                yield str(path), found
    except (jats.Broken, OSError, EOFError, zlib.error) as error:
        yield str(path), Unread(path.name, "readable", f"{path}: {_said(error)}")


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else "") or str(error)


def _json(path: Path) -> Iterator[tuple[str, dict[str, Any] | Unread]]:
    for line in lines(path):
        name = f"{path.name}:{line.line if isinstance(line, Problem) else line.number}"
        if isinstance(line, Problem):
            yield str(path), Unread(name, "readable", str(line))
            continue
        where = f"{path}, line {line.number}"
        try:
            yield where, plain.fields(loads(line.text))
        except plain.Wrong as error:
            yield where, Unread(name, "readable", f"{where}: {error}")
        except (ValueError, RecursionError) as error:
            yield where, Unread(name, "readable", f"{where}: is no JSON object ({error})")


def _made(path: Path, place: str, found: dict[str, Any], licence: str, data_class: str) -> Article | Unread:
    name = found["id"] or _stem(path, place)
    under = found["licence"] or licence
    opened = under.upper().replace(" ", "-").startswith(OPEN) or under.upper().startswith(OPEN)
    chosen = data_class if data_class != "auto" else "public" if opened else "restricted"
    fields = {**found, "id": "-".join(name.split()), "licence": under, "source": path.name, "data_class": chosen}
    try:
        return Article(**fields)
    except ValidationError as error:
        fault = error.errors()[0]
        return Unread(name, "readable", f"{place}: field {fault['loc'][0]}: {fault['msg']}")


def _stem(path: Path, place: str) -> str:
    stem = path.name.partition(".")[0]
    number = place.rpartition(", line ")[2]
    return f"{stem}-{number}" if number.isdecimal() else stem
