"""Pairs written by hand from medical knowledge before any rule was tried on them: other words, hard negatives."""

import csv
from pathlib import Path

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

PAIRS = Path(__file__).resolve().parent / "written_pairs.csv"
LEAST_FOUND, MOST_PASSED = 0.85, 0.02
"""Share of the right answers that must be found, and share of the wrong ones that may pass."""


@pytest.fixture(scope="module")
def matched() -> dict[str, list[bool]]:
    """The verdicts by whether the pair is one disease."""
    found: dict[str, list[bool]] = {"yes": [], "no": []}
    with PAIRS.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found[row["same"]].append(compare(row["answer"], Truth(diagnosis=row["truth"])).match)
    return found


def test_most_answers_in_other_words_are_found(matched: dict[str, list[bool]]) -> None:
    assert len(matched["yes"]) == 144
    assert sum(matched["yes"]) / len(matched["yes"]) >= LEAST_FOUND


def test_siblings_wider_names_and_complications_do_not_pass(matched: dict[str, list[bool]]) -> None:
    assert len(matched["no"]) == 101
    assert sum(matched["no"]) / len(matched["no"]) <= MOST_PASSED


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
