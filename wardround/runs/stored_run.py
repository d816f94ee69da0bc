"""A stored run: its name, header, episodes, trajectories, cases, prompts and scenario."""

import random
import re
from collections import OrderedDict
from collections.abc import AsyncIterator, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self, cast

import msgspec
from pydantic import BaseModel

from wardround.engine.errors import CaseLost, EgressError, LogError, TextLost, UsageError
from wardround.engine.events import Closed, Event, Row, check_end, decode, decode_last
from wardround.engine.plugins import import_path, is_bundled, load_plugin, plugin_names
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import AnyScenario, ReadsTogether, Scenario, Store, has_methods
from wardround.engine.records import Ending, EpisodeRow, Json, RunRow
from wardround.engine.text import in_number, suggestion
from wardround.engine.trajectory import Trajectory
from wardround.runs.header import EvaluationHeader, Header, RunHeader, read_header
from wardround.runs.settings import RunSettings
from wardround.runs.store_address import open_store as open_store  # noqa: PLC0414 - its documented path
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.source import Playable
from wardround.scenarios.question_item import QuestionItem


class StoredEpisodes:
    """The episodes of one run of a store; its header is not read."""

    def __init__(self, store: Store, name: str) -> None:
        self.store, self.name = store, name

    async def episodes(self, limit: int | None = None) -> list[EpisodeRow]:
        """The rows of all episodes, or of the first `limit`."""
        return [row async for row in self.store.episodes(self.name, limit=limit)]

    async def endings(self) -> dict[str, int]:
        """Number of episodes by cause; open episodes count under `open`."""
        return dict(await self.store.endings(self.name))

    async def episode(self, name: str) -> EpisodeRow:
        """An episode by its id, its number, or its case if that was played only once.

        Raises UsageError if there is no such episode, or if the case was played more than once.
        """
        rows = await self.store.find(self.name, name, 11)
        if len(rows) == 1:
            return rows[0]
        if rows:
            some = ", ".join(row.id for row in rows[:10])
            raise UsageError(f"case {name} was played more than once: {some}{', ...' * (len(rows) > 10)}")
        some = ", ".join(row.id for row in await self.episodes(limit=5))
        count = sum((await self.endings()).values())
        raise UsageError(f"run {self.name} has no episode {name!r}; it has {count}: {some}{', ...' * (count > 5)}")

    @contextmanager
    def naming(self, episode: str) -> Iterator[None]:
        """Add run and episode to the message of a LogError that the block raises."""
        try:
            yield
        except LogError as error:
            raise LogError(f"run {self.name}, episode {episode}: {error}", seq=error.seq) from error

    async def rows(self, episode: str | EpisodeRow) -> list[Row]:
        """The stored events of an episode; raises LogError if any was altered or is missing, including the last."""
        known = await self.episode(episode) if isinstance(episode, str) else episode
        rows = [row async for row in self.store.read(self.name, known.id)]
        self._decode_events(known, rows)
        return rows

    def _decode_events(self, episode: EpisodeRow, rows: Sequence[Row]) -> tuple[Event, ...]:
        with self.naming(episode.id):
            events = decode(rows)
            check_end(events[-1] if events else None, episode)
        return events

    async def events(self, episode: EpisodeRow) -> tuple[Event, ...]:
        """All events of an episode; raises LogError as `rows` does."""
        return self._decode_events(episode, [row async for row in self.store.read(self.name, episode.id)])

    async def last(self, row: EpisodeRow, count: int) -> Sequence[Event]:
        """The last `count` events of an episode; raises LogError if one was altered or is missing."""
        after = max(-1, row.events - count - 2)  # one event more, whose hash the first of them is checked against
        with self.naming(row.id):
            rows = [line async for line in self.store.read(self.name, row.id, after=after)]
            events = decode_last(rows) if after >= 0 else decode(rows)
            check_end(events[-1] if events else None, row)
        return events[-count:]

    async def read_ahead(self, rows: Sequence[EpisodeRow]) -> None:
        """Prepare for these episodes to be played; only a `Run` knows their cases, which it reads together."""

    async def ending(self, row: EpisodeRow) -> Ending | None:
        """How an episode ended, read from its last event; None while it is open."""
        last = await self.last(row, 1) if row.cause is not None else ()
        return last[-1].ending if last and isinstance(last[-1], Closed) else None


