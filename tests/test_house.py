"""The house rules that a machine can hold (CONTRIBUTING.md)."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CODE = ("engine", "scenarios", "agents", "evaluators", "wardround", "benchmarks", "conformance", "scripts")
OWN = ("wardround", "engine", "scenarios", "agents", "evaluators")
MEDICINE = [
    "admission",
    "clinic",
    "clinical",
    "clinician",
    "diagnose",
    "diagnosis",
    "disease",
    "doctor",
    "drug",
    "examiner",
    "hospital",
    "imaging",
    "lab",
    "laboratory",
    "medical",
    "medicine",
    "microbiology",
    "nurse",
    "patient",
    "physician",
    "radiology",
    "symptom",
    "therapy",
    "treatment",
    "ward",
]


def sources(*folders: str) -> list[Path]:
    """Python files of the project's own folders, each once (the links in wardround/ are not followed)."""
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents if parent != ROOT)
    )


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.parametrize("path", sources(*CODE, "tests"), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_is_short_and_opens_with_what_it_is_for(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text.count("\n") <= 450, "split it: a module is one noun of the field"
    assert ast.get_docstring(ast.parse(text)), "it opens with one sentence that says what it is for"


@pytest.mark.parametrize("path", sources(*CODE), ids=lambda path: str(path.relative_to(ROOT)))
def test_functions_are_short_and_take_few_parameters(path: Path) -> None:
    for function in functions(path):
        where = f"{path.relative_to(ROOT)}:{function.lineno} {function.name}"
        assert (function.end_lineno or 0) - function.lineno < 60, f"{where} is too long"
        taken = [a.arg for a in function.args.posonlyargs + function.args.args + function.args.kwonlyargs]
        assert len([name for name in taken if name not in ("self", "cls")]) <= 6, (
            f"{where} takes {len(taken)} parameters"
        )


@pytest.mark.parametrize("path", sources(*CODE), ids=lambda path: str(path.relative_to(ROOT)))
def test_own_packages_are_imported_at_the_top(path: Path) -> None:
    for function in functions(path):
        for node in ast.walk(function):
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [alias.name for alias in node.names]
                if isinstance(node, ast.Import)
                else []
            )
            for name in names:
                assert name.split(".")[0] not in OWN, f"{path.name}:{node.lineno} imports {name} inside {function.name}"  # type: ignore[attr-defined]


def test_only_the_boundary_catches_everything() -> None:
    found = []
    for path in sources(*CODE):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
                caught = getattr(node.type, "id", None)
                if node.type is None or caught in ("Exception", "BaseException"):
                    found.append(f"{path.relative_to(ROOT)}:{node.lineno}")
    # The others run a user's code to tell what it raised: the check of an agent, the loopback server's replies, the
    # text of an exception.
    telling = ("agents/check.py", "engine/models/loopback.py", "engine/escape.py")
    assert [place for place in found if not place.startswith(telling)] == []


def test_no_word_of_medicine_in_the_engine() -> None:
    words = re.compile(rf"(?i)(?<![a-z])({'|'.join(MEDICINE)})s?(?![a-z])")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in sources("engine")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := words.search(line))
    ]
    assert found == []


def test_nothing_is_called_utils_and_nothing_names_this_machine() -> None:
    assert [str(path) for path in sources(*CODE, "tests") if path.stem in ("utils", "helpers", "misc", "common")] == []
    private = re.compile(r"/work/|/root/|/tmp/bash")
    texts = [path for pattern in ("*.py", "*.md", "*.toml", "Makefile") for path in ROOT.rglob(pattern)]
    own = [path for path in texts if ".venv" not in path.parts and path != Path(__file__) and path.is_file()]
    assert [str(path) for path in own if private.search(path.read_text(encoding="utf-8"))] == []
