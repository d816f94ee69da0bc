"""How many seeded errors the rules catch in the sets of cases, and how many faithful cases they refuse."""

from pathlib import Path

import pytest

from benchmarks.report_checks import hand_written_trials, measured, published_trials, written_trials


@pytest.mark.long
def test_a_seen_half_hardly_refuses_a_faithful_case() -> None:
    account = measured(trial for number, trial in enumerate(written_trials("check")) if number % 4 == 0)
    caught = sum(count for (_, was), count in account.caught.items() if was)
    assert len(account.refused) <= 3, account.refused
    assert caught >= 0.7 * account.caught.total(), account.missed


@pytest.mark.long
def test_the_development_half() -> None:
    account = measured(written_trials("development"))
    caught = sum(count for (_, was), count in account.caught.items() if was)
    assert account.refused == []
    assert caught >= 0.7 * account.caught.total(), account.missed


@pytest.mark.long
@pytest.mark.parametrize(
    ("half", "least", "most"),
    [
        ("check4", 0.85, 1),
        ("check5", 0.85, 1),
        ("check6", 0.82, 1),
        ("check7", 0.9, 0),
        ("check8", 0.82, 0),
        ("check9", 0.75, 0),
        ("check10", 0.93, 0),
        ("check11", 0.7, 5),
        ("check12", 0.62, 6),
        ("extra1", 0.7, 1),
        ("extra2", 0.6, 1),
    ],
)
def test_cited_cases_are_hardly_refused(half: str, least: float, most: int) -> None:
    account = measured(hand_written_trials(half, cited=True))
    caught = sum(count for (_, was), count in account.caught.items() if was)
    assert len(account.refused) <= most, account.refused
    assert caught >= least * account.caught.total(), account.missed


@pytest.mark.shared
@pytest.mark.long
def test_errors_in_the_published_cases_of_40_articles(shared: Path) -> None:
    account = measured(published_trials(shared / "data" / "medrbench"))
    caught = sum(count for (_, was), count in account.caught.items() if was)
    assert len(account.refused) <= 3, account.refused
    assert caught >= 0.7 * account.caught.total(), account.missed
