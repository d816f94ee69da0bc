"""Runs a model server that costs almost nothing: a raw asyncio protocol in a process and on a core of its own."""

import asyncio
import multiprocessing
import os
import random
import socket
import struct
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection

from benchmarks.load import prose

REPLY = prose(950, seed=1)
"""The text of every answer, as JSON writes it."""


@dataclass
class Server:
    """A running server; once it has stopped, `sent` counts its answers by status, and the reset connections."""

    url: str
    sent: dict[str, int] = field(default_factory=dict)


class Answers:
    """Draws the answer to each request by seed, in the order of arrival, and counts the answers."""

    def __init__(self, rates: Mapping[str, float], retry_after: float, seed: int) -> None:
        self._rates, self._random = dict(rates), random.Random(seed)
        self._ready = {"200": answer_of(REPLY), "429": refusal_of(429, retry_after), "500": refusal_of(500)}
        self.sent: Counter[str] = Counter()

    def next(self) -> tuple[bytes | None, bool]:
        """Return the next whole HTTP reply, None for a reset connection, and whether it comes at once.

        A refusal for too many requests comes at once, as from a gateway.
        """
        kind = self._kind() if self._rates else "200"
        self.sent[kind] += 1
        return self._ready.get(kind), kind == "429"

    def to(self, request: bytes) -> tuple[bytes | None, bool]:
        """Return the answer to `request` (head and body), in the form of `next`."""
        del request
        return self.next()

    def _kind(self) -> str:
        draw = self._random.random()
        for kind, rate in self._rates.items():
            draw -= rate
            if draw < 0:
                return kind
        return "200"


class Protocol(asyncio.Protocol):
    """Reads requests by their content length and answers each after `latency` seconds, with a 429 at once."""

    def __init__(self, latency: float, answers: Answers) -> None:
        self._latency, self._answers = latency, answers
        self._buffer = bytearray()
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer every whole request in the buffer."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end]).lower()
            start = head.index(b"content-length:") + 15
            length = int(head[start : (head + b"\r\n").index(b"\r\n", start)])
            if len(self._buffer) < end + 4 + length:
                return
            answer, at_once = self._answers.to(bytes(self._buffer[: end + 4 + length]))
            del self._buffer[: end + 4 + length]
            if self._latency and not at_once:
                asyncio.get_running_loop().call_later(self._latency, self._send, answer)
            else:
                self._send(answer)

    def _send(self, answer: bytes | None) -> None:
        if self._transport is None or self._transport.is_closing():
            return
        if answer is not None:
            self._transport.write(answer)
            return
        # With a linger time of 0 the kernel resets the connection instead of closing it in order.
        sock = self._transport.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()


def answer_of(text: str) -> bytes:
    """Return a chat completion as a whole HTTP reply; `text` is escaped for JSON already."""
    return _http(
        "200 OK",
        '{"id":"b","object":"chat.completion","model":"bench","choices":[{"index":0,"finish_reason":"stop","message":'
        f'{{"role":"assistant","content":"{text}"}}}}],"usage":{{"prompt_tokens":900,"completion_tokens":250}}}}',
    )


def refusal_of(status: int, retry_after: float | None = None) -> bytes:
    """Return a refusal as a whole HTTP reply; `retry_after` is in seconds."""
    more = "" if retry_after is None else f"Retry-After: {retry_after:g}\r\n"
    return _http(f"{status} Refused", f'{{"error":{{"message":"status {status}","type":"bench","code":null}}}}', more)


def _http(status: str, body: str, more: str = "") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: application/json\r\n{more}Content-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


def _serve(pipe: Connection, latency: float, made: Answers, core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Protocol(latency, made), "127.0.0.1", 0, backlog=4096)
        pipe.send(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, pipe.recv)
        server.close()
        pipe.send(dict(made.sent))

    asyncio.run(main())


@contextmanager
def served(
    latency: float,
    rates: Mapping[str, float] | None = None,
    *,
    retry_after: float = 0.05,
    seed: int = 0,
    answers: Answers | None = None,
) -> Iterator[Server]:
    """Run a server for the length of a block; this process stays on the first core, the server on the last.

    `rates` are the probabilities of `429` (with Retry-After), `500` and `reset`, drawn by `seed`. The server gives
    `answers` instead if there are any.
    """
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    made = answers or Answers(dict(rates or {}), retry_after, seed)
    arguments = (theirs, latency, made, cores[-1] if len(cores) > 1 else None)
    process = context.Process(target=_serve, args=arguments, daemon=True)
    process.start()
    try:
        server = Server(f"http://127.0.0.1:{ours.recv()}/v1")
        if len(cores) > 1:
            os.sched_setaffinity(0, {cores[0]})
        yield server
        ours.send(None)
        server.sent = ours.recv() if ours.poll(5) else {}
    finally:
        if cores:
            os.sched_setaffinity(0, set(cores))
        if process.is_alive():
            process.terminate()
        process.join(5)
        if process.is_alive():
            process.kill()
