"""A file that a user asked for: there whole or not at all, and an error that says which it was."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from wardround.engine.errors import UsageError


@contextmanager
def output(path: Path, *, private: bool = False) -> Iterator[IO[bytes]]:
    """Write `path`, with its folder; what stood there before stays until all is written.

    `private`: nobody but its owner may read it. A device or a pipe is written as it is. Raises UsageError naming the
    path where it cannot be written.
    """
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file() and not path.is_dir():
            with path.open("wb") as stream:
                yield stream
            return
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with open(half, "wb", opener=_private if private else None) as stream:
            yield stream
        half.replace(path)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}; name another file") from error
    finally:
        with suppress(OSError):  # where no folder could be made there is nothing
            half.unlink(missing_ok=True)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
