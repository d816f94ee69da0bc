"""`wardround orders`: how an order is understood, piece by piece."""

import json
from collections.abc import Iterator
from pathlib import Path

import click

from wardround.cli.options import json_option
from wardround.engine.errors import UsageError
from wardround.engine.text import file_text
from wardround.scenarios.orders.catalogue import catalogue, read_test_names
from wardround.scenarios.orders.order_reading import OrderReading, read_order


@click.command(short_help="Show how an order is understood, piece by piece.")
@click.argument("text", required=False)
@click.option("--file", "path", type=click.Path(path_type=Path), help="Orders, one a line.")
@click.option("--names", type=click.Path(path_type=Path), help="Names: CSV with test, names, kind; or Loinc.csv.")
@json_option
def command(text: str | None, path: Path | None, names: Path | None, as_json: bool) -> None:
    """Show the pieces of an order TEXT with the tests that they mean, and the words that are context alone.

    Each piece is matched, ambiguous, unknown or not_an_order. Each test has a name, kind, specimen, method, timing and
    MIMIC's item numbers. With --file each line is one order; with --json each order is one line of JSON. --names adds
    names of your own, several between bars; a test that the table lacks needs a kind (lab, imaging, ...). It also reads
    LOINC's own table (Loinc.csv).

    \b
    Example:  wardround orders "CSF glucose and serum glucose, repeat troponin in 3 hours"
              wardround orders --file orders.txt --json
              wardround orders "KALI, Eosinophil cationic protein" --names ours.csv
    """
    if (text is None) == (path is None):
        raise UsageError("give the text of an order, or a file of orders with --file")
    if text is not None and not text.strip():
        raise UsageError('TEXT is empty; give an order, for instance "CBC, chest radiograph"')
    table = catalogue(read_test_names(names)) if names is not None else catalogue()
    for order in [text] if text is not None else order_lines(path or Path()):
        reading = read_order(order, table)
        if as_json:
            click.echo(json.dumps(reading.row(), ensure_ascii=False))
        else:
            for line in _explain(reading):
                click.echo(line)


def order_lines(path: Path) -> list[str]:
    """The lines of a file, each an order; an empty line between others stays, so that output and input agree.

    Raises UsageError that says why a file cannot be read.
    """
    lines = file_text(path).split("\n")
    lines = [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    if not any(line.strip() for line in lines):
        raise UsageError(f"{path}: no order in it; write one order a line")
    return lines


def _explain(reading: OrderReading) -> Iterator[str]:
    yield reading.text
    for piece in reading.pieces:
        yield f"  {piece.status:<13} {piece.text}{f'  ({piece.why})' if piece.why else ''}"
        for one in piece.concepts:
            axes = ", ".join(part for part in (one.kind, one.specimen, one.method, one.timing) if part)
            numbers = f"; MIMIC {', '.join(map(str, one.item_ids[:8]))}" if one.item_ids else ""
            more = f" and {len(one.item_ids) - 8} more" if len(one.item_ids) > 8 else ""
            yield f"                  {one.name} [{axes}]{numbers}{more}"
    if reading.context:
        yield f"  context       {' '.join(reading.context)}"
