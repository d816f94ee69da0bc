"""The work-up's parser on what doctors write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.encounters.workup import Asked, read_workup
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, Pick, Unusable


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Rationale: I want more.\nAction: LAB", "lab"),
        ("Rationale: I want more.\nAction: lab\n", "lab"),
        ("Rationale: I want more.\nAction: [LAB]", "lab"),
        ("**Rationale:** x\n**Action**: LAB", "lab"),
        ("**Rationale:** x\n**Action: MICRO**", "microbiology"),
        ("### Rationale\nx\n### Action\nIMAGE", "imaging"),
        ("Action:\n\nPE", "examination"),
        ("Action: Physical Examination", "examination"),
        ("Action: Laboratory tests", "lab"),
        ("Action: order blood tests", "lab"),
        ("Action: Imaging.", "imaging"),
        ("action : `Output`", "output"),
        ("Action：LAB", "lab"),
        ("Action: IMAGE (CT to rule out PE)", "imaging"),
        ("Action: PE, LAB", "examination"),
        ("Rationale: x\nAction: IMAGE (CT scan) Action: LAB", "lab"),
        ("Rationale: a\nAction: PE\nRationale: b\nAction: MICRO", "microbiology"),
        ("Rationale: the labs are enough.\nLabs: WBC 14 was high\nAction: IMAGE", "imaging"),
        ("Rationale: x\nLaboratory tests: WBC 14\nAction: IMAGE", "imaging"),
        ("Rationale: I want more.\nDifferential Diagnosis: colitis\nPlanned Treatment: pending\nAction: LAB", "lab"),
        ("Rationale: x\nDiagnosis: perhaps colitis\nAction: LAB", "lab"),
        ("LAB", "lab"),
        ("**PE**", "examination"),
        ("I think we should look.\n\nIMAGE", "imaging"),
        ("<think>Action: LAB</think>Action: PE", "examination"),
        ("Action: LAB\nLab Tests: none", "lab"),
        ("Action: LAB\nRationale: I want more.", "lab"),
    ],
)
def test_an_action_is_read(text: str, kind: str) -> None:
    assert read_workup(text) == Pick(kind)  # type: ignore[arg-type]  # a parametrised literal


@pytest.mark.parametrize(
    "text",
    [
        "Action: I HOPE to see more",
        "Action: LABEL the sample",
        "Action: EXIT",
        "I HOPE",
        "The embolism (PE) worries me and I would like to know more.",
        "Rationale: x\nAction: (one of the actions in [PE, LAB, IMAGE, MICRO, OUTPUT])",
        "Differential diagnosis: colitis, appendicitis",
        "Diagnosis: (the disease, as specific as you can be)",
        "Diagnosis:",
        "这位患者需要更多检查。",
        "\x00\x07",
    ],
)
def test_what_names_no_action_is_unreadable(text: str) -> None:
    move = read_workup(text)
    assert isinstance(move, Unusable)
    assert move.fault == "unreadable"


@pytest.mark.parametrize("text", ["", " \n\t ", "<think>I wonder", "<think>Action: LAB</think>  "])
def test_no_answer_part_is_empty(text: str) -> None:
    move = read_workup(text)
    assert isinstance(move, Unusable)
    assert move.fault == "empty"


@pytest.mark.parametrize(
    ("text", "asked", "kind", "items"),
    [
        ("Rationale: x\nLab Tests: CBC, lipase, and CRP.", "", "lab", ("CBC", "lipase", "CRP")),
        ("Action: LAB\nLab Tests: CBC, CMP", "", "lab", ("CBC", "CMP")),
        ("**Lab Tests:**\n1. CBC (WBC, Hb)\n2. Vit. D\n\nThese will help.", "lab", "lab", ("CBC (WBC, Hb)", "Vit. D")),
        ("Lab Tests:\n\n- CBC\n- CRP\nRationale: y", "lab", "lab", ("CBC", "CRP")),
        (
            "Microbiology tests: blood culture; C. difficile toxin",
            "",
            "microbiology",
            ("blood culture", "C. difficile toxin"),
        ),
        ("Imaging scans: CT abdomen and pelvis\nChest X-ray is next.", "", "imaging", ("CT abdomen and pelvis",)),
        ("Imaging: chest X-ray", "imaging", "imaging", ("chest X-ray",)),
        ("Labs: CBC", "lab", "lab", ("CBC",)),
        ("Lab Tests: CBC\nImaging scans: CT head", "lab", "lab", ("CBC",)),
        ("Lab Tests: CBC\nImaging scans: CT head", "", "imaging", ("CT head",)),
        ("Action: LAB\nLab Tests: CBC\nImaging scans: CT head", "", "lab", ("CBC",)),
        ("Lab Tests: CBC, BMP. These tests will show the cause.", "lab", "lab", ("CBC", "BMP")),
        ("Lab Tests: 1. CBC, 2. BMP", "lab", "lab", ("CBC", "BMP")),
        ("Lab Tests: CBC,\nBMP", "lab", "lab", ("CBC", "BMP")),
    ],
)
def test_a_list_is_read(text: str, asked: Asked, kind: str, items: tuple[str, ...]) -> None:
    move = read_workup(text, asked)
    assert isinstance(move, DoctorOrder)
    assert move.kind == kind
    assert move.items == items


@pytest.mark.parametrize(
    ("text", "asked", "diagnosis"),
    [
        ("Rationale: clear\nAction: OUTPUT\nDiagnosis: Acute appendicitis", "", "Acute appendicitis"),
        ("Diagnosis: Acute appendicitis\nTreatment: Appendectomy", "", "Acute appendicitis"),
        ("**Diagnosis:** Acute appendicitis\n**Treatment:** Surgery\n- ceftriaxone", "", "Acute appendicitis"),
        ("Final Diagnosis: **Tuberculosis (pulmonary)**.", "", "Tuberculosis (pulmonary)"),
        ("The most likely diagnosis: lupus", "output", "lupus"),
        ("Differential diagnosis: a, b\nDiagnosis: b", "output", "b"),
        ("### Diagnosis\n\nMyasthenia gravis\n\nShe is weak.", "output", "Myasthenia gravis"),
        ("Everything fits. Diagnosis: gout", "output", "gout"),
        ("The diagnosis is gout.", "output", "gout"),
        ("Diagnosis: Acute pancreatitis Treatment: fluids", "output", "Acute pancreatitis"),
        ("Action: LAB\nDiagnosis: gout", "output", "gout"),
        ("Diagnosis: gout\nRationale: the diagnosis is clear.", "output", "gout"),
    ],
)
def test_a_diagnosis_is_read(text: str, asked: Asked, diagnosis: str) -> None:
    assert read_workup(text, asked) == Conclusion(diagnosis)


def test_a_diagnosis_in_a_sentence_ends_nothing_unless_it_was_asked_for() -> None:
    assert isinstance(read_workup("My leading diagnosis is gout, but first I want more."), Unusable)


@given(st.text(), st.sampled_from(["", "lab", "microbiology", "imaging", "output"]))
def test_any_text_is_read(text: str, asked: Asked) -> None:
    move = read_workup(text, asked)
    assert isinstance(move, DoctorOrder | Pick | Conclusion | Unusable)
    if isinstance(move, DoctorOrder):
        assert move.items
    if isinstance(move, Conclusion):
        assert move.text


@given(
    st.lists(st.sampled_from(["Action:", "Lab Tests:", "Diagnosis:", "\n", "**", "PE", "- x", "Rationale:", " ", ","]))
)
def test_any_order_of_the_protocols_own_words_is_read(parts: list[str]) -> None:
    assert isinstance(read_workup("".join(parts), "lab"), DoctorOrder | Pick | Conclusion | Unusable)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "a",
        " ",
        "\n",
        "*",
        "Action: ",
        "Lab Tests: \n",
        "Diagnosis:\n",
        "diagnosis is ",
        "1. ",
        ", ",
        "# ",
        "exam ",
        "<think>",
    ],
)
def test_a_megabyte_is_read(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    text = piece * (1_000_000 // len(piece))
    assert isinstance(read_workup(text), Unusable)
    assert isinstance(read_workup(text, "output"), Conclusion if piece == "diagnosis is " else Unusable)
