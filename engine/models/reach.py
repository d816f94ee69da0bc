"""From `provider/model`, as a user writes it, to a model that is retried."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, Unpack

from wardround.engine.errors import UsageError
from wardround.engine.models.chat import OPENAI_HOST, ChatModel
from wardround.engine.models.endpoint import Endpoint
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gates import Gates
from wardround.engine.models.hosts import address, addresses, host_of
from wardround.engine.models.limited import Limited
from wardround.engine.models.prices import Prices
from wardround.engine.models.providers import ProviderModel, redirected
from wardround.engine.models.retry import Patience, Retrying
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.sdk import AzureModel, ResponsesModel
from wardround.engine.models.transport import Timeouts
from wardround.engine.plugins import imported
from wardround.engine.protocols import Model

PUBLIC = f"https://{OPENAI_HOST}/v1"
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


class Means(TypedDict, total=False):
    """What models are reached with; each has a usual value. Models that share `gates` share their endpoints' limits."""

    prices: Prices | None
    timeouts: Timeouts | None
    patience: Patience | None
    gates: Gates | None


def reach(
    spec: str, *, env: Mapping[str, str], base_url: str | Sequence[str] | None = None, **means: Unpack[Means]
) -> Model:
    """The model that `spec` names, behind the gate of its endpoint, and tried again; nothing is sent yet.

    - `openai/MODEL`: chat completions at `base_url`, else OPENAI_BASE_URL, else OpenAI itself; the key is
      OPENAI_API_KEY, which only OpenAI's own host requires.
    - `openai-responses/MODEL`: the same for the Responses API.
    - `azure/DEPLOYMENT`: at `base_url` or AZURE_OPENAI_ENDPOINT, key AZURE_OPENAI_API_KEY, OPENAI_API_VERSION.
    - `scripted/TEXT` answers TEXT to everything, `scripted/package.module:NAME` from that list or function.
    - `litellm/PROVIDER/MODEL`, and any other `PROVIDER/MODEL`: through litellm (extra `litellm`).
    - any other `A/B` with `base_url`: chat completions there, of a model whose whole name is `A/B`, as servers of open
      models name theirs; its key is OPENAI_API_KEY too.

    Several addresses, as a sequence or separated by commas, make a fleet (engine/models/fleet.py).

    Raises UsageError: no such form, a missing key (named by its variable), a missing extra, a bad address.
    """
    provider, slash, name = spec.partition("/")
    if not slash or not provider or not name.strip():
        raise UsageError(f"{spec!r} names no model: write provider/model, such as openai/gpt-4o")
    if provider == "scripted":
        return _scripted(name)
    gates = means.get("gates") or Gates()
    given = addresses(base_url) or addresses(_usual(provider, env, spec))
    models = [_limited(spec, where, env, means, gates) for where in given or ("",)]
    return Retrying(Fleet(models) if len(models) > 1 else models[0], means.get("patience"))


def _usual(provider: str, env: Mapping[str, str], spec: str) -> str:
    """Where a provider is found if nothing is said; "" leaves it to litellm."""
    if provider == "azure":
        return _needed(env, "AZURE_OPENAI_ENDPOINT", spec)
    return env.get("OPENAI_BASE_URL") or PUBLIC if provider in ("openai", "openai-responses") else ""


def _limited(spec: str, where: str, env: Mapping[str, str], means: Means, gates: Gates) -> Limited:
    """The model at one address, or with "" wherever litellm finds it."""
    provider, _, name = spec.partition("/")
    timeouts = means.get("timeouts")
    price = (means.get("prices") or Prices()).of(spec, name, public=_public(provider, where))
    common: dict[str, Any] = {"price": price, "timeouts": timeouts}
    if provider == "litellm" or not where:
        made = ProviderModel(spec.removeprefix("litellm/"), base_url=where or None, **common)
        return Limited(made, gates.of(made.address))
    if provider == "azure":
        key = _needed(env, "AZURE_OPENAI_API_KEY", spec)
        azure = AzureModel(name, where, key=key, version=env.get("OPENAI_API_VERSION", ""), **common)
        return Limited(azure, gates.of(azure.address, key))
    key = _openai_key(env, where, spec)
    if provider == "openai-responses":
        responses = ResponsesModel(name, where, key=key, **common)
        return Limited(responses, gates.of(responses.address, key))
    endpoint = Endpoint(where, key=key, timeouts=timeouts)
    chat = ChatModel(name if provider == "openai" else spec, endpoint, price=price)
    return Limited(chat, gates.of(chat.address, key))


def _public(provider: str, where: str) -> bool:
    """Whether a provider is reached at its own address, where its list of prices holds."""
    if provider in ("openai", "openai-responses"):
        return host_of(address(where)) == OPENAI_HOST
    return provider == "azure" or (not where and not redirected(provider))


def _openai_key(env: Mapping[str, str], where: str, spec: str) -> str:
    host = host_of(address(where))
    if host == OPENAI_HOST or host.endswith("." + OPENAI_HOST):
        return _needed(env, "OPENAI_API_KEY", spec)
    return env.get("OPENAI_API_KEY", "")


def _needed(env: Mapping[str, str], variable: str, spec: str) -> str:
    value = env.get(variable, "").strip()
    if not value:
        hint = "; for an endpoint of your own give --base-url" if variable == "OPENAI_API_KEY" else ""
        raise UsageError(f"{spec!r} needs the environment variable {variable}, which is not set{hint}")
    return value


def _scripted(text: str) -> Scripted:
    if _OBJECT.fullmatch(text):
        script = imported(text)
        if not callable(script) and (isinstance(script, str) or not hasattr(script, "__getitem__")):
            raise UsageError(f"scripted/{text} must be a list of replies or a function of (messages, purpose)")
        return Scripted(script, name=text)
    return Scripted(lambda messages, purpose: text, name="scripted")
