"""`wardround rubrics`: show scores by rubrics, and check rubrics themselves."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple

import anyio
import click
import msgspec

from wardround import api
from wardround.cli.options import existing_store, json_option, print_json, store_option, store_path
from wardround.cli.screen import echo, echo_lines
from wardround.engine.events import digest_of
from wardround.engine.logs import configure
from wardround.engine.text import count_noun
from wardround.evaluators.open_answers.rubric_lint import RubricFault, lint
from wardround.evaluators.open_answers.rubric_probe import PROBES, ProbeAccount, RubricProbe
from wardround.evaluators.report.rubric_table import rubric_lines, rubric_table
from wardround.runs.plan import case_paths
from wardround.runs.stored_run import Run, open_store
from wardround.scenarios.criteria import RubricItem
from wardround.scenarios.loaders.load import load_playable
from wardround.scenarios.loaders.source import Problem
from wardround.scenarios.question_item import QuestionItem
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.open_answers import judged_items, probe_accounts
from wardround.scoring.score import score_run


@click.group(short_help="Show scores by rubrics, and check rubrics themselves.")
def command() -> None:
    """Show scores by rubrics, and check rubrics themselves.

    \b
    Example:  wardround rubrics show calm-heron-417
              wardround rubrics lint healthbench.jsonl
    """


class Linted(NamedTuple):
    """A case or question with its rubric and its faults."""

    id: str
    rubric: tuple[RubricItem, ...]
    faults: list[RubricFault]


@command.command(name="lint")
@click.argument("cases", metavar="CASES")
@click.option("--judge", "judges", multiple=True, metavar="SPEC", help="Also judge three probes: none, copied, long.")
@click.option("--judge-base-url", "base_urls", multiple=True, metavar="URL", help="Endpoint of the first judge.")
@store_option
@json_option
def lint_rubrics(
    cases: str, judges: tuple[str, ...], base_urls: tuple[str, ...], store: str | None, as_json: bool
) -> int:
    """Check the rubrics of questions or cases; exit code 1 if one is surely wrong.

    CASES is a file, a folder, or `bundled` or `bundled:questions`, as for `run --cases`.

    Finds wrong signs, duplicates, contradictions, criteria that no answer or any text meets, rubrics that are empty,
    have penalties only, or points that sum to 0 or less. With --judge it shows which criteria a blank, a copied
    question and a very long answer meet (questions only); the judging is kept in the store.

    \b
    Example:  wardround rubrics lint healthbench.jsonl
              wardround rubrics lint bundled:questions
              wardround rubrics lint healthbench.jsonl --judge openai/gpt-4o
    """
    configure("warning")
    left: list[Problem] = []
    paths = case_paths(cases)
    linted = [
        Linted(one.id, one.rubric, lint(one.rubric))
        for path in paths
        for one in load_playable(path, left)
        if one.rubric or not isinstance(one, QuestionItem) or not one.closed
    ]
    probes: dict[str, ProbeAccount] = {}
    if judges:
        whole = digest_of(b"".join(path.read_bytes() for path in paths))
        name = f"lint-{Path(cases.replace(':', '-')).stem}-{whole[:8]}"
        probes = anyio.run(_probe, cases, name, store, judges, base_urls)
    bad = [one for one in linted if any(fault.sure for fault in one.faults)]
    if as_json:
        items = [{"id": one.id, "criteria": len(one.rubric), "faults": one.faults} for one in linted if one.faults]
        print_json({"items": len(linted), "faults": items, "left_out": [str(one) for one in left], "probes": probes})
    else:
        _say(linted, left, probes)
    return 1 if bad or left else 0


def _say(linted: Sequence[Linted], left: Sequence[Problem], probes: dict[str, ProbeAccount]) -> None:
    for problem in left:
        echo(f"left out: {problem}")
    for one in linted:
        for fault in one.faults:
            at = ", ".join(map(str, fault.criteria))
            words = "; ".join(repr(one.rubric[number - 1].criterion) for number in fault.criteria)
            where = f" criterion {at} ({words})" if at else ""
            echo(f"{one.id}:{where} {fault.kind.replace('_', ' ')}: {fault.detail}{'' if fault.sure else ' (look)'}")
    criteria, faults = sum(len(one.rubric) for one in linted), sum(len(one.faults) for one in linted)
    echo(f"{count_noun(len(linted), 'rubric')}, {count_noun(criteria, 'criterion')}, {count_noun(faults, 'fault')}")
    for probe in PROBES if probes else ():
        values = [value for account in probes.values() for value in account.met[probe]]
        known = [value for value in values if value is not None]
        share = f" ({sum(known) / len(known):.3f})" if known else ""
        echo(f"a {probe} answer meets {sum(known)} of {count_noun(len(known), 'criterion')}{share}")
    for item, account in probes.items():
        for place, text in enumerate(account.criteria):
            if all(account.met[probe][place] for probe in PROBES):
                echo(f"{item}: criterion {place + 1} ({text!r}) is met by all three, so by any text")


async def _probe(
    cases: str, name: str, where: str | None, judges: tuple[str, ...], base_urls: tuple[str, ...]
) -> dict[str, ProbeAccount]:
    """Play the file with a silent doctor, judge the probes in its place, and return their accounts by item."""
    async with aclosing(open_store(store_path(where))) as store:
        if name in {row.name for row in await store.runs()}:
            run = await Run.open(store, name)
        else:
            run = await api.run(cases, "questions", doctor="silent", store=store, name=name)
        async with aclosing(await judge_config(JudgeOptions(judges=judges, base_urls=base_urls), store)) as config:
            await score_run(run, [RubricProbe()], judge=config)
        return {case: msgspec.convert(account, ProbeAccount) for case, account in await probe_accounts(run)}


@command.command(name="show")
@click.argument("runs", nargs=-1, required=True)
@click.option("--scoring", default="", metavar="NAME", help="Another scoring than the one that counts (one run only).")
@click.option("--criteria", default=0, metavar="N", help="Also list the N criteria that discriminate least.")
@store_option
@json_option
def show_rubrics(runs: tuple[str, ...], scoring: str, criteria: int, store: str | None, as_json: bool) -> None:
    """Show the rubric score of runs: overall, by theme, axis and tag, with the judges' agreement.

    Only means are clipped to 0..1. Several runs are taken together, which tells more about a criterion. `--scoring`
    names one scoring of a run, for instance by batches of criteria; compare two by `report RUN --scorings A,B`.

    \b
    Example:  wardround rubrics show calm-heron-417 --criteria 10
    """

    async def tell() -> None:
        async with existing_store(store) as opened:
            table = rubric_table(await judged_items(opened, runs, scoring))
        if as_json:
            print_json(table)
        else:
            echo_lines(rubric_lines(table, criteria=criteria))

    anyio.run(tell)
