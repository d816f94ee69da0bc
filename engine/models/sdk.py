"""Reaches Azure's deployments and the Responses API through the openai SDK."""

import importlib.util
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.chat import OpenAI
from wardround.engine.models.failure import failure
from wardround.engine.models.hosts import endpoint_url, host_of, printable_url, secrets_of
from wardround.engine.models.prices import Price
from wardround.engine.models.provider import ModelRequest, Provider, required_variable
from wardround.engine.models.reply import (
    chat_options,
    read_reply,
    read_usage,
    response_options,
    split_thinking,
    turns,
)
from wardround.engine.models.transport import Timeouts
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

if TYPE_CHECKING:
    import httpx
    import openai


class _Text(msgspec.Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str = ""
    content: list[_Text] | None = None
    summary: list[_Text] | None = None


class _Reason(msgspec.Struct):
    reason: str | None = None
    code: str | None = None


class _Body(msgspec.Struct):
    output: list[_Item]
    status: str | None = None
    model: str | None = None
    usage: Json = None
    error: _Reason | None = None
    incomplete_details: _Reason | None = None


_decode = msgspec.json.Decoder(_Body).decode
_FINISH = {"max_output_tokens": "length", "content_filter": "content_filter"}


def read_response(body: bytes, where: str, name: str, price: Price | None = None) -> Completion:
    """The completion in `body`, without its latency; `finish` has the values of chat completions.

    Raises ProviderError: malformed, empty (no output and no reason), refusal, content_filter, or an error that the
    endpoint reports under HTTP 200 (rate_limit, server).
    """
    try:
        read = _decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ProviderError("malformed", f"{where}: the reply is not one of the Responses API", status=200) from None
    if read.status == "failed" or read.error:
        code = (read.error.code if read.error else None) or ""
        kind = "rate_limit" if "rate_limit" in code else "server"
        raise ProviderError(kind, f"{where}: the endpoint reports that it failed", status=200)
    finish = "stop"
    if read.status == "incomplete":
        reason = (read.incomplete_details.reason if read.incomplete_details else None) or "incomplete"
        finish = _FINISH.get(reason, reason)
    spoken = [part for item in read.output if item.type == "message" for part in item.content or ()]
    text = "".join(part.text or "" for part in spoken if part.type == "output_text")
    if not text.strip() and finish == "content_filter":
        raise ProviderError("content_filter", f"{where}: the endpoint's filter took the whole reply", status=200)
    if not text.strip() and any(part.refusal for part in spoken):
        raise ProviderError("refusal", f"{where}: the model declined to answer", status=200)
    if not read.output and finish == "stop":
        raise ProviderError("empty", f"{where}: the reply holds no output", status=200)
    text, tagged = split_thinking(text)
    thoughts = [part.text for item in read.output if item.type == "reasoning" for part in _thoughts(item) if part.text]
    thinking = "\n\n".join([*thoughts, tagged] if tagged else thoughts)
    usage = read_usage(read.usage, price, into="input", out="output")
    return Completion(text, thinking, finish, read.model or name, usage)


def _thoughts(item: _Item) -> list[_Text]:
    """The thinking itself if the endpoint shows it, else its summary."""
    return item.content or item.summary or []


CONNECTIONS = 2000
"""The largest number of connections; the SDK's own limits are 1,000 or, over aiohttp, 100."""

AZURE_VERSION = "2024-10-21"
"""The `api-version` if OPENAI_API_VERSION names none."""


class _SdkModel(Model):
    """A model reached by a client of the SDK, which is made at the first call.

    The client has no retries, redirects or proxies of the environment, all of which would act unseen.
    """

    def __init__(
        self, name: str, base_url: str, *, key: str = "", price: Price | None = None, timeouts: Timeouts | None = None
    ) -> None:
        url = endpoint_url(base_url)
        self.name, self.host, self._address = name, host_of(url), printable_url(url)
        self.base_url, self.key, self.timeouts = str(url), key.strip(), timeouts or Timeouts()
        self.secrets = (self.key, *secrets_of(url))
        self.where = f"{name} at {self._address}"
        self.price = price
        self._client: openai.AsyncOpenAI | None = None

    @property
    def address(self) -> str:
        """The endpoint's address."""
        return self._address

    @abstractmethod
    def make_client(self, settings: dict[str, Json]) -> "openai.AsyncOpenAI":
        """The client with these settings."""

    @abstractmethod
    async def reply(self, messages: Sequence[Message], options: dict[str, Json]) -> Completion:
        """The completion of one call, without its latency."""

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion; raises ProviderError."""
        start = perf_counter()
        return msgspec.structs.replace(await self.reply(messages, options), latency=perf_counter() - start)

    @property
    def client(self) -> "openai.AsyncOpenAI":
        """The client of the SDK."""
        if self._client is None:
            settings = {"api_key": self.key or "none", "max_retries": 0, "http_client": _http(self.timeouts)}
            self._client = self.make_client(settings)
        return self._client

    async def aclose(self) -> None:
        """Close the client."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def ask(
        self, call: Callable[..., Awaitable[Any]], messages: Sequence[Message], body: dict[str, Json]
    ) -> bytes:
        """The body of the reply; raises ProviderError."""
        import openai  # noqa: PLC0415 it takes a second of processor time

        try:
            with anyio.fail_after(self.timeouts.total):
                return bytes((await call(**body)).content)
        except openai.APIStatusError as error:
            reply = error.response
            raise failure(
                self.where, reply.status_code, reply.headers, reply.content, secrets=self.secrets, messages=messages
            ) from None
        except TimeoutError:
            raise self._late() from None
        except openai.APIConnectionError as error:
            if isinstance(error, openai.APITimeoutError) and _timed_out(error):
                raise self._late() from None
            unheard = _unheard(error)
            said = "no connection: check the host's name, and whether anything listens there"
            what = said if unheard else "the connection was cut"
            raise ProviderError("connection", f"{self.where}: {what}", unheard=unheard) from None
        except openai.OpenAIError as error:
            raise ProviderError("malformed", f"{self.where}: the SDK raised {type(error).__name__}") from None
        except UnicodeEncodeError:
            raise ProviderError("unsendable", f"{self.where}: the messages are not valid text") from None

    def _late(self) -> ProviderError:
        times = self.timeouts
        return ProviderError(
            "timeout",
            f"{self.where}: no connection within {times.connect:g} s, no byte for {times.first_byte:g} s, "
            f"or no whole reply within {times.total:g} s",
        )


