"""Scores what a case cost in dollars, where the scenario keeps a bill (`sequential`)."""

from collections.abc import Mapping
from math import fsum

from wardround.engine.records import Score
from wardround.engine.trajectory import Trajectory
from wardround.evaluators.evaluation import unscored

NAMES = ("case_cost_usd", "known_cost_usd", "tests_cost_usd", "visits_cost_usd", "visits", "unpriced_orders")
UNPRICED = "unpriced_order"
"""Reason of a cost of which a part is not known."""


def spending_scores(trajectory: Trajectory) -> list[Score]:
    """The scores of NAMES; none in a scenario without a bill.

    `case_cost_usd`: dollars of visits and tests; None, reason `unpriced_order`, if the price of a test is not known.
    `known_cost_usd`: the same without such tests, so that it can only be too low. `tests_cost_usd`, `visits_cost_usd`:
    its parts. `visits`: their number. `unpriced_orders`: the tests without a price. None with the cause of an episode
    that has no score, and with `no_bill` if a failure outside the rules ended it.
    """
    scenario = trajectory.header.get("scenario")
    if not isinstance(scenario, Mapping) or "visit_price" not in (scenario.get("settings") or {}):
        return []
    ending = trajectory.ending
    bill = ending.facts.get("bill") if ending else None
    reason = unscored(ending) or ("" if isinstance(bill, Mapping) else "no_bill")
    if reason or not isinstance(bill, Mapping):
        return [Score(name, None, reason) for name in NAMES]
    known = fsum((bill["tests_usd"], bill["visits_usd"]))
    unpriced = list(bill["unpriced"])
    return [
        Score("case_cost_usd", None if unpriced else known, UNPRICED if unpriced else ""),
        Score("known_cost_usd", known),
        Score("tests_cost_usd", float(bill["tests_usd"])),
        Score("visits_cost_usd", float(bill["visits_usd"])),
        Score("visits", float(bill["visits"])),
        Score("unpriced_orders", float(len(unpriced))),
    ]
