"""Doctors that want a better score without being better doctors, and what each of them scores.

Each doctor is a file of recorded replies, as anybody could write one. What it may know differs: most know the diseases
of the whole set of cases; some are handed the truth of each case and hide it in a form that commits to nothing, so that
only the reading of answers stands between them and a score of 1.0.
"""

import json
import math
import random
import re
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.resources import files
from pathlib import Path

import anyio

import wardround
from benchmarks.figure import Figure
from benchmarks.tricks import Target, forms, truth_of
from wardround.engine.models.scripted import Scripted
from wardround.engine.records import Message
from wardround.evaluators.evaluation import Goal
from wardround.evaluators.metrics.standard import Standard, compare_answer
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.summary import ScoreSummary, summarise
from wardround.runs.seats import SeatConfig
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import bundled, case_line, load
from wardround.scoring.judges import JudgeConfig, seats_of
from wardround.scoring.score import score_run
from wardround.testing.memory_store import MemoryStore

LEAST = 0.05
"""What a doctor of this file may score where the best constant answer scores less."""
REPLIES = 30
"""Recorded replies a case: more than any scenario has turns, so that no recording ends early."""


def wrapped(scenario: str, answer: str, orders: str = "") -> list[str]:
    """The replies of an encounter that ends in `answer`, in the scenario's form; `orders` are a work-up's tests."""
    if scenario == "workup":
        asked = ["Rationale: to know\nAction: LAB", f"Rationale: to know\nLab Tests: {orders}"] if orders else []
        return _repeated([*asked, "Rationale: I am sure\nAction: OUTPUT", f"Diagnosis: {answer}"])
    if scenario == "consultation":
        return _repeated([f"DIAGNOSIS: {answer}"])
    if scenario in ("oracle", "treatment"):
        head = "### Reasoning:" if scenario == "oracle" else "### Chain of Thought:"
        return _repeated([f"{head}\n<step 1> It is so.\n\n### Answer:\n{answer}"])
    body = "### Chain of Thought:\n<step 1> It is so.\n\n"
    asks = "### Additional Information Required:\nNot required.\n\n"
    return _repeated([f"{body}{asks}### Conclusion:\n{answer}"])


def _repeated(replies: list[str]) -> list[str]:
    return replies + [replies[-1]] * (REPLIES - len(replies))


class Gullible:
    """A judge that is fair and easily pleased: right is whatever names the truth, in whatever words around it.

    Of a treatment it sees whether the answer is a plan at all: it names something that is done or given, and does not
    repeat the case.
    """

    _TEXT = re.compile(
        r"^----- begin (The case|The reference|The answer) (\S+) -----\n(.*?)\n----- end \1 \2 -----$", re.S | re.M
    )
    _DONE = re.compile(
        r"(?i)\b(?:treat|therap|surg|operat|\d+ ?mg|dose|daily|give|start|perform|administ|remov|transplant|transfus"
        r"|resect|drain|repair|inject|infus|fluid|insulin)|(?:ectomy|otomy|plasty|ostomy|cillin|mycin|mab|nib|vir|olol"
        r"|pril|azole|statin|sone|solone|oxacin)\b"
    )

    def __call__(self, messages: Sequence[Message], purpose: str) -> str:
        """The reply to a question about an outcome."""
        if purpose.startswith("treatment_keywords"):
            return "treatment"
        texts = {label: text for label, _, text in self._TEXT.findall(messages[-1].content)}
        reference, answer = texts["The reference"], texts["The answer"]
        wanted = set(re.findall(r"\w{4,}", reference.partition("\n")[0].lower()))
        said = set(re.findall(r"\w{4,}", answer.lower()))
        known_words = set(re.findall(r"\w{4,}", texts.get("The case", "").lower()))
        right = len(wanted & said) >= math.ceil(0.8 * len(wanted))
        if purpose.startswith("diagnosis"):
            return json.dumps({"verdict": "correct" if right else "wrong"})
        if right:
            verdict, basis = "correct", "included"
        elif self._DONE.search(answer) and len(said - known_words) > 0.1 * len(said):
            verdict, basis = "unverifiable", "none"
        else:
            verdict, basis = "wrong", "no plan"
        return json.dumps({"verdict": verdict, "basis": basis, "evidence": []})


def gullible() -> JudgeConfig:
    """A panel of that one judge."""
    return JudgeConfig(seats_of([SeatConfig("scripted/gullible", model=Scripted(Gullible()))]))


