"""Writes the table of MIMIC's item numbers for each test and specimen, by linking the names in the user's own tables.

`python -m scripts.number_items DIR` reads d_labitems.csv and microbiologyevents.csv in DIR, says how many names link to
no test, and writes scenarios/terms/data/item_ids.csv. Of MIMIC it keeps only numbers; the names are this project's.
"""

import csv
import sys
from collections.abc import Iterator
from pathlib import Path

from wardround.scenarios.case import CaseResult
from wardround.scenarios.mimic.record_items import LabItem
from wardround.scenarios.orders.chart import read_chart

OUT = Path(__file__).resolve().parents[1] / "scenarios/terms/data/item_ids.csv"
SOURCE = "MIMIC-IV Clinical Database Demo 2.2 (numbers only)"
LICENCE = "ODbL-1.0"


def main() -> None:
    """Write the table."""
    folder = Path(sys.argv[1])
    numbers_of: dict[tuple[str, str], set[int]] = {}
    missed = 0
    items = (*_laboratory(folder / "d_labitems.csv"), *_microbiology(folder / "microbiologyevents.csv"))
    for entry in read_chart(items).entries:
        if entry.test is None:
            missed += 1
        else:
            specimen = entry.specimen or ("blood" if entry.item.detail == "Blood" else "")
            numbers_of.setdefault((entry.test.test, specimen), set()).add(int(entry.item.ref))
    with OUT.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("test", "specimen", "item_ids", "source", "licence"))
        for (test, specimen), numbers in sorted(numbers_of.items()):
            writer.writerow((test, specimen, "|".join(map(str, sorted(numbers))), SOURCE, LICENCE))
    print(f"{len(numbers_of)} rows; {missed} of {len(items)} names link to no test")


def _laboratory(path: Path) -> Iterator[CaseResult]:
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            name = LabItem(row["label"], row["fluid"], row["category"]).name
            yield CaseResult(row["itemid"], "lab", name, "", None, row["fluid"].strip())


def _microbiology(path: Path) -> Iterator[CaseResult]:
    with path.open(encoding="utf-8", newline="") as file:
        rows = {(row["test_itemid"], row["test_name"], row["spec_type_desc"]) for row in csv.DictReader(file)}
    yield from (
        CaseResult(number, "microbiology", name.strip(), "", None, where) for number, name, where in sorted(rows)
    )


if __name__ == "__main__":
    main()
