"""The planning of a run: find and read the cases, make the seats, check everything, and create the run."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, runtime_checkable
from weakref import ref

import msgspec
from pydantic import BaseModel

from wardround.engine.budget import Budget
from wardround.engine.episode import Ended, boundary
from wardround.engine.errors import EgressError, UsageError
from wardround.engine.limits import Limits
from wardround.engine.logs import log
from wardround.engine.models.scripted import Unreachable
from wardround.engine.plugins import is_bundled
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Pools, Store
from wardround.engine.records import EpisodeRow
from wardround.engine.seat import WatchedOptions
from wardround.engine.sessions import RunControl
from wardround.runs.header import (
    VERSION,
    CasesHeader,
    ImportedHeader,
    RunHeader,
    ScenarioHeader,
    SkippedHeader,
    utc_now,
)
from wardround.runs.recordings import silent_repeats
from wardround.runs.seat_models import Access, access_of
from wardround.runs.seat_settings import SeatSettings, is_model
from wardround.runs.seats import AgentFactory, Cast, SeatConfig, check_egress, seat_config, with_files
from wardround.runs.settings import (
    RunSettings,
    budget_of,
    check_priced,
    checked_settings,
    load_prompts,
    no_price,
    without_secrets,
)
from wardround.runs.stored_run import PlayedScenario, Run, run_name, scenario_class, scenario_defaults
from wardround.scenarios.answers.truth import with_parts
from wardround.scenarios.case import Case
from wardround.scenarios.encounters.consultation import Consultation
from wardround.scenarios.loaders.census import named_truths
from wardround.scenarios.loaders.load import bundled, load_playable, suffixes
from wardround.scenarios.loaders.select import patients, select_cases
from wardround.scenarios.loaders.source import Playable, Problem, refused_rows
from wardround.scenarios.question_item import QuestionItem

_ENDS = tuple(end + packed for end in (".jsonl", ".ndjson", ".json") for packed in ("", ".gz"))
_ACCOUNT = ".flow.json"
"""The end of the name of the account that a build writes next to its cases."""


def case_source(settings: RunSettings) -> str | list[str]:
    """The source of the cases for the header: the path as the user wrote it, the files of a folder, or a list."""
    names = [
        str(path) for place in settings.places for path in (case_paths(place) if Path(place).is_dir() else (place,))
    ]
    return names[0] if len(names) == 1 else names


def cases_of(settings: RunSettings, left_out: list[Problem] | None = None) -> Iterator[Playable]:
    """The cases that the settings name, in the order of their files.

    Raises UsageError for a file that cannot be read and for a case that occurs twice. `left_out` is as in
    `load_playable`.
    """
    cases = _cases_of_files([path for place in settings.places for path in case_paths(place)], left_out)
    chosen = select_cases(cases, settings.where, sample=settings.sample, seed=settings.seed, limit=settings.limit)
    return (with_parts(case) if isinstance(case, Case) else case for case in chosen)


def case_paths(place: str) -> tuple[Path, ...]:
    """The files of a place: a file, the case files of a folder, or bundled ones (`bundled`, `bundled:questions`)."""
    name, _, part = place.partition(":")
    if name == "bundled":
        return bundled(part or "all")
    path = Path(place)
    return _case_files(path) if path.is_dir() else (path,)


def _case_files(folder: Path) -> tuple[Path, ...]:
    """The case files of a folder in order of name, without those of its subfolders."""
    ends = (*_ENDS, *suffixes())
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name.endswith(ends))
    files = [path for path in files if not path.name.endswith(_ACCOUNT) and not path.name.startswith(".")]
    if not files:
        raise UsageError(f"{folder}: holds no case file; their names end in {', '.join(ends)}")
    return tuple(files)


def _cases_of_files(paths: list[Path], left_out: list[Problem] | None = None) -> Iterator[Playable]:
    """The cases of all files; if several files have the same id, each of these cases is renamed to `FILE:ID`.

    The new name depends on the files, not on their order. Raises UsageError for two identical cases. The parts of their
    diagnoses are not read yet: most of the cases may not be chosen.
    """
    if len(paths) == 1:
        yield from load_playable(paths[0], left_out, parts=False)
        return
    cases = [(path, case) for path in paths for case in load_playable(path, left_out, parts=False)]
    places: dict[str, list[Path]] = {}
    seen: dict[tuple[str, str], Path] = {}
    for path, case in cases:
        whole = (case.id, case.model_dump_json())
        if whole in seen:
            raise UsageError(f"{path}: the case {case.id!r} is in {seen[whole]} too, word for word; name it once")
        seen[whole] = path
        places.setdefault(case.id, []).append(path)
    prefixes = {case_id: _shortest_ends(where) for case_id, where in places.items() if len(where) > 1}
    if prefixes:
        first = next(iter(prefixes))
        log.warning(
            "cases of several files have equal ids and are called FILE:ID",
            ids=len(prefixes),
            first=f"{next(iter(prefixes[first].values()))}:{first}",
        )
    for path, case in cases:
        yield case.model_copy(update={"id": f"{prefixes[case.id][path]}:{case.id}"}) if case.id in prefixes else case


def _shortest_ends(paths: list[Path]) -> dict[Path, str]:
    """The shortest ends of the paths, without the suffix of the file, that are all different."""
    stems = {path: (*path.resolve().parts[:-1], path.name.partition(".")[0] or path.name) for path in paths}
    most = max(map(len, stems.values()))
    for length in range(1, most + 1):
        ends = {path: "-".join(parts[-length:]) for path, parts in stems.items()}
        if len(set(ends.values())) == len(paths):
            return ends
    return {path: path.name for path in paths}  # they differ in their suffix only


DEFAULT_SPECS = {"doctor": "baseline", "patient": "record", "examiner": "record"}
"""Who plays a seat for which the user names nobody."""
_CHUNK = 500


class NothingToPlay(UsageError):
    """No case is left to play; `skipped` has a (case, reason) for each case that was left out."""

    def __init__(self, message: str, skipped: list[tuple[str, str]]) -> None:
        super().__init__(message)
        self.skipped = skipped


@dataclass(slots=True)
class RunPlan:
    """A run that is checked and can begin.

    `rules` is the class of the scenario, `rule_settings` its settings; `parts` are the seats. `index` maps case ids to
    the digests of their texts. `silent` are the (case, repeat) for which a seat has no recording, `skipped` the (case,
    reason) that cannot be played. `restricted` is the number of restricted cases, `first` the first case. `leaks` are
    (case, field, phrase) where an open field states the diagnosis. `imported` is the origin of a run that is imported.
    """

    settings: RunSettings
    rules: type[PlayedScenario]
    rule_settings: BaseModel
    prompts: Prompts
    parts: Mapping[str, SeatConfig]
    access: Access
    repeats: int
    budget: Budget
    index: dict[str, str] = field(default_factory=dict)
    silent: set[tuple[str, int]] = field(default_factory=set)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    restricted: int = 0
    first: Playable | None = None
    leaks: list[tuple[str, str, str]] = field(default_factory=list)
    imported: ImportedHeader | None = None

    def __iter__(self) -> Iterator[EpisodeRow]:
        """The episodes: each case in each repeat, without those in `silent`; a store that retries iterates again."""
        places = ((case, repeat) for repeat in range(1, self.repeats + 1) for case in self.index)
        planned = (place for place in places if place not in self.silent)
        for number, (case, repeat) in enumerate(planned):
            yield EpisodeRow(f"{case}@{repeat}", number, case, repeat, None, "", 0, 0.0)

    @property
    def count(self) -> int:
        """Number of episodes."""
        return self.repeats * len(self.index) - len(self.silent)


async def plan_run(
    settings: RunSettings, store: Store, agents: Mapping[str, AgentFactory], share: tuple[int, int] = (1, 1)
) -> RunPlan:
    """Check everything that can be wrong before a call is made; cases go into the store as they are read.

    `agents` are the user's classes by seat. `share` is as in `access_of`. Raises UsageError, EgressError if restricted
    cases would go where they may not, and NothingToPlay if no case is left.
    """
    settings = with_files(settings)
    await run_name(settings.name, store)  # a bad name is reported before the slow checks and the warnings
    rules = scenario_class(settings.scenario)
    rule_settings = checked_settings(rules.Settings, settings.set, f"--set for scenario {settings.scenario}")
    prompts = load_prompts(settings.prompts)
    seats = (*rules.seats, *(seat for seat in scenario_defaults(rules).extra_seats if seat in settings.seats))
    unknown = sorted(set(settings.seats) - set(seats))
    if unknown:
        raise UsageError(f"scenario {settings.scenario} has no seat {unknown[0]!r}; it has: {', '.join(rules.seats)}")
    if settings.batch and tuple(rules.seats) != ("doctor",):
        raise UsageError(
            f"--batch is for scenarios without another seat, such as questions or oracle: each turn of "
            f"{settings.scenario} would wait for a batch of its own, up to a day"
        )
    if settings.batch and share != (1, 1):
        raise UsageError("--batch plays in one process: leave --share, --workers and --cluster out")
    access = await access_of(settings, store, share)
    parts = {}
    for seat in seats:
        parts[seat] = await seat_config(seat, _seat_settings(settings, seat, rules), access, store, agents.get(seat))
    _check_policy(rule_settings, parts)
    _check_persona(settings.scenario, rules, parts)
    usual = scenario_defaults(rules).repeats if parts[rules.seats[0]].each_model() else 1
    repeats = settings.repeats or usual
    budget = budget_of(settings.budget, list(parts), [part.model_spec for part in parts.values()])
    made = RunPlan(settings, rules, rule_settings, prompts, parts, access, repeats, budget)
    await _read_cases(made, store)
    check_egress(made.parts, made.restricted, settings.allow_hosts)
    _warn_of_leaks(made)
    _check_prices(made)
    _try_agents(made)
    return made


def _check_policy(rule_settings: BaseModel, parts: Mapping[str, SeatConfig]) -> None:
    """Raise UsageError if results are to be synthesised and the examiner has no model to do so."""
    examiner = parts.get("examiner")
    if examiner and examiner.spec == "record" and rule_settings.model_dump().get("policy") == "synthesise":
        raise UsageError("policy synthesise needs a model to write results: name one, such as --examiner openai/gpt-4o")


def _check_persona(scenario: str, rules: type[PlayedScenario], parts: Mapping[str, SeatConfig]) -> None:
    """Raise UsageError for a persona in a scenario of this package whose patient tells no story."""
    patient = parts.get("patient")
    if patient and is_bundled(rules) and not issubclass(rules, Consultation) and "persona" in patient.options:
        raise UsageError(f"a persona is for a patient who tells a story; in {scenario} it only hands over results")


def _try_agents(made: RunPlan) -> None:
    """Make each agent once, so that a wrong option or a missing model is reported before anything is run."""
    case = made.first
    assert case is not None
    players = Cast(made.parts, made.prompts, made.settings.seed, cases=(case,), places={case.id: 0})
    cast = players.caster(case, 1)
    for seat, part in made.parts.items():
        if part.recording is None:
            watched = WatchedOptions(part.options)
            part.options, kept = watched, ref(watched)
            with _usage_errors(f"{seat} {part.spec!r} cannot be made"):
                agent = cast(seat, lambda model, options, label="": Unreachable(model.name))
            unread, part.options = list(watched.unread), dict(watched)
            del watched
            if unread and (is_bundled(agent) or kept() is None):  # nothing can read them later either
                raise UsageError(f"{seat} {part.spec!r} takes no option {unread[0]!r}: it did not read it")


@contextmanager
def _usage_errors(what: str) -> Iterator[None]:
    """Turn whatever plug-in code raises in the block into a UsageError, since nothing has been run yet."""
    try:
        with boundary(what):
            yield
    except Ended as ended:
        if isinstance(ended.__cause__, UsageError):
            raise ended.__cause__ from None
        raise UsageError(f"{what}: {ended.ending.detail}") from ended.__cause__


def _seat_settings(settings: RunSettings, seat: str, rules: type[PlayedScenario]) -> SeatSettings:
    """The user's settings of a seat; unset sampling of the scenario's first seat comes from the scenario's paper."""
    if seat not in settings.seats and seat not in DEFAULT_SPECS:
        raise UsageError(f"scenario {settings.scenario} needs a {seat}, and nobody plays that seat unless it is named")
    chosen = settings.seats.get(seat) or SeatSettings(spec=DEFAULT_SPECS[seat])
    if seat != rules.seats[0] or not (is_model(chosen.spec) or chosen.each_model()):
        return chosen
    unset = {name for name, value in chosen if value is None}
    usual = {name: value for name, value in scenario_defaults(rules).sampling.items() if name in unset}
    return chosen.model_copy(update=usual)