_HOW = "brisk calm clear early fair fresh gentle keen late lively mild neat plain quick quiet ready sharp steady warm"
_WHO = (
    "curlew dunlin finch godwit heron ibis jay kestrel lark martin oriole petrel plover raven rook swift tern teal wren"
)
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")


def random_name(taken: Collection[str]) -> str:
    """A random name such as `calm-heron-417` that is not in `taken`."""
    chance = random.Random()
    while True:
        name = f"{chance.choice(_HOW.split())}-{chance.choice(_WHO.split())}-{chance.randrange(100, 1000)}"
        if name not in taken:
            return name


async def run_name(name: str, store: Store) -> str:
    """The name of a new run: `name`, or a random one if it is empty.

    Raises UsageError if the name is taken or has characters that are not allowed: names occur in commands, in file
    names and in RUN/EPISODE, and `~` separates a run from its evaluator.
    """
    taken = {run.name for run in await store.runs()}
    if not name:
        return random_name(taken)
    if not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is not a name for a run: write at most 100 letters a to z, digits, dots, hyphens, underscores; "
            "the first is neither a dot nor a hyphen"
        )
    if name in taken:
        raise UsageError(f"there is already a run {name!r} in this store; choose another --name, or --resume it")
    return name


def check_importable(name: str, header: Mapping[str, Json]) -> None:
    """Raise UsageError or StoreError if a run from a file cannot be kept under `name`; the message says why."""
    run, _, evaluation = name.partition("~")
    if not _NAME.fullmatch(run) or not (evaluation + "x").isprintable() or "/" in evaluation:
        raise UsageError(f"{name!r} is not a name for a run, in commands and names of files: give another by --name")
    read_header(RunRow(name, 0.0, header))


SCENARIOS = "wardround.scenarios"
"""The group of entry points of scenarios; each target is a class as PlayedScenario describes it."""
_PARTS = ("name", "seats", "goal", "Settings", "lacks", "start", "turn", "view", "apply", "ending")
KEPT = 256
"""Cases cached in memory: the repeats of a case come close together, and each read of the store costs a thread."""


class PlayedScenario(Scenario[Playable, Any], Protocol):
    """A scenario as a run makes it from its settings and the prompts; `goal` is what it asks a doctor for."""

    goal: str
    Settings: type[BaseModel]

    def __init__(self, settings: BaseModel, prompts: Prompts) -> None:
        """Make the scenario."""

    def lacks(self, case: Playable) -> str:
        """Why it cannot play a case; "" if it can."""


def scenario_class(name: str) -> type[PlayedScenario]:
    """The scenario class with this name or `package.module:Class`.

    Raises UsageError if there is none, with the names of those that a doctor can play.
    """
    if ":" in name:
        rules: type[PlayedScenario] = import_path(name)
        if missing := [part for part in _PARTS if not hasattr(rules, part)]:
            raise UsageError(f"{name!r} is not a scenario: it has no `{missing[0]}` (docs/scenarios.md, Writing one)")
        return rules
    if name not in plugin_names(SCENARIOS):
        raise UsageError(f"there is no scenario {name!r}{suggestion(name, doctor_scenarios())}")
    rules = load_plugin(SCENARIOS, name)
    return rules


def doctor_scenarios() -> list[str]:
    """The names of the scenarios that a doctor can play: neither curation nor those of imported dialogues."""
    every = {name: load_plugin(SCENARIOS, name) for name in plugin_names(SCENARIOS)}
    return [name for name, rules in every.items() if "doctor" in rules.seats and not scenario_defaults(rules).recorded]


class ScenarioDefaults(NamedTuple):
    """Defaults from optional attributes of a scenario's class.

    `repeats` (REPEATS) and `sampling` (SAMPLING) are for a model in its first seat; `item` (Item) is the class of the
    items that its episodes play; `recorded` (RECORDED) says that it only plays recordings of other programs;
    `extra_seats` (EXTRA_SEATS) are played only in runs that name somebody for them.
    """

    repeats: int = 1
    sampling: Mapping[str, Json] = {}
    item: type[Playable] = Case
    recorded: bool = False
    extra_seats: Sequence[str] = ()


