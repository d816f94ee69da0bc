"""The options of `run` for the agent of each seat, its models, and the settings of these models."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

import click

from wardround.cli.options import CommandT, Options, positive, with_options
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.runs.plan import DEFAULT_SPECS
from wardround.runs.seat_settings import LEFT_OUT

SEATS = ("doctor", "patient", "examiner")
_SHORT = ("base_url", "temperature", "top_p", "max_tokens", "options")
"""Settings of the doctor that can be written without `doctor-`."""


class OrNone(click.ParamType[Json]):
    """A value of another type, or `none`, which leaves the parameter out of every call."""

    def __init__(self, inner: click.ParamType[Json]) -> None:
        self.inner, self.name = inner, inner.name

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> Json:
        """`none`, or the value of the other type."""
        return value if value == LEFT_OUT else self.inner.convert(value, param, ctx)


class JsonObject(click.ParamType[dict[str, Json]]):
    """A JSON object."""

    name = "json"

    def convert(self, value: Json, param: click.Parameter | None, ctx: click.Context | None) -> dict[str, Json]:
        """The object."""
        try:
            read = json.loads(value)
        except ValueError as error:
            self.fail(f"{value!r} is not JSON ({error}); write an object, such as '{{\"k\": 3}}'", param, ctx)
        if not isinstance(read, dict):
            self.fail(f"{value!r} is not a JSON object; write for instance '{{\"k\": 3}}'", param, ctx)
        return read


_FIELDS: dict[str, tuple[dict[str, Json], str]] = {
    "model": (
        {"multiple": True, "metavar": "[NAME=]SPEC"},
        "provider/model for an agent that is not a model itself; several as NAME=provider/model.",
    ),
    "options": ({"type": JsonObject(), "metavar": "JSON"}, "Options of the agent, as a JSON object."),
    "base_url": ({"metavar": "URL"}, "OpenAI-compatible endpoint of the model; several, with commas, are a fleet."),
    "key_env": ({"metavar": "NAME"}, "Environment variable of the key; default: the provider's."),
    "temperature": ({"type": OrNone(click.FloatRange(min=0))}, "Sampling; default: the paper's. none: not sent."),
    "top_p": ({"type": OrNone(click.FloatRange(0, 1, min_open=True))}, "Sampling; none: not sent."),
    "max_tokens": ({"type": OrNone(positive)}, "Longest reply; none: not sent."),
    "reasoning_effort": ({"metavar": "WORD"}, "Such as low, medium, high; none: not sent."),
    "seed": ({"type": OrNone(click.INT)}, "Sampling seed that is sent to the model; none: not sent."),
    "stop": ({"multiple": True, "metavar": "TEXT"}, "A text at which the reply ends; may be repeated."),
    "extra_body": ({"type": JsonObject(), "metavar": "JSON"}, "More fields of each request, as a JSON object."),
}
"""The settings of a seat, each with the arguments of its option and its help text."""


def param(seat: str, field: str) -> str:
    """The name of the parameter of a seat's setting."""
    return f"{seat}_{field}"


def _option(seat: str, field: str) -> Callable[[CommandT], CommandT]:
    """The option for a setting of a seat."""
    more, said = _FIELDS[field]
    words = field.replace("_", "-")
    short = [f"--{words}"] if seat == "doctor" and field in _SHORT else []
    return click.option(f"--{seat}-{words}", *short, param(seat, field), help=said, **more)


seat_options = with_options(*(_option(seat, field) for seat in SEATS for field in _FIELDS))
"""The options of all seats."""


_JUDGE = ("key_env", "top_p", "max_tokens", "reasoning_effort", "seed", "stop", "extra_body")


_MANNERS = (
    ("persona", "patient", "persona", "NAME|FILE", "How the patient speaks: a name, or a TOML file of your own."),
    ("persona_strength", "patient", "strength", "0-3", "How strongly; default 2."),
    ("patient_bias", "patient", "bias", "NAME", "A bias of a patient that a model plays."),
    ("doctor_bias", "doctor", "bias", "NAME", "A bias of a doctor that a model plays."),
)
"""Options of the run that are options of a seat: parameter, seat, the seat's option, what to write, the help."""
MANNERS = tuple(name for name, *_ in _MANNERS)


manner_options = with_options(
    *(
        click.option(
            f"--{name.replace('_', '-')}",
            name,
            type=click.IntRange(0, 3) if metavar == "0-3" else click.STRING,
            metavar=metavar,
            help=said,
        )
        for name, _, _, metavar, said in _MANNERS
    )
)
"""The options of personas and biases."""


def _with_manners(options: Options, seats: dict[str, dict[str, Json]]) -> None:
    for name, seat, field, _, _ in _MANNERS:
        if options.get(name) is not None:
            chosen = seats.setdefault(seat, {"spec": DEFAULT_SPECS[seat]})
            chosen["options"] = {**chosen.get("options", {}), field: options[name]}


judge_settings_options = with_options(*(_option("judge", field) for field in _JUDGE))
"""The options of `score` for the settings that all judges share."""


def judge_settings(options: Options) -> dict[str, Json]:
    """The settings of the judges that were written."""
    return _options_written("judge", _JUDGE, options)


def _options_written(seat: str, fields: Iterable[str], options: Options) -> dict[str, Json]:
    every = {field: options[param(seat, field)] for field in fields}
    written = {field: value for field, value in every.items() if value not in (None, ())}
    if "stop" in written:
        written["stop"] = LEFT_OUT if written["stop"] == (LEFT_OUT,) else list(written["stop"])
    return written


def params(seat: str) -> list[str]:
    """The names of the parameters of a seat's settings."""
    return [param(seat, field) for field in _FIELDS]


def seat_fields(options: Options, base: Mapping[str, Json]) -> dict[str, Json]:
    """The settings of the seats: those on the command line above those of the run file."""
    seats = {seat: dict(fields) for seat, fields in base.items()}
    for seat in SEATS:
        fields = _options_written(seat, _FIELDS, options)
        if "model" in fields:
            fields.update(models_of(seat, fields.pop("model")))
        if options[seat]:
            seats.setdefault(seat, {})["spec"] = options[seat]
        if fields:
            seats.setdefault(seat, {"spec": DEFAULT_SPECS[seat]}).update(fields)
    _with_manners(options, seats)
    return seats


def models_of(seat: str, texts: Sequence[str]) -> dict[str, Json]:
    """A seat's `model` and `models` from texts `[NAME=]provider/model`; raises UsageError if two have one name."""
    models: dict[str, str] = {}
    for text in texts:
        head, equals, tail = text.partition("=")
        name, spec = (head.strip(), tail.strip()) if equals and "/" not in head else ("", text.strip())
        if name in models:
            which = f"two are called {name!r}" if name else "two have no name"
            raise UsageError(
                f"--{seat}-model {text}: {which}; write --{seat}-model NAME=provider/model with a name for each"
            )
        models[name] = spec
    return {"model": models.pop("", ""), "models": models}