@runtime_checkable
class Loads(Protocol):
    """A scenario with a reader of its own for what it plays, such as articles in place of cases."""

    def load(self, where: str) -> Iterator[Playable]:
        """The items at a place."""


def _read_items(settings: RunSettings, scenario: PlayedScenario, left_out: list[Problem]) -> Iterator[Playable]:
    """The items to play: cases, or the items that the scenario's own `load` reads.

    Question sets have thousands of rows: one that cannot be read is left out, added to `left_out`, and counted.
    """
    if not isinstance(scenario, Loads):
        if scenario_defaults(type(scenario)).item is QuestionItem:
            return cases_of(settings, left_out)
        return patients(lambda: cases_of(settings), (path for place in settings.places for path in case_paths(place)))
    if settings.where or settings.sample or settings.limit:
        raise UsageError(f"where, sample and limit choose among cases; {settings.scenario} reads something else")
    if not isinstance(settings.cases, str):
        raise UsageError(f"{settings.scenario} reads one place, and cases names {len(settings.cases)}")
    return scenario.load(settings.cases)


async def _read_cases(made: RunPlan, store: Store) -> None:
    with _usage_errors(f"the scenario {made.settings.scenario} cannot be made"):
        scenario = made.rules(made.rule_settings, made.prompts)
    chunk: list[Playable] = []
    own = not is_bundled(made.rules)
    pool = scenario.pool() if isinstance(scenario, Pools) else None
    left_out: list[Problem] = []
    for case in _read_items(made.settings, scenario, left_out):
        if own and case.data_class == "restricted":
            raise EgressError.to_plugin(f"case {case.id} is", f"the scenario {made.settings.scenario!r}")
        with _usage_errors(f"the scenario {made.settings.scenario} cannot say whether it can play {case.id}"):
            reason = _of_another_kind(case, made.rules) or scenario.lacks(case)
        if reason:
            made.skipped.append((case.id, reason))
            continue
        made.first = made.first or case
        if pool is not None:
            pool.add(case)
        made.restricted += case.data_class == "restricted"
        if made.rules.goal == "diagnosis" and isinstance(case, Case):
            made.leaks += named_truths(case)[:1]
        chunk.append(case)
        if len(chunk) == _CHUNK:
            await _store_cases(made, store, chunk)
            chunk = []
    await _store_cases(made, store, chunk)
    made.skipped += refused_rows(left_out)
    if pool is not None:
        made.prompts = Prompts({**made.prompts.texts(), **pool.texts()})
    recordings = {part.spec: part.recording for part in made.parts.values() if part.recording}
    for case_id in made.index if recordings else ():
        silent, why = silent_repeats(recordings, case_id, made.repeats)
        made.silent |= {(case_id, repeat) for repeat in silent}
        made.skipped += [(case_id, why)] if silent else []
    if not made.count:
        why = (
            f": {made.skipped[0][0]}: {made.skipped[0][1]}"
            if made.skipped
            else " (check --where, --limit and --sample)"
        )
        where = ", ".join(made.settings.places)
        raise NothingToPlay(f"{where}: no case can be played under {made.settings.scenario}{why}", made.skipped)


