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
    "list 5": (HERE.parents[1] / "data" / "blind_pairs_5.csv", 130, 0.95, 110, 0.01),
}
"""The file, its right answers and the share that must match, its wrong ones and the share that may pass.

Half of list 4 by a seed (61) was read to mend rules, the other was measured once more and then read.
The faults of list 5 were read after its first count, 119 of 130 and 1 of 110, and their classes mended.
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long if name in ("list 4", "list 5") else ()) for name in SETS]
)
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


@pytest.mark.parametrize(
    "answer",
    [
        "- Gout - Asthma",
        "* Gout * Asthma",
        "1) Gout 2) Asthma",
        "1. Gout\n2. Asthma",
        "Gout - asthma, psoriasis",
        "Gout: asthma, pneumonia",
        "Gout: Whipple, Takayasu, Kawasaki",
        "Gout: asthma, raised urate, psoriasis",
    ],
)
def test_a_list_of_diseases_with_marks_is_several_answers(answer: str) -> None:
    assert compare(answer, Truth(diagnosis="Gout")).reason == "several_answers"


@pytest.mark.parametrize(
    "answer",
    [
        "Gout: raised urate 9 mg/dL, a red toe, and needle-shaped crystals",
        "Gout - swollen big toe with needle-shaped crystals",
        "He has gout and needs colchicine and rest today.",
        "Most likely first: 1) Gout 2) Asthma",
    ],
)
def test_findings_and_care_behind_a_diagnosis_are_no_further_answers(answer: str) -> None:
    assert compare(answer, Truth(diagnosis="Gout")).match


def test_an_agent_behind_its_infection_names_the_disease() -> None:
    assert compare("Infection with the measles virus", Truth(diagnosis="Measles")).match
    assert not compare("Infection with the rubella virus", Truth(diagnosis="Measles")).match
