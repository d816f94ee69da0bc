"""Rows of a database as both stores that are one ask for them and read them."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from wardround.engine.digest import digest_of
from wardround.engine.errors import StoreError
from wardround.engine.records import Json
from wardround.engine.rows import RunRow
from wardround.engine.sessions import RunControl, SessionRow

EPISODE = "name, number, case_id, repeat, cause, reason, events, at"
"""The columns of an EpisodeRow, in its order."""


_DIGEST = "_digest"
"""The field of a stored header that holds the digest of all the others; older headers have none."""


def header_bytes(header: Mapping[str, Json]) -> bytes:
    """A header as it is stored: with its digest, so that altered bytes are seen even where they are still JSON."""
    return msgspec.json.encode({**header, _DIGEST: digest_of(msgspec.json.encode(header))})


def run_row(name: str, created: float, stored: bytes) -> RunRow:
    """A RunRow from a stored header; one that is damaged says how, and its run alone cannot be used."""
    try:
        header = msgspec.json.decode(stored, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError) as error:
        return RunRow(name, created, {}, f"it cannot be read ({error})")
    digest = header.pop(_DIGEST, None)
    if digest is not None and digest != digest_of(msgspec.json.encode(header)):
        return RunRow(name, created, {}, "it was altered: its digest does not fit")
    return RunRow(name, created, header)


def whole_run(row: RunRow, where: object) -> RunRow:
    """The row, if its header is whole; raises StoreError naming the run."""
    if row.damage:
        raise StoreError(
            f"{where}: the header of run {row.name} is damaged: {row.damage}; the other runs can be used. To save this "
            "one put back a copy of the store, or import the run from a file that `wardround export` wrote"
        )
    return row


def session_row(row: Sequence[Any]) -> SessionRow:
    """A SessionRow from a row of a query, its columns in the same order.

    What a session last said of itself is shown and nothing rests on it: damaged, it is as if it had said nothing.
    """
    number, run, host, pid, began, seen, ended, alive, told = row
    try:
        said = msgspec.json.decode(told, type=dict[str, Any])
    except msgspec.DecodeError:
        said = {}
    return SessionRow(number, run, host, pid, began, seen, ended, bool(alive), said)


def orders_of(row: Sequence[Any] | None) -> RunControl:
    """The orders in a row of a query; those nobody ever gave are the default. Raises StoreError if they are damaged."""
    if not row or row[0] is None:
        return RunControl()
    try:
        return msgspec.json.decode(row[0], type=RunControl)
    except msgspec.DecodeError as error:
        raise StoreError(
            f"the orders of this run are damaged ({error}): put back a copy of the store, or import the run"
        ) from error
