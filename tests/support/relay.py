"""A relay before a PostgreSQL server that loses the connection when it is told to: before or after the server heard."""

import asyncio
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

_SOCKET = ".s.PGSQL.5432"


class Relay:
    """Listens in a folder of its own; `lose` is `""`, `before` or `after`, for one message after `passing` others."""

    def __init__(self, server: Path) -> None:
        self._server = server / _SOCKET
        self._folder = tempfile.TemporaryDirectory(prefix="relay-")
        self.folder = Path(self._folder.name)
        self.lose = ""
        self.passing = self.lost = 0

    async def _pump(self, client: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        reader, writer = await asyncio.open_unix_connection(str(self._server))
        answers = asyncio.create_task(self._answer(reader, back))
        while message := await client.read(1 << 20):
            lose = "" if self.passing else self.lose
            if self.lose and self.passing:
                self.passing -= 1
            if lose:
                self.lose, self.lost = "", self.lost + 1
                answers.cancel()
            if lose != "before":
                writer.write(message)
                await writer.drain()
            if lose == "after":  # until the server has answered, which is after its commit
                await asyncio.wait([answers])
                await reader.read(1 << 20)
            if lose:
                break
        answers.cancel()
        writer.close()
        back.close()

    async def _answer(self, reader: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        while message := await reader.read(1 << 20):
            back.write(message)
        back.close()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_unix_server(self._pump, str(self.folder / _SOCKET))
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.close()
        self._folder.cleanup()
