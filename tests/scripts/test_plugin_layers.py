"""The import contract whose layers take in the modules of plug-ins."""

import subprocess
import sys
from pathlib import Path

import pytest

from scripts.plugin_layers import expand

ROOT = Path(__file__).resolve().parents[2]
GROUPS = {"games": {"chess": "shop.chess:Chess", "go": "shop.go:Go", "deep": "shop.more.deep:Deep", "x": "other.x:X"}}
SETTINGS = """\
[project]
name = "shop"
[project.entry-points.games]
chess = "shop.chess:Chess"
[tool.importlinter]
root_packages = ["shop"]
contract_types = ["plugin_layers: scripts.plugin_layers.PluginLayers"]
[[tool.importlinter.contracts]]
name = "shop"
type = "plugin_layers"
containers = ["shop"]
exhaustive = true
layers = ["*games", "case"]
"""


def test_a_group_stands_for_the_modules_of_its_plug_ins_in_the_container() -> None:
    assert expand(["*games", "case"], "shop", GROUPS) == ["chess | go", "case"]


def test_a_module_that_a_layer_lists_stays_there() -> None:
    assert expand(["*games : top", "go"], "shop", GROUPS) == ["chess : top", "go"]


def test_a_layer_without_modules_is_dropped() -> None:
    assert expand(["*none", "case"], "shop", GROUPS) == ["case"]


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "kept"),
    [
        ({"chess": "import shop.case", "case": ""}, True),
        ({"chess": "", "case": "import shop.chess"}, False),
        ({"chess": "", "case": "", "stray": ""}, False),
    ],
    ids=["a plug-in above", "a plug-in imported from below", "a module that is no plug-in"],
)
def test_the_contract_judges_plug_ins_as_it_judges_listed_modules(
    tmp_path: Path, files: dict[str, str], kept: bool
) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "scripts").symlink_to(ROOT / "scripts")
    for name, text in {"__init__": "", **files}.items():
        (tmp_path / "shop" / f"{name}.py").write_text(text)
    (tmp_path / "pyproject.toml").write_text(SETTINGS)
    command = [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=240, check=False)
    assert ("1 kept, 0 broken" in done.stdout) == kept, done.stdout + done.stderr
