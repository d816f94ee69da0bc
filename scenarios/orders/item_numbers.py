"""MIMIC's item numbers of a test in a specimen, and the specimen that an item number means."""

from collections.abc import Mapping, Sequence
from functools import cache

from wardround.scenarios.orders.axes import component, own_specimen, same_specimen
from wardround.scenarios.orders.catalogue import Catalogue
from wardround.scenarios.terms.wording import cells, table_rows


@cache
def _by_test() -> Mapping[str, Sequence[tuple[str, tuple[int, ...]]]]:
    """Test -> (specimen, item numbers) of each row of the table."""
    table: dict[str, list[tuple[str, tuple[int, ...]]]] = {}
    for row in table_rows("item_ids.csv"):
        numbers = tuple(int(number) for number in cells(row["item_ids"]))
        table.setdefault(row["test"], []).append((row["specimen"], numbers))
    return table


@cache
def _by_number() -> Mapping[str, tuple[tuple[str, str], ...]]:
    """Item number -> (test, specimen) of each row that lists it."""
    table: dict[str, tuple[tuple[str, str], ...]] = {}
    for test, taken in _by_test().items():
        for specimen, numbers in taken:
            for number in numbers:
                table[str(number)] = (*table.get(str(number), ()), (test, specimen))
    return table


def item_numbers(test: str, specimen: str, table: Catalogue) -> tuple[int, ...]:
    """The item numbers of `test` in `specimen` ('' for any), those of its members if it is a panel, in order."""
    ids: set[int] = set()
    for name in (test, *table.below.get(test, ())):
        wanted = specimen or (own_specimen(table.tests[name]) if name in table.tests else "")
        ids.update(
            number for taken, listed in _by_test().get(name, ()) if same_specimen(wanted, taken) for number in listed
        )
    return tuple(sorted(ids))


def specimen_of(number: str, test: str, table: Catalogue) -> str:
    """The specimen that an item number means, if it is one of this test's component; else ''."""
    known = {
        specimen for name, specimen in _by_number().get(number, ()) if component(name, table) == component(test, table)
    }
    return known.pop() if len(known) == 1 else ""
