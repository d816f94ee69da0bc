"""Record building and scoring under the published rules."""

import math
from typing import Any

import pytest
from tiny import TABLES

from conformance import published as scoring
from conformance.admissions import discharge_sections, general_info
from conformance.imaging import Request, hits
from conformance.staged import extracted_answer, split_ancillary
from wardround.scenarios.parsers import published
from wardround.scenarios.published import admissions
from wardround.scenarios.published.admissions import lab_value_string, radiology_sections, radiology_text
from wardround.scenarios.published.imaging_words import Absent, radiology_name

NOTE = """Name: ___
History of Present Illness:
Pain of type: B.

Past Medical History:
HTN
PHYSICAL EXAM:
Tender. At discharge: soft.
Pertinent Results:
WBC 15
Brief Hospital Course:
Surgery.
Discharge Diagnosis:
Acute appendicitis
Secondary: HTN
Discharge Condition:
Good
"""


def test_a_note_is_cut_as_the_published_code_cuts_it() -> None:
    found = discharge_sections(NOTE)
    assert found.history.split() == ["Pain", "of", "ty", "B.", "HTN"]  # 'pe:' goes wherever it stands
    assert found.examination.strip() == "Tender."
    assert found.diagnosis == "Acute appendicitis\nSecondary: HTN"
    assert admissions.is_primary("Appendicitis", found.diagnosis)
    assert not admissions.is_primary("HTN", found.diagnosis)
    assert admissions.is_primary("htn", "pain secondary to HTN")


def test_a_note_without_headings_gives_a_reason() -> None:
    found = discharge_sections("foo")
    assert (found.diagnosis, found.error) == (None, "No start header found")
    assert discharge_sections("\n___: x").error == "No end header found"


def test_a_report_keeps_what_does_not_tell_the_reading() -> None:
    found = radiology_sections("CT ABD: 5MM\nHISTORY: pain\nFINDINGS:\nclear\nIMPRESSION: normal")
    assert radiology_text(found) == "CT ABD:\n5MM:\n\nFINDINGS:\nclear\n\n"
    assert radiology_text(radiology_sections("IMPRESSION: normal")) == ""
    assert radiology_sections("no header at all") == {}


def test_an_exam_name_is_classed_by_its_hits_in_the_older_vocabulary() -> None:
    assert radiology_name("CT BRAIN AND HEAD", TABLES).counts == (1, 2)
    assert radiology_name("CT ORBIT", TABLES).counts == (1, 0)
    assert radiology_name("MRCP", TABLES).region == "Abdomen"
    assert radiology_name("ECHO HEAD", TABLES).counts == (0, 1)
    both = radiology_name("CT HEAD CHEST", TABLES)
    assert set(both.regions) == {"Head", "Chest"}


@pytest.mark.parametrize(
    ("row", "text"),
    [
        ({"valuenum": 22, "valueuom": "IU/L"}, "22.0 IU/L"),
        ({"valuenum": math.nan, "value": "Clear"}, "Clear"),
        ({"value": "___", "flag": "abnormal", "comments": "x"}, "abnormal"),
        ({"value": "___", "flag": None, "comments": "HEMOLYZED"}, "HEMOLYZED"),
        ({}, None),
    ],
)
def test_a_laboratory_value_is_one_text(row: dict[str, Any], text: str | None) -> None:
    assert lab_value_string(row) == text


