"""The examples in docstrings say what the code does."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
    for room in ("engine", "scenarios", "agents", "evaluators", "wardround")
    for path in sorted((ROOT / room).rglob("*.py"))
    if path.resolve() == path and ">>> " in path.read_text(encoding="utf-8")
]


def test_modules_have_examples() -> None:
    assert "engine.text" in EXAMPLES


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_of_a_module_hold(name: str) -> None:
    module = import_module(name if name.startswith("wardround.") else f"wardround.{name}")
    results = doctest.testmod(module)
    assert results.attempted
    assert not results.failed, "the printed lines above say which example"
