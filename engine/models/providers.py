"""Reaches every other provider through litellm, an extra that is imported at its first use."""

import importlib
import importlib.util
import os
from collections.abc import Collection, Sequence
from difflib import get_close_matches
from time import perf_counter
from types import ModuleType

import anyio
import msgspec

from wardround.engine.errors import ProviderError, UsageError
from wardround.engine.models.failure import error_kind, quotable, retry_after
from wardround.engine.models.hosts import endpoint_url, is_loopback, printable_url
from wardround.engine.models.prices import Price
from wardround.engine.models.provider import MODEL_KEY, PROVIDERS, ModelRequest, Provider
from wardround.engine.models.reply import chat_options, counts_both, read_object, turns
from wardround.engine.models.transport import Timeouts
from wardround.engine.plugins import plugin_names
from wardround.engine.protocols import Model
from wardround.engine.records import Completion, Json, Message

# By class name, because litellm's errors derive from one another and from the SDK's.
_KINDS = {
    "ContextWindowExceededError": "context_overflow",
    "ContentPolicyViolationError": "refused",
    "AuthenticationError": "auth",
    "PermissionDeniedError": "auth",
    "NotFoundError": "unknown_model",
    "BudgetExceededError": "quota",
    "Timeout": "timeout",
    "APIResponseValidationError": "malformed",
    "JSONSchemaValidationError": "malformed",
}


class ProviderModel(Model):
    """`litellm.acompletion(model="provider/model", ...)`, without its own retries.

    `host` is the provider's name. litellm chooses where the bytes go, follows redirects and uses the environment's
    proxies, so that even with a base URL the host is not certain. litellm finds the keys in the environment, as its
    documentation says for each provider.

    Without a `price` the cost is litellm's own figure, unless the model is `elsewhere`, at an address other than the
    provider's own, where no list price applies.
    """

    def __init__(
        self,
        spec: str,
        *,
        base_url: str | None = None,
        key: str = "",
        price: Price | None = None,
        timeouts: Timeouts | None = None,
    ) -> None:
        provider, _, self.name = spec.partition("/")
        litellm = _litellm(spec)
        # litellm is an untyped extra; some of its providers are names, some are members of an enumeration
        every = {str(getattr(known, "value", known)) for known in litellm.provider_list}
        if provider not in every or is_loopback(provider):
            raise UsageError(
                f"{spec!r}: {_meant(spec, every)}litellm knows no provider {provider!r}; for an endpoint of your own "
                "give --base-url, and the name of its model as openai/MODEL"
            )
        self.host = provider
        self._address = printable_url(endpoint_url(base_url)) if base_url else provider
        self.elsewhere = bool(base_url) or redirected(provider)
        self._spec, self._base_url, self._key, self._price = spec, base_url, key, price
        self._timeouts = timeouts or Timeouts()

    @property
    def address(self) -> str:
        """The base URL if there is one, else the provider's name."""
        return self._address

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The completion; raises ProviderError. `shape` is passed on as `response_format`, which litellm translates."""
        litellm, start = _litellm(self._spec), perf_counter()
        settings: dict[str, Json] = chat_options(options)
        if self._base_url:
            settings["api_base"] = self._base_url
        if self._key:
            settings["api_key"] = self._key
        try:
            with anyio.fail_after(self._timeouts.total):
                reply = await litellm.acompletion(
                    model=self._spec,
                    messages=turns(messages),
                    timeout=self._timeouts.first_byte,
                    num_retries=0,
                    max_retries=0,
                    **settings,
                )
        except TimeoutError:
            raise ProviderError("timeout", f"{self._spec}: no whole reply within {self._timeouts.total:g} s") from None
        except Exception as error:  # noqa: BLE001 litellm lets the errors of many libraries through
            raise self._failure(error, messages) from None
        body = _as_chat_completion(reply.to_dict())
        completion = read_object(body, self._spec, self.name, self._price)
        usage = completion.usage
        if usage.cost is None and not self.elsewhere and counts_both(body.get("usage")):
            usage = msgspec.structs.replace(usage, cost=_cost(reply))
        return msgspec.structs.replace(completion, usage=usage, latency=perf_counter() - start)

    def _failure(self, error: Exception, messages: Sequence[Message]) -> ProviderError:
        name, said = type(error).__name__, str(error)
        # litellm passes on the errors of many libraries; each has some of these attributes
        status = getattr(error, "status_code", None)
        status = status if isinstance(status, int) else None
        # The provider's own code says more than the class, and the message does not contain it.
        words = f"{getattr(error, 'code', '')} {getattr(error, 'body', '')} {said}"
        kind = _KINDS.get(name) or ("connection" if name == "APIConnectionError" else error_kind(status or 500, words))
        quoted = quotable(said, (self._key, *_keys()), messages)
        headers = getattr(error, "litellm_response_headers", None) or {}
        message = f"{self._spec}: {name}" + (f" ({quoted})" if quoted else "")
        return ProviderError(kind, message, status=status, retry_after=retry_after(headers))

    async def aclose(self) -> None:
        """Close litellm's connections, which all its models share."""
        await _litellm(self._spec).close_litellm_async_clients()


