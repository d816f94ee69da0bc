"""The table of clinical tests: names, synonyms, panels, normal values, costs, and words for whole kinds of tests."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Literal, TypeVar, get_args

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.logs import log
from wardround.engine.records import Json
from wardround.engine.text import column_rows, count_noun
from wardround.scenarios.case import Kind
from wardround.scenarios.terms.table_cache import cached_table
from wardround.scenarios.terms.wording import cells, key, list_words, table_rows, tokens


class Test(msgspec.Struct, frozen=True):
    """One clinical test; `low` and `high` bound the adult normal in `unit`, `points` are costs (a blood count is 1).

    `usual` is the specimen that it is usually done on, '' if there is none, with `if` and the words
    of which one must be said ('tissue if urease|clo;stool if antigen').
    """

    __test__ = False  # keeps pytest from collecting it

    name: str
    kind: Kind
    synonyms: tuple[str, ...] = ()
    members: tuple[str, ...] = ()
    unit: str = ""
    low: float | None = None
    high: float | None = None
    normal: str = ""
    modality: str = ""
    regions: tuple[str, ...] = ()
    points: float = 0.0
    usual: str = ""


class Word(msgspec.Struct, frozen=True):
    """A modality or a region with the phrases that name it; `within` is the wider one that contains it.

    `by_region`: the region alone tells studies of the modality apart, as with radiographs and CT.
    """

    name: str
    phrases: tuple[str, ...]
    within: str = ""
    points: float = 0.0
    by_region: bool = False


T = TypeVar("T")
Phrase = tuple[int, tuple[str, ...], str]
"""(place in the table, words, the name that they stand for)."""


@dataclass(frozen=True, eq=False)
class Catalogue:
    """All known tests with the look-ups that linking needs. Immutable, compared by identity; one may serve a whole run.

    `ambiguous` maps the comparable form of an ambiguous name to the tests that it may mean.
    """

    tests: Mapping[str, Test]
    modalities: Mapping[str, Word]
    regions: Mapping[str, Word]
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def names(self) -> Mapping[str, str]:
        """Comparable form of a name or synonym -> canonical name; names take precedence over synonyms."""
        tables = _tables()
        return tables.names if self.tests is tables.tests else _names_of(self.tests)

    @cached_property
    def forms(self) -> Mapping[str, Sequence[str]]:
        """Canonical name -> the comparable forms that `names` maps to it."""
        forms: dict[str, list[str]] = {}
        for form, test in self.names.items():
            forms.setdefault(test, []).append(form)
        return forms

    @cached_property
    def bags(self) -> Mapping[str, str]:
        """The words of a name in sorted order -> canonical name, for names in another word order."""
        tables = _tables()
        return tables.bags if self.tests is tables.tests else _bags_of(self.names)

    @cached_property
    def closed_up(self) -> Mapping[str, str]:
        """Comparable form without spaces -> canonical name: 'x ray' and 'xray', 'd dimer' and 'ddimer'."""
        return {name.replace(" ", ""): test for name, test in _last_first(self.names)}

    @cached_property
    def blocks(self) -> Mapping[tuple[str, int], Sequence[str]]:
        """(first letter, number of words) -> the comparable forms that have them, in the table's order."""
        blocks: dict[tuple[str, int], list[str]] = {}
        for name in self.names:
            if name:
                blocks.setdefault((name[0], name.count(" ") + 1), []).append(name)
        return blocks

    @cached_property
    def phrases(self) -> tuple[Mapping[str, Sequence[Phrase]], Mapping[str, Sequence[Phrase]]]:
        """The phrases that name modalities, and those that name regions, by their first word."""
        return _by_first_word(self.modalities), _by_first_word(self.regions)

    @cached_property
    def studies(self) -> Mapping[tuple[str, frozenset[str]], Test]:
        """(modality, regions) -> the first imaging test with both."""
        return {(test.modality, frozenset(test.regions)): test for _, test in _last_first(self.tests) if test.modality}

    @cached_property
    def below(self) -> Mapping[str, frozenset[str]]:
        """Panel -> all its tests, including members of its members."""
        return {name: frozenset(self._members(name, frozenset())) for name, test in self.tests.items() if test.members}

    def _members(self, name: str, seen: frozenset[str]) -> set[str]:
        members: set[str] = set()
        for member in self.tests[name].members:
            if member not in seen:
                members |= {member} | self._members(member, seen | {name})
        return members

    def priced(self, text: str, source: str) -> "Catalogue":
        """A copy with the points of the user's CSV `name,points`; `source` names the file in messages.

        A name may be any synonym. Raises UsageError with the line for an unknown test or a value that is not a number.
        """
        tests = dict(self.tests)
        for line, row in enumerate(csv.reader(io.StringIO(text.lstrip("\ufeff"))), 1):
            if not row or (line == 1 and [cell.strip().lower() for cell in row] == ["name", "points"]):
                continue
            if len(row) != 2:
                raise UsageError(
                    f"{source}, line {line}: write name,points; this line has {count_noun(len(row), 'column')}"
                )
            name = self.names.get(key(row[0]))
            if name is None:
                raise UsageError(f"{source}, line {line}: no test is called {row[0]!r}")
            points = _number(row[1])
            if points is None or not 0 <= points < float("inf"):
                raise UsageError(f"{source}, line {line}: points must be a number from 0 on, not {row[1]!r}")
            tests[name] = msgspec.structs.replace(tests[name], points=points)
        return replace(self, tests=tests)

    def named(self, rows: "TestNames", source: str = "names") -> "Catalogue":
        """A copy with a user's names of tests; `source` names their file in messages.

        A test may go by any name of the table; one that the table lacks is new and needs its kind. Raises UsageError
        with the line for a missing kind, and for a name of another test.
        """
        tests, known, new = dict(self.tests), dict(self.names), set[str]()
        for number, (said, names, stated) in enumerate(rows, 2):  # a file has its columns in line 1
            where, name = f"{source}, line {number}", known.get(key(said), said)
            kind = next((one for one in get_args(Kind) if one == stated), None)
            test = tests.get(name) or (Test(name, kind, points=1.0) if kind and key(name) else None)
            if test is None:
                raise UsageError(
                    f"{where}: {said!r} is no known test; a new one needs a kind: {', '.join(get_args(Kind))}"
                )
            synonyms = cells(names)
            for synonym in (name, *synonyms):
                if (other := known.setdefault(key(synonym), name)) != name:
                    raise UsageError(f"{where}: {synonym!r} already means {other}")
                new.add(key(synonym))
            tests[name] = msgspec.structs.replace(test, synonyms=tuple(dict.fromkeys((*test.synonyms, *synonyms))))
        ambiguous = {form: several for form, several in self.ambiguous.items() if form not in new}
        return replace(self, tests=tests, ambiguous=ambiguous)


