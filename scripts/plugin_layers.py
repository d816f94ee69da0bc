"""A contract of import-linter whose layers include the modules of plug-ins, so that a new plug-in needs no line.

In a layer, `*GROUP` stands for the modules directly in the contract's container that an entry point of GROUP in
pyproject.toml names and that no layer lists. In all else it is a contract of the type `layers`: if it is exhaustive, it
refuses a module that is neither listed nor a plug-in's, and a plug-in may import lower layers only.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from importlinter.contracts.layers import LayersContract

Groups = Mapping[str, Mapping[str, str]]
"""The entry points of a project, as `package.module:Class` by group and name."""


def expand(layers: Sequence[str], container: str, groups: Groups) -> list[str]:
    """Return the layers with the modules of plug-ins in place of `*GROUP`, without layers that are empty then.

    Example: `expand(["*games", "case"], "shop", {"games": {"chess": "shop.chess:Chess"}})` is `["chess", "case"]`.
    """
    listed = {name.strip(" ()") for layer in layers for name in re.split(r"[|:]", layer)}
    expanded = []
    for layer in layers:
        separator = ":" if ":" in layer else "|"
        names: list[str] = []
        for name in (part.strip() for part in layer.split(separator)):
            if not name.startswith("*"):
                names.append(name)
                continue
            modules = (target.partition(":")[0] for target in groups.get(name[1:], {}).values())
            tails = (module.removeprefix(f"{container}.") for module in modules if module.startswith(f"{container}."))
            names += sorted({tail for tail in tails if "." not in tail} - listed)
        if names:
            expanded.append(f" {separator} ".join(names))
    return expanded


class PluginLayers(LayersContract):
    """Layers of one container, with `*GROUP` for the modules of plug-ins."""

    type_name = "plugin_layers"

    def __init__(self, name: str, session_options: dict[str, Any], contract_options: dict[str, Any]) -> None:
        groups: Groups = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
        (container,) = contract_options["containers"]
        layers = expand(contract_options["layers"], container, groups)
        super().__init__(name, session_options, {**contract_options, "layers": layers})