@dataclass(frozen=True, slots=True)
class Ground:
    """What a doctor is tried on: cases and a scenario that can play them."""

    name: str
    scenario: str
    cases: Sequence[Case]

    @property
    def goal(self) -> Goal:
        """What the scenario asks for."""
        return "treatment" if self.scenario == "treatment" else "diagnosis"

    @property
    def pool(self) -> list[str]:
        """The truths of all cases, each once, in the order of the cases."""
        return list(dict.fromkeys(truth_of(case, self.goal) for case in self.cases))

    def target(self, case: Case) -> Target:
        """What a doctor is told of a case."""
        start = files("wardround.scenarios").joinpath("prompts", self.scenario, "start.md").read_text(encoding="utf-8")
        return Target(case, self.goal, self.pool, start, random.Random(f"{self.name} {case.id}"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a doctor scored."""

    goal: Goal
    episodes: Sequence[EpisodeScores]

    def figure(self, name: str) -> ScoreSummary:
        """The figures of one score."""
        figure = summarise(self.episodes).score(name)
        assert figure is not None, f"no score {name}"
        return figure

    @property
    def accuracy(self) -> ScoreSummary:
        """The headline."""
        return self.figure(f"{self.goal}_accuracy")


@dataclass(frozen=True, slots=True)
class Doctor:
    """What a doctor answers, by the id of each case that it plays, and the tests that it orders first in a work-up."""

    answers: Mapping[str, str]
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tried:
    """What a doctor scored by word match and, where a judge was asked, before the gullible judge."""

    words: Outcome
    judged: Outcome | None = None


_TOGETHER = 800
"""Most episodes of one run: the replies of a run are one text, and lists of all treatments are long."""


async def tried(ground: Ground, doctors: Mapping[str, Doctor], *, judged: bool = True) -> dict[str, Tried]:
    """Play every doctor's recorded replies and score them by words, then before the gullible judge.

    Many of them play in one run, each on its own copies of its cases, so that planning, storing and scoring are paid
    for once. A copy differs from its case in its id alone.
    """
    outcomes: dict[str, Tried] = {}
    together: dict[str, Doctor] = {}
    for name, doctor in doctors.items():
        if together and sum(len(one.answers) for one in (*together.values(), doctor)) > _TOGETHER:
            outcomes |= await _tried(ground, together, judged=judged)
            together = {}
        together[name] = doctor
    return outcomes | await _tried(ground, together, judged=judged)


async def _tried(ground: Ground, doctors: Mapping[str, Doctor], *, judged: bool) -> dict[str, Tried]:
    names = list(doctors)
    cases, replies = [], {}
    for number, name in enumerate(names):
        doctor = doctors[name]
        for case in (one for one in ground.cases if one.id in doctor.answers):
            copy = case.model_copy(update={"id": f"{number}~{case.id}"})
            cases.append(case_line(copy) + "\n")
            replies[copy.id] = wrapped(ground.scenario, doctor.answers[case.id], doctor.orders.get(case.id, ""))
    with tempfile.TemporaryDirectory() as folder:
        store = MemoryStore()
        run = await wardround.run(
            _written(Path(folder, "cases.jsonl"), "".join(cases)),
            ground.scenario,
            doctor=f"replies:{_written(Path(folder, 'replies.json'), json.dumps(replies))}",
            store=store,
            allow_hosts=(),
            preflight=False,
        )
        words = _outcomes(ground, await score_run(run, [Standard()]), len(names))
        before = _outcomes(ground, await score_run(run, [Standard()], judge=gullible()), len(names)) if judged else None
        await store.aclose()
    return {name: Tried(words[at], before[at] if before else None) for at, name in enumerate(names)}


def _outcomes(ground: Ground, scores: RunScores, count: int) -> list[Outcome]:
    """The episodes of each doctor of a run."""
    by_case: list[list[EpisodeScores]] = [[] for _ in range(count)]
    for episode in scores.episodes:
        by_case[int(episode.case.partition("~")[0])].append(episode)
    return [Outcome(ground.goal, episodes) for episodes in by_case]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def gamers(ground: Ground) -> dict[str, Doctor]:
    """Every doctor of this file on all cases of a ground."""
    targets = [(case.id, ground.target(case)) for case in ground.cases]
    return {name: Doctor({case: form(one) for case, one in targets}) for name, form in forms(ground.goal).items()}


def constant(ground: Ground) -> float:
    """The share of a ground's cases in which the best constant answer is right by words: one truth, for every case."""
    right = (sum(compare_answer(answer, case, ground.goal).match for case in ground.cases) for answer in ground.pool)
    return max(right) / len(ground.cases)


async def tried_once(grounds: Sequence[Ground]) -> dict[str, Tried]:
    """Try every doctor on every case of one set once, in one of the scenarios; the outcomes of all scenarios together.

    Which scenario plays a case is a Latin square of cases and doctors: each scenario meets every form of answer and
    every case. An answer is read by the same rules in all scenarios, so to play each in all of them tells little more.

    Args:
        grounds: The same cases in each scenario that asks for the same goal.
    """
    doctors = [gamers(ground) for ground in grounds]
    parts: dict[str, list[Tried]] = {}
    for turn, ground in enumerate(grounds):
        ids = [case.id for case in ground.cases]
        its = {
            name: Doctor(
                {ids[at]: doctor.answers[ids[at]] for at in range((turn + row) % len(grounds), len(ids), len(grounds))}
            )
            for row, (name, doctor) in enumerate(doctors[turn].items())
        }
        for name, one in (await tried(ground, its)).items():
            parts.setdefault(name, []).append(one)
    return {name: _together(some) for name, some in parts.items()}


def _together(parts: Sequence[Tried]) -> Tried:
    goal = parts[0].words.goal
    return Tried(
        Outcome(goal, [episode for part in parts for episode in part.words.episodes]),
        Outcome(goal, [episode for part in parts if part.judged for episode in part.judged.episodes]),
    )


PLACES: Mapping[str, Sequence[str]] = {
    "bundled": ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation"),
    "MedR-Bench": ("one-turn", "free-turn", "oracle", "treatment"),
    "AgentClinic": ("consultation",),
}
"""The sets of cases by name, and the scenarios that each is played under; the bundled need no shared folder."""


def ground_of(name: str, scenario: str, shared: Path, *, limit: int) -> Ground:
    """The cases of a set that have what a scenario asks for; `limit` of them by seed."""
    whole = Ground(name, scenario, [case for path in _files(name, scenario, shared) for case in _loaded(path)])
    cases = [case for case in whole.cases if truth_of(case, whole.goal).strip()]
    if len(cases) > limit:
        chosen = set(random.Random(f"{name} {whole.goal}").sample(range(len(cases)), limit))
        cases = [case for place, case in enumerate(cases) if place in chosen]
    return replace(whole, cases=cases)


def goals(name: str) -> Sequence[Sequence[str]]:
    """The scenarios of a set, those that ask for the same goal together."""
    plans = [[one] for one in PLACES[name] if one == "treatment"]
    return [[one for one in PLACES[name] if one != "treatment"], *plans]


def _files(name: str, scenario: str, shared: Path) -> Sequence[Path]:
    if name == "bundled":
        return bundled()
    if name == "AgentClinic":
        return [shared / "agentclinic/agentclinic_medqa.jsonl"]
    return [shared / f"medrbench/{'treatment' if scenario == 'treatment' else 'diagnosis'}_cases.json"]


@cache
def _loaded(path: Path) -> Sequence[Case]:
    return list(load(path))


def gaming(quick: bool) -> Sequence[Figure]:
    """The highest score of each kind of doctor over all grounds, beside the best constant answer."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    grounds = [
        ground_of(name, scenario, shared, limit=10 if quick else 60)
        for name, scenarios in PLACES.items()
        for scenario in scenarios
        if name == "bundled" or shared.is_dir()
    ]
    return anyio.run(_measured, grounds)


async def _measured(grounds: Sequence[Ground]) -> list[Figure]:
    figures = []
    for ground in grounds:
        scored = await tried(ground, gamers(ground))
        allowed = max(LEAST, constant(ground))
        worst: dict[str, tuple[float, str]] = {}
        for name, one in scored.items():
            for way, outcome in (("word match", one.words), ("judged", one.judged)):
                assert outcome is not None
                kind = f"{name.partition(':')[0]}, {way}"
                share = outcome.accuracy.bounds[1] if outcome.accuracy.bounds else 1.0
                worst[kind] = max(worst.get(kind, (-1.0, "")), (share, name))
        figures += [
            Figure(
                f"{ground.name}, {ground.scenario}: {kind}",
                share,
                "of the cases",
                at_most=allowed,
                note=name if share else "",
            )
            for kind, (share, name) in worst.items()
        ]
    return figures
