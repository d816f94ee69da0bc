"""The reader of closed answers: it takes one stated answer, and never guesses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.choices import Answered, read_choice, read_rectification, read_verdict
from wardround.scenarios.parsers.moves import Unusable

OPTIONS = ("Appendicitis", "Colitis", "Acute pancreatitis", "Asthma", "None of the above")
LETTERS = "ABCDE"
LONG = "The pain moved to the right side, the fever rose overnight, and the white cells are high. " * 4
"""An explanation behind an answer: its length says nothing about what is stated."""


@pytest.mark.parametrize(
    ("reply", "option"),
    [
        ("A", 0),
        ("a", 0),
        ("D)", 3),
        ("**Answer: C**", 2),
        ("Answers: D", 3),
        ("The answer is Acute pancreatitis", 2),
        ("I think B is wrong. The answer is D.", 3),
        ("The correct answer is (B) Colitis because of the pain", 1),
        ("B. Colitis", 1),
        ("colitis", 1),
        ("C: Acute pancreatitis - because of the enzymes", 2),
        ("### Answer\nC", 2),
        ('{"answer": "D"}', 3),
        (r"\boxed{E}", 4),
        ("The best answer is option B.", 1),
        ("The answer is A? No, it is early. Final answer: B", 1),
        ("<think>A or B, the answer is A</think>Answer: B", 1),
        ("答案是C", 2),
        ("B. Colitis (C. difficile)", 1),
        ("Answer: D. A patient with wheeze has it.", 3),
        ("The answer is D, as B is wrong", 3),
        ("选B", 1),
        (f"B. {LONG}", 1),
        (f"D because {LONG}", 3),
        (f"C\n\n{LONG}", 2),
        (f"**B** - {LONG}", 1),
    ],
)
def test_a_stated_option_is_read(reply: str, option: int) -> None:
    assert read_choice(reply, OPTIONS, LETTERS) == Answered(option=option)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "A or B",
        "A and C",
        "Answer: A, B",
        "answer: A\nanswer: B",
        "The answer is not A",
        "F",
        "A patient with appendicitis",
        "Asthma attack",
        "Not sure",
        "As an AI I cannot answer",
        "Any of A to E",
        "Answer: A; B; C",
        "Answer: A (or B)",
        "Answer: A - or possibly B",
        "Answer: A. Alternatively B.",
        "Appendicitis, Colitis",
        "Answer: Appendicitis, Colitis, Asthma",
        "<letter>",
        "A. The pain fits, but the site does not.\nB. The blood and the fever fit.\nBoth need a scan first.",
        f"A: {LONG} B: {LONG} It stays open.",
        f"A: {LONG} Therefore D.",
    ],
)
def test_what_states_no_single_option_is_not_guessed_at(reply: str) -> None:
    assert isinstance(read_choice(reply, OPTIONS, LETTERS), Unusable)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("True", True),
        ("false.", False),
        ("The statement is false", False),
        ("It is not true", False),
        ("Answer: True", True),
        ("Yes, option A", True),
        ("Yes. No evidence speaks against it.", True),
        ("The answer is no", False),
        ("Statement: False", False),
        ("对", True),
        ("不正确", False),
        ("Answer: true. Final answer: false", False),
    ],
)
def test_a_verdict_is_read(reply: str, holds: bool) -> None:
    assert read_verdict(reply) == Answered(holds=holds)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "Maybe true",
        "Both",
        "True. False.",
        "yes no",
        "correct, incorrect",
        "True or false?",
        "true/false",
        "Unlikely",
        "It depends",
    ],
)
def test_a_verdict_that_is_none_is_not_guessed_at(reply: str) -> None:
    assert isinstance(read_verdict(reply), Unusable)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("correct", Answered(holds=True)),
        ("Answer: incorrect, the correct answer is B", Answered(option=1, holds=False)),
        ("Incorrect. The correct answer should be Colitis.", Answered(option=1, holds=False)),
        ("Her answer is incorrect", Answered(holds=False)),
    ],
)
def test_a_rectification_is_read(reply: str, read: Answered) -> None:
    assert read_rectification(reply, OPTIONS, LETTERS) == read


@pytest.mark.parametrize(
    "reply",
    [
        "incorrect, the correct answer is A or B",
        "incorrect, the correct answer is A; B; C",
        "correct. incorrect, the correct answer is B",
    ],
)
def test_a_rectification_with_two_answers_is_not_guessed_at(reply: str) -> None:
    assert isinstance(read_rectification(reply, OPTIONS, LETTERS), Unusable)


@pytest.mark.parametrize(
    "change",
    [
        ". Correction: B", ". Wait, no: B", "\nActually, B", ". I take that back; B", "\nOn second thought, B.",
        "\nEdit: B", ". My mistake, it is B.", "\nI change my answer to B.", ". Scratch that. B.", "\nErratum: B",
        "\n\u66f4\u6b63\uff1aB", ". No, B.",
    ],
)  # fmt: skip
def test_what_takes_an_answer_back_gives_the_new_one(change: str) -> None:
    assert read_choice(f"Answer: C{change}", OPTIONS, LETTERS) == Answered(option=1)


@pytest.mark.parametrize(
    "behind",
    [
        "\nExplanation: the enzymes are high. Actually, asthma is wrong here.",
        ". Wait for the enzymes before the meal.",
        "\nActually, the enzymes alone would do.",
    ],
)
def test_an_explanation_behind_an_answer_does_not_take_it_back(behind: str) -> None:
    assert read_choice(f"Answer: C{behind}", OPTIONS, LETTERS) == Answered(option=2)


@pytest.mark.parametrize("end", [", just kidding", ". Not really.", " lol", " (joking)", " or maybe not"])
@pytest.mark.parametrize("said", ["Answer: C", "Answer: true"])
def test_an_answer_that_is_a_joke_is_none(said: str, end: str) -> None:
    read = read_choice if said.endswith("C") else lambda text, *_: read_verdict(text)
    assert isinstance(read(said + end, OPTIONS, LETTERS), Unusable)


@pytest.mark.parametrize(
    ("reply", "holds"),
    [
        ("Answer: true. Correction: false", False),
        ("true if young, false if old", None),
        ("true (50%), false (50%)", None),
        ('{"answer": [true, false]}', None),
        ("True, but also false", None),
        ("\u5bf9\u9519", None),
    ],
)
def test_a_verdict_that_is_taken_back_or_twofold(reply: str, holds: bool | None) -> None:
    read = read_verdict(reply)
    assert read == Answered(holds=holds) if holds is not None else isinstance(read, Unusable)


@pytest.mark.parametrize(
    ("reply", "read"),
    [
        ("Incorrect. The correct answer is B. The correct answer is D.", None),
        ("Incorrect. It should be B. It should be D.", None),
        ("Incorrect, the correct answer is B\nor D", None),
        ("Incorrect. The correct answer is B. Correction: D", Answered(3, False)),
    ],
)
def test_a_rectification_with_a_second_answer_behind(reply: str, read: Answered | None) -> None:
    found = read_rectification(reply, OPTIONS, LETTERS)
    assert found == read if read else isinstance(found, Unusable)


@pytest.mark.parametrize("text", ["\u4e00\u4e00", "\u4e00", "\u4e00\u4e00\u4e00"])
def test_a_short_reply_in_chinese_that_is_no_verdict_is_unusable(text: str) -> None:
    assert isinstance(read_verdict(text), Unusable)


@given(st.text(max_size=200))
def test_any_text_is_read_or_unusable(text: str) -> None:
    for read in (read_choice(text, OPTIONS, LETTERS), read_rectification(text, OPTIONS, LETTERS), read_verdict(text)):
        assert isinstance(read, Answered | Unusable)


@given(st.sampled_from(range(5)), st.sampled_from(["Answer: {}", "**{}**", "({})", "The answer is {}.", "{}"]))
def test_every_letter_is_read_in_every_form(option: int, form: str) -> None:
    assert read_choice(form.format(LETTERS[option]), OPTIONS, LETTERS) == Answered(option=option)
