"""The status in words."""

import pytest

from wardround.cli.status import lines
from wardround.engine.budget import Spending
from wardround.engine.records import Json
from wardround.engine.sessions import SessionRow
from wardround.runs.control import Status

ENDPOINT: dict[str, Json] = {
    "address": "http://gpu:8000/v1",
    "in_flight": 57,
    "cap": 64,
    "waiting": {"doctor": 12, "judge": 0},
    "rate_limited": 0.03,
    "paused_until": 1012.0,
    "healthy": True,
    "calls": 1740,
    "latency": 0.30838059,
}


FEW = Spending(calls=3)


def said(endpoint: dict[str, Json], spent: Spending = FEW) -> list[str]:
    row = SessionRow(1, "r", "here/1", 7, 900.0, 999.0, None, True, {"endpoints": [endpoint]})
    budget: list[dict[str, Json]] = [{"of": "the run", "what": "calls", "spent": 108, "cap": 1_000_000}]
    return lines(Status("r", "running", {"open": 2}, {"doctor": spent}, None, budget, [row], 99.0), 1000.0)


def test_an_endpoint_is_told_in_words() -> None:
    text = "\n".join(said(ENDPOINT))
    assert (
        "http://gpu:8000/v1: 57 of at most 64 in flight, waiting 12 of doctor, 1,740 calls, 0.31 s a call, "
        "3% of the last refused, paused for 12 s\n" in text
    )
    quiet = {"address": "a", "in_flight": 0, "cap": None, "healthy": False, "calls": 0, "latency": None}
    assert "a: 0 in flight, 0 calls, taken out, tried again now and then\n" in "\n".join(said(quiet))


def test_amounts_are_read_at_a_glance() -> None:
    assert any(line.endswith("budget of the run: 108 of 1,000,000 calls") for line in said(ENDPOINT))


@pytest.mark.parametrize(
    ("spent", "cost"),
    [
        (Spending(calls=3, cost=0.5), "0.5000 USD"),
        (Spending(calls=3, unpriced=3), "cost unknown"),
        (Spending(calls=3, cost=0.5, unpriced=1), "0.5000 USD + 1 call without a price"),
    ],
)
def test_an_unknown_cost_is_no_zero(spent: Spending, cost: str) -> None:
    assert any(line.endswith(cost) for line in said(ENDPOINT, spent))
