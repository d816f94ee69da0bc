"""A small server on this machine that speaks the OpenAI protocol and fails on demand: for tests and benchmarks."""

import argparse
import asyncio
import json
import socket
import struct
import time
from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from hashlib import blake2b
from types import TracebackType
from typing import Literal, TypedDict, Unpack, cast
from urllib.parse import parse_qs, urlsplit

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.testing import wire
from wardround.testing.wire import Fault, Faults, Rates, ReceivedRequest, Schedule

Answering = Callable[[bytes], tuple[int, bytes]]
"""A function from the body of a request to the (status, body) of its answer."""
End = Literal["completed", "failed", "expired", "cancelled", "half"]
"""How a batch ends. `half` completes with an error of the server (500) for every other request; `expired` answers every
other request and leaves the rest."""


class Batches:
    """The files and batches of a loopback server.

    A batch ends `seconds` after it was created: the n-th in the way that `ends` says for it, later ones completed.
    `created` counts the batches, `requests` the requests within them: what a provider would charge for. `deaf` is how
    often the reply to the creation of a batch is lost, as in a broken connection.
    """

    def __init__(self, seconds: float = 0.0, ends: Sequence[End] = (), deaf: int = 0) -> None:
        self.seconds, self.ends, self.deaf = seconds, tuple(ends), deaf
        self.created = self.requests = 0
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, dict[str, Json]] = {}

    def reply(self, asked: ReceivedRequest, answer: Answering) -> bytes | None:
        """The whole HTTP reply; None if the path belongs to something else."""
        parts = [part for part in urlsplit(asked.path).path.split("/") if part][1:]
        match asked.method, parts:
            case "POST", ["files"]:
                return _json(self._uploaded(asked))
            case "GET", ["files", name, "content"]:
                return wire.http(200, self._files[name]) if name in self._files else _no_such(name)
            case "POST", ["batches"]:
                made = self._create(asked.json())
                if self.deaf:
                    self.deaf -= 1
                    return b""
                return _json(made)
            case "GET", ["batches"]:
                return _json(self._page(parse_qs(urlsplit(asked.path).query)))
            case "GET", ["batches", name]:
                return _json(self._state(name, answer)) if name in self._batches else _no_such(name)
        return None

    def _uploaded(self, asked: ReceivedRequest) -> Mapping[str, Json]:
        """Keep the file of a multipart form."""
        boundary = b"--" + asked.headers["content-type"].partition("boundary=")[2].strip('"').encode()
        content = next(part for part in asked.body.split(boundary) if b"filename=" in part)
        name = f"file-{len(self._files)}"
        self._files[name] = content.partition(b"\r\n\r\n")[2].removesuffix(b"\r\n")
        return {"id": name, "object": "file", "bytes": 0, "created_at": 0, "filename": "requests.jsonl", **_FILE}

    def _create(self, body: Mapping[str, Json]) -> Mapping[str, Json]:
        name = f"batch-{len(self._batches)}"
        ends = self.ends[self.created] if self.created < len(self.ends) else "completed"
        self.created += 1
        self.requests += self._files[body["input_file_id"]].count(b"\n")
        batch = {"id": name, "object": "batch", "status": "in_progress", "created_at": int(time.time()), **body}
        self._batches[name] = {**batch, "_until": time.monotonic() + self.seconds, "_ends": ends}
        return self._batch_json(name)

    def _page(self, query: Mapping[str, Sequence[str]]) -> Mapping[str, Json]:
        """The latest batches first, in pages of two, so that a client must look beyond the first."""
        names = list(reversed(self._batches))
        after = query.get("after", [""])[0]
        start = names.index(after) + 1 if after in names else 0
        page = [self._batch_json(name) for name in names[start : start + 2]]
        ids = {"first_id": page[0]["id"], "last_id": page[-1]["id"]} if page else {}
        return {"object": "list", "data": page, "has_more": start + 2 < len(names), **ids}

    def _state(self, name: str, answer: Answering) -> Mapping[str, Json]:
        batch = self._batches[name]
        if batch["status"] == "in_progress" and time.monotonic() >= batch["_until"]:
            self._end(batch, answer)
        return self._batch_json(name)

    def _end(self, batch: dict[str, Json], answer: Answering) -> None:
        ends: End = batch["_ends"]
        batch["status"] = "completed" if ends == "half" else ends
        if ends == "failed":
            error = {"code": "invalid_request", "message": "The file cannot be read.", "line": None, "param": None}
            batch["errors"] = {"object": "list", "data": [error]}
            return
        rows = [json.loads(row) for row in self._files[batch["input_file_id"]].splitlines()]
        done: list[Json] = []
        undone: list[Json] = []
        for place, row in enumerate(rows):
            if place % 2 and ends in ("expired", "cancelled"):
                error = {"code": "batch_expired", "message": "This request could not be executed in time."}
                undone.append({"custom_id": row["custom_id"], "response": None, "error": error})
                continue
            broken = {"error": {"message": "The server had an error.", "code": "server_error"}}
            failed = place % 2 and ends == "half"
            status, body = (500, json.dumps(broken).encode()) if failed else answer(json.dumps(row["body"]).encode())
            response = {"status_code": status, "request_id": "r", "body": json.loads(body)}
            (undone if status != 200 else done).append(
                {"custom_id": row["custom_id"], "response": response, "error": None}
            )
        for field, lines in (("output_file_id", done), ("error_file_id", undone)):
            if lines:
                name = batch[field] = f"{batch['id']}-{field}"
                self._files[name] = b"".join(json.dumps(line).encode() + b"\n" for line in reversed(lines))

    def _batch_json(self, name: str) -> dict[str, Json]:
        return {field: value for field, value in self._batches[name].items() if not field.startswith("_")}


