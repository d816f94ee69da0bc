"""Builds of middle-level items from choice questions, by a run of a writer and a checker."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Unpack

from wardround.builds import (
    WorkSharing,
    check_writable,
    play_new_build,
    reading_steps,
    resume_play,
    spent_by_seat,
    write_build,
)
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.stores.files import output
from wardround.runs.plan import NothingToPlay, plan_run, reasons
from wardround.runs.settings import RunSettings, load_prompts
from wardround.runs.stored_run import Run
from wardround.scenarios.build_steps import BuildStep
from wardround.scenarios.level_items.item_account import ItemAccount, ItemMaking
from wardround.scenarios.level_items.item_writing import CHECKER, WRITER, ItemWriting
from wardround.scenarios.level_items.source_question import ItemBuildOptions, SourceQuestion
from wardround.scenarios.level_items.verification_sheet import SHEET, verification_sheet


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
        account = _nothing(settings, nothing.skipped)
        _write(into, account, [], ItemMaking())
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
    _write(into, account, lines, making)
    return BuiltItems(account, await run.endings(), run)


def _write(into: ItemFile, account: ItemAccount, lines: Sequence[str], making: ItemMaking) -> None:
    account.sheet = min(into.sheet, len(making.texts))
    write_build(into.out, account, lines)
    with output(Path(f"{into.out}.sheet.csv")) as file:
        file.write(verification_sheet(making.texts, into.sheet, account.seed).encode())


def _nothing(settings: RunSettings, skipped: Sequence[tuple[str, str]]) -> ItemAccount:
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
