"""What docker/ says, read the way Docker reads it: instructions of a Dockerfile, and what .dockerignore keeps out."""

import re
import shlex
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCKER = ROOT / "docker"


def tool(name: str) -> str:
    """The program `name` of this environment; the test is skipped where its wheel could not be installed."""
    found = shutil.which(name, path=str(Path(sys.executable).parent)) or shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed: no wheel of it for this machine")
    return found


@dataclass(frozen=True)
class Step:
    """An instruction: its word, and the rest of the line with its continuations."""

    word: str
    rest: str

    @property
    def parts(self) -> list[str]:
        """The rest without its options (--from=build)."""
        return [part for part in shlex.split(self.rest) if not part.startswith("--")]


def steps(dockerfile: Path) -> list[Step]:
    """The instructions, in order; comments and empty lines left out."""
    lines = [line for line in dockerfile.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    split = [line.strip().split(None, 1) for line in joined.splitlines() if line.strip()]
    return [Step(words[0].upper(), words[1] if len(words) > 1 else "") for words in split]


class Ignored:
    """A .dockerignore: the last line that matches a path or one of its folders decides."""

    def __init__(self, file: Path) -> None:
        lines = [line.strip() for line in file.read_text(encoding="utf-8").splitlines()]
        self._rules = [
            (_pattern(line.removeprefix("!").strip("/")), not line.startswith("!"))
            for line in lines
            if line and not line.startswith("#")
        ]

    def __contains__(self, path: str) -> bool:
        parts = path.split("/")
        above = ["/".join(parts[:count]) for count in range(1, len(parts) + 1)]
        out = False
        for pattern, excludes in self._rules:
            if any(pattern.fullmatch(name) for name in above):
                out = excludes
        return out


def _pattern(glob: str) -> re.Pattern[str]:
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    pieces = re.split(r"(\*\*/|\*\*|\*|\?)", glob)
    return re.compile("".join(tokens.get(piece, re.escape(piece)) for piece in pieces))


def copied(source: Path, target: Path, ignored: Ignored) -> None:
    """What COPY makes of a file or folder of the project: links stay links, what is ignored is not there."""
    name = source.relative_to(ROOT).as_posix()
    if source.is_dir() and not source.is_symlink():
        for inner in sorted(source.iterdir()):
            copied(inner, target / inner.name, ignored)
    elif name not in ignored:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
