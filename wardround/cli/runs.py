"""`wardround runs`: list the runs of a store."""

from collections.abc import Iterator, Sequence
from datetime import datetime

import anyio
import click

from wardround.cli.options import existing_store, json_option, print_json, store_option
from wardround.cli.screen import echo, echo_lines
from wardround.engine.errors import StoreError
from wardround.engine.records import Json, RunRow
from wardround.evaluators.reasons import ended_by
from wardround.runs.header import Header, read_header

_LONGEST = 48
"""Number of characters of a doctor in the list; of a longer one, such as a long path, the middle is left out."""


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
    echo_lines(_table([_cells(row) for row in rows]))


def _cells(row: dict[str, Json]) -> tuple[str, ...]:
    if row["damage"]:
        return row["run"], row["begun"], row["damage"]
    ends = ", ".join(f"{count} {ended_by(cause)}" for cause, count in row["endings"].items())
    doctor = row["doctor"]
    short = doctor if len(doctor) <= _LONGEST else f"{doctor[:12]}…{doctor[13 - _LONGEST :]}"
    return row["run"], row["begun"], row["scenario"], short, ends


def _table(rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    """The rows as aligned columns; a shorter row, of a damaged run, widens only the columns that it has in common."""
    most = max(map(len, rows), default=0)
    widths = [max((len(row[at]) for row in rows if len(row) > at + 1), default=0) for at in range(most)]
    for row in rows:
        padded = (f"{text:<{widths[at]}}" if at + 1 < len(row) else text for at, text in enumerate(row))
        yield "  ".join(padded).rstrip()


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
