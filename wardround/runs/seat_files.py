"""Replaces the files that settings name by their content, so that a run does not change with a file."""

from pathlib import Path

from wardround.agents.persona import read_persona
from wardround.agents.team import TEAM, read_team
from wardround.engine.records import Json
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.settings import RunSettings
from wardround.scenarios.terms.tariff import read_test_prices


def with_files(settings: RunSettings) -> RunSettings:
    """The settings with each persona, team and list of prices as its file has it, and the models that a team names.

    Raises UsageError for a file that cannot be read.
    """
    seats = {seat: _with_files(config) for seat, config in settings.seats.items()}
    rules = dict(settings.set)
    if isinstance(rules.get("prices"), str):
        rules["prices"] = read_test_prices(Path(rules["prices"]))
    same = seats == settings.seats and rules == settings.set
    return settings if same else settings.model_copy(update={"seats": seats, "set": rules})


def _with_files(seat: SeatSettings) -> SeatSettings:
    options: dict[str, Json] = dict(seat.options)
    if isinstance(options.get("persona"), str):
        options["persona"] = read_persona(options["persona"])
    update: dict[str, Json] = {"options": options}
    kind, _, place = seat.spec.partition(":")
    if kind == TEAM and TEAM not in options:
        options[TEAM] = read_team(place)
        named = {name: role["model"] for name, role in options[TEAM]["roles"].items() if "/" in role["model"]}
        update["models"] = {**named, **seat.models}
    return seat if options == seat.options else seat.model_copy(update=update)