class LiteLLM(Provider):
    """Every provider that litellm knows, written `litellm/PROVIDER/MODEL` or `PROVIDER/MODEL`."""

    def key(self, wanted: ModelRequest) -> str:
        """The key from the variable that the user named; else litellm finds the key itself."""
        return wanted.env.get(MODEL_KEY, "")

    def model(self, wanted: ModelRequest) -> Model:
        """The model; litellm finds its key, and its address if there is no base URL."""
        price = wanted.price(public=not wanted.address and not redirected(wanted.provider))
        spec = wanted.spec.removeprefix("litellm/")
        key = self.key(wanted)
        return ProviderModel(spec, base_url=wanted.address or None, key=key, price=price, timeouts=wanted.timeouts)


def redirected(provider: str) -> bool:
    """Whether the environment sends litellm to another address than the provider's own (never true for Azure)."""
    name = provider.upper().replace("-", "_")
    return not name.startswith("AZURE") and any(os.environ.get(f"{name}_{end}") for end in ("API_BASE", "BASE_URL"))


_USUAL = (
    "anthropic",
    "bedrock",
    "cohere",
    "deepseek",
    "gemini",
    "groq",
    "mistral",
    "ollama",
    "openrouter",
    "vertex_ai",
)
"""Providers of litellm with which a misspelt name is compared if litellm, which knows them all, is not installed."""


def _meant(spec: str, others: Collection[str]) -> str:
    """`did you mean openai/gpt-4o? `, where the provider of a SPEC is nearly one that is known; else ""."""
    provider, _, model = spec.partition("/")
    known = [*plugin_names(PROVIDERS), *sorted(others)]
    near = [] if provider in known else get_close_matches(provider.lower(), known, 1, 0.7)
    return f"did you mean {near[0]}/{model}? " if near else ""


def _litellm(spec: str) -> ModuleType:
    if importlib.util.find_spec("litellm") is None:
        raise UsageError(
            f"{spec!r}: {_meant(spec, _USUAL)}such a provider is reached through litellm, which is not installed: "
            "pip install 'wardround[litellm]'; an OpenAI-compatible endpoint needs no litellm: give --base-url"
        )
    # Without this litellm tries to download its table of prices when it is imported.
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # Imported here because it takes four seconds of processor time.
    litellm = importlib.import_module("litellm")
    litellm.suppress_debug_info = True  # type: ignore[attr-defined]
    return litellm


def _as_chat_completion(body: dict[str, Json]) -> dict[str, Json]:
    """The body of a reply as a chat completion; litellm keeps a formal refusal among the provider-specific fields."""
    for choice in body.get("choices") or ():
        message = choice.get("message") or {}
        message.setdefault("refusal", (message.get("provider_specific_fields") or {}).get("refusal"))
    return body


def _cost(reply: object) -> float | None:
    """The cost by litellm's own table; None if it has no price, which it reports as nothing or as 0."""
    # untyped and private, but the only place where litellm reports a cost
    cost = getattr(reply, "_hidden_params", {}).get("response_cost")
    return float(cost) if isinstance(cost, int | float) and 0 < cost < float("inf") else None


def _keys() -> list[str]:
    """Values of environment variables whose names mark them as secrets."""
    ends = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
    return [value for name, value in os.environ.items() if name.upper().endswith(ends) and len(value) >= 8]
