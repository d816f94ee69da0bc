"""The settings of a run: the fields of a run file, presets below them, budgets as users write them, the prompts."""

import re
import tomllib
from collections.abc import Collection, Mapping, Sequence
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import tomli_w
from pydantic import BaseModel, Field, ValidationError, field_validator

from wardround.engine.budget import Budget, Caps
from wardround.engine.errors import UsageError
from wardround.engine.models.chat import SESSION_HEADER, checked_header
from wardround.engine.models.hosts import redact_address
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json
from wardround.engine.text import lone_surrogate, suggestion, toml_file
from wardround.runs.seat_settings import LEFT_OUT, SeatSettings, StrictSettings, is_model, seat_without_secrets

AT_ONCE = 10_000
"""Episodes that wait together for a batch."""


class LimitSettings(StrictSettings):
    """Caps of one episode; `cost` is in US dollars, `wall` and `act` are in seconds."""

    actions: Annotated[int, Field(gt=0)] | None = 1000
    calls: Annotated[int, Field(gt=0)] | None = None
    tokens: Annotated[int, Field(gt=0)] | None = None
    cost: Annotated[float, Field(gt=0)] | None = None
    wall: Annotated[float, Field(gt=0)] | None = None
    act: Annotated[float, Field(gt=0)] | None = Field(
        default=600.0, description="Seconds of one act outside of its model's calls."
    )
    act_calls: Annotated[int, Field(gt=0)] | None = Field(default=1000, description="Calls of its model in one act.")


class RunSettings(StrictSettings):
    """The settings of one run, as in a run file.

    `where` and `sample` choose among the cases. `prompts` is a folder and `prices` a file of the user. `allow_hosts`
    are the hosts that restricted cases may be sent to. With `preflight`, each model is tried by a cheap call before the
    run.
    """

    cases: str | tuple[str, ...] = Field(default="bundled", description="A file or folder of cases, or several.")
    scenario: str = "workup"
    set: dict[str, Json] = Field(default_factory=dict, description="The scenario's own settings.")
    seats: dict[str, SeatSettings] = Field(default_factory=dict)
    repeats: int | None = Field(default=None, gt=0, le=100_000, description="Default: the paper's, else 1.")
    seed: int = 0
    concurrency: int = Field(default=32, gt=0, le=100_000)
    limits: LimitSettings = LimitSettings()
    limit: int | None = Field(default=None, gt=0, description="At most so many cases.")
    where: tuple[str, ...] = ()
    sample: float | None = Field(default=None, gt=0, le=1)
    prompts: str = ""
    prices: str = ""
    budget: tuple[str, ...] = Field(default=(), description="Caps of the whole run, as in docs/cli.md: 50usd, 2h ...")
    quotas: tuple[str, ...] = Field(default=(), description="Limits of endpoints: [ADDRESS ]rpm=600,in_flight=64.")
    timeout: float | None = Field(default=None, gt=0, description="Seconds for one reply; default 900.")
    patience: float | None = Field(
        default=None, gt=0, description="Seconds without one answer until the run stops for its endpoint; default 180."
    )
    allow_hosts: tuple[str, ...] = ()
    common_answers: bool = Field(
        default=False, description="In all repeats of a case the other seats answer the same words alike."
    )
    allow_agents: tuple[str, ...] = Field(default=(), description="SPECs of own agents that may see restricted cases.")
    session_header: str = Field(
        default=SESSION_HEADER, description="Header that names a conversation to endpoints of your own; none: not sent."
    )
    batch: bool = Field(
        default=False, description="Ask models by OpenAI's batch interface: half the price, within a day."
    )
    preflight: bool = True
    name: str = ""

    @field_validator("session_header")
    @classmethod
    def _header(cls, name: str) -> str:
        return name if name == LEFT_OUT else checked_header(name)

    @property
    def at_once(self) -> int:
        """Episodes played at once; with `batch`, unless the user says otherwise, as many as one batch may answer."""
        return AT_ONCE if self.batch and "concurrency" not in self.model_fields_set else self.concurrency

    @property
    def places(self) -> tuple[str, ...]:
        """The files and folders of the cases."""
        return (self.cases,) if isinstance(self.cases, str) else self.cases


_PARTS: dict[int | str, type[BaseModel]] = {"seats": SeatSettings, "limits": LimitSettings}


def read_settings(path: Path) -> RunSettings:
    """Read a run file; raises UsageError with the file and the field if anything is wrong."""
    return validate_settings(toml_file(path, "--config"), str(path))


