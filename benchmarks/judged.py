"""Measures how near the Reasoning Evaluator comes to its limit, with a judge of 200 ms and 200 calls at once."""

import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from zlib import crc32

import anyio

import wardround
from benchmarks.bare import bare
from benchmarks.figure import Figure, of_runs
from benchmarks.load import Load, Measured, measuring, prose
from benchmarks.server import Answers, answer_of, served
from wardround.engine.batch import Progress
from wardround.engine.models.prices import Prices
from wardround.engine.models.quota import Quota
from wardround.engine.models.reach import Gates, reach
from wardround.engine.records import Action, View
from wardround.engine.seat import Seat
from wardround.evaluators.reasoning.evaluator import EncounterReasoning
from wardround.evaluators.reasoning.evidence import bears
from wardround.evaluators.search.corpus import Corpus
from wardround.runs.seats import SeatConfig
from wardround.runs.stored_run import StoredEpisodes
from wardround.scenarios.case import Case, Provenance, Truth
from wardround.scenarios.loaders.load import case_line
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run

EPISODES, STEPS, REFERENCE = 1000, 6, 4
LATENCY, AT_ONCE = 0.2, 200
CHAIN = 3
"""Calls of the longest chain, each of which waits for the one before: a step's class, what to look up, its verdict."""
TOPICS = 500
FACT = "It is seen more often in the cold months than in the warm ones."
"""A sentence of every text in the corpus, so that a verdict can quote it from any passage."""


class Judging(Answers):
    """A judge that answers in the form of reply that the prompt shows, and names another topic for each step."""

    def __init__(self) -> None:
        super().__init__({}, 0.0, 0)
        self._forms = {
            b'{\\"classification\\"': [_json_answer({"classification": "reasoning"})],
            b'{\\"judgment\\"': [_json_answer(_VERDICT)],
            b'{\\"found\\"': [_json_answer({"found": True})],
            b'{\\"steps\\"': [_json_answer({"steps": [prose(120, seed=n) for n in range(REFERENCE)]})],
            b"separated by commas": [answer_of(f"{topic(n)}, cold months") for n in range(TOPICS)],
        }

    def to(self, request: bytes) -> tuple[bytes | None, bool]:
        """Return the reply to a prompt."""
        self.sent["200"] += 1
        replies = next(replies for form, replies in self._forms.items() if form in request)
        return replies[crc32(request) % len(replies)], False


_QUOTE = {"passage": 1, "quote": FACT, "bearing": "supports"}
_VERDICT = {"judgment": "correct", "keywords_to_search": "", "evidence": [_QUOTE]}


def _json_answer(value: object) -> bytes:
    return answer_of(json.dumps(json.dumps(value))[1:-1])


def topic(number: int) -> str:
    """Return a made-up word."""
    return f"morbus{number:03d}"


class Speaker:
    """A doctor whose reply has six steps, other ones for every case."""

    sealed = True

    def __init__(self, seat: Seat) -> None:
        self._case = seat.case_id

    async def act(self, view: View) -> Action:
        """Reply with the steps and an answer."""
        del view
        steps = [f"<step {n + 1}> {self._case}: {prose(240, seed=n)}. {FACT}" for n in range(STEPS)]
        return Action("reply", "### Reasoning:\n" + "\n".join(steps) + "\n\n### Answer:\nmorbus")


def judged(quick: bool) -> Sequence[Figure]:
    """Measure the wall time as a multiple of the best schedule's for the same calls, and the CPU of a call."""
    episodes, turns = (150, 1) if quick else (EPISODES, 2)
    load, judgings, loops = Load(episodes=400, latency=0.0), [], []
    for _ in range(turns):
        with served(0.0) as server:
            loops.append(anyio.run(bare, load, server.url).cpu / load.total)
        with served(LATENCY, answers=Judging()) as server:
            judgings.append(anyio.run(_judge, episodes, server.url))
    calls = judgings[0].more["calls"]
    name = f"{episodes:,} episodes of {STEPS} steps judged, {AT_ONCE} at once, {LATENCY * 1000:g} ms"
    walls = [row.wall / limit(row.more["calls"]) for row in judgings]
    each = judgings[0].cpu / calls * 1000
    note = f"{calls:,.0f} calls, {judgings[0].more['searches']:,.0f} searches, {each:.2f} ms CPU a call"
    beside = [row.cpu / row.more["calls"] / loop for row, loop in zip(judgings, loops, strict=True)]
    return (
        of_runs(name, walls, unit="of the limit", at_most=1.10, note=note),
        of_runs("CPU a call of a judge, all work on its question included", beside, unit="of a call of the bare loop"),
    )


def limit(calls: float) -> float:
    """Return the seconds that every schedule needs: for the longest chain, or for all calls, AT_ONCE at a time."""
    return max(CHAIN * LATENCY, calls * LATENCY / AT_ONCE)


async def _judge(episodes: int, url: str) -> Measured:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _write(folder, episodes)
        store = wardround.open_store(folder / "bench.db")
        run = await wardround.run(folder / "cases.jsonl", "oracle", doctor=Speaker, store=store, name="r")
        gates = Gates({}, Quota(in_flight=AT_ONCE))
        model = reach("openai/bench", base_url=url, env={}, prices=Prices(), gates=gates)
        judges = JudgeConfig(seats_of([SeatConfig("openai/bench", model=model, gates=gates)]))
        judges.search = await Corpus.open(folder / "corpus.jsonl", cache=folder)
        progress = Progress()
        bears(FACT, FACT)  # the vocabulary is read once in a process: 2 s that no length of a run changes
        with measuring() as measured:
            scores = await score_run(run, [EncounterReasoning()], judge=judges, progress=progress, concurrency=AT_ONCE)
        measured.more = await _counted(
            StoredEpisodes(store, "r~reasoning"), [row.score("factuality_formal").value for row in scores.episodes]
        )
        await judges.aclose()
        await store.aclose()
    return measured


async def _counted(run: StoredEpisodes, values: Sequence[float | None]) -> dict[str, float]:
    if values != [1.0] * len(values):
        raise RuntimeError(f"an episode came out otherwise than it was made to: {values[:5]}")
    spent = {row.seat: row.spent.calls for row in await run.store.spending(run.name)}
    return {"calls": float(spent["judge"]), "searches": float(spent["search"])}


def _write(folder: Path, episodes: int) -> None:
    truth = Truth(diagnosis="morbus", differential=prose(600, seed=7))
    source = Provenance(source="made up")
    with (folder / "cases.jsonl").open("w") as file:
        for n in range(episodes):
            case = Case(id=f"c{n}", opening=prose(1500, seed=n), truth=truth, provenance=source, data_class="public")
            file.write(f"{case_line(case)}\n")
    with (folder / "corpus.jsonl").open("w") as file:
        for n in range(TOPICS):
            file.write(json.dumps({"title": topic(n), "text": f"{topic(n)} {prose(500, seed=n)}. {FACT}"}) + "\n")
