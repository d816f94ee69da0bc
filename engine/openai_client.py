"""Clients of the openai package whose requests are calls of a seat's model: recorded, limited, counted and replayed."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import msgspec

from wardround.engine.errors import ProviderError
from wardround.engine.openai_wire import (
    UnsupportedRequest,
    WireCall,
    chat_call,
    chat_chunks,
    chat_reply,
    error_body,
    response_call,
    response_events,
    response_reply,
)
from wardround.engine.records import Completion, Json, Message

if TYPE_CHECKING:
    import httpx
    import openai

BASE_URL = "http://wardround.invalid/v1"
"""The address of every client; nothing is ever sent to it."""
FAILED = "wardround.error"
"""The key under which a response's `extensions` have the ProviderError that the response stands for."""


class CalledModel(Protocol):
    """A seat's model."""

    name: str

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """Answer."""


class _ModelTransport:
    """The transport of a client. `models` are the seat's models by name, with the usual one under ""."""

    def __init__(self, models: Mapping[str, CalledModel]) -> None:
        self._models, self._count = models, 0

    async def answer(self, request: "httpx.Request", content: bytes) -> "httpx.Response":
        """The response to a request.

        An error that has no HTTP status is raised: the client raises its own connection error from it.
        """
        path = request.url.path.removeprefix("/v1")
        if request.method == "GET" and path == "/models":
            names = [name or self._models[""].name for name in self._models]
            data = [{"id": name, "object": "model", "created": 0, "owned_by": "wardround"} for name in names]
            return _response(request, 200, {"object": "list", "data": data})
        readers = {"/chat/completions": chat_call, "/responses": response_call}
        if request.method != "POST" or path not in readers:
            said = f"{request.method} {path} is not served: a seat's model has /chat/completions and /responses"
            return _response(request, 404, error_body(said, "not_found"))
        try:
            call = readers[path](msgspec.json.decode(content))
        except (UnsupportedRequest, msgspec.DecodeError) as error:
            return _response(request, 400, error_body(str(error), "invalid_request"))
        purpose = request.headers.get("x-purpose", "act")
        voice = self._models.get(call.model) or self._models[""]
        self._count += 1
        name = f"wardround-{self._count}"
        try:
            reply = await voice.complete(call.messages, purpose=purpose, **call.options)
        except ProviderError as error:
            if error.kind in ("refusal", "content_filter"):
                empty = Completion("", finish=error.kind, model=voice.name)
                return _reply_response(request, call, name, empty, str(error) if error.kind == "refusal" else None)
            if error.status is None or error.status < 400:
                raise
            response = _response(request, error.status, error_body(str(error), error.kind))
            response.extensions[FAILED] = error
            return response
        return _reply_response(request, call, name, reply, None)


def _reply_response(
    request: "httpx.Request", call: WireCall, name: str, reply: Completion, refusal: str | None
) -> "httpx.Response":
    chat = call.kind == "chat"
    body = chat_reply(reply, name, refusal) if chat else response_reply(reply, name, refusal, call)
    if not call.stream:
        return _response(request, 200, body)
    import httpx  # noqa: PLC0415 a run that needs no client does not pay for its import

    pieces = chat_chunks(body, usage=call.stream_usage) if chat else response_events(body)
    return httpx.Response(200, content="".join(pieces), headers={"content-type": "text/event-stream"}, request=request)


def _response(request: "httpx.Request", status: int, body: Json) -> "httpx.Response":
    import httpx  # noqa: PLC0415 see above

    headers = {"content-type": "application/json", "x-should-retry": "false"}
    return httpx.Response(status, content=msgspec.json.encode(body), headers=headers, request=request)


class _AsyncTransport(_ModelTransport):
    """The transport of an asynchronous client (httpx.AsyncBaseTransport)."""

    async def handle_async_request(self, request: "httpx.Request") -> "httpx.Response":
        """The response; httpx calls it."""
        return await self.answer(request, await request.aread())

    async def aclose(self) -> None:
        """Nothing is open."""

    async def __aenter__(self) -> "_AsyncTransport":
        return self

    async def __aexit__(self, *raised: object) -> None:
        """Nothing is open."""


class _SyncTransport(_ModelTransport):
    """The transport of a synchronous client (httpx.BaseTransport), which is used in another thread than the loop's."""

    def __init__(self, models: Mapping[str, CalledModel], loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(models)
        self._loop = loop

    def handle_request(self, request: "httpx.Request") -> "httpx.Response":
        """The response; httpx calls it."""
        content = request.read()
        try:
            here = asyncio.get_running_loop()
        except RuntimeError:
            here = None
        if here is self._loop:
            raise RuntimeError(
                "the synchronous client would block the event loop and wait for itself: call it in a thread, "
                "await asyncio.to_thread(...), or use seat.openai()"
            )
        return asyncio.run_coroutine_threadsafe(self.answer(request, content), self._loop).result()

    def close(self) -> None:
        """Nothing is open."""

    def __enter__(self) -> "_SyncTransport":
        return self

    def __exit__(self, *raised: object) -> None:
        """Nothing is open."""


def http_client(
    models: Mapping[str, CalledModel], loop: asyncio.AbstractEventLoop | None, *, sync: bool = False
) -> "httpx.AsyncClient | httpx.Client":
    """An httpx client whose requests are calls of the models, for frameworks that make their own openai client.

    With `sync` it is a synchronous client, for code in threads; its calls are made in `loop`, which must be given.
    """
    import httpx  # noqa: PLC0415 see above

    if not sync:
        transport = cast(httpx.AsyncBaseTransport, _AsyncTransport(models))
        return httpx.AsyncClient(transport=transport, base_url=BASE_URL, trust_env=False)
    if loop is None:
        raise RuntimeError("a synchronous client needs the event loop of the run: make the seat within it")
    return httpx.Client(
        transport=cast(httpx.BaseTransport, _SyncTransport(models, loop)), base_url=BASE_URL, trust_env=False
    )


def openai_client(
    models: Mapping[str, CalledModel], loop: asyncio.AbstractEventLoop | None, *, sync: bool = False
) -> "openai.AsyncOpenAI | openai.OpenAI":
    """A client of the openai package whose requests are calls of the models; it retries nothing itself."""
    import openai  # noqa: PLC0415 see above

    client = cast(Any, http_client(models, loop, sync=sync))
    make = openai.OpenAI if sync else openai.AsyncOpenAI
    return make(api_key="none", base_url=BASE_URL, max_retries=0, http_client=client)
