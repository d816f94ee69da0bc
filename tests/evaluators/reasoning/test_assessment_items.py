"""Examination items of a judge, and precision and recall over them, published and one to one."""

import json
import re

import pytest
from examples import first_ones
from hypothesis import given, settings
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread
from wardround.evaluators.outcome.items import (
    MOST,
    TextItem,
    matching_size,
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
        ([CT], (TextItem("Imaging", "CT", "why"),)),
        (CT, (TextItem("Imaging", "CT", "why"),)),
        ({"items": [CT]}, (TextItem("Imaging", "CT", "why"),)),
        ([CT, CT], (TextItem("Imaging", "CT", "why"),)),
        (
            [{"type": "Lab", "test_name": "CBC, CRP; ANA", "info_requried": "x"}],
            tuple(TextItem("Lab", n, "x") for n in ("CBC", "CRP", "ANA")),
        ),
        ([{"type": "Lab", "test_name": ["CBC", "CRP"]}], (TextItem("Lab", "CBC"), TextItem("Lab", "CRP"))),
        ([{"type": "Lab", "test_name": "Ova and parasites"}], (TextItem("Lab", "Ova and parasites"),)),
        ([], ()),
        ([{"type": "Lab", "test_name": "None"}, {"type": "Lab", "test_name": "No additional tests required"}], ()),
        ([{"type": "Lab", "test_name": ["Not required.", "CBC"]}], (TextItem("Lab", "CBC"),)),
        ([{"type": "Lab", "test_name": "Na"}], (TextItem("Lab", "Na"),)),
    ],
)
def test_items_are_read_and_split(value: object, items: tuple[TextItem, ...]) -> None:
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
        ("CBC\u3001lumbar puncture", ("CBC", "lumbar puncture")),
        (
            "Lumbar puncture: cell count, protein, glucose",
            ("Lumbar puncture: cell count", "Lumbar puncture: protein", "Lumbar puncture: glucose"),
        ),
        ("CSF cell count, protein and glucose", ("CSF cell count", "CSF protein", "CSF glucose")),
        (
            "immunohistochemistry for CD3, CD20, and CD30",
            tuple(f"immunohistochemistry for {name}" for name in ("CD3", "CD20", "CD30")),
        ),
        ("Genetic testing for BRCA1 and BRCA2", ("Genetic testing for BRCA1", "Genetic testing for BRCA2")),
        (
            "CBC, and chest x-ray to look for pneumonia, effusion",
            ("CBC", "chest x-ray to look for pneumonia, effusion"),
        ),
        ("chest x-ray to exclude pneumonia, effusion, CRP", ("chest x-ray to exclude pneumonia, effusion", "CRP")),
        ("urine and blood cultures", ("urine cultures", "blood cultures")),
        ("serum and urine protein electrophoresis", ("serum protein electrophoresis", "urine protein electrophoresis")),
        (
            "liver, kidney and thyroid function tests",
            ("liver function tests", "kidney function tests", "thyroid function tests"),
        ),
        ("urine and blood and CSF cultures", ("urine cultures", "blood cultures", "CSF cultures")),
        ("CT and MRI of the brain", ("CT of the brain", "MRI of the brain")),
        ("CT/MRI brain", ("CT brain", "MRI brain")),
        ("protein C and S", ("protein C", "protein S")),
        ("bone marrow aspirate and biopsy", ("bone marrow aspirate", "bone marrow biopsy")),
        ("EMG and nerve conduction studies", ("EMG", "nerve conduction studies")),
        ("EMG/NCS", ("EMG", "NCS")),
        ("PT/INR", ("PT/INR",)),
        ("PET/CT", ("PET/CT",)),
        ("MRI brain with and without contrast", ("MRI brain with and without contrast",)),
        ("Blood culture for fever and chills", ("Blood culture for fever and chills",)),
        ("Laboratory tests: CBC, CRP", ("CBC", "CRP")),
        ("CT: to exclude an abscess", ("CT: to exclude an abscess",)),
        ("\u8840\u5e38\u89c4\u548cCRP", ("\u8840\u5e38\u89c4", "CRP")),
        ("\u8840\u5e38\u89c4\u53ca\u809d\u529f\u80fd", ("\u8840\u5e38\u89c4", "\u809d\u529f\u80fd")),
        ("\u5934\u9885CT\u4e0eMRI", ("\u5934\u9885CT", "\u5934\u9885MRI")),
        ("\u8840\u548c\u5c3f\u57f9\u517b", ("\u8840\u57f9\u517b", "\u5c3f\u57f9\u517b")),
        ("\u8840\u6c27\u9971\u548c\u5ea6", ("\u8840\u6c27\u9971\u548c\u5ea6",)),
        ("hemograma y PCR", ("hemograma", "PCR")),
        ("cultivo de sangre y orina", ("cultivo de sangre", "cultivo de orina")),
        ("h\u00e9mogramme et CRP", ("h\u00e9mogramme", "CRP")),
        ("Blutbild und CRP", ("Blutbild", "CRP")),
        ("CBC, CRP y chest X-ray/ANA, ESR und troponin", ("CBC", "CRP", "chest X-ray", "ANA", "ESR", "troponin")),
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


