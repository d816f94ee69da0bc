"""Speaks HTTP/1.1 with model endpoints (POST, keep-alive, TLS), by a raw asyncio protocol and httptools' parser.

A general HTTP client takes more processor time for a call than the rest of the engine (docs/performance.md).
"""

import asyncio
import os
import ssl
from collections import OrderedDict
from collections.abc import Mapping
from functools import cache, partial
from typing import cast

import anyio
import anyio.lowlevel
import httptools
import msgspec
from yarl import URL

_LARGEST = 32 * 2**20
"""The largest reply in bytes: a model's answer is never this long, but a broken server's may be."""

_BUFFER = 64 * 2**10
"""Bytes that are read at once. By default asyncio allocates 256 KiB for each read, which costs more than the reading.
"""


class Timeouts(msgspec.Struct, frozen=True):
    """Timeouts in seconds: to make a connection, without any byte (`first_byte`), and for the whole reply (`total`).

    `first_byte` is long because a reply that is not streamed begins when the model is done.
    """

    connect: float = 30.0
    first_byte: float = 600.0
    total: float = 900.0

    @classmethod
    def of(cls, reply: float) -> "Timeouts":
        """The timeouts for a whole reply within `reply` seconds, all of which may pass before its first byte."""
        return cls(connect=min(cls().connect, reply), first_byte=reply, total=reply)


class BrokenConnection(ConnectionError):
    """The connection ended before the reply was complete; the message says how."""


class NotHttp(ConnectionError):
    """The reply is not HTTP, or is too long."""


class ReplyTimeout(TimeoutError):
    """A timeout expired; the message says which one."""


