"""The seats of a run: from the user's settings for each seat to the agents of an episode and their models."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Self

from wardround.agents.external import External
from wardround.agents.persona import read_persona
from wardround.agents.process import CONTAINER, EXEC, SEALED, ProcessMaker, is_process
from wardround.agents.team import TEAM, Team, read_team
from wardround.engine.calls import StoreCache
from wardround.engine.episode import Caster
from wardround.engine.errors import EgressError, UsageError
from wardround.engine.models.reach import Gates, in_episode
from wardround.engine.models.wrappers import Single, WellFormed, may_receive
from wardround.engine.plugins import import_path, is_bundled, load_plugin, maker, plugin_names
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Agent, Cache, Model, Store, has_methods, with_all_members
from wardround.engine.records import Json
from wardround.engine.seat import Seat, Voice, knowledge_of, seed_of, traits_of
from wardround.engine.text import in_number, suggestion
from wardround.runs.header import SeatHeader
from wardround.runs.recordings import AgentMaker, SeatRecording, recording_forms, recording_kind
from wardround.runs.seat_models import Access, SeatModel, seat_model
from wardround.runs.seat_settings import SeatSettings, is_model
from wardround.runs.settings import RunSettings
from wardround.scenarios.illustrations import case_images
from wardround.scenarios.loaders.source import Playable
from wardround.scenarios.orders.catalogue import read_test_names
from wardround.scenarios.orders.tariff import read_test_prices


def with_files(settings: RunSettings) -> RunSettings:
    """The settings with the content of files in place of their paths: personas, teams, prices and names of tests.

    The models that a team's file names are added to its seat. Raises UsageError for a file that cannot be read.
    """
    seats = {seat: _with_files(config) for seat, config in settings.seats.items()}
    rules = dict(settings.set)
    if isinstance(rules.get("prices"), str):
        rules["prices"] = read_test_prices(Path(rules["prices"]))
    if isinstance(rules.get("names"), str):
        rules["names"] = read_test_names(Path(rules["names"]))
    same = seats == settings.seats and rules == settings.set
    return settings if same else settings.model_copy(update={"seats": seats, "set": rules})


def _with_files(seat: SeatSettings) -> SeatSettings:
    options: dict[str, Json] = dict(seat.options)
    if isinstance(options.get("persona"), str):
        options["persona"] = read_persona(options["persona"])
    update: dict[str, Json] = {"options": options}
    kind, _, place = seat.spec.partition(":")
    if kind == TEAM and TEAM not in options:
        options[TEAM] = read_team(place)
        named = {name: role["model"] for name, role in options[TEAM]["roles"].items() if "/" in role["model"]}
        update["models"] = {**named, **seat.models}
    return seat if options == seat.options else seat.model_copy(update=update)


class OtherCases(tuple[Playable, ...]):
    """All cases of the run but the one at the index `without`.

    `all` is the same tuple in every episode, so that results computed from it can be reused.
    """

    all: tuple[Playable, ...]

    def __new__(cls, every: tuple[Playable, ...], without: int) -> Self:
        made = super().__new__(cls, (*every[:without], *every[without + 1 :]))
        made.all = every
        return made


AgentFactory = Callable[..., Agent]
"""A class or function of a user that makes an agent; `engine.plugins.maker` says which arguments it may take."""
SEATS = "wardround.seats."
"""How the groups of entry points of agents begin; the seat's name follows."""


