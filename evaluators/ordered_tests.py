"""The requests that a doctor made of the examiner or the patient, and what the record answered."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

import msgspec

from wardround.engine.records import Json
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case, CaseResult, Kind, case_results
from wardround.scenarios.parsers.moves import ANSWERING, RESULT_STATES, tells_a_story

TESTS: tuple[Kind, ...] = ("lab", "microbiology", "imaging", "investigation")
"""The kinds that count as tests. Physical examination never does (MultiCogEval: nothing is ordered there by name)."""

_COUNTED_ONCE = frozenset({"lab", "microbiology"})


class Request(msgspec.Struct, frozen=True):
    """One request of one message with its answer, which may hold several results.

    `refs` cite the fields of the record that the answer reports. There are none if the answer is assumed, or says that
    nothing is recorded. `kind` and `test` are those of the first result, and `points` is the sum over all results.
    `seq` is the number of the event.
    """

    seq: int
    asked: str
    kind: str
    refs: tuple[str, ...]
    test: str
    points: float
    assumed: bool


def orders_here(trajectory: Trajectory) -> bool:
    """Whether tests can be ordered in this scenario: the run has a seat that answers."""
    return any(seat in ANSWERING for seat in trajectory.header.get("seats", ()))


@lru_cache(maxsize=32)
def requests(trajectory: Trajectory) -> tuple[Request, ...] | None:
    """Return all requests in order; None if one was answered only in free text, whose results are unknown.

    The requests of the last trajectories are cached, because several scores need them.
    """
    collected: list[Request] = []
    examined = "examiner" in trajectory.header.get("seats", ())
    for event in trajectory.acted():
        if event.seat not in ANSWERING:
            continue
        if tells_a_story(event.seat, event.action, examined=examined):
            continue
        answers = event.action.args.get("answers")
        if not isinstance(answers, list | tuple) or not all(isinstance(answer, Mapping) for answer in answers):
            return None
        by_words: dict[str, list[Mapping[str, Json]]] = {}
        for answer in answers:
            by_words.setdefault(str(answer.get("asked") or ""), []).append(answer)
        collected += [_request(event.seq, asked, together) for asked, together in by_words.items()]
    return tuple(collected)


def _request(seq: int, asked: str, answers: Sequence[Mapping[str, Json]]) -> Request:
    reported = [answer for answer in answers if answer.get("state") in RESULT_STATES and not answer.get("assumed")]
    points = [answer.get("points") for answer in answers]
    return Request(
        seq=seq,
        asked=asked,
        kind=str(answers[0].get("kind") or "any"),
        refs=tuple(dict.fromkeys(str(ref) for answer in reported for ref in answer.get("refs") or ())),
        test=str(answers[0].get("test") or ""),
        points=math.fsum(float(cost) for cost in points if isinstance(cost, int | float)),
        assumed=any(answer.get("assumed") for answer in answers),
    )


def repeated_requests(asked: Sequence[Request]) -> Iterator[Request]:
    """Yield the requests whose answer the doctor already had: results reported before, or a test known as unavailable.

    A request that occurs twice in one message does not count as repeated: the doctor had no answer yet.
    """
    reported: set[str] = set()
    named: set[str] = set()
    start = 0
    while start < len(asked):
        end = start
        while end < len(asked) and asked[end].seq == asked[start].seq:
            end += 1
        message = asked[start:end]
        for request in message:
            if (request.refs and reported.issuperset(request.refs)) or named.intersection(_names(request)):
                yield request
        for request in message:
            reported.update(request.refs)
            named.update(_names(request))
        start = end


def _names(request: Request) -> set[str]:
    """Return what else identifies a request: its words and, if it returned no results, the name of the test."""
    words = {f"asked {' '.join(request.asked.casefold().split())}"} if request.asked.strip() else set()
    return words | ({f"test {request.test.casefold()}"} if request.test and not request.refs else set())


class Tally(msgspec.Struct, frozen=True):
    """The number of recorded items of one kind, and how many of them the doctor obtained."""

    recorded: int
    had: int


def tallies(case: Case, asked: Sequence[Request]) -> dict[Kind, Tally]:
    """For each kind of test in the record, count its items and those that an answer cited.

    A repeated laboratory or microbiology test is one item. Each imaging study and investigation is an item of its own,
    but an answer that cites one covers all of the same name (reference: published scorer of MultiCogEval).
    """
    every = case_results(case)
    refs = {ref for request in asked for ref in request.refs}
    had = {_same(item) for item in every if item.ref in refs}
    by_kind: dict[Kind, Tally] = {}
    for kind in TESTS:
        recorded = [_same(item) for item in every if item.kind == kind]
        if kind in _COUNTED_ONCE:
            recorded = list(dict.fromkeys(recorded))
        if recorded:
            by_kind[kind] = Tally(len(recorded), sum(item in had for item in recorded))
    return by_kind


def _same(item: CaseResult) -> tuple[str, str, str]:
    """Return what identifies the test of a result: its kind and name and, except for the laboratory, specimen or study.

    The code of a laboratory test does not count: a record may give one test two codes over the years ('Absolute
    Lymphocyte Count'), and a doctor who orders it cannot tell them apart.
    """
    return item.kind, " ".join(item.name.casefold().split()), "" if item.kind == "lab" else item.detail.casefold()
