"""Measures the linking of disease mentions: how many a second, how many right, and how the two linkers compare."""

import csv
import importlib.util
import random
import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import TypeVar

from benchmarks.figure import Figure, of_runs, table
from wardround.scenarios.diseases.knowledge import Knowledge, knowledge
from wardround.scenarios.diseases.lexical_linker import LexicalLinker
from wardround.scenarios.diseases.linker import Concept, Linker
from wardround.scenarios.diseases.ontologies import covers
from wardround.scenarios.diseases.same_disease import same_disease
from wardround.scenarios.diseases.scispacy_linker import ScispacyLinker

LABELLED = Path(__file__).resolve().parent.parent / "tests" / "scenarios" / "diseases" / "disease_mentions.csv"
AIM = 1000.0
"""Disease mentions to be linked a second, on one core after warm-up."""
T = TypeVar("T")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def linking(quick: bool) -> Sequence[Figure]:
    """Measure the default linker, and scispaCy if its extra is installed."""
    known, built = _timed(knowledge)
    figures = [Figure("diseases: first use, the knowledge", built, "s", note=f"{len(known.concepts)} concepts")]
    figures += [_verdicts(quick), *_of("default", LexicalLinker(known), known, quick)]
    if importlib.util.find_spec("scispacy") is None:
        return [
            *figures,
            Figure("scispaCy", None, note="its extra is not installed here; see docs/records/diseases.md"),
        ]
    figures += _of("scispaCy, exact", ScispacyLinker(known), known, quick)
    if not quick:
        figures += _of("scispaCy, hnsw", ScispacyLinker(known, hnsw=True), known, quick)
    return figures


def _verdicts(quick: bool) -> Figure:
    """Measure how fast word match decides whether two names are one disease, over all pairs of some names."""
    names = list(dict.fromkeys(mention for mention, _, _ in _labelled()))[: 20 if quick else 40]
    for name in names:
        same_disease(name, names[0])
    same_disease.cache_clear()
    pairs = list(product(names, names))
    random.Random(5).shuffle(pairs)
    rates = []
    for part in range(3):
        began = time.process_time()
        for one, other in pairs[part::3]:
            same_disease(one, other)
        rates.append(len(pairs[part::3]) / max(1e-9, time.process_time() - began))
    return of_runs("verdicts on two names", rates, unit="/s", at_least=500)


def _of(name: str, linker: Linker, known: Knowledge, quick: bool) -> list[Figure]:
    _, warm = _timed(lambda: (linker.link("pnumonia"), linker.mentions("pneumonia")))
    rows = _labelled()
    wrong = [mention for mention, _ in misspelt(known, 200 if quick else 1000, seed=7)]
    new = [mention for mention, _ in misspelt(known, 500 if quick else 3000, seed=8)]
    mixed = [mention for mention, _, _ in rows]
    random.Random(3).shuffle(mixed)
    text = " ".join(f"Was it {mention} or not?" for mention, _, _ in rows)
    aim = AIM if name == "default" else None
    figures = [
        Figure(f"{name}: warm-up", warm, "s"),
        of_runs(f"{name}: labelled mentions", _rates(linker.link, mixed), unit="/s", at_least=aim),
        of_runs(f"{name}: new misspellings", _rates(linker.link, new), unit="/s", at_least=aim),
        of_runs(f"{name}: running text", [len(text) * rate for rate in _rates(linker.mentions, [text])], unit="char/s"),
    ]
    for kind in dict.fromkeys(kind for _, kind, _ in rows):
        of_kind = [(mention, families) for mention, one, families in rows if one == kind]
        share = sum(_right(linker, mention, families) for mention, families in of_kind) / len(of_kind)
        figures.append(Figure(f"{name}: right, {kind}", share, note=f"of {len(of_kind)}"))
    typos = misspelt(known, len(wrong), seed=7)
    linked = [(linker.link(mention), concept) for mention, concept in typos]
    share = sum(one is not None and one.concept.id == concept.id for one, concept in linked) / len(typos)
    other = sum(one is not None and one.concept.id != concept.id for one, concept in linked) / len(typos)
    return [
        *figures,
        Figure(f"{name}: right, made misspellings", share, note=f"of {len(typos)}; another disease {other:.3f}"),
    ]


def misspelt(known: Knowledge, count: int, seed: int) -> list[tuple[str, Concept]]:
    """Return names of the project's own table with one or two letters lost, doubled, changed or swapped, by seed."""
    draw = random.Random(seed)
    names = [
        (name, concept)
        for concept in known.concepts
        if concept.id.startswith("WR:") and concept.icd10
        for name in (concept.name, *concept.synonyms[:2])
        if len(name) > 7 and name.replace(" ", "").isalpha()
    ]
    return [(_spoilt(name, draw), concept) for name, concept in (draw.choice(names) for _ in range(count))]


def _spoilt(name: str, draw: random.Random) -> str:
    letters = list(name)
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.choice([at for at in range(1, len(letters) - 1) if letters[at].isalpha()])
        kind = draw.randrange(4)
        if kind == 0:
            del letters[place]
        elif kind == 1:
            letters.insert(place, letters[place])
        elif kind == 2:
            letters[place] = draw.choice(_LETTERS)
        else:
            letters[place], letters[place - 1] = letters[place - 1], letters[place]
    return "".join(letters)


def _labelled() -> list[tuple[str, str, str]]:
    """Return (mention, kind, families) of each labelled mention."""
    with LABELLED.open(encoding="utf-8") as stream:
        return [(row["mention"], row["kind"], row["icd10"]) for row in csv.DictReader(stream)]


def _right(linker: Linker, mention: str, families: str) -> bool:
    match = linker.link(mention)
    if not families:
        return match is None
    return match is not None and any(covers(one, code) for one in families.split("|") for code in match.concept.icd10)


def _rates(ask: Callable[[str], object], texts: Sequence[str], runs: int = 3) -> list[float]:
    """Return the texts read in a second of processor time, run by run; no run repeats a text that a cache may keep."""
    rates = []
    for run in range(runs):
        part = texts[run::runs] if len(texts) >= runs else texts
        began = time.process_time()
        for text in part:
            ask(text)
        rates.append(len(part) / max(1e-9, time.process_time() - began))
    return rates


def _timed(make: Callable[[], T]) -> tuple[T, float]:
    began = time.process_time()
    return make(), time.process_time() - began


if __name__ == "__main__":
    print(table(linking(quick=False)))
