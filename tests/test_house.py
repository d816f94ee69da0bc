"""The house rules that a machine can hold (CONTRIBUTING.md)."""

import ast
import os
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from inspect import cleandoc
from pathlib import Path
from textwrap import indent

import networkx as nx  # type: ignore[import-untyped]  # it ships no types

from scripts.draw_rooms import graph, room
from scripts.measure_house import Module, modules, statements
from wardround import _WHERE

ROOT = Path(__file__).resolve().parent.parent
CODE = ("engine", "scenarios", "agents", "evaluators", "wardround", "benchmarks", "conformance", "scripts")
OWN = ("wardround", "engine", "scenarios", "agents", "evaluators")
MOST = {
    "engine": 2942, "engine.models": 2674, "engine.stores": 1077, "agents": 2365,
    "scenarios": 482, "scenarios.answers": 1997, "scenarios.encounters": 1016, "scenarios.level_items": 341,
    "scenarios.loaders": 2383, "scenarios.mimic": 1907, "scenarios.parsers": 1072, "scenarios.published": 208,
    "scenarios.terms": 245,
    "evaluators": 439, "evaluators.injection": 395, "evaluators.judges": 404, "evaluators.levels": 796,
    "evaluators.lexical": 380, "evaluators.metrics": 455, "evaluators.open_answers": 832, "evaluators.outcome": 639,
    "evaluators.reasoning": 1582, "evaluators.report": 2842, "evaluators.search": 1102,
    "cli": 1695, "exchange": 1198, "faces": 993, "runs": 1639, "scoring": 1049, "testing": 480, "wardround": 724,
    "agents.history": 1314, "scenarios.diseases": 2668, "scenarios.orders": 3574, "scenarios.reports": 2334,
}  # fmt: skip
"""The most statements of a room, imports and docstrings left out: who adds some takes some away, or says here why.

Eleven came for the refusal of a judge that cannot answer and the most that a case can cost, one for an act that is no
coroutine, which was told by a sentence in the place of an action. Sixty-five keep the tables of diseases on disk,
so that no process builds them again. Nine of `evaluators` and its injections serve five other rooms, which had twenty
of their own. Twenty of the engine split a text outside brackets and read tables with a header for five rooms, which
had 57 of their own. Twelve give names to the phrases and the shares of an answer, which were tuples.
Eight tell apart what makes a question to the patient none. Twenty of answers and 33 of diseases find the names
that a phrase holds, so that no unknown word between two of them makes both count. The rest of answers tells the remarks
round a diagnosis from a second one: 57 read the frames in which a red team's honest answers were lost.
Forty-five make a command start in three quarters of the time: the log that waits for its first line, roots that wait
for the first word (the lists of answers and diseases have fewer for it), pages that wait for the first search.
Eighty-nine of reports refuse what the evidence only denies, a side by the part of the body that it places, and a
diagnosis with another word in the place of one that its sentence has.
About 170 of diseases find leaks by sound, by results, by two words of a sentence and by groups of diseases, and the
names that MONDO has for a disease. 135 of answers part what a plan of treatment gives from what it offers, keeps in
reserve or only considers, where a red team's open plans passed as if all were given; 13 of them read thoughts in tags.
Sixty of a patient's history say a note's phrases as sentences, illnesses as those of the relative who had them, and
that a section of its sheet is empty. Sixty-eight more read an opening in any words, whom a question addresses, what
a follow-up leans on, and what an answer leaves out.
Five of `wardround` make the replay of every kind of run one branch. Six of `scoring` give names to what the rows of a
run share. Six of the engine and its stores let a store of the user's own say which files hold the truth.
Eighteen of six rooms show a missing extra in its own words, bound an act and the repeats, keep stores for their owner
and look at the budget before a retry.
Seventeen of orders keep what a chart was searched for, and three of the engine read no sign of a text without brackets.
Ten of the engine read a user's TOML, say what was likely meant and let words agree with their number, for rooms that
each had their own way.
Two of the command line say what an output replaces.
One of the engine says for two rooms that a table repeats its header.
Nine of loaders say what an imported record gives away: the patient's name, and the diagnosis.
Eleven of `wardround` find modules under the paths that older documentation names, for one version.
One of outcome shares the head of a list whose members are one test.
Seven of `engine.models` have the order of all wrappers round a model in one place.
Two of the command line keep no garbage for good where a process calls a second verb.
Thirty-six of orders tell words of the patient and findings from a test that no table has, and a blood test from
one on a swab. About 126 more read what takes an order back or puts it off, a value with words behind it, the
sites of a swab and a test in two fluids: classes in which strangers' orders were read wrongly. Forty-six more tell a
panel from a heading, a short name from a word, a joint from its fluid, and read projections and sites of biopsies.
The rest of orders, 239, split a run of names without commas, correct misspelt words of names before a text is split,
read what stands behind a test and takes it back, and lose no test behind a heading: classes of four more strangers.
Nine read the sites of biopsies and the tests that are bound to each other from tables, and name what a lambda did.
Nineteen of faces forget the episodes that are over, tell apart repeats of a case, and close what a face opened
where its run cannot begin.
Eight of the engine say which field of an action no log can keep, and why.
Ten of loaders leave out the parts of an examination that only say that they were not done, and sort what one sentence
tells of an examination and of a test. About 240 of orders find what a whole examination says of one part, tissue by its
site, a study by its side and by what the case is about, a test by what reports call its result, of a report of many
results the ordered one, and names of records in other languages: classes in which a stranger's 609 orders were answered
wrongly or not at all. Eight of `scenarios` judge a value that is a bound ("<0.01").
Fifty-two of MIMIC name what is wrong with a whole table (its release, its separator, its encoding, its row of names, a
second table in the file), with a number of a list of admissions and with a cell of a pool. Thirty-four more of loaders
find a seeded fault of a case in each of its texts and names, and name the row of a table and the part of a record that
is wrong. Three of diseases and four of reports name a loop of a user's names, and the articles that were left out. Six
of diseases find the abbreviation of a name without the words of its course. Twelve of MIMIC name rows of its tables
that do not fit together.
Three hundred of orders read when a result was taken, as doctors say it, and answer with the results of that time or
with what the record does not tell: words of time were passed over, so that another day's value was given unasked.
Thirteen of the command line and of `wardround` say that a build made nothing, and write no file. Twelve of orders name
a loop of a user's names of tests. Twenty-three of loaders add up white cells that are told as fractions.
"""
OPENED = {
    "engine.protocols": "Agent Model Evaluator", "engine.models.provider": "Provider",
    "scenarios.loaders.source": "Loader",
    "evaluators.search.contract": "Source", "evaluators.judges.panel": "Judge", "evaluators.evaluation": "JudgeContext",
    "testing.loopback": "Loopback", "testing.wire": "Rates", "testing.recorded_model": "RecordedModel",
    "testing.memory_store": "MemoryStore", "scenarios.question_item": "QuestionItem",
}  # fmt: skip
"""Classes beside the front door that users call or derive from, by module."""
MEDICINE = [
    "admission",
    "clinic",
    "clinical",
    "clinician",
    "diagnose",
    "diagnosis",
    "disease",
    "doctor",
    "drug",
    "examiner",
    "hospital",
    "imaging",
    "lab",
    "laboratory",
    "medical",
    "medicine",
    "microbiology",
    "nurse",
    "patient",
    "physician",
    "radiology",
    "symptom",
    "therapy",
    "treatment",
    "ward",
]


