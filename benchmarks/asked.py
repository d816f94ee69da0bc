"""Questions of one turn and the criteria of their rubrics: thousands of short calls to an endpoint that takes 50 ms."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path

import anyio

import wardround
from benchmarks.bare import bare
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured, measuring, prose
from benchmarks.server import Answers, answer_of, served
from wardround.engine.models.gates import Gates
from wardround.engine.models.prices import Prices
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import reach
from wardround.evaluators.open_answers.rubric import Rubric
from wardround.runs.seats import SeatConfig
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run

QUESTIONS, CRITERIA, EACH = 10_000, 48_000, 12
"""Questions that are asked, criteria that are judged, and criteria of one answer."""
LATENCY, AT_ONCE = 0.05, 200
OPTION = b"none of these four"
"""An option that only the questions have."""


class Said(Answers):
    """Answers every question alike, and every criterion."""

    def __init__(self) -> None:
        super().__init__({}, 0.0, 0)
        self._verdict = answer_of(json.dumps(json.dumps({"why": "it says so", "met": True}))[1:-1])
        self._choice, self._text = answer_of("Answer: A"), answer_of(prose(600))

    def to(self, request: bytes) -> tuple[bytes | None, bool]:
        """The verdict if the prompt shows its form, a letter if it shows options, else a text."""
        self.sent["200"] += 1
        if b'\\"met\\"' in request:
            return self._verdict, False
        return self._choice if OPTION in request else self._text, False


def asked(quick: bool) -> Sequence[Figure]:
    """The share of the latency limit of the questions, their pace beside a bare loop, and the time of the rubrics."""
    questions, criteria, turns = (1000, 2400, 1) if quick else (QUESTIONS, CRITERIA, 3)
    load, found, loops = Load(questions, calls=1, concurrency=AT_ONCE, latency=LATENCY), [], []
    for _ in range(turns):
        with served(LATENCY) as server:
            loops.append(anyio.run(bare, load, server.url))
        with served(LATENCY, answers=Said()) as server:
            found.append((anyio.run(_questions, questions, server.url), anyio.run(_rubrics, criteria, server.url)))
    name = f"{AT_ONCE} at once, {LATENCY * 1000:g} ms"
    cpu = [played.cpu / questions * 1000 for played, _ in found]
    judged = [judged.cpu / criteria * 1000 for _, judged in found]
    return (
        of_runs(
            f"{questions:,} questions of one turn, {name}",
            [_limit(questions) / played.wall for played, _ in found],
            unit="of the latency limit",
            at_least=0.90,
            note=f"{cpu[0]:.2f} ms CPU a question",
        ),
        of_runs(
            f"the pace of these questions, {name}",
            [loop.wall / played.wall for loop, (played, _) in zip(loops, found, strict=True)],
            unit="of the bare loop",
            note=f"the bare loop: {_limit(questions) / loops[0].wall:.2f} of the limit, "
            f"{loops[0].cpu / questions * 1000:.2f} ms CPU a call",
        ),
        of_runs(
            f"{criteria:,} criteria of rubrics judged, {name}",
            [judged.wall / _limit(criteria) for _, judged in found],
            unit="of the limit",
            at_most=1.10,
            note=f"{judged[0]:.2f} ms CPU a criterion",
        ),
    )


def _limit(calls: int) -> float:
    """Seconds that no schedule can beat."""
    return calls * LATENCY / AT_ONCE


async def _questions(count: int, url: str) -> Measured:
    """Questions with options, each answered once."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "questions.jsonl"
        options = {"A": "one", "B": "two", "C": "three", "D": OPTION.decode()}
        with path.open("w") as file:
            for number in range(count):
                question = {"question": prose(300, seed=number % 500) + f" {number}?", "options": options}
                file.write(json.dumps({**question, "answer_idx": "A", "answer": "one"}) + "\n")
        return (await _played(Path(name), path, count, url))[0]


async def _rubrics(criteria: int, url: str) -> Measured:
    """Answers with twelve criteria each; only the judging is measured."""
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
        return (await _played(Path(name), path, count, url, judge=True))[1]


async def _played(folder: Path, path: Path, count: int, url: str, *, judge: bool = False) -> tuple[Measured, Measured]:
    """What playing took, and what judging took."""
    store, judging = wardround.open_store(folder / "bench.db"), Measured()
    seats = {"doctor": {"spec": "openai/bench", "base_url": url}}
    with measuring() as playing:
        run = await wardround.run(path, "questions", seats=seats, store=store, name="r", concurrency=AT_ONCE)
    if await run.endings() != {"completed": count}:
        raise RuntimeError(f"not every question was answered: {await run.endings()}")
    if judge:
        gates = Gates({}, Quota(in_flight=AT_ONCE))
        model = reach("openai/bench", base_url=url, env={}, prices=Prices(), gates=gates)
        court = JudgeConfig(seats_of([SeatConfig("openai/bench", model=model, gates=gates)]))
        with measuring() as judging:
            scores = await score_run(run, [Rubric()], judge=court, concurrency=AT_ONCE)
        if any(row.score("rubric_score").value != 1.0 for row in scores.episodes):
            raise RuntimeError("a rubric came out otherwise than it was made to")
        await court.aclose()
    await store.aclose()
    return playing, judging
