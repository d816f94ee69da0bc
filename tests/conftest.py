"""Fixtures that every test may use."""

from pathlib import Path

import pytest
from shell import Shell


@pytest.fixture(scope="session")
def shared() -> Path:
    """The data folder beside the project; tests that use it are marked `shared` and skipped where it is absent."""
    folder = Path(__file__).resolve().parent.parent.parent / "shared"
    if not (folder / "data").is_dir():
        pytest.skip("no ../shared/data beside this checkout")
    return folder


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str]) -> Shell:
    """Runs the command line in this process."""
    return Shell(capsys)