PIECES = st.sampled_from(
    (
        "CBC",
        "CRP",
        "chest X-ray",
        "MRI brain",
        "blood cultures",
        "urine",
        "liver",
        "kidney function tests",
        "CT of chest",
        "IHC for CD3",
        "CD20",
        "\u8840\u5e38\u89c4",
        "hemograma",
        "foo bar",
        "to exclude sepsis",
        "if fever",
        "Ultrasound (liver, spleen)",
        "protein C",
        "lumbar puncture: glucose",
        "nerve conduction studies",
    )
)
SIGNS = st.sampled_from((", ", " and ", " or ", "; ", " y ", " et ", " und ", "/", " plus ", ", and ", "\u3001", " & "))
JOINING = {"and", "or", "plus", "y", "et", "und", "of"}  # "CT of chest" may become "CT Chest"


@given(st.lists(st.tuples(PIECES, SIGNS), min_size=1, max_size=5), PIECES)
@settings(deadline=None)
def test_no_word_of_a_name_is_lost(pieces: list[tuple[str, str]], last: str) -> None:
    name = "".join(piece + sign for piece, sign in pieces) + last
    found = read_items(json.dumps([{"type": "x", "test_name": name}]))
    assert isinstance(found, tuple)
    told = {word for item in found for word in re.findall(r"\w+", item.name.casefold())}
    assert set(re.findall(r"\w+", name.casefold())) - JOINING <= told, [item.name for item in found]


@given(
    st.lists(
        st.sampled_from(("CBC", "CRP", "ESR", "ANA", "troponin", "chest X-ray", "MRI brain", "ECG", "lumbar puncture")),
        min_size=1,
        max_size=6,
        unique=True,
    ),
    st.lists(SIGNS, min_size=6, max_size=6),
)
@settings(deadline=None)
def test_tests_of_the_table_are_told_apart_however_they_are_joined(tests: list[str], signs: list[str]) -> None:
    name = "".join(test + sign for test, sign in zip(tests, signs, strict=False))[: -len(signs[len(tests) - 1])]
    found = read_items(json.dumps([{"type": "x", "test_name": name}]))
    assert isinstance(found, tuple)
    assert [item.name for item in found] == tests


@pytest.mark.parametrize(
    "name",
    first_ones(
        [
            "CBC/CRP/" * 70,
            "a: " * 190,
            "urine and " * 60,
            "CBC y " * 90,
            "\u8840\u548c" * 250,
            "(" * 600,
            "CBC, " * 9999,
        ]
    ),
    ids=lambda name: name[:10],
)
def test_an_endless_name_is_read_all_the_same(name: str) -> None:
    found = read_items(json.dumps([{"type": "x", "test_name": name}]))
    assert isinstance(found, tuple)
    assert 0 < len(found) <= MOST
    assert max(len(item.name) for item in found) <= len(name)


def test_the_published_items_are_as_written() -> None:
    text = json.dumps([CT, {"x": 1}, {"type": "Lab", "test_name": "CBC, CRP"}])
    assert published_items(text) == (TextItem("Imaging", "CT", "why"), None, TextItem("Lab", "CBC, CRP"))
    assert isinstance(published_items("none"), Unread)


def test_one_broad_request_hits_one_reference_and_not_ten() -> None:
    everything = [(0, reference) for reference in range(10)]
    precision, recall = precision_recall(1, 10, everything)
    assert (precision.value, recall.value) == (1.0, 0.1)
    published = published_precision_recall([True], [True] * 10)
    assert [score.value for score in published] == [1.0, 1.0]


def test_the_largest_matching_counts() -> None:
    # taken greedily, the first item would take the only partner of the second
    assert matching_size(2, 2, [(0, 0), (0, 1), (1, 0)]) == 2
    assert matching_size(3, 1, [(0, 0), (1, 0), (2, 0)]) == 1
    assert matching_size(2, 2, []) == 0
    with pytest.raises(IndexError, match=r"pair \(2, 0\)"):
        matching_size(2, 2, [(2, 0)])


def test_nothing_to_share_is_none_by_default_and_zero_as_published() -> None:
    assert [(s.value, s.reason) for s in precision_recall(0, 2, [])] == [(None, "nothing_asked"), (0.0, "")]
    assert [(s.value, s.reason) for s in precision_recall(2, 0, [])] == [(None, "no_reference")] * 2
    assert [s.reason for s in precision_recall(0, 0, [])] == ["nothing_asked", "no_reference"]
    assert [s.value for s in published_precision_recall([], [])] == [0.0, 0.0]
    assert [s.value for s in published_precision_recall([False], [])] == [0.0, 0.0]
    assert rate([True, False]) == 0.5


PAIRS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 3)))


@given(PAIRS, st.tuples(st.integers(0, 4), st.integers(0, 3)))
def test_a_matching_grows_with_its_pairs_and_has_no_order(pairs: list[tuple[int, int]], more: tuple[int, int]) -> None:
    found = matching_size(5, 4, pairs)
    assert found == matching_size(5, 4, pairs[::-1]) == matching_size(4, 5, [(b, a) for a, b in pairs])
    assert found <= min(len({a for a, _ in pairs}), len({b for _, b in pairs}))
    assert found <= matching_size(5, 4, [*pairs, more]) <= found + 1
