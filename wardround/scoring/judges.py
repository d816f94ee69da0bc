"""The judges of an evaluation: the user's options, the configuration made from them, and the session in one store."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import zip_longest
from typing import NamedTuple, Self

import msgspec

from wardround.engine.calls import StoreCache
from wardround.engine.episode import Caster
from wardround.engine.errors import MissingVariable, UsageError
from wardround.engine.models.hosts import redact_address
from wardround.engine.models.preflight import seats_taking_shape, seats_taking_zero
from wardround.engine.models.reach import asked_once, in_episode
from wardround.engine.models.scripted import Unreachable
from wardround.engine.models.wrappers import Single
from wardround.engine.plugins import import_path, is_bundled, load_plugin, plugin_names
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Agent, Evaluator, Model, Store
from wardround.engine.records import Json, json_object
from wardround.engine.seat import Seat, Voice
from wardround.evaluators.evaluation import SEAT, EvaluationAgent, EvaluationInput, JudgeContext, Knowledge
from wardround.evaluators.injection.detect import SignCache
from wardround.evaluators.judges.panel import Judge, ModelJudge, Panel
from wardround.evaluators.search.contract import LIBRARY, Domains, FilteredSearch, Search, SizedSearch
from wardround.evaluators.search.pages import Pages
from wardround.evaluators.search.results import Ledger, Reader
from wardround.evaluators.search.stack import (
    ConsultedReader,
    ConsultedSearch,
    GuardedReader,
    GuardedSearch,
    Recorded,
    RecordedReader,
    RecordingReader,
    RecordingSearch,
    SearchModel,
    search_kind,
    search_of,
)
from wardround.evaluators.search.web import Web
from wardround.runs.encounter_run import try_models
from wardround.runs.header import JudgingHeader, SeatHeader
from wardround.runs.seat_models import Access, access_of
from wardround.runs.seat_settings import SeatSettings, is_model
from wardround.runs.seats import SeatConfig, model_seat
from wardround.runs.settings import RunSettings, checked_settings, load_prompts
from wardround.runs.stored_run import Run

LEXICAL = "lexical"
"""The SPEC of the offline judge."""
JUDGES = "wardround.judges"
"""The group of entry points of judges that need no model; each target is a class that makes a Judge for a seat."""
_KEYS = ("_KEY", "_TOKEN", "_SECRET")
"""The ends of the names of environment variables with keys."""


def judge_kind(spec: str) -> type[Judge] | None:
    """The class of a judge without a model, by SPEC; None for another SPEC. Raises UsageError if it is not a judge."""
    if spec not in plugin_names(JUDGES) and (":" not in spec or is_model(spec)):
        return None
    kind: type[Judge] = import_path(spec) if ":" in spec else load_plugin(JUDGES, spec)
    if not all(hasattr(kind, member) for member in ("say", "spec", "floor")):
        raise UsageError(f"{spec!r} is not a judge: derive its class from wardround.evaluators.judges.panel.Judge")
    return kind


def is_floor(spec: str) -> bool:
    """Whether the scores of a judge are only a lower bound; False for one that is not installed here."""
    with suppress(UsageError):
        return (kind := judge_kind(spec)) is not None and kind.floor is True
    return False


class JudgeOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """The user's options for the judges of an evaluation.

    `judges` are SPECs (`lexical` is the offline judge); `base_urls` has the address of each in the same order. `search`
    is as in `search_of`, "" for none. `pages` says whether the judges read the pages that a search names. `allow` and
    `deny` are domains of evidence, `allow_hosts` the hosts that restricted cases may be sent to. `timeout` and
    `patience` are in seconds. `knowledge` is as in JudgeConfig, `repeats` and `swap` as in JudgingHeader, `prompts`,
    `quotas`, `prices` and `batch` as in RunSettings. `settings` are more fields of SeatSettings, for all judges.
    """

    judges: tuple[str, ...]
    base_urls: tuple[str, ...] = ()
    temperature: float | str | None = None
    repeats: int = 1
    swap: bool = False
    search: str = ""
    pages: bool = True
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    allow_hosts: tuple[str, ...] = ()
    prompts: str = ""
    quotas: tuple[str, ...] = ()
    prices: str = ""
    timeout: float | None = None
    patience: float | None = None
    batch: bool = False
    knowledge: Knowledge = "search"
    settings: dict[str, Json] = {}

    def to_json(self) -> dict[str, Json]:
        """The options for the header of the evaluation, without keys and without secrets in addresses.

        The folder of prompts is left out, since the header keeps the prompts themselves.
        """
        urls, quotas = (tuple(map(redact_address, texts)) for texts in (self.base_urls, self.quotas))
        search = redact_address(self.search)
        return json_object(msgspec.structs.replace(self, base_urls=urls, quotas=quotas, search=search, prompts=""))


def seats_of(judges: Sequence[SeatConfig]) -> dict[str, SeatConfig]:
    """The judges by seat: `judge`, `judge-2`, ..."""
    return {SEAT if not place else f"{SEAT}-{place + 1}": part for place, part in enumerate(judges)}


class Trial(NamedTuple):
    """The result of the trial calls: the seats whose endpoint takes a schema, and those that take temperature 0."""

    structured: frozenset[str]
    zeroed: frozenset[str]


@dataclass(slots=True)
class JudgeConfig:
    """The judges of a run by seat, how often each question is asked, and the search that they use.

    `structured` names the seats whose endpoint takes a schema of the reply. `zeroed` names the seats asked at
    temperature 0: each question is asked once, the user set no temperature, and the model accepts 0. `knowledge` says
    what a verdict on a step of reasoning may rest on: evidence from the search, the judges' own knowledge, or both.
    `reader` reads the pages that a search names. `allow_hosts` are the hosts that restricted cases may be sent to.
    `untried` says that the endpoints are still to be tried; `missing` maps a seat to the error to raise then, such as a
    missing key. An evaluation stores `options`, from which the judges were made, so that another process can resume it.
    A configuration serves several stores, one scoring after another (JudgeSession). Close it with `aclose`.
    """

    parts: Mapping[str, SeatConfig]
    repeats: int = 1
    swap: bool = False
    structured: frozenset[str] = frozenset()
    search: Search | None = None
    reader: Reader | None = None
    allow_hosts: Sequence[str] = ()
    prompts: Prompts = field(default_factory=load_prompts)
    untried: bool = False
    missing: Mapping[str, UsageError] = field(default_factory=dict)
    zeroed: frozenset[str] = frozenset()
    knowledge: Knowledge = "search"
    options: JudgeOptions | None = None
    _tried: list[Trial] = field(default_factory=list)
    """The result of the trial calls, once they were made; copies of this configuration share the list."""

    @classmethod
    async def recorded(cls, run: Run) -> Self:
        """The judges of a stored evaluation, which answer from its record only."""
        header, ledger = run.evaluation(), Ledger(run.store)
        judging, library = header.judging, header.seats.get(LIBRARY)
        parts = {
            seat: SeatConfig(spec, model=Unreachable(spec) if config.model else None, sampling=config.sampling)
            for seat, spec in header.specs.items()
            for config in [header.seats[seat]]
        }
        return cls(
            parts,
            judging.repeats,
            judging.swap,
            frozenset(header.structured),
            Recorded(library.spec, ledger) if library else None,
            RecordedReader(judging.pages, ledger) if judging.pages else None,
            prompts=await run.prompts(),
            zeroed=frozenset(header.zeroed),
            knowledge=judging.knowledge,
        )

    @classmethod
    async def stored(
        cls, run: Run, share: tuple[int, int] = (1, 1), urls: Sequence[str] = (), **changes: object
    ) -> "JudgeConfig":
        """The judges of a stored evaluation, made again from its header to resume it.

        `share` is as in `judge_config`, `urls` are addresses with their secrets, `changes` are fields of JudgeOptions.
        Raises UsageError if the header does not say how the judges are reached.
        """
        header = run.evaluation()
        if not header.settings:
            raise UsageError(
                f"{run.name} does not say how its judges are reached, since an earlier Wardround or a program began "
                f"it: score {header.evaluates} again with the same judges, and it goes on"
            )
        asked = msgspec.convert(
            header.settings | {name: value for name, value in changes.items() if value}, JudgeOptions
        )
        if unknown := [redact_address(url) for url in urls if redact_address(url) not in asked.base_urls]:
            there = ", ".join(filter(None, asked.base_urls)) or "none"
            raise UsageError(
                f"--resume takes the evaluation's settings from the store; leave out --judge-base-url {unknown[0]} "
                f"(its judges' addresses: {there})"
            )
        prompts = Prompts({**load_prompts().texts(), **(await run.prompts()).texts()})
        return await judge_config(asked, run.store, share, prompts, urls)

    def seats(self) -> dict[str, SeatHeader]:
        """The judges and the search, for the header: no key, no secret."""
        seats = {seat: part.describe() for seat, part in self.parts.items()}
        if self.search is not None:
            options = {"documents": self.search.documents} if isinstance(self.search, SizedSearch) else {}
            library = SeatConfig(self.search.name, options=options).describe()
            seats[LIBRARY] = msgspec.structs.replace(library, host=self.search.host)
        return seats

    def judging(self) -> JudgingHeader:
        """How the judges are asked, for the header."""
        pages = self.reader.name if self.reader else ""
        return JudgingHeader(repeats=self.repeats, swap=self.swap, pages=pages, knowledge=self.knowledge)

    async def trial(self) -> Trial:
        """What the endpoints accept; the first call of this method tries each by one or two cheap calls.

        Raises UsageError if a key is missing or an endpoint does not answer.
        """
        if not self._tried:
            self.check_keys()
            models = {seat: part.model for seat, part in self.parts.items() if part.model is not None}
            chosen = self.options is not None and self.options.temperature is not None
            plain = {} if chosen else models
            if self.untried:
                await try_models({seat: part for seat, part in self.parts.items() if part.sampling}, adapted=True)
                zeroed = await seats_taking_zero(plain) if self.repeats == 1 else frozenset()
                self._tried.append(Trial(await seats_taking_shape(models), zeroed))
            else:
                self._tried.append(Trial(self.structured, self.zeroed))
        return self._tried[0]

    def check_keys(self) -> None:
        """Raise UsageError if a key is missing."""
        for error in self.missing.values():
            raise error

    def hosts(self) -> dict[str, Sequence[str]]:
        """The hosts that the judged texts are sent to, by seat."""
        hosts: dict[str, Sequence[str]] = {
            seat: part.model.hosts for seat, part in self.parts.items() if part.model is not None
        }
        return hosts if self.search is None else {**hosts, LIBRARY: (self.search.host,)}

    def with_search(self, spec: str, search: Search, reader: Reader | None) -> "JudgeConfig":
        """The same judges with the search `spec`.

        The caller closes the search that it opened, and closes the judges by `aclose` of the original configuration.
        """
        options = msgspec.structs.replace(self.options, search=spec) if self.options else None
        return replace(self, search=search, reader=reader, options=options)

    async def aclose(self) -> None:
        """Close models, search and reader."""
        for part in self.parts.values():
            if part.model is not None:
                await part.model.aclose()
        for one in (self.search, self.reader):
            if one is not None:
                await one.aclose()


async def judge_config(
    asked: JudgeOptions,
    store: Store,
    share: tuple[int, int] = (1, 1),
    prompts: Prompts | None = None,
    urls: Sequence[str] = (),
) -> JudgeConfig:
    """The judges for the options `asked`; their endpoints are tried, and their keys needed, at the first judging only.

        judges = await judge_config(JudgeOptions(("openai/gpt-4o",), search="bundled"), store)

    `share` (i, n) says that this is process i of n, which gets the n-th part of every quota. `prompts` replace the
    prompts that `asked` names, `urls` are addresses with their secrets. Raises UsageError for options that contradict
    each other. Close the result with `aclose`.
    """
    if len(asked.base_urls) > len(asked.judges):
        raise UsageError("there are more base URLs than judges: give one for each judge, in their order")
    if asked.knowledge == "judge" and asked.search:
        raise UsageError(
            f"--knowledge judge looks nothing up, so --search {asked.search} would not be used: leave one of them out, "
            "or say --knowledge both"
        )
    settings = RunSettings(
        prices=asked.prices, quotas=asked.quotas, timeout=asked.timeout, patience=asked.patience, batch=asked.batch
    )
    access = await access_of(settings, store, share, urls)
    pairs = zip_longest(asked.judges, asked.base_urls, fillvalue="")
    made = [_judge_and_error(_settings(spec, base_url, asked), access) for spec, base_url in pairs]
    parts = seats_of([part for part, _ in made])
    missing = {seat: why for seat, (_, why) in zip(parts, made, strict=True) if why is not None}
    config = JudgeConfig(
        parts,
        repeats=asked.repeats,
        swap=asked.swap,
        allow_hosts=asked.allow_hosts,
        prompts=prompts or load_prompts(asked.prompts),
        untried=True,
        missing=missing,
        knowledge=asked.knowledge,
        options=asked,
    )
    try:
        if asked.search:
            config.search, config.reader = await open_search(asked, store)
    except BaseException:
        await config.aclose()
        raise
    return config


def _settings(spec: str, base_url: str, asked: JudgeOptions) -> SeatSettings:
    fields = {**asked.settings, "spec": spec.strip(), "base_url": base_url, "temperature": asked.temperature}
    return checked_settings(SeatSettings, fields, f"judge {spec!r}")


def _judge_and_error(settings: SeatSettings, access: Access) -> tuple[SeatConfig, UsageError | None]:
    """A judge, and the error if its key is missing: stored verdicts can be read without a key."""
    try:
        return judge_seat(settings, access), None
    except MissingVariable as error:
        if not error.variable.endswith(_KEYS):
            raise
        return judge_seat(settings, access, {**os.environ, error.variable: "-"}), error


def judge_seat(settings: SeatSettings, access: Access, env: Mapping[str, str] = os.environ) -> SeatConfig:
    """The seat of a judge; its key is read from `env`. Raises UsageError for a SPEC that leads to no judge."""
    spec = settings.spec
    if kind := judge_kind(spec):
        return SeatConfig(spec, foreign=not is_bundled(kind))
    if not is_model(spec):
        raise UsageError(
            f"judge {spec!r}: write provider/model, for instance openai/gpt-4o, package.module:Class, or one of these, "
            f"which need no model: {', '.join(plugin_names(JUDGES))}"
        )
    try:
        return model_seat(settings, access, env)
    except UsageError as error:
        error.args = (str(error).replace("--base-url", "--judge-base-url"),)
        raise


async def open_search(asked: JudgeOptions, store: Store) -> tuple[Search, Reader | None]:
    """The search, limited to the allowed domains, and a reader for the pages that it names (None if none is wanted).

    Raises UsageError if the packages that read pages are not installed.
    """
    search = await search_of(asked.search, ledger=Ledger(store))
    domains = Domains(asked.allow, asked.deny)
    if (asked.allow or asked.deny) and not asked.search.startswith("recorded:"):  # a record was filtered as it was made
        search = FilteredSearch(search, domains)
    if not asked.pages or not search_kind(asked.search)[0].PAGES:
        return search, None
    if find_spec("trafilatura") is None or find_spec("pypdf") is None:
        raise UsageError(
            f"--search {asked.search} names pages, and to read them needs: pip install 'wardround[search]'; "
            "--no-pages takes what the search itself says of them"
        )
    return search, Pages(Web(), domains)


class JudgeSession:
    """The judges' session for one store: its calls and the passages from its searches.

    `trial` replaces what `config` says about schemas and temperature 0. The session opens and closes nothing: models,
    search and reader belong to the configuration.
    """

    def __init__(self, config: JudgeConfig, store: Store, trial: Trial | None = None) -> None:
        self._config, self._store = config, store
        self._trial = trial or Trial(config.structured, config.zeroed)
        self._ledger, self._signed = Ledger(store), SignCache()
        self._singles: dict[str, Single] = {}
        self._search_models: dict[bool, SearchModel] = {}

    def caster(self, evaluator: Evaluator, judged: EvaluationInput, episode: str, seed: int) -> Caster:
        """A function that makes the judging agent of one episode."""

        def cast(name: str, voice: Callable[..., Voice]) -> Agent:
            return EvaluationAgent(evaluator, judged, self._context(name, voice, judged, episode, seed))

        return cast

    def _context(
        self, name: str, voice: Callable[..., Voice], judged: EvaluationInput, episode: str, seed: int
    ) -> Seat:
        config = self._config
        restricted = judged.case.data_class == "restricted"
        voices = {seat: self._voice(seat, voice, episode, restricted=restricted) for seat in config.parts}
        judges = [self._judge(seat, part, voices[seat]) for seat, part in config.parts.items()]
        search: Search | None = None
        reader: Reader | None = None
        if config.search is not None:
            heard = voice(self._search_model(config.search, restricted=restricted), {}, LIBRARY)
            search = ConsultedSearch(config.search.name, heard, self._ledger)
            reader = ConsultedReader(config.reader.name, heard, self._ledger) if config.reader else None
        return JudgeContext(
            name=name,
            case_id=judged.case.id,
            seed=seed,
            prompts=config.prompts,
            options=config.parts[SEAT].options,
            model=voices[SEAT],
            panel=Panel(judges, repeats=config.repeats, swap=config.swap),
            search=search,
            reader=reader,
            signed=self._signed,
            knowledge=config.knowledge,
            controls=judged.controls,
        )

    def _voice(self, seat: str, voice: Callable[..., Voice], episode: str, *, restricted: bool) -> Voice | None:
        part = self._config.parts[seat]
        if part.model is None:
            return None
        if seat not in self._singles:  # episodes share the answer to the same question
            cache = StoreCache(self._store, f"{part.spec}\x1f{part.address}", None)
            self._singles[seat] = asked_once(part.model, cache)
        reached = in_episode(self._singles[seat], seat, episode, self._config.allow_hosts, restricted=restricted)
        return voice(reached, {**part.sampling, **({"temperature": 0.0} if seat in self._trial.zeroed else {})}, seat)

    def _judge(self, seat: str, part: SeatConfig, voice: Voice | None) -> Judge:
        if voice is None:
            kind: Callable[[str], Judge] | None = judge_kind(part.spec)
            if kind is None:
                raise UsageError(f"no installed package has the judge {part.spec!r}")
            return kind(seat)
        structured, seed = seat in self._trial.structured, part.sampling.get("seed")
        return ModelJudge(seat, part.spec, voice, self._config.prompts, structured=structured, seed=seed)

    def _search_model(self, search: Search, *, restricted: bool) -> Model:
        """The search and the reader, recorded; queries of restricted cases go to allowed hosts only."""
        if restricted not in self._search_models:
            hosts, ledger, pages = self._config.allow_hosts, self._ledger, self._config.reader
            reader = None
            if pages is not None:
                reader = RecordingReader(GuardedReader(pages, hosts, restricted=restricted), ledger)
            recording = RecordingSearch(GuardedSearch(search, hosts, restricted=restricted), ledger)
            self._search_models[restricted] = SearchModel(recording, reader)
        return self._search_models[restricted]
