"""`wardround cases`: build, check, import and list case files."""

from pathlib import Path
from types import MappingProxyType

import click

from wardround.cli import LazyGroup
from wardround.cli.options import json_option, output_file, print_json
from wardround.cli.screen import echo
from wardround.runs.plan import case_paths
from wardround.scenarios.loaders.census import census
from wardround.scenarios.loaders.importing import import_file
from wardround.scenarios.loaders.load import bundled


class _Builders(LazyGroup):
    verbs = MappingProxyType(
        {
            "mimic": "Build cases from your own copy of MIMIC-IV.",
            "reports": "Build cases from case reports, by a model.",
            "levels": "Make middle-level questions from choice questions, by two models.",
        }
    )
    places = MappingProxyType(
        {
            "mimic": ("build_cases", "mimic"),
            "reports": ("curate", "reports"),
            "levels": ("build_levels", "levels"),
        }
    )


class _Cases(LazyGroup):
    verbs = MappingProxyType(
        {
            "pool": "Recognise the diseases of a question set.",
            "sheet": "Count what people marked on the sheet of a build.",
        }
    )
    places = MappingProxyType({"pool": ("build_cases", "pool"), "sheet": ("build_levels", "sheet")})


@click.group(cls=_Cases, short_help="Build case files, check them, list the bundled ones.")
def command() -> None:
    """Build case files, check them, list the bundled ones.

    \b
    Example:  wardround cases check cases.jsonl
    """


@command.group(name="build", cls=_Builders)
def build_cases() -> None:
    """Build cases from records that you hold, and questions from questions.

    \b
    Examples: wardround cases build mimic --mimic mimiciv/3.1 --out cases.jsonl
              wardround cases build reports articles/ --model openai/gpt-4o --out cases.jsonl
              wardround cases build levels medqa.jsonl --model openai/gpt-4o --out middle.jsonl
    """


@command.command(name="check")
@click.argument("place", metavar="PATH")
@json_option
def check_cases(place: str, as_json: bool) -> int:
    """Count the cases of a file, and list every problem with its line and field, and the cases that leak their truth.

    PATH may be all that `--cases` takes: a file, a folder of them, or bundled cases. Exit code 1 if there is a problem;
    leaks are listed for you to judge.

    \b
    Examples: wardround cases check cases.jsonl --json
              wardround cases check cases/
    """
    several = [census(path) for path in case_paths(place)]
    if not as_json:
        echo("\n\n".join(counts.text() for counts in several), lines=True)
    elif Path(place).is_file() or len(several) == 1:
        print_json(several[0].json())
    else:
        print_json({"path": place, "files": [counts.json() for counts in several]})
    return 1 if any(counts.problems for counts in several) else 0


@command.command(name="import")
@click.argument("path", type=click.Path(path_type=Path))
@click.option(
    "--from", "source", default="auto", show_default=True, metavar="auto|FORMAT", help="The format; auto recognises it."
)
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="COLUMN=FIELD|FILE",
    help="Of a CSV file: which column holds which field of a case.",
)
@click.option("--out", type=output_file, metavar="FILE", help="Where the cases go (JSONL).")
@json_option
def import_cases(path: Path, source: str, columns: tuple[str, ...], out: Path | None, as_json: bool) -> int:
    """Read a file of another format, name what was recognised, and write its cases in the own format.

    Records that are not cases are named with line and field and left out; the rest is written, and the exit code is 1.

    \b
    Examples: wardround cases import patient-bundle.json --out cases.jsonl
              wardround cases import craft.jsonl --from mediq --out patients.jsonl
              wardround cases import ward.csv --map story=opening --map dx=truth.diagnosis --out cases.jsonl
              wardround cases import exam.csv --map stem=question --map a=option.A --map b=option.B --map key=answer
    """
    done = import_file(path, source, columns, out)
    if as_json:
        print_json(done.json())
    else:
        echo(done.text(), lines=True)
    return 1 if done.problems or not (done.cases or done.questions) else 0


@command.command(name="bundled")
def list_bundled() -> None:
    """Name the files of the bundled cases and questions.

    `--cases bundled` plays the cases, `--cases bundled:questions` the questions.

    \b
    Example:  wardround cases bundled
    """
    for path in (*bundled(), *bundled("questions")):
        echo(str(path))
