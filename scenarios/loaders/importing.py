"""Reads a file of any known format into the project's own, and names what was recognised."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.plugins import load_plugin, plugin_names
from wardround.engine.records import Json
from wardround.engine.stores.files import output
from wardround.engine.text import count_noun
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.census import NamedTruth, truths_shown
from wardround.scenarios.loaders.load import LOADERS, MOST_ODDITIES, case_line, recognise, scan
from wardround.scenarios.loaders.source import Loader, Problem
from wardround.scenarios.loaders.table import Tables, read_map

AUTO = "auto"


class Imported(msgspec.Struct, frozen=True):
    """What an import read: the format by name and title, cases, questions, and what could not be read.

    `columns` are those that `--map` named, by field. `warnings` are oddities of the cases; `leaks` are the places where
    their texts name the diagnosis.
    """

    path: str
    format: str
    title: str
    cases: int
    questions: int
    problems: tuple[Problem, ...]
    out: str = ""
    columns: Mapping[str, str] = msgspec.field(default_factory=dict)
    warnings: tuple[Problem, ...] = ()
    leaks: tuple[NamedTruth, ...] = ()

    def json(self) -> Json:
        """The account as JSON."""
        return {
            "path": self.path,
            "format": self.format,
            "title": self.title,
            "cases": self.cases,
            "questions": self.questions,
            "problems": [str(problem) for problem in self.problems],
            "out": self.out,
            "columns": dict(self.columns),
            "warnings": [str(warning) for warning in self.warnings],
            "leaks": [str(leak) for leak in self.leaks],
        }

    def text(self) -> str:
        """The account in words."""
        said = [f"{self.path}: recognised as {self.format} ({self.title})"]
        if self.columns:
            said.append("columns: " + ", ".join(f"{column} as {name}" for name, column in self.columns.items()))
        said.append(f"{count_noun(self.cases, 'case')}, {count_noun(len(self.problems), 'problem')}")
        if self.questions:
            left = " left out, since the file has patients" if self.cases else ": play them with --scenario questions"
            said.append(f"{count_noun(self.questions, 'question')}{left}")
        said += [f"  {problem}" for problem in (*self.problems, *self.warnings[:MOST_ODDITIES])]
        if self.leaks:
            many = count_noun(len({leak.case for leak in self.leaks}), "case")
            said.append(
                f"what the doctor may read names the diagnosis in {many}, first in {self.leaks[0]} (--json lists all)"
            )
        nothing = "name a file by --out" if self.cases or self.questions else "there is no case to write"
        said.append(f"written: {self.out}" if self.out else f"nothing written: {nothing}")
        return "\n".join(said)


def import_file(path: Path, source: str = AUTO, columns: tuple[str, ...] = (), out: Path | None = None) -> Imported:
    """Read the cases of `path` by the format `source` and write them to `out`, unless it is None.

    Questions are written if there is no patient's case; nothing is written if there is neither. Raises UsageError for
    an unknown format or a file that no format reads.
    """
    mapped = read_map(columns)
    if mapped is not None and source not in (AUTO, "csv"):
        raise UsageError(f"--map goes with CSV files, and --from is {source}")
    loader = Tables(mapped) if mapped is not None else _chosen(path, source)
    cases: list[str] = []
    questions: list[str] = []
    problems: list[Problem] = []
    leaks: list[NamedTruth] = []
    private = False
    for item in scan(path, loader):
        private = private or (not isinstance(item, Problem) and item.data_class == "restricted")
        if isinstance(item, Problem):
            problems.append(item)
        elif isinstance(item, Case):
            leaks += truths_shown(item)
            cases.append(case_line(item))
        else:
            questions.append(item.model_dump_json(exclude_defaults=True))
    lines = cases or questions
    written = out if out is not None and lines else None
    if written is not None:
        with output(written, private=private) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines)
    table = loader if isinstance(loader, Tables) else None
    title = f"a table of {table.known}" if table and table.known else loader.TITLE
    return Imported(
        path=str(path),
        format=_name(loader),
        title=title,
        cases=len(cases),
        questions=len(questions),
        problems=tuple(item for item in problems if not item.warning),
        out=str(written or ""),
        columns=table.mapped if table else {},
        warnings=tuple(item for item in problems if item.warning),
        leaks=tuple(leaks),
    )


def _chosen(path: Path, source: str) -> Loader:
    if source == AUTO:
        return recognise(path)
    kind: type[Loader] = load_plugin(LOADERS, source)
    return kind()


def _name(loader: Loader) -> str:
    """The name of a loader's entry point, else that of its class."""
    return next(
        (name for name in plugin_names(LOADERS) if load_plugin(LOADERS, name) is type(loader)), type(loader).__name__
    )
