"""Imports results as a run: recognises each file's format, plays the recorded turns, keeps the origin's scores."""

import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from wardround.api import play_planned, resume
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.engine.events import digest_of
from wardround.engine.protocols import Store
from wardround.engine.records import Action, Score
from wardround.engine.text import count_noun, file_text, read_json
from wardround.exchange.inspect_results import inspect_results, is_inspect_log
from wardround.exchange.published_results import (
    agentclinic,
    healthbench,
    healthbench_rows,
    is_agentclinic,
    is_medrbench,
    medrbench,
)
from wardround.exchange.result_record import Result
from wardround.exchange.result_rows import line_rows, map_columns, read_columns, result_table_rows, row_results
from wardround.runs.header import ImportedHeader, RunHeader, read_header
from wardround.runs.plan import cases_of, plan_run
from wardround.runs.recordings import ImportedActions
from wardround.runs.seat_settings import SeatSettings
from wardround.runs.settings import RunSettings
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case, Provenance, Truth
from wardround.scenarios.encounters.imported import THEN
from wardround.scoring.stored_scores import ORIGIN

AUTO = "auto"
"""In place of a format: recognise that of each file from its name and content."""
PUBLISHED = ("medrbench", "healthbench", "agentclinic")
"""Formats of published data sets, whose cases are public."""
FORMATS: Mapping[str, str] = {
    "medrbench": "results of MedR-Bench",
    "healthbench": "results of HealthBench",
    "agentclinic": "dialogues that AgentClinic printed",
    "inspect": "a log of Inspect",
    "jsonl": "own JSON lines",
    "csv": "an own table",
}
_SEATS = ("doctor", "patient", "examiner")


@dataclass(frozen=True, slots=True)
class ImportRequest:
    """What to import, as the command line names it; `cases` and `scenario` are "" if they are not named.

    `source` is one of FORMATS or `auto`, `columns` are the values of --map, and `model` replaces the name in the files.
    """

    files: Sequence[Path]
    source: str = AUTO
    columns: Sequence[str] = ()
    cases: str = ""
    scenario: str = ""
    model: str = ""
    name: str = ""
    public: bool = False
    """Whether the data are public, as those of published data sets are; else they count as restricted."""

    def digest(self) -> str:
        """The digest of all that the run is made from."""
        read = [digest_of(path.read_bytes()) for path in self.files]
        cases = digest_of(Path(self.cases).read_bytes()) if self.cases and Path(self.cases).is_file() else self.cases
        notices = (read, self.source, list(self.columns), cases, self.scenario, self.model, self.public)
        return digest_of(msgspec.json.encode(notices))


@dataclass(frozen=True, slots=True)
class ImportAccount:
    """The result of an import: the run, the format of each file, and what cannot be scored and why.

    `recognised` has a sentence for each file, `notes` those on what cannot be scored. `before` says that the same
    import had been finished before.
    """

    run: str
    recognised: Sequence[str]
    episodes: int
    notes: Sequence[str]
    before: bool = False


def file_format(path: Path) -> str:
    """The format of a file; raises UsageError that lists the formats if it has none."""
    suffixes = "".join(path.suffixes[-2:])
    if not path.is_file():
        raise UsageError(f"{path} cannot be read: it is not a file")
    if zipfile.is_zipfile(path):
        return "inspect"
    if suffixes.endswith((".csv", ".tsv")):
        return "csv"
    text = file_text(path)
    if suffixes.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    if text.lstrip()[:1] in ("{", "["):
        value = read_json(path, text)
        for name, knows in (
            ("inspect", is_inspect_log),
            ("healthbench", lambda value: healthbench_rows(value) is not None),
            ("medrbench", is_medrbench),
        ):
            if knows(value):
                return name
    elif is_agentclinic(text):
        return "agentclinic"
    raise UsageError(f"{path}: is of no known format; name one by --from: {', '.join(FORMATS)}")


