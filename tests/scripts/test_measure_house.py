"""What the measure of the house counts, on a small tree."""

import json
from pathlib import Path

import pytest

from scripts.measure_house import main, measure, modules, table

ROOT = Path(__file__).resolve().parents[2]
TOP = '''"""Top."""

from wardround.engine import low
from wardround.engine.deep.low import Thing

used = (low, Thing)
'''
LOW = '''"""Low."""

import os
from typing import Any


class Thing:
    """A thing that was told what it is told."""

    def told(self, held: dict[str, Any]) -> object:
        """What it is."""
        return getattr(self, "told", os.name)
'''
LATE = '''"""Late."""


def late() -> object:
    """Imports when it is called."""
    from wardround.engine.low import Thing

    return Thing
'''


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in (
        ("engine/__init__.py", '"""Engine."""\n'),
        ("engine/low.py", LOW),
        ("engine/deep/low.py", LOW),
        ("wardround/top.py", TOP),
        ("wardround/late.py", LATE),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "wardround" / "engine").symlink_to("../engine")
    return tmp_path


def test_what_is_counted(tree: Path) -> None:
    found = measure(tree)
    assert [module.name for module in modules(tree)] == [
        "wardround.engine",
        "wardround.engine.deep.low",
        "wardround.engine.low",
        "wardround.late",
        "wardround.top",
    ]
    assert (found.modules, found.one_importer_modules, found.own_imports_in_functions) == (5, 1, 1)
    assert found.statements == 2 * 3 + 2 + 1  # two classes with a method that returns, a function that returns, `used`
    assert (found.getattr_calls, found.any_names, found.dict_of_any) == (2, 2, 2)
    assert (found.module_names_twice, found.class_names_twice) == ({"low": 2}, {"Thing": 2})
    assert found.longest_function[1] == 5
    assert (found.kin_in_names["told"], found.kin_in_names["held"]) == (2, 2)
    assert (found.kin_in_sentences["told"], found.kin_in_strings["told"]) == (4, 2)


def test_table_and_json_show_the_same_house(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--root", str(tree), "--json"])
    shown = json.loads(capsys.readouterr().out)
    assert shown["statements"] == measure(tree).statements
    main(["--root", str(tree)])
    assert capsys.readouterr().out.strip() == table(measure(tree))


@pytest.mark.long
def test_it_counts_this_house() -> None:
    found = measure(ROOT)
    assert found.modules > 100
    assert found.longest_function[1] <= 60
    assert found.longest_module[1] <= 450
