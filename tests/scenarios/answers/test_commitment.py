"""What an answer asserts, read without the truth, and the rule of right over whole answers."""

from functools import cache

import pytest
from examples import at_most, first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.answers.truth import parts_of, read_parts
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.graph import graph
from wardround.scenarios.diseases.knowledge import conditions
from wardround.scenarios.diseases.lexical_linker import linker
from wardround.scenarios.diseases.relations import complicates
from wardround.scenarios.diseases.same_disease import same_disease

NAMES = [
    "Gout", "Scurvy", "Asthma", "Acute appendicitis", "Systemic lupus erythematosus", "Tuberculosis", "Malaria",
    "Myasthenia gravis", "Multiple sclerosis", "Psoriasis", "Hodgkin lymphoma", "Glioblastoma", "Osteoporosis",
    "Kawasaki disease", "Celiac disease", "Graves disease", "Parkinson disease", "Schizophrenia", "Tetanus", "Measles",
    "Nephrolithiasis", "Endometriosis", "Preeclampsia", "Glaucoma", "Hemophilia A", "Cystic fibrosis", "Sarcoidosis",
    "Granulomatosis with polyangiitis", "Hand, foot and mouth disease", "Cholera", "Acromegaly", "Pheochromocytoma",
]  # fmt: skip


def unrelated(names: list[str]) -> bool:
    """Whether no two of the names have anything to do with each other by the tables."""
    return all(apart(one, other) for one in names for other in names if one != other)


@cache
def apart(one: str, other: str) -> bool:
    """Whether a disease is neither a kind nor, by the table that compare asks, a complication of another."""
    ours, theirs = linker().link(one), linker().link(other)
    if ours is None or theirs is None or same_disease(one, other).same or complicates(one, other):
        return False
    return graph().relation(ours.concept, theirs.concept) in ("other", "sibling")


DISEASES = st.lists(st.sampled_from(NAMES), min_size=5, max_size=5, unique=True)

WRONG = (
    "{a} or {b}",
    "{b} or {a}",
    "either {a} or {b}",
    "{a} vs {b}",
    "{a} versus {b}",
    "{a}/{b}",
    "{a} / {b} / {c}",
    "{a} oder {b}",
    "{a} ou {b}",
    "{a}或{b}",
    "could be {a}, {b} or {c}",
    "It may be {a} or {b}.",
    "Possibilities include {a}, {b}, {c}",
    "Differential diagnosis: {a}, {b}, {c}",
    "possibly {a}, possibly {b}, possibly {c}",
    "{a}, {b}, {c}, {d}, {e}",
    "{b}, {a}",
    "{b} and {a}",
    "{b} with {a}",
    "{b} due to {a}",
    "{b} due to {c} due to {a}",
    "{a} due to {b} due to {c} due to {d}",
    "{a} with {b} with {c} with {d}",
    "{a}; {b}; {c}; {d}",
    "1. {a}\n2. {b}\n3. {c}\n4. {d}",
    "- {a}\n- {b}\n- {c}",
    "{b} ({a})",
    "{b}, also called {a}",
    "anything but {a}",
    "not {a}",
    "It is not {a}.",
    "{a} is wrong",
    "{a} can be dismissed",
    "{a} has been ruled out",
    "{a} was considered, but it is {b}",
    "{a} was considered but the final answer is {b}",
    "{a} is unlikely",
    "{b} rather than {a}",
    "{b}, not {a}",
    "{b} mimicking {a}",
    "{b}. {a} was excluded.",
    "No evidence of {a}",
    "As an AI language model I cannot diagnose {a}",
    "I cannot diagnose {a}.",
    "I am unable to say whether this is {a}",
    "If this were {a}, steroids would help.",
    "The patient does not have {a}",
    "Neither {a} nor {b}",
    "kein {a}, sondern {b}",
    "pas {a}, mais {b}",
    "不是{a}",
    "排除{a}",
    "history of {a}, now {b}",
    "{b}. Could also be {a}.",
    "1. {a} 2. {b} 3. {c} 4. {d}",
    "{a}? {b}?",
    "{a} remains in the differential",
    "I cannot tell {a} from {b} yet",
    "More tests are needed to tell {a} from {b}",
    "[{a}]",
    "Diagnosis: <{a}>",
    "It would be a mistake to call this {a}",
    "Diagnosis: {a}\nDiagnosis: {b}",
    "{b} complicated by {a}",
    "{b} with features of {a}",
    "{b} with {a} involvement",
    "{b} ({a} features)",
    "Less likely {a}, {c}; {b}",
    "The diagnosis is {b}. The differential includes {a}, {c} and {d}.",
)
RIGHT = (
    "{a}",
    "**{a}**",
    "Diagnosis: {a}",
    "The final diagnosis is {a}.",
    "Most likely {a}",
    "probably {a}",
    "This is {a}, not {b}.",
    "not {b}, but {a}",
    "{b} was considered, but it is {a}",
    "{b} is unlikely; the diagnosis is {a}",
    "I cannot be certain, but this is {a}",
    "As an AI I cannot replace a doctor, but the most likely diagnosis is {a}.",
    "{a} is the most likely diagnosis",
    "Findings are consistent with {a}.",
    "{a} and {b}",
    "{a} with {b}",
    "{a} due to {b}",
    "{a}. Differential diagnosis: {b}, {c}",
    "1. most likely {a}\n2. {b}\n3. {c}",
    "{a}, less likely {b}",
    "Most likely: {a}, less likely: {b}, {c}",
    "Most likely: {a} Less likely: {b}, {c}",
    "The most likely is {a}, and less likely is {b}",
    "1. most likely {a} 2. {b}",
    "Working diagnosis: {b}\nFinal diagnosis: {a}",
    "{a} complicated by {b}",
    "{a} with septic shock and acute kidney injury",
    "Septic shock due to {a}",
    "{a}, rather than {b}",
    "Nothing but {a}",
)


