"""Discharge notes by an author who had not seen the parser, through the product: sections, labels, reports, leaks."""

from collections import Counter
from pathlib import Path

import pytest
from examples import first_ones, sampled

from benchmarks.ward_notes import diseases, ward_notes
from benchmarks.ward_reading import built, case_faults, checked, fault, flagged, sentence_notes, sentence_pairs
from wardround.scenarios.mimic.note import first_item, note
from wardround.scenarios.mimic.record_items import report_findings

UNREAD = {
    "styles_2.txt": {},
    "styles_3.txt": {"wrapped_heads": "history", "nurse_handoff": "examination"},
    "styles_4.txt": {"narrative_summary": "examination"},
    "styles_5.txt": {"ortho_trauma": "history"},
    "styles_6.txt": {"odd_question_form": "history"},
    "styles_7.txt": {},
}
"""A heading over two lines, one in plain words behind the examination, and parts of a story without headings."""
NOTES = ward_notes()[::10]
SEEN = (
    "leaks_2.csv",
    "leaks_4.csv",
    "leaks_5.csv",
    "leaks_6.csv",
    "leaks_own.csv",
    "leaks_own_4.csv",
    "leaks_own_6.csv",
)
BY_DESIGN = {"parens_admission", "neurology", "quoted_cc"}
"""Styles whose history, as read, keeps a remark that the notes' author left out of it."""


def test_one_note_of_each_style_is_read() -> None:
    faults = {one.style: what for one in NOTES if (what := fault(one))}
    assert {style: what for style, what in faults.items() if style not in BY_DESIGN} == {}


@pytest.mark.parametrize("styles", first_ones(sorted(UNREAD), 2))
def test_notes_in_later_styles_are_read(styles: str) -> None:
    faults = {one.style: what for one in ward_notes(styles, 2) if (what := fault(one))}
    assert {style: what for style, what in faults.items() if style not in BY_DESIGN} == UNREAD[styles]


@pytest.mark.parametrize(
    ("text", "where", "item"),
    [
        ("Hospital Course:\nShe did well and went home with a final diagnosis of gout.\n", "sentence", "gout"),
        ("Assessment:\n1. Gout - treated\n2. HTN\n", "assessment", "Gout"),
        ("Hospital Course:\n# Gout: colchicine.\n\nDischarge Diagnosis:\nSee above\n", "problem list", "Gout"),
        ("The admission diagnosis was sepsis. He was diagnosed with gout and was sent home.\n", "sentence", "gout"),
    ],
)
def test_a_diagnosis_without_a_heading_is_read_from_the_text(text: str, where: str, item: str) -> None:
    read = note(text)
    assert read.prose["diagnosis"] == where
    assert first_item(read.primary).strip() == item


def test_a_story_without_headings_is_parted_where_its_sentences_turn() -> None:
    read = note(
        "A ___ year old man presented with a hot swollen toe that woke him at night.\n\nHe lives alone.\n\n"
        "On examination the toe was red.\n\nDuring his stay he was given colchicine."
    )
    assert {kind: read.get(kind)[:12] for kind in read.prose} == {
        "present": "A ___ year o", "social": "He lives alo", "examination": "On examinati", "course": "During his s",
    }  # fmt: skip


@sampled(3)
@pytest.mark.parametrize("pairs", first_ones(["leaks_7.csv", *SEEN]))
def test_sentences_that_give_the_disease_away_are_flagged_and_their_neighbours_are_not(pairs: str, every: int) -> None:
    read = sentence_pairs(pairs)[::every]
    assert [(disease, said, gives) for disease, gives, said in read if checked(disease, said) != gives] == []


@pytest.mark.long
def test_sentences_of_a_stranger_whose_faults_are_not_mended() -> None:
    flags = Counter((gives, checked(disease, said)) for disease, gives, said in sentence_pairs("leaks_8.csv"))
    assert flags[True, True] >= 59
    assert flags[False, True] <= 1


@pytest.mark.long
def test_cases_are_built_and_sentences_that_give_the_disease_away_are_flagged(tmp_path: Path) -> None:
    notes = NOTES[::4] + [one for one in NOTES if "cirrhosis" in one.principal[0]]
    sentences = sentence_notes(diseases()[:20])
    cases = built([*notes, *(one for one, _, _ in sentences)], tmp_path)
    assert Counter(what for at, one in enumerate(notes) for what in case_faults(one, cases.get(at))) == {}
    flags = [(gives, flagged(cases[at], said)) for at, (_, gives, said) in enumerate(sentences, len(notes))]
    assert Counter(flags) == {(True, True): 40, (False, False): 40}


@pytest.mark.parametrize(
    ("diagnosis", "item"),
    [
        ("ACUTE:\n- Cellulitis\nCHRONIC:\n- Gout", "Cellulitis"),
        ("Chronic obstructive pulmonary disease", "Chronic obstructive pulmonary disease"),
        ("Hypertension\nSBO", "SBO"),
        ("Hypertension\nObesity", "Hypertension"),
        ("Acute-on-chronic heart failure", "Acute-on-chronic heart failure"),
    ],
)
def test_the_first_item_is_the_disease_of_the_admission(diagnosis: str, item: str) -> None:
    assert first_item(diagnosis).strip() == item


@pytest.mark.parametrize(
    ("report", "findings"),
    [
        ("exam: CT\nfindings: A mass of the liver.\nimpression: Cancer.", "FINDINGS:\nA mass of the liver."),
        ("INDICATION: pain. FINDINGS: A dilated loop. IMPRESSION: SBO.", "FINDINGS:\nA dilated loop."),
        ("CLINICAL INFORMATION: pain\n\nThe loops are dilated.\n\nCONCLUSION: SBO", "The loops are dilated."),
        ("ADDENDUM: SBO.\nFINDINGS: Loops are dilated.", "FINDINGS:\nLoops are dilated."),
    ],
)
def test_a_report_in_any_form_loses_its_impression_and_keeps_its_findings(report: str, findings: str) -> None:
    assert report_findings(report) == findings