@cache
def sources(*folders: str) -> list[Path]:
    """Python files of the project's own folders, each once (the links in wardround/ are not followed)."""
    return sorted(
        path
        for folder in folders
        for path in (ROOT / folder).rglob("*.py")
        if not any(parent.is_symlink() for parent in path.parents if parent != ROOT)
    )


DEFINITIONS = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Read:
    """What the rules ask of a file; the tree itself is not kept."""

    path: Path
    long: list[str]
    greedy: list[str]
    inside: list[str]
    catching: list[str]
    public: list[str]


@cache
def house() -> list[Module]:
    """The product's modules with their syntax trees."""
    return modules(ROOT)


@cache
def parsed() -> dict[Path, Module]:
    """The product's modules and those of the other folders, each parsed once for all rules."""
    own = {module.path: module for module in house()}
    texts = {path: path.read_text(encoding="utf-8") for path in sources(*CODE) if path not in own}
    return own | {path: Module(path.stem, path, text, ast.parse(text)) for path, text in texts.items()}


@cache
def read(path: Path) -> Read:
    tree, nodes = parsed()[path].tree, parsed()[path].nodes
    found = Read(path.relative_to(ROOT), [], [], [], [], [])
    defined = (node.name for node in tree.body if isinstance(node, DEFINITIONS))
    found.public.extend(name for name in defined if not name.startswith("_"))
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            where = f"{found.path}:{node.lineno} {node.name}"
            if (node.end_lineno or 0) - node.lineno >= 60:
                found.long.append(where)
            taken = [a.arg for a in node.args.posonlyargs + node.args.args + node.args.kwonlyargs]
            if len([name for name in taken if name not in ("self", "cls")]) > 6:
                found.greedy.append(f"{where} takes {len(taken)} parameters")
            within = (one for one in imports if node.lineno <= one.lineno <= (node.end_lineno or 0))
            names = (name for one in within for name in imported(one))
            found.inside.extend(f"{where} imports {name}" for name in names if name.split(".")[0] in OWN)
        elif isinstance(node, ast.ExceptHandler) and not isinstance(node.body[-1], ast.Raise):
            caught = getattr(node.type, "id", None)
            if node.type is None or caught in ("Exception", "BaseException"):
                found.catching.append(f"{found.path}:{node.lineno}")
    return found


