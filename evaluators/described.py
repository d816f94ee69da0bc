"""A run's header as lines for people."""

from collections.abc import Iterator, Mapping

import msgspec

from wardround.engine.records import Json

_APART = ("scenario", "seats", "prompts", "cases", "tables", "settings", "skipped", "limits")

_LIMITS: Mapping[str, str] = {
    "actions": "{} actions",
    "calls": "{} calls",
    "tokens": "{} tokens",
    "cost": "${}",
    "wall": "{} seconds",
    "act": "{} seconds of its own for one act",
    "act_calls": "{} calls in one act",
}
"""The limits of an episode, in words."""
_NOTHING: tuple[Json, ...] = (None, "", [], {})
"""What is not worth a line."""


def described(header: Mapping[str, Json], scoring: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(field, value) pairs: scenario, seats, cases, then whatever else the header says, then how it was scored."""
    return [*_scenario(header), *_seats(header), *_cases(header), *_rest(header), *_flat(scoring)]


def _scenario(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    scenario = _mapping(header, "scenario")
    if scenario:
        settings = [f"{name}={_text(value)}" for name, value in _mapping(scenario, "settings").items()]
        yield "scenario", _text(scenario.get("name", ""))
        if settings:
            yield "its settings", ", ".join(settings)


def _seats(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for seat, part in _mapping(header, "seats").items():
        if not isinstance(part, Mapping):
            yield seat, _text(part)
            continue
        words = [_text(part.get("spec", ""))]
        if part.get("model"):
            words.append(f"model {part['model']}" + (f" at {part['host']}" if part.get("host") else ""))
        words += [
            f"{name} {_text(v)}" for group in ("sampling", "options") for name, v in _mapping(part, group).items()
        ]
        if part.get("told"):
            words.append(f"told {_text(part['told'])}")
        yield seat, ", ".join(words)


def _cases(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    cases = _mapping(header, "cases")
    if cases:
        restricted = f", {cases['restricted']} of them restricted" if cases.get("restricted") else ""
        yield "cases", f"{_text(cases.get('count', '?'))} from {_text(cases.get('from', '?'))}{restricted}"


def _rest(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    limits = {name: value for name, value in _mapping(header, "limits").items() if value is not None}
    if limits:
        said = (_LIMITS.get(name, f"{name} {{}}").format(_number(value)) for name, value in limits.items())
        yield "limits of an episode", ", ".join(said)
    yield from _flat({name: value for name, value in header.items() if name not in _APART})


def prompts(header: Mapping[str, Json]) -> list[tuple[str, str]]:
    """(name, digest) of each prompt."""
    return [(name, _text(digest)) for name, digest in _mapping(header, "prompts").items()]


def _flat(fields: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            inside = [f"{inner} {_text(v)}" for inner, v in value.items() if v not in _NOTHING]
            if inside:
                yield name, ", ".join(inside)
        elif value not in _NOTHING:
            yield name, _text(value)


def _mapping(fields: Mapping[str, Json], name: str) -> Mapping[str, Json]:
    value = fields.get(name)
    return value if isinstance(value, Mapping) else {}


def _number(value: Json) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else _text(value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
