"""What a command waits for when it starts: libraries that only compute are not imported before they compute."""

import subprocess
import sys

import pytest

HEAVY = ("duckdb", "jinja2", "litellm", "matplotlib", "networkx", "numpy", "openai", "ray", "scipy")


@pytest.mark.parametrize("verb", ["run", "score", "report", "show", "status", "runs"])
def test_a_verb_starts_without_what_only_computes(verb: str) -> None:
    imported = _imported(f"from wardround.cli import app\napp(['{verb}', '--help'], standalone_mode=False)")
    assert [name for name in HEAVY if name in imported] == []


def test_help_waits_for_no_verb() -> None:
    imported = _imported("from wardround.cli import app\napp(['--help'], standalone_mode=False)")
    assert [name for name in (*HEAVY, "asyncio", "pydantic", "rich", "structlog") if name in imported] == []


def _imported(code: str) -> set[str]:
    """The packages that a fresh process has imported after `code`."""
    code += "\nimport sys; print('IMPORTED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.rpartition("IMPORTED")[2].split())
