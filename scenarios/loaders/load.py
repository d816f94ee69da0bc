"""Loads case files: detects the format, reports every fault, and finds the cases bundled with the package."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from itertools import chain, count
from pathlib import Path

import msgspec
from pydantic import ValidationError
from pydantic_core import from_json

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.plugins import is_bundled, load_plugin, plugin_names
from wardround.engine.records import Json
from wardround.scenarios.answers.truth import with_parts
from wardround.scenarios.case import Case
from wardround.scenarios.illustrations import has_images, with_images
from wardround.scenarios.loaders.oddities import doubled, in_case, in_name, in_question, path_text
from wardround.scenarios.loaders.source import (
    Loader,
    Playable,
    Problem,
    Refused,
    TextLine,
    broken,
    plainly,
    schema_faults,
    text_lines,
)

MOST_ODDITIES = 20
"""Most oddities of a file that are logged one by one."""
NEAREST = 2
"""How many of the known formats an error names for a file of another one."""
LOADERS = "wardround.loaders"
"""The entry-point group for formats of case files; each entry point names a class that is a Loader."""


def loaders() -> list[Loader]:
    """All formats: those of other installed packages first, then this package's; each in order of name.

    So a loader of one's own reads a file that a loader of this package would read too. Raises UsageError for a broken
    one.
    """
    return sorted((_loader(name) for name in plugin_names(LOADERS)), key=lambda loader: is_bundled(type(loader)))


def _loader(name: str) -> Loader:
    kind: type[Loader] = load_plugin(LOADERS, name)
    if not all(hasattr(kind, member) for member in ("TITLE", "WHOLE", "SUFFIXES", "knows", "case")):
        raise UsageError(f"{name!r} is no loader: derive its class from wardround.scenarios.loaders.source.Loader")
    return kind()


def suffixes() -> tuple[str, ...]:
    """The suffixes of case files that are not JSON."""
    return tuple(suffix for loader in loaders() for suffix in loader.SUFFIXES)


def load(path: Path | str) -> Iterator[Case]:
    """Stream the patients' cases of `path`, as `load_playable` does; raises UsageError for a question."""
    for item in load_playable(path):
        if not isinstance(item, Case):
            raise UsageError(f"{path}: {item.id} is a question, not a patient: play it with --scenario questions")
        yield item


def load_playable(path: Path | str, left_out: list[Problem] | None = None, *, parts: bool = True) -> Iterator[Playable]:
    """Stream the cases or questions of `path` in the order of the file; logs at most `MOST_ODDITIES`.

    Raises UsageError at the first record that is not a case, with all its faults by file, line and field. If `left_out`
    is a list, such records are left out and their faults are added to it. `parts` is as for `scan`.
    """
    first, odd = list[Problem](), 0
    # the format of bundled cases is known, and a test searches them for mistakes
    loader = Own() if (ours := Path(path).parent == _DATA / "cases") else None
    for item in scan(path, loader, parts=parts, doubts=not ours):
        if not isinstance(item, Problem):
            if first:
                break
            yield item
        elif item.warning:
            odd += 1
            if odd <= MOST_ODDITIES:
                log.warning("a case may hold a mistake", what=str(item).removeprefix("warning: "))
        elif left_out is not None:
            left_out.append(item)
        elif first and item.line != first[0].line:
            break
        else:
            first.append(item)
    if odd > MOST_ODDITIES:
        log.warning("more cases may hold mistakes", more=odd - MOST_ODDITIES, see=f"wardround cases check {path}")
    if first:
        more = f"\n`wardround cases check {path}` lists every problem of the file"
        raise UsageError("\n".join(map(str, first)) + more)


def problems(path: Path | str) -> tuple[Problem, ...]:
    """Every fault of `path`, without warnings; a single one if it cannot be read. Empty if there is none."""
    try:
        return tuple(item for item in scan(path, parts=False) if isinstance(item, Problem) and not item.warning)
    except UsageError as error:
        return (Problem(str(path), 0, "", str(error).removeprefix(f"{path}: ")),)


