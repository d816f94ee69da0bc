"""What the pages name is there: commands, options, modules, functions, files, links."""

import dataclasses
import importlib
import re
import shlex
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from wardround.cli import app
from wardround.engine.errors import UsageError

TOP = Path(__file__).resolve().parent.parent
PAGES = [TOP / "README.md", TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").rglob("*.md"))]
_BLOCK = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)
_SPAN = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
_FIELDS = {"truth", "history", "examination", "investigation", "case", "cases", "view", "seat", "reply", "question"} | {
    "score", "provenance", "category", "episode", "done", "model", "driven", "package", "time", "os", "loop",
    "datasets", "spacy",
}  # fmt: skip
"""First words of dotted names that are fields of a case, variables of an example, or packages of others."""
_ENTRY_POINTS = re.compile(
    r"wardround\.(engine|evaluators|scenarios|loaders|providers|judges|searches|stores|recordings|seats\.\w+)"
)
_OTHERS = ("docs/deploy.md", "docs/dependencies.md", "docs/faces.md")
"""Pages whose prose names options of other programs too: docker, slurm, vLLM, uv, eval."""
_FILES_OF_OTHERS = {
    "CONTRIBUTING.md": ("utils.py",),  # a name that no file may have
    "docs/cases.md": (
        "data/usmle_and_derm_dataset.csv", "data/dataset_final.tsv", "data/nejmai_dataset.csv", "images/strip.png",
        "tests/data/test_reference_bundle.json", "tests/resources/afhir.json",
    ),
    "docs/levels.md": ("medqa/MCQ.test.json",),
    "docs/performance.md": ("out/bench.json",),
    "docs/deploy.md": ("docker/keys.env", "docker/models/model.gguf"),
}  # fmt: skip
"""Files that stand in other repositories, or that the reader makes."""
_WORDS_OF_OTHERS = {"hl7.fhir.r4.examples", "search.formats", "a.example.org", "localhost.example.org"}
_PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b")


def _prose(page: Path) -> str:
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def _spans() -> Iterator[tuple[str, str]]:
    for page in PAGES:
        for text in _SPAN.findall(_prose(page)):
            yield page.relative_to(TOP).as_posix(), text


def _shown() -> Iterator[tuple[str, str]]:
    """Every command of wardround in a fenced block of shell, and those in backticks that give an option."""
    for page in PAGES:
        name = page.relative_to(TOP).as_posix()
        for _, kind, text in _BLOCK.findall(page.read_text(encoding="utf-8")):
            for line in text.replace("\\\n", " ").splitlines() if kind in ("sh", "console", "bash", "shell") else ():
                yield name, line.strip().removeprefix("$ ")
    for name, text in _spans():
        if text.startswith("wardround ") and " --" in text:
            yield name, re.sub(r"(--(?:cases|resume))$", r"\1 PATH", text)


def _commands() -> list[tuple[str, list[str]]]:
    found = []
    for page, line in _shown():
        words = shlex.split(line.replace("'wardround", "'"), comments=True) if "wardround " in line else []
        starts = [at for at, word in enumerate(words) if word == "wardround"]
        for at in starts[:1]:
            if words[at + 1 :][:1] == ["VERB"]:
                continue
            rest = words[at + 1 :]
            ends = [number for number, word in enumerate(rest) if word in ("|", "&&", ";", ">", "2>", "&", "||")]
            found.append((page, rest[: ends[0]] if ends else rest))
    return found


def _wrong(arguments: list[str]) -> str:
    """Why the command line would not accept these arguments; empty if it would."""
    command: click.Command = app
    context = click.Context(app, info_name="wardround")
    try:
        while isinstance(command, click.Group) and arguments:
            name, below, arguments = command.resolve_command(context, list(arguments))
            assert below is not None
            command, context = below, click.Context(below, parent=context, info_name=name)
        values, left, _ = command.make_parser(context).parse_args(list(arguments))
        if left:
            return f"too many arguments: {left}"
        for parameter in command.params:
            value = values.get(parameter.name or "")
            checked = isinstance(parameter.type, (click.Choice, click.IntRange, click.FloatRange))
            if checked and isinstance(value, str) and not value.isupper():
                parameter.type_cast_value(context, value)
    except click.UsageError as error:
        return error.format_message()
    return ""


@pytest.mark.long
def test_every_command_of_the_pages_is_accepted() -> None:
    commands = _commands()
    wrong = [f"{page}: wardround {shlex.join(words)}: {why}" for page, words in commands if (why := _wrong(words))]
    assert not wrong, "\n".join(wrong)
    assert len(commands) > 120


@cache
def _options() -> frozenset[str]:
    """Every option of every verb."""
    found = {"--help", "--version"}

    def walk(command: click.Command) -> None:
        for parameter in command.params:
            found.update(parameter.opts, parameter.secondary_opts)
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                below = command.get_command(context, name)
                assert below is not None
                walk(below)

    walk(app)
    return frozenset(found)


