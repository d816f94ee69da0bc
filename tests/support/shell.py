"""The command line as a test calls it: in this process, with its exit code."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from wardround.cli import main

Copied = Callable[[Callable[[Path], object]], Path]
"""The type of the fixture `copied`: it takes what fills a folder, and gives the test's folder, which holds a copy."""


class Shell:
    """Runs `wardround ...`; `out` and `err` are what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *arguments: object) -> int:
        """The exit code."""
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        self.out, self.err = self._capsys.readouterr()
        code = ended.value.code
        return code if isinstance(code, int) else 0

    def json(self, *arguments: object) -> Any:
        """What it printed with --json, if it exited with 0 or 3."""
        assert self(*arguments, "--json") in (0, 3), self.err
        return json.loads(self.out)