def scan(
    path: Path | str, loader: Loader | None = None, *, parts: bool = True, doubts: bool = True
) -> Iterator[Playable | Problem]:
    """Cases and faults in the order of the file; missing parts of a diagnosis are read from its text.

    `loader` reads the file; None means the one that recognises it. `parts` is False where only some of the cases will
    be played: `with_parts` reads those of a case, which takes some milliseconds. Without `doubts` no case is searched
    for mistakes that the schema allows.

    Raises UsageError if the format cannot be detected: not a text file, or no known format.
    """
    where = Path(path)
    seen: dict[str, int] = {}
    contents: dict[int, int] = {}
    for line, item in _cases(where, *_reading(where, loader), doubts=doubts):
        if not isinstance(item, Problem):
            if item.id in seen:
                message = f"the case on line {seen[item.id]} has the same id {item.id!r}; ids must be unique"
                yield Problem(str(path), line, "id", message, item.id)
                continue
            seen[item.id] = line
            if has_images(item):
                try:
                    item = with_images(item, where.parent)  # noqa: PLW2901 - what is yielded has its images
                except ValueError as error:
                    field, _, message = str(error).partition(": ")
                    yield Problem(str(path), line, field, message, item.id)
                    continue
            if parts and isinstance(item, Case):
                item = with_parts(item)  # noqa: PLW2901 - what is yielded is the case with its parts
        yield item
        if doubts and isinstance(item, Case):
            content = hash(item.model_dump_json(exclude={"id", "provenance"}))
            if (first := contents.setdefault(content, line)) != line:
                yield Problem(str(path), line, "", f"is word for word the case on line {first}", item.id, warning=True)


_DECODER = json.JSONDecoder()


class _Record(msgspec.Struct, frozen=True):
    """One record of a file: its line, its name ("" if records have none), and the (place, name) of repeated keys.

    `at` is its place in the file where the line alone does not tell it, as `[3]` in a file that is one array.
    """

    line: int
    name: str
    value: Json
    repeats: Sequence[tuple[tuple[str | int, ...], str]] = ()
    at: str = ""

    def place(self, field: str) -> str:
        """A field of the record as a field of the file."""
        return f"{self.at}{'.' if self.at and field and not field.startswith('[') else ''}{field}"


def recognise(path: Path) -> Loader:
    """The loader that reads `path`; raises UsageError if none recognises it."""
    return _reading(path, None)[0]


Records = Iterable[_Record | Problem]


def _reading(path: Path, chosen: Loader | None) -> tuple[Loader, Records]:
    """The loader of a file and its records; raises UsageError if the format cannot be detected.

    Tried in this order: the suffix, which a chosen format of tables may do without; the first line as a record; the
    whole text as one object of records; its values as records, which are the members of a list or objects over several
    lines; any other line as a record.
    """
    for own in [chosen] if chosen else loaders():
        if path.name.lower().endswith(own.SUFFIXES) or (chosen and own.SUFFIXES):
            return own, (_Record(line, "", record) for line, record in own.records(path))
    stream = text_lines(path)
    head = next(stream)
    by_head = _known(_object(head.text), chosen) if isinstance(head, TextLine) else None
    if by_head is not None and not by_head.WHOLE:
        return by_head.of_file(_objects(text_lines(path))), _by_line(path, chain([head], stream))
    items = [head, *stream]
    lines = {item.number: item.text for item in items if isinstance(item, TextLine)}
    text = "".join(lines.get(number, "\n") for number in range(1, max(lines, default=0) + 1))
    whole = _object(text)
    if isinstance(whole, dict) and (by_file := _known(whole, chosen)) is not None and by_file.WHOLE:
        return by_file, chain((item for item in items if isinstance(item, Problem)), _by_name(path, text, whole))
    values = list(_values(path, text, listed=isinstance(whole, list)))
    damaged = [item for item in (*items, *values) if isinstance(item, Problem)]
    by_line = () if text.lstrip().startswith("[") else (items,)
    for parts in by_line if damaged else (values, *by_line):
        first = next((known for row in _objects(parts) if (known := _known(row, chosen)) is not None), None)
        if first is not None and not first.WHOLE:
            return first.of_file(_objects(parts)), _by_line(path, parts)
    raise UsageError(f"{path}: {_unknown(path, text, items, damaged, chosen)}")


def _values(path: Path, text: str, *, listed: bool) -> Iterator[TextLine | Problem]:
    """The members of a JSON list, or objects over several lines, each with the line on which it begins."""
    at, line, last = text.index("[") + 1 if listed else 0, 1, 0
    for number in count():
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1
        line, last = line + text.count("\n", last, at), at
        if at == len(text) or (listed and text[at] == "]"):
            return
        try:
            at = _DECODER.raw_decode(text, at)[1]
            from_json(text[last:at])  # also refuses half of a surrogate pair
        except json.JSONDecodeError as error:
            yield Problem(str(path), error.lineno, "", f"{error.msg.lower()} at column {error.colno}")
            return
        except (ValueError, RecursionError) as error:
            yield Problem(str(path), line, "", plainly(error))
            return
        yield TextLine(line, text[last:at], at=f"[{number}]" if listed else "")