class AzureModel(_SdkModel):
    """A deployment of Azure OpenAI: `POST base/openai/deployments/NAME/chat/completions?api-version=...`.

    `max_tokens` is sent as `max_completion_tokens`, `shape` as `response_format`.
    """

    key_env = "AZURE_OPENAI_API_KEY"
    version = AZURE_VERSION

    def make_client(self, settings: dict[str, Json]) -> "openai.AsyncAzureOpenAI":
        """The client for the deployment."""
        import openai  # noqa: PLC0415 see above

        return openai.AsyncAzureOpenAI(
            azure_endpoint=self.base_url, azure_deployment=self.name, api_version=self.version, **settings
        )

    async def reply(self, messages: Sequence[Message], options: dict[str, Json]) -> Completion:
        """The completion of one call, without its latency."""
        if "max_tokens" in options:
            options["max_completion_tokens"] = options.pop("max_tokens")
        body = {"model": self.name, "messages": turns(messages), "extra_body": chat_options(options)}
        data = await self.ask(self.client.chat.completions.with_raw_response.create, messages, body)
        return read_reply(data, self.where, self.name, self.price)


class ResponsesModel(_SdkModel):
    """A model behind the Responses API: `POST base/responses`, nothing kept at the endpoint (`store` is false).

    `max_tokens` is sent as `max_output_tokens`, `shape` as `text.format`. The API has neither `seed` nor `stop`: they
    are sent all the same, and the endpoint refuses them.
    """

    key_env = "OPENAI_API_KEY"

    def make_client(self, settings: dict[str, Json]) -> "openai.AsyncOpenAI":
        """The client for the endpoint."""
        import openai  # noqa: PLC0415 see above

        return openai.AsyncOpenAI(base_url=self.base_url, **settings)

    async def reply(self, messages: Sequence[Message], options: dict[str, Json]) -> Completion:
        """The completion of one call, without its latency; raises UsageError for tools and for messages in parts."""
        if options.get("tools") or any(message.more for message in messages):
            raise UsageError(
                f"{self.name}: tools and messages in parts go through chat completions only: write openai/{self.name}"
            )
        if "max_tokens" in options:
            options["max_output_tokens"] = options.pop("max_tokens")
        body = {"model": self.name, "input": turns(messages), "store": False, "extra_body": response_options(options)}
        data = await self.ask(self.client.responses.with_raw_response.create, messages, body)
        return read_response(data, self.where, self.name, self.price)


class Azure(Provider):
    """Deployments of Azure OpenAI; OPENAI_API_VERSION names the version of the interface."""

    def address(self, env: Mapping[str, str], spec: str) -> str:
        """AZURE_OPENAI_ENDPOINT."""
        return required_variable(env, "AZURE_OPENAI_ENDPOINT", spec)

    def key(self, wanted: ModelRequest) -> str:
        """AZURE_OPENAI_API_KEY."""
        return wanted.needed(AzureModel.key_env)

    def model(self, wanted: ModelRequest) -> Model:
        """The deployment of this name."""
        price, key = wanted.price(public=True), self.key(wanted)
        made = AzureModel(wanted.name, wanted.address, key=key, price=price, timeouts=wanted.timeouts)
        made.version = wanted.env.get("OPENAI_API_VERSION") or AZURE_VERSION
        return made


class Responses(OpenAI):
    """The Responses API, of OpenAI's own models or at an address that the user names."""

    def model(self, wanted: ModelRequest) -> Model:
        """The model of this name."""
        price, key = self.price(wanted), self.key(wanted)
        return ResponsesModel(wanted.name, wanted.address, key=key, price=price, timeouts=wanted.timeouts)


def _http(timeouts: Timeouts) -> "httpx.AsyncClient":
    """The SDK's faster transport if its package is installed, else the default one."""
    import httpx  # noqa: PLC0415 see above
    import openai  # noqa: PLC0415 see above

    fast = importlib.util.find_spec("httpx_aiohttp") is not None
    make: Callable[..., httpx.AsyncClient] = openai.DefaultAioHttpClient if fast else openai.DefaultAsyncHttpxClient
    return make(
        follow_redirects=False,
        trust_env=False,
        limits=httpx.Limits(max_connections=CONNECTIONS, max_keepalive_connections=20),
        timeout=httpx.Timeout(timeouts.first_byte, connect=timeouts.connect, pool=None),
    )


def _root(error: BaseException) -> BaseException:
    while error.__cause__ is not None:
        error = error.__cause__
    return error


def _timed_out(error: BaseException) -> bool:
    """Whether it was a real timeout: the SDK's aiohttp transport reports every broken connection as one."""
    root = _root(error)
    return isinstance(root, TimeoutError) or type(root).__module__.partition(".")[0] in ("httpx", "httpcore")


def _unheard(error: BaseException) -> bool:
    """Whether no connection could be made at all."""
    names = {type(error.__cause__).__name__, type(_root(error)).__name__}
    return bool(names & {"ConnectError", "ClientConnectorError", "ClientConnectorDNSError", "ConnectionRefusedError"})
