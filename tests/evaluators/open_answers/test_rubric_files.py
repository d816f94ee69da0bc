"""Rubrics with planted faults: `rubrics lint` finds them and flags nothing else.

`tests/data/rubric_files.jsonl` has 45 rubrics. When the check first read them, it found of the planted faults:

=========  =======  =====  =====  =======================================================
part       rubrics  found  of     flagged though nothing was planted
=========  =======  =====  =====  =======================================================
first           15     14     16  1
held_out        15     10     15  1
fresh           15      9     10  0; written after what the others showed had been mended
=========  =======  =====  =====  =======================================================
"""

import json
from pathlib import Path

import pytest

from wardround.evaluators.open_answers.rubric_lint import lint
from wardround.scenarios.criteria import RubricItem

_ROWS = [json.loads(line) for line in Path("tests/data/rubric_files.jsonl").read_text("utf-8").splitlines()]
PARAPHRASE = {("b30", "duplicate", (1, 2))}
"""Two sentences in other words, which the check does not compare by their meaning."""


@pytest.mark.parametrize("part", ["first", "held_out", "fresh"])
def test_planted_faults_are_found_and_nothing_else_is_flagged(part: str) -> None:
    rows = [row for row in _ROWS if row["part"] == part]
    assert len(rows) == 15
    planted, found = set(), set()
    for row in rows:
        rubric = [RubricItem(**one) for one in row["rubric"]]
        planted |= {(row["id"], kind, tuple(at)) for kind, places in row["planted"].items() for at in places}
        found |= {(row["id"], fault.kind, fault.criteria) for fault in lint(rubric)}
    assert found - planted == set()
    assert planted - found == {one for one in PARAPHRASE if one[0] in {row["id"] for row in rows}}
