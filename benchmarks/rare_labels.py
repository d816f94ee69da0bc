"""Counts the labels of rare diseases that a case names at all, and those that our reader finds in it.

    python -m benchmarks.rare_labels ../shared

The labels are `checked_rare_disease` of the shared MedR-Bench cases. Two names are one disease if MONDO says so.
"""

import json
import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.diseases.mondo import WIDEST, diseases_named, form, lineage, mondo
from wardround.scenarios.reports.rare_diseases import rare
from wardround.scenarios.terms.wording import key

PARTS = ("diagnosis_results", "final_diagnosis", "differential_diagnosis", "case_summary")
ROWS = (
    "known by name to our linker",
    "known by name to our linker or to MONDO",
    "named, by any name, in diagnosis, reasoning, differential and summary",
    "found there by `rare`, as the same disease",
    "a wider or narrower disease is named there",
)
_LONGEST = 8
_CERTAIN = ("exact", "words", "abbreviation", "core")


def shares(cases: Mapping[str, Mapping[str, object]]) -> Mapping[str, float]:
    """Return the share of all labels of `cases` for which each of ROWS holds, and the number of labels as 'labels'."""
    counts: Counter[str] = Counter()
    for case in cases.values():
        parts, listed = case["generate_case"], case["checked_rare_disease"]
        assert isinstance(parts, dict)
        assert isinstance(listed, list)
        labels = {key(str(name)): str(name) for name in listed}
        if labels:
            counts.update(_labels_in(labels, ". ".join(str(parts[part]) for part in PARTS)))
    return {"labels": counts["labels"], **{row: counts[row] / counts["labels"] for row in ROWS}}


def _labels_in(labels: Mapping[str, str], text: str) -> Iterator[str]:
    """Yield the rows that hold for each label of a case, and 'labels' once for each label."""
    named = {name: diseases_named(name) for name in names_in(text)}
    numbers = frozenset(number for several in named.values() for number in several)
    above = frozenset(number for name in named for number in lineage(name))
    concepts = rare(text, linker())
    for plain, label in labels.items():
        meant, link = frozenset(diseases_named(label)), linker().link(label)
        ours = link is not None and link.rule in _CERTAIN
        wider = frozenset(number for number in lineage(label) if mondo().kinds.get(number, 0) <= WIDEST)
        same = any(plain in map(key, one.names) or meant & _numbers(one) for one in concepts)
        near = not meant & numbers and bool(wider & numbers or meant & above)
        yield "labels"
        yield from (
            row for row, holds in zip(ROWS, (ours, ours or meant, meant & numbers, same, near), strict=True) if holds
        )


@cache
def _numbers(concept: Concept) -> frozenset[int]:
    return frozenset(number for name in concept.names for number in diseases_named(name))


def names_in(text: str) -> Sequence[str]:
    """Return the stretches of a text that are names in MONDO: from each word on, the longest one."""
    names: dict[str, None] = {}
    for sentence in re.split(r"(?<=[.;:!?])\s|\n", text):
        words, at = re.findall(r"[\w'\u2019/-]+", sentence), 0
        while at < len(words):
            ends = range(min(len(words), at + _LONGEST), at, -1)
            end = next(
                (
                    end
                    for end in ends
                    if len(form(" ".join(words[at:end]))) > 4 and diseases_named(" ".join(words[at:end]))
                ),
                0,
            )
            if end:
                names[" ".join(words[at:end])] = None
            at = end or at + 1
    return tuple(names)


def main() -> None:
    """Print the shares."""
    path = Path(sys.argv[1]) / "data/medrbench/diagnosis_cases.json"
    for row, value in shares(json.loads(path.read_text(encoding="utf-8"))).items():
        print(f"{value:>6.3f}  {row}" if value <= 1 else f"{value:>6.0f}  {row}")


if __name__ == "__main__":
    main()
