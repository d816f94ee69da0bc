"""Measure the house: its modules, their sizes, who imports whom, and what the house rules count.

    python -m scripts.measure_house [--root DIR] [--json]

`DIR` is a tree of this project, by default the one of this script; `git archive COMMIT | tar x -C DIR` writes that of
an older commit. Only the syntax is read; nothing of the tree is imported.
"""

import argparse
import ast
import io
import json
import re
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from statistics import median

PACKAGES = ("engine", "scenarios", "agents", "evaluators", "wardround")
"""The folders of the product; all but the last are linked into `wardround/`."""
KIN = ("told", "found", "held", "given")
"""Verbs that the house rules keep out of names."""
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One file of the product: its dotted name, its text and its syntax tree."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All nodes of the syntax tree."""
        return list(ast.walk(self.tree))

    @property
    def functions(self) -> Iterator[_Function]:
        """The functions and methods of the file."""
        return (node for node in self.nodes if isinstance(node, _Function))

    @property
    def lines(self) -> int:
        """The number of lines of the file."""
        return self.text.count("\n")

    @property
    def package(self) -> bool:
        """Whether the file is that of a package."""
        return self.path.name == "__init__.py"


@dataclass(frozen=True)
class Measured:
    """The figures of a tree; each mapping counts by name."""

    modules: int
    lines: int
    median_lines: float
    longest_module: tuple[str, int]
    longest_function: tuple[str, int]
    one_importer_modules: int
    one_importer_under_80_lines: int
    statements: int
    module_names_twice: Mapping[str, int]
    class_names_twice: Mapping[str, int]
    function_names_twice: Mapping[str, int]
    getattr_calls: int
    any_names: int
    dict_of_any: int
    own_imports_in_functions: int
    kin_in_names: Mapping[str, int]
    kin_in_sentences: Mapping[str, int]
    kin_in_strings: Mapping[str, int]


def modules(root: Path) -> list[Module]:
    """Return the product's files under `root`; links are not followed, so that each file comes once."""
    files = []
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*.py")):
            if any(parent.is_symlink() for parent in path.parents if root in parent.parents):
                continue
            parts = path.relative_to(root).with_suffix("").parts
            dotted = ".".join(("wardround", *parts) if package != "wardround" else parts).removesuffix(".__init__")
            text = path.read_text(encoding="utf-8")
            files.append(Module(dotted, path, text, ast.parse(text)))
    return files


def imported(module: Module, names: frozenset[str]) -> set[str]:
    """Return the modules among `names` that a module imports, wherever in its text."""
    targets = set()
    for node in module.nodes:
        if isinstance(node, ast.Import):
            targets |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            targets |= inner & names
            if not inner <= names:
                targets.add(node.module)
    return (targets & names) - {module.name}


