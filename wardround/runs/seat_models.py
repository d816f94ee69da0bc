"""The models of a seat: how a run reaches models, the limits of their endpoints, and what each is asked with."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.models.batch_api import Batchable
from wardround.engine.models.batched import Batched
from wardround.engine.models.chat import SESSION_HEADER
from wardround.engine.models.hosts import HIDDEN, redact_address
from wardround.engine.models.preflight import sending_models
from wardround.engine.models.prices import Prices, read_prices
from wardround.engine.models.provider import MODEL_KEY, ForeignModel, required_variable
from wardround.engine.models.quota import Quota, read_quota
from wardround.engine.models.reach import Gates, ReachOptions, reach
from wardround.engine.models.scripted import Unreachable
from wardround.engine.models.transport import Timeouts
from wardround.engine.models.wrappers import Patience
from wardround.engine.protocols import KeptInFiles, Model, Store, with_all_members
from wardround.engine.records import Json
from wardround.runs.header import ModelHeader
from wardround.runs.seat_settings import LEFT_OUT, ModelSettings, is_model
from wardround.runs.settings import RunSettings


@dataclass(frozen=True, slots=True)
class Access:
    """How models are reached; `urls` are addresses with their secrets.

    With `offline`, as in a replay, no model can be reached and no key is needed. `allow_agents` are the SPECs of agents
    of the user's own that may see restricted cases. With `batch`, models are asked in batches, which that store notes.
    `hidden` are the files with the cases and their truth, which no sealed process sees.
    """

    prices: Prices = field(default_factory=Prices)
    gates: Gates = field(default_factory=Gates)
    offline: bool = False
    timeouts: Timeouts | None = None
    patience: Patience | None = None
    urls: Sequence[str] = ()
    allow_agents: Sequence[str] = ()
    session_header: str = SESSION_HEADER
    batch: Store | None = None
    hidden: Sequence[str] = ()

    def with_secrets(self, base_url: str, env: Mapping[str, str]) -> str:
        """The address with the secrets that were not stored: from `urls`, else from the environment.

        Raises UsageError if neither has it.
        """
        if f"={HIDDEN}" not in base_url:
            return base_url
        for url in (*self.urls, *env.values()):
            if redact_address(url) == base_url:
                return url
        raise UsageError(
            f"the address {base_url} had a secret, which is not stored: give the whole address with --base-url, or in "
            "the environment variable it came from, such as OPENAI_BASE_URL"
        )


async def access_of(
    settings: RunSettings, store: Store, share: tuple[int, int] = (1, 1), urls: Sequence[str] = ()
) -> Access:
    """The access to models that the settings describe; daily quotas count what this store's runs have spent today.

    `share` (i, n) says that this is process i of n, which gets the n-th part of every quota. `urls` are addresses with
    their secrets. Raises UsageError for prices or quotas that cannot be read.
    """
    prices = read_prices(Path(settings.prices)) if settings.prices else Prices()
    quotas = read_quotas(settings.quotas)
    default = quotas.pop("", None)
    daily = any(quota.daily_requests or quota.daily_tokens for quota in (*quotas.values(), default or Quota()))
    spent = await spent_today(store, share[1]) if daily else {}
    timeouts = Timeouts.of(settings.timeout) if settings.timeout else None
    patience = Patience.lasting(settings.patience) if settings.patience else None
    gates = Gates(quotas, default, share=share, spent_today=spent)
    allowed = settings.allow_agents
    session = "" if settings.session_header == LEFT_OUT else settings.session_header
    return Access(
        prices,
        gates,
        timeouts=timeouts,
        patience=patience,
        urls=urls,
        allow_agents=allowed,
        session_header=session,
        batch=store if settings.batch else None,
        hidden=_files_with_truth(settings, store),
    )


def _files_with_truth(settings: RunSettings, store: Store) -> tuple[str, ...]:
    """The files and folders of the cases, and those of the store."""
    named = (settings.cases,) if isinstance(settings.cases, str) else settings.cases
    cases = tuple(one for one in named if Path(one).exists())
    return (*cases, *(store.files() if isinstance(store, KeptInFiles) else ()))


def read_quotas(texts: Sequence[str]) -> dict[str, Quota]:
    """Quotas by address, host or provider ('' is for all others), from texts `[ADDRESS ]NAME=N,...`.

    Raises UsageError for a text that cannot be read, and for two quotas of one address.
    """
    quotas: dict[str, Quota] = {}
    for text in texts:
        first, _, rest = text.strip().partition(" ")
        where, limits = (first, rest) if rest and ("://" in first or "=" not in first) else ("", text)
        fields: dict[str, int] = {}
        for limit in limits.split(","):
            name, equals, value = limit.partition("=")
            shown = redact_address(text)
            if not equals or not value.strip().isdecimal():
                raise UsageError(
                    f"quota {shown!r}: {redact_address(limit)!r} is not a limit; write NAME=N, such as rpm=600"
                )
            fields[name.strip()] = int(value)
        if where in quotas:
            raise UsageError(
                f"quota {redact_address(text)!r}: {redact_address(where) or 'the quota of all endpoints'} is set twice"
            )
        quotas[where] = read_quota(fields, f"quota {redact_address(text)!r}")
    return quotas


async def spent_today(store: Store, among: int = 1) -> dict[str, tuple[int, int]]:
    """(requests, tokens) by host that the runs of this store spent since 00:00 UTC, divided by `among` processes."""
    rows = {run.name: run for run in await store.runs()}
    by_host: dict[str, tuple[int, int]] = {}
    for row in await store.spending(day=datetime.now(UTC).date().isoformat()):
        seat = rows[row.run].header.get("seats", {}).get(row.seat, {})  # works for unreadable headers too
        hosts = [host for host in seat.get("host", "").split(",") if host]
        for host in hosts:
            requests, tokens = by_host.get(host, (0, 0))
            part = among * len(hosts)
            by_host[host] = (requests + -(-row.spent.calls // part), tokens + -(-row.spent.tokens // part))
    return by_host


@dataclass(slots=True)
class SeatModel:
    """A model of a seat.

    `sampling` is sent with every call; `dropped` says which parameters of the settings are not, as in the run's header.
    `address` is part of the key of cached calls, since another endpoint may serve another model of the same name.
    """

    spec: str
    model: Model
    sampling: Mapping[str, Json] = field(default_factory=dict)
    address: str = ""
    dropped: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.model = with_all_members(self.model)

    def describe(self) -> ModelHeader:
        """The model for the run's header, without keys and secrets."""
        model = self.model
        return ModelHeader(
            spec=self.spec, model=model.name, host=model.host, sampling=dict(self.sampling), dropped=dict(self.dropped)
        )


