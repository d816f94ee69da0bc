"""What was asked of the examiner or the patient in an episode, and what the record answered."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from wardround.engine.records import Json
from wardround.engine.trajectory import Trajectory
from wardround.scenarios.case import Case
from wardround.scenarios.records import Item, Kind, items

TESTS: tuple[Kind, ...] = ("lab", "microbiology", "imaging", "investigation")
"""The kinds that count as tests. Physical examination never counts (paper 000: nothing is ordered there by name)."""

ANSWERING = ("examiner", "patient")

_COUNTED_ONCE = frozenset({"lab", "microbiology"})


@dataclass(frozen=True, slots=True)
class Request:
    """One thing asked for and its answer; `refs` cite the record's fields, `seq` is the number of the event."""

    seq: int
    asked: str
    kind: str
    state: str
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
        answers = event.action.args.get("answers")
        if answers is None and event.seat == "patient" and (examined or "topics" in event.action.args):
            continue  # beside an examiner the patient tells a story; no test is answered there
        if not isinstance(answers, Sequence) or isinstance(answers, str):
            return None
        for answer in answers:
            if not isinstance(answer, Mapping):
                return None
            found.append(_request(event.seq, answer))
    return tuple(found)


def _request(seq: int, answer: Mapping[str, Json]) -> Request:
    points = answer.get("points")
    return Request(
        seq=seq,
        asked=str(answer.get("asked") or ""),
        kind=str(answer.get("kind") or "any"),
        state=str(answer.get("state") or "unknown"),
        refs=tuple(str(ref) for ref in answer.get("refs") or ()),
        test=str(answer.get("test") or ""),
        points=float(points) if isinstance(points, (int, float)) else 0.0,
        assumed=bool(answer.get("assumed")),
    )


def cited(request: Request) -> tuple[str, ...]:
    """The fields an answer rests on; none if it is assumed or says that nothing is recorded."""
    return request.refs if request.state in ("reported", "normal") and not request.assumed else ()


def again(asked: Sequence[Request]) -> Iterator[Request]:
    """The requests whose answer the doctor had already: results told before, or a test already declared unavailable.

    What is asked twice in one message is not asked again: the doctor had no answer yet.
    """
    told: set[str] = set()
    named: set[tuple[str, str]] = set()
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


def _names(request: Request) -> set[tuple[str, str]]:
    """What else tells that two requests are the same: the words used, and the test they were linked to.

    An empty request (all of an examination) has neither.
    """
    words = " ".join(request.asked.casefold().split())
    named = {("asked", f"{request.kind}: {words}")} if words else set()
    if request.test and not request.refs:
        named.add(("test", request.test.casefold()))
    return named


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
    refs = {ref for request in asked for ref in cited(request)}
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
