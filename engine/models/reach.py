"""From `provider/model`, as a user writes it, to a model that is retried."""

import re
from collections.abc import Mapping
from typing import Any

from wardround.engine.errors import UsageError
from wardround.engine.models.chat import OPENAI_HOST, ChatModel
from wardround.engine.models.endpoint import Endpoint
from wardround.engine.models.hosts import address, host_of
from wardround.engine.models.prices import Prices
from wardround.engine.models.providers import ProviderModel
from wardround.engine.models.retry import Patience, Retrying
from wardround.engine.models.scripted import Scripted
from wardround.engine.models.sdk import AzureModel, ResponsesModel
from wardround.engine.models.transport import Timeouts
from wardround.engine.plugins import imported
from wardround.engine.protocols import Model

PUBLIC = f"https://{OPENAI_HOST}/v1"
_OBJECT = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


def reach(
    spec: str,
    *,
    env: Mapping[str, str],
    base_url: str | None = None,
    prices: Prices | None = None,
    timeouts: Timeouts | None = None,
    patience: Patience | None = None,
) -> Model:
    """The model that `spec` names; nothing is sent yet.

    - `openai/MODEL`: chat completions at `base_url`, else OPENAI_BASE_URL, else OpenAI itself; the key is
      OPENAI_API_KEY, which only OpenAI's own host requires.
    - `openai-responses/MODEL`: the same for the Responses API.
    - `azure/DEPLOYMENT`: at `base_url` or AZURE_OPENAI_ENDPOINT, key AZURE_OPENAI_API_KEY, OPENAI_API_VERSION.
    - `scripted/TEXT` answers TEXT to everything, `scripted/package.module:NAME` from that list or function.
    - `litellm/PROVIDER/MODEL`, and any other `PROVIDER/MODEL`: through litellm (extra `litellm`).
    - any other `A/B` with `base_url`: chat completions there, of a model whose whole name is `A/B`, as servers of open
      models name theirs; its key is OPENAI_API_KEY too.

    Raises UsageError: no such form, a missing key (named by its variable), a missing extra, a bad address.
    """
    provider, slash, name = spec.partition("/")
    if not slash or not provider or not name.strip():
        raise UsageError(f"{spec!r} names no model: write provider/model, such as openai/gpt-4o")
    if provider == "scripted":
        return _scripted(name)
    price = (prices or Prices()).of(spec, name)
    common: dict[str, Any] = {"price": price, "timeouts": timeouts}
    model: Model
    if provider == "azure":
        where = base_url or _needed(env, "AZURE_OPENAI_ENDPOINT", spec)
        key = _needed(env, "AZURE_OPENAI_API_KEY", spec)
        model = AzureModel(name, where, key=key, version=env.get("OPENAI_API_VERSION", ""), **common)
    elif provider == "litellm" or (base_url is None and provider not in ("openai", "openai-responses")):
        model = ProviderModel(spec.removeprefix("litellm/"), base_url=base_url, **common)
    else:
        where = base_url or env.get("OPENAI_BASE_URL") or PUBLIC
        key = _openai_key(env, where, spec)
        if provider == "openai-responses":
            model = ResponsesModel(name, where, key=key, **common)
        else:
            endpoint = Endpoint(where, key=key, timeouts=timeouts)
            model = ChatModel(name if provider == "openai" else spec, endpoint, price=price)
    return Retrying(model, patience)


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
