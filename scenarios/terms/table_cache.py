"""Keeps tables that take seconds to build on the user's disk, so that only the first process builds them.

The folder is `wardround/tables` in the user's cache folder (`$XDG_CACHE_HOME`, else `~/.cache`). Its files may be
removed at any time. With `WARDROUND_TABLES=off`, no file is read or written.
"""

import gc
import hashlib
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution, version
from importlib.resources import files
from pathlib import Path
from tempfile import mkstemp
from typing import TypeVar

import msgspec

SWITCH = "WARDROUND_TABLES"
"""The environment variable that turns the files off."""
SOURCES = ("wardround.scenarios.terms", "wardround.scenarios.diseases", "wardround.scenarios.orders")
"""Packages whose code and data decide what the tables contain."""
LIBRARIES = ("wardround", "hpo3", "numpy", "scipy", "simple-icd-10-cm")
"""Distributions that decide it too; their metadata, with the version, goes into the fingerprint."""
KEPT = 4
"""How many of the newest files of one table remain, since several versions of this package may share the folder."""
_DIGEST = hashlib.sha256().digest_size
TableT = TypeVar("TableT")


@contextmanager
def building() -> Iterator[None]:
    """Pause garbage collection while permanent tables are built, since it would visit their objects again and again."""
    collected = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collected:
            gc.enable()


def cached_table(name: str, form: type[TableT], build: Callable[[], TableT]) -> TableT:
    """The table `name` from its file; without a usable file, `build` makes it and the file is written.

    `form` is the table's type, which msgspec checks as it reads. `build` must depend on nothing but `SOURCES` and
    `LIBRARIES`. A file that is missing, damaged or cannot be written raises nothing: the table is then built.
    """
    path = _path(name)
    with building():
        if path is not None and (table := _read(path, form)) is not None:
            return table
        table = build()
        if path is not None:
            with suppress(OSError):
                _write(path, msgspec.msgpack.encode(table))
        return table


def _read(path: Path, form: type[TableT]) -> TableT | None:
    """The table of a file; None if the file is missing, or has another content than was written."""
    try:
        content = path.read_bytes()
        if hashlib.sha256(memoryview(content)[_DIGEST:]).digest() != content[:_DIGEST]:
            return None
        return msgspec.msgpack.decode(memoryview(content)[_DIGEST:], type=form)
    except (OSError, msgspec.DecodeError):
        return None


def _write(path: Path, content: bytes) -> None:
    """Write a file under another name first, so that no process reads half of it; then remove the oldest files."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, made = mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(content).digest() + content)
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise
    there = sorted(path.parent.glob(f"{path.name.partition('-')[0]}-*"), key=lambda file: file.stat().st_mtime)
    for old in there[:-KEPT]:
        old.unlink(missing_ok=True)


def _path(name: str) -> Path | None:
    """The file of a table; None if files are off, the user has no folder, or the sources cannot be read."""
    if os.environ.get(SWITCH, "").lower() == "off":
        return None
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        return folder / "wardround" / "tables" / f"{name}-{_fingerprint()}"
    except (OSError, RuntimeError, PackageNotFoundError):
        return None


@cache
def _fingerprint() -> str:
    """A hash of everything that decides what the tables contain; to compute it takes some milliseconds."""
    digest = hashlib.sha256(f"{sys.version} {sys.byteorder} {unicodedata.unidata_version}".encode())
    for library in LIBRARIES:
        about = distribution(library).read_text("METADATA") or version(library)  # to parse it takes longer
        digest.update(f"{library} {about}".encode())
    for package in SOURCES:
        folder = files(package)
        parts = [*folder.iterdir(), *(folder / "data").iterdir()] if (folder / "data").is_dir() else folder.iterdir()
        for file in sorted((part for part in parts if part.is_file()), key=lambda part: part.name):
            digest.update(f"{package} {file.name} ".encode() + file.read_bytes())
    return digest.hexdigest()[:32]
