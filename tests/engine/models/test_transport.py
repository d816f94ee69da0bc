"""The raw transport against servers that frame, cut, stall, and encrypt their replies in every way HTTP allows."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest
from steady import steadily
from until import dropped, until
from yarl import URL

from wardround.engine.models.transport import BrokenConnection, ConnectionPool, NotHttp, ReplyTimeout, Timeouts

HEAD = b"POST /v1 HTTP/1.1\r\nHost: x\r\n"
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter, int], Awaitable[None]]


class Server:
    """Counts connections and requests; `serve` writes the reply to request number n."""

    def __init__(self, serve: Serve) -> None:
        self.serve, self.connections, self.requests = serve, 0, 0
        self.writers: set[asyncio.StreamWriter] = set()

    @property
    def open(self) -> int:
        return len(self.writers)

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.add(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
                await reader.readexactly(length)
                self.requests += 1
                await self.serve(reader, writer, self.requests)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self.writers.discard(writer)
            writer.close()


@asynccontextmanager
async def lines(
    serve: Serve, timeouts: Timeouts | None = None, keep: float = 30, tls: ssl.SSLContext | None = None
) -> AsyncIterator[tuple[ConnectionPool, Server]]:
    counted = Server(serve)
    server = await asyncio.start_server(counted.handle, "127.0.0.1", 0, ssl=tls)
    port = server.sockets[0].getsockname()[1]
    url = URL(f"{'https' if tls else 'http'}://{'localhost' if tls else '127.0.0.1'}:{port}")
    made = ConnectionPool(url, timeouts or Timeouts(connect=60, first_byte=60, total=60), keep)
    try:
        yield made, counted
    finally:
        await made.aclose()
        server.close()
        await anyio.sleep(0.01)


def saying(*parts: bytes) -> Serve:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        for part in parts:
            writer.write(part)
            await writer.drain()
            await anyio.sleep(0.005)

    return serve


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Two: a\r\n\r\nok"


async def test_a_connection_is_used_again() -> None:
    async with lines(saying(OK)) as (made, server):
        for _ in range(5):
            status, headers, body = await made.request(HEAD, b"{}")
            assert (status, headers["x-two"], body) == (200, "a", b"ok")
        assert (server.connections, server.requests) == (1, 5)


async def test_as_many_connections_as_requests_under_way() -> None:
    async with lines(saying(b"", OK)) as (made, server), anyio.create_task_group() as group:
        for _ in range(20):
            group.start_soon(made.request, HEAD, b"{}")
    assert server.connections == 20


@pytest.mark.parametrize(
    "parts",
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\no\r\n", b"1\r\nk\r\n0\r\n\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", b"ngth: 2\r\n\r", b"\no", b"k"),
        (b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", OK),
    ],
)
async def test_every_framing(parts: tuple[bytes, ...]) -> None:
    async with lines(saying(*parts)) as (made, server):
        for _ in range(2):
            status, _, body = await made.request(HEAD, b"{}")
            assert (status, body) == (200, b"ok")
        assert server.connections == 1


async def test_a_reply_that_ends_with_the_connection() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nX: y\r\n\r\nok")
        writer.close()

    async with lines(serve) as (made, server):
        for _ in range(2):
            assert (await made.request(HEAD, b"{}"))[2] == b"ok"
        assert server.connections == 2


async def test_a_server_that_closes_after_each_reply() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(OK.replace(b"X-Two: a", b"Connection: close"))

    async with lines(serve) as (made, server):
        for _ in range(3):
            assert (await made.request(HEAD, b"{}"))[2] == b"ok"
        assert server.connections == 3


async def test_a_reply_that_breaks_off() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
        writer.close()

    async with lines(serve) as (made, _):
        with pytest.raises(BrokenConnection, match="broke off in the middle"):
            await made.request(HEAD, b"{}")


@pytest.mark.parametrize("noise", [b"220 smtp ready\r\n", b"\x16\x03\x01\x00\x00", b"HTTP/9.9 what\r\n\r\n"])
async def test_what_is_no_http(noise: bytes) -> None:
    async with lines(saying(noise)) as (made, _):
        with pytest.raises(NotHttp):
            await made.request(HEAD, b"{}")


def test_timeouts_say_which() -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")
        for _ in range(100):
            writer.write(b"x")
            await writer.drain()
            await anyio.sleep(0.02)

    async def late() -> None:
        async with lines(saying(b""), Timeouts(first_byte=0.05, total=5)) as (made, _):
            with pytest.raises(ReplyTimeout, match=r"no byte for 0\.05 s"):
                await made.request(HEAD, b"{}")
        async with lines(drip, Timeouts(first_byte=0.1, total=0.3)) as (made, _):
            with pytest.raises(ReplyTimeout, match=r"no whole reply within 0\.3 s"):
                await made.request(HEAD, b"{}")

    steadily(late())


def test_a_later_request_on_the_connection_has_timeouts_of_its_own() -> None:
    async def first_only(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        if number < 3:
            writer.write(OK)

    async def late() -> None:
        async with lines(first_only, Timeouts(first_byte=0.2, total=5)) as (made, server):
            for _ in range(2):
                await made.request(HEAD, b"{}")
                await anyio.sleep(0.15)
            began = asyncio.get_running_loop().time()
            with pytest.raises(ReplyTimeout, match=r"no byte for 0\.2 s"):
                await made.request(HEAD, b"{}")
            assert asyncio.get_running_loop().time() - began >= 0.2  # not when the first request would have ended
            assert server.connections == 1

    steadily(late())


def test_a_slow_reply_that_keeps_coming_is_waited_for() -> None:
    parts = [b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", *[b"x"] * 20]

    async def waited_for() -> None:
        async with lines(saying(*parts), Timeouts(first_byte=0.05, total=5)) as (made, _):
            for _ in range(2):
                assert (await made.request(HEAD, b"{}"))[2] == b"x" * 20

    steadily(waited_for())


async def test_a_request_given_up_does_not_answer_the_next_one() -> None:
    given_up, answered = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        if number == 1:
            await given_up.wait()
        writer.write(OK.replace(b"ok", b"%02d" % number))
        answered.set()

    async with lines(serve) as (made, server):
        first = asyncio.create_task(made.request(HEAD, b"{}"))
        await until(lambda: server.requests == 1)
        await dropped(first)
        given_up.set()
        await answered.wait()
        assert (await made.request(HEAD, b"{}"))[2] == b"02"


async def test_an_idle_connection_is_not_kept_for_ever() -> None:
    async with lines(saying(OK), keep=0.02) as (made, server):
        await made.request(HEAD, b"{}")
        await anyio.sleep(0.05)
        await made.request(HEAD, b"{}")
        assert server.connections == 2


BEHIND = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nstale"


@pytest.mark.parametrize("behind", [BEHIND, BEHIND[:9], BEHIND[:-2], b"more", b"HTTP/1.1 100 Continue\r\n\r\n"])
@pytest.mark.parametrize("together", [True, False])
async def test_bytes_that_nobody_asked_for_answer_no_question(behind: bytes, together: bool) -> None:
    late = anyio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, number: int) -> None:
        reply = OK.replace(b"ok", b"%02d" % number)
        writer.write(reply + behind if together else reply)
        await anyio.sleep(0 if together else 0.02)
        writer.write(b"" if together else behind)
        late.set()

    async with lines(serve) as (made, server):
        for number in range(1, 4):
            late = anyio.Event()
            assert (await made.request(HEAD, b"{}"))[2] == b"%02d" % number
            if not together:
                await late.wait()
                await anyio.sleep(0.01)
        assert server.connections == 3


async def burst(made: ConnectionPool, count: int) -> None:
    async with anyio.create_task_group() as group:
        for _ in range(count):
            group.start_soon(made.request, HEAD, b"{}")


async def test_the_connections_of_a_burst_are_given_back() -> None:
    async with lines(saying(OK), keep=1.0) as (made, server):
        await burst(made, 40)
        assert server.connections == server.open == 40
        for _ in range(2):  # one line is enough for these, and it is never idle for long
            await anyio.sleep(0.6)
            await made.request(HEAD, b"{}")
        await anyio.sleep(0.05)
        assert (server.connections, server.open) == (40, 1)


async def test_connections_that_the_server_closed_are_forgotten() -> None:
    async with lines(saying(OK)) as (made, server):
        await burst(made, 40)
        assert len(made._idle) == 40
        for writer in list(server.writers):
            writer.close()
        await anyio.sleep(0.05)
        assert len(made._idle) == 0
        assert (await made.request(HEAD, b"{}"))[2] == b"ok"
        assert server.connections == 41


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, ssl.SSLContext]:
    """A certificate for localhost signed by nobody else, and a server's context with it."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl to make a certificate with")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=tmp_path, check=True, capture_output=True,
    )  # fmt: skip
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert.pem", tmp_path / "key.pem")
    return tmp_path / "cert.pem", context


async def test_a_certificate_that_nobody_vouches_for_is_refused(certificate: tuple[Path, ssl.SSLContext]) -> None:
    async with lines(saying(OK), tls=certificate[1]) as (made, _):
        with pytest.raises(ssl.SSLCertVerificationError):
            await made.request(HEAD, b"{}")


async def test_a_trusted_certificate_is_talked_to(
    certificate: tuple[Path, ssl.SSLContext], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate[0]))
    async with lines(saying(OK), tls=certificate[1]) as (made, server):
        for _ in range(2):
            assert (await made.request(HEAD, b"{}"))[2] == b"ok"
        assert server.connections == 1
