"""`wardround cases build mimic`, `wardround cases pool`: cases from records, and the diseases of a question set."""

import sys
from pathlib import Path
from typing import Any

import click

from wardround.builds import build_mimic
from wardround.cli.options import json_option, output_file, print_json
from wardround.cli.outcome import NOTHING_MADE, print_nothing_made
from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.text import count_noun
from wardround.report_files import write_file
from wardround.scenarios.diseases.knowledge import knowledge
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.scispacy_linker import ScispacyLinker
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.mimic.pool import pool_from_questions, pool_table


@click.command(short_help="Build cases from your own copy of MIMIC-IV.")
@click.option(
    "--mimic", required=True, type=click.Path(path_type=Path), metavar="DIR", help="Folder with hosp/ and note/."
)
@click.option("--out", required=True, type=output_file, metavar="FILE", help="Where the cases go (JSONL).")
@click.option(
    "--table", "tables", multiple=True, metavar="NAME=PATH", help="The file of a table, if it has another name."
)
@click.option(
    "--pool", metavar="all|FILE", help="The diseases: a list of yours, or `all`; default: Wardround's own list."
)
@click.option(
    "--admissions",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Only these: a hadm_id a line, or a CSV column.",
)
@click.option("--disease", "diseases", multiple=True, metavar="NAME", help="Only cases of this disease of the pool.")
@click.option("--min-per-disease", type=click.IntRange(min=1), metavar="N", help="Default: 11; published: 10.")
@click.option("--per-disease", type=click.IntRange(min=1), default=100, show_default=True, metavar="N")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N cases in all.")
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the sample.")
@click.option("--rules", type=click.Choice(["default", "published"]), default="default", show_default=True)
@click.option("--without", multiple=True, metavar="RULE", help="Switch a rule off (docs/records.md has them).")
@click.option("--results", type=click.Choice(["series", "first"]), default="series", show_default=True)
@click.option("--on-bad-row", type=click.Choice(["stop", "skip"]), default="stop", show_default=True)
@click.option("--gem", type=click.Path(path_type=Path), metavar="FILE", help="A map from ICD-9-CM to ICD-10-CM.")
@click.option("--lookup", type=click.Path(path_type=Path), metavar="DIR", help="The published look-up tables.")
@click.option(
    "--mimic-version",
    "version",
    default="",
    metavar="X.Y",
    help="The release of MIMIC-IV, if the folder's name does not say it.",
)
@click.option("--data-class", type=click.Choice(["restricted", "public"]), default="restricted", show_default=True)
@click.option("--accept-terms", is_flag=True, help="Answer the question on PhysioNet's terms with yes.")
@json_option
def mimic(**values: Any) -> int:
    """Build cases from your own copy of MIMIC-IV: hosp, and note where you have it.

    Nothing leaves this machine. Prints how many admissions each rule dropped, and writes it to FILE.flow.json with
    versions, seed, options and checksums.

    \b
    Examples: wardround cases build mimic --mimic mimiciv/3.1 --out cases.jsonl
              wardround cases build mimic --mimic mimiciv/3.1 --pool pool.csv --rules published --out cases.jsonl
              wardround cases build mimic --mimic mimiciv/3.1 --admissions hadm_ids.txt --out cases.jsonl
              wardround cases build mimic --mimic demo --pool all --min-per-disease 1 --out demo.jsonl
    \b
    Exit code: 0 done; 2 no case was built, and no file was written.
    """
    out, as_json, results = values.pop("out"), values.pop("as_json"), values.pop("results")
    _ask_terms(values["mimic"], accepted=values.pop("accept_terms"))
    tables = dict(_pair(text) for text in values.pop("tables"))
    options = MimicOptions(tables=tables, series=results == "series", **values)
    flow = build_mimic(options, out, lambda text: echo(text, err=True, lines=True))
    if as_json:
        print_json(flow.json())
    else:
        echo(flow.text(), lines=True)
    if not flow.cases:
        print_nothing_made("cases")
        return NOTHING_MADE
    if not as_json:
        echo(f"written: {out}, {out}.flow.json")
    return 0


TERMS = (
    "PhysioNet's terms of 24 September 2025 for credentialed data: a model may be given these cases only where nothing "
    "is retained and no person reviews them; local models are strongly recommended, and no platform is endorsed."
)


def _ask_terms(root: Path, *, accepted: bool) -> None:
    """Show the terms and, at a terminal, ask for consent; the open demo has none. Raises UsageError for a no."""
    licence = root / "LICENSE.txt"
    if licence.is_file() and "Open Database License" in licence.read_text(encoding="latin-1")[:20_000]:
        return
    echo(TERMS, err=True, lines=True)
    if not accepted and sys.stdin.isatty() and not click.confirm("Do you keep to them with the cases of this build?"):
        raise UsageError("the terms were not accepted; nothing was built (docs/records.md, Terms)")


def _pair(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals or not name or not path:
        raise UsageError(f"--table {text}: write NAME=PATH, for instance labevents=labs.csv.gz")
    return name.strip().lower(), path


@click.command(short_help="Recognise the diseases of a question set.")
@click.argument("questions", type=click.Path(path_type=Path), nargs=-1, required=True)
@click.option("--out", type=output_file, metavar="FILE", help="Write the pool as CSV.")
@click.option(
    "--synonyms",
    multiple=True,
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Names of your own: CSV concept,name[,icd10], or UMLS's MRCONSO.RRF.",
)
@click.option(
    "--linker",
    "named",
    type=click.Choice(["lexical", "scispacy"]),
    default="lexical",
    show_default=True,
    help="What finds the diseases; scispacy needs its extra.",
)
@click.option("--min-questions", type=click.IntRange(min=1), default=1, show_default=True, metavar="N")
@json_option
def pool(
    questions: tuple[Path, ...],
    out: Path | None,
    synonyms: tuple[Path, ...],
    named: str,
    min_questions: int,
    as_json: bool,
) -> int:
    """Recognise the diseases of a question set, so that cases and questions share their knowledge.

    QUESTIONS is JSON or JSONL (MedQA, MedMCQA and the like). The CSV has name, synonyms, ICD families and the number
    of questions; `cases build mimic --pool FILE` takes it, and you may edit it.

    \b
    Example:  wardround cases pool medqa.jsonl --out pool.csv
    """
    finder = ScispacyLinker(knowledge(*synonyms)) if named == "scispacy" else linker(*synonyms)
    diseases = pool_from_questions(questions, min_questions, finder)
    if out is not None:
        write_file(out, pool_table(diseases))
    if as_json:
        print_json(diseases.json())
    elif out is None:
        echo(pool_table(diseases), nl=False, lines=True)
    else:
        echo(
            f"{count_noun(len(diseases.diseases), 'disease')} in {count_noun(diseases.questions, 'question')}; "
            f"written: {out}"
        )
    return 0
