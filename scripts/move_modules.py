"""Move and merge modules by a table: `python -m scripts.move_modules TABLE.csv [--check]`.

Each row gives an old file, its new file, names that change (`old=new old=new`, for names that would meet in one file)
and the docstring of the new file; a file without a row stays. Rows of one new file are merged, what is imported first.
`--check` says what stands in the way: names that meet, circles, files over 450 lines. Imports, attributes of imported
modules, and paths in strings, comments, docs and settings follow; tests follow their modules. Import contracts and
`MOVED` in engine/plugins.py, for classes that stored headers name, are for the author of the move.

`scripts/house.csv` says where each module of the tree before the rooms lives now.
"""

import ast
import csv
import json
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

from scripts.follow import Tests
from scripts.merging import merged
from scripts.rewriting import Edit, Moves, Rewriting, applied

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("engine", "scenarios", "agents", "evaluators", "wardround", "conformance")
LONGEST, WIDTH = 450, 120
OWN = ("scripts/house.csv",)
"""Files that name old places on purpose."""
TEXTS = (".md", ".toml", ".yaml", ".yml", ".sh", ".j2", "Makefile", "Dockerfile", "run")


def module_of(path: str) -> str:
    """The module that a file is: `engine/log.py` -> `wardround.engine.log`."""
    name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return name if name.split(".")[0] in ("wardround", "conformance") else f"wardround.{name}"


@dataclass(frozen=True)
class Row:
    """One old file and where it goes."""

    old: str
    new: str
    names: Mapping[str, str]
    doc: str


def table(path: Path) -> list[Row]:
    """The rows of a table."""
    with path.open(encoding="utf-8", newline="") as file:
        return [
            Row(
                row["old"],
                row["new"],
                dict(pair.split("=") for pair in (row["names"] or "").split()),
                row["doc"] or "",
            )
            for row in csv.DictReader(file)
        ]


def tracked() -> list[str]:
    """The files of the project, without links and the stores kept for tests."""
    listed = git("ls-files").splitlines()
    return [path for path in listed if not (ROOT / path).is_symlink() and not path.startswith("tests/data/")]


