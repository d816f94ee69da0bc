"""What the options of `wardround run` say, as settings."""

from collections.abc import Mapping
from typing import Any

from wardround.engine.errors import UsageError
from wardround.planning import DEFAULT_SPECS
from wardround.settings import RunSettings, read_settings, validated

_SEATS = ("doctor", "patient", "examiner")
_SAMPLING = ("temperature", "top_p", "max_tokens")
_PLAIN = (
    *("scenario", "repeats", "seed", "concurrency", "limit", "sample"),
    *("prompts", "prices", "name", "timeout", "patience"),
)
"""Options that are settings of the same name."""


def settings_of(given: Mapping[str, Any]) -> RunSettings:
    """The settings, those of the run file below them; raises UsageError."""
    base = read_settings(given["config"]).model_dump(exclude_defaults=True) if given["config"] else {}
    fields = {**base, **{name: given[name] for name in _PLAIN if given[name] is not None}}
    for name in ("where", "allow_hosts", "budget", "quotas"):
        if given[name]:
            fields[name] = given[name]
    if given["cases"]:
        fields["cases"] = given["cases"] if len(given["cases"]) > 1 else given["cases"][0]
    if given["rules"]:
        fields["set"] = {**fields.get("set", {}), **_pairs(given["rules"])}
    if given["no_preflight"]:
        fields["preflight"] = False
    limits = {
        name: given[f"max_episode_{flag}"]
        for name, flag in (("calls", "calls"), ("tokens", "tokens"), ("cost", "cost"), ("wall", "seconds"))
    }
    limits["act"], limits["act_calls"] = given["max_act_seconds"], given["max_act_calls"]
    fields["limits"] = {
        **fields.get("limits", {}),
        **{name: value for name, value in limits.items() if value is not None},
    }
    fields["seats"] = _seats(given, fields.get("seats", {}))
    return validated(fields, str(given["config"] or "run"))


def _seats(given: Mapping[str, Any], base: Mapping[str, Any]) -> dict[str, Any]:
    seats = {seat: dict(fields) for seat, fields in base.items()}
    for seat in _SEATS:
        if given[seat]:
            seats.setdefault(seat, {})["spec"] = given[seat]
    of_doctor = {name: given[name] for name in _SAMPLING if given[name] is not None}
    if given["base_url"]:
        of_doctor["base_url"] = given["base_url"]
    if of_doctor:
        seats.setdefault("doctor", {"spec": "baseline"}).update(of_doctor)
    if given["patient_base_url"]:
        seats.setdefault("patient", {"spec": "record"})["base_url"] = given["patient_base_url"]
    for seat in filter(None, (name.strip() for name in (given["cache"] or "").split(","))):
        if seat not in seats and seat not in DEFAULT_SPECS:
            raise UsageError(f"--cache {given['cache']}: there is no seat {seat!r}")
        seats.setdefault(seat, {"spec": DEFAULT_SPECS.get(seat, "")})["cache"] = True
    return seats


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise UsageError(f"--set {text}: write NAME=VALUE")
        pairs[name.replace("-", "_")] = value
    return pairs
