"""Pairs of a truth and an answer, written from medical knowledge before the rules that read them were opened."""

import csv
from pathlib import Path

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

PAIRS = Path(__file__).resolve().parents[2] / "data" / "blind_pairs_4.csv"
"""240 pairs by kind; half by a seed (61) was read to mend rules, the other was measured once more and then read."""
LEAST_FOUND, MOST_PASSED = 0.9, 0.04
BOTH = "Legionella pneumophila and Bordetella bronchiseptica coinfection"


@pytest.fixture(scope="module")
def matched() -> dict[str, list[bool]]:
    """The verdicts by whether the answer is the truth."""
    found: dict[str, list[bool]] = {"yes": [], "no": []}
    with PAIRS.open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            found[row["same"]].append(compare(row["answer"], Truth(diagnosis=row["truth"])).match)
    return found


def test_other_names_and_honest_shapes_are_found(matched: dict[str, list[bool]]) -> None:
    assert len(matched["yes"]) == 135
    assert sum(matched["yes"]) / 135 >= LEAST_FOUND


def test_opposites_denials_and_lists_do_not_pass(matched: dict[str, list[bool]]) -> None:
    assert len(matched["no"]) == 105
    assert sum(matched["no"]) / 105 <= MOST_PASSED


@pytest.mark.parametrize(
    "answer",
    [
        "Gout, which imaging refuted", "Gout. This was ruled out by aspiration.", "Gout, but it was excluded",
        "The patient fears gout", "Torn between gout and scurvy", "Gout if not scurvy", "Gout unless it is scurvy",
        "50 % gout, 50 % scurvy", "Nothing suggests gout", "Gout no longer fits", "Gout prophylaxis", "Gout screening",
        "Gout is diagnosed by aspiration", "Gout: low probability", "It remains unclear whether this is gout",
    ],
)  # fmt: skip
def test_what_is_denied_feared_or_left_open_is_not_asserted(answer: str) -> None:
    assert not compare(answer, Truth(diagnosis="Gout")).match


@pytest.mark.parametrize(
    "answer",
    [
        "Gout, which was initially thought to be scurvy", "Gout. It was never in doubt.", "This may well be gout",
        "Dx => gout (M10.9)", "diagnosis=gout; certainty=high", "The crystals establish gout as the cause",
        "Gout was diagnosed by aspiration", "My final answer would have to be gout", "The joint is inflamed: gout",
    ],
)  # fmt: skip
def test_honest_shapes_count(answer: str) -> None:
    assert compare(answer, Truth(diagnosis="Gout")).match


@pytest.mark.parametrize(
    ("truth", "answer", "right"),
    [
        ("Marfan syndrome", "FBN1-related connective tissue disorder", True),
        ("Weill-Marchesani syndrome", "FBN1-related connective tissue disorder", False),
        ("Marfan syndrome", "Loeys-Dietz syndrome", False),
        ("Staphylococcus lugdunensis infection", "Endocarditis due to Staphylococcus lugdunensis", True),
        ("Staphylococcus lugdunensis infection", "Endocarditis due to Staphylococcus epidermidis", False),
        (BOTH, "Legionella pneumophila pneumonia with Bordetella bronchiseptica infection", True),
        (BOTH, "Legionella pneumophila pneumonia", False),
        ("Cystostomy infection", "Cystostomy malfunction", False),
    ],
)
def test_genes_organisms_and_coinfections(truth: str, answer: str, right: bool) -> None:
    assert compare(answer, Truth(diagnosis=truth)).match is right