def scenario_defaults(rules: type[AnyScenario]) -> ScenarioDefaults:
    """The defaults of a scenario's class."""
    # Any class with the right methods is a scenario and needs no base class, so attributes may be missing.
    return ScenarioDefaults(
        int(getattr(rules, "REPEATS", 1)),
        dict(getattr(rules, "SAMPLING", {})),
        getattr(rules, "Item", Case),
        bool(getattr(rules, "RECORDED", False)),
        tuple(getattr(rules, "EXTRA_SEATS", ())),
    )


class Run(StoredEpisodes):
    """One run of a store, with its header, cases, prompts and scenario; an evaluation is a run too.

        run = await Run.open(open_store("study.db"), "calm-heron-417")
        async for trajectory in run:
            print(trajectory.opened.case, trajectory.ending)

    `header` is described in docs/store.md.
    """

    def __init__(self, store: Store, name: str, header: Header) -> None:
        super().__init__(store, name)
        self.header = header
        self._index: dict[str, str] | None = None
        self._cases: OrderedDict[str, Playable] = OrderedDict()
        self._ahead: dict[str, bytes] = {}
        self._kind: type[Playable] | None = None
        self.pilot: Any = None

    @classmethod
    async def open(cls, store: Store, name: str) -> Self:
        """The run called `name`.

        Raises UsageError with the known names if there is none, StoreError for a header that cannot be read.
        """
        row = await store.run(name)
        return cls(store, row.name, read_header(row))

    @cached_property
    def json(self) -> Mapping[str, Json]:
        """The header as a JSON object."""
        return self.header.to_json()

    @property
    def evaluated(self) -> str:
        """The name of the run that this one evaluates; '' if it is not an evaluation."""
        return self.header.evaluates if isinstance(self.header, EvaluationHeader) else ""

    def played(self, otherwise: str) -> RunHeader:
        """The header of a run that plays a scenario.

        Raises UsageError for an evaluation; `otherwise` is the part of the message that says what cannot be done.
        """
        if isinstance(self.header, RunHeader):
            return self.header
        judged = self.header.evaluates
        raise UsageError(
            f"run {self.name} is an evaluation of run {judged}: {otherwise}; its figures stand in {judged}, and "
            f"`wardround score {judged} --evaluators {self.header.evaluator} ...` goes on with it"
        )

    def evaluation(self) -> EvaluationHeader:
        """The header of an evaluation; raises UsageError for another run."""
        if isinstance(self.header, EvaluationHeader):
            return self.header
        raise UsageError(f"run {self.name} is not an evaluation")

    @property
    def restricted(self) -> int:
        """Number of its restricted cases, which go only to hosts that the user named."""
        return self.header.cases.restricted

    async def trajectory(self, episode: str | EpisodeRow) -> Trajectory:
        """The trajectory of an episode (row or id); raises LogError if an event was altered or is missing."""
        row = await self.episode(episode) if isinstance(episode, str) else episode
        return Trajectory(await self.events(row), self.json)

    async def logs(self, rows: Sequence[EpisodeRow]) -> Mapping[str, Sequence[Row]]:
        """The stored events of these episodes by id, read together and unchecked, without those that have not begun."""
        begun = [row.id for row in rows if row.events]
        if has_methods(self.store, ReadsTogether):
            return await cast(ReadsTogether, self.store).logs(self.name, begun)
        return {name: [row async for row in self.store.read(self.name, name)] for name in begun}

    def trajectory_of(self, row: EpisodeRow, log: Sequence[Row]) -> Trajectory:
        """The trajectory of an episode whose stored events are `log`; raises LogError as `trajectory` does."""
        return Trajectory(self._decode_events(row, log), self.json)

    async def __aiter__(self) -> AsyncIterator[Trajectory]:
        """The trajectories of all episodes that have begun, in order."""
        async for row in self.store.episodes(self.name):
            if row.events:
                yield await self.trajectory(row)

    async def index(self) -> Mapping[str, str]:
        """Maps each case id to the digest of the case's text, in the order of the run."""
        if self._index is None:
            try:
                self._index = dict(msgspec.json.decode(await self.store.get(self.header.cases.index)))
            except TextLost as error:
                raise TextLost(f"the list of the cases of run {self.name}: {error}") from error
        return self._index

    async def case(self, case_id: str) -> Case:
        """A patient's case, as `item` gives it; raises UsageError for a question or an article."""
        item = await self.item(case_id)
        if not isinstance(item, Case):
            raise UsageError(f"{case_id} of run {self.name} is not a patient's case; `Run.item` returns it")
        return item

    async def item(self, case_id: str) -> Playable:
        """What an episode plays, as it was when the run began: a case, a question or an article.

        Raises CaseLost if its text is missing or was altered.
        """
        kept = self._cases.get(case_id)
        if kept is not None:
            self._cases.move_to_end(case_id)
            return kept
        digest = (await self.index()).get(case_id, "")
        try:
            text = self._ahead.pop(case_id, None) or await self.store.get(digest)
        except TextLost as error:
            raise CaseLost(f"case {case_id} of run {self.name}: {error}") from error
        case = self._cases[case_id] = self._item().model_validate_json(text)
        if len(self._cases) > KEPT:
            self._cases.popitem(last=False)
        return case

    async def read_ahead(self, rows: Sequence[EpisodeRow]) -> None:
        """Read the cases of these episodes together if the store can; `item` then takes each without a read."""
        index = await self.index()
        wanted = {row.case: index.get(row.case, "") for row in rows if row.case not in self._cases}
        texts = await self._texts(list(wanted.values()))
        self._ahead = {case: texts[digest] for case, digest in wanted.items() if digest in texts}

    async def _texts(self, digests: Sequence[str]) -> Mapping[str, bytes]:
        """Texts by digest, read together; those that are missing, and all if the store cannot do this, are left out."""
        if not digests or not has_methods(self.store, ReadsTogether):
            return {}
        return await cast(ReadsTogether, self.store).texts(digests)

    def check_scorable(self) -> None:
        """Raise UsageError if the run cannot be scored: it is an evaluation, or its episodes play no cases."""
        name = self.played("there is nothing to score or report").scenario.name
        if not issubclass(self._item(), Case | QuestionItem):
            raise UsageError(f"run {self.name} plays no cases (its scenario is {name}): there is nothing to score")

    @property
    def of_patients(self) -> bool:
        """Whether the episodes play patients' cases, neither questions nor articles."""
        return self._item() is Case

    @property
    def of_questions(self) -> bool:
        """Whether the episodes play questions."""
        return self._item() is QuestionItem

    def settings(self, **changes: object) -> RunSettings:
        """The settings that the run began with, with `changes` applied; raises UsageError for an evaluation."""
        return RunSettings.model_validate({**self.played("it is not played").settings, **changes})

    def _item(self) -> type[Playable]:
        """The class of the items that the episodes play: Case, or the scenario's own `Item`."""
        if self._kind is None:  # looking up entry points reads files, so it is done once a run
            name = self.header.scenario.name
            there = ":" in name or name in plugin_names(SCENARIOS)
            self._kind = scenario_defaults(scenario_class(name)).item if there else Case
        return self._kind

    async def prompts(self) -> Prompts:
        """The prompts that the run began with."""
        digests = self.header.prompts
        texts = await self._texts(list(digests.values()))
        return Prompts(
            {name: (texts.get(digest) or await self.store.get(digest)).decode() for name, digest in digests.items()}
        )

    async def installed_scenario(self) -> PlayedScenario | None:
        """As `scenario`; None if the scenario is a plug-in that is not installed here."""
        try:
            return await self.scenario()
        except UsageError:
            return None

    async def scenario(self) -> PlayedScenario:
        """The scenario with the run's own settings and prompts.

        Raises EgressError for a user's own scenario if the run has restricted cases.
        """
        header = self.played("it is not played").scenario
        rules = scenario_class(header.name)
        if self.restricted and not is_bundled(rules):
            which = f"{self.restricted} of the cases of run {self.name} {in_number(self.restricted, 'is')}"
            raise EgressError.to_plugin(which, f"the scenario {header.name!r}")
        return rules(rules.Settings.model_validate(header.settings), await self.prompts())
