"""Builds: cases from MIMIC records, cases from case reports, and middle-level items from choice questions."""

import json
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, ClassVar, Generic, NamedTuple, Protocol, TypedDict, TypeVar, Unpack, cast

import msgspec
from pydantic import BaseModel

from wardround.api import Changes, create_planned, join, play_planned, prepare_to_resume
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Store
from wardround.engine.records import Ending, Json
from wardround.engine.stores.files import output, owner_only
from wardround.runs.plan import NothingToPlay, plan_run, reasons
from wardround.runs.settings import RunSettings, load_prompts
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import spending_by_seat
from wardround.scenarios.build_steps import BuildStep, EpisodeIntake, RunAccount
from wardround.scenarios.level_items.item_account import ItemAccount, ItemMaking
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, ItemWriting
from wardround.scenarios.level_items.source_question import ItemBuildOptions, SourceQuestion
from wardround.scenarios.level_items.verification_sheet import SHEET, verification_sheet
from wardround.scenarios.loaders.load import case_line
from wardround.scenarios.loaders.source import Playable
from wardround.scenarios.mimic.admission_cases import Build
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.mimic_database import WorkDatabase
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.reports.article import CASE_RULES, Article, CurationOptions
from wardround.scenarios.reports.curation import Checking, Curation, CurationAccount


def build_mimic(options: MimicOptions, out: Path, say: Callable[[str], None] = lambda _: None) -> MimicAccount:
    """Build cases into the file `out` and write the account of the build to `out` + '.flow.json'.

    Either both files are replaced or neither is; a build without a case replaces neither. The working database is the
    folder `out` + '.work' and needs as much room as the rows of the chosen admissions. It stays if the build is
    interrupted: the same build then goes on from the last step that it finished, and one with other settings or files
    begins anew. A build that ends or fails removes the folder. `say` gets lines for the user. Raises UsageError for
    input that cannot be used.
    """
    check_writable(out)
    build = Build(options)
    half, half_account = _halves(out)
    where = _work_folder(Path(f"{out}.work"), build.key())
    try:
        with (
            WorkDatabase(where, options.on_bad_row) as spill,
            (where / "drafts").open("w+b") as drafts,
            open(half, "wb", opener=owner_only) as stream,
        ):
            flow = build.run(spill, drafts, stream, say)
            if spill.resumed:
                say(f"taken over from the interrupted build: {', '.join(spill.resumed)}")
            _settle(stream)
        with open(half_account, "w", encoding="utf-8", opener=owner_only) as beside:
            _write_account(flow.json(), beside)
        if flow.cases:
            _publish(out)
    except Exception:
        shutil.rmtree(where, ignore_errors=True)
        raise
    finally:
        half.unlink(missing_ok=True)
        half_account.unlink(missing_ok=True)
    shutil.rmtree(where)
    return flow


def _work_folder(where: Path, key: str) -> Path:
    """The folder of the working database, emptied unless it is that of an interrupted build with this key."""
    mark = where / "key"
    if where.exists() and not mark.is_file():
        raise UsageError(
            f"{where} is in the way: the build keeps its working database there; move it, or name another --out"
        )
    if where.exists() and mark.read_text(encoding="utf-8") != key:
        shutil.rmtree(where)
    where.mkdir(mode=0o700, exist_ok=True)
    mark.write_text(key, encoding="utf-8")
    return where


