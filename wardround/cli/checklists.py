"""`wardround checklists`: show usability by checklists, and review drafts of checklists."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import click
import msgspec

from wardround.cli.options import existing_store, json_option, output_file, print_json, store_option
from wardround.cli.screen import echo, echo_lines
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.protocols import Store
from wardround.engine.text import count_noun
from wardround.evaluators.open_answers.checklist_draft import ChecklistDraft
from wardround.evaluators.open_answers.checklist_marking import requirements
from wardround.evaluators.report.usability import LEAST_AGREEMENT, by_agreement, usability_lines, usability_table
from wardround.report_files import write_file
from wardround.runs.stored_run import Run
from wardround.scenarios.criteria import Checklist
from wardround.scenarios.question_item import QuestionItem
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.open_answers import checklist_drafts, marked_items, peoples_verdicts, with_drafts
from wardround.scoring.score import score_run

people_option = click.option(
    "--people",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="CSV episode,usable (and turn, for later turns): what people say of the same answers.",
)


@click.group(short_help="Show usability by checklists, and review checklists.")
def command() -> None:
    """Show usability by checklists, and review checklists.

    \b
    Example:  wardround checklists show calm-heron-417
    """


@command.command(name="show")
@click.argument("run")
@click.option("--scoring", default="", metavar="NAME", help="Another scoring than the one that counts.")
@people_option
@click.option(
    "--agreement",
    default=LEAST_AGREEMENT,
    show_default=True,
    type=click.FloatRange(0, 1),
    help="A category whose verdicts agree less with people is reported from people only.",
)
@store_option
@json_option
def show_checklists(
    run: str, scoring: str, people: Path | None, agreement: float, store: str | None, as_json: bool
) -> None:
    """Show usability by category and sub-category, the judge's stability, and its agreement with people.

    The overall rate is the unweighted mean of the categories.

    \b
    Example:  wardround checklists show calm-heron-417 --people verdicts.csv
    """
    verdicts = peoples_verdicts(people) if people else None

    async def tell() -> None:
        async with existing_store(store) as opened:
            items, left = await marked_items(opened, run, scoring)
            table = usability_table(items, verdicts, left=left, stated=agreement)
        if as_json:
            print_json(table)
        else:
            echo_lines(usability_lines(table))

    anyio.run(tell)


class Revision(msgspec.Struct, frozen=True):
    """An item of low agreement with its checklists before and after, turn by turn; None where nothing was proposed."""

    case: str
    agreement: float
    pairs: int
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()


@command.command()
@click.argument("run")
@people_option
@click.option("--least", default=10, show_default=True, type=click.IntRange(min=1), help="How many items to list.")
@click.option("--judge", default="", metavar="SPEC", help="A model that proposes a revised checklist for each of them.")
@click.option("--judge-base-url", "base_url", default="", metavar="URL", help="Its endpoint.")
@click.option("--out", type=output_file, metavar="FILE", help="Write the items with the proposals, JSON Lines.")
@store_option
@json_option
def review(run: str, people: Path | None, out: Path | None, store: str | None, as_json: bool, **options: Any) -> None:
    """List the items whose verdicts agree least, and propose revised checklists for them.

    The agreement is that with people, or else that of the markings of each answer. Proposals are marked as drafted.

    \b
    Example:  wardround checklists review calm-heron-417 --people verdicts.csv
              wardround checklists review calm-heron-417 --judge openai/gpt-4o --out revised.jsonl
    """
    configure("warning")
    verdicts = peoples_verdicts(people) if people else None
    judge, base_url, least = options["judge"], options["base_url"], options["least"]
    if out is not None and not judge:
        raise UsageError("--out writes proposals: name the model that makes them with --judge")

    async def tell() -> tuple[list[Revision], list[QuestionItem]]:
        async with existing_store(store) as opened:
            items, _ = await marked_items(opened, run)
            listed = by_agreement(items, verdicts)[:least]
            revisions = [Revision(one.case, one.agreement, one.pairs) for one in listed]
            if not judge or not listed:
                return revisions, []
            asked = JudgeOptions(judges=(judge,), base_urls=(base_url,) if base_url else ())
            return await _propose(opened, run, revisions, asked)

    revisions, items = anyio.run(tell)
    proposed = bool(items) or not judge or not revisions
    if out is not None and proposed:
        lines = [item.model_dump_json(exclude_defaults=True) for item in items]
        write_file(out, "".join(f"{line}\n" for line in lines))
    if as_json:
        print_json(revisions)
    else:
        _print_revisions(revisions)
    if not proposed:
        raise UsageError(f"--judge {judge}: proposed no checklist for any of these items; nothing is written")


def _print_revisions(revisions: Sequence[Revision]) -> None:
    if not revisions:
        echo(
            "no answer has two marks that could be read, or a mark and a person's verdict: nothing can be compared. "
            "Mark each answer more than once (wardround score --judge-repeats 3), or name people's verdicts by --people"
        )
    for one in revisions:
        echo(f"{one.case}: agreement {one.agreement:.3f} over {count_noun(one.pairs, 'comparison')}")
        for before, after, changes in zip(one.before, one.after, one.changes, strict=True):
            revised = "" if after == before else f"  after (drafted):\n{_indent(after)}\n"
            echo(f"  before:\n{_indent(before)}\n{revised}  {changes}", lines=True)


async def _propose(
    store: Store, name: str, least: Sequence[Revision], options: JudgeOptions
) -> tuple[list[Revision], list[QuestionItem]]:
    """The items of low agreement with a model's proposals, and those that it revised."""
    run, cases = await Run.open(store, name), [one.case for one in least]
    async with aclosing(await judge_config(options, store)) as config:
        await score_run(run, [ChecklistDraft("\n".join(sorted(cases)))], judge=config)
    made, revisions, items = await checklist_drafts(run, cases), list[Revision](), list[QuestionItem]()
    for one in least:
        item = await run.item(one.case)
        assert isinstance(item, QuestionItem)
        proposals = made.get(one.case, [])
        revised = with_drafts(item, proposals)
        before, after = _texts(item), _texts(revised)
        why = tuple(each.draft.changes if each.draft else f"no proposal: {each.reason}" for each in proposals)
        why = why or ("no proposal",) * len(before)
        revisions.append(msgspec.structs.replace(one, before=before, after=after, changes=why))
        items += [revised] if any(each.draft for each in proposals) else []
    return revisions, items


def _texts(item: QuestionItem) -> tuple[str, ...]:
    lists: list[Checklist] = [item.checklist, *(turn.checklist for turn in item.turns)]
    return tuple(requirements(one) or "(none)" for one in lists)


def _indent(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())
