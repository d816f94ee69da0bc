"""`wardround scenarios`: list the scenarios with their seats and settings."""

from typing import get_args

import click
from pydantic.fields import FieldInfo

from wardround.cli.options import json_option, print_json
from wardround.cli.screen import echo
from wardround.engine.records import Json
from wardround.runs.stored_run import PlayedScenario, doctor_scenarios, scenario_class, scenario_defaults
from wardround.scenarios.papers import OF_SCENARIOS


@click.command(short_help="List the scenarios with their seats and settings.")
@click.argument("name", required=False)
@json_option
def command(name: str | None, as_json: bool) -> None:
    """List the scenarios for a doctor: goal, seats, and settings with their defaults.

    With NAME or package.module:Class, explain the settings of one scenario.

    \b
    Example:  wardround scenarios
              wardround scenarios free-turn
    """
    scenarios = {each: scenario_class(each) for each in ([name] if name else doctor_scenarios())}
    if as_json:
        print_json({"scenarios": [_json(each, rules) for each, rules in scenarios.items()]})
        return
    for each, rules in scenarios.items():
        for line in _lines_of(each, rules, full=bool(name)):
            echo(line, lines=True)


def _lines_of(name: str, rules: type[PlayedScenario], *, full: bool) -> list[str]:
    fields = rules.Settings.model_fields
    said = [f"{name}: {_summary(rules)}", f"    asks for {rules.goal}; seats: {', '.join(rules.seats)}"]
    if not full:
        settings = ", ".join(f"{key}={_default(field)}" for key, field in fields.items())
        return [*said, f"    settings: {settings or 'none'}"]
    if paper := OF_SCENARIOS.get(name):
        said.append(f"    from {paper.title}, {paper.url}")
    usual = scenario_defaults(rules)
    if usual.repeats > 1 or usual.sampling:
        sampling = "".join(f", {key} {value}" for key, value in usual.sampling.items())
        said.append(f"    with a model as {rules.seats[0]}: --repeats {usual.repeats}{sampling}")
    for key, field in fields.items():
        said.append(f"    --set {key}={_default(field)}{_other_values(field)}  {field.description or ''}".rstrip())
    return said


def _summary(rules: type[PlayedScenario]) -> str:
    return next(iter((rules.__doc__ or "").strip().splitlines()), "")


def _default(field: FieldInfo) -> str:
    return "(needed)" if field.is_required() else str(field.get_default(call_default_factory=True))


def _other_values(field: FieldInfo) -> str:
    """The other values of a setting that has a few."""
    others = [str(value) for value in get_args(field.annotation) if isinstance(value, str) and value != field.default]
    return f" (or {', '.join(others)})" if others else ""


def _json(name: str, rules: type[PlayedScenario]) -> dict[str, Json]:
    return {
        "name": name,
        "about": _summary(rules),
        "paper": OF_SCENARIOS[name]._asdict() if name in OF_SCENARIOS else None,
        "goal": rules.goal,
        "seats": list(rules.seats),
        "repeats": scenario_defaults(rules).repeats,
        "sampling": dict(scenario_defaults(rules).sampling),
        "settings": rules.Settings.model_json_schema().get("properties", {}),
    }
