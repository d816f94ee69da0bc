"""Pairs written by hand from medical knowledge before any rule was tried on them: other words, hard negatives."""

import csv
from pathlib import Path

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

HERE = Path(__file__).resolve().parent
SETS = {
    "written": (HERE / "written_pairs.csv", 144, 0.85, 101, 0.02),
    "list 4": (HERE.parents[1] / "data" / "blind_pairs_4.csv", 135, 0.9, 105, 0.04),
}
"""The file, its right answers and the share that must match, its wrong ones and the share that may pass.

Half of list 4 by a seed (61) was read to mend rules, the other was measured once more and then read.
"""


@pytest.mark.parametrize("name", SETS)
def test_other_words_match_and_siblings_denials_and_lists_do_not(name: str) -> None:
    path, rights, least, wrongs, most = SETS[name]
    verdicts: dict[str, list[bool]] = {"yes": [], "no": []}
    with path.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            verdicts[row["same"]].append(compare(row["answer"], Truth(diagnosis=row["truth"])).match)
    assert (len(verdicts["yes"]), len(verdicts["no"])) == (rights, wrongs)
    assert sum(verdicts["yes"]) / rights >= least
    assert sum(verdicts["no"]) / wrongs <= most


def test_what_an_effect_is_due_to_is_the_answer() -> None:
    assert compare("Anaphylaxis due to pheochromocytoma", Truth(diagnosis="Pheochromocytoma")).match


@pytest.mark.parametrize(
    "answer", ["Clotted neck vein (Lemierre syndrome)", "Clotted neck vein, also called Lemierre syndrome"]
)
def test_a_bracket_is_another_name_only_where_the_tables_say_so(answer: str) -> None:
    """Else a second guess could stand in it; a description before a name is missed for that."""
    assert not compare(answer, Truth(diagnosis="Lemierre syndrome")).match


@pytest.mark.parametrize(
    "answer",
    ["Acute appendicitis (gout)", "Scurvy, also called gout", "Scurvy (also called gout)", "Scurvy due to gout"],
)
def test_a_second_disease_is_no_other_name(answer: str) -> None:
    assert not compare(answer, Truth(diagnosis="Gout")).match


def test_the_reason_speaks_of_the_name_and_not_of_a_bracket_that_names_another() -> None:
    verdict = compare("Asthma (gout)", Truth(diagnosis="Gout"))
    assert not verdict.match
    assert verdict.why == "'Asthma' is not 'Gout': other words: asthma, not gout"
