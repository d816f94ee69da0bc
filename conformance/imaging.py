"""Requests for imaging under MultiCogEval's rules: what a reply asks for, and which recorded exams answer it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from conformance.tables import Tables
from wardround.scenarios.published.imaging_words import Absent, ImagingWords


@dataclass(frozen=True)
class Request:
    """A requested study: `name` as written in capitals, and the modalities and regions read from it."""

    name: str
    regions: tuple[str, ...]
    modalities: tuple[str, ...]


def modality(text: str, tables: Tables) -> tuple[str, ...]:
    """The modalities that `text` names, in the tables' order; a special one excludes the others."""
    return _named(text, tables.modalities)


def region(text: str, modalities: Sequence[str], tables: Tables) -> tuple[str, ...]:
    """The regions that `text` names, else the organ implied by one of its modalities."""
    named = _named(text, tables.regions)
    return named or next(((tables.organ[name],) for name in modalities if name in tables.organ), ())


def _named(text: str, words: ImagingWords) -> tuple[str, ...]:
    for name, pattern in words.specials:
        if pattern.search(text):
            return (name,)
    hit = {name for name, pattern in words.compiled if pattern.search(text)}
    return tuple(name for name in words.names if name in hit)


def requests(items: Iterable[str], reply: str, tables: Tables) -> tuple[Request, ...]:
    """The studies that the items of a reply request.

    A listed exam name is used as it is. An item with only a region widens the request before it; one with only a
    modality takes its regions from the whole reply. Raises Absent where the published code fails.
    """
    asked: list[Request] = []
    for item in items:
        name = item.upper()
        known = tables.studies.get(name)
        if known is not None:
            asked.append(Request(name, tuple(known["regions"]), tuple(known["modalities"])))
            continue
        modalities = modality(item, tables)
        regions = region(item, modalities, tables)
        if modalities and regions:
            asked.append(Request(name, regions, modalities))
        elif asked and regions:
            last = asked[-1]
            asked[-1] = Request(last.name, tuple(dict.fromkeys((*last.regions, *regions))), last.modalities)
        elif modalities and (elsewhere := region(reply, modality(reply, tables), tables)):
            asked.append(Request(name, elsewhere, modalities))
    return tuple(asked)


def widened(request: Request, tables: Tables) -> Request:
    """The request with the wider modality of each special one added, as the examiner looks it up."""
    wider = [tables.broad[name] for name in request.modalities if name in tables.broad]
    return Request(request.name, request.regions, tuple(dict.fromkeys((*request.modalities, *wider))))


def answered(wanted: Iterable[Request], recorded: Iterable[str], tables: Tables) -> tuple[str, ...]:
    """The recorded exam names that answer any of the requests, in the record's order.

    A request matches by its own name, else all exams that the table lists under its region and modality.
    """
    names = list(dict.fromkeys(recorded))
    hit: set[str] = set()
    for request in (widened(one, tables) for one in wanted):
        if request.name in names:
            hit.add(request.name)
            continue
        for where in request.regions:
            for how in request.modalities:
                hit.update(_listed(where, how, tables))
    return tuple(name for name in names if name in hit)


def _listed(where: str, how: str, tables: Tables) -> set[str]:
    """Exam names of a region and modality; a modality that the region lists includes its special kinds."""
    by_modality = tables.exams.get(where, {})
    if how not in by_modality:
        return set()
    special = [name for name, wider in tables.broad.items() if wider == how and name in by_modality]
    return {exam for name in (how, *special) for exam in by_modality[name]}


def hits(request: Request, exam: str, tables: Tables) -> bool:
    """Whether the scorer counts a recorded exam as requested; a special modality counts only as its wider one.

    Raises Absent for an exam that the table does not list.
    """
    known = tables.studies.get(exam)
    if known is None:
        raise Absent("unknown_exam", f"the exam {exam!r} is not in the table of exam names")
    return same(request, known, tables)


def same(request: Request, known: Mapping[str, Sequence[str]], tables: Tables) -> bool:
    """Whether a request shares a region and a (wider) modality with a study of the table."""
    regions = {
        *request.regions,
        *(tables.organ[m] for m in request.modalities if m in tables.broad and m in tables.organ),
    }
    modalities = {tables.broad.get(name, name) for name in request.modalities}
    return bool(regions & set(known["regions"])) and bool(modalities & set(known["modalities"]))
