"""Several texts of modules as one: docstrings, imports, then the definitions in the order given."""

import ast
from dataclasses import dataclass, field


@dataclass
class Parts:
    """A module's text, taken apart."""

    doc: str = ""
    imports: list[str] = field(default_factory=list)
    typing: list[str] = field(default_factory=list)  # imports under TYPE_CHECKING
    body: str = ""
    trouble: list[str] = field(default_factory=list)  # names that are imported and defined
    bound: dict[str, str] = field(default_factory=dict)  # name -> what binds it, as text that can be compared


def merged(texts: list[str], doc: str) -> tuple[str, list[str]]:
    """The merged text, and what is wrong with it: names bound to different things."""
    seen: dict[str, str] = {}
    trouble, parts = [], []
    for text in texts:
        part = _parts(text, seen)
        trouble += part.trouble + [name for name, what in part.bound.items() if name in seen and seen[name] != what]
        seen |= part.bound
        parts.append(part)
    longer = [part.doc.strip() for part in parts if "\n" in part.doc.strip()]
    doc = "\n\n".join([doc, *longer] if doc else [part.doc.strip() for part in parts if part.doc])
    doc = doc.strip() + ("\n" if "\n" in doc.strip() else "")
    imports = list(dict.fromkeys(line for part in parts for line in part.imports))
    typing = [line for line in dict.fromkeys(line for part in parts for line in part.typing) if line not in imports]
    block = "".join(f"    {line}\n" for line in typing)
    head = f'"""{doc}"""\n\n' + "\n".join(imports) + (f"\n\nif TYPE_CHECKING:\n{block}" if typing else "") + "\n\n"
    return head + "\n\n".join(part.body.strip("\n") for part in parts) + "\n", [f"{name} meets" for name in trouble]


def _parts(text: str, seen: dict[str, str]) -> Parts:
    tree, lines = ast.parse(text), text.splitlines(keepends=True)
    part, gone = Parts(doc=ast.get_docstring(tree) or ""), set[int]()
    for place, node in enumerate(tree.body):
        first = min([node.lineno, *(one.lineno for one in getattr(node, "decorator_list", []))])
        span = range(first - 1, node.end_lineno or first)
        segment = "".join(lines[line] for line in span).rstrip("\n")
        if place == 0 and part.doc:
            gone.update(span)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            part.imports.append(segment)
            gone.update(span)
            _bind_imports(part, node)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            for inner in node.body:
                assert isinstance(inner, ast.Import | ast.ImportFrom), segment
                part.typing.append(ast.unparse(inner))
                _bind_imports(part, inner)
            gone.update(span)
        else:
            names = _defined(node)
            part.trouble += [name for name in names if part.bound.get(name, "").startswith("import ")]
            part.bound |= dict.fromkeys(names, ast.dump(node))
            if names and all(seen.get(name) == ast.dump(node) for name in names):  # two members define it word for word
                gone.update(span)
    part.body = "".join(line for number, line in enumerate(lines) if number not in gone)
    return part


def _bind_imports(part: Parts, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        local = alias.asname or alias.name.partition(".")[0]
        whole = f"{node.module}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
        source = whole if alias.asname or isinstance(node, ast.ImportFrom) else local
        part.bound[local] = f"import {source}"


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
