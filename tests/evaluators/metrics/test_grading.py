"""Kinds of diseases: the is-a graph, graded answers, and rare diseases."""

import pytest
from examples import at_most
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.metrics.grade import WORTH, relation_to_truth
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.graph import graph
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.reports.rare_diseases import rare

RELATIONS = [
    ("heart attack", "MI", "same"),
    ("NSTEMI", "myocardial infarction", "child"),
    ("STEMI", "NSTEMI", "sibling"),
    ("pulmonary tuberculosis", "tuberculosis", "child"),
    ("lung adenocarcinoma", "lung cancer", "child"),
    ("hemophilia A", "hemophilia B", "sibling"),
    ("hemophilia", "hemophilia A", "parent"),
    ("Crohn disease", "ulcerative colitis", "sibling"),
    ("diverticulitis", "diverticulosis", "sibling"),
    ("type 2 diabetes", "diabetes", "child"),
    ("type 1 diabetes", "type 2 diabetes", "sibling"),
    ("AIDS", "HIV", "child"),
    ("cardiomyopathy", "dilated cardiomyopathy", "parent"),
    ("streptococcal sepsis", "sepsis", "child"),
    ("Gaucher disease type 1", "Gaucher disease", "child"),
    ("asthma", "COPD", "other"),
    ("pneumonia", "lung cancer", "other"),
    ("hypertension", "pulmonary hypertension", "other"),
    ("melanoma", "basal cell carcinoma", "other"),
]
MIRROR = {"same": "same", "child": "parent", "parent": "child", "sibling": "sibling", "other": "other"}


def concept(name: str) -> Concept:
    found = linker().link(name)
    assert found is not None, name
    return found.concept


@pytest.mark.parametrize(("answer", "truth", "relation"), RELATIONS)
def test_relations_and_their_mirrors(answer: str, truth: str, relation: str) -> None:
    one, other = concept(answer), concept(truth)
    assert graph().relation(one, other) == relation
    assert graph().relation(other, one) == MIRROR[relation]


def test_distance_counts_steps_both_ways() -> None:
    near, far = concept("NSTEMI"), concept("myocardial infarction")
    assert graph().distance(near, near) == 0
    there, back = graph().distance(near, far), graph().distance(far, near)
    assert there == back
    assert there is not None
    assert there > 0
    assert graph().distance(concept("pneumonia"), concept("lung cancer")) is None
    assert graph().distance(near, concept("stroke"), most=1) is None


@pytest.mark.parametrize(
    ("answer", "truth", "relation"),
    [
        ("Heart attack", "Myocardial infarction", "same"),
        ("Final diagnosis: NSTEMI", "Myocardial infarction", "same"),
        ("myocardial infarction", "NSTEMI", "parent"),
        ("Hemophilia B", "Hemophilia A", "sibling"),
        ("hemophilia", "Hemophilia A", "parent"),
        ("Klebsiella pneumonia", "Pneumonia", "same"),
        ("Ulcerative colitis, not Crohn disease", "Crohn disease", "sibling"),
        ("asthma", "Pneumonia", "other"),
        ("I do not know", "Pneumonia", "other"),
        ("", "Pneumonia", "other"),
        ("asthma", "Zorbs syndrome of unknown making", None),
        ("zorbs syndrome of unknown making", "Zorbs syndrome of unknown making", "same"),
    ],
)
def test_an_answer_is_graded(answer: str, truth: str, relation: str | None) -> None:
    assert relation_to_truth(answer, Truth(diagnosis=truth), linker(), graph()) == relation


def test_the_nearest_of_several_asserted_counts() -> None:
    assert relation_to_truth("hypertension", Truth(diagnosis="Hemophilia A"), linker(), graph()) == "other"
    assert (
        relation_to_truth("Hemophilia B and hypertension", Truth(diagnosis="Hemophilia A"), linker(), graph())
        == "sibling"
    )


@at_most(50)
@given(st.text(max_size=120))
def test_any_answer_gets_a_grade(answer: str) -> None:
    assert relation_to_truth(answer, Truth(diagnosis="Appendicitis"), linker(), graph()) in WORTH


@pytest.mark.long
def test_rare_diseases_are_told_from_common_ones() -> None:
    text = "Takotsubo cardiomyopathy with hypertension; pulmonary nocardiosis and type 2 diabetes."
    assert [found.name for found in rare(text, linker())] == ["Stress cardiomyopathy", "Pulmonary nocardiosis"]
    assert rare("Hypertension and pneumonia", linker()) == ()
    assert rare("", linker()) == ()


@pytest.mark.long
def test_a_short_text_is_also_read_as_one_misspelt_name() -> None:
    assert [found.name for found in rare("Marfan syndrom", linker())] == ["Marfan syndrome"]
