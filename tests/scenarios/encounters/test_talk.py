"""The consultation's parser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.encounters.consultation import read_consultation
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, PatientQuestion, Unusable


@pytest.mark.parametrize(
    ("text", "move"),
    [
        ("ASK: How long?", PatientQuestion("How long?")),
        ("**ASK:** How long?", PatientQuestion("How long?")),
        ("How long has this lasted?", PatientQuestion("How long has this lasted?")),
        ("ORDER: CBC, CRP", DoctorOrder("any", ("CBC", "CRP"))),
        ("ASK: How long?\nORDER: CBC", DoctorOrder("any", ("CBC",))),
        ("ORDER: CBC\nORDER: CT head", DoctorOrder("any", ("CBC", "CT head"))),
        ("ORDER: physical examination", DoctorOrder("examination", (), "physical examination")),
        ("REQUEST TEST: [Chest_CT]", DoctorOrder("any", ("Chest CT",))),
        ("Let me look. REQUEST TEST: [CBC] REQUEST TEST: [CRP]", DoctorOrder("any", ("CBC", "CRP"))),
        ("request test: CBC", DoctorOrder("any", ("CBC",))),
        ("DIAGNOSIS: Gout", Conclusion("Gout")),
        ("I am sure now.\n**DIAGNOSIS:** Gout.", Conclusion("Gout")),
        ("I am sure. DIAGNOSIS READY: [Myasthenia gravis]", Conclusion("Myasthenia gravis")),
        ("REQUEST TEST: EMG then DIAGNOSIS READY: MG", Conclusion("MG")),
        ("DIAGNOSIS READY\nGout", Conclusion("Gout")),
        ("DIAGNOSIS: Gout\nCorrection: DIAGNOSIS: Lupus", Conclusion("Lupus")),
        ("DIAGNOSIS: Gout\nWait, no: the diagnosis: Lupus", Conclusion("Lupus")),
        ("DIAGNOSIS READY: not yet, but gout", PatientQuestion("DIAGNOSIS READY: not yet, but gout")),
        ("My differential diagnosis: a, b. What else hurts?", None),
        ("Shall I order: tests? They may be in order.", None),
        ("We should ask: who is there?", None),
    ],
)
def test_a_text_is_read(text: str, move: object) -> None:
    assert read_consultation(text) == (move or PatientQuestion(text))


@pytest.mark.parametrize("text", ["", "  ", "ASK:", "<think>How long?"])
def test_nothing_is_empty(text: str) -> None:
    found = read_consultation(text)
    assert isinstance(found, Unusable)
    assert found.fault == "empty"


def test_in_the_last_turn_a_sentence_will_do() -> None:
    assert read_consultation("I think the diagnosis is gout. Take care.", last=True) == Conclusion("gout")
    assert isinstance(read_consultation("I think the diagnosis is gout."), PatientQuestion)


@given(st.text(), st.booleans())
def test_any_text_is_read(text: str, last: bool) -> None:
    assert isinstance(read_consultation(text, last=last), DoctorOrder | PatientQuestion | Conclusion | Unusable)


@pytest.mark.long
@pytest.mark.parametrize(
    "piece", ["a", " ", "ORDER: x\n", "REQUEST TEST: ", "DIAGNOSIS READY: ", "DIAGNOSIS:\n", "ask: "]
)
def test_a_megabyte_is_read(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    text = piece * (1_000_000 // len(piece))
    kinds = {" ": Unusable, "ORDER: x\n": DoctorOrder, "REQUEST TEST: ": DoctorOrder, "DIAGNOSIS READY: ": Conclusion}
    for last in (False, True):
        assert isinstance(read_consultation(text, last=last), kinds.get(piece, PatientQuestion))