_READERS: Mapping[str, Callable[[Path, str], Iterator[Result]]] = {
    "medrbench": medrbench,
    "healthbench": healthbench,
    "agentclinic": agentclinic,
    "inspect": inspect_results,
}


def _read(path: Path, request: ImportRequest) -> tuple[str, str, list[Result]]:
    """(format, sentence that says how the file was read, results) of a file."""
    source = file_format(path) if request.source == AUTO else request.source
    if source not in FORMATS:
        raise UsageError(f"there is no format {source!r} to import; there are: {', '.join((AUTO, *FORMATS))}")
    columns = read_columns(request.columns)
    if source in _READERS:
        if columns:
            raise UsageError(f"--map goes with own JSON lines and tables, and {path} is read as {FORMATS[source]}")
        results = list(_READERS[source](path, request.model))
        return source, f"{path}: recognised as {source} ({FORMATS[source]})", results
    names, rows = result_table_rows(path) if source == "csv" else line_rows(path)
    if absent := [column for column in columns.values() if column not in names]:
        raise UsageError(f"{path}: --map names column {absent[0]!r}; the columns are: {', '.join(names)}")
    chosen = map_columns(names, columns)
    notices = ", ".join(field if field == column else f"{column} as {field}" for field, column in chosen.items())
    results = list(row_results(path, rows, chosen, request.model))
    return source, f"{path}: recognised as {source} ({FORMATS[source]}: {notices})", results


async def import_results(store: Store, request: ImportRequest, progress: Progress | None = None) -> ImportAccount:
    """Import result files into a store as one run; a second import of the same continues or finds the first.

    ::

        account = await import_results(open_store("study.db"), ImportRequest([Path("results.jsonl")]))
        print(account.run, account.episodes, *account.notes, sep="\\n")

    Raises UsageError with file, line and field of what cannot be read; nothing is imported then.
    """
    digest = request.digest()
    read = [_read(path, request) for path in request.files]
    if all(source in PUBLISHED for source, _, _ in read):
        request = replace(request, public=True)
    read_results = [one for *_, some in read for one in some]
    every = _number_repeats(_with_scores([one for one in read_results if not one.lost]))
    results = _match_cases(request, every) if request.cases else every
    notices = [line for _, line, _ in read]
    earlier = await _earlier_import(store, digest, request.name)
    if earlier is not None:
        run = await Run.open(store, earlier)
        before = "open" not in await run.endings()
        if not before:
            run = await resume(earlier, store=store, progress=progress)
    else:
        run, before = await _play(store, request, results, notices, digest, progress or Progress()), False
    await _keep_scores(run, results)
    return ImportAccount(
        run.name,
        notices,
        len(await run.episodes()),
        await _notes(run, request, every, [one for one in read_results if one.lost]),
        before,
    )


async def _earlier_import(store: Store, digest: str, name: str) -> str | None:
    """The name of the run that the same import made before; a `name` limits the search to it."""
    for row in await store.runs():
        if row.damage or (name and row.name != name):
            continue
        imported = row.header.get("imported")
        if isinstance(imported, dict) and imported.get("digest") == digest and isinstance(read_header(row), RunHeader):
            return row.name
    return None


def _with_scores(results: Sequence[Result]) -> list[Result]:
    """The results that have turns; each also gets the scores of the results of the same case that have none.

    Raises UsageError for scores of a case that has no trajectory.
    """
    spoken = [one for one in results if one.turns]
    if not spoken:
        raise UsageError(
            f"{results[0].where if results else 'the file'}: holds no reply; verdicts alone are imported beside the "
            "file with the replies: name both"
        )
    more: dict[str, list[Score]] = {}
    for one in results:
        if not one.turns:
            more.setdefault(one.case, []).extend(one.scores)
    return [msgspec.structs.replace(one, scores=[*one.scores, *more.get(one.case, ())]) for one in spoken]


