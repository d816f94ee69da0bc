"""Measures questions of one turn and criteria of rubrics: thousands of short calls, each of 50 ms at the endpoint."""

import json
import os
import resource
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import anyio

import wardround
from benchmarks.bare import bare
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured, measuring, prose
from benchmarks.server import Answers, answer_of, served
from wardround.api import create_planned, play_planned
from wardround.cluster_run import run_clustered
from wardround.engine.batch import Progress
from wardround.engine.cluster import Cluster
from wardround.evaluators.open_answers.rubric import Rubric
from wardround.runs.plan import plan_run
from wardround.runs.settings import validate_settings
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.score import score_run

QUESTIONS, CRITERIA, EACH = 10_000, 48_000, 12
"""The number of questions, of judged criteria in all, and of criteria for one answer."""
LATENCY, AT_ONCE, WORKERS = 0.05, 200, 2
OPTION = b"none of these four"
"""An option by which the server recognises a question."""


class FixedAnswers(Answers):
    """Gives the same answer to every question, and the same verdict on every criterion."""

    def __init__(self) -> None:
        super().__init__({}, 0.0, 0)
        self._verdict = answer_of(json.dumps(json.dumps({"why": "it says so", "met": True}))[1:-1])
        self._choice, self._text = answer_of("Answer: A"), answer_of(prose(600))

    def to(self, request: bytes) -> tuple[bytes | None, bool]:
        """The verdict if the prompt shows the form of one, a letter if it shows options, else a text."""
        self.sent["200"] += 1
        if b'\\"met\\"' in request:
            return self._verdict, False
        return self._choice if OPTION in request else self._text, False


def asked(quick: bool) -> Sequence[Figure]:
    """The time of the questions and of the rubrics as a ratio to the latency limit, and that of a bare loop.

    Each is measured in one process on a core of its own, and by `WORKERS` processes that share all cores with the
    server.
    """
    questions, criteria, turns = (1000, 2400, 1) if quick else (QUESTIONS, CRITERIA, 3)
    load, alone, loops = Load(questions, calls=1, concurrency=AT_ONCE, latency=LATENCY), [], []
    several = []
    for _ in range(turns):
        with served(LATENCY) as server:
            loops.append(anyio.run(bare, load, server.url))
        with served(LATENCY, answers=FixedAnswers()) as server:
            alone.append((anyio.run(_questions, questions, server.url), anyio.run(_rubrics, criteria, server.url)))
            with _all_cores():
                both = partial(_questions, workers=WORKERS), partial(_rubrics, workers=WORKERS)
                several.append((anyio.run(both[0], questions, server.url), anyio.run(both[1], criteria, server.url)))
    name = f"{AT_ONCE} at once, {LATENCY * 1000:g} ms"
    cpu = [played.cpu / questions * 1000 for played, _ in alone]
    judged = [judged.cpu / criteria * 1000 for _, judged in alone]
    return (
        of_runs(
            f"{questions:,} questions of one turn, {name}",
            [_limit(questions) / played.wall for played, _ in alone],
            unit="of the latency limit",
            at_least=0.90,
            note=f"{cpu[0]:.2f} ms CPU a question",
        ),
        of_runs(
            f"the pace of these questions, {name}",
            [loop.wall / played.wall for loop, (played, _) in zip(loops, alone, strict=True)],
            unit="of the bare loop",
            note=f"the bare loop: {_limit(questions) / loops[0].wall:.2f} of the limit, "
            f"{loops[0].cpu / questions * 1000:.2f} ms CPU a call",
        ),
        of_runs(
            f"{criteria:,} criteria of rubrics judged, {name}",
            [judged.wall / _limit(criteria) for _, judged in alone],
            unit="of the limit",
            at_most=1.10,
            note=f"{judged[0]:.2f} ms CPU a criterion",
        ),
        of_runs(
            f"the same questions by {WORKERS} workers, their start included",
            [_limit(questions) / played.wall for played, _ in several],
            unit="of the latency limit",
            note=f"{several[0][0].cpu / questions * 1000:.2f} ms CPU a question",
        ),
        of_runs(
            f"the same criteria by {WORKERS} workers, their start included",
            [judged.wall / _limit(criteria) for _, judged in several],
            unit="of the limit",
            note=f"{several[0][1].cpu / criteria * 1000:.2f} ms CPU a criterion",
        ),
    )