@dataclass(slots=True)
class SeatConfig:
    """One seat of a run: how its agent is made, its model, and what it may see besides the view (`knows`).

    `recording` makes an agent for each episode; a case that it has nothing for is not run. `outside` says that a person
    answers, who plays one episode at a time. `cached` says that the calls go through the call cache; `address` is part
    of its key, since another endpoint may serve another model of the same name. `foreign` says that the agent does not
    belong to this package: it could send on what it sees, so it gets no restricted case. `trusted` says that the agent
    itself may say how the episode ends, as a recording does when it is over; a user's class never may. `sampling`,
    `options`, `models`, `dropped` and `version` are as in the run's header (SeatHeader).
    """

    spec: str
    make: AgentMaker | None = None
    model: Model | None = None
    sampling: Mapping[str, Json] = field(default_factory=dict)
    options: Mapping[str, Json] = field(default_factory=dict)
    knows: str = ""
    outside: bool = False
    recording: SeatRecording | None = None
    cached: bool = False
    address: str = ""
    gates: Gates | None = None
    foreign: bool = False
    trusted: bool = False
    models: Mapping[str, SeatModel] = field(default_factory=dict)
    dropped: Mapping[str, str] = field(default_factory=dict)
    version: int = 1

    def __post_init__(self) -> None:
        if self.model is not None:
            self.model = with_all_members(self.model)

    @property
    def model_spec(self) -> str:
        """The SPEC of the only model, if the agent has one; else that of the agent."""
        return next(iter(self.models.values())).spec if len(self.models) == 1 else self.spec

    def each_model(self) -> dict[str, SeatModel]:
        """The seat's models by name; the name of the only one is ""."""
        if self.model is None:
            return dict(self.models)
        return {"": SeatModel(self.spec, self.model, self.sampling, self.address, self.dropped)}

    def adapt(self, name: str, sampling: Mapping[str, Json], dropped: Mapping[str, str]) -> None:
        """Send `sampling` with the calls of the model `name` from now on, and note what was dropped."""
        if self.model is None:
            self.models = {**self.models, name: replace(self.models[name], sampling=sampling, dropped=dropped)}
        else:
            self.sampling, self.dropped = sampling, dropped

    def maker(self, case: str, repeat: int) -> AgentMaker:
        """The function that makes the agent of an episode; raises UsageError if a recording has nothing for it."""
        make = self.recording.maker(case, repeat) if self.recording else self.make
        if make is None:
            raise UsageError(f"{self.spec!r} has nothing for case {case}, repeat {repeat}")
        return make

    def describe(self) -> SeatHeader:
        """The seat for the run's header, without keys and secrets."""
        asked = list(self.each_model().values())
        first = asked[0] if asked else None
        return SeatHeader(
            spec=self.spec,
            model=first.model.name if first else "",
            host=",".join(dict.fromkeys(one.model.host for one in asked)),
            sampling=dict(first.sampling) if first else dict(self.sampling),
            options=dict(self.options),
            knows=self.knows,
            outside=self.outside,
            dropped=dict(first.dropped) if first else {},
            models={name: one.describe() for name, one in self.models.items()},
            version=self.version,
        )


@dataclass(frozen=True, slots=True)
class Cast:
    """The cast of a run: the configuration of each seat, and what the agents need.

    With `lead`, all repeats of a case differ by that seat alone: the others have the same seeds, and `shared` has their
    models, by seat and name, which answer each question once. `present` has agents, by seat, that are there already:
    they play in place of what `parts` would make. `cases` are all cases of the run, for agents that learn from them,
    and `places` has the index of each by its id.
    """

    parts: Mapping[str, SeatConfig]
    prompts: Prompts
    seed: int
    allow_hosts: Sequence[str] = ()
    cases: tuple[Playable, ...] = ()
    gates: Gates = field(default_factory=Gates)
    places: Mapping[str, int] = field(default_factory=dict)
    lead: str = ""
    shared: Mapping[tuple[str, str], Single] = field(default_factory=dict)
    present: Mapping[str, Agent] = field(default_factory=dict)

    def _repeat(self, name: str, repeat: int) -> int:
        """The repeat that seeds a seat: the first for all, if the seats besides `lead` have common answers."""
        return 1 if self.lead and name != self.lead else repeat

    @property
    def trusted(self) -> frozenset[str]:
        """The seats whose agents may say how an episode ends."""
        return frozenset(seat for seat, part in self.parts.items() if part.trusted)

    def caster(self, case: Playable, repeat: int) -> Caster:
        """A function that makes the agents of one episode."""

        def cast(name: str, voice: Callable[..., Voice]) -> Agent:
            part = self.parts[name]
            restricted = case.data_class == "restricted"
            if part.foreign and restricted:
                raise EgressError.to_plugin(f"case {case.id} is", f"{name} {part.spec!r}", part.spec)
            if name in self.present:
                return self.present[name]
            voices: dict[str, Voice] = {}
            images = case_images(case)
            for label, asked in part.each_model().items():
                shared = self.shared.get((name, label)) or WellFormed(asked.model)
                episode = f"{case.id}@{repeat}"
                way = in_episode(shared, name, episode, self.allow_hosts, images, restricted=restricted)
                voices[label] = voice(way, asked.sampling, **({"label": label} if label else {}))
            seat = Seat(
                name=name,
                case_id=case.id,
                seed=seed_of(self.seed, case.id, self._repeat(name, repeat), name),
                prompts=self.prompts,
                options=part.options,
                model=next(iter(voices.values()), None),
                knowledge=self._knowledge(part, case),
                models={label: one for label, one in voices.items() if label},
            )
            return part.maker(case.id, repeat)(seat)

        return cast

    def caches(self, store: Store, repeat: int) -> Callable[[str], Cache | None]:
        """A function that gives each seat its call cache, or None."""

        def cache(seat: str) -> Cache | None:
            part = self.parts[seat]
            if not part.cached:
                return None
            names = [f"{label}={one.spec}\x1f{one.address}" for label, one in part.models.items()]
            return StoreCache(store, "\x1f".join((part.spec, part.address, *names)), repeat)

        return cache

    def _knowledge(self, part: SeatConfig, case: Playable) -> object:
        if part.knows == "truth":
            return case
        if part.knows == "cases":
            return OtherCases(self.cases, self.places[case.id])
        return None