def _number_repeats(results: Sequence[Result]) -> list[Result]:
    """The results with the number of their repeat; raises UsageError if two of a case have the same."""
    counts: Counter[str] = Counter()
    taken: dict[tuple[str, int], str] = {}
    made = []
    for one in results:
        counts[one.case] += 1
        numbered = msgspec.structs.replace(one, repeat=one.repeat or counts[one.case])
        place = (one.case, numbered.repeat)
        if place in taken:
            which = f"case {one.case!r} repeat {numbered.repeat}"
            raise UsageError(f"{one.where}: {which} stands at {taken[place]} already")
        taken[place] = one.where
        made.append(numbered)
    return made


async def _play(
    store: Store,
    request: ImportRequest,
    results: list[Result],
    notices: Sequence[str],
    digest: str,
    progress: Progress,
) -> Run:
    """Plan the run from the results, and play what was recorded."""
    with ExitStack() as stack:
        place = request.cases
        if not place:
            place = str(_case_file(Path(stack.enter_context(tempfile.TemporaryDirectory())), request, results))
        scenario = request.scenario or _scenario(request, results)
        models = list(dict.fromkeys(one.model for one in results if one.model))
        named = request.model or (models[0] if len(models) == 1 else "results")
        specs = await _tables(store, scenario, named, results)
        seats = {seat: SeatSettings(spec=spec) for seat, spec in specs.items()}
        repeats = max(one.repeat for one in results)
        settings = RunSettings(
            cases=place, scenario=scenario, seats=seats, repeats=repeats, name=request.name, preflight=False
        )
        made = await plan_run(settings, store, {})
        source = request.cases or ", ".join(map(str, request.files))
        shown = {seat: SeatSettings(spec=spec.partition("#")[0]) for seat, spec in specs.items()}
        made.settings = settings.model_copy(update={"cases": source, "seats": shown})
        for seat, spec in shown.items():
            made.parts[seat].spec = spec.spec
        made.imported = ImportedHeader(
            files=tuple(str(path) for path in request.files),
            recognised=tuple(notices),
            model=named,
            digest=digest,
            cases=request.cases,
        )
        return await play_planned(made, store, progress)


async def _tables(store: Store, scenario: str, model: str, results: Sequence[Result]) -> dict[str, str]:
    """Put the recorded actions of each seat into the store; returns the SPEC of each seat."""
    dialogue = scenario.startswith("imported")
    seats = _SEATS if dialogue else ("doctor",)
    tables: dict[str, dict[tuple[str, int], list[Action]]] = {seat: {} for seat in seats}
    for one in results:
        place = (one.case, one.repeat)
        for seat in seats:
            tables[seat][place] = []
        for number, turn in enumerate(one.turns):
            if turn.seat in tables:
                memo = {THEN: one.turns[number + 1].seat if number + 1 < len(one.turns) else ""} if dialogue else None
                tables[turn.seat][place].append(msgspec.structs.replace(turn.action, memo=memo))
    digests = await store.put([ImportedActions(tables[seat]).content() for seat in seats])
    return {seat: f"imported:{model}#{digest}" for seat, digest in zip(seats, digests, strict=True)}


def _match_cases(request: ImportRequest, results: list[Result]) -> list[Result]:
    """The results under the ids of the cases that they name, by id or else by their place in the data set.

    Raises UsageError if no case is known, or if a source's truth is not that of the case at its place.
    """
    cases = list(cases_of(RunSettings(cases=request.cases)))
    known = {case.id for case in cases}
    if any(one.case in known for one in results):
        return [one for one in results if one.case in known]
    if all(0 <= one.ordinal < len(cases) for one in results):
        made = []
        for one in results:
            case = cases[one.ordinal]
            truth = case.truth.diagnosis if isinstance(case, Case) else ""
            if one.diagnosis and truth and one.diagnosis.casefold() != truth.casefold():
                raise UsageError(
                    f"{one.where}: its truth is {one.diagnosis!r}, case {case.id} of {request.cases} has {truth!r}: "
                    "the file holds other cases, or in another order; leave out --cases"
                )
            made.append(msgspec.structs.replace(one, case=case.id))
        return made
    raise UsageError(
        f"{request.cases}: holds none of the cases that the results name, such as {results[0].case!r} "
        f"({results[0].where}); it holds {', '.join(sorted(known)[:3])}"
    )