@pytest.mark.parametrize("form", WRONG)
@at_most(12, quick=2)
@given(names=DISEASES)
def test_no_form_of_a_list_or_a_denial_is_right(form: str, names: list[str]) -> None:
    if not unrelated(names):
        return
    a, b, c, d, e = names
    verdict = compare(form.format(a=a, b=b, c=c, d=d, e=e), Truth(diagnosis=a))
    assert not verdict.match, verdict


HIDDEN = (
    "Seasickness with gastrointestinal involvement vs scurvy due to alcohol vs gout",
    "Seasickness due to motion / gout / scurvy",
    "Diagnosis: seasickness with nausea\nDiagnosis: gout\nDiagnosis: scurvy",
    "Probably seasickness, perhaps scurvy, or else gout",
    "Seasickness, which looks like gout",
    "Seasickness due to motion or gout",
    "Seasickness (vs gout)",
    "Seasickness (scurvy, gout, mumps)",
    "Seasickness (acute (known) gout)",
    "Seasickness, also known as scurvy, also known as gout, also called mumps",
    "Seasickness in a patient whose brother has gout",
    "Seasickness <!-- gout -->",
    "~~gout~~ seasickness",
    "gout: no. Seasickness.",
    "Kein Anhalt für gout of the hand, sondern seasickness",
    "Ce n'est pas gout of the foot, mais seasickness",
    "seasickness ou gout of the hand",
    "seasickness | gout | scurvy | mumps",
    "seasickness -> gout -> scurvy -> mumps",
    "seasickness > gout > scurvy",
    "#seasickness #gout #scurvy #mumps",
    "seasickness    gout    scurvy    mumps",
    "Probably seasickness, due to a, due to b, due to c, due to gout, due to scurvy, due to mumps",
)


@pytest.mark.parametrize("answer", HIDDEN)
def test_a_disease_that_is_not_asserted_first_is_neither_right_nor_shown_to_a_judge(answer: str) -> None:
    verdict = compare(answer, Truth(diagnosis="Gout"))
    assert not verdict.match
    assert verdict.reason or (verdict.committed and "gout" not in verdict.committed.lower())


@pytest.mark.parametrize(
    "answer",
    [
        "Mitral regurgitation due to papillary muscle rupture with heart failure, and hypotension/hypoxia",
        "Legionella pneumonia with hypoxia / hypotension",
        "Acute pancreatitis complicated by shock/acidosis",
    ],
)
def test_a_slash_between_states_that_a_disease_leads_to_leaves_the_disease_as_it_is(answer: str) -> None:
    read = read_answer(answer)
    assert not read.undecided
    assert answer.startswith(read.asserted[0].name)


@pytest.mark.parametrize(
    "answer", ["Septic shock / pulmonary edema", "Gout with scurvy / mumps", "Gout with fever / mumps"]
)
def test_a_slash_between_answers_leaves_them_open(answer: str) -> None:
    assert len(read_answer(answer).undecided) > 1


@pytest.mark.parametrize("form", RIGHT)
@at_most(12, quick=2)
@given(names=DISEASES)
def test_what_commits_to_the_truth_is_right(form: str, names: list[str]) -> None:
    if not unrelated(names):
        return
    a, b, c, d, e = names
    verdict = compare(form.format(a=a, b=b, c=c, d=d, e=e), Truth(diagnosis=a))
    assert verdict.match, verdict