def validate_settings(fields: dict[str, Json], where: str, also: Sequence[str] = ()) -> RunSettings:
    """The settings from `fields`; `also` names other arguments, which are offered when a name is misspelt.

    Raises UsageError with `where` and each wrong field.
    """
    if (place := lone_surrogate(fields)) is not None:
        raise UsageError(
            f"{where}: {place} holds half of a surrogate pair, which is not a character; write it otherwise"
        )
    return checked_settings(RunSettings, fields, where, also)


SettingsT = TypeVar("SettingsT", bound=BaseModel)


def checked_settings(
    kind: type[SettingsT], fields: Mapping[str, Json], where: str, also: Sequence[str] = ()
) -> SettingsT:
    """Settings of a kind from `fields`; raises UsageError as `validate_settings` does, whose `also` it takes."""
    try:
        return kind.model_validate(fields)
    except ValidationError as error:
        raise UsageError(f"{where}: {_problems_of(error, kind, also)}") from error


def _problems_of(error: ValidationError, model: type[BaseModel], also: Sequence[str] = ()) -> str:
    """The errors of pydantic for the fields of `model`, as text; an unknown field gets a suggestion."""
    said = []
    for problem in error.errors():
        where = problem["loc"]
        message = problem["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
        if problem["type"] == "extra_forbidden":
            owner = model if len(where) == 1 else _PARTS.get(where[0], model)
            there = [*owner.model_fields, *(also if owner is model else ())]
            message = f"there is no such setting{suggestion(str(where[-1]), there)}"
        said.append(f"{'.'.join(map(str, where)) or 'value'}: {message}")
    return "; ".join(said)


def to_toml(settings: RunSettings) -> str:
    """The settings as the text of a run file, without defaults and without secrets in addresses."""
    return tomli_w.dumps(without_secrets(settings.model_dump(mode="json", exclude_defaults=True, exclude_none=True)))


def without_secrets(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of RunSettings without the secrets in the addresses of seats and quotas, to be stored or shown."""
    clean = dict(fields)
    if "seats" in clean:
        clean["seats"] = {seat: seat_without_secrets(config) for seat, config in clean["seats"].items()}
    if "quotas" in clean:
        clean["quotas"] = [redact_address(quota) for quota in clean["quotas"]]
    return clean


def header_without_secrets(header: Mapping[str, Json]) -> dict[str, Json]:
    """A run's header without secrets in addresses, which headers of earlier versions may hold."""
    return dict(header) if "settings" not in header else {**header, "settings": without_secrets(header["settings"])}


_AMOUNT = re.compile(r"\$?(?P<number>\d+(?:[_.]\d+)*)\s*(?P<power>[kM]?)\s*(?P<unit>[A-Za-z]*)")
_POWERS = {"": 1, "k": 1_000, "M": 1_000_000}
_UNITS = {
    "usd": ("cost", 1.0),
    "token": ("tokens", 1),
    "tokens": ("tokens", 1),
    "call": ("calls", 1),
    "calls": ("calls", 1),
    "s": ("wall", 1.0),
    "min": ("wall", 60.0),
    "h": ("wall", 3600.0),
}
_FORM = "write amounts such as 50usd, 2Mtokens, 10000calls, 30min or 3h"


def budget_of(texts: Sequence[str], seats: Collection[str], models: Collection[str]) -> Budget:
    """The budget from `texts`, each `[SEAT|MODEL=]AMOUNT[,AMOUNT ...]`, such as `50usd,2h` or `patient=2Mtokens`.

    Raises UsageError for an amount that cannot be read, an unknown seat or model, and a cap that is set twice.
    """
    scopes: dict[str, Caps] = {}
    models = [model for model in models if "/" in model]
    for text in texts:
        scope, equals, amounts = text.rpartition("=")
        scope = scope.strip()
        if equals and scope not in seats and scope not in models:
            known = ", ".join([*seats, *models])
            raise UsageError(f"budget {text!r}: {scope!r} is not a seat or model of this run; there are: {known}")
        for amount in amounts.split(","):
            name, value = _read_amount(amount.strip(), text)
            caps = scopes.get(scope, Caps())
            if msgspec.structs.asdict(caps)[name] is not None:
                raise UsageError(f"budget {text!r}: the cap on {name} is set twice")
            if name == "wall" and scope:
                raise UsageError(f"budget {text!r}: time is capped for the whole run only")
            scopes[scope] = msgspec.structs.replace(caps, **{name: value})
    run = scopes.pop("", Caps())
    return Budget(
        run,
        {scope: caps for scope, caps in scopes.items() if scope in seats},
        {scope: caps for scope, caps in scopes.items() if scope not in seats},
    )


def new_budget(texts: Sequence[str], specs: Mapping[str, str], prices: Sequence[Mapping[str, Json]]) -> Budget:
    """A new budget for an existing run with these seats (`specs`) and prices; raises UsageError as `budget_of`."""
    budget = budget_of(texts, specs, specs.values())
    check_priced(budget, specs, prices, "cap its calls or tokens, or begin a new run with --prices")
    return budget


def check_priced(
    budget: Budget, specs: Mapping[str, str], prices: Sequence[Mapping[str, Json]], to_do: str = "give --prices"
) -> dict[str, str]:
    """The seats of `specs` whose model has no price in `prices` (as in a run's header).

    Raises UsageError if the budget caps the cost of such a model, since that cap cannot be kept.
    """
    asked = {row["model"]: row["price"] for row in prices}
    unknown = {seat: spec for seat, spec in specs.items() if spec in asked and asked[spec] is None}
    for seat, spec in unknown.items():
        caps = (budget.run, budget.seats.get(seat, Caps()), budget.models.get(spec, Caps()))
        if any(cap.cost is not None for cap in caps):
            raise UsageError(no_price(seat, spec, to_do))
    return unknown


def no_price(seat: str, spec: str, to_do: str = "give --prices") -> str:
    """The message that the cost of a seat cannot be capped."""
    return f"no price is known for {seat} {spec!r}, so a cap on cost cannot be kept: {to_do}"


def _read_amount(amount: str, text: str) -> tuple[str, float | int]:
    match = _AMOUNT.fullmatch(amount)
    unit = ("usd" if amount.startswith("$") and not match["unit"] else match["unit"].lower()) if match else ""
    if not match or unit not in _UNITS or match["number"].count(".") > 1:
        raise UsageError(f"budget {text!r}: {amount!r} cannot be read; {_FORM}")
    name, one = _UNITS[unit]
    value = float(match["number"]) * _POWERS[match["power"]] * one
    if value <= 0:
        raise UsageError(f"budget {text!r}: {amount!r} leaves nothing to spend")
    return name, value if name in ("cost", "wall") else round(value)


_SENDERS = ("scenarios", "agents", "evaluators")


def load_prompts(override: str | Path | None = None) -> Prompts:
    """The prompts of scenarios, agents and judges; files in the folder `override` replace those at the same path.

    Raises UsageError if the folder holds no prompt.
    """
    if not override:
        return _packaged_prompts()
    own = Path(override)
    prompts = Prompts.load(_prompt_folders(), own)
    if not count_prompts(own):
        raise UsageError(
            f"--prompts {own}: holds no prompt; name the folder in which they lie as in the package, "
            f"for instance {own / 'workup' / 'start.md'}"
        )
    return prompts


@cache
def _packaged_prompts() -> Prompts:
    """The package's own prompts, read once: each plan, judge and scoring of a process asks for them."""
    return Prompts.load(_prompt_folders())


def _prompt_folders() -> list[Path]:
    return [Path(str(files(f"wardround.{sender}") / "prompts")) for sender in _SENDERS]


def count_prompts(override: Path) -> int:
    """Number of prompts in the user's folder."""
    return sum(1 for _ in override.rglob("*.md"))


_SAME, _MODEL = "same_model", "model"
_SHARED = ("base_url", "key_env")


@cache
def preset_names() -> tuple[str, ...]:
    """The names of all presets."""
    folder = files("wardround.runs") / "presets"
    return tuple(sorted(path.name.removesuffix(".toml") for path in folder.iterdir() if path.name.endswith(".toml")))


def _preset(name: str) -> dict[str, Json]:
    if name not in preset_names():
        raise UsageError(f"there is no preset {name!r}{suggestion(name, preset_names())}")
    return tomllib.loads((files("wardround.runs") / "presets" / f"{name}.toml").read_text(encoding="utf-8"))


def preset_settings(name: str) -> dict[str, Json]:
    """The fields of RunSettings that a preset sets; raises UsageError for an unknown name."""
    return {key: value for key, value in _preset(name).items() if key not in (_SAME, _MODEL)}


def preset_seats(name: str, seats: Mapping[str, Mapping[str, Json]], named: Sequence[str]) -> dict[str, Json]:
    """The seats of a run under a preset: the doctor's model plays the seats that the preset lists, if not `named`.

    Each seat with a model gets the preset's settings of a model that it does not set itself. If the doctor is not a
    model, all seats stay as they are.
    """
    preset, made = _preset(name), {seat: dict(fields) for seat, fields in seats.items()}
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
