"""Scores the tests ordered: recall, precision, cost, repeats, and the full path from orders to answer."""

import math
from collections.abc import Sequence

from wardround.engine.records import Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import missed, unscored
from wardround.evaluators.measures import NO_ORDERS, UNDEFINED
from wardround.evaluators.ordered_tests import TESTS, Request, Tally, orders_here, repeated_requests, requests, tallies
from wardround.scenarios.case import Case, Kind
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.orders.name_lookup import link


def exam_scores(case: Case, trajectory: Trajectory, prices: Catalogue | None = None) -> list[Score]:
    """Score recall and precision of the tests ordered, and how they were ordered: always the same names in this order.

    `prices` replaces the points used in the episode.

    - `exam_recall_KIND`: recorded items of the kind that the doctor obtained / recorded items.
    - `exam_recall`: the mean over the recorded kinds (MultiCogEval, section 3.3).
    - `exam_recall_pooled`: the share over all items (equation 3).
    - `exam_precision_KIND`, `exam_precision`, `exam_precision_pooled`: requests that the record answers / requests,
      each counted once.
    - `tests`: the number of requests other than physical examination, repeats included; a panel is one.
    - `test_cost`: points of all answers.
    - `repeat_requests`, `assumed_answers`: shares of all requests.
    - `unusable_replies`: share of replies.

    An undefined score is None with a reason: `nothing_recorded`, `nothing_ordered`, `not_ordered_here` (a scenario
    without orders), `unstructured` (answered in free text without references), `no_replies`, or the cause that ended
    the episode.
    """
    asked = requests(trajectory)
    reason = unscored(trajectory.ending) if orders_here(trajectory) else NO_ORDERS
    if not reason and asked is None:
        reason = "unstructured"
    if reason or asked is None:
        scores = [Score(name, None, reason) for name in _NAMES]
    else:
        evidence = tuple(dict.fromkeys(request.seq for request in asked))
        scores = [Score(s.name, s.value, s.reason, evidence) for s in _recall(case, asked) + _orders(asked, prices)]
    return [*scores, _unusable(trajectory)]


def full_path(accuracy: Score, exams: Sequence[Score]) -> list[Score]:
    """Return `full_path_f1`, and MultiCogEval's `full_path` and `full_path_by_type`.

    `full_path_f1` is accuracy x F1 of `exam_recall_pooled` and `exam_precision_pooled`: ordering everything lowers it,
    but raises the published scores. `full_path` is accuracy x recall over all items (equations 2 and 3).
    `full_path_by_type` is what the published code computes: accuracy x mean of the recalls by type, or 1 if no type is
    recorded. `exams` are the `exam_scores`. A score is None if a factor is None, with its reason; if the
    scenario has no orders, that is the reason, however the episode ended.
    """
    by_name = {score.name: score for score in exams}
    pooled, mean = by_name["exam_recall_pooled"], by_name["exam_recall"]
    if mean.reason == "nothing_recorded":
        mean = Score(mean.name, 1.0)
    return [
        _product("full_path_f1", accuracy, _f1(pooled, by_name["exam_precision_pooled"])),
        _product("full_path", accuracy, pooled),
        _product("full_path_by_type", accuracy, mean),
    ]


def _f1(recall: Score, precision: Score) -> Score:
    """Return the harmonic mean; 0 if the doctor obtained no recorded item, also if it ordered nothing at all."""
    if recall.value is None:
        return recall
    if not recall.value or not precision.value:
        return Score("exam_f1", 0.0, "", recall.evidence)
    value = 2 * recall.value * precision.value / (recall.value + precision.value)
    return Score("exam_f1", value, "", recall.evidence)


_NAMES = (
    *(f"exam_recall_{kind}" for kind in TESTS),
    "exam_recall",
    "exam_recall_pooled",
    *(f"exam_precision_{kind}" for kind in TESTS),
    "exam_precision",
    "exam_precision_pooled",
    "tests",
    "test_cost",
    "repeat_requests",
    "assumed_answers",
)


def _recall(case: Case, asked: Sequence[Request]) -> list[Score]:
    return _by_kind("exam_recall", tallies(case, asked), "nothing_recorded")


def _orders(asked: Sequence[Request], prices: Catalogue | None) -> list[Score]:
    """Score the requests themselves: precision, number, cost, and the shares repeated and assumed."""
    tests = [request for request in asked if request.kind != "examination"]
    first: dict[object, Request] = {}
    for request in tests:
        first.setdefault((request.kind, request.refs or request.test or request.asked.casefold()), request)
    once = list(first.values())
    by_kind: dict[Kind, Tally] = {}
    for kind in TESTS:
        if of_kind := [request for request in once if request.kind == kind]:
            by_kind[kind] = _answer_tally(of_kind)
    precision = _by_kind("exam_precision", by_kind, "nothing_ordered")
    precision[-1] = _share("exam_precision_pooled", _answer_tally(once).had, len(once), "nothing_ordered")
    return [
        *precision,
        Score("tests", float(len(tests))),
        Score("test_cost", math.fsum(_cost(request, prices) for request in asked)),
        _share("repeat_requests", sum(1 for _ in repeated_requests(asked)), len(asked), "nothing_ordered"),
        _share("assumed_answers", sum(request.assumed for request in asked), len(asked), "nothing_ordered"),
    ]


def _cost(request: Request, prices: Catalogue | None) -> float:
    linked = link(request.asked, prices) if prices is not None else None
    return linked.points if linked else request.points


def _answer_tally(asked: Sequence[Request]) -> Tally:
    return Tally(len(asked), sum(bool(request.refs) for request in asked))


def _by_kind(name: str, by_kind: dict[Kind, Tally], undefined: str) -> list[Score]:
    """Return one score for each kind, their mean, and the pooled share."""
    shares = [
        _share(f"{name}_{kind}", by_kind[kind].had, by_kind[kind].recorded, undefined)
        if kind in by_kind
        else Score(f"{name}_{kind}", None, undefined)
        for kind in TESTS
    ]
    defined = [share.value for share in shares if share.value is not None]
    mean = Score(name, sum(defined) / len(defined)) if defined else Score(name, None, undefined)
    had, recorded = sum(t.had for t in by_kind.values()), sum(t.recorded for t in by_kind.values())
    return [*shares, mean, _share(f"{name}_pooled", had, recorded, undefined)]


def _share(name: str, part: int, whole: int, undefined: str) -> Score:
    return Score(name, part / whole) if whole else Score(name, None, undefined)


def _unusable(trajectory: Trajectory) -> Score:
    """Return the share of unusable replies, also for episodes that the parser ended because of them."""
    name, ending = "unusable_replies", trajectory.ending
    if ending is None or not (ending.cause in ("completed", "parser") or missed(ending)):
        return Score(name, None, unscored(ending))
    replies, unusable = ending.facts.get("replies"), ending.facts.get("unusable")
    if not isinstance(replies, int) or not isinstance(unusable, int) or not replies:
        return Score(name, None, "no_replies")
    return Score(name, unusable / replies)


def _product(name: str, accuracy: Score, orders: Score) -> Score:
    """Return accuracy x a score of the orders; None with the reason of a factor that has no value."""
    if orders.reason in UNDEFINED:
        return Score(name, None, orders.reason)
    for factor in (accuracy, orders):
        if factor.value is None:
            return Score(name, None, factor.reason)
    assert accuracy.value is not None
    assert orders.value is not None
    evidence = tuple(dict.fromkeys((*orders.evidence, *accuracy.evidence)))
    return Score(name, accuracy.value * orders.value, accuracy.reason, evidence)