@given(st.text(max_size=400))
def test_any_text_is_read(text: str) -> None:
    read = read_answer(text)
    assert not (read.asserted and read.undecided)
    assert read_answer(text) == read


LONG = ("a", "gout, ", "gout or ", "not ", "(", "gout (", "gout due to ", "1. gout\n", "; ", "is ", " " * 7, "a/b ")


@pytest.mark.parametrize(
    "part", first_ones([*LONG, "\u4e0d\u662f", "is the the the ", "most likely ", "I cannot, ", "if so, "])
)
def test_a_long_text_is_read(part: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    read = read_answer(part * (200_000 // len(part)))
    assert not (read.asserted and read.undecided)
    assert bool(read.undecided) == (part == "gout or ")
    assert {*"".join(item.name for item in read.asserted)} <= {*part, "\u2026", "."}


def test_parts_are_read_as_an_answer_is_and_the_case_may_name_its_own() -> None:
    assert read_parts("Gout") == ("Gout",)
    assert read_parts("Gout with nephrolithiasis and hypertension") == ("Gout", "nephrolithiasis", "hypertension")
    assert read_parts("Granulomatosis with polyangiitis") == ("Granulomatosis with polyangiitis",)
    assert read_parts("") == ()
    assert parts_of(Truth(diagnosis="Gout and psoriasis", parts=("Psoriasis", "Gout"))) == ("Psoriasis", "Gout")


def test_the_principal_part_decides_and_the_others_stand_beside() -> None:
    truth = Truth(diagnosis="Gout with nephrolithiasis")
    one = compare("gout", truth)
    assert (one.match, one.all_parts) == (True, False)
    assert one.f1 == pytest.approx(2 / 3)
    both = compare("nephrolithiasis and gout", truth)
    assert (both.match, both.all_parts, both.f1) == (True, True, 1.0)
    other = compare("nephrolithiasis", truth)
    assert (other.match, other.all_parts) == (False, False)
    extra = compare("gout and psoriasis", truth)
    assert extra.match
    assert extra.f1 == pytest.approx(2 / 4)


def test_what_is_in_the_history_is_no_other_answer() -> None:
    answer, truth = "Gout, psoriasis, asthma, glaucoma", Truth(diagnosis="Gout")
    assert compare(answer, truth).reason == "several_answers"
    assert compare(answer, truth, past="Known psoriasis and asthma.").match


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("gout or psoriasis", "several_answers"),
        ("gout, psoriasis, asthma, glaucoma", "several_answers"),
        ("not gout", "no_diagnosis_asserted"),
        ("[diagnosis]", "no_diagnosis_asserted"),
        ("I cannot diagnose gout", "no_diagnosis_asserted"),
        ("psoriasis", ""),
    ],
)
def test_the_reason_of_a_zero(answer: str, reason: str) -> None:
    assert compare(answer, Truth(diagnosis="Gout")).reason == reason


def test_one_hedge_is_a_commitment_and_is_marked() -> None:
    assert read_answer("probably gout").hedged
    assert not read_answer("gout").hedged
    assert [item.name for item in read_answer("could be gout").asserted] == ["gout"]


def test_names_that_hold_a_joiner_are_one_disease() -> None:
    for name in ("Granulomatosis with polyangiitis", "Hand, foot and mouth disease", "Graft versus host disease"):
        assert [item.name for item in read_answer(name).asserted] == [name]


def test_a_judge_is_shown_what_the_answer_commits_to() -> None:
    truth = Truth(diagnosis="Gout")
    assert compare("gout", truth).committed == ""
    assert compare("psoriasis with gout", truth).committed == "psoriasis"
    assert compare("The diagnosis is gout. Scurvy was excluded.", truth).committed == "gout"


def test_cause_and_complication_exchanged_are_another_answer() -> None:
    assert compare("Anemia due to gout", Truth(diagnosis="Anemia due to gout")).match
    assert not compare("Gout due to psoriasis", Truth(diagnosis="Psoriasis due to gout")).match
    assert not compare("Anemia due to gout", Truth(diagnosis="Anemia due to malaria")).match
    assert compare("Anemia", Truth(diagnosis="Anemia due to malaria")).match


@pytest.mark.long
def test_a_name_of_one_or_two_words_is_one_part_whatever_it_is_read_by() -> None:
    """`read_parts` does not read such a label as an answer: the reading never finds two diseases in it."""
    names = [name for concept in conditions()[0] for name in concept.names]
    short = [name for name in names if name.replace(" ", "").isascii() and name.replace(" ", "").isalpha()]
    short = [name for name in short if len(name.split()) <= 2]
    assert len(short) > 200
    assert [name for name in short if read_parts(name) != (name,)] == []
    assert [name for name in short if len(read_answer(name).asserted) > 1] == []
