"""Replaces the files that a seat's options name by their content, so that a run does not change with a file."""

from typing import Any

from wardround.agents.persona import read_persona
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.settings import RunSettings


def with_files(settings: RunSettings) -> RunSettings:
    """The settings with each persona as its file has it; raises UsageError for a file that cannot be read."""
    seats = {seat: _with_files(config) for seat, config in settings.seats.items()}
    return settings if seats == settings.seats else settings.model_copy(update={"seats": seats})


def _with_files(seat: SeatSettings) -> SeatSettings:
    options: dict[str, Any] = dict(seat.options)
    if isinstance(options.get("persona"), str):
        options["persona"] = read_persona(options["persona"])
    return seat if options == seat.options else seat.model_copy(update={"options": options})
