"""Measures how orders are understood on one core: phrases a second against 5,652 names, and how many of them right.

`python -m benchmarks.orders` prints both. The published look-up tables are used if they lie beside the checkout.
"""

import json
import random
import string
import time
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from rapidfuzz import fuzz, process

from benchmarks.figure import Figure, table
from benchmarks.phrases import halves
from conformance import published
from conformance.tables import Tables, load
from wardround.scenarios.orders.catalogue import Catalogue, Test, catalogue
from wardround.scenarios.orders.order_parser import understand

NAMES = 5652
SHARED = Path(__file__).resolve().parents[2] / "shared/data/multicogeval/mimic-iv"
_SEEN = 0.8
_LETTERS = string.ascii_lowercase


def orders(quick: bool) -> Sequence[Figure]:
    """Measure phrases a second: the default rules on the large table and on ours, the published rules on theirs."""
    count = 2_000 if quick else 20_000
    names, source = _names()
    large = _large(names)
    figures = [
        *_pair(f"default rules, {len(names):,} names ({source})", lambda text: understand(text, large), names, count),
        *_pair("default rules, own table", lambda text: understand(text, catalogue()), _own(), count),
    ]
    figures.append(_against_rapidfuzz(names, large, count // 20))
    if SHARED.is_dir():
        tables = _published()
        figures += _pair(
            "published rules, their table",
            lambda text: published.match(text, tables),
            list(tables.tests)[:NAMES],
            count // 4,
        )
    return figures


def _pair(name: str, read: Callable[[str], object], names: Sequence[str], count: int) -> list[Figure]:
    warm, known, fresh = (random.Random(seed) for seed in (0, 1, 2))
    for text in [*names, *(misspelt(warm.choice(names), warm) for _ in range(200))]:
        read(text)
    mixed = [
        known.choice(names) if known.random() < _SEEN else misspelt(known.choice(names), known) for _ in range(count)
    ]
    new = list(dict.fromkeys(misspelt(fresh.choice(names), fresh) for _ in range(count // 2)))
    return [
        Figure(f"{name}: 80 % exact or seen", _rate(read, mixed), "phrases/s", at_least=10_000),
        Figure(f"{name}: all new misspellings", _rate(read, new), "phrases/s", at_least=2_000),
    ]


def _against_rapidfuzz(names: Sequence[str], large: Catalogue, count: int) -> Figure:
    """Measure how many times faster an order is read than rapidfuzz compares it with each of the same names."""
    draw = random.Random(3)
    new = list(dict.fromkeys(misspelt(draw.choice(names), draw) for _ in range(count)))
    plain = _rate(lambda text: process.extractOne(text, names, scorer=fuzz.ratio, score_cutoff=90), new)
    return Figure(
        f"default rules, {len(names):,} names: all new misspellings, beside rapidfuzz's best ratio over the same names",
        _rate(lambda text: understand(text, large), new) / plain,
        "times its speed",
    )


def _rate(read: Callable[[str], object], texts: Sequence[str]) -> float:
    start = time.process_time()
    for text in texts:
        read(text)
    return len(texts) / (time.process_time() - start)


def misspelt(name: str, draw: random.Random) -> str:
    """Return `name` with one or two mistakes: a letter left out, doubled or wrong, or two in the wrong order."""
    letters = list(name)
    for _ in range(draw.choice((1, 1, 2))):
        place = draw.randrange(len(letters))
        kind = draw.randrange(4)
        if kind == 0 and len(letters) > 1:
            del letters[place]
        elif kind == 1:
            letters.insert(place, letters[place])
        elif kind == 2:
            letters[place] = draw.choice(_LETTERS)
        elif place + 1 < len(letters):
            letters[place], letters[place + 1] = letters[place + 1], letters[place]
    return "".join(letters)


def _names() -> tuple[list[str], str]:
    path = SHARED / "meta_lab_tests_UMLS_ext.json"
    if path.is_file():
        return list(json.loads(path.read_text(encoding="utf-8"))), "MultiCogEval"
    draw = random.Random(0)
    words = ["".join(draw.choice(_LETTERS) for _ in range(draw.randint(3, 12))) for _ in range(1500)]
    made = (" ".join(draw.choice(words) for _ in range(draw.randint(1, 4))) for _ in range(3 * NAMES))
    return list(dict.fromkeys(made))[:NAMES], "generated"


def _large(names: Sequence[str]) -> Catalogue:
    own = catalogue()
    tests = {name: Test(name, "lab", points=1.0) for name in names}
    return Catalogue(tests, own.modalities, own.regions, own.ambiguous)


def _own() -> list[str]:
    return [name for test in catalogue().tests.values() for name in (test.name, *test.synonyms)]


@cache
def _published() -> Tables:
    return load(SHARED)


def main() -> None:
    """Print the speed, then the accuracy on the labelled phrases."""
    print(table(orders(quick=False)))
    print()
    print(halves(_published() if SHARED.is_dir() else None))


if __name__ == "__main__":
    main()
