"""The header of a run: the description of a run in its store, as typed structures with a version.

A store keeps a header as JSON. `read_header` migrates a header of an earlier version while it reads. The stored bytes
do not change, so that no migration is left half done, and the version that wrote a header can still read it. Headers
are compared only after migration. Version 1, which names no version, is that of all stores up to commit 8c8c818.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, Self

import msgspec

from wardround.engine.errors import StoreError
from wardround.engine.limits import Limits
from wardround.engine.protocols import Store
from wardround.engine.records import Json, RunRow, json_object
from wardround.evaluators.search.contract import LIBRARY
from wardround.runs.seat_settings import SAMPLING

VERSION = 2
"""The version of the headers that this Wardround writes."""
FIRST_RULES = "1"
"""The version of an evaluator that names none, and of every header without a version of the evaluator."""


class ModelHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A model of an agent, without keys and secrets; fields as in SeatHeader."""

    spec: str
    model: str
    host: str
    sampling: Mapping[str, Json]
    dropped: Mapping[str, str] = {}


class SeatHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The agent of a seat and its model, without keys and secrets; `outside` says that a person plays the seat.

    `sampling` is what is sent with every call. `dropped` maps parameters of the settings that the model refused to what
    is sent in their place, "" for nothing. `models` are the models of an agent, by name ("" for the only
    one); `model` and `host` are then those of the first. `version` is that of the agent's rules.
    """

    spec: str
    model: str
    host: str
    sampling: Mapping[str, Json]
    options: Mapping[str, Json]
    knows: str = msgspec.field(name="told")
    outside: bool = False
    dropped: Mapping[str, str] = {}
    models: Mapping[str, ModelHeader] = {}
    version: int = 1

    @property
    def model_spec(self) -> str:
        """The SPEC of the only model, if the agent has one; else that of the agent."""
        return next(iter(self.models.values())).spec if len(self.models) == 1 else self.spec


class CasesHeader(msgspec.Struct, frozen=True, kw_only=True, rename={"source": "from"}):
    """The source of the cases, their number, the digest of their index, and the number of restricted ones."""

    source: Json
    count: int
    index: str
    restricted: int


class ScenarioHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The scenario of a run: its name or `module:Class`, its goal (diagnosis or treatment), its settings."""

    name: str
    goal: str
    settings: dict[str, Json]


class SkippedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The cases that could not be played: their number, the first of them as (case, reason), the number by reason."""

    count: int
    first: tuple[tuple[str, str], ...]
    reasons: Mapping[str, int]


class ForkedHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The episode that a fork continues, and the number of the action after which it does."""

    run: str
    episode: str
    after: int


class ImportedHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an imported run comes from: its files, what they were recognised as, the model, the cases named beside it.

    `digest` is that of the files and of all options of the import, so that a second import finds the run.
    """

    files: tuple[str, ...]
    recognised: tuple[str, ...]
    model: str
    digest: str
    cases: str = ""


class _Header(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The fields of every header; `prompts` maps names to digests of texts."""

    version: int
    begun: str
    seats: Mapping[str, SeatHeader]
    seed: int
    prompts: Mapping[str, str]
    cases: CasesHeader

    def to_json(self) -> dict[str, Json]:
        """The JSON object that a store keeps."""
        return json_object(self)

    @property
    def specs(self) -> dict[str, str]:
        """SPEC by seat; of an agent with one model, that of the model."""
        return {seat: config.model_spec for seat, config in self.seats.items()}


