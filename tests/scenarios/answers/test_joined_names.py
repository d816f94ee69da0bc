"""Whatever stands between two names of diseases, at most one of them counts: a joiner, an unknown word, a sign."""

import itertools
import random

import pytest

from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.names_within import names_within, unrelated_names
from wardround.scenarios.diseases.relations import relation
from wardround.scenarios.terms.wording import table_rows

NAMES = sorted(row["name"] for row in table_rows("conditions.csv"))
PAIRS = (
    "{a} {b}",
    "{a} v {b}",
    "{a} eller {b}",
    "{a} (?) {b}",
    '"{a}" "{b}"',
    "{a}_{b}",
    "{a}.{b}",
    "{a} of the {b} type",
    "{a} in {b}",
    "{a} likely {b}",
    "{a} suggesting {b}",
    "\\boxed{{{a}}} \\boxed{{{b}}}",
    "<answer>{a} {b}</answer>",
    "Overlap of {a} and {b}",
    "Toss-up of {a} and {b}",
    "From {a} to {b}",
    "more {a} than {b}",
    "{a} as likely as {b}",
    "Undifferentiated {a} {b}",
)
TRIPLES = (
    "{a} {b} {c}",
    "{a} v {b} due to {c}",
    "{a} of the {b} and {c} kind",
    "{a} on the {b} and {c} spectrum",
    "{a} suggesting {b} suggesting {c}",
    "{a}-induced {b} v {c}",
    "Overlap of {a}, {b} and {c}",
)
FINDINGS = ("{a} presentation due to {b}", "{a} picture due to {b}", "{a} flare caused by {b}")


def unrelated(draw: random.Random, count: int) -> list[str]:
    """So many diseases of which the tables relate no two."""
    while True:
        names = draw.sample(NAMES, count)
        if all(relation(one, other) is None for one, other in itertools.permutations(names, 2)):
            return names


def counted(answer: str, names: list[str]) -> int:
    """How many of the diseases an answer is right for."""
    return sum(compare(answer, Truth(diagnosis=name)).match for name in names)


def invented(draw: random.Random) -> str:
    """A word that no language has."""
    return "".join(draw.choice(letters) for letters in ("bdgkmpz", "aeiou", "lrsvx", "aeiou", "kzgb"))


@pytest.mark.parametrize("form", [*PAIRS, *TRIPLES, *FINDINGS])
def test_at_most_one_place_of_a_form_counts(form: str) -> None:
    draw = random.Random(f"names {form}")
    names = unrelated(draw, 3 if "{c}" in form else 2)
    assert counted(form.format(**dict(zip("abc", names, strict=False))), names) <= 1


@pytest.mark.long
def test_no_unknown_word_between_two_names_gains_anything() -> None:
    draw = random.Random("joiner")
    pairs = [(unrelated(draw, 2), invented(draw)) for _ in range(100)]
    right = sum(counted(f"{one} {word} {other}", [one, other]) for (one, other), word in pairs)
    assert right <= 1.02 * len(pairs)


@pytest.mark.parametrize(
    "phrase",
    [
        "lupus nephritis",
        "tuberculous meningitis",
        "influenza pneumonia",
        "ruptured abdominal aortic aneurysm",
        "gout attack",
    ],
)
def test_one_name_stays_one(phrase: str) -> None:
    assert len(unrelated_names(phrase)) <= 1
    assert [item.name for item in read_answer(phrase).asserted] == [phrase]


def test_the_last_noun_heads_a_compound() -> None:
    assert [item.name for item in read_answer("Sarcoidosis migraine").asserted] == ["migraine"]
    assert compare("Sarcoidosis migraine", Truth(diagnosis="Migraine")).match
    assert not compare("Sarcoidosis migraine", Truth(diagnosis="Sarcoidosis")).match


def test_names_are_the_longest_that_the_tables_have() -> None:
    assert [one.name for one in names_within("Acute appendicitis xyz septic arthritis")] == [
        "Acute appendicitis",
        "septic arthritis",
    ]
    assert names_within("severe weakness of the left arm") == ()
