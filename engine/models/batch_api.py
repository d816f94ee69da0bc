"""The batch interface of a provider: many requests in one file, answered within a day at half the price."""

import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Literal, Protocol, TypeVar, runtime_checkable

import anyio
import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.logs import log
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.records import Json

if TYPE_CHECKING:
    import openai

T = TypeVar("T")
TAG = "wardround"
"""The field of a batch's metadata by which a process finds the batches of an earlier one that was killed."""


class BatchState(msgspec.Struct, frozen=True):
    """The state of a batch: `files` names the files with answers and errors; `why` says why it failed as a whole."""

    status: Literal["running", "ended", "failed", "cancelled"]
    files: tuple[str, ...] = ()
    why: str = ""


class BatchLine(msgspec.Struct, frozen=True):
    """The outcome of one request: HTTP status and body; status 0 if it was not answered in time."""

    name: str
    status: int
    body: bytes


class BatchApi(Protocol):
    """Batches at one endpoint. A model whose endpoint has such an interface returns it by `Batchable.batches`."""

    where: str
    """The endpoint, for messages."""

    async def upload(self, requests: Iterable[tuple[str, Mapping[str, Json]]]) -> str:
        """Upload requests (name, body of a chat completion); returns the name of the file. Nothing is paid yet."""

    async def create(self, file: str, tag: str) -> str:
        """Begin a batch; returns its name. Call it once for each tag, because every batch that is begun is paid."""

    async def find(self, tag: str) -> str | None:
        """The batch with this tag; None if there is none."""

    async def state(self, batch: str) -> BatchState:
        """The state of a batch."""

    async def lines(self, file: str) -> list[BatchLine]:
        """The outcomes in a file."""

    async def aclose(self) -> None:
        """Close the connections."""


@runtime_checkable
class Batchable(Protocol):
    """A model that can be asked in batches; `price` is that of its tokens when it is asked directly."""

    @property
    def price(self) -> Price | None:
        """The price, None if it is not known."""

    def batches(self) -> BatchApi:
        """Its endpoint's batch interface."""


class OpenAIBatches:
    """The batch interface of OpenAI (`/files`, `/batches`), which several gateways have too."""

    def __init__(self, base_url: str, key: str, where: str) -> None:
        self._base_url, self._key, self.where = base_url, key, where
        self._client: openai.AsyncOpenAI | None = None

    def _open(self) -> "openai.AsyncOpenAI":
        if self._client is None:
            import httpx  # noqa: PLC0415 a run without batches does not pay for the import
            import openai  # noqa: PLC0415 see above

            http = httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=httpx.Timeout(600, connect=30))
            self._client = openai.AsyncOpenAI(
                base_url=self._base_url, api_key=self._key or "none", max_retries=0, http_client=http
            )
        return self._client

    async def _asked(self, ask: Callable[["openai.AsyncOpenAI"], Awaitable[T]]) -> T:
        """What the endpoint answers to `ask`; an error of the SDK is raised as a ProviderError."""
        client = self._open()
        import openai  # noqa: PLC0415 see above

        try:
            return await ask(client)
        except openai.APIStatusError as error:
            reply = error.response
            raise failure(self.where, reply.status_code, reply.headers, reply.content, secrets=(self._key,)) from None
        except openai.APIConnectionError:
            raise ProviderError("connection", f"{self.where}: no answer of the batch interface") from None
        except openai.OpenAIError as error:
            raise ProviderError("malformed", f"{self.where}: the SDK raised {type(error).__name__}") from None
        except (AttributeError, TypeError, ValueError) as error:  # a page of HTML, null, a list
            why = f"its batch interface answered with something else ({type(error).__name__})"
            raise ProviderError("malformed", f"{self.where}: {why}") from None

    async def upload(self, requests: Iterable[tuple[str, Mapping[str, Json]]]) -> str:
        """Upload the requests as JSON lines."""
        frame = {"method": "POST", "url": "/v1/chat/completions"}
        rows = [msgspec.json.encode({"custom_id": name, **frame, "body": body}) for name, body in requests]
        content = ("requests.jsonl", b"\n".join(rows) + b"\n")

        async def send(client: "openai.AsyncOpenAI") -> str:
            return (await client.files.create(file=content, purpose="batch")).id

        return await self._asked(send)

    async def create(self, file: str, tag: str) -> str:
        """Begin a batch. After a broken connection it looks whether the batch was begun, so that none is paid twice."""

        async def begin(client: "openai.AsyncOpenAI") -> str:
            made = await client.batches.create(
                input_file_id=file, endpoint="/v1/chat/completions", completion_window="24h", metadata={TAG: tag}
            )
            return made.id

        try:
            return await self._asked(begin)
        except ProviderError as error:
            if error.kind != "connection":
                raise
            await anyio.sleep(1.0)
            if (begun := await self.find(tag)) is None:
                raise
            return begun

    async def find(self, tag: str) -> str | None:
        """The batch with this tag."""

        async def search(client: "openai.AsyncOpenAI") -> str | None:
            async for batch in client.batches.list(limit=100):
                if (batch.metadata or {}).get(TAG) == tag:
                    return batch.id
            return None

        return await self._asked(search)

    async def state(self, batch: str) -> BatchState:
        """The state of a batch."""

        async def ask(client: "openai.AsyncOpenAI") -> BatchState:
            job = await client.batches.retrieve(batch)
            files = tuple(name for name in (job.output_file_id, job.error_file_id) if name)
            if job.status in ("completed", "expired"):
                return BatchState("ended", files)
            if job.status == "cancelled":
                return BatchState("cancelled", files)
            if job.status == "failed":
                errors = job.errors.data if job.errors else None
                return BatchState("failed", files, str(errors[0].message) if errors else "no reason is given")
            return BatchState("running")

        return await self._asked(ask)

    async def lines(self, file: str) -> list[BatchLine]:
        """The outcomes in a file."""
        content = await self._asked(lambda client: client.files.content(file))
        rows = [row for row in content.content.splitlines() if row.strip()]
        read = [line for row in rows if (line := _line(row)) is not None]
        if len(read) < len(rows):
            log.warning("lines of a batch cannot be read", endpoint=self.where, file=file, lines=len(rows) - len(read))
        return read

    async def aclose(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()


def _line(row: bytes) -> BatchLine | None:
    """The outcome in a line; None if the line has none, so that its request counts as unanswered."""
    try:
        read = json.loads(row)
    except (ValueError, RecursionError):
        return None
    if not isinstance(read, dict) or not isinstance(read.get("custom_id"), str):
        return None
    response = read.get("response")
    if isinstance(response, dict) and isinstance(response.get("status_code"), int):
        return BatchLine(read["custom_id"], response["status_code"], msgspec.json.encode(response.get("body")))
    return BatchLine(read["custom_id"], 0, msgspec.json.encode({"error": read.get("error")}))
