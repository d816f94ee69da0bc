"""Names of a Python file: in which scope each is bound and used, so that a renaming touches no other name."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

Imported = ast.Import | ast.ImportFrom
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Scope:
    """The names that a module, class, function or comprehension binds."""

    kind: str
    parent: "Scope | None" = None
    names: set[str] = field(default_factory=set)
    outer: set[str] = field(default_factory=set)  # declared `global` or `nonlocal`

    def chain(self) -> "Iterator[Scope]":
        """This scope and those around it in which Python looks a name up."""
        yield self
        scope = self.parent
        while scope is not None:
            if scope.kind != "class":
                yield scope
            scope = scope.parent

    def owner(self, name: str) -> "Scope | None":
        """The scope in which a name used here is bound; None for a builtin."""
        return next((scope for scope in self.chain() if name in scope.names and name not in scope.outer), None)


class Names(ast.NodeVisitor):
    """All scopes, uses of names, definitions and import statements of one tree."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = self.scope = Scope("module")
        self.uses: list[tuple[ast.Name, Scope]] = []
        self.definitions: list[tuple[Function | ast.ClassDef, Scope]] = []
        self.imports: list[tuple[Imported, Scope]] = []
        self.declared: list[tuple[ast.Global | ast.Nonlocal, Scope]] = []
        self.attribute_of: dict[ast.expr, ast.Attribute] = {}
        self.visit(tree)

    def _bind(self, name: str) -> None:
        self.scope.names.add(name)

    def _inside(self, kind: str, arguments: ast.arguments | None, *nodes: ast.AST) -> None:
        before, self.scope = self.scope, Scope(kind, self.scope)
        if arguments is not None:
            for argument in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]:
                self._bind(argument.arg)
            for several in (arguments.vararg, arguments.kwarg):
                if several is not None:
                    self._bind(several.arg)
        for node in nodes:
            self.visit(node)
        self.scope = before

    def visit_Name(self, node: ast.Name) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._bind(node.id)
        self.uses.append((node, self.scope))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self.attribute_of[node.value] = node
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def _function(self, node: Function) -> None:
        self._bind(node.name)
        self.definitions.append((node, self.scope))
        for outside in [*node.decorator_list, node.args, *([node.returns] if node.returns else [])]:
            self.visit(outside)
        self._inside("function", node.args, *node.body)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit(node.args)
        self._inside("function", node.args, node.body)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._bind(node.name)
        self.definitions.append((node, self.scope))
        for outside in [*node.decorator_list, *node.bases, *node.keywords]:
            self.visit(outside)
        self._inside("class", None, *node.body)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        self._comprehension(node)

    def visit_SetComp(self, node: ast.SetComp) -> None:
        self._comprehension(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._comprehension(node)

    def visit_DictComp(self, node: ast.DictComp) -> None:
        self._comprehension(node)

    def _comprehension(self, node: Comprehension) -> None:
        first, *others = node.generators
        self.visit(first.iter)
        made = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        self._inside("comprehension", None, first.target, *first.ifs, *others, *made)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        before = self.scope
        while self.scope.kind == "comprehension" and self.scope.parent is not None:
            self.scope = self.scope.parent
        self.visit(node.target)
        self.scope = before
        self.visit(node.value)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        if node.name:
            self._bind(node.name)
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        if node.name:
            self._bind(node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest:
            self._bind(node.rest)
        self.generic_visit(node)

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.outer.update(node.names)
        self.declared.append((node, self.scope))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        self.scope.outer.update(node.names)

    def visit_Import(self, node: ast.Import) -> None:
        self._imported(node)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self._imported(node)

    def _imported(self, node: Imported) -> None:
        self.imports.append((node, self.scope))
        for alias in node.names:
            self._bind(alias.asname or alias.name.partition(".")[0])
