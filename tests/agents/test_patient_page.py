"""The page of the record patient prints what the first reader's labels say, with Wilson's intervals."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
PAGE = (TOP / "docs" / "records" / "patient.md").read_text(encoding="utf-8")
SETS = re.findall(r"`(patient_blind_\d+\.csv)`\** \|", PAGE)
SHARE = re.compile(r"([\d.]+) % \(([\d.]+) to ([\d.]+)\)")


def share(count: int, of: int) -> tuple[float, float, float]:
    """Percent with Wilson's 95 % interval."""
    from scipy.stats import binomtest  # type: ignore[import-untyped]  # SciPy ships no types

    ends = binomtest(count, of).proportion_ci(method="wilson")
    return 100 * count / of, 100 * ends.low, 100 * ends.high


def test_the_page_has_the_sets() -> None:
    assert len(SETS) == 10


@pytest.mark.parametrize("name", SETS)
def test_the_page_prints_what_the_labels_say(name: str) -> None:
    with (TOP / "tests" / "data" / name).open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    silent_wrong = [row["reader_1"] == "wrong" and row["answerable"] == "no" for row in rows]  # set 4 has no "invented"
    labels = Counter("invented" if other else row["reader_1"] for row, other in zip(rows, silent_wrong, strict=True))
    answerable = labels["apt"] + labels["evasive"] + labels["wrong"]
    silent = labels["honest"] + labels["invented"]
    [row] = [line for line in PAGE.splitlines() if f"`{name}`" in line and line.startswith("|")]
    assert re.findall(r"\b(\d+), [\d.]+ %", row) == [str(answerable), str(silent)]
    measured = [share(labels["apt"], answerable), share(labels["wrong"], answerable), share(labels["honest"], silent)]
    printed = [tuple(map(float, found)) for found in SHARE.findall(row)]
    assert printed == [pytest.approx(one, abs=0.06) for one in measured]
