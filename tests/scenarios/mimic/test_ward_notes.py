"""Discharge notes by an author who had not seen the parser, through the product: sections, labels, reports, leaks."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.ward_notes import diseases, ward_notes
from benchmarks.ward_reading import built, case_faults, checked, fault, flagged, sentence_notes, sentence_pairs
from wardround.scenarios.mimic.note import first_item
from wardround.scenarios.mimic.record_items import report_findings

UNREAD = {"wrapped_heads": "history", "nurse_handoff": "examination"}
"""A heading over two lines, and one in plain words behind the examination."""
NOTES = ward_notes()[::10]
BY_DESIGN = {"parens_admission", "neurology", "quoted_cc"}
"""Styles whose history, as read, keeps a remark that the notes' author left out of it."""


def test_one_note_of_each_style_is_read() -> None:
    faults = {one.style: what for one in NOTES if (what := fault(one))}
    assert {style: what for style, what in faults.items() if style not in BY_DESIGN} == {}


@pytest.mark.parametrize("styles", ["styles_2.txt", "styles_3.txt"])
def test_notes_in_later_styles_are_read(styles: str) -> None:
    faults = {one.style: what for one in ward_notes(styles, 2) if (what := fault(one))}
    assert {style: what for style, what in faults.items() if style in UNREAD} == (UNREAD if "_3" in styles else {})
    faults = {style: what for style, what in faults.items() if style not in UNREAD}
    assert {style: what for style, what in faults.items() if style not in BY_DESIGN} == {}


def test_sentences_that_give_the_disease_away_are_flagged_and_their_neighbours_are_not() -> None:
    answers = [(disease, said, gives) for disease, gives, said in sentence_pairs() if checked(disease, said) != gives]
    assert answers == [("Adrenal insufficiency", "Hydrocortisone cream was used on a bug bite in June.", False)]


@pytest.mark.long
def test_cases_are_built_and_sentences_that_give_the_disease_away_are_flagged(tmp_path: Path) -> None:
    notes = [one for one in NOTES if one.disease.name != "Hepatic encephalopathy"][::4]
    sentences = sentence_notes(one for one in diseases()[:20] if one.name != "Hepatic encephalopathy")
    cases = built([*notes, *(one for one, _, _ in sentences)], tmp_path)
    assert Counter(what for at, one in enumerate(notes) for what in case_faults(one, cases.get(at))) == {}
    flags = [(gives, flagged(cases[at], said)) for at, (_, gives, said) in enumerate(sentences, len(notes))]
    assert Counter(flags) == {(True, True): 38, (False, False): 38}


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
