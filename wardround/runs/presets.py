"""Presets: run files of this package, below the user's own run file and options.

settings_below("agentclinic")
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from wardround.engine.errors import UsageError
from wardround.engine.plugins import suggestion
from wardround.engine.records import Json
from wardround.runs.seat_models import is_model

_SAME, _MODEL = "same_model", "model"
_SHARED = ("base_url", "key_env")


@cache
def preset_names() -> tuple[str, ...]:
    """The names of all presets."""
    folder = files("wardround.runs") / "presets"
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def _read(name: str) -> dict[str, Json]:
    if name not in preset_names():
        raise UsageError(f"there is no preset {name!r}{suggestion(name, preset_names())}")
    return tomllib.loads((files("wardround.runs") / "presets" / f"{name}.toml").read_text(encoding="utf-8"))


def settings_below(name: str) -> dict[str, Json]:
    """The fields of RunSettings that a preset sets; raises UsageError for an unknown name."""
    return {key: value for key, value in _read(name).items() if key not in (_SAME, _MODEL)}


def seats_below(name: str, seats: Mapping[str, Mapping[str, Json]], named: Sequence[str]) -> dict[str, Json]:
    """The seats of the run with those that a preset lets the doctor's model play, unless they are `named`.

    A doctor that is no model leaves the other seats as they are.
    """
    preset, made = _read(name), {seat: dict(fields) for seat, fields in seats.items()}
    doctor = made.get("doctor", {})
    if not is_model(str(doctor.get("spec", ""))):
        return made
    shared = {field: doctor[field] for field in _SHARED if doctor.get(field)}
    for seat in preset.get(_SAME, ()):
        if seat not in named:
            made[seat] = {**shared, **made.get(seat, {}), "spec": doctor["spec"]}
    for fields in made.values():
        if is_model(str(fields["spec"])):
            fields.update({key: value for key, value in preset.get(_MODEL, {}).items() if key not in fields})
    return made
