"""Free text of a doctor's request taken apart."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.joined_names import Known
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.order_parser import MOST, split_requests


def known(phrase: str) -> bool:
    found = link(phrase, catalogue())
    return found is not None and found.rule != "fuzzy"


def split(text: str, known: Known) -> tuple[str, ...]:
    """The single requests in `text`."""
    return tuple(part.text for part in split_requests(text, known, lambda _: ()) if not part.why)


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("CBC, BMP and LFTs", ("CBC", "BMP", "LFTs")),
        ("1. CBC, 2. BMP, 3. CXR", ("CBC", "BMP", "CXR")),
        ("1) CBC\n2) ECG", ("CBC", "ECG")),
        ("CBC; CRP\n- Blood and urine cultures", ("CBC", "CRP", "Blood cultures", "urine cultures")),
        ("1. Laboratory tests: CBC, CMP\n2. Imaging: CT chest", ("CBC", "CMP", "CT chest")),
        ("**Liver function tests:** to assess the liver", ("Liver function tests",)),
        ("MRI brain to rule out a stroke", ("MRI brain",)),
        ("Vasculitis labs (ANCA, cryoglobulins)", ("ANCA", "cryoglobulins")),
        ("Blood tests including CBC and ESR", ("CBC", "ESR")),
        (
            "ova and parasites, CT abdomen and pelvis with contrast and MRCP",
            ("ova and parasites", "CT abdomen and pelvis with contrast", "MRCP"),
        ),
        ("C. difficile toxin, TSH", ("C. difficile toxin", "TSH")),
        ("AST/ALT", ("AST", "ALT")),
        ("serum and urine osmolality", ("serum osmolality", "urine osmolality")),
        ("1,25-dihydroxyvitamin D", ("1,25-dihydroxyvitamin D",)),
        ("CBC, CBC, cbc", ("CBC",)),
        ("banana, CBC", ("banana", "CBC")),
        ("", ()),
    ],
)
def test_a_text_is_split(text: str, parts: tuple[str, ...]) -> None:
    assert split(text, known) == parts


@given(st.text(max_size=300))
def test_no_text_breaks_it(text: str) -> None:
    for part in split(text, known):
        assert part.strip()


@given(st.lists(st.sampled_from(["CBC", "ESR", "CT chest", "ova and parasites", "TSH", "banana"]), unique=True))
def test_the_order_of_a_list_does_not_matter(names: list[str]) -> None:
    assert set(split(", ".join(names), known)) == set(names)
    assert split("; ".join(reversed(names)), known) == tuple(reversed(names))


def test_a_runaway_list_is_read_up_to_a_limit() -> None:
    text = ", ".join(f"test {number}" for number in range(10_000))
    assert len(split(text, known)) == MOST
    split("CBC and " * 150_000, known)
