"""Lists and requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.reply_text import listed_names, requested_tests, requests_nothing


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("CBC, CMP and lipase, and CRP", ("CBC", "CMP and lipase", "CRP")),
        ("CBC; CMP\nCRP", ("CBC", "CMP", "CRP")),
        ("1. CBC\n2) CMP\n(3) CRP\n- ESR\n• LDH", ("CBC", "CMP", "CRP", "ESR", "LDH")),
        ("1. CBC, 2. BMP", ("CBC", "BMP")),
        ("CBC (WBC, Hb), CT (chest, abdomen)", ("CBC (WBC, Hb)", "CT (chest, abdomen)")),
        ("Vit. D, C. difficile toxin, 25-OH vitamin D", ("Vit. D", "C. difficile toxin", "25-OH vitamin D")),
        ("**CBC**, `CMP`.", ("CBC", "CMP")),
        ("CBC, cbc, CBC", ("CBC",)),
        ("None", ()),
        ("n/a\n- none.", ()),
        ("CBC, BMP. These will tell whether he bleeds.", ("CBC", "BMP")),
        ("2,3-DPG", ("2", "3-DPG")),
        ("", ()),
    ],
)
def test_items(text: str, expected: tuple[str, ...]) -> None:
    assert listed_names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1. Laboratory tests: CBC, CRP\n2. Imaging: CT abdomen", ("CBC", "CRP", "CT abdomen")),
        ("1. **CT abdomen**: to exclude an abscess", ("CT abdomen",)),
        ("- Autoantibodies: ANA, anti-dsDNA", ("Autoantibodies", "ANA", "anti-dsDNA")),
        ("Chest X-ray", ("Chest X-ray",)),
        ("Not required.", ()),
    ],
)
def test_requests(text: str, expected: tuple[str, ...]) -> None:
    assert requested_tests(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "None",
        "none.",
        "n/a",
        "NA",
        "Not required.",
        "No additional tests required",
        "- No further testing is needed at this time.",
        "**None requested**",
        "Nothing more",
        "\u65e0",
        "\u65e0\u9700\u8fdb\u4e00\u6b65\u68c0\u67e5\u3002",
        "\u4e0d\u9700\u8981\u5176\u4ed6\u68c0\u67e5",
        "Ninguna",
        "No se requieren m\u00e1s pruebas.",
        "Aucun examen",
        "Keine weiteren Untersuchungen n\u00f6tig",
    ],
)
def test_nothing(text: str) -> None:
    assert requests_nothing(text)
    assert listed_names(text) == requested_tests(text) == ()


@pytest.mark.parametrize(
    "text",
    ["Na", "No", "Non-contrast CT", "\u65e0\u521bDNA\u68c0\u6d4b", "Not a CT but an MRI", "NSE", "", "Nil by mouth"],
)
def test_something(text: str) -> None:
    assert requests_nothing(text) is (text == "No")


@given(st.text())
def test_any_text_is_a_list(text: str) -> None:
    for found in (listed_names(text), requested_tests(text)):
        assert len(found) <= 200
        assert all(0 < len(name) <= 300 for name in found)
        assert len({name.lower() for name in found}) == len(found)
