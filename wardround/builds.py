"""Builds: cases from MIMIC records, cases from case reports, and middle-level items from choice questions."""

import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol, TypedDict, Unpack

import msgspec

from wardround.api import create_planned, play_planned, prepare_to_resume, resume
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow, Json
from wardround.engine.stores.files import output
from wardround.runs.header import RunHeader
from wardround.runs.plan import NothingToPlay, RunPlan, plan_run, reasons
from wardround.runs.settings import RunSettings, load_prompts
from wardround.runs.stored_run import Run
from wardround.runs.work_queue import spending_by_seat
from wardround.scenarios.build_steps import BuildStep
from wardround.scenarios.level_items.item_account import ItemAccount, ItemMaking
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, ItemWriting
from wardround.scenarios.level_items.source_question import ItemBuildOptions, SourceQuestion
from wardround.scenarios.level_items.verification_sheet import SHEET, verification_sheet
from wardround.scenarios.loaders.load import case_line
from wardround.scenarios.mimic.admission_cases import Build
from wardround.scenarios.mimic.build_account import Flow
from wardround.scenarios.mimic.mimic_database import Spill
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.reports.article import CASE_RULES, Article, CurationOptions
from wardround.scenarios.reports.curation import Curation
from wardround.scenarios.reports.curation_account import Checking, CurationAccount


