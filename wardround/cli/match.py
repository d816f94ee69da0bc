"""`wardround match`: whether an answer means a diagnosis, and why."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from wardround.cli.options import json_option, print_json
from wardround.engine.errors import UsageError
from wardround.engine.text import count_noun, file_text
from wardround.evaluators.report.answer_reading import answer_lines
from wardround.scenarios.answers.diagnosis import Verdict, compare
from wardround.scenarios.case import Truth

_HEADER = ("truth", "answer")


@click.command(short_help="Check whether an answer means a diagnosis, and why.")
@click.argument("truth", required=False)
@click.argument("answer", required=False)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Pairs, a line each: TRUTH, a tab, ANSWER.")
@click.option("--synonym", "synonyms", multiple=True, metavar="NAME", help="Another name of TRUTH. May be repeated.")
@json_option
def command(truth: str | None, answer: str | None, path: Path | None, synonyms: tuple[str, ...], as_json: bool) -> None:
    """Compare ANSWER with the diagnosis TRUTH by words alone: a lower bound, not a verdict.

    Shows what the scores without a judge compute: what the answer asserts, the parts of the truth, and the rule that
    decided. With --file each pair is one line; with --json it is one object: truth, answer, same, reason.

    \b
    Example:  wardround match "Gout" "Most likely gout, not pseudogout"
              wardround match --file pairs.tsv --json
    """
    if path is not None:
        if truth is not None or synonyms:
            raise UsageError("give TRUTH and ANSWER, or --file, not both")
        for one, other in pairs(path):
            _say(one, other, (), as_json=as_json, short=True)
        return
    if truth is None or answer is None:
        raise UsageError("give TRUTH and ANSWER, or a file of pairs with --file")
    if not truth.strip():
        raise UsageError("TRUTH is empty; give the name of a diagnosis")
    _say(truth, answer, synonyms, as_json=as_json, short=False)


def pairs(path: Path) -> Iterator[tuple[str, str]]:
    """The pairs of a file with two columns, apart by a tab; a first line `truth<TAB>answer` is its header.

    Raises UsageError that names file and line where a line is not a pair; empty lines are passed over. The whole file
    is read first, so that nothing is said of a file with a bad line.
    """
    lines = file_text(path).split("\n")
    read = []
    for number, line in enumerate(lines, 1):
        cells = line.rstrip("\r").split("\t")
        if not line.strip() or (number == 1 and tuple(cell.strip().lower() for cell in cells) == _HEADER):
            continue
        if len(cells) != 2:
            raise UsageError(
                f"{path}, line {number}: {count_noun(len(cells), 'column')}; a line is TRUTH, a tab, ANSWER"
            )
        if not cells[0].strip():
            raise UsageError(f"{path}, line {number}: the truth is empty")
        read.append((cells[0], cells[1]))
    if not read:
        raise UsageError(f"{path}: no pair in it; a line is TRUTH, a tab, ANSWER")
    yield from read


def _say(truth: str, answer: str, synonyms: tuple[str, ...], *, as_json: bool, short: bool) -> None:
    verdict = compare(answer, Truth(diagnosis=truth, synonyms=synonyms))
    if as_json:
        result = {"truth": truth, "answer": answer, "same": verdict.match, "reason": verdict.why}
        click.echo(json.dumps(result, ensure_ascii=False)) if short else print_json(result)
    elif short:
        click.echo(f"{'same' if verdict.match else 'not the same'}\t{truth}\t{answer}\t{verdict.why}")
    else:
        for line in _explain(verdict):
            click.echo(line)


def _explain(verdict: Verdict) -> Iterator[str]:
    yield f"{'the same' if verdict.match else 'not the same'}: {verdict.why}"
    rule = f"{verdict.rule}{f' (score 0, {verdict.reason})' if verdict.reason else ''}"
    lines = [("by rule", rule), ("truth", "; ".join(verdict.parts)), *answer_lines(verdict.read)]
    if verdict.beside:
        lines.append(("beside it", "; ".join(verdict.beside)))
    yield from (f"  {label + ':':<14} {text}" for label, text in lines)
    yield "  by words alone: a lower bound, not a verdict"