class RunHeader(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """The header of a run that plays a scenario, the curation of articles included.

    `tables` maps seats to the digests of their recordings. `settings` has the fields of RunSettings that the user set.
    """

    wardround: str
    scenario: ScenarioHeader
    repeats: int
    limits: Limits
    tables: Mapping[str, str]
    prices: tuple[Mapping[str, Json], ...]
    skipped: SkippedHeader
    settings: dict[str, Json]
    forked: ForkedHeader | None = None
    imported: ImportedHeader | None = None

    def seat_settings(self, seat: str) -> dict[str, Json]:
        """The fields of SeatSettings that `seat` was made from."""
        config = self.seats[seat]
        set_by_user = self.settings.get("seats", {}).get(seat, {})
        usual = {name: value for name, value in config.sampling.items() if name in SAMPLING and not config.models}
        return {**usual, **set_by_user, "spec": config.spec}


class EvaluatorHeader(msgspec.Struct, frozen=True, kw_only=True, rename={"path": "class"}):
    """The evaluator of an evaluation: its name, and its class as `module:Class`."""

    name: str
    path: str


class JudgingHeader(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How judges are asked: how often, whether in both orders, the page reader ("" for none), the kind of knowledge."""

    repeats: int
    swap: bool
    pages: str
    knowledge: Literal["search", "judge", "both"] = "search"


class EvaluationHeader(_Header, frozen=True, kw_only=True, omit_defaults=True):
    """The header of an evaluation: a run that keeps the calls to the judges of the run `evaluates`.

    `structured` are the seats that were asked with a schema of the reply, `zeroed` those asked at temperature 0.
    `tables` maps the arguments of the evaluator to digests of texts. `settings` has the fields of JudgeOptions that the
    judges were made from, so that another process can resume the evaluation.
    """

    evaluates: str
    evaluator: str
    scenario: EvaluatorHeader
    judging: JudgingHeader
    evaluator_version: str = FIRST_RULES
    tables: Mapping[str, str] = msgspec.field(default_factory=dict)
    structured: tuple[str, ...] = ()
    zeroed: tuple[str, ...] = ()
    settings: dict[str, Json] = msgspec.field(default_factory=dict)

    @property
    def specs(self) -> dict[str, str]:
        """SPEC by seat of the judges, without the search, which is not a model."""
        return {seat: config.spec for seat, config in self.seats.items() if seat != LIBRARY}

    def to_json(self) -> dict[str, Json]:
        """The JSON object that a store keeps; the first version of rules and knowledge by search are left out."""
        header = super().to_json()
        for fields, name, usual in (
            (header, "evaluator_version", FIRST_RULES),
            (header["judging"], "knowledge", "search"),
        ):
            if fields.get(name) == usual:  # msgspec leaves out a default only if it is the identical object
                del fields[name]
        return header

    def same_judging(self, other: Self) -> bool:
        """Whether `other` describes this evaluation, which has begun, so that it can be resumed.

        A prompt that did not exist when the evaluation began makes no difference, since it was never used.
        """
        return _as_json(self._judging_key()) == _as_json(other._judging_key()) and all(
            other.prompts.get(name) == digest for name, digest in self.prompts.items()
        )

    def same_judges(self, other: Self) -> bool:
        """Whether both have the same judges, asked the same number of times."""
        mine, theirs = ({seat: one.seats[seat] for seat in one.specs} for one in (self, other))
        return _as_json(mine) == _as_json(theirs) and self.judging.repeats == other.judging.repeats

    def _judging_key(self) -> list[object]:
        rules = self.evaluator, self.evaluator_version
        return [self.evaluates, *rules, self.tables, self.seats, self.judging]


Header = RunHeader | EvaluationHeader


@dataclass(frozen=True, slots=True)
class EvaluationRow:
    """An evaluation as a store lists it, with its typed header."""

    name: str
    created: float
    header: EvaluationHeader


def utc_now() -> str:
    """The current time in UTC, in the format of headers."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def read_header(row: RunRow) -> Header:
    """The header of a stored run in the current version.

    Raises StoreError with the run and the reason if a newer Wardround wrote the header, or if a field is missing or
    wrong.
    """
    version = row.header.get("version", 1)
    if not isinstance(version, int) or version < 1:
        raise _unreadable(row.name, f"its `version` is {version!r}, which is not a version", _COPY)
    if version > VERSION:
        why = f"a newer Wardround wrote it (`version` {version}, this one knows {VERSION})"
        raise _unreadable(row.name, why, "update Wardround to use this run")
    header = dict(row.header)
    kind: type[RunHeader] | type[EvaluationHeader] = EvaluationHeader if "evaluates" in header else RunHeader
    for step in _MIGRATIONS[version - 1 :]:
        header = step(header)
    try:
        return msgspec.convert(header, kind)
    except msgspec.ValidationError as error:
        raise _unreadable(row.name, str(error), _COPY) from error


async def evaluations(store: Store, run: str) -> list[EvaluationRow]:
    """The evaluations of a run, oldest first; raises StoreError for one whose header cannot be read."""
    rows = []
    for row in await store.runs():
        if row.header.get("evaluates") == run and isinstance(header := read_header(row), EvaluationHeader):
            rows.append(EvaluationRow(row.name, row.created, header))
    return rows


_COPY = "put back a copy of the store, or import the run from a file that `wardround export` wrote"


def _unreadable(run: str, why: str, to_do: str) -> StoreError:
    return StoreError(
        f"the header of run {run} cannot be read: {why}; {to_do}. Nothing was changed, and other runs can be used"
    )


def _as_json(value: object) -> Json:
    """The value after a round trip through JSON, which turns tuples into lists."""
    return msgspec.json.decode(msgspec.json.encode(value))


def _from_1(header: dict[str, Json]) -> dict[str, Json]:
    """Migrate to version 2, which names its version and has the fields that version 1 and older stores left out."""
    made = {**header, "version": 2}
    made |= _with(header, "cases", lambda cases: {"from": "", "count": 0, "restricted": 0, **cases})
    if "evaluates" in header:
        return made
    made = {"prices": [], "tables": {}, "settings": {}, "skipped": {}, **made}
    made |= _with(header, "scenario", lambda scenario: {"goal": "diagnosis", "settings": {}, **scenario})
    return made | _with(made, "skipped", lambda skipped: {"count": 0, "first": [], "reasons": {}, **skipped})


def _with(header: dict[str, Json], name: str, change: Callable[[dict[str, Json]], dict[str, Json]]) -> dict[str, Json]:
    """The field `name` after `change`, if it is an object; otherwise nothing, and `read_header` raises the error."""
    return {name: change(header[name])} if isinstance(header.get(name), dict) else {}


_MIGRATIONS: tuple[Callable[[dict[str, Json]], dict[str, Json]], ...] = (_from_1,)
"""The n-th migration, counted from 1, turns version n into version n + 1."""
