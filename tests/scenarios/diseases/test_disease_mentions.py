"""Diseases named in running text: where, which, and what is not taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.diseases.lexical_linker import LexicalLinker, defined, linker


@pytest.fixture(scope="module")
def full() -> LexicalLinker:
    return linker()


def named(full: LexicalLinker, text: str) -> list[tuple[str, str]]:
    return [(one.text, one.concept.name) for one in full.mentions(text)]


def test_the_longest_name_wins_and_places_are_exact(full: LexicalLinker) -> None:
    text = "Known type 2 diabetes mellitus and Crohn’s disease; now acute myocardial infarction."
    found = full.mentions(text)
    assert [(one.text, one.concept.name) for one in found] == [
        ("type 2 diabetes mellitus", "Type 2 diabetes mellitus"),
        ("Crohn’s disease", "Crohn disease"),
        ("acute myocardial infarction", "Myocardial infarction"),
    ]
    assert all(text[one.start : one.end] == one.text for one in found)
    ends = [0, *(one.end for one in found)]
    assert all(end <= one.start for end, one in zip(ends, found, strict=False))


def test_abbreviations_count_as_they_are_written(full: LexicalLinker) -> None:
    assert named(full, "PE and COPD") == [
        ("PE", "Pulmonary embolism"),
        ("COPD", "Chronic obstructive pulmonary disease"),
    ]
    assert named(full, "all of the above; as is; on call; pe was normal") == []
    assert named(full, "BP 120/80 in the ED, IM injection, MR of the head, IgM low") == []
    assert named(full, "bullous pemphigoid (BP); BP spread")[-1] == ("BP", "Bullous pemphigoid")
    assert named(full, "ALL OF THE PATIENTS WERE SEEN ON CALL") == []


def test_a_text_s_own_abbreviation_means_what_the_text_says(full: LexicalLinker) -> None:
    text = "Lobular capillary hemangioma (LCH) was excised. The LCH recurred."
    assert named(full, text)[1:] == [("LCH", "Pyogenic granuloma"), ("LCH", "Pyogenic granuloma")]
    assert named(full, "Left coronary hypoplasia shunt (LCHS); LCHS was closed") == []
    assert "Langerhans cell histiocytosis" in [name for _, name in named(full, "LCH was found")]
    unknown = "goblet cell adenocarcinoma (GCA) was seen. GCA spread."
    assert "Giant cell arteritis" not in [name for _, name in named(full, unknown)]


def test_no_name_reaches_over_a_sentence_or_a_bracket(full: LexicalLinker) -> None:
    assert named(full, "He has diabetes. Mellitus is Latin.") == [("diabetes", "Diabetes mellitus")]
    assert [name for _, name in named(full, "chronic kidney (disease) was")] == []


def test_a_prefix_makes_it_another_disease(full: LexicalLinker) -> None:
    assert named(full, "non-Hodgkin lymphoma") == [("non-Hodgkin lymphoma", "Non-Hodgkin lymphoma")]
    assert named(full, "non-tropical sprue was thought of")[:1] != [("tropical sprue", "Tropical sprue")]


def test_eponyms_alone_need_what_they_own(full: LexicalLinker) -> None:
    assert named(full, "Crohn's was excluded") == [("Crohn", "Crohn disease")]
    assert named(full, "Dr. Graves and Mr. Baker came down well") == []


def test_a_long_question_names_its_diseases(full: LexicalLinker) -> None:
    question = (
        "A 54-year-old man with hypertension (HTN) and stage 3 CKD presents with crushing chest pain. His mother had "
        "breast cancer. Which of the following is the most likely diagnosis? A) Pulmonary embolism B) Aortic "
        "dissection C) GERD D) All of the above"
    )
    assert [name for _, name in named(full, question)] == [
        "Hypertension",
        "Hypertension",
        "Chronic kidney disease",
        "Breast cancer",
        "Pulmonary embolism",
        "Aortic dissection",
        "Gastroesophageal reflux disease",
    ]


@given(st.text(max_size=200))
def test_any_text_gives_places_in_order(text: str) -> None:
    end = 0
    for one in linker().mentions(text):
        assert end <= one.start < one.end <= len(text)
        assert text[one.start : one.end] == one.text
        end = one.end


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("multiple sclerosis (MS)", {"MS": "multiple sclerosis"}),
        (
            "syndrome of inappropriate antidiuretic hormone (SIADH)",
            {"SIADH": "syndrome of inappropriate antidiuretic hormone"},
        ),
        ("seen twice (see Table)", {}),
        ("tuberculosis (TB), later", {"TB": "tuberculosis"}),
        ("acute appendicitis (MRI)", {}),
    ],
)
def test_definitions(text: str, found: dict[str, str]) -> None:
    assert {short: text[start:end] for short, (start, end) in defined(text).items()} == found