class _Connection(asyncio.BufferedProtocol):
    """One connection, with at most one request at a time.

    All connections to one address share one `buffer`, because received bytes are parsed before anything else is read.
    """

    __slots__ = (
        "_body",
        "_buffer",
        "_headers",
        "_idle",
        "_size",
        "_waiting",
        "began",
        "last_byte",
        "loop",
        "parser",
        "transport",
        "used",
        "watch",
    )

    def __init__(self, idle: "_Idle", buffer: bytearray) -> None:
        self._idle, self._buffer = idle, buffer
        self.loop = asyncio.get_running_loop()
        self.transport: asyncio.Transport | None = None
        self.watch: asyncio.TimerHandle | None = None
        self.used = self.began = self.last_byte = self.loop.time()
        self._waiting: asyncio.Future[tuple[int, Mapping[str, str], bytes]] | None = None
        self._reset()

    def _reset(self) -> None:
        self.parser = httptools.HttpResponseParser(self)
        self._headers: dict[str, str] = {}
        self._body: list[bytes] = []
        self._size = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's class does not derive from asyncio's

    def ask(self, request: bytes) -> "asyncio.Future[tuple[int, Mapping[str, str], bytes]]":
        """Send a request; the future is its reply."""
        self._waiting = self.loop.create_future()
        self.last_byte = self.loop.time()
        if self.transport is None or self.transport.is_closing():
            self.fail(BrokenConnection("the connection was closed"))
        else:
            self.transport.write(request)
        return self._waiting

    def fail(self, error: Exception) -> None:
        """Fail the waiting request and abort the connection."""
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_exception(error)
        if self.transport is not None:
            self.transport.abort()

    def get_buffer(self, sizehint: int) -> bytearray:
        """The buffer into which the event loop reads."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse the bytes that have arrived in the buffer."""
        self.last_byte = self.loop.time()
        if self._waiting is None or self._waiting.done():
            self.fail(NotHttp("bytes that nobody asked for"))
            return
        try:
            self.parser.feed_data(memoryview(self._buffer)[:nbytes])
        except httptools.HttpParserError:
            self.fail(NotHttp("no HTTP"))

    def on_message_begin(self) -> None:
        """Called by the parser (httptools)."""
        if self._waiting is None or self._waiting.done():  # a second reply would answer the next request
            self.fail(NotHttp("bytes that nobody asked for"))

    def on_header(self, name: bytes, value: bytes) -> None:
        """Called by the parser (httptools)."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_body(self, part: bytes) -> None:
        """Called by the parser (httptools)."""
        self._size += len(part)
        if self._size > _LARGEST:
            self.fail(NotHttp("a reply too long to be one"))
            return
        self._body.append(part)

    def on_message_complete(self) -> None:
        """Called by the parser (httptools)."""
        status = self.parser.get_status_code()
        if status < 200:  # an interim reply: the real one follows
            self._headers, self._body = {}, []
            return
        self._finish(status)

    def _finish(self, status: int) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result((status, self._headers, b"".join(self._body)))
        if self.transport is not None and not self.parser.should_keep_alive():
            self.transport.close()
        self._headers, self._body, self._size = {}, [], 0

    def eof_received(self) -> None:
        if self._waiting is None or self._waiting.done() or not self._headers:
            return
        framed = "content-length" in self._headers or "transfer-encoding" in self._headers
        if not framed:  # such a reply ends with the connection
            self._finish(self.parser.get_status_code())

    def connection_lost(self, exc: Exception | None) -> None:
        self._idle.pop(self, None)
        if self.watch is not None:
            self.watch.cancel()
            self.watch = None
        broken = "the reply broke off in the middle" if self._headers else "the connection was cut"
        self.fail(exc if isinstance(exc, ssl.SSLError) else BrokenConnection(broken))

    @property
    def busy(self) -> bool:
        """Whether a request waits for its reply."""
        return self._waiting is not None and not self._waiting.done()

    @property
    def reusable(self) -> bool:
        """Whether another request can be sent."""
        return self.transport is not None and not self.transport.is_closing()


_Idle = OrderedDict[_Connection, None]
"""Idle connections, the one used last at the end; a connection removes itself when it is cut."""


_CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")
"""Environment variables that say where OpenSSL finds certificates."""


@cache
def _tls(file: str | None, folder: str | None) -> ssl.SSLContext:
    """The context of all connections with the certificates of `file` and `folder`, which take 20 ms to read.

    The arguments are only the key of the cache: OpenSSL reads both variables itself.
    """
    return ssl.create_default_context()


class ConnectionPool:
    """The connections to one address: one for each request under way, and idle ones, kept for `keep` seconds."""

    def __init__(self, url: URL, timeouts: Timeouts, keep: float) -> None:
        self._host, self._port = url.host or "", url.port or (443 if url.scheme == "https" else 80)
        self._tls = _tls(*map(os.environ.get, _CERTIFICATES)) if url.scheme == "https" else None
        self._timeouts, self._keep = timeouts, keep
        self._idle: _Idle = OrderedDict()
        self._buffer = bytearray(_BUFFER)

    async def request(self, head: bytes, body: bytes) -> tuple[int, Mapping[str, str], bytes]:
        """Send `head` (without Content-Length) and `body`; returns (status, headers in lower case, body) of the reply.

        Raises ReplyTimeout, BrokenConnection, NotHttp, ssl.SSLError or OSError.
        """
        connection = self._take() or await self._connect()
        reply = connection.ask(b"%bContent-Length: %d\r\n\r\n%b" % (head, len(body), body))
        connection.began = connection.last_byte
        # A timer that an earlier request set is due before this request's timeouts, and is then set again for them.
        if connection.watch is None and not reply.done():
            self._watch(connection)
        try:
            answer = await reply
        finally:
            if not reply.done() or reply.cancelled():  # the caller gave up; the rest of the reply is of no use
                connection.fail(BrokenConnection("given up"))
        connection.used = connection.loop.time()
        if connection.reusable:
            self._close_idle(connection.used)
            self._idle[connection] = None
        return answer

    def _close_idle(self, now: float) -> None:
        """Close connections that were idle too long; they are at the front, and requests take from the end."""
        while self._idle:
            connection = next(iter(self._idle))
            if connection.reusable and now - connection.used < self._keep:
                return
            del self._idle[connection]
            connection.fail(BrokenConnection("idle"))

    def _take(self) -> _Connection | None:
        while self._idle:
            connection, _ = self._idle.popitem()
            if connection.reusable and connection.loop.time() - connection.used < self._keep:
                return connection
            connection.fail(BrokenConnection("idle"))
        return None

    async def _connect(self) -> _Connection:
        loop = asyncio.get_running_loop()
        name = self._host if self._tls else None
        try:
            with anyio.fail_after(self._timeouts.connect):
                _, connection = await loop.create_connection(
                    partial(_Connection, self._idle, self._buffer),
                    self._host,
                    self._port,
                    ssl=self._tls,
                    server_hostname=name,
                )
        except TimeoutError:
            raise ReplyTimeout(f"no connection within {self._timeouts.connect:g} s") from None
        return connection

    def _watch(self, connection: _Connection) -> None:
        """Schedule a check for the time at which a timeout may expire."""
        due = min(connection.last_byte + self._timeouts.first_byte, connection.began + self._timeouts.total)
        connection.watch = connection.loop.call_at(due, self._check_timeouts, connection)

    def _check_timeouts(self, connection: _Connection) -> None:
        connection.watch = None
        if not connection.busy:
            return
        now = connection.loop.time()
        if now - connection.began >= self._timeouts.total:
            connection.fail(ReplyTimeout(f"no whole reply within {self._timeouts.total:g} s"))
        elif now - connection.last_byte >= self._timeouts.first_byte:
            connection.fail(ReplyTimeout(f"no byte for {self._timeouts.first_byte:g} s"))
        else:
            self._watch(connection)

    async def aclose(self) -> None:
        """Close the idle connections."""
        idle = list(self._idle)
        self._idle.clear()
        for connection in idle:
            if connection.transport is not None:
                connection.transport.close()
        await anyio.lowlevel.checkpoint()