def _by_line(path: Path, parts: Iterable[TextLine | Problem]) -> Iterator[_Record | Problem]:
    """The records of a file with one case per line or value."""
    for item in parts:
        if isinstance(item, Problem):
            yield item
            continue
        try:
            yield _Record(item.number, "", from_json(item.text, allow_inf_nan=False), doubled(item.text), item.at)
        except (ValueError, RecursionError) as error:
            yield Problem(str(path), item.number, item.at, broken(error, item))


def _by_name(path: Path, text: str, whole: Mapping[str, Json]) -> Iterator[_Record | Problem]:
    """The records of a file that is one object of cases by id."""
    at, line = 0, 1
    repeats = doubled(text)
    for case_id, record in whole.items():
        before, at = at, max(text.find(json.dumps(case_id, ensure_ascii=False), at), at)
        line += text.count("\n", before, at)
        inner = [(place[1:], name) for place, name in repeats if place and place[0] == case_id]
        yield _Record(line, case_id, record, inner)
    for place, case_id in repeats:
        if not place:
            yield Problem(str(path), 0, "id", f"the id {case_id!r} is given twice; ids must be unique", case_id)


def _cases(
    path: Path, loader: Loader, records: Iterable[_Record | Problem], *, doubts: bool
) -> Iterator[tuple[int, Playable | Problem]]:
    """The cases of records with their oddities, or their faults."""
    for number, record in enumerate(records, 1):
        if isinstance(record, Problem):
            yield record.line, record
        else:
            yield from ((record.line, item) for item in _cases_of(path, loader, number, record, doubts=doubts))


def _cases_of(
    path: Path, loader: Loader, number: int, record: _Record, *, doubts: bool
) -> Iterator[Playable | Problem]:
    case_id = record.name or _id(record.value)
    problem = partial(Problem, str(path), record.line)
    for place, name in record.repeats:
        yield problem(path_text((*place, name)), f"the key {name!r} is given twice here; a key may stand once", case_id)
    if record.repeats:
        return
    try:
        oddities = list(loader.odd(record.value))
        made = list(loader.cases(number, record.name, record.value))
    except (Refused, ValidationError) as error:
        faults = error.faults if isinstance(error, Refused) else schema_faults(error)
        yield from (problem(record.place(field), message, case_id) for field, message in faults)
        return
    except (TypeError, AttributeError, KeyError, ValueError) as error:  # a field of another type than the format's
        yield problem(
            record.at, f"is no record of {loader.TITLE.partition(',')[0]} ({type(error).__name__}: {error})", case_id
        )
        return
    if wrong := [one for one in oddities if one.fault]:
        yield from (problem(one.field, one.message, case_id) for one in wrong)
        return
    for item in made:
        if isinstance(item, Refused):
            yield from (problem(record.place(field), message, case_id) for field, message in item.faults)
            continue
        yield item
        for one in chain(oddities, in_case(item) if isinstance(item, Case) else in_question(item)) if doubts else ():
            yield problem(one.field, one.message, item.id, warning=True)


def _id(record: Json) -> str:
    case_id = record.get("id") if isinstance(record, dict) else None
    return case_id if isinstance(case_id, str) else ""


def _object(text: str) -> Json:
    try:
        return from_json(text)
    except ValueError:
        return None


def _objects(parts: Iterable[TextLine | Problem]) -> Iterator[Json]:
    """The value of each line or part; None where it is not JSON."""
    return (_object(item.text) if isinstance(item, TextLine) else None for item in parts)


def _known(record: Json, chosen: Loader | None = None) -> Loader | None:
    """The format with the highest confidence for a record, the first by name on ties; None if none has any.

    `chosen`, unless it is None, is the only format asked.
    """
    if not isinstance(record, dict | list) or not record:
        return None
    sure, best = 0.0, None
    for loader in [chosen] if chosen else loaders():
        if (known := loader.knows(record)) > sure:
            sure, best = known, loader
    return best


def _nearest(formats: Sequence[Loader], record: Mapping[str, Json]) -> str:
    """The two formats that share most fields with a record; the names of all if none shares any."""
    shared = {
        one.TITLE: sum(key in re.findall(r"[\w-]+", one.TITLE.partition(",")[2]) for key in record if len(key) > 2)
        for one in formats
    }
    near = sorted((title for title in shared if shared[title]), key=lambda title: -shared[title])[:NEAREST]
    if not near:
        names = "; ".join(title.partition(",")[0] for title in shared)
        return f"Known formats: {names}. docs/cases.md has what each looks like"
    return f"The nearest of {len(formats)} known formats: {'; '.join(near)}. docs/cases.md has all of them"


