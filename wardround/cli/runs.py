"""`wardround runs`."""

from datetime import datetime
from typing import Any

import click

from wardround.cli.options import drive, existing_store, json_option, say_json, store_option
from wardround.cli.screen import echo
from wardround.evaluators.reasons import ended_by
from wardround.stored import StoredRun


@click.command(short_help="List the runs of a store.")
@store_option
@json_option
def command(store: str | None, as_json: bool) -> None:
    """List the runs of a store, oldest first.

    \b
    Example:  wardround runs --store study.db
    """
    rows = drive(lambda: _rows(store))
    if as_json:
        say_json({"runs": rows})
        return
    if not rows:
        echo("no runs yet: wardround run --help")
    for row in rows:
        if row["damage"]:
            echo(f"{row['run']:<24} {row['begun']}  its header is damaged: {row['damage']}")
            continue
        ends = ", ".join(f"{count} {ended_by(cause)}" for cause, count in row["endings"].items())
        echo(f"{row['run']:<24} {row['begun']}  {row['scenario']:<13} {row['doctor']:<28} {ends}")


async def _rows(where: str | None) -> list[dict[str, Any]]:
    store = existing_store(where)
    try:
        rows = []
        for run in await store.runs():
            seats = run.header.get("seats", {})
            rows.append(
                {
                    "run": run.name,
                    "damage": run.damage,
                    "begun": datetime.fromtimestamp(run.created).astimezone().strftime("%Y-%m-%d %H:%M"),
                    "scenario": run.header.get("scenario", {}).get("name", ""),
                    "doctor": seats.get("doctor", {}).get("spec", ""),
                    "endings": await StoredRun(store, run.name, run.header).endings(),
                }
            )
        return rows
    finally:
        await store.aclose()
