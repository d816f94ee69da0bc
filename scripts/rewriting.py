"""One Python file as it reads after the move: its imports, the names that they bind, and the paths in its text."""

import ast
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from scripts.scopes import Imported, Names, Scope


class Edit(NamedTuple):
    """Characters `start` to `end` of a file, and what stands there afterwards."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Moves:
    """Where each module goes and what each of its names is called there; modules as `wardround.engine.log`."""

    modules: Mapping[str, str]  # every module of the project, those that stay too
    names: Mapping[tuple[str, str], str]  # (old module, name) -> its new name, where it has one
    sources: Mapping[tuple[str, str], tuple[str, str]]  # a name that a module imports -> module and name it is from

    def origin(self, module: str, name: str) -> tuple[str, str]:
        """The old module that defines a name, and its name there."""
        while (module, name) in self.sources:
            module, name = self.sources[module, name]
        return module, name

    def named(self, module: str, name: str) -> str:
        """What a name of an old module is called after the move."""
        return self.names.get((module, name), name)


@dataclass(frozen=True)
class Binding:
    """What an import binds: a name, or a module (`attribute_of`) whose attributes are used."""

    local: str  # the new local name; empty for a module that is merged into this file
    attribute_of: str = ""


@dataclass
class Rewriting:
    """Applies moves to one file."""

    module: str  # the file's own old module; empty for a file that is no module of the product
    text: str
    moves: Moves
    in_text: Callable[[str], Iterator[Edit]]  # edits of module and file paths within strings and comments
    taken: frozenset[str] = frozenset()  # names that the other members of the new module bind
    trouble: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = Names(ast.parse(self.text))
        self.home = self.moves.modules.get(self.module, self.module) if self.module else ""
        self.edits: list[Edit] = []
        self.bound: dict[tuple[Scope, str], Binding] = {}
        self.chosen: dict[tuple[Scope, str], str] = {}  # new local name -> what it stands for
        self._starts = [0]
        for line in self.text.splitlines(keepends=True):
            self._starts.append(self._starts[-1] + len(line))
        self._lines = [line.encode() for line in self.text.splitlines(keepends=True)]

    def run(self) -> str:
        """The file's text after the move."""
        for node, scope in self.names.imports:
            self._import(node, scope)
        self._uses()
        self._definitions()
        spans = sorted(self.edits)
        for edit in self.in_text(self.text):
            if self._in_strings(edit) and not any(edit.start < end and start < edit.end for start, end, _ in spans):
                self.edits.append(edit)
        return applied(self.text, self.edits)

    def _at(self, line: int, column: int) -> int:
        return self._starts[line - 1] + len(self._lines[line - 1][:column].decode())

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end = self._at(node.end_lineno or node.lineno, node.end_col_offset or node.col_offset)
        return self._at(node.lineno, node.col_offset), end

    def _in_strings(self, edit: Edit) -> bool:
        if not hasattr(self, "_strings"):
            kinds = (tokenize.STRING, tokenize.COMMENT)
            found = [t for t in tokenize.generate_tokens(io.StringIO(self.text).readline) if t.type in kinds]
            self._strings = [
                (self._starts[t.start[0] - 1] + t.start[1], self._starts[t.end[0] - 1] + t.end[1]) for t in found
            ]
        return any(start <= edit.start and edit.end <= end for start, end in self._strings)

    # Imports

    def _import(self, node: Imported, scope: Scope) -> None:
        if isinstance(node, ast.Import):
            return
        kept: dict[str, list[str]] = {}
        changed = False
        for alias in node.names:
            module, what, binding = self._target(node.module or "", alias, scope)
            local = alias.asname or alias.name
            if binding is not None:
                stands = self.chosen.setdefault((scope, binding.local), f"{module}.{what}")
                if binding.local and stands != f"{module}.{what}":
                    binding = Binding(local, binding.attribute_of)
                self.bound[scope, local] = binding
            if module == self.home and module:
                changed = True
                continue
            new = binding.local if binding else local
            kept.setdefault(module, []).append(what if new == what else f"{what} as {new}")
            changed |= (module, what, new) != (node.module, alias.name, local)
        if not changed:
            return
        start, end = self._span(node)
        indent = " " * node.col_offset
        text = f"\n{indent}".join(f"from {module} import {', '.join(names)}" for module, names in kept.items())
        if not text and scope.kind == "module":  # the line goes, with a comment that stood behind it
            end = self._starts[node.end_lineno or node.lineno]
        self.edits.append(Edit(start, end, text or ("" if scope.kind == "module" else "pass")))

    def _target(self, module: str, alias: ast.alias, scope: Scope) -> tuple[str, str, Binding | None]:
        """Where an imported name is after the move, what it is called there, and what it binds here."""
        local = alias.asname or alias.name
        whole = f"{module}.{alias.name}"
        if whole in self.moves.modules:
            new = self.moves.modules[whole]
            if new == self.home:
                return new, "", Binding("", whole)
            package, _, name = new.rpartition(".")
            wished = name if alias.asname is None else local
            return package, name, Binding(self._free(wished, local, scope), whole)
        if module in self.moves.modules:
            old, original = self.moves.origin(module, alias.name)
            new, name = self.moves.modules[old], self.moves.named(old, original)
            if new == self.home:
                return new, "", Binding(name)
            wished = name if alias.asname is None else local
            forced = self.moves.names.get((self.module, local)) if scope.kind == "module" else None
            return new, name, Binding(forced or self._free(wished, local, scope))
        forced = self.moves.names.get((self.module, local)) if scope.kind == "module" else None
        return module, alias.name, Binding(forced) if forced else None

    def _free(self, wished: str, before: str, scope: Scope) -> str:
        """The wished local name, or the one before where the wished one means something else where it is used."""
        if wished == before:
            return wished
        if wished in scope.names or (scope.kind == "module" and wished in self.taken) or scope.kind == "function":
            return before
        return before if self._hidden(wished, before, scope) else wished

    def _hidden(self, wished: str, before: str, scope: Scope) -> bool:
        for node, used in self.names.uses:
            if node.id == before and used.owner(before) is scope:
                for inner in used.chain():
                    if inner is scope:
                        break
                    if wished in inner.names:
                        return True
        return False

    # Uses and definitions

    def _uses(self) -> None:
        for node, scope in self.names.uses:
            owner = scope.owner(node.id)
            if owner is None:
                continue
            binding = self.bound.get((owner, node.id))
            if binding is None and owner is self.names.module:
                new = self.moves.named(self.module, node.id)
                binding = Binding(new) if new != node.id else None
            if binding is None:
                continue
            if binding.attribute_of:
                self._attribute(node, scope, binding)
            elif binding.local != node.id:
                self._renamed(node, binding.local, scope)

    def _attribute(self, node: ast.Name, scope: Scope, binding: Binding) -> None:
        attribute = self.names.attribute_of.get(node)
        if attribute is None:
            if not binding.local:
                self.trouble.append(f"{self.module}:{node.lineno}: {node.id} is used as an object within its own file")
            elif binding.local != node.id:
                self._renamed(node, binding.local, scope)
            return
        old, original = self.moves.origin(binding.attribute_of, attribute.attr)
        new = self.moves.named(old, original)
        whole = f"{binding.local}.{new}" if binding.local else new
        if whole != f"{node.id}.{attribute.attr}":
            self._shadows(node, whole.partition(".")[0], scope)
            self._replace(attribute, f"{node.id}.{attribute.attr}", whole)

    def _renamed(self, node: ast.Name, new: str, scope: Scope) -> None:
        self._shadows(node, new, scope)
        self._replace(node, node.id, new)

    def _shadows(self, node: ast.Name, new: str, scope: Scope) -> None:
        for inner in scope.chain():
            if inner is not self.names.module and new in inner.names:
                self.trouble.append(f"{self.module or '?'}:{node.lineno}: {node.id} becomes {new}, which is bound here")

    def _replace(self, node: ast.expr, old: str, new: str) -> None:
        """Replace a node, whose place within an f-string Python 3.11 does not always know."""
        start, end = self._span(node)
        if self.text[start:end] == old:
            self.edits.append(Edit(start, end, new))
            return
        pattern = re.compile(rf"(?<![\w.]){re.escape(old)}(?!\w)")
        line = self._starts[node.lineno - 1]
        near = [m.span() for m in pattern.finditer(self.text, line, self._starts[node.end_lineno or node.lineno])]
        known = {(edit.start, edit.end) for edit in self.edits}
        for place in near:
            if place not in known:
                self.edits.append(Edit(*place, new))
                return
        if not near:
            self.trouble.append(f"{self.module or '?'}:{node.lineno}: {old} was not found")

    def _definitions(self) -> None:
        for node, scope in self.names.definitions:
            new = self.moves.named(self.module, node.name)
            if scope is self.names.module and new != node.name:
                start = self._at(node.lineno, node.col_offset)
                found = re.compile(rf"\b{node.name}\b").search(self.text, start)
                assert found is not None
                self.edits.append(Edit(*found.span(), new))
        for declared, _ in self.names.declared:
            for name in declared.names:
                if self.moves.named(self.module, name) != name:
                    self.trouble.append(f"{self.module}:{declared.lineno}: a renamed name is declared global")


def applied(text: str, edits: list[Edit]) -> str:
    """A text after its edits, none of which overlap."""
    parts, at = [], 0
    for start, end, new in sorted(set(edits)):
        assert start >= at, f"two edits at {text[start : start + 60]!r}"
        parts += [text[at:start], new]
        at = end
    return "".join([*parts, text[at:]])
