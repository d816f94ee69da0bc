"""The sections of a discharge note, whatever stands in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.mimic_tree import DISEASES, Admission, discharge_note
from wardround.scenarios.mimic.note import before_secondary, examination_parts, first_item, note

ONE = Admission(1, 1, "plain", DISEASES[0], 10, 50, "F")
WORDS = st.text(alphabet=st.sampled_from("bgjkqvz ___.,123\n"), min_size=1, max_size=60)
"""Texts of letters that spell no heading: 'cc ed' alone on a line is one."""


def test_a_usual_note() -> None:
    found = note(discharge_note(ONE))
    assert found.get("complaint") == "feeling unwell"
    assert found.get("present").startswith("Ms. ___ is a ___ year old woman")
    assert found.get("past") == "sprained ankle\n___"
    assert found.get("examination") == "VS: 37.9 92 121/70\nHEENT: dry lips.\nAbd: soft."
    assert found.get("diagnosis") == "Acute appendicitis"


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("HISTORY OF PRESENT ILLNESS:", "present"),
        ("___ of Present Illness:", "present"),
        ("History of present illness", "present"),
        ("  HPI:  ", "present"),
        ("Physical ___:", "examination"),
        ("Discharge Diagnoses:", "diagnosis"),
        ("___ Medical History:", "past"),
        ("Primary Discharge Diagnosis:", "diagnosis"),
        ("Primary Discharge:", "diagnosis"),
        ("PRINCIPAL:", "diagnosis"),
        ("Discharge Diagnosis(es):", "diagnosis"),
        ("History of Present Illness (HPI):", "present"),
        ("Present Illness:", "present"),
        ("**HPI** -", "present"),
    ],
)
def test_a_heading_is_known_in_its_usual_forms(heading: str, kind: str) -> None:
    assert note(f"Allergies:\nnone\n{heading}\nthe text\nDischarge Disposition:\nHome\n").get(kind) == "the text"


@pytest.mark.parametrize("line", ["___:", "___", "He has a history of present illness and more", "Note: the ___ was"])
def test_what_is_no_heading_opens_no_section(line: str) -> None:
    assert note(f"History of Present Illness:\nfirst\n{line}\nlast").get("present") == f"first\n{line}\nlast"


@pytest.mark.parametrize("item", ["PE", "PD", "PE\nDVT", "PE: bilateral, started on heparin"])
def test_a_diagnosis_that_looks_like_a_heading_stays_a_diagnosis(item: str) -> None:
    read = note(f"HPI:\nshort of breath\nDischarge Diagnosis:\n{item}\nDischarge Condition:\nStable")
    assert read.get("diagnosis") == item
    assert read.get("examination") == ""


def test_several_headings_stand_on_one_line() -> None:
    read = note(
        "CC: cough HPI: 45F with fever PMH: PE, HTN PE: VS 98.1, Gen: NAD\n"
        "Principal diagnosis: PNA Discharge Condition: ok"
    )
    expected = {
        "complaint": "cough",
        "present": "45F with fever",
        "past": "PE, HTN",
        "examination": "VS 98.1, Gen: NAD",
    }
    assert {**expected, "diagnosis": "PNA", "condition": "ok"} == read.sections


def test_a_primary_diagnosis_may_follow_the_secondary_ones() -> None:
    read = note("HPI: x\nSecondary diagnoses:\nHTN\nPrimary diagnosis:\nSepsis\nDischarge Condition: ok")
    assert first_item(read.primary) == "Sepsis"


def test_the_last_diagnosis_counts_and_the_first_history() -> None:
    text = "HPI:\none\nFinal Diagnosis:\nold\nHPI:\ntwo\nDischarge Diagnosis:\nnew\nDischarge Condition:\nfine"
    assert note(text).get("diagnosis") == "new"
    assert note(text).get("present") == "one"


@pytest.mark.parametrize(
    ("diagnosis", "first"),
    [
        ("Acute appendicitis", "Acute appendicitis"),
        ("PRIMARY DIAGNOSIS:\n# Sepsis\nSECONDARY DIAGNOSIS:\nGout", "Sepsis"),
        ("Primary: Gout\nSecondary: sepsis", "Gout"),
        ("1. Pneumonia 2. Gout", "Pneumonia"),
        ("- Pneumonia; gout", "Pneumonia"),
        ("abscess secondary to appendicitis", "abscess"),
        ("Primary\nGout", "Gout"),
        ("", ""),
    ],
)
def test_the_first_item_of_a_discharge_diagnosis(diagnosis: str, first: str) -> None:
    assert first_item(before_secondary(diagnosis)).strip() == first


def test_secondary_to_opens_no_secondary_diagnoses() -> None:
    assert before_secondary("Sepsis\nSecondary to pneumonia\nSecondary:\nGout") == "Sepsis\nSecondary to pneumonia"


def test_the_examination_ends_before_what_was_found_on_leaving() -> None:
    found = examination_parts("General: well\nAbd: tender\nOn discharge: soft\nChest: clear")
    assert found == (("General", "well"), ("Abd", "tender"))
    whole = "Wound: foul odor on discharge from it. Abd: soft"
    assert examination_parts(whole) == (("Physical examination", whole),)
    assert examination_parts("Abd: tender. At discharge, soft") == (("Physical examination", "Abd: tender."),)
    assert examination_parts("comfortable, soft abdomen") == (("Physical examination", "comfortable, soft abdomen"),)
    assert examination_parts("  ") == ()


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["History of Present Illness", "Past Medical History", "Physical Exam", "Social History"]),
            WORDS,
        ),
        unique_by=lambda pair: pair[0],
    )
)
def test_no_word_of_a_note_is_lost_or_moved(given_parts: list[tuple[str, str]]) -> None:
    kinds = {"History of Present Illness": "present", "Past Medical History": "past", "Physical Exam": "examination"}
    found = note("".join(f"{name}:\n{text}\n" for name, text in given_parts))
    for name, text in given_parts:
        assert found.get(kinds.get(name, "social")).split() == text.split()


@given(st.text(max_size=400))
def test_any_text_is_read_and_sections_are_parts_of_it(text: str) -> None:
    found = note(text)
    assert all(body in text for body in found.sections.values())
    assert first_item(before_secondary(text)) in text or "\n" in text or ";" in text
    for name, body in examination_parts(text):
        assert name
        assert body
