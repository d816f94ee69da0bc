"""Words put right: only where one known word can be meant."""

import pytest
from examples import sampled

from wardround.scenarios.orders.catalogue import catalogue
from wardround.scenarios.orders.name_lookup import link
from wardround.scenarios.orders.spelling import Speller, closest, corrected, near
from wardround.scenarios.terms.wording import key

KNOWN = Speller(["lipas", "amylas", "ultrasound", "hyperglycemia", "culture", "blood", "renin", "resin", "creatinin"])


@pytest.mark.parametrize(
    ("word", "right"),
    [
        ("lipaz", "lipas"),
        ("amilas", "amylas"),
        ("ultrasond", "ultrasound"),
        ("utlrasound", "ultrasound"),
        ("ultrasonud", "ultrasound"),
        ("cretinin", "creatinin"),
        ("creatnin", "creatinin"),
        ("creatnine", "creatinin"),
        ("blod", "blood"),
        ("bloo", "blood"),
        ("clood", None),  # the first letter must be right
        ("rexin", None),  # renin or resin
        ("hypoglycemia", None),  # never the opposite
        ("cult", None),
        ("b12", None),
    ],
)
def test_a_word_is_put_right_or_left_alone(word: str, right: str | None) -> None:
    assert KNOWN.correct(word) == right


def test_a_form_is_corrected_word_by_word() -> None:
    assert corrected(key("blod cultures"), catalogue()) == key("blood cultures")
    assert corrected(key("blood cultures"), catalogue()) is None
    assert corrected("hcg", catalogue()) is None


@pytest.mark.parametrize("name", ["renal ultrasond", "echocardigram", "abdomenal CT", "magnesum", "uranalysis"])
def test_misspelt_requests_are_linked(name: str) -> None:
    found = link(name, catalogue())
    assert found is not None
    assert found.rule == "fuzzy"


@sampled(70)
def test_the_block_that_is_compared_loses_nothing(every: int) -> None:
    """The names with the same first letter and number of words give what all names give."""
    table = catalogue()
    choices = tuple(table.names)
    for place, name in enumerate(choices[::every]):
        form = name[: len(name) // 2] + name[len(name) // 2 + 1 :] if place % 2 else name + "x"
        if form.replace(" ", "") in table.closed_up:
            continue  # the exact stage has it
        assert near(form, table) == closest(form, choices), form