class Plan:
    """What a table moves, and the files that name what it moves."""

    def __init__(self, rows: list[Row]) -> None:
        self.files = tracked()
        product = {path for path in self.files if path.endswith(".py") and path.split("/")[0] in PACKAGES}
        self.rows = [row for row in rows if row.old in product or not row.old]
        self.trouble = [f"{row.old}: is no module of the project" for row in rows if row not in self.rows]
        self.files_of = {path: path for path in product} | {row.old: row.new for row in self.rows if row.old}
        self.text = {path: (ROOT / path).read_text(encoding="utf-8") for path in self.files if path.endswith(".py")}
        self.trees = {path: ast.parse(text) for path, text in self.text.items()}
        self.path_of = {module_of(path): path for path in product}
        self.moves = self._moves()

    def _moves(self) -> Moves:
        modules = {module_of(old): module_of(new) for old, new in self.files_of.items() if new}
        names = {(module_of(row.old), old): new for row in self.rows for old, new in row.names.items()}
        sources = {
            (module_of(path), alias.asname or alias.name): (node.module or "", alias.name)
            for path in self.files_of
            for node in self.trees[path].body
            if isinstance(node, ast.ImportFrom) and node.module in modules
            for alias in node.names
            if f"{node.module}.{alias.name}" not in modules
        }
        return Moves(modules, names, sources)

    @cached_property
    def members(self) -> dict[str, list[str]]:
        """The old files of each new file, what is imported first."""
        groups: dict[str, list[str]] = defaultdict(list)
        order = {row.old: place for place, row in enumerate(self.rows)}
        for old in sorted(self.files_of, key=lambda path: order.get(path, len(order))):
            if self.files_of[old]:
                groups[self.files_of[old]].append(old)
        for new, olds in groups.items():
            needs = {old: [need for need in self.imports(old) if need in olds] for old in olds}
            sorter = TopologicalSorter({old: needs[old] for old in olds})
            groups[new] = list(sorter.static_order()) if len(olds) > 1 else olds
        return groups

    def imports(self, path: str, typing: bool = False) -> list[str]:
        """The product's files that a file imports when it is loaded."""
        found = []
        for node in ast.walk(self.trees[path]) if typing else self.trees[path].body:
            if isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    found.append(self.path_of.get(module) or self.path_of.get(node.module or ""))
        return [path for path in dict.fromkeys(found) if path is not None]

    def circles(self) -> Iterator[str]:
        """Circles of new files; each is named once."""
        needs: dict[str, set[str]] = defaultdict(set)
        for old, new in self.files_of.items():
            if new:
                needs[new] |= {self.files_of[need] for need in self.imports(old)} - {new}
        while True:
            try:
                TopologicalSorter(needs).prepare()
                return
            except CycleError as error:
                circle = error.args[1]
                yield " -> ".join(circle)
                for first, second in pairwise(circle):
                    needs[first].discard(second)
                    needs[second].discard(first)

    def path_edits(self, path: str) -> Callable[[str], Iterator[Edit]]:
        """Finds module and file paths in the text of a file; short ones too, such as `judging/fence.py`."""
        files = {old: new for old, new in self.files_of.items() if new and new != old} | self.tests.homes

        def follow(named: str) -> str:
            if named in files or (path.startswith("tests/") and "/" not in named):
                return files.get(named, named)
            meant = [old for old in {*files, *self.files_of} if old.endswith(f"/{named}")]
            near = [old for old in meant if old.rpartition("/")[0] == path.rpartition("/")[0]] or [
                old for old in meant if old.partition("/")[0] == path.partition("/")[0]
            ]
            found = near if len(near) == 1 else meant
            new = files.get(found[0], found[0]) if len(found) == 1 else named
            return "/".join(new.split("/")[-1 - named.count("/") :])

        def edits(text: str) -> Iterator[Edit]:
            for match in re.finditer(r"(?<![\w.])wardround(?:\.\w+)+", text):
                yield Edit(*match.span(), self._dotted(match[0]))
            for match in re.finditer(r"(?<![\w/.])(?:wardround/(?=\w+/))?(\w+(?:/\w+)*\.py)\b", text):
                whole = follow(match[0])
                yield Edit(*match.span(), whole) if whole != match[0] else Edit(*match.span(1), follow(match[1]))

        return lambda text: (edit for edit in edits(text) if text[edit.start : edit.end] != edit.text)

    def _dotted(self, path: str) -> str:
        parts = path.split(".")
        for size in range(len(parts), 1, -1):
            module = ".".join(parts[:size])
            if module in self.moves.modules:
                rest = parts[size:]
                if rest:
                    rest[0] = self.moves.named(module, rest[0])
                return ".".join([self.moves.modules[module], *rest])
        return path

    def rewritten(self) -> dict[str, str]:
        """The text of each new file of the product."""
        found: dict[str, str] = {}
        docs = {row.new: row.doc for row in reversed(self.rows) if row.doc}
        for new, olds in self.members.items():
            texts = []
            for old in olds:
                others = frozenset(name for other in olds if other != old for name in self.defined(other))
                rewriting = Rewriting(module_of(old), self.text[old], self.moves, self.path_edits(old), others)
                texts.append(rewriting.run())
                self.trouble += rewriting.trouble
            found[new], trouble = merged(texts, docs.get(new, "")) if len(texts) > 1 or new in docs else (texts[0], [])
            self.trouble += [f"{new}: {what} [{' '.join(olds)}]" for what in trouble]
            if found[new].count("\n") > LONGEST:
                self.trouble.append(f"{new}: {found[new].count(chr(10))} lines")
        for row in self.rows:
            if not row.old:
                found[row.new] = f'"""{row.doc}"""\n'
        return found

    def defined(self, path: str) -> set[str]:
        """The names that a file defines."""
        return {
            name.id
            for node in self.trees[path].body
            for name in ast.walk(node)
            if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(name, ast.Name)
        } | {node.name for node in self.trees[path].body if isinstance(node, ast.FunctionDef | ast.ClassDef)}

    @cached_property
    def tests(self) -> Tests:
        return Tests(self.files, {path: self.text.get(path, "") for path in self.files}, self.files_of)

    def outside(self) -> dict[str, str]:
        """The text of each other file: tests, benchmarks, docs, settings."""
        found: dict[str, str] = {}
        homes = self.tests.homes | self.data()
        for path in self.files:
            if path in self.files_of or path in OWN:
                continue
            new = homes.get(path, path)
            if path.endswith(".py"):
                rewriting = Rewriting("", self.text[path], self.moves, self.path_edits(path))
                found[new] = self.tests.deeper(path, rewriting.run())
                self.trouble += [f"{path} {what}" for what in rewriting.trouble]
            elif path.endswith(TEXTS) and path != "CHANGELOG.md":
                text = (ROOT / path).read_text(encoding="utf-8")
                edits = self.path_edits(path)(text)
                found[new] = applied(text, list(edits))
        return found

    def data(self) -> dict[str, str]:
        """Other files that go with their package or their test: old path -> new path."""
        folders = {
            old.removesuffix("/__init__.py"): new.removesuffix("/__init__.py")
            for old, new in self.files_of.items()
            if old.endswith("/__init__.py") and new and old != new
        }
        found = {path: new for path, new in self.tests.homes.items() if not path.endswith(".py")}
        for path in self.files:
            if not path.endswith(".py") and path not in found:
                for old, new in folders.items():
                    if path.startswith(f"{old}/"):
                        found[path] = new + path.removeprefix(old)
        return found

    def write(self) -> None:
        """Put every file in its new place."""
        texts = {**self.rewritten(), **self.outside()}
        for old, new in self.data().items():
            (ROOT / new).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / old).rename(ROOT / new)
        homes = self.tests.homes | self.data()
        for path in [*self.files_of, *homes]:
            if (ROOT / path).exists():
                (ROOT / path).unlink()
        for path in {*self.files_of, *homes}:
            for folder in (ROOT / path).parents:
                if folder.is_dir() and {one.name for one in folder.iterdir()} <= {"__pycache__"}:
                    shutil.rmtree(folder)
        for path, text in texts.items():
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(text, encoding="utf-8")


