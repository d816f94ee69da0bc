"""Draws pairs of sibling diseases that must not pass for each other, by rule and seed, from open ontologies.

`python -m benchmarks.opposites > tests/scenarios/diseases/opposites.csv` wrote the list before any rule was written.
With the folder of the Disease Ontology (`HumanDO.tsv.gz`) it wrote opposites_doid.csv, which holds ids only.
"""

import csv
import gzip
import random
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from wardround.scenarios.diseases import ontologies

SEED = 13
COUNT = 200
_WORD = re.compile(r"[a-z]+|\d+[a-z]?", re.IGNORECASE)
_LEFT_OUT = re.compile(r"(?i)\b(?:other|unspecified|nos|nec|not elsewhere|sequelae|personal|encounter|obsolete)\b")
_LITTLE = frozenset(
    [
        "a",
        "an",
        "the",
        "of",
        "in",
        "on",
        "to",
        "and",
        "or",
        "by",
        "due",
        "type",
        "syndrome",
        "disease",
        "disorder",
        "with",
        "without",
    ]
)
CLASSES: Sequence[tuple[str, str]] = (
    ("side", r"left|right|bilateral|unilateral|upper|lower|anterior|posterior|medial|lateral|proximal|distal"),
    ("course", r"acute|chronic|subacute|recurrent|persistent|paroxysmal"),
    ("origin", r"congenital|acquired|primary|secondary|hereditary|familial|sporadic|idiopathic|dominant|recessive"),
    ("growth", r"benign|malignant|situ|invasive"),
    ("age", r"adult|infantile|juvenile|neonatal|childhood|early|late|onset"),
    ("degree", r"mild|moderate|severe|stage|grade|partial|complete|total"),
    ("lack", r"without|non\w+|un\w+|in\w+able"),
    ("prefix", r"hypo\w+|hyper\w+|macro\w+|micro\w+|intra\w+|extra\w+|pre\w+|post\w+"),
    ("number", r"\d+\w?|[a-h]|[ivx]+"),
)


def main() -> None:
    """Print the list as CSV with the columns kind, one, other; for the Disease Ontology with the ids."""
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("kind", "one", "other"))
    if len(sys.argv) > 1:
        families: dict[str, list[str]] = {}
        ids = {}
        for number, name, parent in doid(Path(sys.argv[1])):
            ids[name] = number
            families.setdefault(parent, []).append(name)
        named = [pair for family in families.values() for pair in within(sorted(set(family)))]
        out.writerows((kind, ids[one], ids[other]) for kind, one, other in chosen(named, COUNT))
    else:
        out.writerows(chosen(pairs(), COUNT))


def doid(path: Path) -> Iterator[tuple[str, str, str]]:
    """Return (id, name, parent's name) of each disease in HumanDO.tsv.gz."""
    with gzip.open(path, "rt", encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            yield row["id"], row["label"], row["subClassOf"]


def chosen(listed: Iterable[tuple[str, str, str]], count: int) -> list[tuple[str, str, str]]:
    """Draw `count` pairs by seed, spread evenly over the kinds; no two pairs share a name."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for kind, one, other in listed:
        kinds.setdefault(kind, []).append((one, other))
    draw = random.Random(SEED)
    for same_kind in kinds.values():
        same_kind.sort()
        draw.shuffle(same_kind)
    taken: list[tuple[str, str, str]] = []
    used: set[str] = set()
    while len(taken) < count and any(kinds.values()):
        for kind in sorted(kinds):
            while kinds[kind]:
                one, other = kinds[kind].pop()
                if one not in used and other not in used and len(taken) < count:
                    used |= {one, other}
                    taken.append((kind, one, other) if draw.random() < 0.5 else (kind, other, one))
                    break
    return taken


def pairs() -> Iterator[tuple[str, str, str]]:
    """Return (kind, one, other) for every two names of one source that differ in a word or two on both sides."""
    families: dict[str, list[str]] = {}
    for name, code in ontologies.codes().items():
        if code.parent and name[0] in ontologies.CHAPTERS:
            families.setdefault(code.parent, []).append(code.title)
    for source in (ontologies.orphanet(), ontologies.omim()):
        for concept in source:
            for word in words(concept.name):  # siblings: names that are alike but for this word
                rest = sorted(words(concept.name) - {word})
                families.setdefault(f"{concept.id.split(':')[0]} {' '.join(rest)}", []).append(concept.name)
    for family in families.values():
        yield from within(sorted(set(family)))


def within(family: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Return the pairs of one family."""
    names = [name for name in family if not _LEFT_OUT.search(name) and len(name) <= 90][:40]
    for place, one in enumerate(names):
        for other in names[place + 1 :]:
            mine, theirs = words(one) - words(other), words(other) - words(one)
            if mine and theirs and len(mine) <= 2 and len(theirs) <= 2 and (words(one) & words(other)) - _LITTLE:
                yield kind_of(mine, theirs), one, other


def words(name: str) -> frozenset[str]:
    """Return the words of a name in lower case and in the singular."""
    return frozenset(word.lower().rstrip("s") if len(word) > 3 else word.lower() for word in _WORD.findall(name))


def kind_of(mine: frozenset[str], theirs: frozenset[str]) -> str:
    """Return the first class with words of both sides, or, for a lack or a prefix, of one side; else 'word'."""
    for kind, pattern in CLASSES:
        match = re.compile(rf"(?:{pattern})$")
        if kind in ("lack", "prefix") and any(match.match(word) for word in mine | theirs):
            return kind
        if any(match.match(word) for word in mine) and any(match.match(word) for word in theirs):
            return kind
    return "word"


if __name__ == "__main__":
    main()
