"""A small web server on this machine whose pages can be late, endless, broken off, or sent on elsewhere."""

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import NamedTuple

from yarl import URL


class Request(NamedTuple):
    """What came: the address with its query, and the headers in lower case."""

    url: URL
    headers: Mapping[str, str]


class Answer(NamedTuple):
    """What goes back. `wait` (s) comes before it, `drip` (s) after each byte; `length` may lie; `cut` breaks it off."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = {}
    wait: float = 0.0
    drip: float = 0.0
    length: int | None = None
    cut: bool = False


class Website:
    """Answers `GET path` by `pages[path]`, an Answer or what makes one of the Request; other paths get 404.

    `seen` keeps the requests. `endless` pages send for as long as someone reads, without a length.
    """

    def __init__(self, pages: Mapping[str, Answer | Callable[[Request], Answer]], endless: bytes = b"") -> None:
        self.pages, self.endless = pages, endless
        self.seen: list[Request] = []
        self.sent = 0
        self.port = 0
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    async def __aenter__(self) -> "Website":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
            pairs = (line.partition(":") for line in head[1:])
            headers = {name.strip().lower(): value.strip() for name, _, value in pairs if name}
            request = Request(URL(self.url).join(URL(head[0].split(" ")[1], encoded=True)), headers)
            self.seen.append(request)
            page = self.pages.get(request.url.path, Answer(b"nothing here", 404))
            await self._send(writer, page(request) if callable(page) else page)
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _send(self, writer: asyncio.StreamWriter, page: Answer) -> None:
        await asyncio.sleep(page.wait)
        headers = {"Content-Type": "text/html; charset=utf-8", "Connection": "close", **page.headers}
        if not self.endless:
            headers["Content-Length"] = str(len(page.body) if page.length is None else page.length)
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        writer.write(f"HTTP/1.1 {page.status} Told\r\n{lines}\r\n".encode("latin-1"))
        if page.drip:
            for at in range(len(page.body)):
                writer.write(page.body[at : at + 1])
                await writer.drain()
                await asyncio.sleep(page.drip)
            return
        writer.write(page.body[: len(page.body) // 2] if page.cut else page.body)
        await writer.drain()
        while self.endless:
            writer.write(self.endless)
            self.sent += len(self.endless)
            await writer.drain()
