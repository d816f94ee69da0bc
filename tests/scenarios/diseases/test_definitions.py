"""Answers that say what defines a disease, what it presents with, or its name in other pieces."""

import pytest

from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.definitions import defines
from wardround.scenarios.diseases.same_disease import run_together, same_disease


def right(truth: str, answer: str) -> bool:
    return compare(answer, Truth(diagnosis=truth)).match


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Gallstone disease with Mirizzi syndrome", "Gallstone disease"),
        ("Heyde syndrome", "Aortic stenosis with bleeding from angiodysplasia"),
        ("Evans syndrome", "Autoimmune hemolytic anemia and immune thrombocytopenia"),
        ("Rheumatoid arthritis with splenomegaly and neutropenia", "Felty syndrome"),
        ("Lemmel syndrome", "Periampullary diverticulum causing partial CBD obstruction"),
    ],
)
def test_what_defines_a_disease_names_it(truth: str, answer: str) -> None:
    assert right(truth, answer)


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Heyde syndrome", "Aortic stenosis"),
        ("Evans syndrome", "Gout with hemolytic anemia and thrombocytopenia"),
        ("Evans syndrome", "Hemolytic anemia or thrombocytopenia"),
        ("Heyde syndrome", "Aortic stenosis, angiodysplasia, gout, lupus"),
    ],
)
def test_a_definition_needs_all_findings_first_and_little_else(truth: str, answer: str) -> None:
    assert not right(truth, answer)


def test_a_definition_gives_the_places_of_its_findings() -> None:
    assert defines("Heyde syndrome", ["aortic stenosis", "anemia", "angiodysplasia"]) == [0, 2]
    assert defines("Heyde syndrome", ["anemia", "aortic stenosis", "angiodysplasia"]) is None
    assert defines("gout", ["gout"]) is None


@pytest.mark.parametrize(
    "answer",
    [
        "Gout presenting with lupus nephritis",
        "Gout manifesting as asthma",
        "Gout due to leukemia, likely related to asthma",
        "Gout with asthma and secondary osteoarthritis",
        "The final diagnosis is gout with suspicion of fever",
        "Gout. This rare inherited malaria-like disorder runs in families.",
        "Gout (low-risk, HLA positive) with asthma",
        "The diagnosis is gout. The diagnosis is supported by fever, a positive lupus test and asthma.",
    ],
)
def test_what_explains_a_diagnosis_is_no_further_answer(answer: str) -> None:
    verdict = compare(answer, Truth(diagnosis="Gout"))
    assert verdict.match
    assert not {"malaria", "lupus"} & set(verdict.committed.split())


@pytest.mark.parametrize(
    "answer", ["Gout presenting with lupus nephritis and malaria", "Gout manifesting as asthma and malaria"]
)
def test_a_disease_presents_with_one_further_disease_at_most(answer: str) -> None:
    assert compare(answer, Truth(diagnosis="Gout")).rule == "several"


@pytest.mark.parametrize("hidden", ["asthma", "lupus nephritis"])
def test_what_a_disease_presents_with_is_not_the_answer(hidden: str) -> None:
    answer = f"Gout presenting with malaria, {hidden} and scurvy"
    verdict = compare(answer, Truth(diagnosis=hidden))
    assert not verdict.match
    assert hidden not in verdict.committed


def test_only_what_is_asserted_first_is_explained() -> None:
    listed = "Sepsis with gout presenting as asthma, malaria, scurvy and glaucoma"
    assert not compare(listed, Truth(diagnosis="Gout")).match
    assert compare("Gout presenting with asthma, malaria, scurvy, glaucoma", Truth(diagnosis="Gout")).reason


def test_a_chain_of_causes_is_a_list() -> None:
    assert (
        compare("Gout due to lupus due to asthma due to malaria", Truth(diagnosis="Gout")).reason == "several_answers"
    )


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Bilateral clubfoot", "bilateral club foot"),
        ("Colovesical fistula", "colo-vesical fistula"),
        ("Thrombocytopenia", "thrombocyto penia"),
    ],
)
def test_words_run_together_or_apart_are_the_same(truth: str, answer: str) -> None:
    assert same_disease(truth, answer).same
    assert run_together("acute foot drop", "foot ulcer") == "acute foot drop"


@pytest.mark.parametrize(
    ("truth", "answer", "same"),
    [
        ("FDG-avid sarcoidosis", "sarcoidosis", True),
        ("Radiologically elusive sporotrichosis", "sporotrichosis", True),
        ("Lepromatous leprosy", "leprosy", False),
        ("Behavioral-predominant frontotemporal dementia", "frontotemporal dementia", False),
        ("Autoimmune hepatitis", "hepatitis", False),
        ("FDG-avid sarcoidosis", "juvenile sarcoidosis", False),
    ],
)
def test_words_that_only_describe_may_be_left_out(truth: str, answer: str, same: bool) -> None:
    assert same_disease(truth, answer).same == same


def test_an_abbreviation_of_the_table_may_stand_for_other_words_with_its_letters() -> None:
    assert same_disease("Superior mesenteric artery syndrome", "SMA syndrome").same
    assert not same_disease("Superior mesenteric artery syndrome", "SMA").same
    assert not same_disease("Marfan syndrome", "MS syndrome").same


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("Multiple infections including dengue and malaria", ["dengue", "malaria"]),
        ("Synchronous primary malignancies: gastric cancer and liposarcoma", ["gastric cancer", "liposarcoma"]),
    ],
)
def test_what_only_counts_diseases_is_none_of_them(answer: str, names: list[str]) -> None:
    assert [item.name for item in read_answer(answer).asserted] == names
