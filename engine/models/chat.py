"""Plain chat completions of any OpenAI-compatible endpoint, over a thin transport."""

from collections.abc import Mapping, Sequence
from time import perf_counter

import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.endpoint import Endpoint
from wardround.engine.models.failure import failure
from wardround.engine.models.prices import Price
from wardround.engine.models.provider import Provider, Wanted
from wardround.engine.models.reply import read_reply
from wardround.engine.models.shape import chat_options
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

OPENAI_HOST = "api.openai.com"
PUBLIC = f"https://{OPENAI_HOST}/v1"

_encode = msgspec.json.Encoder().encode
_OURS = frozenset(("messages", "model", "stream", "n"))


class ChatModel(Model):
    """`POST base/chat/completions`, one reply, not streamed; no retries of its own (see `retry.Retrying`).

    Options go into the body under their own names; None leaves one out. `max_tokens` is sent to OpenAI's public host
    as `max_completion_tokens`, the only name that all its models take; `shape` is sent as `response_format`.
    """

    key_env = "OPENAI_API_KEY"

    def __init__(self, name: str, endpoint: Endpoint, *, price: Price | None = None) -> None:
        self.name = name
        self.host = endpoint.host
        self._endpoint, self._price = endpoint, price
        self._url = endpoint.path("chat/completions")
        self._where = f"{name} at {endpoint.address}"
        self._public = endpoint.host == OPENAI_HOST

    @property
    def address(self) -> str:
        """The endpoint's."""
        return self._endpoint.address

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion; raises ProviderError (kinds in `engine.errors`). `purpose` is not sent."""
        start = perf_counter()
        body = encode_body(self.name, messages, options, new_name=self._public)
        status, headers, data = await self._endpoint.post(self._url, body, self._where)
        if status != 200:
            raise failure(self._where, status, headers, data, secrets=self._endpoint.secrets, messages=messages)
        completion = read_reply(data, self._where, self.name, self._price)
        return msgspec.structs.replace(completion, latency=perf_counter() - start)

    async def alive(self, within: float) -> bool:
        """Whether the endpoint answers a cheap question in so many seconds."""
        return await self._endpoint.alive(within)

    async def aclose(self) -> None:
        """Close the endpoint's connections."""
        await self._endpoint.aclose()


def encode_body(name: str, messages: Sequence[Message], options: dict[str, Json], *, new_name: bool) -> bytes:
    """The request's JSON; `new_name`: say `max_completion_tokens`."""
    body: dict[str, Json] = {
        "model": name,
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }
    if not _OURS.isdisjoint(options):
        raise UsageError(f"the option `{min(_OURS & options.keys())}` cannot be set: one whole reply is asked for")
    body.update(chat_options(options))
    if new_name and "max_tokens" in body:
        body["max_completion_tokens"] = body.pop("max_tokens")
    try:
        return _encode(body)
    except UnicodeEncodeError:
        raise ProviderError(
            "unsendable", f"{name}: the messages hold half of a surrogate pair, no valid text"
        ) from None


class OpenAI(Provider):
    """Chat completions: of OpenAI's own models, and of any other model at an address that the user names."""

    def address(self, env: Mapping[str, str], spec: str) -> str:
        """OPENAI_BASE_URL, else OpenAI itself."""
        return env.get("OPENAI_BASE_URL") or PUBLIC

    def key(self, wanted: Wanted) -> str:
        """OPENAI_API_KEY, which only OpenAI's own host requires."""
        if wanted.host == OPENAI_HOST or wanted.host.endswith("." + OPENAI_HOST):
            return wanted.needed("OPENAI_API_KEY", "; for an endpoint of your own give --base-url")
        return wanted.env.get("OPENAI_API_KEY", "")

    def price(self, wanted: Wanted) -> Price | None:
        """The list price at OpenAI's own host, for its own models."""
        mine = wanted.provider in ("openai", "openai-responses")
        return wanted.price(public=mine and wanted.host == OPENAI_HOST)

    def model(self, wanted: Wanted) -> Model:
        """The model; one of another provider's name is called by its whole name, as servers of open models do."""
        price = self.price(wanted)
        endpoint = Endpoint(wanted.address, key=self.key(wanted), timeouts=wanted.timeouts)
        return ChatModel(wanted.name if wanted.provider == "openai" else wanted.spec, endpoint, price=price)
