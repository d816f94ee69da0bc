"""The batch interface of the loopback server: files, batches that end after a while, and how they may end badly."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Literal
from urllib.parse import parse_qs, urlsplit

import msgspec

from wardround.engine.records import Json
from wardround.testing import wire
from wardround.testing.wire import ReceivedRequest

Answering = Callable[[bytes], tuple[int, bytes]]
End = Literal["completed", "failed", "expired", "cancelled", "half"]
"""How a batch ends. `half` completes with an error of the server (500) for every other request; `expired` answers every
other request and leaves the rest."""


class Batches:
    """The files and batches of a loopback server.

    A batch ends `seconds` after it was created, the n-th as the n-th of `ends`, later ones as they should. `created`
    counts the batches, `requests` those within them: what a provider would charge for. With `deaf`, the reply to the
    creation of a batch is lost, as in a broken connection, so many times.
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