def seat_model(
    spec: str, settings: ModelSettings, access: Access, env: Mapping[str, str] = os.environ, name: str = ""
) -> SeatModel:
    """The model that `spec` names; its key is read from `env`, from the variable `key_env` if the settings name one.

    `name` is the model's name among several, for messages. Raises UsageError.
    """
    which = f"model {name}={spec}" if name else repr(spec)
    if not is_model(spec):
        raise UsageError(f"{which} names no model: write provider/model, for instance openai/gpt-4o")
    sampling = settings.sampling()
    if access.offline:
        return SeatModel(spec, Unreachable(spec), sampling, redact_address(settings.base_url))
    if settings.key_env:
        key = required_variable(env, settings.key_env, spec)
        env = {**env, **dict.fromkeys(("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", MODEL_KEY), key)}
    base_url = access.with_secrets(settings.base_url, env)
    means: ReachOptions = {
        "prices": access.prices,
        "timeouts": access.timeouts,
        "patience": access.patience,
        "gates": access.gates,
        "session_header": access.session_header,
    }
    model = reach(spec, base_url=base_url or None, env=env, **means)
    if settings.key_env:
        for inner, _ in sending_models(model):
            inner.key_env = settings.key_env
    if access.batch is not None and model.host:
        model = _in_batches(spec, model, access.batch)
    return SeatModel(spec, model, sampling, redact_address(settings.base_url))


def _in_batches(spec: str, model: Model, store: Store) -> Batched:
    """The model asked in batches; raises UsageError if its endpoint has no batch interface that we know."""
    inner = [one for one, _ in sending_models(model)]
    asked = inner[0].model if isinstance(inner[0], ForeignModel) else inner[0]
    if len(inner) > 1 or not isinstance(asked, Batchable):
        why = "several addresses are a fleet" if len(inner) > 1 else "its interface is another one"
        raise UsageError(f"{spec!r} cannot be asked in batches ({why}): --batch is for openai/MODEL at one address")
    return Batched(model, asked.batches(), store, price=asked.price)