TestNames = tuple[tuple[str, str, str], ...]
"""A user's names: rows of a test, its other names between bars, and its kind ('' for a test of the table)."""


def own_names_json(names: TestNames) -> dict[str, Json]:
    """The user's names of tests as the seat that looks results up is told them; nothing where there are none."""
    return {"names": [list(row) for row in names]} if names else {}


_LOINC = ("loinc_num", "component", "system", "class", "shortname", "long_common_name")
_SYSTEMS = {"ser": "", "plas": "", "ser/plas": "", "bld": "", "urine": "urine", "csf": "CSF", "stool": "stool"}
"""LOINC's systems, and the word by which the table tells the same component in them."""


def _of_loinc(rows: Iterable[Mapping[str, str]]) -> TestNames:
    """The tests of a `Loinc.csv`: a component in blood, urine, CSF or stool that the table has, else the long name.

    A name that means another test already, in the table or in the file, is left out.
    """
    known, tests = _bundled().names, dict[str, tuple[str, list[str]]]()
    owner: dict[str, str] = {}
    for row in rows:
        where, long = _SYSTEMS.get(row["system"].lower()), row["long_common_name"] or row["component"]
        test = known.get(key(f"{where} {row['component']}".strip())) if where is not None else None
        name = test or known.get(key(long)) or long
        group = row["class"].upper()
        kind = "microbiology" if group.startswith("MICRO") else "imaging" if group.startswith("RAD") else "lab"
        names = tests.setdefault(name, (kind, []))[1]
        for said in (long, row["shortname"], "" if test is None and where != "" else row["component"]):
            form = key(said)
            if form and "|" not in said and known.get(form, name) == name and owner.setdefault(form, name) == name:
                names.append(said)
    return tuple((name, "|".join(dict.fromkeys(names)), kind) for name, (kind, names) in tests.items() if key(name))


def read_test_names(path: Path) -> TestNames:
    """The rows of a user's CSV `test,names,kind`, or the tests of LOINC's own `Loinc.csv`.

    Raises UsageError for a missing column or a row without a test.
    """
    if any("loinc_num" in row for row in column_rows(path, "--names", ())[:1]):
        names = _of_loinc(column_rows(path, "--names", _LOINC))
    else:
        rows = column_rows(path, "--names", ("test", "names"))
        names = tuple((row["test"], row["names"], row.get("kind", "")) for row in rows)
        _tell_loops(names, path)
    catalogue(names, str(path))
    return names


def _tell_loops(rows: TestNames, path: Path) -> None:
    """Log each name of a user's table that leads back to the test of its row through the rows before it."""
    below: dict[str, set[str]] = {}
    for number, (said, names, _) in enumerate(rows, 2):
        own = key(said)
        for name in cells(names):
            reached = [key(name)]
            for form in reached:
                reached += below.get(form, set()).difference(reached)
            if own in reached[1:]:
                log.warning(
                    "a name leads back to itself: the rows name each other in a loop",
                    at=f"{path}, line {number}",
                    test=said,
                    name=name,
                )
            below.setdefault(own, set()).add(key(name))


@lru_cache(maxsize=8)
def catalogue(names: TestNames = (), source: str = "names") -> Catalogue:
    """The table that ships with the package, with a user's names; raises UsageError as `Catalogue.named` does."""
    return _bundled().named(names, source) if names else _bundled()


