"""`wardround cases build reports`: cases from case reports, by a model."""

from pathlib import Path
from typing import Any

import anyio
import click

from wardround.builds import SEAT, CaseBuild
from wardround.cli.build_run import AGAIN, build_rules, build_run_options, play_build, run_fields
from wardround.cli.options import Options, output_file
from wardround.cli.workers import check_beside_resume
from wardround.engine.logs import configure
from wardround.engine.records import Json
from wardround.runs.settings import RunSettings, validate_settings
from wardround.scenarios.reports.article import CurationOptions
from wardround.scenarios.reports.curation import CHECKER


@click.command(short_help="Build cases from the text of case reports, by a model.")
@click.argument("articles", type=click.Path(path_type=Path), nargs=-1)
@click.option("--out", required=True, type=output_file, metavar="FILE", help="Where the cases go (JSONL).")
@click.option("--model", metavar="SPEC", help="provider/model | package.module:Class | recorded:RUN")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of the model.")
@click.option("--checker", metavar="SPEC", help="A second reader: says of each finding whether its sentences say so.")
@click.option("--checker-base-url", metavar="URL", help="Endpoint of the checker; default: that of the model.")
@click.option("--temperature", type=float, help="Sampling of the model; default: the endpoint's.")
@click.option("--max-tokens", type=int, help="Longest reply of the model.")
@click.option("--kinds", default=None, metavar="KINDS", help="diagnosis, treatment; default: both.")
@click.option("--published-after", metavar="DATE", help="Only articles published later, e.g. 2024-06-30.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="At most N articles that pass the filters.")
@click.option("--without", multiple=True, metavar="RULE", help="Switch a rule off (docs/records.md has them).")
@click.option(
    "--on-bad-row", type=click.Choice(["stop", "skip"]), help="What to do at a file or line that cannot be read."
)
@click.option("--licence", metavar="NAME", help="Licence of articles that name none, e.g. CC-BY-4.0.")
@click.option(
    "--data-class",
    type=click.Choice(["auto", "restricted", "public"]),
    help="Default auto: public under an open licence.",
)
@click.option("--rare", type=click.IntRange(min=0), metavar="N", help="Rare diseases verified an article; default 5.")
@build_run_options("articles", "DIR/curator/*.md replaces the built-in ones")
def reports(**options: Any) -> int:
    """Build cases from the text of case reports: ARTICLES are files or folders of JATS XML or JSON lines.

    A model restructures each article and cites the sentences that each finding rests on. Each finding is compared with
    its sentences; with --checker a second model reads both as well. The run is stored like any other (wardround status,
    show, replay). Prints what each rule dropped, and writes it to FILE.flow.json.

    \b
    Examples: wardround cases build reports pmc/ --published-after 2024-06-30 --model openai/gpt-4o --out cases.jsonl
              wardround cases build reports raw.jsonl.gz --licence CC-BY-4.0 --model openai/gpt-4o --out cases.jsonl
              wardround cases build reports --resume calm-heron-417 --out cases.jsonl
    \b
    Exit code: 0 done; 3 some articles ended otherwise; 2 nothing was run or made; 130 interrupted, resumable.
    """
    configure(options["log_level"])
    if options["resumed"]:
        check_beside_resume((*AGAIN, "without"), "build")
        settings = None
    else:
        settings = _settings(options)
    build = CaseBuild(options["out"], options["without"] if options["resumed"] else ())
    words = ("reports", "article", "{out}, {out}.flow.json")
    return anyio.run(lambda: play_build(settings, options, build, words))


def _settings(options: Options) -> RunSettings:
    missing = "name the articles: files or folders of JATS XML or JSON lines, or go on with --resume RUN"
    rules = {
        "kinds": options["kinds"],
        "published_after": options["published_after"],
        "limit": options["limit"],
        "without": options["without"],
        "on_bad_row": options["on_bad_row"],
        "licence": options["licence"],
        "data_class": options["data_class"],
        "rare_candidates": options["rare"],
        "citations": True,  # a build of an earlier version goes on without them
        "second_reader": True if options["checker"] else None,
    }
    first, written = build_rules(options, "articles", missing, rules, CurationOptions, "cases build reports")
    shared = {name: options[name] for name in ("temperature", "max_tokens")}
    shared["cache"] = options["cache"] or None
    seats = {SEAT: {"spec": options["model"], "base_url": options["base_url"], **shared}}
    if options["checker"]:
        same = options["checker"].partition("/")[0] == options["model"].partition("/")[0]
        endpoint = options["checker_base_url"] or (options["base_url"] if same else None)
        seats[CHECKER] = {"spec": options["checker"], "base_url": endpoint, **shared}
    fields: dict[str, Json] = {
        "cases": first,
        "scenario": "curation",
        "set": written,
        "seats": {
            seat: {name: value for name, value in one.items() if value not in (None, "")} for seat, one in seats.items()
        },
        **run_fields(options),
    }
    return validate_settings(fields, "cases build reports")
