"""Runs and episodes as a store lists them."""

from collections.abc import Mapping

import msgspec

from wardround.engine.records import Json


class EpisodeRow(msgspec.Struct, frozen=True):
    """An episode as a store lists it: `number` in its run, `cause` None while open, `at` the time of its last event."""

    id: str
    number: int
    case: str
    repeat: int
    cause: str | None
    reason: str
    events: int
    at: float


class RunRow(msgspec.Struct, frozen=True):
    """A run as a store lists it; `header` is the JSON object that says all about it.

    `damage` says what is wrong with a stored header that cannot be trusted; the header is empty then.
    """

    name: str
    created: float
    header: Mapping[str, Json]
    damage: str = ""
