"""`wardround agents`: list the agents of each seat, and check one of your own."""

import asyncio
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import anyio
import click

from wardround.agents.check import AgentCheck, AgentTrial, try_agent
from wardround.agents.hazards import Hazard, hazards, warm_up
from wardround.cli.options import json_option, more_than_0, print_json
from wardround.cli.screen import echo
from wardround.cli.seat_options import JsonObject, models_of
from wardround.engine.errors import UsageError
from wardround.engine.plugins import load_plugin, maker, plugin_names
from wardround.engine.seat import Seat, seed_of
from wardround.engine.text import count_noun
from wardround.runs.plan import DEFAULT_SPECS
from wardround.runs.seat_models import Access
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.seats import SEATS, seat_config
from wardround.runs.settings import checked_settings, load_prompts
from wardround.runs.stored_run import scenario_class
from wardround.scenarios.loaders.load import bundled, load
from wardround.testing.memory_store import MemoryStore

_USUAL = {"doctor": "workup", "patient": "consultation", "examiner": "workup"}


@dataclass(frozen=True, slots=True)
class Certificate:
    """The result of `agents check`: the scripted episode, and what each hazard showed."""

    checked: AgentCheck
    hazards: Sequence[Hazard]

    @property
    def findings(self) -> list[str]:
        """Every fault, in words."""
        return [*self.checked.findings, *(f"{one.name}: {finding}" for one in self.hazards for finding in one.findings)]


async def check_agent(
    settings: SeatSettings, seat: str, scenario: str | None = None, seconds: float = 60.0
) -> Certificate:
    """Try the agent that the settings name in `seat`; only the scripted episode calls a model, and no hazard does.

    Raises UsageError if the scenario, by default a usual one for the seat, has no such seat.
    """
    name = scenario or _USUAL[seat]
    rules = scenario_class(name)
    if seat not in rules.seats:
        raise UsageError(f"scenario {name} has no seat {seat!r}; it has: {', '.join(rules.seats)}")
    cases = tuple(load(bundled("admissions")[0]))
    prompts = load_prompts()
    try:
        part = await seat_config(seat, settings, Access(), MemoryStore())
    except UsageError as error:
        raise UsageError(str(error).replace("give --base-url", "set OPENAI_BASE_URL")) from None
    case, knowledge = cases[0], {"truth": cases[0], "cases": cases[1:], "": None}[part.knows]

    def seat_of(which: str) -> Seat:
        own = which == seat
        options = part.options if own else {}
        return Seat(which, case.id, seed_of(0, case.id, which), prompts, options, knowledge=knowledge if own else None)

    other_specs = {other: DEFAULT_SPECS[other] for other in rules.seats if other != seat}
    others = {other: maker(load_plugin(SEATS + other, named_as), named_as) for other, named_as in other_specs.items()}
    if "doctor" in others:
        others["doctor"] = maker(load_plugin(SEATS + "doctor", "silent"), "silent")
    make, models = part.maker(case.id, 1), {label: one.model for label, one in part.each_model().items()}
    trial = AgentTrial(rules(rules.Settings(), prompts), case, seat, seat_of, others, seconds, models=models)
    try:
        with _hang_noticed(seconds, settings.spec):
            first = None if part.outside else await warm_up(make, trial, list(models))
            checked = await try_agent(make, trial)
            if part.outside or checked.ending is None:  # a person answers, or the episode failed already
                return Certificate(checked, [])
            return Certificate(checked, [one async for one in hazards(make, trial, checked.views, list(models), first)])
    finally:
        for model in models.values():
            await model.aclose()


