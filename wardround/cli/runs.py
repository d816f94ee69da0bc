"""`wardround runs`: list the runs of a store."""

from datetime import datetime

import anyio
import click

from wardround.cli.options import existing_store, json_option, print_json, store_option
from wardround.cli.screen import echo
from wardround.engine.errors import StoreError
from wardround.engine.records import Json, RunRow
from wardround.evaluators.reasons import ended_by
from wardround.runs.header import Header, read_header


@click.command(short_help="List the runs of a store.")
@store_option
@json_option
def command(store: str | None, as_json: bool) -> None:
    """List the runs of a store, oldest first.

    \b
    Example:  wardround runs --store study.db
    """
    rows = anyio.run(lambda: _rows(store))
    if as_json:
        print_json({"runs": rows})
        return
    if not rows:
        echo("no runs yet: wardround run --help")
    for row in rows:
        if row["damage"]:
            echo(f"{row['run']:<24} {row['begun']}  {row['damage']}")
            continue
        ends = ", ".join(f"{count} {ended_by(cause)}" for cause, count in row["endings"].items())
        echo(f"{row['run']:<24} {row['begun']}  {row['scenario']:<13} {row['doctor']:<28} {ends}")


async def _rows(where: str | None) -> list[dict[str, Json]]:
    async with existing_store(where) as store:
        rows = []
        for run in await store.runs():
            header, damage = _header(run)
            doctor = header.seats.get("doctor") if header else None
            rows.append(
                {
                    "run": run.name,
                    "damage": damage,
                    "begun": datetime.fromtimestamp(run.created).astimezone().strftime("%Y-%m-%d %H:%M"),
                    "scenario": header.scenario.name if header else "",
                    "doctor": doctor.spec if doctor else "",
                    "endings": dict(await store.endings(run.name)),
                }
            )
        return rows


def _header(run: RunRow) -> tuple[Header | None, str]:
    """The header, or why it cannot be used: a run that cannot be read is listed with the others."""
    if run.damage:
        return None, f"its header is damaged: {run.damage}"
    try:
        return read_header(run), ""
    except StoreError as error:
        return None, str(error)
