"""The offline judge on diagnoses: compound labels in another order are named; siblings, lists and denials are not."""

import pytest

from wardround.evaluators.lexical.comparison import names_diagnosis
from wardround.scenarios.case import Truth

NAMED = [
    (
        "Vertebral osteomyelitis with cord compression in an intravenous drug user",
        "Diabetes mellitus with staphylococcal bacteremia, vertebral osteomyelitis and compression of the cord",
    ),
    (
        "Tracheal compression by a double aortic arch with recurrent aspiration pneumonia",
        "Recurrent aspiration pneumonia in a child whose trachea is compressed, due to a double aortic arch",
    ),
    (
        "Gallstone ileus after a cholecystoduodenal fistula",
        "Small bowel obstruction due to an impacted gallstone from a cholecystoduodenal fistula, with dehydration",
    ),
    (
        "Hoarseness from paralysis of the vocal cord due to an aneurysm of the aortic arch",
        "Thoracic aortic aneurysm compressing the left recurrent laryngeal nerve, with paralysis of a vocal cord",
    ),
]
OTHERS = [
    ("Granuloma annulare", "Granuloma inguinale"),
    ("Primary biliary cholangitis", "Primary sclerosing cholangitis"),
    ("Lymphoma of the stomach with perforation and peritonitis", "Perforated ulcer of the stomach with peritonitis"),
    (
        "Type 1 diabetes mellitus with ketoacidosis and acute pancreatitis after infection",
        "Type 2 diabetes mellitus with ketoacidosis and acute pancreatitis after infection",
    ),
    (
        "Left renal artery stenosis with secondary hypertension and hypokalemia from aldosterone",
        "Right renal artery stenosis with secondary hypertension and hypokalemia from aldosterone",
    ),
]
LABEL = NAMED[0][0]
UNCOMMITTED = [
    "",
    f"It is not {LABEL}.",
    "Diabetic ketoacidosis or vertebral osteomyelitis or compression of the cord or a staphylococcal bacteremia",
    "Sarcoidosis, lymphoma, tuberculosis, gout, vertebral osteomyelitis, compression of the cord, intravenous drug use",
]


@pytest.mark.parametrize(("label", "answer"), NAMED)
def test_a_compound_label_is_named_in_another_order(label: str, answer: str) -> None:
    assert names_diagnosis(Truth(diagnosis=label), answer)
    assert names_diagnosis(Truth(diagnosis="Another name", synonyms=(label,)), answer)


@pytest.mark.parametrize(("label", "answer"), OTHERS)
def test_a_sibling_in_nearly_the_same_words_is_another_disease(label: str, answer: str) -> None:
    assert not names_diagnosis(Truth(diagnosis=label), answer)
    assert names_diagnosis(Truth(diagnosis=label), label)


@pytest.mark.parametrize("answer", UNCOMMITTED)
def test_what_commits_to_no_single_diagnosis_names_none(answer: str) -> None:
    assert not names_diagnosis(Truth(diagnosis=LABEL), answer)
