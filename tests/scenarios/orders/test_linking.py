"""Which test a name means."""

import pytest

from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.spelling import same_spelling


@pytest.mark.parametrize(
    ("name", "test", "rule"),
    [
        ("troponin T", "Troponin T", "exact"),
        ("hs-troponin T", "Troponin T", "synonym"),
        ("CBC", "Complete blood count", "synonym"),
        ("Complete Blood Count (CBC)", "Complete blood count", "exact"),
        ("please order a lipase level", "Lipase", "exact"),
        ("Haemoglobin", "Hemoglobin", "exact"),
        ("Bilirubin, Total", "Total bilirubin", "synonym"),
        ("chest xray", "Chest radiograph", "synonym"),
        ("serum sodium", "Sodium", "exact"),
        ("urine sodium", "Urine sodium", "exact"),
        ("non-contrast CT of the head", "CT head", "synonym"),
        ("x-ray of the right wrist", "Radiograph: right wrist", "region"),
        ("electromiography", "Electromyography", "fuzzy"),
        ("thyriod function tests", "Thyroid function tests", "fuzzy"),
        ("ova and parasites", "Ova and parasites", "exact"),
    ],
)
def test_a_name_is_linked(name: str, test: str, rule: str) -> None:
    found = link(name, catalogue())
    assert found is not None
    assert (found.test, found.rule) == (test, rule)
    assert 0.9 <= found.score <= 1.0


@pytest.mark.parametrize("name", ["banana", "", "5", "T2", "Factor XIV", "CT scan", "serum hypocalcemia", "x" * 5000])
def test_what_means_no_test_is_not_linked(name: str) -> None:
    assert link(name, catalogue()) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("HIV antibody", "HCV antibody"),
        ("CMV IgM", "IgM"),
        ("IgM", "IgG"),
        ("T3", "T4"),
        ("free T3", "free T4"),
        ("complement C3", "complement C4"),
        ("hepatitis B surface antigen", "hepatitis B surface antibody"),
        ("hepatitis A", "hepatitis B"),
        ("protein C", "protein S"),
        ("factor VIII", "factor IX"),
        ("urine culture", "blood culture"),
        ("BNP", "BMP"),
        ("QuantiFERON-TB", "total bilirubin"),
        ("CSF glucose", "glucose"),
        ("CT chest", "MRI chest"),
    ],
)
def test_tests_that_look_alike_are_not_one(one: str, other: str) -> None:
    ours, theirs = link(one, catalogue()), link(other, catalogue())
    assert (ours and ours.test) != (theirs and theirs.test)


def test_fuzzy_likeness_refuses_short_words_numbers_and_opposites() -> None:
    assert same_spelling("cytomegalovirus antibody", "cytomegalovirus antibodi")
    assert not same_spelling("cytomegalovirus igm", "cytomegalovirus igg")
    assert not same_spelling("hyperthyroidism panel", "hypothyroidism panel")
    assert not same_spelling("factor 10 assay", "factor 11 assay")
