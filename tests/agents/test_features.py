"""What the baseline reads in a text."""

import pytest
from examples import at_most
from hypothesis import given
from hypothesis import strategies as st

from wardround.agents.baseline_knowledge import affirmed_findings, affirmed_sentences, disease_key, stems


def has(text: str, phrase: str) -> bool:
    return set(stems(phrase)) <= affirmed_findings(text).keys()


@pytest.mark.parametrize(
    ("text", "phrase", "there"),
    [
        ("Fever and a dry cough.", "dry cough", True),
        ("He denies fever, but has a cough.", "fever", False),
        ("He denies fever, but has a cough.", "cough", True),
        ("Wheeze without fever", "wheeze", True),
        ("Wheeze without fever", "fever", False),
        ("She is short of breath", "dyspnea", True),
        ("Swollen lymph nodes in the neck", "lymphadenopathy", True),
        ("O\u2019Donnell\u2019s \u0153dema \u2014 h\u00e6maturia, diarrhoea", "diarrhea", True),
        ("WBC: 15,000 /\u03bcL", "leukocytosis", True),
        ("WBC: 15.2 K/uL", "leukocytosis", True),
        ("WBC: 7,500 /\u03bcL", "leukocytosis", False),
        ("Hemoglobin: 8.1 g/dL", "anemia", True),
        ("Hemoglobin: 81 g/L", "anemia", True),
        ("- Hemoglobin: 14 g/dL", "anemia", False),
        ("Sodium: 139 mmol/L (reference 135-145)", "sodium", False),
        ("Sodium: 128 mmol/L (reference 135-145) [low]", "hyponatremia", True),
        ("Zorptin: 90 U/L (reference up to 40)", "elevated zorptin", True),
        ("Zorptin: 20 U/L (reference up to 40)", "zorptin", False),
        ("Platelets: 27,000/mm3 (decreased)", "thrombocytopenia", True),
        ("Zorptin: positive", "zorptin positive", True),
    ],
)
def test_findings(text: str, phrase: str, there: bool) -> None:
    assert has(text, phrase) is there


def test_sentences_leave_out_denials_and_the_past() -> None:
    text = "Biopsy shows sarcoidosis. No lymphoma. Past medical history: gout."
    assert [part for part in affirmed_sentences(text) if part] == [stems("biopsy shows sarcoidosis")]


def test_one_spelling() -> None:
    assert disease_key("Legg-Calv\u00e9-Perthes Disease") == "legg calve perthes disease"
    assert disease_key("Hirschsprung\u2019s disease") == disease_key("Hirschsprung disease")
    assert disease_key("Tumour of haemoglobin") == "tumor of hemoglobin"


@at_most(60, quick=5)
@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    assert all(count > 0 for count in affirmed_findings(text).values())
    assert all(isinstance(part, tuple) for part in affirmed_sentences(text))