_FILE: Mapping[str, Json] = {"purpose": "batch", "status": "processed"}


def _json(value: Mapping[str, Json]) -> bytes:
    return wire.http(200, msgspec.json.encode(value))


def _no_such(name: str) -> bytes:
    return wire.error(404, "not_found", f"There is no {name}.")


CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"


class Takes(TypedDict, total=False):
    """Optional settings of the loopback server: the key, models and shapes that it accepts."""

    key: str
    models: Sequence[str]
    shapes: wire.Shapes
    refuses: Sequence[str]
    batches: Batches


class Loopback:
    """The server, as an async context manager.

    ::

        async with Loopback(lambda messages, model: "DIAGNOSIS: Gout", faults=[Fault("rate_limit")]) as server:
            doctor = {"spec": "openai/any", "base_url": server.base_url}
            await wardround.run("bundled", "consultation", seats={"doctor": doctor}, limit=1)
        assert server.total == 2

    `reply(messages, model)` returns the text of an answer, or a whole `message` object; the default repeats the last
    message. `latency` is in seconds. `faults` is a list (one entry for each request, None for no fault), or `Rates`;
    with `only` they apply only to the requests for which it returns True. With `key`, other keys get 401; with
    `models`, other models get 404. A request with a parameter of `refuses` gets 400, as from a reasoning model. If a
    request names a shape of the reply (a JSON schema), `shapes` says what happens: it is `ignored`, `refused` with 400,
    or `taken`, so that an answer that does not fit becomes the smallest value that does.
    It serves `/v1/chat/completions`, `/v1/responses`, `/v1/models`, `/openai/deployments/NAME/chat/completions`,
    `/v1/files` and `/v1/batches` (see `Batches`), and its own counts under `/counts`.

    `total` counts the requests for an answer, `counts` the occurrences of each distinct body (by its hash), `most` the
    largest number of requests that waited at the same time; `asked` keeps the last 1,000 requests.
    """

    def __init__(
        self,
        reply: wire.Reply = wire.echo_last,
        *,
        latency: float = 0.0,
        faults: Faults | Sequence[Fault | str | None] = (),
        only: Callable[[ReceivedRequest], bool] | None = None,
        **takes: Unpack[Takes],
    ) -> None:
        self.reply, self.latency = reply, latency
        self.key, self.models = takes.get("key", ""), tuple(takes.get("models", ()))
        self.shapes: wire.Shapes = takes.get("shapes", "ignored")
        self.refuses = tuple(takes.get("refuses", ()))
        self.batches = takes.get("batches") or Batches()
        self.faults = cast(Faults, faults) if hasattr(faults, "pick") else Schedule(faults)
        self.only = only
        self.total = self.waiting = self.most = 0
        self.counts: Counter[str] = Counter()
        self.asked: deque[ReceivedRequest] = deque(maxlen=1000)
        self.port = 0
        self.connections: set[_Connection] = set()
        self._server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        """The base URL for an OpenAI client."""
        return f"{self.url}/v1"

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1; port 0 chooses a free port."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), "127.0.0.1", port, backlog=4096)
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Close all connections and stop listening."""
        if self._server is not None:
            self._server.close()
            for connection in list(self.connections):
                connection.abort()
            await self._server.wait_closed()
            self._server = None

    async def __aenter__(self) -> "Loopback":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    def answer(self, asked: ReceivedRequest) -> tuple[bytes, Fault | None]:
        """The whole HTTP reply to a request, and the fault that spoils its sending."""
        path = asked.path.partition("?")[0]
        if path.startswith(("/v1/files", "/v1/batches")):
            whole = self._refused_key(asked) or self.batches.reply(asked, self.completion_of)
            return wire.error(404, "not_found", f"There is no {path}.") if whole is None else whole, None
        if asked.method == "GET":
            return self._status(path), None
        deployment = _deployment(path)
        if asked.method != "POST" or not (path in (CHAT, RESPONSES) or deployment):
            return wire.error(404, "not_found", f"There is no {asked.method} {path}."), None
        digest = blake2b(asked.body, digest_size=16).hexdigest()
        number, occurrence = self.total, self.counts[digest]
        self.total += 1
        self.counts[digest] += 1
        self.asked.append(asked)
        spoiled = self.only is None or self.only(asked)
        fault = self.faults.pick(number, digest, occurrence) if spoiled else None
        return self._answer(asked, deployment, path == RESPONSES, fault), fault

    def completion_of(self, body: bytes) -> tuple[int, bytes]:
        """(status, body) of the answer to one request of a batch; it counts as any other request."""
        whole, _ = self.answer(ReceivedRequest("POST", CHAT, {"authorization": f"Bearer {self.key}"}, body))
        head, _, answer = whole.partition(b"\r\n\r\n")
        return int(head.split(b" ", 2)[1]), answer

    def _answer(self, asked: ReceivedRequest, deployment: str, responses: bool, fault: Fault | None) -> bytes:
        if wrong_key := self._refused_key(asked):
            return wrong_key
        try:
            question = wire.read_question(asked.body)
        except msgspec.DecodeError as error:
            return wire.error(400, "invalid_request", f"The body cannot be read: {error}")
        model = deployment or question.model
        if self.models and model not in self.models:
            return wire.error(404, "model_not_found", f"The model {model} does not exist.")
        if fault is not None and (refusal := wire.refusal(fault, model)) is not None:
            return refusal
        if self.shapes == "refused" and question.shape():
            return wire.error(400, "invalid_request", "A response format of type json_schema is not supported here.")
        if refused := next((name for name in self.refuses if name in asked.json()), ""):
            return wire.unsupported_param(refused)
        messages = question.conversation()
        kind = fault.kind if fault else ""
        try:
            answer = "" if kind == "empty" else self.reply(messages, model)
        except Exception as error:  # noqa: BLE001 a user's reply function: the client gets its error
            return wire.error(500, "reply_function", f"the reply function raised {error!r}")
        if self.shapes == "taken" and kind != "empty":
            answer = wire.fit_shape(answer, question.shape())
        chars = sum(len(message.content) for message in messages)
        if kind == "no_choices":
            return wire.http(200, b'{"output": [], "status": "completed"}' if responses else b'{"choices": []}')
        if responses:
            return wire.http(200, wire.response(answer, model, chars, refused=kind == "refusal"))
        if kind == "refusal":
            answer = {"content": None, "refusal": "I cannot help with that."}
        return wire.http(200, wire.completion(answer, model, chars))

    def _refused_key(self, asked: ReceivedRequest) -> bytes | None:
        """The reply to a request with another key."""
        if self.key and self.key not in (asked.headers.get("authorization", "")[7:], asked.headers.get("api-key")):
            return wire.error(401, "invalid_api_key", "Incorrect API key provided.")
        return None

    def _status(self, path: str) -> bytes:
        if path == "/v1/models":
            models = [{"id": name, "object": "model"} for name in self.models or ("loopback",)]
            return wire.http(200, msgspec.json.encode({"object": "list", "data": models}))
        if path == "/counts":
            counts = {"total": self.total, "most": self.most, "counts": dict(self.counts)}
            return wire.http(200, msgspec.json.encode(counts))
        return wire.error(404, "not_found", f"There is no GET {path}.")


class _Connection(asyncio.Protocol):
    """One connection: reads requests one after another and answers each after its latency."""

    def __init__(self, server: Loopback) -> None:
        self._server, self._buffer = server, bytearray()
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._server.connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._server.connections.discard(self)
        self._transport = None
        self._done()

    def abort(self) -> None:
        """Drop the connection."""
        if self._transport is not None:
            self._transport.abort()

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if self._timer is None:
            self._next()

    def _next(self) -> None:
        asked = self._take()
        if asked is None or self._transport is None:
            return
        reply, fault = self._server.answer(asked)
        wait = fault.seconds if fault and fault.kind == "stall" else self._server.latency
        self._server.waiting += 1
        self._server.most = max(self._server.most, self._server.waiting)
        self._timer = asyncio.get_running_loop().call_later(wait, self._send, reply, fault)

    def _send(self, reply: bytes, fault: Fault | None) -> None:
        self._done()
        transport = self._transport
        if transport is None:
            return
        kind = fault.kind if fault else ""
        if kind == "reset":
            # A linger time of 0 makes the kernel send RST instead of closing normally.
            sock = transport.get_extra_info("socket")
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            transport.abort()
        elif not reply:
            transport.abort()
        elif kind == "truncated":
            transport.write(reply[: len(reply) - max(1, len(reply) // 8)])
            transport.close()
        else:
            transport.write(reply)
            self._next()

    def _done(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
            self._server.waiting -= 1

    def _take(self) -> ReceivedRequest | None:
        """The next whole request in the buffer."""
        head, mark, _ = self._buffer.partition(b"\r\n\r\n")
        if not mark:
            return None
        first, *lines = head.decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in lines)
        headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
        end = len(head) + 4 + int(headers.get("content-length", "0"))
        if len(self._buffer) < end:
            return None
        method, path, _ = first.split(" ", 2)
        body = bytes(self._buffer[len(head) + 4 : end])
        del self._buffer[:end]
        return ReceivedRequest(method, path, headers, body)


def _deployment(path: str) -> str:
    """NAME of `/openai/deployments/NAME/chat/completions`, else ''."""
    start, end = "/openai/deployments/", "/chat/completions"
    return path[len(start) : -len(end)] if path.startswith(start) and path.endswith(end) else ""


async def _serve(server: Loopback, port: int) -> None:
    await server.start(port)
    print(server.base_url, flush=True)
    await asyncio.Event().wait()


def _rate(text: str) -> tuple[str, float]:
    kind, _, rate = text.partition("=")
    return kind, float(rate)


def run_server() -> None:
    """Run the server alone: it prints its base URL and serves until it is stopped."""
    parser = argparse.ArgumentParser(prog="python -m wardround.testing.loopback", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each reply")
    parser.add_argument("--reply", help="answer this to everything, instead of repeating the last message")
    parser.add_argument(
        "--fault", type=_rate, action="append", default=[], metavar="KIND=RATE", help="such as reset=0.1"
    )
    parser.add_argument("--shapes", choices=["ignored", "refused", "taken"], default="ignored", help="of replies")
    parser.add_argument("--refuse", action="append", default=[], metavar="PARAMETER", help="refuse requests with it")
    parser.add_argument("--seed", type=int, default=0, help="of the faults")
    arguments = parser.parse_args()
    text: str | None = arguments.reply
    reply = wire.echo_last if text is None else lambda _messages, _model: text
    try:
        faults = Rates(dict(arguments.fault), arguments.seed)
        server = Loopback(
            reply, latency=arguments.latency, faults=faults, shapes=arguments.shapes, refuses=arguments.refuse
        )
        asyncio.run(_serve(server, arguments.port))
    except UsageError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"port {arguments.port} cannot be listened to: {error.strerror}; --port 0 takes a free one")
    except KeyboardInterrupt:
        pass


if __name__ == "__main__":
    run_server()
