"""Imaging in the published rules: classifies the names of recorded exams."""

from collections.abc import Mapping
from dataclasses import dataclass

from wardround.scenarios.published.imaging_words import ImagingTables, ImagingWords

# The record builder uses an older vocabulary than the parser of requests; these are the words that it lacks:
_LATER_SPECIALS = frozenset(
    ("cardiac catheterization", "CAD", "DSM", "ECG", "DTI", "ECHO", "CTPA", "Lower GI Series", "VCUG")
)
_LATER = frozenset(
    (
        *("computed tomography", "usg", "angiography", "lower extremities", "cxt", "pulmonary", "coronary arteries"),
        *("coronary angiogram", "coronary artery", "thorax", "myocardial", "biliary", "orbit", "mastoid", "face"),
        *("cerebral", "cerebellum", "thoracic", "spinal"),
    )
)


@dataclass(frozen=True, slots=True)
class ExamClass:
    """The class of an exam's name: the category with most hits, and how many; 0 hits mean none.

    On a tie, `modalities` and `regions` list all candidates, because the published code picks one at random.
    """

    modality: str
    region: str
    counts: tuple[int, int]
    modalities: tuple[str, ...]
    regions: tuple[str, ...]


def radiology_name(name: str, tables: ImagingTables) -> ExamClass:
    """The modality and region of a recorded exam's name, by the number of hits (record building)."""
    special = next(
        (
            category
            for category, pattern in tables.modalities.specials
            if category not in _LATER_SPECIALS and pattern.search(name)
        ),
        None,
    )
    how = {special: 1} if special else _counted(name, tables.modalities)
    where = _counted(name, tables.regions)
    modalities, most = _top(how)
    regions, count = _top(where)
    organ = tables.organ.get(modalities[0]) if len(modalities) == 1 else None
    if not count and organ and modalities[0] not in _LATER_SPECIALS:
        regions, count = (organ,), 1
    return ExamClass(modalities[0], regions[0], (most, count), modalities, regions)


def _counted(text: str, words: ImagingWords) -> dict[str, int]:
    counts = dict.fromkeys(words.names, 0)
    for name, pattern in words.compiled:
        if not _later(pattern.pattern):
            counts[name] += len(pattern.findall(text))
    return counts


def _later(pattern: str) -> bool:
    return pattern.removeprefix(r"\b").removesuffix(r"\b") in _LATER


def _top(counts: Mapping[str, int]) -> tuple[tuple[str, ...], int]:
    most = max(counts.values())
    return tuple(name for name, count in counts.items() if count == most), most
