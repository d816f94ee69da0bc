"""Files in TOML that are bundled by name and that a user may write too: personas and teams."""

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import suggestion, toml_file


@cache
def bundled_names(folder: str) -> tuple[str, ...]:
    """The names of the files in a folder of the agents' data.

    Example: `bundled_names("teams")` begins with the first team of this package.
    """
    paths = (files("wardround.agents") / "data" / folder).iterdir()
    return tuple(sorted(path.name.removesuffix(".toml") for path in paths if path.name.endswith(".toml")))


def read_toml(place: str, folder: str, noun: str, where: str) -> dict[str, Json]:
    """The fields of a bundled file by its name, or of a user's file; `name` is that of the file unless it is a field.

    Raises UsageError that begins with `where`, or that names the bundled ones if there is no such `noun`.
    """
    names = bundled_names(folder)
    if place in names:
        fields = tomllib.loads(
            (files("wardround.agents") / "data" / folder / f"{place}.toml").read_text(encoding="utf-8")
        )
    elif place.endswith(".toml"):
        fields = toml_file(Path(place), where.removesuffix(place).strip())
    else:
        raise UsageError(f"there is no {noun} {place!r}{suggestion(place, names)}; or name a file that ends in .toml")
    return {"name": Path(place).stem, **fields}
