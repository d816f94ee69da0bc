"""Laboratory values as people write them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.loaders.values import Measured, flag_of, measured_number, not_done, says_normal


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("12,000/\u03bcL (elevated)", Measured("12000", "/\u03bcL", flag="high")),
        (">50,000 /\u03bcL (markedly elevated)", Measured(">50000", "/\u03bcL", flag="high")),
        ("< 40% (reduced)", Measured("<40", "%", flag="low")),
        ("12\u201316/hpf", Measured("12\u201316", "/hpf")),
        ("0.8% (normal range: 2-6%)", Measured("0.8", "%", 2.0, 6.0)),
        ("22 cm H2O", Measured("22", "cm H2O")),
        ("-5", Measured("-5")),
        ("10,000/mm^3 with normal differential", None),
        ("700,000 cells/m3 (thrombocytosis)", None),
        ("132/74", None),
        ("2.5 x 3.5 x 2-cm mass", None),
        ("0, Rh-positive", None),
        ("Elevated", None),
        ("", None),
    ],
)
def test_numbers(text: str, meant: Measured | None) -> None:
    assert measured_number(text) == meant


@given(st.text(max_size=30))
def test_any_text_is_a_value_or_none(text: str) -> None:
    read = measured_number(text)
    assert read is None or any(sign.isdigit() for sign in read.value)


def test_words() -> None:
    assert (flag_of("Slightly Decreased"), flag_of("within normal limits for age."), flag_of("Positive")) == (
        "low",
        "normal",
        "",
    )
    assert says_normal("All normal")
    assert not says_normal("Normal, no mass")
    assert not_done("Pending at the time of examination")
    assert not_done("Not specified")
    assert not not_done("Not elevated")
