"""Answers that deny, doubt, name a sibling or only state a cause, beside honest ones of the same shape."""

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

BOTH = "Legionella pneumophila and Bordetella bronchiseptica coinfection"


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
