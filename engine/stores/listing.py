"""Rows of a database as both stores that are one ask for them and read them."""

from collections.abc import Sequence
from typing import Any

import msgspec

from wardround.engine.sessions import Orders, SessionRow

EPISODE = "name, number, case_id, repeat, cause, reason, events, at"
"""The columns of an EpisodeRow, in its order."""


def session_row(row: Sequence[Any]) -> SessionRow:
    """A SessionRow from a row of a query, its columns in the same order."""
    number, run, host, pid, began, seen, ended, alive, told = row
    return SessionRow(number, run, host, pid, began, seen, ended, bool(alive), msgspec.json.decode(told))


def orders_of(row: Sequence[Any] | None) -> Orders:
    """The orders in a row of a query; those nobody ever gave are the default."""
    return msgspec.json.decode(row[0], type=Orders) if row and row[0] is not None else Orders()
