"""Measures what doctors score that want a better score without being better doctors.

Each doctor is a file of recorded replies, as anybody could write one. Most doctors know the diseases of all cases of
the set. Some know the truth of their case and write it in a form that commits to nothing, so that only the reading of
answers can refuse them a score of 1.0.
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
"""The highest score that a doctor of this file may reach, unless the best constant answer scores more."""
REPLIES = 30
"""Recorded replies for each case: more than any scenario has turns, so that no recording ends early."""


def replies_of(scenario: str, answer: str, orders: str = "") -> list[str]:
    """Return the replies of an encounter that ends in `answer`, in the scenario's form.

    `orders` are the tests that a work-up orders first.
    """
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
    """A judge that accepts every answer that names the truth, whatever the words around it.

    A treatment has to be a plan as well: it has to name something that is done or given, and not repeat the case.
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
        """Return the reply to a question about an outcome."""
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
    """A panel whose only judge is `Gullible`."""
    return JudgeConfig(seats_of([SeatConfig("scripted/gullible", model=Scripted(Gullible()))]))


@dataclass(frozen=True, slots=True)
class Setting:
    """The cases of a trial, and the scenario that plays them."""

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
        """Return what a doctor knows of a case."""
        start = files("wardround.scenarios").joinpath("prompts", self.scenario, "start.md").read_text(encoding="utf-8")
        return Target(case, self.goal, self.pool, start, random.Random(f"{self.name} {case.id}"))


@dataclass(frozen=True, slots=True)
class Outcome:
    """The scores of one doctor."""

    goal: Goal
    episodes: Sequence[EpisodeScores]

    def figure(self, name: str) -> ScoreSummary:
        """Return the summary of one score."""
        figure = summarise(self.episodes).score(name)
        assert figure is not None, f"no score {name}"
        return figure

    @property
    def accuracy(self) -> ScoreSummary:
        """The summary of the headline score."""
        return self.figure(f"{self.goal}_accuracy")


@dataclass(frozen=True, slots=True)
class Doctor:
    """A doctor's answers by the id of each case that it plays, and the tests that it orders first in a work-up."""

    answers: Mapping[str, str]
    orders: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Trial:
    """A doctor's scores by word match, and by the gullible judge if it was asked."""

    words: Outcome
    judged: Outcome | None = None


_EPISODES_AT_ONCE = 800
"""The most episodes of one run: all replies of a run are one text, and lists of all treatments are long."""


async def play(setting: Setting, doctors: Mapping[str, Doctor], *, judged: bool = True) -> dict[str, Trial]:
    """Play every doctor's recorded replies; score them by word match, and by the gullible judge if `judged`.

    Many doctors play in one run, each on its own copies of its cases: the run is planned, stored and scored once. A
    copy differs from its case in its id alone.
    """
    outcomes: dict[str, Trial] = {}
    together: dict[str, Doctor] = {}
    for name, doctor in doctors.items():
        if together and sum(len(one.answers) for one in (*together.values(), doctor)) > _EPISODES_AT_ONCE:
            outcomes |= await _play(setting, together, judged=judged)
            together = {}
        together[name] = doctor
    return outcomes | await _play(setting, together, judged=judged)


async def _play(setting: Setting, doctors: Mapping[str, Doctor], *, judged: bool) -> dict[str, Trial]:
    names = list(doctors)
    cases, replies = [], {}
    for number, name in enumerate(names):
        doctor = doctors[name]
        for case in (one for one in setting.cases if one.id in doctor.answers):
            copy = case.model_copy(update={"id": f"{number}~{case.id}"})
            cases.append(case_line(copy) + "\n")
            replies[copy.id] = replies_of(setting.scenario, doctor.answers[case.id], doctor.orders.get(case.id, ""))
    with tempfile.TemporaryDirectory() as folder:
        store = MemoryStore()
        run = await wardround.run(
            _written(Path(folder, "cases.jsonl"), "".join(cases)),
            setting.scenario,
            doctor=f"replies:{_written(Path(folder, 'replies.json'), json.dumps(replies))}",
            store=store,
            allow_hosts=(),
            preflight=False,
        )
        words = _outcomes(setting, await score_run(run, [Standard()]), len(names))
        before = (
            _outcomes(setting, await score_run(run, [Standard()], judge=gullible()), len(names)) if judged else None
        )
        await store.aclose()
    return {name: Trial(words[at], before[at] if before else None) for at, name in enumerate(names)}


def _outcomes(setting: Setting, scores: RunScores, count: int) -> list[Outcome]:
    """Return the episodes of each doctor of a run."""
    by_case: list[list[EpisodeScores]] = [[] for _ in range(count)]
    for episode in scores.episodes:
        by_case[int(episode.case.partition("~")[0])].append(episode)
    return [Outcome(setting.goal, episodes) for episodes in by_case]


