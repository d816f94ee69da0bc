"""The sparse 3-gram index against the cosine written out."""

import math
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.diseases.dictionary import NGrams, gram_weights

FORMS = ["acut appendicitis", "appendicitis", "appendectomy", "acut pancreatitis", "pneumonia", "a", "mi"]


def cosine(one: str, other: str, forms: list[str]) -> float:
    def grams(text: str) -> Counter[str]:
        return Counter(f" {text} "[place : place + 3] for place in range(len(text)))

    def rarity(gram: str) -> float:
        return math.log((1 + len(forms)) / (1 + sum(gram in grams(form) for form in forms))) + 1

    weights = [{gram: count * rarity(gram) for gram, count in grams(text).items()} for text in (one, other)]
    lengths = [math.sqrt(sum(value**2 for value in held.values())) for held in weights]
    return sum(value * weights[1].get(gram, 0) for gram, value in weights[0].items()) / (lengths[0] * lengths[1])


def test_it_is_the_cosine() -> None:
    index = NGrams(gram_weights(FORMS))
    for query in ("apendicitis", "acut apendicits", "pnumonia", "mi"):
        for place, score in index.nearest(query):
            assert math.isclose(score, cosine(query, FORMS[place], FORMS), abs_tol=1e-5)


def test_a_form_is_nearest_to_itself() -> None:
    index = NGrams(gram_weights(FORMS))
    for place, form in enumerate(FORMS):
        assert index.nearest(form)[0] == (place, index.nearest(form)[0][1])
        assert math.isclose(index.nearest(form)[0][1], 1.0, abs_tol=1e-5)


def test_the_limit_holds_and_ties_come_in_their_order() -> None:
    index = NGrams(gram_weights(["same name"] * 9 + ["another"]))
    assert [place for place, _ in index.nearest("same name", 4)] == [0, 1, 2, 3]


@given(st.text(max_size=40))
def test_any_text_can_be_asked(text: str) -> None:
    assert all(0 < score <= 1.0001 for _, score in NGrams(gram_weights(FORMS)).nearest(text))


def test_nothing_is_near_to_nothing() -> None:
    assert NGrams(gram_weights([])).nearest("anything") == []
    assert NGrams(gram_weights(FORMS)).nearest("") == []
    assert NGrams(gram_weights(FORMS)).nearest("zzzz") == []
