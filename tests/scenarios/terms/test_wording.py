"""Clinical wording made comparable."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from wardround.scenarios.terms.wording import key, plain, roots


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Haemorrhoids", "hemorrhoid"),
        ("Oesophageal tumours", "esophageal tumor"),
        ("Hirschsprung’s disease", "Hirschsprung's Diseases"),
        ("**Crohn's** _disease_", "Crohn disease"),
        ("Ménière disease", "Meniere disease"),
        ("metastases", "metastasis"),
        ("β-hCG", "beta hCG"),
        ("leucocytes", "leukocyte"),
        ("fibre", "fiber"),
    ],
)
def test_spellings_of_one_word_meet(one: str, other: str) -> None:
    assert key(one) == key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("stenotic", "stenosis"), ("pulmonary", "lungs"), ("thrombus", "thrombosis"), ("ischaemic", "ischemia")],
)
def test_a_noun_and_its_adjective_have_one_root(one: str, other: str) -> None:
    assert roots(one) == roots(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hepatitis", "hepatic"),
        ("endometritis", "endometriosis"),
        ("arthritis", "arthrosis"),
        ("hyperthyroidism", "hypothyroidism"),
        ("pneumonia", "pneumonitis"),
        ("cholecystitis", "cholelithiasis"),
    ],
)
def test_words_that_only_look_alike_stay_apart(one: str, other: str) -> None:
    assert roots(one) != roots(other)


@given(st.text(max_size=200))
@example("A\u1f00")
@example("\u0392\u0345")
def test_a_key_of_a_key_is_itself_as_words(text: str) -> None:
    assert len(key(text).split()) == len(key(key(text)).split())


@given(st.text(st.characters(max_codepoint=127)))
def test_ascii_is_read_as_it_is_beside_an_accent(text: str) -> None:
    assert plain(f"é {text}") == f"e {plain(text)}".strip()
