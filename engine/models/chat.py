"""Calls the chat completions of an OpenAI-compatible endpoint."""

import errno
import re
import socket
import ssl
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from time import perf_counter

import anyio
import msgspec
from yarl import URL

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.batch_api import BatchApi, OpenAIBatches
from wardround.engine.models.failure import failure
from wardround.engine.models.hosts import endpoint_url, host_of, join_path, printable_url, secrets_of
from wardround.engine.models.prices import Price
from wardround.engine.models.provider import ModelRequest, Provider
from wardround.engine.models.reply import chat_options, read_reply, turns
from wardround.engine.models.transport import BrokenConnection, ConnectionPool, NotHttp, ReplyTimeout, Timeouts
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

KEEP_ALIVE = 30.0
"""Seconds an idle connection is kept."""


class Endpoint:
    """An endpoint's address and the connections to it; the first call opens one, nothing is sent before.

    There are as many open connections as calls in flight; the run's concurrency limits both. Proxies from the
    environment are not used and redirects are not followed, because both would send a case to a host that the user did
    not name.
    """

    def __init__(self, base_url: str, *, key: str = "", timeouts: Timeouts | None = None) -> None:
        self.timeouts = timeouts or Timeouts()
        self.url = endpoint_url(base_url)
        self.host = host_of(self.url)
        self.address = printable_url(self.url)
        self.key = key.strip()
        if not (self.key.isascii() and self.key.isprintable()):
            raise UsageError(f"the key for {self.host} holds characters that no key can have: check how it was set")
        self.secrets = (self.key, *secrets_of(self.url))
        sent = {
            "Host": self.url.host_port_subcomponent or self.host,
            "Content-Type": "application/json",
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            **({"Authorization": f"Bearer {self.key}"} if self.key else {}),
        }
        self._headers = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        self._heads: dict[URL, bytes] = {}
        self._connections = ConnectionPool(self.url, self.timeouts, KEEP_ALIVE)

    def path(self, path: str) -> URL:
        """The address of a call, such as `chat/completions`."""
        return join_path(self.url, path)

    async def post(self, url: URL, body: bytes, where: str, more: bytes = b"") -> tuple[int, Mapping[str, str], bytes]:
        """(status, headers with lower-case names, body) of the reply; raises ProviderError timeout or connection.

        `more` are further lines of the request's head.
        """
        head = self._heads.get(url)
        if head is None:
            head = self._heads[url] = f"POST {url.raw_path_qs} HTTP/1.1\r\n{self._headers}".encode("ascii")
        try:
            return await self._connections.request(head + more if more else head, body)
        except ReplyTimeout as error:
            raise ProviderError("timeout", f"{where}: {error}") from None
        except OSError as error:
            unheard = isinstance(error, ConnectionRefusedError | socket.gaierror) or error.errno in _UNREACHABLE
            raise ProviderError("connection", f"{where}: {_connection_message(error)}", unheard=unheard) from None

    async def alive(self, within: float) -> bool:
        """Whether the endpoint answers `GET base/models` within so many seconds, with a status below 500."""
        url = self.path("models")
        head = f"GET {url.raw_path_qs} HTTP/1.1\r\n{self._headers}".encode("ascii")
        with anyio.move_on_after(within):
            try:
                status, _, _ = await self._connections.request(head, b"")
            except OSError:
                return False
            return status < 500
        return False

    async def aclose(self) -> None:
        """Close the connections; a later call opens new ones."""
        await self._connections.aclose()


_UNREACHABLE = (errno.EHOSTUNREACH, errno.ENETUNREACH)


def _connection_message(error: OSError) -> str:
    """The message for a broken connection."""
    match error:
        case NotHttp():
            return f"what came back is {error}"
        case BrokenConnection():
            return str(error)
        case OSError(errno=errno.EMFILE):
            return "too many open files: run fewer episodes at once, or raise the limit with `ulimit -n`"
    return next((text for kind, text in _BROKEN if isinstance(error, kind)), f"no connection ({error.strerror})")


_BROKEN = (
    (socket.gaierror, "the host's name is not known (DNS)"),
    (ssl.SSLError, "no secure connection (TLS): check the certificate, or whether the endpoint speaks plain http"),
    (ConnectionRefusedError, "the connection was refused: nothing listens there"),
    (ConnectionError, "the connection was cut"),
)


OPENAI_HOST = "api.openai.com"
PUBLIC = f"https://{OPENAI_HOST}/v1"
"""The address of OpenAI's own models."""

_encode = msgspec.json.Encoder().encode
_RESERVED = frozenset(("messages", "model", "stream", "n"))