def _scenario(request: ImportRequest, results: Sequence[Result]) -> str:
    """The scenario whose rules read the results: questions, one reply to a whole report, or a dialogue as it was."""
    if all(one.item is not None for one in results) and not request.cases:
        return "questions"
    if request.cases and all(len(one.turns) == 1 for one in results):
        case = next(iter(cases_of(RunSettings(cases=request.cases))), None)
        return "questions" if not isinstance(case, Case) else "oracle" if case.truth.diagnosis else "treatment"
    treated = any(one.treatment for one in results) and not any(one.diagnosis for one in results)
    return "imported-treatment" if treated else "imported"


_UNKNOWN = "(The case was not imported with its results.)"


def _case_file(folder: Path, request: ImportRequest, results: Sequence[Result]) -> Path:
    """A file of the items that the results themselves describe; a case of which nothing is known has no truth."""
    path = folder / "cases.jsonl"
    items: dict[str, Result] = {}
    for one in results:
        items.setdefault(one.case, one)
    questions = all(one.item is not None for one in results)
    public = request.public
    with path.open("w", encoding="utf-8") as file:
        for one in items.values():
            made = one.item if questions and one.item else _placeholder(one, public)
            if public:
                made = made.model_copy(update={"data_class": "public"})
            file.write(made.model_dump_json(exclude_defaults=True) + "\n")
    return path


def _placeholder(one: Result, public: bool) -> Case:
    return Case(
        id=one.case,
        opening=one.opening.strip() or _UNKNOWN,
        truth=Truth(diagnosis=one.diagnosis, treatment=one.treatment),
        provenance=Provenance(source="imported results", record=one.where),
        data_class="public" if public else "restricted",
    )


async def _keep_scores(run: Run, results: Sequence[Result]) -> None:
    """Store the origin's scores of each episode; after an interrupted import this stores the missing ones too."""
    for one in results:
        row = await run.store.episode(run.name, f"{one.case}@{one.repeat}")
        if row is not None and one.scores:
            await run.store.put_scores(run.name, row.id, ORIGIN, list(one.scores))


async def _notes(run: Run, request: ImportRequest, results: Sequence[Result], lost: Sequence[Result]) -> list[str]:
    """Sentences on what cannot be scored in the run, and why."""
    notes = [f"{one.where}: left out, {one.lost}" for one in lost[:3]]
    if len(lost) > len(notes):
        notes.append(f"{len(lost) - len(notes):,} more left out")
    if unknown := len(results) - len(await run.episodes()):
        index = await run.index()
        first = next((one for one in results if one.case not in index), None)
        named = f", the first {first.case}" if first else ""
        notes.append(f"{count_noun(unknown, 'result')} of cases that {request.cases} does not hold left out{named}")
    if run.of_patients:
        goal = run.played("it was not imported").scenario.goal
        lacking = 0
        for case in await run.index():
            truth = (await run.case(case)).truth
            lacking += not (truth.treatment if goal == "treatment" else truth.diagnosis).strip()
        if lacking:
            notes.append(
                f"{count_noun(lacking, 'case')} of {len(await run.index())} without a known {goal}: its accuracy "
                "cannot be scored there (reason no_truth); name the cases by --cases, or a column by --map COLUMN="
                + goal
            )
        if not request.cases:
            notes.append("the results hold no record of the cases: orders and examinations cannot be scored")
    if not any(one.scores for one in results):
        notes.append("the origin gives no scores of its own")
    return notes