def check_hosts(restricted: str, hosts: Mapping[str, Sequence[str]], allow_hosts: Sequence[str]) -> None:
    """Raise EgressError for the first of `hosts`, by sender, that may not receive restricted cases."""
    for sender, theirs in hosts.items():
        for host in theirs:
            if not may_receive(host, allow_hosts):
                raise EgressError.to_host(restricted, sender, host)


def check_egress(parts: Mapping[str, SeatConfig], restricted: int, allow_hosts: Sequence[str]) -> None:
    """Raise EgressError if a restricted case would go to a host or an agent that may not see it.

    `restricted` is the number of restricted cases. This check comes before anything is sent: a refused host does not
    get a key either.
    """
    if not restricted:
        return
    which = f"{restricted} of the cases {in_number(restricted, 'is')}"
    for seat, part in parts.items():
        if part.foreign:
            raise EgressError.to_plugin(which, f"{seat} {part.spec!r}", part.spec)
    hosts = {
        f"{seat} {one.spec!r}": one.model.hosts for seat, part in parts.items() for one in part.each_model().values()
    }
    check_hosts(which, hosts, allow_hosts)


async def seat_config(
    seat: str, settings: SeatSettings, access: Access, store: Store, agent: AgentFactory | None = None
) -> SeatConfig:
    """The configuration that `settings.spec` stands for in `seat`; `agent` is a user's class that the SPEC only names.

    `store` is where `recorded:RUN` looks for the run. Raises UsageError for an unknown SPEC.
    """
    made = await _seat_of(seat, settings, access, store, agent)
    if settings.spec in access.allow_agents:
        made.foreign = False
    return made


async def _seat_of(
    seat: str, settings: SeatSettings, access: Access, store: Store, agent: AgentFactory | None
) -> SeatConfig:
    spec = settings.spec
    if agent is None and is_process(spec):
        agent = ProcessMaker(spec, access.hidden)
    if agent is not None:
        return _agent_seat(seat, agent, settings, access)
    if kind := recording_kind(spec):
        _no_models(seat, settings, "a recording asks no model")
        return recorded_seat(await kind.read(spec.partition(":")[2], seat, store), settings)
    if is_model(spec):
        _no_models(seat, settings, "the SPEC is a model itself")
        if "llm" not in plugin_names(SEATS + seat):
            there = ", ".join(plugin_names(SEATS + seat)) or "no names"
            raise UsageError(f"{seat} {spec!r}: no agent plays this seat with a model; there are: {there}")
        part = model_seat(settings, access)
        part.make = maker(load_plugin(SEATS + seat, "llm"), spec, settings.options)
        return part
    if spec.partition(":")[0] == TEAM:
        if seat != "doctor":
            raise UsageError(f"{seat} {spec!r}: a team plays the doctor")
        return _agent_seat(seat, Team, settings, access)
    if ":" in spec:
        return _agent_seat(seat, import_path(spec), settings, access)
    if spec not in plugin_names(SEATS + seat):
        processes = [f"{TEAM}:NAME", *(f"{kind}:COMMAND" for kind in (EXEC, SEALED)), f"{CONTAINER}:IMAGE"]
        raise UsageError(
            f"there is no {seat} {spec!r}"
            f"{_model_hint(spec, settings.base_url) or suggestion(spec, plugin_names(SEATS + seat))}; "
            f"for others write {', '.join(['provider/model', 'package.module:Class', *processes, *recording_forms()])}"
        )
    return _agent_seat(seat, load_plugin(SEATS + seat, spec), settings, access)


