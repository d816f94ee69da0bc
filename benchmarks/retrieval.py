"""Measures an offline corpus: how many questions find their passage, how fast, and how long building it takes."""

import csv
import gzip
import json
import math
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import anyio

from benchmarks.figure import Figure, table
from wardround.evaluators.search.corpus import SIZE, Corpus
from wardround.evaluators.search.documents import Fields

DATA = Path(__file__).resolve().parent.parent.parent / "shared" / "data"
TUNED, SEED = 1000, 5
"""Questions of MedQuAD that served to choose the weight of titles and the size of passages; they do not count here."""
MOST = 3


@dataclass
class Judged:
    """A set of documents (JSON lines) and questions, with the numbers of the documents that answer each question.

    `topics` holds the topic of each document, if the set names topics.
    """

    documents: list[dict[str, str]] = field(default_factory=list)
    questions: dict[str, set[int]] = field(default_factory=dict)
    topics: list[str] = field(default_factory=list)


def retrieval(quick: bool) -> Sequence[Figure]:
    """Measure each set that lies beside the project."""
    figures: list[Figure] = []
    sets = {"medquad": medquad, "healthver": healthver, "pubmedqa": pubmedqa}
    for name, read in sets.items():
        if not (DATA / name).is_dir():
            figures.append(Figure(f"{name}: recall@3", None, note="the data set does not lie beside the project"))
            continue
        judged = read(DATA / name)
        figures += _of(name, judged, Fields(), quick)
        if judged.topics:
            figures += _of(f"{name}, texts only", judged, Fields(title=()), quick)[2:4]
    return figures


def medquad(folder: Path) -> Judged:
    """Read MedQuAD: each answer is a document under its topic, without the question; all answers to one count."""
    judged = Judged()
    asked: dict[str, set[int]] = defaultdict(set)
    with gzip.open(folder / "medquad_answered.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            row = json.loads(line)
            judged.documents.append({"id": str(number), "title": row["focus"], "text": row["answer"]})
            judged.topics.append(row["focus"])
            asked[row["question"]].add(number)
    questions = [document for numbers in asked.values() for document in numbers]
    tuned = set(random.Random(SEED).sample(sorted(questions), TUNED))
    judged.questions = {question: numbers for question, numbers in asked.items() if not numbers & tuned}
    return judged


def healthver(folder: Path) -> Judged:
    """Read HealthVer: passages are documents; each claim is a question, answered by what supports or refutes it."""
    judged, numbers = Judged(), dict[str, int]()
    asked: dict[str, set[int]] = defaultdict(set)
    with (folder / "healthver_dev.csv").open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            number = numbers.setdefault(row["evidence"], len(numbers))
            if row["label"] in ("Supports", "Refutes"):
                asked[row["claim"]].add(number)
    judged.documents = [{"id": str(number), "text": text} for text, number in numbers.items()]
    judged.questions = dict(asked)
    return judged


def pubmedqa(folder: Path) -> Judged:
    """Read PubMedQA: each abstract without its conclusion is a document, and its title, a question, is the question."""
    judged = Judged()
    rows = json.loads((folder / "ori_pqal.json").read_text(encoding="utf-8"))
    for number, row in enumerate(rows.values()):
        judged.documents.append({"id": str(number), "text": "\n\n".join(row["CONTEXTS"])})
        judged.questions.setdefault(row["QUESTION"], set()).add(number)
    return judged


def _of(name: str, judged: Judged, fields: Fields, quick: bool) -> list[Figure]:
    questions = list(judged.questions.items())
    random.Random(SEED).shuffle(questions)
    questions = questions[: 300 if quick else None]
    with TemporaryDirectory() as folder:
        source = Path(folder) / f"{name.partition(',')[0]}.jsonl"
        source.write_text("".join(json.dumps(one) + "\n" for one in judged.documents), encoding="utf-8")
        began = time.perf_counter()
        corpus = Corpus.opened(source, None, fields, SIZE)
        built = time.perf_counter() - began
        size, again = corpus.path.stat().st_size, time.perf_counter()
        Corpus.opened(source, None, fields, SIZE).close()
        again = time.perf_counter() - again
        waits, ranked = list[float](), list[list[int]]()
        for question, _ in questions:
            began = time.perf_counter()
            ranked.append([int(one.url) for one in corpus.look_up(question, MOST)])
            waits.append(time.perf_counter() - began)
        rate = anyio.run(_rate, corpus, [question for question, _ in questions[:2000]])
        corpus.close()
    return [
        Figure(f"{name}: build", built, "s", note=f"{corpus.passages} passages, {size / 1e6:.0f} MB"),
        Figure(f"{name}: open again", again, "s"),
        *_quality(name, judged, [right for _, right in questions], ranked),
        Figure(f"{name}: query, median", 1000 * median(waits), "ms"),
        Figure(f"{name}: query, slowest of 100", 1000 * sorted(waits)[len(waits) * 99 // 100], "ms"),
        Figure(f"{name}: 50 at a time", rate, "/s"),
    ]


def _quality(name: str, judged: Judged, rights: Sequence[set[int]], ranked: Sequence[Sequence[int]]) -> list[Figure]:
    note = f"{len(rights)} questions, {len(judged.documents)} documents"
    recall = [
        len(right.intersection(numbers)) / min(MOST, len(right)) for right, numbers in zip(rights, ranked, strict=True)
    ]
    gain = [
        ndcg([number in right for number in numbers], len(right)) for right, numbers in zip(rights, ranked, strict=True)
    ]
    figures = [
        Figure(f"{name}: recall@3", sum(recall) / len(recall), note=note),
        Figure(f"{name}: nDCG@3", sum(gain) / len(gain), note=note),
    ]
    if judged.topics:
        same = [
            any(judged.topics[one] == judged.topics[other] for one in numbers for other in right)
            for right, numbers in zip(rights, ranked, strict=True)
        ]
        figures.append(Figure(f"{name}: an answer on the topic in the first 3", sum(same) / len(same), note=note))
    return figures


def ndcg(hits: Sequence[bool], relevant: int) -> float:
    """Return the discounted gain of the first three (1 / log2(rank + 1) for each right one) over the best order's."""
    best = sum(1 / math.log2(rank + 2) for rank in range(min(MOST, relevant)))
    return sum(hit / math.log2(rank + 2) for rank, hit in enumerate(hits[:MOST])) / best


async def _rate(corpus: Corpus, questions: Sequence[str]) -> float:
    """Return the queries answered in a second while 50 are under way."""
    left = list(questions)

    async def ask() -> None:
        while left:
            await corpus.find(left.pop())

    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for _ in range(50):
            group.start_soon(ask)
    return len(questions) / (time.perf_counter() - began)


if __name__ == "__main__":
    print(table(retrieval(quick=False)))
