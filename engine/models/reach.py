"""Makes the model that a user writes as `provider/model`, with its limits and retries."""

from collections.abc import Mapping, Sequence
from typing import TypedDict, Unpack

from wardround.engine.errors import UsageError
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gates import Gates
from wardround.engine.models.hosts import addresses
from wardround.engine.models.prices import Prices
from wardround.engine.models.provider import PROVIDERS, ForeignModel, ModelRequest, Provider
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import Limited, Patience, Retrying
from wardround.engine.plugins import is_bundled, load_plugin, plugin_names
from wardround.engine.protocols import Model, with_all_members


class ReachOptions(TypedDict, total=False):
    """Optional settings of `reach`. Models that share `gates` share the limits of their endpoints.

    `session_header` is that of ModelRequest.
    """

    prices: Prices | None
    timeouts: Timeouts | None
    patience: Patience | None
    gates: Gates | None
    session_header: str


def reach(
    spec: str, *, env: Mapping[str, str], base_url: str | Sequence[str] | None = None, **means: Unpack[ReachOptions]
) -> Model:
    """The model that `spec` names, behind the gate of its endpoint and with retries; nothing is sent yet.

    - `openai/MODEL`: chat completions at `base_url`, else OPENAI_BASE_URL, else OpenAI itself; the key is
      OPENAI_API_KEY, which only OpenAI's own host requires.
    - `openai-responses/MODEL`: the same with the Responses API.
    - `azure/DEPLOYMENT`: at `base_url` or AZURE_OPENAI_ENDPOINT, key AZURE_OPENAI_API_KEY, OPENAI_API_VERSION.
    - `scripted/TEXT` answers TEXT to everything, `scripted/package.module:NAME` from that list or function.
    - `NAME/MODEL` of an installed package: entry points of the group `wardround.providers` (docs/extending.md).
    - `litellm/PROVIDER/MODEL`, and any other `PROVIDER/MODEL`: through litellm (extra `litellm`).
    - any other `A/B` with `base_url`: chat completions at that address of a model whose whole name is `A/B`, as servers
      of open models name theirs; the key is OPENAI_API_KEY too.

    Several addresses, as a sequence or separated by commas, make a fleet (engine/models/fleet.py).

    Raises UsageError for a malformed spec, a missing key (naming its variable), a missing extra, or a bad address.
    """
    name, slash, model = spec.partition("/")
    if not slash or not name or not model.strip():
        raise UsageError(f"{spec!r} names no model: write provider/model, such as openai/gpt-4o")
    if name not in plugin_names(PROVIDERS):
        name = "openai" if addresses(base_url) else "litellm"
    provider = _provider(name)
    places = addresses(base_url) or addresses(provider.address(env, spec))
    made = [_model_at(provider, spec, where, env, means) for where in places or ("",)]
    if not any(one.host for one, _ in made):
        return made[0][0]
    gates = means.get("gates") or Gates()
    models = [Limited(one, gates.of(one.address, key)) for one, key in made]
    return Retrying(Fleet(models) if len(models) > 1 else models[0], means.get("patience"))


def _provider(name: str) -> Provider:
    kind: type[Provider] = load_plugin(PROVIDERS, name)
    if not all(hasattr(kind, member) for member in ("address", "key", "model")):
        raise UsageError(f"{name!r} is not a provider: derive its class from wardround.engine.models.provider.Provider")
    return kind()


def _model_at(
    provider: Provider, spec: str, where: str, env: Mapping[str, str], means: ReachOptions
) -> tuple[Model, str]:
    """The model at one address ("" if its provider finds the address), and its key."""
    name, prices = spec.partition("/")[2], means.get("prices") or Prices()
    wanted = ModelRequest(
        spec,
        name,
        where,
        env,
        means.get("timeouts"),
        lambda public: prices.of(spec, name, public=public),
        means.get("session_header", ""),
    )
    model = with_all_members(provider.model(wanted))
    return model if is_bundled(provider) else ForeignModel(model), provider.key(wanted)
