"""`wardround import`: a run from a file, or the results of another program as a run."""

from contextlib import aclosing
from pathlib import Path
from typing import Any

import anyio
import click

from wardround.cli.options import store_option, store_path
from wardround.cli.screen import echo, echo_lines
from wardround.engine.errors import UsageError
from wardround.engine.logs import configure
from wardround.engine.stores.files import is_export, read_into
from wardround.engine.text import count_noun
from wardround.exchange.imported_run import AUTO, FORMATS, ImportAccount, ImportRequest, import_results
from wardround.runs.stored_run import check_importable, open_store

_RUN = "run"


@click.command(name="import", short_help="Read a run, or the results of another program, into a store.")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--name", help="Name of the run in this store; default: as exported, or made up.")
@click.option(
    "--from",
    "source",
    default=AUTO,
    type=click.Choice([AUTO, _RUN, *FORMATS]),
    show_default=True,
    help="The format; auto recognises it and says so.",
)
@click.option(
    "--map", "columns", multiple=True, metavar="COLUMN=FIELD", help="Of own rows: which column holds which field."
)
@click.option("--cases", default="", metavar="PATH", help="The cases that the results belong to, by id.")
@click.option("--scenario", default="", metavar="NAME", help="The rules that read them; default: what fits.")
@click.option("--model", default="", metavar="NAME", help="The model, where a file holds several or names none.")
@click.option("--public", is_flag=True, help="Own rows and logs hold no private data; else they count as restricted.")
@store_option
def command(files: tuple[Path, ...], **options: Any) -> None:
    """Read a run that `wardround export` wrote (every hash is checked first), or the results of another program.

    Results of MedR-Bench and HealthBench, what AgentClinic printed, logs of Inspect, and own JSON lines or tables
    become a run that is scored, shown, reported and exported like any other, marked with its origin (docs/data.md).
    The origin's own scores are kept as origin_NAME. An import that broke off goes on when it is given again.

    \\b
    Example:  wardround import calm-heron-417.events.jsonl --store archive.db
              wardround import o3-mini__replies.json --cases diagnosis_cases.json
              wardround import results.csv --map pmid=case --map output=reply --map gold=diagnosis
    """
    configure("warning")
    for path in files:
        if not path.exists() or path.is_dir():
            raise UsageError(f"{path} cannot be read: {'it is a folder' if path.is_dir() else 'there is no such file'}")
    exported = options["source"] == _RUN or (options["source"] == AUTO and len(files) == 1 and is_export(files[0]))
    if exported and (len(files) > 1 or any(options[name] for name in ("columns", "cases", "scenario", "model"))):
        raise UsageError("a run that was exported is one file, and --name is all that goes with it")

    async def work() -> str | ImportAccount:
        async with aclosing(open_store(store_path(options["store"]))) as opened:
            if exported:
                return await read_into(opened, files[0], options["name"], check_importable)
            request = {name: options[name] for name in ("source", "columns", "cases", "scenario", "model", "public")}
            return await import_results(opened, ImportRequest(files, **request, name=options["name"] or ""))

    done = anyio.run(work)
    if isinstance(done, str):
        echo(f"imported as {done}")
        return
    echo_lines(done.recognised)
    how = "imported before as" if done.before else "imported as"
    echo(f"{how} {done.run}: {count_noun(done.episodes, 'episode')}")
    for note in done.notes:
        echo(f"note: {note}")
