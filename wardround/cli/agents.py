"""`wardround agents`."""

import sys

import click

from wardround.cast import SEATS
from wardround.checking import check_agent
from wardround.cli.options import drive, json_option, say_json
from wardround.cli.screen import echo
from wardround.engine.plugins import named, names
from wardround.engine.text import counted


@click.group(short_help="List the agents of each seat, check one of your own.")
def command() -> None:
    """List the agents of each seat, check one of your own.

    \b
    Example:  wardround agents check my_package.my_module:MyDoctor
    """


@command.command(name="list")
@json_option
def list_agents(as_json: bool) -> None:
    """List the short names that can be written for each seat.

    \b
    Example:  wardround agents list
    """
    seats = ("doctor", "patient", "examiner")
    if as_json:
        say_json({seat: names(SEATS + seat) for seat in seats})
        return
    for seat in seats:
        for name in names(SEATS + seat):
            first = (named(SEATS + seat, name).__doc__ or "").strip().splitlines()
            echo(f"{seat:<10} {name:<10} {first[0] if first else ''}")


@command.command()
@click.argument("spec")
@click.option("--seat", default="doctor", show_default=True, type=click.Choice(["doctor", "patient", "examiner"]))
@click.option("--scenario", help="Default: one that has the seat.")
@json_option
def check(spec: str, seat: str, scenario: str | None, as_json: bool) -> int:
    """Play one scripted episode with an agent and say in plain words what is wrong with it.

    \b
    Example:  wardround agents check my_package.my_module:MyDoctor --scenario consultation
    """
    checked = drive(lambda: check_agent(spec, seat, scenario))
    if as_json:
        say_json({"spec": spec, "seat": seat, "findings": checked.findings, "actions": len(checked.actions)})
    else:
        for finding in checked.findings:
            echo(f"- {finding}", lines=True)
        if not checked.findings:
            ending = f"; the episode ended: {checked.ending.cause} {checked.ending.reason}" if checked.ending else ""
            echo(f"{spec}: nothing wrong in {counted(len(checked.actions), 'action')}{ending}")
    sys.stdout.flush()
    return 1 if checked.findings else 0
