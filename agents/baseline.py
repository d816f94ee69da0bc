"""A doctor without a model: ranks diseases by findings and similar cases, and orders tests that tell them apart.

It is a lower bound for every scenario; docs/baseline.md describes it together with the upper bound. It knows its view,
a table of diseases, the ontology of `hpo3`, and the other cases of the run (without the present patient's).
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np

from wardround.agents.baseline_knowledge import RankedDisease, affirmed_findings, disease_index, disease_key
from wardround.engine.records import Action, Json, Said, View
from wardround.engine.seat import Seat
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.parsers.moves import RESULT_STATES

MOST_CASES = 2000
"""The most cases that are read; of more cases only every n-th is used, so that an act stays fast."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another case and its similarity: the cosine of tf-idf vectors, from 0 to 1."""

    case: Case
    likeness: float


class Neighbours:
    """The cases of a run as one sparse matrix of words, built once; each patient's own case is left out of a query."""

    def __init__(self, cases: Sequence[Case]) -> None:
        step = 1 + (len(cases) - 1) // MOST_CASES if cases else 1
        self.cases = tuple(cases[::step])
        bags = [_cached_findings(case_text(case)) for case in self.cases]
        self._column = {word: index for index, word in enumerate(dict.fromkeys(word for bag in bags for word in bag))}
        self._rows = np.array([row for row, bag in enumerate(bags) for _ in bag], dtype=np.intp)
        self._columns = np.array([self._column[word] for bag in bags for word in bag], dtype=np.intp)
        self._values = np.array([1 + math.log(times) for bag in bags for times in bag.values()])
        self._seen = np.bincount(self._columns, minlength=len(self._column))

    def like(self, affirmed: Mapping[str, int], without: str) -> list[Neighbour]:
        """The eight cases most similar to the affirmed words `affirmed`, most similar first, ties in order of id.

        The case with the id `without` is left out of the list and of the document frequencies.
        """
        kept = np.array([case.id != without for case in self.cases], dtype=bool)
        if not kept.any():
            return []
        own = self._columns[~kept[self._rows]]
        seen = self._seen - np.bincount(own, minlength=len(self._seen))
        rarity = np.where(seen > 0, np.log1p(int(kept.sum()) / np.maximum(seen, 1)), 0.0)
        query = np.zeros(len(self._column))
        for word, times in affirmed.items():
            column = self._column.get(word)
            if column is not None:
                query[column] = (1 + math.log(times)) * rarity[column]
        weights = self._values * rarity[self._columns]
        lengths = np.sqrt(np.bincount(self._rows, weights**2, len(self.cases)))
        shared = np.bincount(self._rows, weights * query[self._columns], len(self.cases))
        whole = lengths * float(np.sqrt((query**2).sum()))
        likeness = np.divide(shared, whole, out=np.zeros(len(self.cases)), where=whole > 0)
        scored = [Neighbour(case, round(float(likeness[i]), 12)) for i, case in enumerate(self.cases) if kept[i]]
        return sorted(scored, key=lambda neighbour: (-neighbour.likeness, neighbour.case.id))[:8]


@runtime_checkable
class OtherCasesOfRun(Protocol):
    """The cases of a run but one; `all` has that one too."""

    all: tuple[Case, ...]


def neighbours(cases: Sequence[Case]) -> Neighbours:
    """The index of `cases`; a run shares one tuple of all its cases as `cases.all`, which is indexed once."""
    if isinstance(cases, OtherCasesOfRun) and isinstance(cases.all, tuple):
        return _shared_index(_SharedCases(cases.all))
    return Neighbours(cases)


def case_text(case: Case) -> str:
    """All the text of a case that a doctor could hear."""
    results = case.ancillary or "\n".join(item.text for item in case_results(case))
    return "\n".join((case.opening, case.complaint, results))


@lru_cache(maxsize=2 * MOST_CASES)
def _cached_findings(text: str) -> Counter[str]:
    return affirmed_findings(text)


class _SharedCases:
    """A tuple of cases, compared by identity: the key of a cache, because cases cannot be hashed."""

    def __init__(self, cases: tuple[Case, ...]) -> None:
        self.cases = cases

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SharedCases) and other.cases is self.cases

    def __hash__(self) -> int:
        return id(self.cases)


