"""The table that a person watches."""

from wardround.cli.live import progress_table
from wardround.engine.batch import Progress
from wardround.engine.budget import Budget, BudgetAccount, Spending


def cells(progress: Progress, library: str = "", before: int = 0) -> dict[str, str]:
    shown = progress_table(progress, 2.0, library, before)
    return {str(column.header): str(next(iter(column.cells))) for column in shown.columns}


def spent() -> Progress:
    progress = Progress(5)
    progress.account = BudgetAccount(Budget(), {"judge": "a/b", "search": "corpus"})
    progress.account.refresh({"judge": Spending(calls=10), "search": Spending(calls=3)}, 0.0)
    for seat, calls in (("judge", 6), ("search", 4)):
        for _ in range(calls):
            progress.account.settle(seat, Spending(calls=1, prompt=2), progress.account.set_aside(seat))
    return progress


def test_searches_stand_beside_the_calls() -> None:
    row = cells(spent(), "search", 10)
    assert (row["calls"], row["searches"], row["calls/s"]) == ("16", "7", "3.0")


def test_without_a_library_every_call_is_one() -> None:
    row = cells(spent(), before=13)
    assert (row["calls"], row["calls/s"]) == ("23", "5.0")
    assert "searches" not in row
