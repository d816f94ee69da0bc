"""Examination items of a judge, and precision and recall over them, published and one to one."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judging.unread import Unread
from wardround.evaluators.reasoning.items import (
    Item,
    matched,
    precision_recall,
    published_items,
    published_precision_recall,
    rate,
    read_items,
)

CT = {"type": "Imaging", "test_name": "CT", "info_required": "why"}


@pytest.mark.parametrize(
    ("value", "items"),
    [
        ([CT], (Item("Imaging", "CT", "why"),)),
        (CT, (Item("Imaging", "CT", "why"),)),
        ({"items": [CT]}, (Item("Imaging", "CT", "why"),)),
        ([CT, CT], (Item("Imaging", "CT", "why"),)),
        (
            [{"type": "Lab", "test_name": "CBC, CRP; ANA", "info_requried": "x"}],
            tuple(Item("Lab", n, "x") for n in ("CBC", "CRP", "ANA")),
        ),
        ([{"type": "Lab", "test_name": ["CBC", "CRP"]}], (Item("Lab", "CBC"), Item("Lab", "CRP"))),
        ([{"type": "Lab", "test_name": "Ova and parasites"}], (Item("Lab", "Ova and parasites"),)),
        ([], ()),
    ],
)
def test_items_are_read_and_split(value: object, items: tuple[Item, ...]) -> None:
    assert read_items(json.dumps(value)) == items
    assert read_items(f"```json\n{json.dumps(value)}\n```") == items


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("CBC and CRP", ("CBC", "CRP")),
        ("CBC, ESR and CRP", ("CBC", "ESR", "CRP")),
        ("Troponin/BNP", ("Troponin", "BNP")),
        ("chest X-ray and abdominal ultrasound", ("chest X-ray", "abdominal ultrasound")),
        ("Urea and electrolytes", ("Urea and electrolytes",)),
        ("CT of chest, abdomen and pelvis", ("CT of chest, abdomen and pelvis",)),
        ("FISH for MDM2", ("FISH for MDM2",)),
        ("Immunohistochemistry (CK7, CK20)", ("Immunohistochemistry (CK7, CK20)",)),
        ("CRP if fever, CBC", ("CRP if fever", "CBC")),
        ("\u8840\u5e38\u89c4\u3001CT", ("\u8840\u5e38\u89c4", "CT")),
    ],
)
def test_only_what_names_several_tests_is_parted(name: str, names: tuple[str, ...]) -> None:
    found = read_items(json.dumps([{"type": "x", "test_name": name}]))
    assert isinstance(found, tuple)
    assert tuple(item.name for item in found) == names


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        ("A CT would help.", "prose"),
        ('[{"type": "Imaging"', "half_json"),
        ('[{"x": 1}]', "no_test"),
        ('[{"type": "Imaging", "test_name": ""}]', "no_test"),
        ('[{"type": 1, "test_name": "CT"}]', "no_test"),
        ('[{"type": "Lab", "test_name": 1}]', "no_test"),
        ('[{"type": "Lab", "test_name": [["CT"], null]}]', "no_test"),
        ('["CT"]', "no_field"),
    ],
)
def test_anything_else_has_a_typed_reason(text: str, why: str) -> None:
    found = read_items(text)
    assert isinstance(found, Unread)
    assert found.why == why


def test_the_published_items_are_as_written() -> None:
    text = json.dumps([CT, {"x": 1}, {"type": "Lab", "test_name": "CBC, CRP"}])
    assert published_items(text) == (Item("Imaging", "CT", "why"), None, Item("Lab", "CBC, CRP"))
    assert isinstance(published_items("none"), Unread)


def test_one_broad_request_hits_one_reference_and_not_ten() -> None:
    everything = [(0, reference) for reference in range(10)]
    precision, recall = precision_recall(1, 10, everything)
    assert (precision.value, recall.value) == (1.0, 0.1)
    published = published_precision_recall([True], [True] * 10)
    assert [score.value for score in published] == [1.0, 1.0]


def test_the_largest_matching_counts() -> None:
    # taken greedily, the first item would take the only partner of the second
    assert matched(2, 2, [(0, 0), (0, 1), (1, 0)]) == 2
    assert matched(3, 1, [(0, 0), (1, 0), (2, 0)]) == 1
    assert matched(2, 2, []) == 0
    with pytest.raises(IndexError, match=r"pair \(2, 0\)"):
        matched(2, 2, [(2, 0)])


def test_nothing_to_share_is_none_by_default_and_zero_as_published() -> None:
    assert [(s.value, s.reason) for s in precision_recall(0, 2, [])] == [(None, "nothing_asked"), (0.0, "")]
    assert [(s.value, s.reason) for s in precision_recall(2, 0, [])] == [(0.0, ""), (None, "no_reference")]
    assert [s.value for s in published_precision_recall([], [])] == [0.0, 0.0]
    assert rate([True, False]) == 0.5


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)))


@given(PAIRS, st.tuples(st.integers(0, 4), st.integers(0, 3)))
def test_a_matching_grows_with_its_pairs_and_has_no_order(pairs: list[tuple[int, int]], more: tuple[int, int]) -> None:
    found = matched(5, 4, pairs)
    assert found == matched(5, 4, pairs[::-1]) == matched(4, 5, [(b, a) for a, b in pairs])
    assert found <= min(len({a for a, _ in pairs}), len({b for _, b in pairs}))
    assert found <= matched(5, 4, [*pairs, more]) <= found + 1
