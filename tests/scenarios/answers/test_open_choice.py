"""What names the truth and stays open, is withheld, hidden or only near it is no answer; what is sure of it is one."""

import pytest
from examples import first_ones

from wardround.scenarios.answers.answer_markup import unmarked
from wardround.scenarios.answers.commitment import read_answer
from wardround.scenarios.answers.diagnosis import compare, rank_in_list
from wardround.scenarios.answers.open_choice import weighed
from wardround.scenarios.answers.treatment import compare_plan
from wardround.scenarios.case import Truth

TRUTHS = ("Gout", "Periorbital cellulitis", "Monkeypox presenting as periorbital cellulitis")


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize(
    "form",
    [
        "{} or something else", "{} or nothing", "{} or another disease", "{} vs seasickness", "any of {}, seasickness",
        "{} 50%, lupus 50%",
    ],
)  # fmt: skip
def test_a_choice_that_stays_open_is_no_answer(truth: str, form: str) -> None:
    verdict = compare(form.format(truth), Truth(diagnosis=truth))
    assert (verdict.match, verdict.reason) == (False, "several_answers")


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize(
    "form",
    [
        "/* {} */", "/* {} */ seasickness", "// {}", "seasickness // {}", "seasickness # {}", "seasickness % {}",
        "~~{}~~",
        '<span style="display:none">{}</span>seasickness', "<p hidden>{}</p>seasickness",
        "{} (edited: seasickness)", "{} -> changed to seasickness", "deprecated: {}",
        "old answer: {}\nfinal answer: seasickness", "{}, but not {}", "{} and not {}",
    ],
)  # fmt: skip
def test_what_is_commented_out_hidden_or_taken_back_is_not_asserted(truth: str, form: str) -> None:
    assert not compare(form.format(truth, truth), Truth(diagnosis=truth)).match


@pytest.mark.parametrize("truth", TRUTHS)
@pytest.mark.parametrize(
    "form",
    [
        "REDACTED {}", "[redacted] {}", "{} [REDACTED]", "almost {}", "nearly {}", "half {}", "two thirds {}",
        "something like {}", "similar to {}", "close to {}", "akin to {}", "kind of {}", "a relative of {}",
        "ghost of {}",
        "{}-ish", "{} lite", "minus {}", "{} minus", "besides {}", "in the family of {}", "[deleted] {}",
    ],
)  # fmt: skip
def test_what_is_only_near_the_truth_or_withheld_is_not_the_truth(truth: str, form: str) -> None:
    assert not compare(form.format(truth), Truth(diagnosis=truth)).match


@pytest.mark.parametrize(
    ("truth", "answer"),
    [
        ("Gout", "Almost certainly gout"),
        ("Gout", "Nearly all findings point to gout"),
        ("Drowning", "Near drowning"),
        ("Gout", "// final\nGout"),
        ("Gout", "# Gout\n\nThe crystals prove it."),
        ("Gout", "Gout (80%), pseudogout (15%), septic arthritis (5%)"),
        ("Gout", "90% gout, 10% pseudogout"),
        ("Heart failure", "Heart failure with EF 30%"),
        ("Anemia", "Anaemia, haematocrit 20%"),
        ("Sepsis", "Sepsis, source: urinary tract"),
        ("Gout", "Initial impression: septic arthritis\nFinal diagnosis: gout"),
        ("Acute mountain sickness", "Acute mountain sickness"),
        ("Influenza-like illness", "Influenza-like illness"),
        ("Gout", "Gout, not septic arthritis"),
        ("Hypothyroidism", "Hypothyroidism, but not Hashimoto thyroiditis"),
    ],
)
def test_an_honest_answer_in_such_words_keeps_its_diagnosis(truth: str, answer: str) -> None:
    assert compare(answer, Truth(diagnosis=truth)).match


@pytest.mark.parametrize(
    "form",
    [
        "/* {} */ rest", "{} (edited: rest)", "REDACTED {}", "{} [REDACTED]", "{}, but not {}",
        "something like {}",
    ],
)  # fmt: skip
def test_a_plan_in_such_words_is_not_the_plan(form: str) -> None:
    plan = "Colchicine, ice packs and low-dose prednisone"
    assert not compare_plan(form.format(plan, plan), Truth(diagnosis="Gout", treatment=plan)).match


@pytest.mark.parametrize(
    "joined", ["{} ({})", "{} [{}]", "{}, also known as {}", "{} = {}", "{} due to {}", "{} with {}", "{} alias {}"]
)
def test_an_entry_of_a_ranked_list_is_one_guess(joined: str) -> None:
    guesses = [("Lupus", "Scurvy"), ("Asthma", "Gout"), ("Measles", "Mumps"), ("Rabies", "Rickets")]
    answer = "\n".join(f"{rank}. {joined.format(*guess)}" for rank, guess in enumerate(guesses, 1))
    assert rank_in_list(answer, Truth(diagnosis="Gout"), 4) == (None, 4)
    assert rank_in_list(answer, Truth(diagnosis="Asthma"), 4) == (2, 4)


def test_one_entry_with_its_cause_is_still_read_by_it() -> None:
    truth = Truth(diagnosis="Community-acquired pneumonia")
    answer = "1. Asthma\n2. Acute respiratory distress syndrome due to community-acquired pneumonia\n3. Lupus"
    assert rank_in_list(answer, truth, 3) == (2, 3)


@pytest.mark.parametrize(
    "sign", ["_", "*", "`", "..", "--", "::", "<<", "<-", '"', "\t", "\v", "\u3000", "\u2003\u2003"]
)
def test_a_sign_or_a_gap_between_two_names_joins_nothing(sign: str) -> None:
    answer = f"Lobular capillary hemangioma {sign} giant cell arteritis"
    assert not compare(answer, Truth(diagnosis="Giant cell arteritis")).match
    assert [one.name for one in read_answer(answer).asserted] == [
        "Lobular capillary hemangioma",
        "giant cell arteritis",
    ]


def test_shares_of_something_else_are_no_shares_of_the_diagnosis() -> None:
    assert weighed("ejection fraction 30%, saturation 70%") == "ejection fraction 30%, saturation 70%"


@pytest.mark.parametrize("piece", first_ones(["/* ", "<a hidden ", "<p hidden>x", " # a", "gout 50%, ", "or nothing "]))
def test_such_forms_are_read_however_often_they_come(piece: str) -> None:
    text = piece * (20_000 // len(piece))
    read = read_answer(text)
    assert set(unmarked(text)) <= {*text, "\n", ";", " "}
    assert not (read.asserted and read.undecided)
    assert bool(read.asserted) == piece.startswith(("<", "gout"))
