"""One item against a published table: exact, fuzzy, inside; first on ties."""

import pytest
from rapidfuzz import fuzz
from tiny import TABLES

from conformance.published import match


@pytest.mark.parametrize(
    ("item", "key", "rule"),
    [
        ("sodium", "Sodium", "exact"),
        ("Sodiums", "Sodium", "exact"),
        ("bilirubin, total", "Bilirubin, Total", "exact"),  # of two that differ in case the first
        ("potasium", "Potassium", "fuzzy"),
        ("urine sodium", "Sodium", "inside"),
        ("QuantiFERON-TB Gold", "TB", "inside"),
        ("sodium and potassium", "Potassium", "inside"),  # the longer is more like the whole
    ],
)
def test_an_item_matches_one_name(item: str, key: str, rule: str) -> None:
    found = match(item, TABLES)
    assert found is not None
    assert (found.key, found.rule) == (key, rule)


@pytest.mark.parametrize("item", ["", "s", "vitamin K1", "sodiumpotassium", "dragon", "odium and"])
def test_what_is_neither_like_a_name_nor_holds_one_matches_nothing(item: str) -> None:
    assert match(item, TABLES) is None


def test_a_ratio_of_ninety_and_a_half_is_rounded_to_even_and_is_too_little() -> None:
    """Comparing all names, without the bound on their lengths, gives the same."""
    for item in ("potassiu", "potassiumm", "potassiummm", "bilirubin total", "creatine kinase mb isoenzym"):
        scores = {name: round(fuzz.ratio(item, name.lower())) for name in TABLES.tests}
        best = max(scores, key=lambda name: scores[name])
        found = match(item, TABLES)
        if scores[best] > 90:
            assert found is not None
            assert (found.key, found.score) == (best, scores[best])
        else:
            assert found is None or found.rule == "inside"


def test_the_numbers_of_a_match_are_sorted_and_single() -> None:
    found = match("panel", TABLES)
    assert found is not None
    assert found.item_ids == (1, 2, 3)
