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


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("O/E on arrival", "O/E at discharge"),
        ("Examination on admission", "Examination prior to discharge"),
        ("Exam", "Exam before discharge"),
        ("Physical Exam", "Pre-discharge exam"),
        ("Examination findings", "Findings on discharge"),
        ("On examination", "On examination at discharge"),
        ("Exam ___", "Exam ___ (day of discharge)"),
        ("Admission exam", "Exam on day of discharge"),
        ("Examination (admission)", "Examination (discharge)"),
        ("Initial examination", "Repeat examination before going home"),
        ("O/E", "O/E prior to discharge"),
        ("Examination day 1", "Examination day 6"),
        ("PE on admission", "PE on d/c"),
        ("Clinical examination", "Examination on leaving"),
        ("Physical examination", "Physical examination at time of discharge"),
        ("Examination on arrival", "Examination on the day of departure"),
        ("Exam at presentation", "Exam at d/c"),
        ("Examination 1", "Examination 2"),
        ("Observations and examination on admission", "Observations and examination on discharge"),
        ("Admission Physical Exam", "Physical Exam on ___ prior to discharge"),
        ("Exam on admission", "Last exam"),
        ("Examination", "Final examination"),
        ("O/E in ED", "O/E on ward day 5"),
        ("Admission status", "Discharge status"),
        ("Findings on admission", "Condition and findings at discharge"),
        ("Examination in A&E", "Examination at discharge from hospital"),
        ("Initial exam", "At discharge"),
        ("PHYSICAL EXAMINATION", "PHYSICAL EXAMINATION PRIOR TO DISCHARGE"),
    ],
)
def test_the_examination_on_leaving_is_not_that_of_the_admission(first: str, later: str, apart: bool) -> None:
    between = "Bloods: WBC 14\nTreatment: Given fluids and rest.\n" if apart else ""
    read = note(
        "Chief Complaint: Abdominal pain\n\nHistory of Present Illness: A ___ year old man with pain for two days. He"
        " vomited twice and could not sleep at all.\n\n"
        f"{first}:\nVS: T 102.6\nGEN: Uncomfortable\nABD: tender in the right lower quadrant\n\n{between}\n"
        f"{later}:\nVS: T 98.6\nGEN: Walks in the hallway\nABD: soft\n\n"
        "Medicines at discharge:\nAmlodipine\n\nDischarge Diagnosis:\nAppendicitis\n"
    )
    examined = " ".join(text for _, text in examination_parts(read.get("examination")))
    assert "right lower quadrant" in examined
    assert not [word for word in ("hallway", "98.6", "WBC", "fluids", "Amlodipine") if word in examined]
