"""Whether quoted words stand in a text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.reasoning.evidence import LEAST_LIKENESS, cite, locate
from wardround.evaluators.search.results import SearchHit

TEXT = (
    "Aspirin is not given to children.\nIt may cause Reye’s  syndrome – a rare but serious illness that affects the "
    "brain. The dose for adults is 300 mg, at most 4 g a day; it lowers a high temperature within an hour."
)


@pytest.mark.parametrize(
    ("words", "how", "stands"),
    [
        ("not given to children", "exact", "not given to children"),
        ("  not given to children ", "exact", "not given to children"),
        ("to children. It may cause", "spaced", "to children.\nIt may cause"),
        ("reye's syndrome - a rare", "spaced", "Reye’s  syndrome – a rare"),
        (
            "a rare but serious disease that affects the brain",
            "aligned",
            "a rare but serious illness that affects the brain",
        ),
    ],
)
def test_words_that_stand_there(words: str, how: str, stands: str) -> None:
    place = locate(TEXT, words)
    assert place is not None
    assert (place.how, TEXT[place.start : place.end]) == (how, stands)
    assert (place.likeness == 100) == (how != "aligned")
    assert place.likeness >= LEAST_LIKENESS


@pytest.mark.parametrize(
    "words",
    [
        "",
        "   ",
        "penicillin",
        "Aspirin is given to children. It may cause Reye's syndrome",
        "The dose for adults is 500 mg, at most 4 g a day",
        "it raises a high temperature within an hour",
        "The dose for adults is 300 mg, and never more than 4 g a day as most physicians agree",
        "a rare but serous",
        "x" * 5000,
    ],
)
def test_words_that_do_not(words: str) -> None:
    assert locate(TEXT, words) is None


@given(st.text(min_size=1, max_size=200), st.integers(0, 199), st.integers(1, 60))
def test_every_piece_of_a_text_is_found_in_it(text: str, start: int, size: int) -> None:
    words = text[start : start + size].strip()
    place = locate(text, words)
    assert (place is None) == (not words)
    assert place is None or text[place.start : place.end] == words


@given(st.text(max_size=300), st.text(max_size=80))
def test_a_place_lies_in_the_text(text: str, words: str) -> None:
    place = locate(text, words)
    assert place is None or 0 <= place.start < place.end <= len(text)


@pytest.mark.parametrize("words", ["", "the", "of a", "appendicitis", "--- ---", "\u9611\u5c3e"])
def test_a_word_or_two_are_nobody_s_evidence(words: str) -> None:
    assert cite(SearchHit("", "", f"the end of a \u9611\u5c3e appendicitis --- --- {words}"), words) is None


@pytest.mark.parametrize("words", ["Fever is common.", "\u9611\u5c3e\u708e\u5e38\u89c1", "right lower"])
def test_a_few_words_are(words: str) -> None:
    assert cite(SearchHit("", "", f"It is so: {words} So it is."), words) is not None