def stored_seat(settings: SeatSettings, content: bytes) -> SeatConfig:
    """A seat that plays the recording that a run keeps as `content`; raises UsageError if its kind is not installed."""
    kind = recording_kind(settings.spec)
    if kind is None:
        raise UsageError(f"no installed package reads the recording {settings.spec!r}")
    return recorded_seat(kind.stored(content), settings)


def recorded_seat(recording: SeatRecording, settings: SeatSettings) -> SeatConfig:
    """A seat that plays a recording."""
    ours = is_bundled(recording)
    return SeatConfig(settings.spec, recording=recording, options=settings.options, trusted=ours, foreign=not ours)


_PROVIDERS = (
    ("openai", ("gpt", "chatgpt", "o1", "o3", "o4")),
    ("anthropic", ("claude",)),
    ("gemini", ("gemini",)),
    ("deepseek", ("deepseek",)),
    ("mistral", ("mistral", "mixtral")),
    ("openai", ("llama", "qwen", "gemma", "phi", "meditron", "medgemma", "baichuan")),
)
"""Providers by the beginnings of model names; models of the last row are usually served at a local address."""


def _model_hint(spec: str, base_url: str | None) -> str:
    """`, did you mean openai/gpt-4o? ...` if a SPEC is the name of a model without its provider; else "".

    With an address of its own a SPEC is taken for a model, and nearly all servers speak OpenAI's protocol.
    """
    provider = next(
        (name for name, heads in _PROVIDERS if spec.lower().startswith(heads)), "openai" if base_url else ""
    )
    return f", did you mean {provider}/{spec}? A model is named with its provider" if provider else ""


def played_by_person(seats: Mapping[str, SeatHeader | SeatSettings]) -> bool:
    """Whether a person plays one of the seats, which come from a run's header or from the settings of a new run."""
    return any(
        (isinstance(config, SeatHeader) and config.outside) or _outside(seat, config.spec)
        for seat, config in seats.items()
    )


def _outside(seat: str, spec: str) -> bool:
    """Whether the agent's class says that a person plays it; settings and older headers do not say so."""
    if is_model(spec) or recording_kind(spec):
        return False
    try:
        factory = import_path(spec) if ":" in spec else load_plugin(SEATS + seat, spec)
    except UsageError:
        return False  # `seat_config` raises the error
    return traits_of(factory).outside


def model_seat(settings: SeatSettings, access: Access, env: Mapping[str, str] = os.environ) -> SeatConfig:
    """A seat with a model but without an agent, such as a judge's; the key is read from `env`."""
    reached = seat_model(settings.spec, settings, access, env)
    made = SeatConfig(settings.spec, model=reached.model, sampling=reached.sampling, options=settings.options)
    made.cached, made.address, made.gates = settings.cache, reached.address, access.gates
    return made


def _no_models(seat: str, settings: SeatSettings, why: str) -> None:
    if asked := list(settings.each_model().values()):
        raise UsageError(
            f"{seat} {settings.spec!r} has a second model, {asked[0].spec!r}: {why}; leave one of them out"
        )


def _agent_seat(seat: str, factory: AgentFactory, settings: SeatSettings, access: Access) -> SeatConfig:
    spec, knows = settings.spec, knowledge_of(factory)
    if knows not in ("", "truth", "cases"):
        raise UsageError(f"{spec!r} says `knows = {knows!r}`; write 'truth' or 'cases'")
    if isinstance(factory, type) and not has_methods(factory, Agent):
        raise UsageError(f"{spec!r} has no method `act`: write `async def act(self, view: View) -> Action`")
    models = {name: seat_model(one.spec, one, access, name=name) for name, one in settings.each_model().items()}
    if not models and (useless := [*settings.sampling(), *(["base_url"] if settings.base_url else [])]):
        raise UsageError(
            f"{seat} {spec!r} has no model that {useless[0]!r} could be for: name one, such as --{seat}-model "
            f"openai/gpt-4o, or leave {useless[0]!r} out"
        )
    made = SeatConfig(spec, maker(factory, spec, settings.options), options=settings.options, knows=knows)
    traits = traits_of(factory)
    made.outside, made.version = traits.outside, traits.version
    made.trusted = traits.outside and is_bundled(factory)
    if isinstance(factory, ProcessMaker):
        made.foreign = not factory.is_sealed
    else:
        made.foreign = factory is External or not is_bundled(factory)
    made.models, made.gates, made.cached = models, access.gates, settings.cache
    return made