def _limit(calls: int) -> float:
    """The fewest seconds in which any schedule can make so many calls."""
    return calls * LATENCY / AT_ONCE


@contextmanager
def _all_cores() -> Iterator[None]:
    """Let this process and its workers use every core, that of the server too."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, range(os.cpu_count() or 1))
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _cpu_of_workers() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


async def _questions(count: int, url: str, workers: int = 1) -> Measured:
    """Play questions with options, each answered once."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "questions.jsonl"
        options = {"A": "one", "B": "two", "C": "three", "D": OPTION.decode()}
        with path.open("w") as file:
            for number in range(count):
                question = {"question": prose(300, seed=number % 500) + f" {number}?", "options": options}
                file.write(json.dumps({**question, "answer_idx": "A", "answer": "one"}) + "\n")
        return (await _played(Path(name), path, count, url, workers))[0]


async def _rubrics(criteria: int, url: str, workers: int = 1) -> Measured:
    """Judge answers by twelve criteria each; only the judging is measured."""
    with tempfile.TemporaryDirectory() as name:
        path, count = Path(name) / "rubrics.jsonl", criteria // EACH
        with path.open("w") as file:
            for number in range(count):
                rubric = [
                    {"criterion": f"Says {prose(60, seed=n)} of {number}", "points": n + 1, "tags": []}
                    for n in range(EACH)
                ]
                prompt = [{"role": "user", "content": f"{prose(300, seed=number % 500)} {number}?"}]
                file.write(json.dumps({"prompt_id": f"q{number}", "prompt": prompt, "rubrics": rubric}) + "\n")
        return (await _played(Path(name), path, count, url, workers, judge=True))[1]


async def _played(
    folder: Path, path: Path, count: int, url: str, workers: int, *, judge: bool = False
) -> tuple[Measured, Measured]:
    """(the time of playing, the time of judging)."""
    where, judging = folder / "bench.db", Measured()
    store, before = wardround.open_store(where), _cpu_of_workers()
    seats = {"doctor": {"spec": "openai/bench", "base_url": url}}
    fields = {"cases": str(path), "scenario": "questions", "seats": seats, "name": "r", "concurrency": AT_ONCE}

    async def elsewhere(name: str) -> None:
        await run_clustered(name, str(where), Cluster("", workers, ray=False), AT_ONCE)

    with measuring() as playing:
        made = await plan_run(validate_settings(fields, "bench"), store, {})
        if workers == 1 or judge:
            run = await play_planned(made, store, Progress())
        else:
            run = await create_planned(made, store)
            await elsewhere("r")
    playing.cpu += _cpu_of_workers() - before
    if await run.endings() != {"completed": count}:
        raise RuntimeError(f"not every question was answered: {await run.endings()}")
    if judge:
        asked = JudgeOptions(judges=("openai/bench",), base_urls=(url,), quotas=(f"in_flight={AT_ONCE}",))
        judges, before = await judge_config(asked, store), _cpu_of_workers()
        with measuring() as judging:
            scores = await score_run(
                run, [Rubric()], judge=judges, concurrency=AT_ONCE, elsewhere=elsewhere if workers > 1 else None
            )
        judging.cpu += _cpu_of_workers() - before
        if any(row.score("rubric_score").value != 1.0 for row in scores.episodes):
            raise RuntimeError("a rubric came out otherwise than it was made to")
        await judges.aclose()
    await store.aclose()
    return playing, judging