def git(*arguments: str) -> str:
    """What git prints."""
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def ruff(*arguments: str) -> str:
    """What ruff prints."""
    command = [str(Path(sys.executable).with_name("ruff")), *arguments, "."]
    return subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True).stdout


def tidy() -> None:
    """Order the imports, format what was written, and wrap comments and docstrings that longer paths made too long."""
    ruff("check", "-q", "--fix-only", "--select", "I,F401,F811,RUF022")
    ruff("format", "-q")
    while found := json.loads(ruff("check", "-q", "--select", "E501", "--output-format", "json")):
        places = {one["filename"]: one["location"]["row"] for one in found}  # the last of each file
        long = [(Path(path), row - 1) for path, row in places.items() if wrappable(Path(path), row - 1)]
        for path, row in long:
            wrap(path, row)
        if not long:
            return


def wrappable(path: Path, row: int) -> bool:
    """Whether a line is a comment of its own or within a string of several lines."""
    line = path.read_text(encoding="utf-8").split("\n")[row].lstrip()
    return line.startswith("#") or bool(re.match(r'(?:"""|)[\w`("][^=({]* ', line))


def wrap(path: Path, row: int) -> None:
    """Put what is beyond the line's end before the next line, or in a line of its own."""
    lines = path.read_text(encoding="utf-8").split("\n")
    line, following = lines[row], lines[row + 1]
    indent = line[: len(line) - len(line.lstrip())] + ("# " if line.lstrip().startswith("#") else "")
    cut = line.rfind(" ", 0, WIDTH + 1)
    lines[row], rest = line[:cut], line[cut + 1 :]
    if following.startswith(indent) and following[len(indent) :][:1].isalnum() and '"""' not in rest:
        lines[row + 1] = f"{indent}{rest} {following[len(indent) :]}"
    else:
        lines.insert(row + 1, indent + rest)
    path.write_text("\n".join(lines), encoding="utf-8")


def check(plan: Plan) -> list[str]:
    """What stands in the way of the move."""
    olds = [row.old for row in plan.rows if row.old]
    trouble = [f"{old}: has two rows" for old in sorted(set(olds)) if olds.count(old) > 1]
    if circles := list(plan.circles()):
        return [*trouble, *(f"circle: {circle}" for circle in circles)]
    plan.rewritten()
    plan.outside()
    return trouble + plan.trouble + plan.tests.trouble


def main(arguments: list[str]) -> int:
    rows = table(Path(arguments[0]))
    trouble = check(Plan(rows))
    print("\n".join(trouble), f"{len(trouble)} in the way", sep="\n")
    if trouble or "--check" in arguments:
        return int(bool(trouble))
    Plan(rows).write()
    tidy()
    git("add", "-A")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
