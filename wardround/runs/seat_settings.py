"""The settings of a seat: its agent, the models that the agent may call, and how each model is asked."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator

from wardround.engine.models.hosts import redact_address
from wardround.engine.records import Json

SHORT_SPECS = {"local": "local/smollm2"}
"""SPECs of models that have a short name."""
WholeSpec = Annotated[str, AfterValidator(lambda spec: SHORT_SPECS.get(spec, spec))]
"""A SPEC, with the whole one in place of a short name."""
LEFT_OUT = "none"
"""The value by which a setting is left out of every call, even where the scenario's paper has a value for it."""
_Out = Literal["none"]
_OURS = ("messages", "model", "stream", "n")


def is_model(spec: str) -> bool:
    """Whether a SPEC has the form provider/model."""
    return "/" in spec.split(":", maxsplit=1)[0]


class StrictSettings(BaseModel):
    """Settings that know all their fields and do not change."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class ModelSettings(StrictSettings):
    """How a model is reached and asked.

    `base_url` may name several endpoints that serve the same model, separated by commas. `key_env` is the environment
    variable of the key. A setting that is unset is not sent, unless the scenario's paper has a value for it; `none`
    leaves it out in any case. The fields of `extra_body` are sent with every request as they are.
    """

    base_url: str = ""
    key_env: str = ""
    temperature: Annotated[float, Field(ge=0)] | _Out | None = None
    top_p: Annotated[float, Field(gt=0, le=1)] | _Out | None = None
    max_tokens: Annotated[int, Field(gt=0)] | _Out | None = None
    reasoning_effort: str | None = None
    seed: int | _Out | None = None
    stop: str | list[str] | None = None
    extra_body: dict[str, Json] = Field(default_factory=dict)

    @field_validator("extra_body")
    @classmethod
    def _not_ours(cls, value: dict[str, Json]) -> dict[str, Json]:
        for name in value:
            if name in _OURS:
                raise ValueError(f"{name!r} is set by each call and cannot be in extra_body")
            if name in SAMPLING:
                raise ValueError(f"{name!r} is a setting of its own, not one of extra_body")
        return value

    def sampling(self) -> dict[str, Json]:
        """The parameters that are sent with every call; those that are unset or `none` are left out."""
        named = {name: value for name, value in self if name in SAMPLING and value not in (None, LEFT_OUT)}
        return {**named, **self.extra_body}


SAMPLING = ("temperature", "top_p", "max_tokens", "reasoning_effort", "seed", "stop")
"""The parameters of a call that have a setting of their own."""


class NamedModel(ModelSettings):
    """One of the models of an agent that has several; `spec` is `provider/model`."""

    spec: WholeSpec


class SeatSettings(ModelSettings):
    """The agent of a seat, its models and how they are asked.

    `spec` is `name`, `provider/model`, `package.module:Class`, `replies:PATH[#MODEL]` or `recorded:RUN`. `model` is the
    model of an agent that is not a model itself, `models` maps names to several models, each a SPEC or a table with
    settings of its own; what a table leaves out comes from the seat.
    """

    spec: WholeSpec
    model: WholeSpec = ""
    models: dict[str, str | NamedModel] = Field(default_factory=dict)
    cache: bool = Field(default=False, description="Answer repeated calls from the store.")
    options: dict[str, Json] = Field(default_factory=dict, description="Handed to the agent as they are.")

    @model_validator(mode="after")
    def _check_names(self) -> Self:
        for name in self.models:
            if not name.isidentifier():
                raise ValueError(f"the model's name {name!r} must be a word of letters, digits and underscores")
        return self

    def each_model(self) -> dict[str, NamedModel]:
        """The settings of the agent's models by name; the name of `model` is ""."""
        own = {name: value for name, value in self if name in ModelSettings.model_fields}
        asked = {"": self.model} if self.model else {}
        made = {}
        for name, model in {**asked, **self.models}.items():
            if isinstance(model, str):
                made[name] = NamedModel(spec=model, **own)
            else:
                made[name] = NamedModel(**{**own, **model.model_dump(exclude_unset=True)})
        return made


def seat_without_secrets(fields: Mapping[str, Json]) -> dict[str, Json]:
    """The fields of SeatSettings without the secrets in the addresses."""
    clean = dict(fields)
    if clean.get("base_url"):
        clean["base_url"] = redact_address(clean["base_url"])
    if clean.get("models"):
        clean["models"] = {
            name: seat_without_secrets(model) if isinstance(model, Mapping) else model
            for name, model in clean["models"].items()
        }
    return clean
