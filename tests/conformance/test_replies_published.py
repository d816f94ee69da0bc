"""Replies under the published rules: actions, lists, moves, and the examiner that answers them."""

import pytest
from tiny import TABLES

from conformance import published as desk
from conformance import published as replies
from wardround.scenarios.case import CaseResult
from wardround.scenarios.parsers import published
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, Pick, Unusable
from wardround.scenarios.parsers.published import action
from wardround.scenarios.published.imaging_words import Absent


@pytest.mark.parametrize(
    ("reply", "choice"),
    [
        ("Rationale: x\nAction: LAB", "LAB"),
        ("Action: I HOPE so", "PE"),
        ("Action: LABEL", "LAB"),
        ("Action: lab", ""),
        ("Action: IMAGE\nLab Tests: sodium", "LAB_s"),
        ("Imaging scans: x\nLab Tests: y", "IMAGE_s"),
        ("Action: MICRO\nand more", "MICRO"),
        ("Rationale: Action: PE\nRationale: Action: OUTPUT", "OUTPUT"),
        ("gibberish", ""),
    ],
)
def test_an_action_is_found_by_the_letters_it_holds(reply: str, choice: str) -> None:
    assert action(reply).choice == choice


def test_both_answers_together_end_it_whatever_was_chosen() -> None:
    said = action("Differential Diagnosis: a, b\nPlanned Treatment: c\nAction: LAB")
    assert said.answers == ("a, b", "c\nAction: LAB")
    assert said.choice == ""
    assert action("Diagnosis: a").answers is None


@pytest.mark.parametrize(
    ("reply", "keys"),
    [
        ("Lab Tests: sodium, potassium", ["Sodium", "Potassium"]),
        ("Lab Tests: sodium and potassium", ["Sodium", "Potassium"]),
        ("Lab Tests: sodium. potassium", ["Sodium"]),
        ("LAB TESTS: sodium", ["Sodium"]),  # behind no heading of its own the whole reply is the list
        ("Lab Tests: 1. sodium", []),
        ("Lab Tests: dragon (sodium, potassium)", ["Sodium", "Potassium"]),
        ("Lab Tests: sodium (potassium)", ["Sodium"]),
        ("Lab Tests: sodium (fasting, potassium", ["Sodium", "Sodium"]),
        ("Lab Tests: EKG sodium", ["Sodium"]),
        ("Lab Tests: " + "word " * 11 + "sodium", []),
        ("Lab Tests: K", []),
    ],
)
def test_a_list_is_cut_as_the_published_code_cuts_it(reply: str, keys: list[str]) -> None:
    assert [hit.key for hit in replies.matches("lab", reply, TABLES)] == keys


def test_studies_take_missing_regions_from_elsewhere() -> None:
    def told(reply: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
        return [(one.name, one.regions, one.modalities) for one in replies.studies(reply, TABLES)]

    assert told("Imaging scans: CT head") == [("CT HEAD", ("Head",), ("CT",))]
    assert told("Rationale: the abdomen\nImaging scans: MRI") == [("MRI", ("Abdomen",), ("MRI",))]
    assert told("Imaging scans: MRI head, liver") == [("MRI HEAD", ("Head", "Abdomen"), ("MRI",))]
    assert told("Imaging scans: mrcp") == [("MRCP", ("Abdomen",), ("MRCP",))]
    assert told("Imaging scans: PET") == []
    with pytest.raises(Absent, match="including"):
        replies.studies("Imaging scans: MRI head\n, including", TABLES)


def test_a_reply_is_a_move() -> None:
    assert published.read_move("Action: LAB") == Pick("lab")
    assert published.read_move("Diagnosis: gout\nTreatment: rest") == Conclusion("gout")
    assert isinstance(published.read_move("Diagnosis: gout"), Unusable)
    order = published.read_move("Rationale: x\nLab Tests: sodium, potassium")
    assert isinstance(order, DoctorOrder)
    assert (order.kind, order.items) == ("lab", ("sodium", "potassium"))
    assert replies.item_ids("lab", order.text, TABLES) == (1, 2)


RECORD = (
    CaseResult("examination[0]", "examination", "Abdomen", "soft", None),
    CaseResult("labs[0]", "lab", "Na", "Na: 140", True, code="1"),
    CaseResult("labs[1]", "lab", "Cl", "Cl: 100", None, code="7"),
    CaseResult("microbiology[0]", "microbiology", "Blood Culture", "no growth", None, code="90"),
    CaseResult("imaging[0]", "imaging", "CT HEAD", "first", None),
    CaseResult("imaging[1]", "imaging", "CT HEAD", "last", None),
    CaseResult("imaging[2]", "imaging", "MRCP", "stones", None),
)


@pytest.mark.parametrize(
    ("kind", "reply", "refs"),
    [
        ("examination", "PE", ["examination[0]"]),
        ("lab", "Lab Tests: sodium, potassium", ["labs[0]"]),
        ("lab", "Lab Tests: dragon", []),
        ("microbiology", "Microbiology tests: blood cultures", ["microbiology[0]"]),
        ("imaging", "Imaging scans: CT brain", ["imaging[1]"]),
        ("imaging", "Imaging scans: MRI liver", ["imaging[2]"]),  # a special modality answers for its wider one
        ("any", "anything", []),
    ],
)
def test_the_published_examiner_tells_what_matches_and_no_more(kind: str, reply: str, refs: list[str]) -> None:
    assert [ref for line in desk.answer(RECORD, reply, kind, TABLES) for ref in line.refs] == refs