class _Tables(msgspec.Struct, frozen=True):
    """What the files of tables say, and the `names` and `bags` of the catalogue made of them, which take 100 ms."""

    tests: dict[str, Test]
    modalities: dict[str, Word]
    regions: dict[str, Word]
    ambiguous: dict[str, tuple[str, ...]]
    names: dict[str, str]
    bags: dict[str, str]


@cache
def _bundled() -> Catalogue:
    tables = _tables()
    return Catalogue(tables.tests, tables.modalities, tables.regions, tables.ambiguous)


@cache
def _tables() -> _Tables:
    return cached_table("tests", _Tables, _read_tables)


def _read_tables() -> _Tables:
    tests = {row["name"]: _test(row) for row in table_rows("tests.csv")}
    modalities = {row["modality"]: _word(row, "modality") for row in table_rows("modalities.csv")}
    regions = {row["region"]: _word(row, "region") for row in table_rows("regions.csv")}
    ambiguous = {key(row["words"]): cells(row["tests"]) for row in table_rows("ambiguous.csv")}
    names = _names_of(tests)
    return _Tables(tests, modalities, regions, ambiguous, names, _bags_of(names))


def _names_of(tests: Mapping[str, Test]) -> dict[str, str]:
    forms = {key(test.name): test.name for test in tests.values()}
    for test in tests.values():
        for synonym in test.synonyms:
            forms.setdefault(key(synonym), test.name)
    return forms


def _bags_of(names: Mapping[str, str]) -> dict[str, str]:
    return {" ".join(sorted(name.split())): test for name, test in _last_first(names)}


def _last_first(table: Mapping[str, T]) -> Iterable[tuple[str, T]]:
    """The items of a table in reverse, so that of several with one key in a new table the first one stays."""
    return reversed(list(table.items()))


def _by_first_word(known: Mapping[str, Word]) -> Mapping[str, Sequence[Phrase]]:
    phrases: dict[str, list[Phrase]] = {}
    named = ((tuple(phrase.split()), word.name) for word in known.values() for phrase in word.phrases)
    for place, (words, name) in enumerate(named):
        phrases.setdefault(words[0], []).append((place, words, name))
    return phrases


def _test(row: Mapping[str, str]) -> Test:
    kind = next(known for known in get_args(Kind) if known == row["kind"])
    return Test(
        name=row["name"],
        kind=kind,
        synonyms=cells(row["synonyms"]),
        members=cells(row["members"]),
        unit=row["unit"],
        low=_number(row["low"]),
        high=_number(row["high"]),
        normal=row["normal"],
        modality=row["modality"],
        regions=cells(row["region"]),
        points=float(row["points"]),
        usual=row["usual"],
    )


def _word(row: Mapping[str, str], name: str) -> Word:
    phrases = (key(row[name]), *(key(phrase) for phrase in cells(row["words"])))
    points = float(row.get("points") or 0)
    return Word(row[name], tuple(dict.fromkeys(phrases)), row["within"], points, row.get("by_region") == "yes")


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


Scope = Literal["examination", "lab", "microbiology", "imaging", "any"]

_LITTLE = list_words(
    """any all other further additional more the a an of and or some my initial basic routine relevant available
    needed required necessary recommended requested following specific detailed full complete general new do have did
    was were is are there result finding report please order get i we would like to need want can you provide give me
    us information data about tell what show showed from patient possible done performed level baseline comment
    on at list section recent previous prior special advanced appropriate diagnostic confirmatory screening
    run else every whole entire"""
)
_DATES = list_words("day january february march april may june july august september october november december")
_TESTS = list_words(
    "test testing study exam examination investigation work workup up panel analysis profile value screen procedure "
    "everything anything battery"
)
_NAMES: dict[Scope, frozenset[str]] = {
    "lab": list_words(
        """lab laboratory labs blood bloods bloodwork serum chemistry biochemical biochemistry hematologic hematological
        hematology serologic serological serology parameter investigations"""
    ),
    "microbiology": list_words(
        "micro microbiology microbiological microbial culture infectious infection disease pathogen"
    ),
    "imaging": list_words("imaging image radiology radiologic radiological radiograph scan scans"),
    "examination": list_words("physical clinical bedside"),
}
_ALONE: dict[Scope, frozenset[str]] = {  # these words name a kind only together with a word of `_TESTS`
    "lab": list_words("serum chemistry infectious hematologic"),
    "microbiology": list_words("infection infectious disease"),
    "imaging": list_words("radiograph"),
    "examination": list_words("clinical bedside"),
}


def scope(text: str) -> Scope | None:
    """The kind that `text` names as a whole, 'any' for 'further tests', or None if it names something specific."""
    words = [word for word in tokens(text) if word not in _LITTLE]
    dated = any(word[0].isdigit() for word in words)  # 'all labs on day 3'
    words = [word for word in words if not (dated and (word in _DATES or word[0].isdigit()))]
    rest = [word for word in words if word not in _TESTS]
    if not words or len(words) > 6:
        return None
    if not rest:
        return "any"
    for kind, names in _NAMES.items():
        if all(word in names for word in rest) and not (len(words) == len(rest) and set(rest) <= _ALONE[kind]):
            return kind
    return None
