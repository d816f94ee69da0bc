"""The parser of the staged games."""

import json
from pathlib import Path

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.encounters.staged import asks_nothing, read_staged
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, Unusable

ASKS = "### Conclusion:\nMaybe X\n\n### Additional Information Required:\n1. CT"


def test_a_request() -> None:
    assert read_staged(ASKS, last=False) == DoctorOrder("any", ("CT",), "1. CT")


def test_in_the_last_turn_the_conclusion_counts() -> None:
    assert read_staged(ASKS, last=True) == Conclusion("Maybe X")


@pytest.mark.parametrize(
    "text", ["Not required.", "not required", "**Not required.**", "None.", "Not required. X is proven."]
)
def test_nothing_is_required(text: str) -> None:
    assert read_staged(f"### Additional Information Required:\n{text}\n\n### Conclusion:\nX", last=False) == Conclusion(
        "X"
    )


@pytest.mark.parametrize(
    "text", ["A biopsy is Not required, but CT is.", "Not required at once; later a CT", "1. CT", "No CT"]
)
def test_something_is_required(text: str) -> None:
    assert not asks_nothing(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "empty"),
        ("<think>hm", "empty"),
        ("### Additional Information Required:\nNot required.", "empty"),
        ("### Conclusion:\n", "empty"),
        ("I cannot help with that.", "unreadable"),
        ("### Chain of Thought:\n<step 1> a", "unreadable"),
    ],
)
def test_unusable(text: str, fault: str) -> None:
    move = read_staged(text, last=False)
    assert isinstance(move, Unusable)
    assert move.fault == fault


def test_a_last_turn_that_only_asks_is_unreadable() -> None:
    assert isinstance(read_staged("### Additional Information Required:\nCT", last=True), Unusable)


@given(st.text(), st.booleans())
def test_any_text_is_read(text: str, last: bool) -> None:
    assert isinstance(read_staged(text, last=last), DoctorOrder | Conclusion | Unusable)


@pytest.mark.parametrize(
    "piece", first_ones(["a: ", "1. CT: a\n", "(", "### Additional Information Required:\nCT\n", ", "])
)
def test_a_megabyte_is_read(piece: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    move = read_staged("### Additional Information Required:\n" + piece * (1_000_000 // len(piece)), last=False)
    assert isinstance(move, Unusable) == (piece == "(")


@pytest.mark.shared
def test_vectors_of_sections(shared: Path) -> None:
    for row in json.loads((shared / "vectors/medr_section_parse.json").read_text(encoding="utf-8")):
        move, final = read_staged(row["input"]["text"], last=False), read_staged(row["input"]["text"], last=True)
        if row["expect"] == "equal":
            assert isinstance(move, DoctorOrder)
            assert move.text == row["expected"]["info_required"]
            assert final == Conclusion(row["expected"]["conclusion"])
        elif row["input"]["case"] in ("h2", "bold heading", "lower case", "lower not required"):
            assert isinstance(final, Conclusion)  # the published code could not read these
        else:
            assert isinstance(move, Unusable)