def _written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def doctors_of(setting: Setting) -> dict[str, Doctor]:
    """Return every doctor of `forms` with its answer to each case of a setting."""
    targets = [(case.id, setting.target(case)) for case in setting.cases]
    return {name: Doctor({case: form(one) for case, one in targets}) for name, form in forms(setting.goal).items()}


def constant(setting: Setting) -> float:
    """Return the share of cases, from 0 to 1, that the best constant answer gets right by word match."""
    right = (sum(compare_answer(answer, case, setting.goal).match for case in setting.cases) for answer in setting.pool)
    return max(right) / len(setting.cases)


async def play_each_case_once(settings: Sequence[Setting]) -> dict[str, Trial]:
    """Play every doctor on every case of one set once, in one of the scenarios, and return its scores over all cases.

    A Latin square of cases and doctors chooses the scenario, so that each scenario gets every form of answer and every
    case. All scenarios read an answer by the same rules: playing each answer in all of them would tell little more.

    Args:
        settings: The same cases in each scenario that asks for the same goal.
    """
    doctors = [doctors_of(setting) for setting in settings]
    parts: dict[str, list[Trial]] = {}
    for turn, setting in enumerate(settings):
        ids = [case.id for case in setting.cases]
        its = {
            name: Doctor({case: doctor.answers[case] for case in ids[(turn + row) % len(settings) :: len(settings)]})
            for row, (name, doctor) in enumerate(doctors[turn].items())
        }
        for name, one in (await play(setting, its)).items():
            parts.setdefault(name, []).append(one)
    return {name: _merged(some) for name, some in parts.items()}


def _merged(parts: Sequence[Trial]) -> Trial:
    goal = parts[0].words.goal
    return Trial(
        Outcome(goal, [episode for part in parts for episode in part.words.episodes]),
        Outcome(goal, [episode for part in parts if part.judged for episode in part.judged.episodes]),
    )


SCENARIOS_OF: Mapping[str, Sequence[str]] = {
    "bundled": ("workup", "one-turn", "free-turn", "oracle", "treatment", "consultation"),
    "MedR-Bench": ("one-turn", "free-turn", "oracle", "treatment"),
    "AgentClinic": ("consultation",),
}
"""The sets of cases by name, with the scenarios that play each; the bundled cases need no shared folder."""


def setting_of(name: str, scenario: str, shared: Path, *, limit: int) -> Setting:
    """Return the cases of a set that have what a scenario asks for, or `limit` of them drawn with a fixed seed."""
    whole = Setting(name, scenario, [case for path in _files(name, scenario, shared) for case in _loaded(path)])
    cases = [case for case in whole.cases if truth_of(case, whole.goal).strip()]
    if len(cases) > limit:
        chosen = set(random.Random(f"{name} {whole.goal}").sample(range(len(cases)), limit))
        cases = [case for place, case in enumerate(cases) if place in chosen]
    return replace(whole, cases=cases)


def goals(name: str) -> Sequence[Sequence[str]]:
    """Return the scenarios of a set that ask for a diagnosis, then each that asks for a treatment."""
    plans = [[one] for one in SCENARIOS_OF[name] if one == "treatment"]
    return [[one for one in SCENARIOS_OF[name] if one != "treatment"], *plans]


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
    """Return the highest score of each kind of doctor in each setting, with the best constant answer as its bound."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    settings = [
        setting_of(name, scenario, shared, limit=10 if quick else 60)
        for name, scenarios in SCENARIOS_OF.items()
        for scenario in scenarios
        if name == "bundled" or shared.is_dir()
    ]
    return anyio.run(_measured, settings)


async def _measured(settings: Sequence[Setting]) -> list[Figure]:
    figures = []
    for setting in settings:
        scored = await play(setting, doctors_of(setting))
        allowed = max(LEAST, constant(setting))
        worst: dict[str, tuple[float, str]] = {}
        for name, one in scored.items():
            for way, outcome in (("word match", one.words), ("judged", one.judged)):
                assert outcome is not None
                kind = f"{name.partition(':')[0]}, {way}"
                share = outcome.accuracy.bounds[1] if outcome.accuracy.bounds else 1.0
                worst[kind] = max(worst.get(kind, (-1.0, "")), (share, name))
        figures += [
            Figure(
                f"{setting.name}, {setting.scenario}: {kind}",
                share,
                "of the cases",
                at_most=allowed,
                note=name if share else "",
            )
            for kind, (share, name) in worst.items()
        ]
    return figures
