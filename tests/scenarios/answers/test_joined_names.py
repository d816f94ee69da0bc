"""Whatever stands between two names of diseases, at most one of them counts: a joiner, an unknown word, a sign."""

import itertools
import random

import pytest

from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.names_within import kinds_within, names_within, unrelated_names
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


@pytest.mark.parametrize(
    "tail", ["seen at surgery", "of two months", "in her case", "on a second look", "at the bedside"]
)
@pytest.mark.parametrize("joiner", [", ", " and "])
def test_a_tail_with_a_preposition_does_not_join_two_names(tail: str, joiner: str) -> None:
    draw = random.Random(f"tail {tail}")
    names = unrelated(draw, 2)
    assert counted(joiner.join(f"{name} {tail}" for name in names), names) <= 1


SIBLINGS = (
    ("viral", "bacterial", "pneumonia"),
    ("atopic", "contact", "dermatitis"),
    ("ischemic", "hemorrhagic", "stroke"),
    ("alcoholic", "autoimmune", "hepatitis"),
    ("viral", "fungal", "meningitis"),
    ("obstructive", "cardiogenic", "shock"),
)


@pytest.mark.parametrize(
    "form",
    [
        "{a} {b} {h}", "{b} {a} {h}", "mixed {a} {b} {h}", "{a}-like {b} {h}", "{a} {h} of {b} kind",
        "{a} {h}, {b} variety",
        "{a} {h} {b}", "{a} and {b} {h}",
    ],
)  # fmt: skip
@pytest.mark.parametrize(("a", "b", "h"), SIBLINGS)
def test_siblings_before_one_noun_are_not_both_right(form: str, a: str, b: str, h: str) -> None:
    assert counted(form.format(a=a, b=b, h=h), [f"{a} {h}", f"{b} {h}"]) <= 1


@pytest.mark.parametrize(
    "phrase",
    [
        "recurrent metastatic papillary thyroid carcinoma",
        "diffuse large B-cell lymphoma of the testis",
        "small cell carcinoma of the pancreas",
        "lung squamous cell carcinoma",
        "severe acute bacterial meningitis",
        "right lower lobe pneumonia",
    ],
)
def test_words_of_degree_place_and_spread_make_no_sibling(phrase: str) -> None:
    assert kinds_within(phrase) == ()


def test_parts_behind_another_disease_do_not_make_it_right() -> None:
    truth = Truth(diagnosis="Asthma with pneumonia")
    assert compare("Asthma with pneumonia", truth).match
    assert not compare("Gout due to asthma with pneumonia", truth).match