def statements(module: Module) -> int:
    """Count the statements of a file without imports and docstrings."""
    return sum(
        isinstance(node, ast.stmt) and not isinstance(node, ast.Import | ast.ImportFrom) and not _is_text(node)
        for node in module.nodes
    )


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _own_imports(module: Module) -> int:
    """Count the imports of the project's own modules inside functions, each once."""
    inside = {
        node
        for function in module.functions
        for node in ast.walk(function)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    return sum(
        (node.module or "").startswith("wardround")
        if isinstance(node, ast.ImportFrom)
        else any(alias.name.startswith("wardround") for alias in node.names)
        for node in inside
    )


def _calls(module: Module, name: str) -> int:
    return sum(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name for node in module.nodes
    )


def _dicts_of_any(module: Module) -> int:
    return sum(
        isinstance(node, ast.Subscript) and ast.unparse(node) in ("dict[str, Any]", "Mapping[str, Any]")
        for node in module.nodes
    )


def _any_names(module: Module) -> int:
    return sum(isinstance(node, ast.Name) and node.id == "Any" for node in module.nodes)


def _twice(names: Iterator[str]) -> dict[str, int]:
    return {name: count for name, count in Counter(sorted(names)).most_common() if count > 1}


def _defined(files: Sequence[Module], kind: type | tuple[type, ...]) -> Iterator[str]:
    """Yield the public names that files define at their top level."""
    for module in files:
        for node in module.tree.body:
            if isinstance(node, kind) and not (name := str(vars(node)["name"])).startswith("_"):
                yield name


def kin_words(module: Module) -> Counter[tuple[str, str]]:
    """Count each word of `KIN` in the names, the sentences and the other strings of a file."""
    docstrings = {node.lineno for node in module.nodes if isinstance(node, ast.stmt) and _is_text(node)}
    counts: Counter[tuple[str, str]] = Counter()
    for token in tokenize.generate_tokens(io.StringIO(module.text).readline):
        if token.type == tokenize.NAME:
            place = "name"
        else:
            sentence = token.type == tokenize.COMMENT or token.start[0] in docstrings
            place = "sentence" if sentence else "string"
        for word in re.findall(rf"(?<![a-z])({'|'.join(KIN)})(?![a-z])", token.string):
            counts[word, place] += 1
    return counts


def measure(root: Path) -> Measured:
    """Return the figures of the tree at `root`."""
    files = modules(root)
    names = frozenset(module.name for module in files)
    importers = Counter(target for module in files for target in imported(module, names))
    once = [module for module in files if importers[module.name] == 1 and not module.package]
    functions = [
        (f"{module.name}:{function.name}", (function.end_lineno or function.lineno) - function.lineno + 1)
        for module in files
        for function in module.functions
    ]
    plain = [module for module in files if not module.package]
    words = [kin_words(module) for module in files]
    return Measured(
        modules=len(files),
        lines=sum(module.lines for module in files),
        median_lines=median(module.lines for module in files),
        longest_module=max(((module.name, module.lines) for module in files), key=lambda one: one[1]),
        longest_function=max(functions, key=lambda one: one[1]),
        one_importer_modules=len(once),
        one_importer_under_80_lines=sum(module.lines < 80 for module in once),
        statements=sum(statements(module) for module in files),
        module_names_twice=_twice(module.name.rpartition(".")[2] for module in plain),
        class_names_twice=_twice(_defined(files, ast.ClassDef)),
        function_names_twice=_twice(_defined(files, (ast.FunctionDef, ast.AsyncFunctionDef))),
        getattr_calls=sum(_calls(module, "getattr") for module in files),
        any_names=sum(_any_names(module) for module in files),
        dict_of_any=sum(_dicts_of_any(module) for module in files),
        own_imports_in_functions=sum(_own_imports(module) for module in files),
        kin_in_names={word: sum(one[word, "name"] for one in words) for word in KIN},
        kin_in_sentences={word: sum(one[word, "sentence"] for one in words) for word in KIN},
        kin_in_strings={word: sum(one[word, "string"] for one in words) for word in KIN},
    )


def _kin() -> str:
    return ", ".join(f"`{word}`" for word in KIN)


def _counts(words: Mapping[str, int]) -> str:
    return f"{', '.join(map(str, words.values()))}; together {sum(words.values())}"


def table(measured: Measured) -> str:
    """Return the figures as a table in Markdown."""
    rows = [
        ("modules", f"{measured.modules}"),
        ("lines", f"{measured.lines:,}"),
        ("lines of a module, median", f"{measured.median_lines:g}"),
        ("longest module", f"{measured.longest_module[1]} ({measured.longest_module[0]})"),
        ("longest function", f"{measured.longest_function[1]} ({measured.longest_function[0]})"),
        (
            "modules with one importer; of these under 80 lines",
            f"{measured.one_importer_modules}; {measured.one_importer_under_80_lines}",
        ),
        ("statements, without imports and docstrings", f"{measured.statements:,}"),
        ("names of modules used twice or more", f"{len(measured.module_names_twice)}"),
        ("names of public classes used twice or more", f"{len(measured.class_names_twice)}"),
        ("names of public functions used twice or more", f"{len(measured.function_names_twice)}"),
        ("calls of `getattr`", f"{measured.getattr_calls}"),
        ("`Any`; `dict[str, Any]` and `Mapping[str, Any]`", f"{measured.any_names}; {measured.dict_of_any}"),
        ("own imports inside functions", f"{measured.own_imports_in_functions}"),
        (f"{_kin()} in names", _counts(measured.kin_in_names)),
        (f"{_kin()} in docstrings and comments", _counts(measured.kin_in_sentences)),
        (f"{_kin()} in strings: patterns, keys, messages", _counts(measured.kin_in_strings)),
    ]
    width = [max(len(row[column]) for row in rows) for column in (0, 1)]
    lines = [f"| {left:<{width[0]}} | {right:<{width[1]}} |" for left, right in (("figure", "value"), *rows)]
    head, *body = lines
    return "\n".join([head, f"|{'-' * (width[0] + 2)}|{'-' * (width[1] + 2)}|", *body])


def main(arguments: Sequence[str]) -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description="Measure the house.")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    measured = measure(options.root.resolve())
    print(json.dumps(asdict(measured), indent=2) if options.json else table(measured))


if __name__ == "__main__":
    main(sys.argv[1:])