def _of_another_kind(case: Playable, rules: type[PlayedScenario]) -> str:
    """Why a scenario cannot play an item: a question in a scenario of patients, or the reverse; "" if it can."""
    wanted = scenario_defaults(rules).item
    if isinstance(case, QuestionItem) and wanted is Case:
        return "it is a question, not a patient: play it with --scenario questions"
    if isinstance(case, Case) and wanted is QuestionItem:
        return "it is a patient, not a question: play it with another scenario (questions: --cases bundled:questions)"
    return ""


async def _store_cases(made: RunPlan, store: Store, cases: list[Playable]) -> None:
    texts = []
    for case in cases:
        try:
            texts.append(case.model_dump_json(exclude_defaults=True).encode())
        except ValueError as error:  # a surrogate in a text from a user's loader
            raise UsageError(f"case {case.id!a} cannot be stored: {error}") from error
    digests = await store.put(texts)
    for case, digest in zip(cases, digests, strict=True):
        if case.id in made.index:
            raise UsageError(f"{', '.join(made.settings.places)}: two cases are called {case.id!r}")
        made.index[case.id] = digest


def _warn_of_leaks(made: RunPlan) -> None:
    """Warn of cases whose open fields state the diagnosis: a doctor could copy it."""
    if made.leaks:
        case, name, phrase = made.leaks[0]
        log.warning(
            "the doctor can read the right answer in a case; `wardround cases check` lists all such cases",
            cases=len(made.leaks),
            first=case,
            field=name,
            phrase=phrase,
        )