def test_an_admission_is_built_from_its_rows() -> None:
    lab: dict[str, Any] = {"subject_id": 1, "value": None, "valueuom": "u", "flag": None, "comments": None}
    lab |= {"ref_range_lower": 1.0, "ref_range_upper": math.nan}
    culture: dict[str, Any] = {"subject_id": 1, "hadm_id": 7, "spec_itemid": 5, "test_itemid": 90, "comments": None}
    tables: dict[str, list[dict[str, Any]]] = {
        "admissions": [{"subject_id": 1, "hadm_id": 7}],
        "transfers": [{"hadm_id": 7, "intime": "2150-01-02"}, {"hadm_id": 7, "intime": "2150-01-05"}],
        "discharge": [{"hadm_id": 7, "text": NOTE}],
        "labevents": [
            {**lab, "hadm_id": 7, "itemid": 1, "charttime": "2150-01-03", "valuenum": 9.0},
            {**lab, "hadm_id": None, "itemid": 1, "charttime": "2150-01-01 08:00:00", "valuenum": 8.0},
            {**lab, "hadm_id": None, "itemid": 2, "charttime": "2150-01-06", "valuenum": 7.0},
        ],
        "microbiologyevents": [
            {**culture, "charttime": "2150-01-03", "org_itemid": 1.0, "org_name": "A"},
            {**culture, "charttime": "2150-01-03", "org_itemid": 2.0, "org_name": "B"},
            {**culture, "charttime": "2150-01-02", "org_itemid": 90760.0, "org_name": "CANCELLED"},
        ],
        "radiology": [
            {
                "note_id": "r",
                "subject_id": 1,
                "hadm_id": 7,
                "charttime": "2150-01-03",
                "text": "FINDINGS: appendicitis",
            },
            {"note_id": "s", "subject_id": 1, "hadm_id": 7, "charttime": "2150-01-03", "text": "FINDINGS: nameless"},
        ],
        "radiology_detail": [{"note_id": "r", "field_name": "exam_name", "field_value": "CT HEAD", "field_ordinal": 1}],
        "diagnoses(joined long_title)": [{"hadm_id": 7, "long_title": "Acute appendicitis"}],
        "procedures(joined long_title)": [
            {"hadm_id": 7, "icd_code": "4701", "icd_version": 9, "long_title": "Appendectomy"}
        ],
    }
    built = general_info(tables, "appendicitis", TABLES)
    record = built.records[7]
    assert built.kept == (7,)
    assert record["Laboratory Tests"] == {1: "8.0 u"}  # the earliest, which the stay's own window brings in
    assert record["Reference Range Upper"] == {1: None}
    assert record["Microbiology"] == {90: "A, B"}
    assert [study["Report"] for study in record["Radiology"]] == ["FINDINGS:\n____\n\n"]
    assert record["Procedures ICD9"] == [4701]


def test_a_diagnosis_counts_anywhere_in_the_first_statement() -> None:
    assert scoring.correct("appendicitis", "Diagnosis: not appendicitis\nTreatment: x", TABLES)
    assert scoring.correct("appendicitis", "Diagnosis: Inflammation of the appendix", TABLES)
    assert not scoring.correct("hypertension", "Diagnosis: HTNx", TABLES)
    assert not scoring.correct("appendicitis", "appendicitis", TABLES)
    with pytest.raises(Absent, match="no entry"):
        scoring.correct("gout", "Diagnosis: a", TABLES)


def test_shares_and_their_product() -> None:
    asked = [Request("CT", ("Head",), ("CT",))]
    assert scoring.imaging_share(asked, ["CT HEAD", "CHEST (PA & LAT)"], TABLES) == 0.5
    assert scoring.imaging_share(asked, ["CT HEAD", "NEW EXAM"], TABLES) == 1.0  # taken for the one before it
    with pytest.raises(Absent, match="not in the table"):
        scoring.imaging_share(asked, ["NEW EXAM"], TABLES)
    with pytest.raises(Absent, match="not in the table"):
        hits(asked[0], "NEW EXAM", TABLES)
    assert not hits(Request("MRCP", ("Abdomen",), ("MRCP", "MRI")), "MRCP", TABLES)  # only as its wider modality
    whole = scoring.full_path(right=True, shares=(scoring.share([1], [1, 2]), None, 1.0))
    assert whole.full_path == pytest.approx(0.75)
    assert scoring.full_path(right=True, shares=(None, None, None)).full_path == 1.0


def test_staged_replies_are_read_with_a_reason_where_the_published_code_fails() -> None:
    assert split_ancillary("a\n- Ancillary Tests: b\nc") == ("a", "- Ancillary Tests: b\nc")
    assert published.published_sections("### Conclusion: X ### Additional Information Required: CT", "one_turn") == (
        "X",
        "CT",
    )
    assert published.stops("Not required.")
    assert published.reasoning_steps("### Reasoning:\n<step 1> a\n<step  2>b") == ["a", "b"]
    assert published.reasoning_steps("### Reasoning:\n" + "x\n\n" * 12) == ["x"] * 10
    # ten are taken, and of them what holds nothing is left out
    assert published.reasoning_steps("### Reasoning:\n" + "x\n\n\n\n" * 12) == ["x"] * 5
    with pytest.raises(Absent, match="one empty step"):
        published.reasoning_steps("### Reasoning:")
    assert extracted_answer("### Answer:\nGout") == "Gout"
    with pytest.raises(Absent, match="missing expected sections"):
        published.published_sections("### Conclusion: X ### Additional Information Required: CT", "free_turn")
    with pytest.raises(Absent, match="no heading"):
        published.reasoning_steps("<step 1> a")
    with pytest.raises(Absent, match="Ancillary"):
        split_ancillary("ancillary tests: b")
