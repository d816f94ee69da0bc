"""Makes the model that a user writes as `provider/model`, and has the order of all wrappers round a model.

From the endpoint outwards: `Limited` and `Fleet`, `Retrying` (`reach`), `WellFormed`, `Single` (`asked_once`), then
bound to a seat and episode, `EgressGuard` and `Illustrated` (`in_episode`).
"""

import time
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TypedDict, TypeVar, Unpack

from wardround.engine.errors import UsageError
from wardround.engine.models.fleet import Fleet
from wardround.engine.models.gate import Gate
from wardround.engine.models.hosts import addresses, endpoint_url, host_of, normal_host, printable_url
from wardround.engine.models.prices import Prices
from wardround.engine.models.provider import PROVIDERS, ForeignModel, ModelRequest, Provider
from wardround.engine.models.quota import Quota
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import EgressGuard, Illustrated, Limited, Patience, Retrying, Single, WellFormed
from wardround.engine.plugins import is_bundled, load_plugin, plugin_names
from wardround.engine.protocols import Cache, Model, with_all_members
from wardround.engine.records import Clock, Json

ValueT = TypeVar("ValueT")


class Gates:
    """All gates of a process; each is made at its first use.

    `quotas` are keyed by address (`http://localhost:8000/v1`), host or provider (`anthropic`); an address takes
    precedence over its host. `default` is for all others. A quota for a host applies separately to each address and
    key. `share` is (n, of): worker n of `of` gets its fixed part of every quota. `spent_today` is (requests, tokens)
    that already count towards a daily quota, keyed like `quotas`.
    """

    def __init__(
        self,
        quotas: Mapping[str, Quota] | None = None,
        default: Quota | None = None,
        *,
        share: tuple[int, int] = (1, 1),
        spent_today: Mapping[str, tuple[int, int]] | None = None,
        clock: Clock = time.time,
    ) -> None:
        self._quotas = {_normal_name(name): quota.share(*share) for name, quota in (quotas or {}).items()}
        self._default = (default or Quota()).share(*share)
        self._spent = {_normal_name(name): spent for name, spent in (spent_today or {}).items()}
        self._clock = clock
        self._gates: dict[tuple[str, bytes], Gate] = {}
        self._unused = set(self._quotas)
        self._stopped = ""

    def of(self, where: str, key: str = "") -> Gate:
        """The gate for a key and an address, or a provider whose address is unknown."""
        name = _normal_name(where)
        digest = blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        gate = self._gates.get((name, digest))
        if gate is None:
            self._unused -= {name, _host(name)}
            quota = _for(self._quotas, name) or self._default
            gate = Gate(name, quota, key=digest, spent_today=_for(self._spent, name) or (0, 0), clock=self._clock)
            self._gates[name, digest] = gate
            if self._stopped:
                gate.stop(self._stopped)
        return gate

    @property
    def unused(self) -> list[str]:
        """Names of quotas that no endpoint has used so far, perhaps because they are misspelt."""
        return sorted(self._unused)

    @property
    def used_up(self) -> str:
        """A sentence that says which endpoint can take no more calls, such as by its daily quota; "" if all can."""
        return next((said for gate in self._gates.values() if (said := gate.used_up)), "")

    def stop(self, reason: str) -> None:
        """Admit no more calls: waiting and later calls raise RunStopped, calls under way go on."""
        self._stopped = reason
        for gate in self._gates.values():
            gate.stop(reason)

    def reopen(self) -> None:
        """Admit calls again, because another batch begins."""
        self._stopped = ""
        for gate in self._gates.values():
            gate.reopen()

    def summary(self) -> list[dict[str, Json]]:
        """The status of each gate (`Gate.summary`), without keys; `key` numbers the gates of one address from 1."""
        names = [name for name, _ in self._gates]
        numbers = [names[: place + 1].count(name) for place, name in enumerate(names)]
        return [
            {**gate.summary(), **({"key": number} if names.count(name) > 1 else {})}
            for name, number, gate in zip(names, numbers, self._gates.values(), strict=True)
        ]


def _normal_name(name: str) -> str:
    """An address, host or provider in its normal form."""
    return printable_url(endpoint_url(name)).rstrip("/") if "://" in name else normal_host(name)


def _host(name: str) -> str:
    return host_of(endpoint_url(name)) if "://" in name else name


def _for(table: Mapping[str, ValueT], name: str) -> ValueT | None:
    return table.get(name) or table.get(_host(name))


class ReachOptions(TypedDict, total=False):
    """Optional settings of `reach`; None stands for the default.

    Models that share `gates` share the limits of their endpoints. `session_header` is that of ModelRequest.
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

    ::

        model = reach("openai/gpt-4o", env=os.environ)
        served = reach("openai/qwen3-8b", env=os.environ, base_url="http://localhost:8000/v1")

    `spec` is one of:

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


def asked_once(model: Model, cache: Cache) -> Single:
    """The model for all episodes that share it: each question is asked once, and its answer kept in `cache`."""
    return Single(WellFormed(model), cache)


def in_episode(
    model: Single | WellFormed,
    seat: str,
    episode: str,
    allow_hosts: Sequence[str],
    images: Mapping[str, str] | None = None,
    *,
    restricted: bool,
) -> Model:
    """The model of a seat in one episode, which sends a restricted case only to `allow_hosts`.

    `images` are those of its case, by the references in messages.
    """
    made: Model = model.bound(seat, episode)
    if restricted:
        made = EgressGuard(made, allow_hosts, restricted=True)
    return Illustrated(made, images) if images else made


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