def imported(node: ast.Import | ast.ImportFrom) -> Sequence[str]:
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]


def test_a_file_is_short_and_opens_with_what_it_is_for() -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in sources(*CODE, "tests")}
    assert len(texts) > 500
    long = [path for path, text in texts.items() if text.count("\n") > 450]
    assert long == [], "split it: a module is one noun of the field"
    silent = [path for path, text in texts.items() if not re.match(r'(#.*\n)*r?"""\S', text)]
    assert silent == [], "it opens with one sentence on what it is for"


def test_functions_are_short_and_take_few_parameters() -> None:
    files = [read(path) for path in sources(*CODE)]
    assert [where for file in files for where in file.long] == []
    assert [where for file in files for where in file.greedy] == []


def test_own_packages_are_imported_at_the_top() -> None:
    assert [where for path in sources(*CODE) for where in read(path).inside] == []


def test_only_the_boundary_catches_everything() -> None:
    found = [place for path in sources(*CODE) for place in read(path).catching]
    # The others run a user's code to tell what it raised: the check of an agent, the loopback server's replies, the
    # text of an exception.
    telling = ("agents/check.py", "wardround/testing/loopback.py", "engine/misbehaviour.py")
    assert found
    assert [place for place in found if not place.startswith(telling)] == []


def test_rooms_form_no_circle() -> None:
    assert nx.is_directed_acyclic_graph(graph(house()))


def test_a_room_does_not_grow_unseen() -> None:
    sizes = dict.fromkeys(MOST, 0)
    for module in house():
        if room(module) in sizes:
            sizes[room(module)] += statements(module)
    assert all(sizes.values())
    assert {name: size for name, size in sizes.items() if size > MOST[name]} == {}


def test_no_word_of_medicine_in_the_engine() -> None:
    """But for the dotted names of modules that moved (`plugins.MOVED`), which stored headers hold."""
    words = re.compile(rf"(?i)(?<![a-z])({'|'.join(MEDICINE)})s?(?![a-z])")
    found = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in sources("engine")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := words.search(re.sub(r'"wardround\.[\w.]+"', "", line)))
    ]
    assert found == []


def test_verbs_name_nothing() -> None:
    """`found` says how a thing was come by; a name says what it is: matches, places, rows."""
    verbs = re.compile(r"(?<![a-z])(told|found|held|given)(?![a-z])")
    replies = {"found"}  # the key of a judge's reply: `reply_shape(found=...)`
    suspects = [module for module in parsed().values() if verbs.search(module.text)]
    names = [(module.path, name) for module in suspects for node in module.nodes for name in names_in(node)]
    assert [(path, name) for path, name in names if verbs.search(name) and name not in replies] == []


def test_a_public_name_stands_for_one_thing() -> None:
    """Except `command`, by which each verb's module gives its command; a module is found by its name too."""
    stems = Counter(module.path.stem for module in house() if not module.path.stem.startswith("__"))
    assert [stem for stem, count in stems.items() if count > 1] == []
    places: dict[str, list[str]] = {}
    for path in sources(*OWN):
        for name in read(path).public:
            places.setdefault(name, []).append(str(path.relative_to(ROOT)))
    assert {name: where for name, where in places.items() if len(where) > 1 and name != "command"} == {}


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that a node of the syntax tree defines or uses."""
    fields = (getattr(node, field, None) for field in ("name", "id", "attr", "arg", "asname"))
    return (name for name in fields if isinstance(name, str))


def test_nothing_is_called_utils_and_nothing_names_this_machine() -> None:
    assert [str(path) for path in sources(*CODE, "tests") if path.stem in ("utils", "helpers", "misc", "common")] == []
    private = re.compile(r"/work/|/root/|/tmp/bash")
    named = []
    for folder, below, files in os.walk(ROOT):
        below[:] = [name for name in below if name not in (".venv", ".git")]
        texts = [name for name in files if name.endswith((".py", ".md", ".toml")) or name == "Makefile"]
        named += [Path(folder, name) for name in texts]
    own = [path for path in named if path != Path(__file__) and path.is_file()]
    assert len(own) > 500
    assert [str(path) for path in own if private.search(path.read_text(encoding="utf-8"))] == []


def test_public_classes_open_with_an_example() -> None:
    """The front door, and the classes that others derive from or use in their tests; each example is Python."""
    doors = {name: place for name, place in _WHERE.items() if name[0].isupper()}
    doors |= {name: f"wardround.{place}" for place, names in OPENED.items() for name in names.split()}
    texts = {name: cleandoc(getattr(import_module(place), name).__doc__) for name, place in doors.items()}
    shown = {name: re.search(r"\n\n((?:    .*(?:\n|$)|\n)+)", text) for name, text in texts.items()}
    assert [name for name, example in shown.items() if example is None] == []
    for name, example in shown.items():
        assert example is not None
        ast.parse(f"async def example():\n{indent(example[1], '    ')}", name)