@lru_cache(maxsize=2)
def _shared_index(key: _SharedCases) -> Neighbours:
    return Neighbours(key.cases)


QUESTIONS = (
    "What brings you here, and how did it begin?",
    "Which other symptoms have you noticed since then?",
    "Which illnesses and operations have you had, and which medicines and allergies do you have?",
    "What runs in your family? Do you smoke, drink alcohol or use drugs? What is your work, and have you travelled?",
)

_ROUTINE_TESTS = ("complete blood count", "basic metabolic panel", "urinalysis")
_ROUNDS = (12, 8)
"""The number of tests in the first and in the second order."""

_LEAST_LIKENESS = 0.25
"""Similar cases of one disease count as evidence for it above this sum of their similarities."""

_LIKENESS_WEIGHT = 4.0
"""The weight of the similarity beyond `_LEAST_LIKENESS`; the best score of the knowledge base counts as 1."""

_CLEAR_LEAD = 1.5
"""No further tests are ordered if the first score is at least so many times the second."""

_MOST_CANDIDATES = 20

_EXAMINATION_IN_BRIEF = re.compile(r"physical exam\w*\W{0,4}:", re.IGNORECASE)
"""Matches an opening that already contains the physical examination."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """The knowledge at one act: affirmed words, candidates with scores (the best is 1.0), and similar cases."""

    affirmed: Mapping[str, int]
    candidates: Sequence[tuple[float, RankedDisease]]
    alike: Sequence[Neighbour]

    def answer(self) -> str:
        """The best diagnosis, from the knowledge base or from similar cases."""
        ranked: dict[str, tuple[float, str]] = {}
        for score, disease in self.candidates:
            ranked.setdefault(disease_key(disease.name), (score, disease.name))
        for name, likeness in self._diseases_alike().items():
            score, spelled = ranked.get(disease_key(name), (0.0, name))
            ranked[disease_key(name)] = (score + _LIKENESS_WEIGHT * max(0.0, likeness - _LEAST_LIKENESS), spelled)
        best = max(ranked.values(), key=lambda pair: (pair[0], pair[1]), default=(0.0, ""))
        return best[1] or "No diagnosis can be named from what was found"

    def _diseases_alike(self) -> dict[str, float]:
        """The diagnoses of the similar cases, in order, each with its summed similarity."""
        sums: dict[str, tuple[str, float]] = {}
        for other in self.alike:
            name = other.case.truth.diagnosis
            if name:
                spelled, likeness = sums.get(disease_key(name), (name, 0.0))
                sums[disease_key(name)] = (spelled, likeness + other.likeness)
        return dict(sums.values())

    def treatment(self) -> str:
        """The treatment of a similar case, else that of the best candidate for which the table has one."""
        for other in self.alike:
            if other.likeness >= _LEAST_LIKENESS and other.case.truth.treatment:
                return other.case.truth.treatment
        for _, disease in self.candidates:
            if disease.treatment:
                return f"Treat as {disease.name.lower()}: {disease.treatment}"
        return "Treat the symptoms, keep under observation, and ask a specialist for advice"


class Baseline:
    """Asks four questions where it can, orders twice and examines once, then concludes; it draws nothing at random.

    ::

        wardround run --scenario consultation --doctor baseline
    """

    sealed: ClassVar[bool] = True
    knows: ClassVar[str] = "cases"

    def __init__(self, seat: Seat) -> None:
        self._case_id = seat.case_id
        self._others = neighbours(seat.knowledge if isinstance(seat.knowledge, Sequence) else ())

    async def act(self, view: View) -> Action:
        """Ask, order or conclude, by typed verbs."""
        own = [said for said in view.heard if said.seat == view.seat]
        asked = sum(said.verb == "ask" for said in own)
        if "ask" in view.verbs and asked < len(QUESTIONS):
            return Action("ask", QUESTIONS[asked])
        text = "\n".join((view.brief, *_results_heard(view)))
        orders = [said for said in own if said.verb == "order"]
        examined = any(said.args.get("kind") == "examination" for said in orders)
        if "order" in view.verbs and "ask" in view.verbs and not examined:
            return _examine()
        reading = self._read(text)
        rounds = len(orders) - examined
        if "order" in view.verbs and rounds < len(_ROUNDS) and not (rounds and _is_clear(reading)):
            if rounds and not examined and not _EXAMINATION_IN_BRIEF.search(view.brief):
                return _examine()
            if names := _tests_to_order(reading, _ordered_before(orders), _ROUNDS[rounds]):
                return Action("order", args={"kind": "any", "items": names})
        answers = {"diagnosis": reading.answer()}
        if not own and "order" not in view.verbs:  # the scenario may ask for the treatment; it takes the part it needs
            answers["treatment"] = reading.treatment()
        return Action("conclude", args=answers)

    def _read(self, text: str) -> _Reading:
        known = disease_index()
        affirmed = affirmed_findings(text)
        scores = known.scores(affirmed, text)
        best = np.argsort(-scores, kind="stable")[:_MOST_CANDIDATES]
        top = float(scores[best[0]])
        candidates = [(float(scores[i]) / top, known.diseases[i]) for i in best if scores[i] > 0]
        return _Reading(affirmed, candidates, self._others.like(affirmed, without=self._case_id))


def _examine() -> Action:
    return Action("order", args={"kind": "examination", "items": []})


def _results_heard(view: View) -> Iterable[str]:
    """What patient and examiner said; of structured answers only the results, not that a test was not performed."""
    for said in view.heard:
        if said.seat in (view.seat, "desk"):
            continue
        answers: Json = said.args.get("answers")
        if isinstance(answers, list | tuple) and answers:
            for answer in answers:
                if isinstance(answer, Mapping) and answer.get("state") in RESULT_STATES:
                    yield str(answer.get("text", ""))
        else:
            yield said.text


def _ordered_before(orders: Iterable[Said]) -> set[str]:
    return {disease_key(str(item)) for said in orders for item in said.args.get("items", ())}


def _is_clear(reading: _Reading) -> bool:
    """Whether the best candidate leads so far that no further test is needed."""
    scores = [score for score, _ in reading.candidates[:2]]
    return len(scores) == 2 and scores[0] >= _CLEAR_LEAD * scores[1]


def _tests_to_order(reading: _Reading, before: set[str], most: int) -> list[str]:
    """Names of tests: routine tests first, then alternately separating tests and those that similar cases had."""
    separating, usual = _separating_tests(reading), _tests_of_similar_cases(reading.alike)
    mixed = [name for pair in zip(separating, usual, strict=False) for name in pair]
    mixed += separating[len(usual) :] + usual[len(separating) :]
    chosen: dict[str, str] = {}
    for name in (*_ROUTINE_TESTS, *mixed):
        if disease_key(name) not in before:
            chosen.setdefault(disease_key(name), name)
    return list(chosen.values())[:most]


def _separating_tests(reading: _Reading) -> list[str]:
    """The candidates' tests, best first; a new finding separates best if diseases with half of the score have it."""
    known = disease_index()
    whole = sum(score for score, _ in reading.candidates) or 1.0
    share: dict[str, float] = defaultdict(float)
    for score, disease in reading.candidates:
        for word in disease.words:
            share[word] += score / whole
    gains: dict[str, float] = defaultdict(float)
    for _, disease in reading.candidates:
        for test in disease.tests:
            unseen = sorted(test.shows - reading.affirmed.keys())
            gain = sum(share[word] * (1 - share[word]) * known.rarity(word) for word in unseen)
            gains[test.name] = max(gains[test.name], gain)
    return sorted(gains, key=lambda name: (-gains[name], name))


def _tests_of_similar_cases(alike: Sequence[Neighbour]) -> list[str]:
    """The tests of similar cases, sorted by summed similarity."""
    sums: dict[str, float] = defaultdict(float)
    for other in alike:
        for item in case_results(other.case):
            if item.kind != "examination":
                sums[item.name] += other.likeness
    return sorted(sums, key=lambda name: (-sums[name], name))
