"""A budget is kept: by money, tokens and calls; for the run, a seat and a model; with calls in flight."""

import anyio
import anyio.lowlevel
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.batch import Progress
from wardround.engine.budget import FIRST_CALLS, MARGIN, RECENT, Budget, BudgetAccount, BudgetPart, Caps, Spending
from wardround.engine.errors import RunStopped
from wardround.engine.sessions import RunControl

MODELS = {"a": "x/one", "b": "x/one", "c": "x/two"}
ONE = Spending(calls=1, prompt=80, completion=20, cost=0.01)


def worked(budget: Budget, *, at_once: int, seats: str = "a", each: Spending = ONE) -> Progress:
    """Make calls, so many at once, until the budget stops them."""
    progress = Progress()
    progress.account = BudgetAccount(budget, MODELS)

    async def caller(seat: str) -> None:
        while True:
            try:
                size = await progress.before_call(seat)
            except RunStopped:
                return
            await anyio.lowlevel.checkpoint()
            progress.after_call(seat, each, size)

    async def main() -> None:
        with anyio.fail_after(200):
            async with anyio.create_task_group() as group:
                for number in range(at_once):
                    group.start_soon(caller, seats[number % len(seats)])

    anyio.run(main)
    return progress


@pytest.mark.parametrize("at_once", [1, 7, 50])
def test_a_cap_on_cost_is_not_passed_by_calls_in_flight(at_once: int) -> None:
    progress = worked(Budget(Caps(cost=1.0)), at_once=at_once)
    assert 0.98 <= progress.spent.cost <= 1.0 + 1e-9
    assert ": spent " in progress.why


@pytest.mark.parametrize("at_once", [1, 50])
def test_a_cap_on_tokens_and_one_on_calls(at_once: int) -> None:
    assert 9_700 <= worked(Budget(Caps(tokens=10_000)), at_once=at_once).spent.tokens <= 10_000
    assert worked(Budget(Caps(calls=123)), at_once=at_once).spent.calls == 123


def test_a_seat_and_a_model_have_caps_of_their_own() -> None:
    one = worked(Budget(seats={"a": Caps(calls=10)}), at_once=6, seats="abc")
    assert one.account.by_seat["a"].calls == 10
    assert "seat a" in one.why
    shared = worked(Budget(models={"x/one": Caps(calls=30)}), at_once=6, seats="abc")
    by_seat = shared.account.by_seat
    assert by_seat["a"].calls + by_seat["b"].calls == 30
    assert "model x/one" in shared.why


def test_an_unknown_price_makes_a_cap_on_cost_impossible_to_keep_and_is_said() -> None:
    progress = worked(Budget(Caps(cost=1.0)), at_once=3, each=Spending(calls=1, unpriced=1))
    assert "without a known price" in progress.why
    assert progress.spent.calls <= FIRST_CALLS


def test_what_was_spent_before_counts() -> None:
    account = BudgetAccount(Budget(Caps(calls=10, wall=60.0)), MODELS)
    account.refresh({"a": Spending(calls=9)}, 10.0)
    assert account.refusal("a") == ("", False)
    account.set_aside("a")
    why, never = account.refusal("b")
    assert "9 of 10 calls" in why
    assert not never
    assert "of 60 s" in account.refresh({"a": Spending(calls=9)}, 61.0)


@pytest.mark.parametrize("caps", [Caps(calls=100), Caps(tokens=10_000), Caps(cost=1.0)])
def test_processes_with_parts_keep_a_cap_without_hearing_of_each_other(caps: Caps) -> None:
    before = {"a": Spending(calls=9, prompt=800, completion=100, cost=0.09)}
    for processes in (2, 3):
        spent = 0
        for _ in range(processes):
            account = BudgetAccount(Budget(caps), MODELS, BudgetPart(processes, before))
            account.refresh(before, 0.0)
            while not account.refusal("a")[0]:
                account.settle("a", ONE, account.set_aside("a"))
            spent += account.own.calls
        assert 91 - 2 * processes <= spent <= 91
        assert f"the part of one of {processes} processes" in account.refusal("a")[0]


async def test_a_top_up_lets_waiting_calls_go_on() -> None:
    progress = Progress()
    progress.account = BudgetAccount(Budget(Caps(calls=1)), MODELS)
    await progress.before_call("a")
    passed = []

    async def second() -> None:
        await progress.before_call("a")
        passed.append(True)

    async with anyio.create_task_group() as group:
        group.start_soon(second)
        await anyio.wait_all_tasks_blocked()
        assert not passed
        progress.obey(RunControl(budget=Budget(Caps(calls=2))))
    assert passed
    assert not progress.draining


def test_a_dropped_call_gives_back_what_was_set_aside() -> None:
    account = BudgetAccount(Budget(Caps(calls=1)), MODELS)
    account.settle("a", None, account.set_aside("a"))
    assert account.refusal("a") == ("", False)
    assert account.own == Spending()


def test_the_state_of_each_cap_is_told() -> None:
    account = BudgetAccount(Budget(Caps(cost=2.0), seats={"b": Caps(calls=5)}), MODELS)
    account.settle("b", ONE, account.set_aside("b"))
    assert account.summary() == [
        {"of": "the run", "what": "cost", "spent": 0.01, "cap": 2.0},
        {"of": "seat b", "what": "calls", "spent": 1, "cap": 5},
    ]


def test_calls_that_were_under_way_when_a_budget_was_set_count_against_it() -> None:
    account = BudgetAccount(Budget(), MODELS)
    account.settle("a", ONE, account.set_aside("a"))
    sizes = [account.set_aside("a") for _ in range(100)]
    account.change(Budget(Caps(tokens=100 + 100 * 125)))
    why, never = account.refusal("a")
    assert "tokens" in why
    assert not never
    account.change(Budget(Caps(calls=102)))
    assert account.refusal("a") == ("", False)
    sizes.append(account.set_aside("a"))
    assert account.refusal("a") != ("", False)
    for size in sizes:
        account.settle("a", ONE, size)
    assert account.refusal("a")[1], "nothing is under way any more"


def test_a_budget_that_is_lifted_and_set_again_knows_what_is_under_way() -> None:
    account = BudgetAccount(Budget(Caps(calls=2)), MODELS)
    size = account.set_aside("a")
    account.change(Budget())
    account.settle("a", ONE, size)
    assert account.refusal("a") == ("", False)
    account.change(Budget(Caps(calls=1)))
    why, never = account.refusal("a")
    assert "made 1 of 1 call" in why
    assert never, "no call is under way that could make place"


@given(st.lists(st.tuples(st.integers(0, 2000), st.floats(0, 3)), max_size=200))
def test_the_expected_size_is_the_mean_of_recent_calls_and_a_quarter_more(calls: list[tuple[int, float]]) -> None:
    account = BudgetAccount(Budget(Caps(cost=1e9)), MODELS)
    for tokens, cost in calls:
        account.settle("a", Spending(calls=1, prompt=tokens, cost=cost), account.set_aside("a"))
    recent = calls[-RECENT:]
    mean = [sum(column) / len(recent) * MARGIN for column in zip(*recent, strict=True)] if recent else [0, 0]
    assert account.set_aside("a") == pytest.approx(tuple(mean), abs=1e-9)
