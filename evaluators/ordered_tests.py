"""What was asked of the examiner or the patient in an episode, and what the record answered."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wardround.engine.records import Json
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case, Item, Kind, items
from wardround.scenarios.parsers.moves import ANSWERING, FOUND, tells_a_story

TESTS: tuple[Kind, ...] = ("lab", "microbiology", "imaging", "investigation")
"""The kinds that count as tests. Physical examination never counts (paper 000: nothing is ordered there by name)."""

_COUNTED_ONCE = frozenset({"lab", "microbiology"})


@dataclass(frozen=True, slots=True)
class Request:
    """One thing asked for in one message, and its answer, of however many results.

    `refs` cite the fields of the record that the answer tells: none if it is assumed, or says that nothing is recorded.
    `kind` and `test` are those of the first result; `seq` is the number of the event; `points` their sum.
    """

    seq: int
    asked: str
    kind: str
    refs: tuple[str, ...]
    test: str
    points: float
    assumed: bool


def orders_here(trajectory: Trajectory) -> bool:
    """Whether tests can be ordered in this scenario at all: the run has a seat that would answer."""
    return any(seat in ANSWERING for seat in trajectory.header.get("seats", ()))


def requests(trajectory: Trajectory) -> tuple[Request, ...] | None:
    """All requests in order; None if one was answered in free text alone, so that nobody can say with what."""
    found: list[Request] = []
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
        found += [_request(event.seq, asked, together) for asked, together in by_words.items()]
    return tuple(found)


def _request(seq: int, asked: str, answers: Sequence[Mapping[str, Json]]) -> Request:
    told = [answer for answer in answers if answer.get("state") in FOUND and not answer.get("assumed")]
    points = [answer.get("points") for answer in answers]
    return Request(
        seq=seq,
        asked=asked,
        kind=str(answers[0].get("kind") or "any"),
        refs=tuple(dict.fromkeys(str(ref) for answer in told for ref in answer.get("refs") or ())),
        test=str(answers[0].get("test") or ""),
        points=math.fsum(float(cost) for cost in points if isinstance(cost, int | float)),
        assumed=any(answer.get("assumed") for answer in answers),
    )


def again(asked: Sequence[Request]) -> Iterator[Request]:
    """The requests whose answer the doctor had already: results told before, or a test already declared unavailable.

    What is asked twice in one message is not asked again: the doctor had no answer yet.
    """
    told: set[str] = set()
    named: set[str] = set()
    start = 0
    while start < len(asked):
        end = start
        while end < len(asked) and asked[end].seq == asked[start].seq:
            end += 1
        message = asked[start:end]
        for request in message:
            if (request.refs and told.issuperset(request.refs)) or named.intersection(_names(request)):
                yield request
        for request in message:
            told.update(request.refs)
            named.update(_names(request))
        start = end


def _names(request: Request) -> set[str]:
    """What else tells that two requests are the same: the words used; for a test that was not had, the test."""
    words = {f"asked {' '.join(request.asked.casefold().split())}"} if request.asked.strip() else set()
    return words | ({f"test {request.test.casefold()}"} if request.test and not request.refs else set())


@dataclass(frozen=True, slots=True)
class Tally:
    """Recorded items of one kind and how many of them were had."""

    recorded: int
    had: int


def tallies(case: Case, asked: Sequence[Request]) -> dict[Kind, Tally]:
    """For each kind of test that the record holds: how many items, how many of them an answer cited.

    A laboratory or microbiology test that was repeated is one item; each imaging study and investigation is one, and
    all of the same name are had together (reference: published scorer of paper 000).
    """
    every = items(case)
    refs = {ref for request in asked for ref in request.refs}
    had = {_same(item) for item in every if item.ref in refs}
    found: dict[Kind, Tally] = {}
    for kind in TESTS:
        recorded = [_same(item) for item in every if item.kind == kind]
        if kind in _COUNTED_ONCE:
            recorded = list(dict.fromkeys(recorded))
        if recorded:
            found[kind] = Tally(len(recorded), sum(item in had for item in recorded))
    return found


def _same(item: Item) -> tuple[str, str, str]:
    return item.kind, " ".join(item.name.casefold().split()), item.detail.casefold()
