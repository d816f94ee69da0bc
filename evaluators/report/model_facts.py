"""Facts about models: family, backbone, size, whether open, medical or thinking; unstated facts stay unknown."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.text import file_text

BUNDLED = Path(__file__).resolve().parent / "data" / "models.toml"


class ModelFacts(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is known of a model; None, or "" in a text, is unknown.

    ::

        [[model]]
        name = "Med42-70B"
        ids = ["m42-health/med42-70b"]
        family = "Llama"
        backbone = "Llama2-70B"
        parameters = 70
        open = true
        medical = true

    `ids` are other names under which an endpoint serves it. `parameters` are billions, `tokens` the trillions that it
    was trained on. `backbone` is the model that it
    was trained from, `plain` its sibling without thinking; both are names of this list. `release` and `cut_off` are
    years with months where known, such as "2024-04".
    """

    name: str
    ids: tuple[str, ...] = ()
    family: str = ""
    backbone: str = ""
    plain: str = ""
    parameters: float | None = None
    tokens: float | None = None
    open: bool | None = None
    medical: bool | None = None
    thinking: bool | None = None
    release: str = ""
    cut_off: str = ""


class _File(msgspec.Struct, forbid_unknown_fields=True):
    model: list[ModelFacts] = []


class KnownModels:
    """The bundled facts, with those of a user's file over them."""

    def __init__(self, facts: Mapping[str, ModelFacts]) -> None:
        self.by_name = facts
        self._by_id: dict[str, ModelFacts] = {}
        for one in facts.values():
            for name in (one.name, *one.ids):
                self._by_id[plain_id(name)] = one

    def find(self, *names: str) -> ModelFacts | None:
        """The facts of the model that one of these names means; None if there are none."""
        for name in names:
            if facts := self._by_id.get(plain_id(name)):
                return facts
        return None


_DATE = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{8})$")
_TAILS = ("-instruct", "-chat", "-hf", "-it", "-preview", "-latest")


def plain_id(name: str) -> str:
    """A model's id in lower case, without provider, date and mark of a served form: `org/X-70B-Chat` is `x-70b`."""
    plain = _DATE.sub("", name.strip().casefold().rsplit("/", 1)[-1].replace("_", "-").replace(" ", "-"))
    cut = True
    while cut:
        cut = False
        for tail in _TAILS:
            if plain.endswith(tail):
                plain, cut = plain.removesuffix(tail), True
    return plain


@cache
def _bundled() -> Mapping[str, ModelFacts]:
    return _read(BUNDLED)


def known_models(path: Path | None = None) -> KnownModels:
    """The bundled facts; a model of the file at `path` replaces the bundled one of its name or is added.

    Raises UsageError for a file that cannot be read, and for one with an unknown or a wrong field.
    """
    return KnownModels({**_bundled(), **(_read(path) if path else {})})


def _read(path: Path) -> Mapping[str, ModelFacts]:
    try:
        models = msgspec.convert(tomllib.loads(file_text(path)), _File).model
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: is not TOML ({error})") from None
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{path}: {error}; each [[model]] has a name and what is known of it (docs/levels.md)"
        ) from None
    names = [one.name for one in models]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise UsageError(f"{path}: has two models called {twice[0]!r}")
    return {one.name: one for one in models}