@cache
def _scripts() -> str:
    """The sources of the modules that a page starts by `python -m`."""
    return "".join(p.read_text(encoding="utf-8") for top in ("benchmarks", "scripts") for p in (TOP / top).glob("*.py"))


@pytest.mark.long
def test_every_option_in_the_prose_exists() -> None:
    wrong, count = [], 0
    for page, text in _spans():
        for option in re.findall(r"(?<![\w-])--[a-z][\w-]+", text) if page not in _OTHERS else ():
            count += 1
            begins = option.endswith("-") and any(one.startswith(option) for one in _options())  # `--max-episode-*`
            own = text.startswith(("python -m", "--")) and f'"{option}"' in _scripts()
            pip = "pip install" in text
            if option not in _options() and not begins and not own and not pip:
                wrong.append((page, text, option))
    assert not wrong, wrong
    assert count > 100


@cache
def _modules() -> dict[str, list[str]]:
    """The dotted modules by their last part."""
    inner = ("agents", "engine", "evaluators", "scenarios")
    found: dict[str, list[str]] = {}
    for top in (*inner, "wardround", "conformance", "benchmarks", "scripts"):
        for path in sorted((TOP / top).rglob("*.py")):
            whole = ".".join(path.relative_to(TOP).with_suffix("").parts).removesuffix(".__init__")
            found.setdefault(whole.rpartition(".")[2], []).append(f"wardround.{whole}" if top in inner else whole)
    return found


@cache
def _all_files() -> list[str]:
    tops = [p for p in sorted(TOP.iterdir()) if p.name[0] != "." and p.name not in ("out", "shared")]
    below = [one for top in tops if top.is_dir() for one in top.rglob("*")]
    return [p.relative_to(TOP).as_posix() for p in [*tops, *below]]


def _resolves(dotted: str) -> bool:
    """Whether a dotted name leads to a module, or through a module to an attribute of it."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        except UsageError:  # a face whose extra is not installed here; that its file is there is what can be told
            return True
        return _has(found, parts[cut:])
    return False


def _has(found: object, names: list[str]) -> bool:
    for at, name in enumerate(names):
        fields = {field.name for field in dataclasses.fields(found)} if dataclasses.is_dataclass(found) else set()
        fields |= set(getattr(found, "__annotations__", {}))
        if not hasattr(found, name):
            return name in fields and at == len(names) - 1
        found = getattr(found, name)
    return True


def _known(text: str) -> bool:
    name = text.partition("(")[0].replace(":", ".")
    if _ENTRY_POINTS.fullmatch(name):
        return True
    head, _, rest = name.partition(".")
    wholes = [name] if head == "wardround" else [f"{whole}.{rest}" for whole in _modules().get(head, ())]
    return head in _FIELDS or any(_resolves(whole) for whole in wholes)


_SUFFIXES = ("py", "csv", "md", "json", "jsonl", "toml", "txt", "gz", "npy", "tsv", "RRF", "env", "html", "db")


def test_every_dotted_name_of_the_pages_exists() -> None:
    named = [
        (page, text)
        for page, text in _spans()
        if re.fullmatch(r"[a-z_]\w*(\.\w+)+(:\w+)?(\(.*\))?", text)
        and text.rpartition(".")[2] not in _SUFFIXES
        and text not in _WORDS_OF_OTHERS
    ]
    wrong = sorted({pair for pair in named if not _known(pair[1])})
    assert not wrong, wrong
    assert len(named) > 40


def test_every_file_of_the_pages_exists() -> None:
    files = {"/" + name for name in _all_files()}
    wrong, count = [], 0
    for page, text in _spans():
        if not re.fullmatch(r"[\w.-]+\.py|[\w.-]+(/[\w.-]+)+(\.\w+|/)", text) or text[0] == ".":
            continue
        if _PLACEHOLDER.search(text) or text in _FILES_OF_OTHERS.get(page, ()):
            continue
        count += 1
        if not any(name.endswith("/" + text.rstrip("/")) for name in files):
            wrong.append((page, text))
    assert not wrong, wrong
    assert count > 60


def _anchors(page: Path) -> set[str]:
    found: set[str] = set()
    for line in _BLOCK.sub("", page.read_text(encoding="utf-8")).splitlines():
        if line.startswith("#"):
            words = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(words.replace(" ", "-"))
    return found


def test_every_link_of_the_pages_leads_somewhere() -> None:
    wrong = []
    for page in PAGES:
        for target in _LINK.findall(_prose(page)):
            path, _, anchor = target.partition("#")
            if ":" in path:
                continue
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in _anchors(file)):
                wrong.append((page.name, target))
    assert not wrong, wrong
