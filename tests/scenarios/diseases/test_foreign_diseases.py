"""Common diseases in German, French, Spanish and Chinese are the diseases that they are in English."""

import csv
from importlib.resources import files

import pytest

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.foreign_diseases import diseases_in_english


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Gout", "Die wahrscheinlichste Diagnose ist Gicht."),
        ("Pulmonary embolism", "Diagnose: Akute Lungenembolie beidseits"),
        ("Acute pancreatitis", "Le diagnostic le plus probable est une pancréatite aiguë."),
        ("Pulmonary embolism", "Il s'agit d'une embolie pulmonaire."),
        ("Acute appendicitis", "El diagnóstico más probable es apendicitis aguda."),
        ("Acute appendicitis", "最可能的诊断是急性阑尾炎。"),
        ("Non-small cell lung cancer", "诊断：非小细胞肺癌"),
        ("Crohn disease", "Morbus Crohn"),
        ("Alzheimer disease", "Maladie d’Alzheimer"),
        ("痛风", "痛风"),
    ],
)
def test_the_name_of_another_language_is_the_disease(truth: str, answer: str) -> None:
    assert compare(answer, Truth(diagnosis=truth)).match


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Gout", "Kein Anhalt für Gicht"),
        ("Gout", "Gicht oder Pseudogicht"),
        ("Gout", "不是痛风"),
        ("Gout", "Ce n'est pas la goutte"),
        ("Acute pancreatitis", "Chronische Pankreatitis"),
        ("Hyperthyroidism", "Hypothyreose"),
        ("Small cell lung cancer", "非小细胞肺癌"),
        ("Diabetes mellitus type 1", "2型糖尿病"),
    ],
)
def test_a_denied_or_opposite_name_is_not_the_disease(truth: str, answer: str) -> None:
    assert not compare(answer, Truth(diagnosis=truth)).match


@pytest.mark.parametrize(
    "text", ["gout", "acute right heart failure", "cancer of the lung", "Infection of the hip", ""]
)
def test_english_stays_as_it_is(text: str) -> None:
    assert diseases_in_english(text) == text


def test_no_name_stands_for_two_diseases_and_every_name_is_put_into_english() -> None:
    table = files("wardround.scenarios.terms").joinpath("data", "foreign_diseases.csv").read_text(encoding="utf-8")
    rows = [(name, row["english"]) for row in csv.DictReader(table.splitlines()) for name in row["names"].split("|")]
    names = [name.lower() for name, _ in rows]
    assert sorted(names) == sorted(set(names))
    assert [(name, diseases_in_english(name)) for name, english in rows if diseases_in_english(name) != english] == []