def _check_prices(made: RunPlan) -> None:
    """Raise UsageError if a cap on cost covers a model without a price; without a cap, only warn of such models."""
    for seat, part in made.parts.items():
        for asked in part.each_model().values():
            for spec in check_priced(made.budget, {seat: asked.spec}, made.access.prices.as_json()).values():
                if made.settings.limits.cost is not None:
                    raise UsageError(no_price(seat, spec))
                log.warning("no price is known: what it costs is not counted", seat=seat, model=spec)


def reasons(skipped: Iterable[tuple[str, str]]) -> dict[str, int]:
    """Number of skipped cases by reason; a reason `NAME: more` counts under NAME."""
    return dict(sorted(Counter(reason.partition(": ")[0] for _, reason in skipped).items()))


async def create_run(made: RunPlan, store: Store) -> Run:
    """Create the run in the store, with its header and its episodes."""
    texts = made.prompts.texts()
    digests = await store.put([text.encode() for text in texts.values()])
    [index] = await store.put([msgspec.json.encode(list(made.index.items()))])
    recordings = {seat: part.recording.content() for seat, part in made.parts.items() if part.recording}
    tables = dict(zip(recordings, await store.put(recordings.values()), strict=True))
    settings = made.settings
    read = settings.cases if issubclass(made.rules, Loads) else case_source(settings)
    header = RunHeader(
        version=VERSION,
        wardround=version("wardround"),
        begun=utc_now(),
        scenario=ScenarioHeader(
            name=settings.scenario, goal=made.rules.goal, settings=made.rule_settings.model_dump(mode="json")
        ),
        seats={seat: part.describe() for seat, part in made.parts.items()},
        repeats=made.repeats,
        seed=settings.seed,
        limits=Limits(**settings.limits.model_dump()),
        prompts=dict(zip(texts, digests, strict=True)),
        cases=CasesHeader(source=read, count=len(made.index), index=index, restricted=made.restricted),
        tables=tables,
        prices=tuple(made.access.prices.as_json()),
        skipped=SkippedHeader(count=len(made.skipped), first=tuple(made.skipped[:1000]), reasons=reasons(made.skipped)),
        settings=without_secrets(settings.model_dump(mode="json", exclude_defaults=True)),
        imported=made.imported,
    )
    name = await run_name(settings.name, store)
    await store.create_run(name, header.to_json(), made, RunControl(budget=made.budget))
    return Run(store, name, header)