def build_mimic(options: MimicOptions, out: Path, say: Callable[[str], None] = lambda _: None) -> Flow:
    """Build cases into the file `out` and write the account of the build to `out` + '.flow.json'.

    Either both files are replaced or neither is. The working database is the folder `out` + '.work' and needs as much
    room as the rows of the chosen admissions. An interrupted build leaves it, and the same build goes on from the last
    step that it finished; a build that ends, or with other settings or files, removes it. Raises UsageError for input
    that cannot be used.
    """
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    build = Build(options)
    account = Path(f"{out}.flow.json")
    half = Path(f"{out}.part")
    where = _work_folder(Path(f"{out}.work"), build.key())
    try:
        with (
            Spill(where, options.on_bad_row) as spill,
            (where / "drafts").open("w+b") as drafts,
            half.open("wb") as stream,
        ):
            flow = build.run(spill, drafts, stream, say)
            if spill.resumed:
                say(f"taken over from the interrupted build: {', '.join(spill.resumed)}")
            stream.flush()
            os.fsync(stream.fileno())
        account.write_text(json.dumps(flow.json(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        half.replace(out)
    except Exception:
        shutil.rmtree(where, ignore_errors=True)
        raise
    finally:
        half.unlink(missing_ok=True)
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


@dataclass(frozen=True, slots=True)
class Built:
    """The result of a build; `run` is None if no article was left to send to a model."""

    account: CurationAccount
    endings: Mapping[str, int]
    run: Run | None = None


class WorkSharing(TypedDict, total=False):
    """How the work of a build is shared: `share` is as in `api.join`, `pilot` as in `api.play_planned`.

    `elsewhere` is called with the name of the new run and lets other processes play it.
    """

    share: tuple[int, int]
    pilot: int
    elsewhere: Callable[[str], Awaitable[None]] | None


async def build_reports(
    settings: RunSettings, out: Path, store: Store, progress: Progress, **processes: Unpack[WorkSharing]
) -> Built:
    """Begin a run over the articles at `settings.cases` and write the resulting cases to `out`.

    The account goes to `out` + '.flow.json'; either both files are replaced or neither is. If the run is stopped, the
    cases of the finished articles are written; `resume_build` completes them. Raises UsageError for any error that can
    be known before the first call.
    """
    check_writable(out)
    try:
        made = await plan_run(settings, store, {}, processes.get("share", (1, 1)))
    except NothingToPlay as nothing:
        account = _nothing(settings, nothing.skipped)
        write_build(out, account, [])
        return Built(account, {})
    return await assemble(await play_new_build(made, store, progress, processes), out)


async def play_new_build(planned: RunPlan, store: Store, progress: Progress, processes: WorkSharing) -> Run:
    """Create the run of a build and play it, in this process or in others."""
    if elsewhere := processes.get("elsewhere"):
        run = await create_planned(planned, store)
        await elsewhere(run.name)
        return run
    return await play_planned(planned, store, progress, pilot=processes.get("pilot", 0))


async def resume_play(begun: Run, progress: Progress, options: dict[str, Json]) -> Run:
    """Play what is left of the run of a build, in this process or in others; `options` as in `resume_build`."""
    if "open" not in await begun.endings() and not options.get("retry"):
        return begun
    if elsewhere := options.pop("elsewhere", None):
        del options["share"]
        begun = await prepare_to_resume(begun.name, begun.store, **options)
        await elsewhere(begun.name)
        return begun
    return await resume(begun.name, store=begun.store, progress=progress, **options)


async def spent_by_seat(run: Run) -> dict[str, dict[str, Json]]:
    """What each seat of a build spent, for its account."""
    spending = spending_by_seat(await run.store.spending(run.name))
    return {seat: msgspec.structs.asdict(spent) for seat, spent in spending.items()}


async def resume_build(
    name: str, out: Path, store: Store, progress: Progress, without: Sequence[str] = (), **options: Any
) -> Built:
    """Resume a build where it stopped; no recorded call is made again.

    If all articles are finished, the cases are assembled again and no model is called. `without` switches off rules for
    built cases, besides those that the run began without. `options` are those of `api.resume`, and `elsewhere` as in
    WorkSharing. Raises UsageError for an unknown rule and for a run that is not a build.
    """
    check_writable(out)
    if unknown := [rule for rule in without if rule not in CASE_RULES]:
        raise UsageError(
            f"--without {unknown[0]} with --resume: only rules for built cases can be changed: {', '.join(CASE_RULES)}"
        )
    begun = await Run.open(store, name)
    if begun.header.scenario.name != Curation.name:
        raise UsageError(f"run {name} is not a build of cases; to go on with it: wardround run --resume {name}")
    return await assemble(await resume_play(begun, progress, options), out, without)


async def assemble(run: Run, out: Path, without: Sequence[str] = ()) -> Built:
    """Write the cases of the finished episodes to `out`, in the order of the articles, and the account of the run."""
    header = run.played("it builds no cases")
    stored = CurationOptions.model_validate(header.scenario.settings)
    options = stored.model_copy(update={"without": tuple(dict.fromkeys((*stored.without, *without)))})
    checking = Checking(options)
    lines: list[str] = []
    async for row, article in _articles(run):
        ending = (await run.trajectory(row)).ending if row.cause else None
        lines += [case_line(case) for case in checking.take(article, ending)]
    account = _account(run.name, header, checking)
    account.spent = await spent_by_seat(run)
    write_build(out, account, lines)
    return Built(account, await run.endings(), run)


async def _articles(run: Run) -> AsyncIterator[tuple[EpisodeRow, Article]]:
    async for row in run.store.episodes(run.name):
        article: Any = await run.item(row.case)
        yield row, article


def _account(run: str, header: RunHeader, checking: Checking) -> CurationAccount:
    scenario = Curation(checking.options, load_prompts())
    steps = reading_steps(scenario, header.cases.count, header.skipped.reasons)
    silent = steps[-1].out - checking.finished.seen
    if silent:
        steps.append(
            BuildStep("recorded", "the recorded curator has something for it", "article", steps[-1].out, silent)
        )
    return CurationAccount(
        run=run,
        model=header.seats[SEAT].spec,
        options=checking.options,
        steps=[*steps, *checking.steps],
        read=steps[0].seen,
        made=checking.cases,
        open=checking.finished.dropped,
        seed=header.seed,
        source=header.cases.source,
        skipped=header.skipped.first,
        dropped=checking.dropped,
        unsupported=checking.unsupported,
    )


class ReadingRules(Protocol):
    """A scenario that drops what it reads by rules."""

    def rules(self) -> tuple[tuple[str, str], ...]:
        """(name, what) of the rules, in their order."""
        ...


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


def _nothing(settings: RunSettings, skipped: Sequence[tuple[str, str]]) -> CurationAccount:
    options = CurationOptions.model_validate(settings.set)
    steps = reading_steps(Curation(options, load_prompts()), 0, reasons(skipped))
    return CurationAccount(
        run="",
        model=settings.seats[SEAT].spec,
        options=options,
        steps=[*steps, *Checking(options).steps],
        read=steps[0].seen,
        made=dict.fromkeys(options.kinds, 0),
        open=0,
        seed=settings.seed,
        source=", ".join(settings.places),
        skipped=skipped[:1000],
    )


def check_writable(out: Path) -> None:
    """Raise UsageError if a build cannot be written to `out`."""
    if not out.parent.is_dir():
        raise UsageError(f"--out {out}: there is no folder {out.parent}")
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder; name a file, for instance {out / 'cases.jsonl'}")


class JsonAccount(Protocol):
    """The account of a build."""

    def json(self) -> dict[str, Json]:
        """The account as JSON."""
        ...


def write_build(out: Path, account: JsonAccount, lines: Sequence[str]) -> None:
    """Write a build to `out` and its account to `out` + '.flow.json'; either both files are replaced or neither is."""
    half, half_account = Path(f"{out}.part"), Path(f"{out}.flow.json.part")
    try:
        with half.open("w", encoding="utf-8") as stream, half_account.open("w", encoding="utf-8") as beside:
            for text in lines:
                stream.write(f"{text}\n")
            json.dump(account.json(), beside, indent=2, ensure_ascii=False)
            beside.write("\n")
            _settle(stream)
            _settle(beside)
        half_account.replace(f"{out}.flow.json")
        half.replace(out)
    except OSError as error:
        raise UsageError(f"--out {out}: cannot be written ({error.strerror or error})") from error
    finally:
        half.unlink(missing_ok=True)
        half_account.unlink(missing_ok=True)


def _settle(stream: IO[str]) -> None:
    stream.flush()
    os.fsync(stream.fileno())


def curator_seat(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The seats of a build, whose curator has these fields of SeatSettings; empty fields are left out."""
    return {SEAT: {name: value for name, value in fields.items() if value not in (None, "")}}


@dataclass(frozen=True, slots=True)
class ItemFile:
    """What a build writes: `sheet` texts for people to verify, and with `low` the choice questions too."""

    out: Path
    sheet: int = SHEET
    low: bool = False


@dataclass(frozen=True, slots=True)
class BuiltItems:
    """The result of a build; `run` is None if no question was left to send to a model."""

    account: ItemAccount
    endings: Mapping[str, int]
    run: Run | None = None


async def build_levels(
    settings: RunSettings, into: ItemFile, store: Store, progress: Progress, **processes: Unpack[WorkSharing]
) -> BuiltItems:
    """Begin a run over the choice questions at `settings.cases` and write the items that it makes.

    Writes the items, the account (`OUT.flow.json`) and the sheet for people (`OUT.sheet.csv`). If the run is stopped,
    the items of the finished questions are written; `resume_levels` completes them. Raises UsageError for any error
    that can be known before the first call.
    """
    check_writable(into.out)
    try:
        planned = await plan_run(settings, store, {}, processes.get("share", (1, 1)))
    except NothingToPlay as nothing:
        account = _no_items(settings, nothing.skipped)
        _write_items(into, account, [], ItemMaking())
        return BuiltItems(account, {})
    return await assemble_items(await play_new_build(planned, store, progress, processes), into)


async def resume_levels(name: str, into: ItemFile, store: Store, progress: Progress, **options: Any) -> BuiltItems:
    """Resume a build where it stopped; no recorded call is made again.

    If all questions are finished, the items are made again and no model is called. `options` are those of `api.resume`,
    and `elsewhere` as in WorkSharing. Raises UsageError for a run that is not a build of items.
    """
    check_writable(into.out)
    begun = await Run.open(store, name)
    if begun.header.scenario.name != ItemWriting.name:
        raise UsageError(
            f"run {name} is not a build of middle-level items; to go on with it: wardround run --resume {name}"
        )
    return await assemble_items(await resume_play(begun, progress, options), into)


async def assemble_items(run: Run, into: ItemFile) -> BuiltItems:
    """Write the items of the finished questions, in the order of the questions, with the account and the sheet."""
    header = run.played("it builds no items")
    options = ItemBuildOptions.model_validate(header.scenario.settings)
    making = ItemMaking()
    lines: list[str] = []
    async for row in run.store.episodes(run.name):
        source = await run.item(row.case)
        assert isinstance(source, SourceQuestion)
        ending = (await run.trajectory(row)).ending if row.cause else None
        made = making.take(source, ending)
        if made and into.low:
            lines.append(source.item.model_copy(update={"level": "low"}).model_dump_json(exclude_defaults=True))
        lines += [item.model_dump_json(exclude_defaults=True) for item in made]
    scenario = ItemWriting(options, load_prompts())
    steps = reading_steps(scenario, header.cases.count, header.skipped.reasons, "question")
    if silent := steps[-1].out - making.finished.seen:
        what = "the recorded models have something for it"
        steps.append(BuildStep("recorded", what, "question", steps[-1].out, silent))
    account = ItemAccount(
        run=run.name,
        models={seat: header.seats[seat].spec for seat in (WRITER, CHECKER)},
        options=options,
        steps=[*steps, *making.steps],
        read=steps[0].seen,
        made=making.items,
        open=making.finished.dropped,
        seed=header.seed,
        source=", ".join((header.cases.source, *options.also)),
        skipped=header.skipped.first,
        dropped=making.dropped,
        spent=await spent_by_seat(run),
    )
    _write_items(into, account, lines, making)
    return BuiltItems(account, await run.endings(), run)


def _write_items(into: ItemFile, account: ItemAccount, lines: Sequence[str], making: ItemMaking) -> None:
    account.sheet = min(into.sheet, len(making.texts))
    write_build(into.out, account, lines)
    with output(Path(f"{into.out}.sheet.csv")) as file:
        file.write(verification_sheet(making.texts, into.sheet, account.seed).encode())


def _no_items(settings: RunSettings, skipped: Sequence[tuple[str, str]]) -> ItemAccount:
    options = ItemBuildOptions.model_validate(settings.set)
    steps = reading_steps(ItemWriting(options, load_prompts()), 0, reasons(skipped), "question")
    return ItemAccount(
        run="",
        models={seat: settings.seats[seat].spec for seat in (WRITER, CHECKER)},
        options=options,
        steps=[*steps, *ItemMaking().steps],
        read=steps[0].seen,
        made={},
        open=0,
        seed=settings.seed,
        source=", ".join((*settings.places, *options.also)),
        skipped=skipped[:1000],
    )
