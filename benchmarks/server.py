"""A model server that costs almost nothing: a raw asyncio protocol in a process of its own, on a core of its own."""

import asyncio
import multiprocessing
import os
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

REPLY = "### Chain of Thought:\\n<step 1> more is needed\\n" + "x" * 900


class Protocol(asyncio.Protocol):
    """Reads requests by their content length, answers each after `latency` seconds."""

    def __init__(self, latency: float, answer: bytes) -> None:
        self._latency, self._answer = latency, answer
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
            del self._buffer[: end + 4 + length]
            asyncio.get_running_loop().call_later(self._latency, self._send)

    def _send(self) -> None:
        if self._transport and not self._transport.is_closing():
            self._transport.write(self._answer)


def answer_of(text: str) -> bytes:
    """A chat completion as a whole HTTP reply."""
    body = (
        '{"id":"b","object":"chat.completion","model":"bench","choices":[{"index":0,"finish_reason":"stop","message":'
        f'{{"role":"assistant","content":"{text}"}}}}],"usage":{{"prompt_tokens":900,"completion_tokens":250}}}}'
    ).encode()
    head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


def _serve(pipe: Connection, latency: float, core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(0, {core})

    async def main() -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: Protocol(latency, answer_of(REPLY)), "127.0.0.1", 0, backlog=4096)
        pipe.send(server.sockets[0].getsockname()[1])
        await loop.run_in_executor(None, pipe.recv)
        server.close()

    asyncio.run(main())


@contextmanager
def served(latency: float) -> Iterator[str]:
    """The base URL of a running server; this process keeps to the first core, the server to the last."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_setaffinity") else []
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, latency, cores[-1] if len(cores) > 1 else None), daemon=True)
    process.start()
    try:
        port = ours.recv()
        if len(cores) > 1:
            os.sched_setaffinity(0, {cores[0]})
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        if cores:
            os.sched_setaffinity(0, set(cores))
        ours.send(None)
        process.join(5)
        if process.is_alive():
            process.kill()