@click.group(short_help="List the agents of each seat, check one of your own.", invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the agents of each seat, check one of your own.

    \b
    Examples: wardround agents
              wardround agents check my_package.my_module:MyDoctor
    """
    if context.invoked_subcommand is None:
        context.invoke(list_agents, as_json=False)


@command.command(name="list")
@json_option
def list_agents(as_json: bool) -> None:
    """List the short names that can be written for each seat.

    \b
    Example:  wardround agents list
    """
    seats = ("doctor", "patient", "examiner")
    if as_json:
        print_json({seat: plugin_names(SEATS + seat) for seat in seats})
        return
    for seat in seats:
        for name in plugin_names(SEATS + seat):
            first = (load_plugin(SEATS + seat, name).__doc__ or "").strip().splitlines()
            echo(f"{seat:<10} {name:<10} {first[0] if first else ''}")


@command.command(name="check")
@click.argument("spec")
@click.option("--seat", default="doctor", show_default=True, type=click.Choice(["doctor", "patient", "examiner"]))
@click.option("--scenario", help="Default: one that has the seat.")
@click.option("--model", multiple=True, metavar="[NAME=]SPEC", help="A model for the agent, as --doctor-model of run.")
@click.option("--options", "agent_options", type=JsonObject(), metavar="JSON", help="Options of the agent.")
@click.option("--base-url", metavar="URL", help="OpenAI-compatible endpoint of its models.")
@click.option("--seconds", default=60.0, show_default=True, type=more_than_0, help="Longest act; a longer one hangs.")
@json_option
def certify(spec: str, seat: str, scenario: str | None, seconds: float, as_json: bool, **options: Any) -> int:
    """Play an agent against what a long run meets, and print a certificate with its faults in plain words.

    One scripted episode, its replay and its resume; then malformed views, huge results, unknown verbs, a slow and a
    failing model, cancellation, kills, and eight at once. Models are called in the one episode only.

    \b
    Example:  wardround agents check my_package.my_module:MyDoctor --scenario consultation
    """
    fields = {"spec": spec, "base_url": options["base_url"] or "", "options": options["agent_options"] or {}}
    settings = checked_settings(SeatSettings, {**fields, **models_of(seat, options["model"])}, "agents check")
    return anyio.run(lambda: _certify(settings, seat, scenario, seconds, as_json=as_json))


async def _certify(settings: SeatSettings, seat: str, scenario: str | None, seconds: float, *, as_json: bool) -> int:
    certificate = await check_agent(settings, seat, scenario, seconds)
    if as_json:
        actions = len(certificate.checked.actions)
        summary = {"findings": certificate.findings, "hazards": certificate.hazards, "actions": actions}
        print_json({"spec": settings.spec, "seat": seat, **summary})
    else:
        _print_certificate(settings.spec, certificate)
    sys.stdout.flush()
    left = asyncio.all_tasks() - {cast("asyncio.Task[object]", asyncio.current_task())}
    for task in left:
        task.cancel()
    if left and (await asyncio.wait(left, timeout=1.0))[1]:
        os._exit(1)  # an act that swallows its cancellation would keep the loop from closing for ever
    return 1 if certificate.findings else 0


def _print_certificate(spec: str, certificate: Certificate) -> None:
    checked = certificate.checked
    ending = f"; it ended: {checked.ending.cause} {checked.ending.reason}".rstrip() if checked.ending else ""
    played = f"{count_noun(len(checked.actions), 'action')}, replay, resume{ending}"
    rows = [(played, checked.findings), *((f"{one.name} ({one.trials})", one.findings) for one in certificate.hazards)]
    echo(spec)
    for said, findings in rows:
        echo(f"  {'FAULT' if findings else 'ok':<6} {said}")
    if not certificate.hazards and checked.findings:
        echo("         the hazards were not played")
    for finding in certificate.findings:
        echo(f"- {finding}", lines=True)
    if not certificate.findings:
        echo(f"{spec}: nothing wrong in {count_noun(len(checked.actions), 'action')}")


@contextmanager
def _hang_noticed(seconds: float, spec: str) -> Iterator[None]:
    """End the process if code blocks the event loop for so long: it cannot be interrupted otherwise."""
    loop, thread = asyncio.get_running_loop(), threading.get_ident()
    over, alive = threading.Event(), threading.Event()

    def watch() -> None:
        missed = 0.0
        while not over.wait(_TICK):
            if alive.is_set():
                missed = 0.0
                alive.clear()
                loop.call_soon_threadsafe(alive.set)
            elif (missed := missed + _TICK) > seconds:
                last = traceback.extract_stack(sys._current_frames()[thread])[-1]
                where = f"{last.filename.rpartition('/')[2]}:{last.lineno} in {last.name}"
                echo(f"- {spec} hangs and blocks the event loop ({where}): it is given up")
                sys.stdout.flush()
                os._exit(1)

    alive.set()
    threading.Thread(target=watch, daemon=True).start()
    try:
        yield
    finally:
        over.set()


_TICK = 0.25
"""Seconds between two looks at the loop."""
