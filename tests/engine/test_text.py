"""Texts are split at separators outside brackets."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.text import split_outside_brackets


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("", [""]),
        ("a, b (c, d)", ["a", "b (c, d)"]),
        ("a) , b", ["a) ", "b"]),
        ("a (b, c", ["a (b, c"]),
        ("a [b, (c, d], e), f", ["a [b, (c, d], e)", "f"]),
        ("a,, b,", ["a", "", "b", ""]),
    ],
)
def test_a_text_is_split_where_no_bracket_is_open(text: str, parts: list[str]) -> None:
    assert split_outside_brackets(text, re.compile(",\\s*")) == parts


@given(st.text("ab,( [)];", max_size=40))
def test_a_text_is_cut_at_each_separator_at_which_no_bracket_is_open(text: str) -> None:
    depth, cuts = 0, [-1]
    for place, sign in enumerate(text):
        if sign in ",;" and depth == 0:
            cuts.append(place)
        depth = max(0, depth + (sign in "([") - (sign in ")]"))
    parts = [text[before + 1 : after] for before, after in pairwise([*cuts, len(text)])]
    assert split_outside_brackets(text, re.compile("[,;]")) == parts