class ChatModel(Model):
    """A model behind `POST base/chat/completions`: one reply, not streamed, without retries (see `wrappers.Retrying`).

    Options go into the body under their own names, except those that are None. `max_tokens` is sent to OpenAI's public
    host as `max_completion_tokens`, the only name that all its models accept. `shape` is sent as `response_format`.

    With a `session_header`, the calls of one seat in one episode name their conversation in this header, so that a
    router can send them to the server that has their prefix in its cache.
    """

    key_env = "OPENAI_API_KEY"

    def __init__(self, name: str, endpoint: Endpoint, *, price: Price | None = None, session_header: str = "") -> None:
        self.name = name
        self.session_header = session_header
        self._session = b""
        self.host = endpoint.host
        self._endpoint, self._price = endpoint, price
        self._url = endpoint.path("chat/completions")
        self._where = f"{name} at {endpoint.address}"
        self._public = endpoint.host == OPENAI_HOST

    @property
    def address(self) -> str:
        """The endpoint's address."""
        return self._endpoint.address

    @property
    def price(self) -> Price | None:
        """The price of its tokens, if known."""
        return self._price

    def batches(self) -> BatchApi:
        """The endpoint's batch interface."""
        return OpenAIBatches(str(self._endpoint.url), self._endpoint.key, self._endpoint.address)

    def bound(self, role: str, episode: str) -> "ChatModel":
        """The model for one seat and episode: the same, with their session in each request."""
        if not self.session_header or not episode:
            return self
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        made._session = f"{self.session_header}: {session_of(role, episode)}\r\n".encode("ascii")
        return made

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion; raises ProviderError (kinds in `engine.errors`). `purpose` is not sent."""
        start = perf_counter()
        body = encode_body(self.name, messages, options, new_name=self._public)
        status, headers, data = await self._endpoint.post(self._url, body, self._where, self._session)
        if status != 200:
            raise failure(self._where, status, headers, data, secrets=self._endpoint.secrets, messages=messages)
        completion = read_reply(data, self._where, self.name, self._price)
        return msgspec.structs.replace(completion, latency=perf_counter() - start)

    async def alive(self, within: float) -> bool:
        """Whether the endpoint answers a free request within so many seconds."""
        return await self._endpoint.alive(within)

    async def aclose(self) -> None:
        """Close the endpoint's connections."""
        await self._endpoint.aclose()


def session_of(role: str, episode: str) -> str:
    """The name of a seat's conversation in one episode. It is the same in every process and hides the case's id."""
    return blake2b(f"{role}\x1f{episode}".encode(), digest_size=12).hexdigest()


SESSION_HEADER = "X-Session-ID"
"""The header that routers of vLLM, SGLang and Ray Serve know by default."""
_HEADER = re.compile(r"[A-Za-z][A-Za-z0-9-]{0,63}")
_RESERVED_HEADERS = frozenset(
    (
        *("accept", "accept-encoding", "authorization", "connection", "content-length", "content-type", "cookie"),
        *("api-key", "expect", "host", "te", "trailer", "transfer-encoding", "upgrade"),
    )
)


def checked_header(name: str) -> str:
    """`name`, if a header of this name can say which session a call belongs to; raises UsageError otherwise."""
    if not _HEADER.fullmatch(name) or name.lower() in _RESERVED_HEADERS:
        raise UsageError(f"{name!r} cannot be the header of a session: write a name such as X-Session-ID, or none")
    return name


def encode_body(name: str, messages: Sequence[Message], options: dict[str, Json], *, new_name: bool) -> bytes:
    """The request's JSON; with `new_name`, `max_tokens` is sent as `max_completion_tokens`.

    Raises UsageError for an option that would ask for something else than one whole reply, and ProviderError for a
    text that JSON cannot hold.
    """
    if not _RESERVED.isdisjoint(options):
        raise UsageError(f"the option `{min(_RESERVED & options.keys())}` cannot be set: one whole reply is asked for")
    body: dict[str, Json] = {"model": name, "messages": turns(messages), **chat_options(options)}
    if new_name and "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    try:
        return _encode(body)
    except UnicodeEncodeError:
        raise ProviderError(
            "unsendable", f"{name}: the messages hold half of a surrogate pair, which is not valid text"
        ) from None


class OpenAI(Provider):
    """Chat completions of OpenAI's own models, and of any model at an address that the user names."""

    def address(self, env: Mapping[str, str], spec: str) -> str:
        """OPENAI_BASE_URL, else OpenAI itself."""
        return env.get("OPENAI_BASE_URL") or PUBLIC

    def key(self, wanted: ModelRequest) -> str:
        """OPENAI_API_KEY; only OpenAI's own host requires it."""
        if wanted.host == OPENAI_HOST or wanted.host.endswith("." + OPENAI_HOST):
            return wanted.needed("OPENAI_API_KEY", "; for an endpoint of your own give --base-url")
        return wanted.env.get("OPENAI_API_KEY", "")

    def price(self, wanted: ModelRequest) -> Price | None:
        """The user's own price; without one, the list price of OpenAI's models at OpenAI's own host."""
        mine = wanted.provider in ("openai", "openai-responses")
        return wanted.price(public=mine and wanted.host == OPENAI_HOST)

    def model(self, wanted: ModelRequest) -> Model:
        """The model; if `spec` does not begin with `openai/`, the whole spec is the model's name at the endpoint."""
        price = self.price(wanted)
        endpoint = Endpoint(wanted.address, key=self.key(wanted), timeouts=wanted.timeouts)
        name = wanted.name if wanted.provider == "openai" else wanted.spec
        session = "" if endpoint.host == OPENAI_HOST else wanted.session_header
        return ChatModel(name, endpoint, price=price, session_header=session)