SEAT = "curator"
"""The seat that makes cases from articles."""
AccountT = TypeVar("AccountT", bound=RunAccount)
IntakeT = TypeVar("IntakeT", bound=EpisodeIntake)
OptionsT = TypeVar("OptionsT", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Built(Generic[AccountT]):
    """The result of a build; `run` is None if nothing was left to send to a model."""

    account: AccountT
    endings: Mapping[str, int]
    run: Run | None = None


class WorkSharing(TypedDict, total=False):
    """How the work of a build is shared: `share` is as in `api.join`, `pilot` as in `api.play_planned`.

    `elsewhere` is called with the name of the new run and lets other processes play it.
    """

    share: tuple[int, int]
    pilot: int
    elsewhere: Callable[[str], Awaitable[None]] | None


class _Begun(NamedTuple):
    """What a build knows before a model is called: its rules, the SPECs of its seats, and what the reading left.

    `left` counts the units that remained after the rules of reading, `dropped` those that each rule took out.
    """

    run: str
    rules: Mapping[str, Json]
    specs: Mapping[str, str]
    left: int
    dropped: Mapping[str, int]
    seed: int
    source: str
    skipped: Sequence[tuple[str, str]]


class RunBuild(ABC, Generic[AccountT, IntakeT, OptionsT]):
    """A build by a run of models: begun, or resumed where it stopped; no recorded call is made again.

    ::

        built = await CaseBuild(Path("cases.jsonl")).begin(settings, open_store("study.db"), Progress())
        print(built.account.text())

    The account goes to `out` + '.flow.json'; either both files are replaced or neither is, and neither if nothing was
    made. If the run is stopped, what the finished episodes gave is written, in the order of their sources.
    """

    SCENARIO: ClassVar[type[Curation | ItemWriting]]
    WHAT: ClassVar[str]
    UNIT: ClassVar[str]
    """What a unit of the sources is called, such as an article."""
    RECORDED: ClassVar[str]
    """What a recording must have for a unit to be played."""

    def __init__(self, out: Path) -> None:
        self.out = out

    async def begin(
        self, settings: RunSettings, store: Store, progress: Progress, **processes: Unpack[WorkSharing]
    ) -> Built[AccountT]:
        """Begin a run over the sources at `settings.cases`; raises UsageError for what can be known before a call."""
        check_writable(self.out)
        try:
            planned = await plan_run(settings, store, {}, processes.get("share", (1, 1)))
        except NothingToPlay as nothing:
            specs = {seat: one.spec for seat, one in settings.seats.items()}
            dropped, source = reasons(nothing.skipped), ", ".join(settings.places)
            begun = _Begun("", settings.set, specs, 0, dropped, settings.seed, source, nothing.skipped[:1000])
            return await self._write_result(begun, None)
        if elsewhere := processes.get("elsewhere"):
            run = await create_planned(planned, store)
            await elsewhere(run.name)
        else:
            run = await play_planned(planned, store, progress, pilot=processes.get("pilot", 0))
        return await self._assemble(run)

    async def resume(
        self,
        name: str,
        store: Store,
        progress: Progress,
        *,
        retry: Sequence[str] = (),
        share: tuple[int, int] = (1, 1),
        elsewhere: Callable[[str], Awaitable[None]] | None = None,
        **changes: Unpack[Changes],
    ) -> Built[AccountT]:
        """Resume a build; if every episode is finished, its files are made again and no model is called.

        `elsewhere` is as in WorkSharing, all else as in `api.resume`. Raises UsageError for another run.
        """
        check_writable(self.out)
        run = await Run.open(store, name)
        if run.header.scenario.name != self.SCENARIO.name:
            raise UsageError(
                f"run {name} is not a build of {self.WHAT}; to go on with it: wardround run --resume {name}"
            )
        if "open" in await run.endings() or retry:
            run = await prepare_to_resume(name, store, retry=retry, **changes)
            if elsewhere:
                await elsewhere(name)
            else:
                run = await join(name, store=store, share=share, progress=progress)
        return await self._assemble(run)

    async def _assemble(self, run: Run) -> Built[AccountT]:
        header = run.played(f"it builds no {self.WHAT}")
        cases, skipped, rules = header.cases, header.skipped, header.scenario.settings
        specs = {seat: one.spec for seat, one in header.seats.items()}
        return await self._write_result(
            _Begun(run.name, rules, specs, cases.count, skipped.reasons, header.seed, str(cases.source), skipped.first),
            run,
        )

    async def _write_result(self, begun: _Begun, run: Run | None) -> Built[AccountT]:
        """Write what the finished episodes of the run gave, and the account."""
        options, intake = self._rules(begun.rules)
        lines: list[str] = []
        if run is not None:
            async for row in run.store.episodes(run.name):
                ending = (await run.trajectory(row)).ending if row.cause else None
                lines += self._lines(intake, await run.item(row.case), ending)
        scenario = cast("Callable[[OptionsT, Prompts], ReadingRules]", self.SCENARIO)(options, load_prompts())
        steps = reading_steps(scenario, begun.left, begun.dropped, self.UNIT)
        if silent := steps[-1].out - intake.finished.seen:
            steps.append(BuildStep("recorded", self.RECORDED, self.UNIT, steps[-1].out, silent))
        account = self._account(intake, begun, options, steps)
        account.open, account.dropped = intake.finished.dropped, intake.dropped
        account.skipped, account.spent = begun.skipped, await _spent_by_seat(run) if run else {}
        if lines:
            self._write(intake, account, lines)
        return Built(account, await run.endings() if run else {}, run)

    @abstractmethod
    def _rules(self, fields: Mapping[str, Json]) -> tuple[OptionsT, IntakeT]:
        """The options of the build, and what takes in its episodes."""

    @abstractmethod
    def _lines(self, intake: IntakeT, source: Playable, ending: Ending | None) -> list[str]:
        """What one source gave, as lines of the file; `ending` is None while its episode is open."""

    @abstractmethod
    def _account(self, intake: IntakeT, begun: _Begun, options: OptionsT, read: Sequence[BuildStep]) -> AccountT:
        """The account; `read` are the steps before a model was called."""

    def _write(self, intake: IntakeT, account: AccountT, lines: Sequence[str]) -> None:
        write_build(self.out, account, lines)


async def _spent_by_seat(run: Run) -> dict[str, dict[str, Json]]:
    """What each seat of a build spent, for its account."""
    spending = spending_by_seat(await run.store.spending(run.name))
    return {seat: msgspec.structs.asdict(spent) for seat, spent in spending.items()}


class CaseBuild(RunBuild[CurationAccount, Checking, CurationOptions]):
    """A build of cases from case reports, by a curator.

    `without` switches off rules for built cases, besides those that the run began without. Raises UsageError for an
    unknown one.
    """

    SCENARIO, WHAT, UNIT = Curation, "cases", "article"
    RECORDED = "the recorded curator has something for it"

    def __init__(self, out: Path, without: Sequence[str] = ()) -> None:
        super().__init__(out)
        self._without = without
        if unknown := [rule for rule in without if rule not in CASE_RULES]:
            there = ", ".join(CASE_RULES)
            raise UsageError(
                f"--without {unknown[0]} with --resume: only rules for built cases can be changed: {there}"
            )

    def _rules(self, fields: Mapping[str, Json]) -> tuple[CurationOptions, Checking]:
        stored = CurationOptions.model_validate(fields)
        without = tuple(dict.fromkeys((*stored.without, *self._without)))
        options = stored.model_copy(update={"without": without})
        return options, Checking(options)

    def _lines(self, intake: Checking, source: Playable, ending: Ending | None) -> list[str]:
        return [case_line(case) for case in intake.take(cast(Article, source), ending)]

    def _account(
        self, intake: Checking, begun: _Begun, options: CurationOptions, read: Sequence[BuildStep]
    ) -> CurationAccount:
        return CurationAccount(
            run=begun.run,
            model=begun.specs[SEAT],
            options=options,
            steps=[*read, *intake.steps],
            read=read[0].seen,
            made=intake.cases,
            open=0,
            seed=begun.seed,
            source=begun.source,
            findings=intake.findings,
            listed=intake.listed,
        )


class ItemBuild(RunBuild[ItemAccount, ItemMaking, ItemBuildOptions]):
    """A build of middle-level items from choice questions, by a writer and a checker.

    It also writes `out` + '.sheet.csv' with `sheet` texts for people to verify; with `low` the choice questions are
    written too.
    """

    SCENARIO, WHAT, UNIT = ItemWriting, "middle-level items", "question"
    RECORDED = "the recorded models have something for it"

    def __init__(self, out: Path, sheet: int = SHEET, low: bool = False) -> None:
        super().__init__(out)
        self._sheet, self._low = sheet, low

    def _rules(self, fields: Mapping[str, Json]) -> tuple[ItemBuildOptions, ItemMaking]:
        return ItemBuildOptions.model_validate(fields), ItemMaking()

    def _lines(self, intake: ItemMaking, source: Playable, ending: Ending | None) -> list[str]:
        question = cast(SourceQuestion, source)
        made = intake.take(question, ending)
        asked = [question.item.model_copy(update={"level": "low"})] if made and self._low else []
        return [item.model_dump_json(exclude_defaults=True) for item in (*asked, *made)]

    def _account(
        self, intake: ItemMaking, begun: _Begun, options: ItemBuildOptions, read: Sequence[BuildStep]
    ) -> ItemAccount:
        return ItemAccount(
            run=begun.run,
            models={seat: begun.specs[seat] for seat in (WRITER, CHECKER)},
            options=options,
            steps=[*read, *intake.steps],
            read=read[0].seen,
            made=intake.items,
            open=0,
            seed=begun.seed,
            source=", ".join((begun.source, *options.also)),
            sheet=min(self._sheet, len(intake.texts)),
        )

    def _write(self, intake: ItemMaking, account: ItemAccount, lines: Sequence[str]) -> None:
        super()._write(intake, account, lines)
        with output(Path(f"{self.out}.sheet.csv")) as file:
            file.write(verification_sheet(intake.texts, self._sheet, account.seed).encode())


class ReadingRules(Protocol):
    """A scenario that drops what it reads by rules."""

    def rules(self) -> tuple[tuple[str, str], ...]:
        """(name, what) of the rules, in their order."""


def reading_steps(
    scenario: ReadingRules, left: int, dropped: Mapping[str, int], unit: str = "article"
) -> list[BuildStep]:
    """The steps of the account before a model is called; `left` units remained after them."""
    rules = scenario.rules()
    seen = left + sum(dropped.get(name, 0) for name, _ in rules)
    steps = []
    for name, what in rules:
        step = BuildStep(name, what, unit, seen)
        step.drop(count=dropped.get(name, 0))
        seen = step.out
        steps.append(step)
    return steps


def check_writable(out: Path) -> None:
    """Raise UsageError if a build cannot be written to `out`."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: the folder cannot be made ({error.strerror or error})") from error
    for place in (out, Path(f"{out}.flow.json")):  # the account of the build goes beside it
        if place.is_dir():
            raise UsageError(f"--out {out}: {place} is a folder; name a file, for instance {out / 'cases.jsonl'}")


def write_build(out: Path, account: RunAccount, lines: Sequence[str]) -> None:
    """Write a build to `out` and its account to `out` + '.flow.json'; either both files are replaced or neither is.

    Raises UsageError if they cannot be written.
    """
    half, half_account = _halves(out)
    try:
        with half.open("w", encoding="utf-8") as stream, half_account.open("w", encoding="utf-8") as beside:
            for text in lines:
                stream.write(f"{text}\n")
            _settle(stream)
            _write_account(account.json(), beside)
        _publish(out)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror or error})") from error
    finally:
        half.unlink(missing_ok=True)
        half_account.unlink(missing_ok=True)


def _halves(out: Path) -> tuple[Path, Path]:
    """The files in which the cases and the account of a build are written before both are whole."""
    return Path(f"{out}.part"), Path(f"{out}.flow.json.part")


def _write_account(account: Mapping[str, Json], stream: IO[str]) -> None:
    json.dump(account, stream, indent=2, ensure_ascii=False)
    stream.write("\n")
    _settle(stream)


def _publish(out: Path) -> None:
    """Put both whole files in their places; nothing is computed between the two renames."""
    half, half_account = _halves(out)
    half_account.replace(f"{out}.flow.json")
    half.replace(out)


def _settle(stream: IO[str] | IO[bytes]) -> None:
    stream.flush()
    os.fsync(stream.fileno())
