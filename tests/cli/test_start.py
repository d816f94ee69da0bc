"""What a command waits for when it starts: libraries that only compute are not imported before they compute."""

import subprocess
import sys

HEAVY = (
    *("duckdb", "httpcore", "jinja2", "litellm", "matplotlib", "networkx", "numpy", "openai", "ray", "scipy"),
    "structlog",
)


VERBS = ("run", "score", "report", "show", "status", "runs")


def test_a_verb_starts_without_what_only_computes() -> None:
    """All verbs start in one process; what is imported by then stands beside each."""
    code = f"""
import sys
from wardround.cli import app
for verb in {VERBS!r}:
    app([verb, "--help"], standalone_mode=False)
    print("BY THEN", verb, *sorted({{name.partition(".")[0] for name in sys.modules}} & set({HEAVY!r})))
"""
    lines = [line.split()[2:] for line in _printed(code).splitlines() if line.startswith("BY THEN")]
    assert lines == [[verb] for verb in VERBS]


def test_help_waits_for_no_verb() -> None:
    imported = _imported("from wardround.cli import app\napp(['--help'], standalone_mode=False)")
    assert [name for name in (*HEAVY, "asyncio", "pydantic", "rich") if name in imported] == []


def _imported(code: str) -> set[str]:
    """The packages that a fresh process has imported after `code`."""
    code += "\nimport sys; print('IMPORTED', *sorted({name.partition('.')[0] for name in sys.modules}))"
    return set(_printed(code).rpartition("IMPORTED")[2].split())


def _printed(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
