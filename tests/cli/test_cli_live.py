"""The table that a person watches."""

from collections import Counter

from rich.console import Console

from wardround.cli.live import progress_tables
from wardround.engine.batch import Progress
from wardround.engine.budget import Budget, BudgetAccount, Spending


def cells(progress: Progress, library: str = "", before: int = 0) -> dict[str, str]:
    shown = progress_tables(progress, 2.0, library, before)
    return {str(column.header): str(next(iter(column.cells))) for table in shown for column in table.columns}


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


def test_in_80_columns_no_word_is_broken() -> None:
    progress = spent()
    progress.run, progress.total, progress.own = "quiet-sandpiper-417", 100_000, 12_345
    progress.endings = Counter({"completed": 12_000, "provider": 300, "doctor": 45})
    console = Console(width=80)
    with console.capture() as captured:
        console.print(*progress_tables(progress, 7_300.0))
    lines = captured.get().splitlines()
    assert max(map(len, lines)) <= 80
    words = {"quiet-sandpiper-417", "episodes", "12345/100000", "calls/s", "14.4", "USD", "12000", "completed,", "300"}
    assert words <= {word for line in lines for word in line.split()}


def test_a_run_without_a_model_has_no_columns_for_calls() -> None:
    row = cells(Progress(5))
    assert list(row) == ["run", "elapsed", "left", "episodes", "running", "endings"]