_YAML = re.compile(r"(?:---\s|(?:- +)?[A-Za-z_]\w*:(?:\s|$))")
_NO_YAML = (
    "is YAML, and case files are JSON. Convert it, for instance by pip install pyyaml and python -c 'import json, sys, "
    "yaml; json.dump(yaml.safe_load(sys.stdin), sys.stdout, default=str)' < {} > cases.json"
)


def _unknown(
    path: Path, text: str, items: Sequence[TextLine | Problem], damaged: Sequence[Problem], chosen: Loader | None
) -> str:
    """Describe a file of no known format, and say what to do about it."""
    formats, whole = loaders(), _object(text)
    first = next(_objects(items), None) if whole is None else whole
    record = next((one for one in (first if isinstance(first, list) else [first]) if isinstance(one, dict)), {})
    keys = ", ".join(sorted(map(str, record))[:8]) or "none"
    known = _nearest(formats, record)
    where = next((f"line {item.line}: {item.message}" for item in damaged), "")
    if any(isinstance(item, Problem) for item in items):
        return where
    if chosen is not None and record:
        return f"line 1: is no record of {chosen.TITLE} (its keys: {keys})"
    if not where:
        shape = {list: "a JSON list", dict: "a JSON object", type(None): "JSON Lines (one value a line)"}
        return f"line 1: is {shape.get(type(whole), 'JSON')} of no known format (its keys: {keys}). {known}"
    if found := next((loader for loader in formats if loader.MARK and loader.MARK in text), None):
        return f"{where}; the file looks like {found.TITLE.partition(',')[0]} that is damaged or cut off"
    if path.suffix.lower() in (".yaml", ".yml") or _YAML.match(text):
        return f"line 1: {_NO_YAML.format(path)}"
    return f"{where}; the JSON is damaged here" if text.lstrip()[:1] in "{[" else f"{where}; this is not JSON. {known}"


def own_case(record: Json) -> Case:
    """Read `record` verbatim as a case; raises ValidationError, or Refused for a blank field or an invalid id."""
    made = Case.model_validate(record)
    blank = [name for name, text in (("id", made.id), ("opening", made.opening)) if not text.strip()]
    if blank:
        raise Refused((name, "must not be blank") for name in blank)
    if wrong := in_name(made.id):
        raise Refused([("id", wrong)])
    return made


class Own(Loader):
    """Wardround's own format. Its `knows` is the least specific: any other format that matches is preferred."""

    TITLE = "Wardround's own JSONL, one case a line (docs/cases.md)"

    def knows(self, record: Json) -> float:
        """Match an object with at least two fields of a case."""
        return 0.5 if isinstance(record, dict) and len(record.keys() & Case.model_fields.keys()) >= 2 else 0.0

    def case(self, number: int, name: str, record: Json) -> Case:
        """Read the record by the function `case`."""
        return own_case(record)


def case_line(case: Case) -> str:
    """`case` as a line of our own format, without fields at their default."""
    return case.model_dump_json(exclude_defaults=True)


def schema() -> str:
    """The JSON Schema of a line, as in docs/case.schema.json."""
    properties = Case.model_json_schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Case"}
    return json.dumps(head | properties, indent=2, ensure_ascii=False) + "\n"


SETS = {
    "admissions": ("cases/admissions.jsonl",),
    "reports": ("cases/reports.jsonl",),
    "stations": ("cases/stations.jsonl",),
    "questions": ("questions/closed.jsonl", "questions/open.jsonl"),
}
CASES = ("admissions", "reports", "stations")
_DATA = Path(str(files("wardround.scenarios") / "data"))


def bundled(name: str = "all") -> tuple[Path, ...]:
    """Paths of the bundled files `name`: 'admissions', 'reports', 'stations', 'all' for these, or 'questions'.

    Every id is unique across the files. Raises UsageError for another name, or if the files are not installed.
    """
    if name != "all" and name not in SETS:
        raise UsageError(f"no bundled cases named {name!r}; choose one of: all, {', '.join(SETS)}")
    wanted = CASES if name == "all" else (name,)
    paths = tuple(_DATA / file for one in wanted for file in SETS[one])
    for path in paths:
        if not path.is_file():
            raise UsageError(
                f"the bundled case file {path.name} is missing beside the package; install wardround again"
            )
    return paths
