"""Shapes of replies of models to closed questions: each is read rightly, or as no answer.

`tests/data/reply_shapes.jsonl` has them in seven parts. The rules of the reader were written with the first in view.
The others were written afterwards; what the rules then missed was mended as well:

==========  =====  ==============  =====================
part        rows   read wrongly    unread though stated
==========  =====  ==============  =====================
second        167               4                     17
third          88               4                      3
fourth        120               4                     13
fifth          98               5                     13
sixth         104               4                     14
seventh        72               7                      0
==========  =====  ==============  =====================
"""

import itertools
import json
import re
from pathlib import Path

import pytest
from examples import first_ones

from wardround.scenarios.parsers.choices import Answered, read_choice, read_rectification, read_verdict

_LINES = [json.loads(line) for line in Path("tests/data/reply_shapes.jsonl").read_text("utf-8").splitlines()]
OPTIONS, SHAPES = _LINES[0]["options"], _LINES[1:]


def read(shape: dict[str, str]) -> object:
    """What the reader takes a reply to say, as the file has it."""
    options, reply = OPTIONS.get(shape["options"], ()), shape["reply"]
    letters = "ABCDEFGH"[: len(options)]
    if shape["kind"] == "choice":
        choice = read_choice(reply, options, letters)
        return choice.option if isinstance(choice, Answered) else None
    if shape["kind"] == "verdict":
        verdict = read_verdict(reply)
        return verdict.holds if isinstance(verdict, Answered) else None
    both = read_rectification(reply, options, letters)
    return [both.holds, both.option] if isinstance(both, Answered) else None


@pytest.mark.parametrize(
    ("part", "kind"),
    [
        ("first", "choice"),
        ("first", "verdict"),
        ("first", "rectification"),
        ("second", "choice"),
        ("third", "choice"),
        ("fifth", "choice"),
        ("sixth", "choice"),
        ("sixth", "verdict"),
        ("seventh", "choice"),
        ("seventh", "verdict"),
        ("fourth", "verdict"),
        ("fourth", "rectification"),
    ],
)
def test_no_reply_is_read_as_what_it_does_not_say(part: str, kind: str) -> None:
    shapes = [shape for shape in SHAPES if (shape["part"], shape["kind"]) == (part, kind)]
    assert len(shapes) > 20
    found = {shape["reply"]: read(shape) for shape in shapes}
    apart = [(reply, got) for shape in shapes if (got := found[reply := shape["reply"]]) not in (None, shape["read"])]
    assert apart == []


LEFT_UNREAD = [
    "The answer is: A. Metformin; B and C come later.",  # a list of options may be meant
    "Given the proteinuria, B.",
    "B it is.",
    "An ACE inhibitor (option B) is preferred here.",
    "The drug of choice is an ACE inhibitor (B).",
    "A and D are wrong, C and E too, so B.",
    "B/",
    "It can only be B",
    "C is wrong, D is right",
    "The right answer is the third option.",
    "The answer, which everyone knows, is of course: C — Ascorbic acid. (Not A, which is vitamin A.)",
    "C C C",
    "Ascorbic acid is wrong; niacin it is",
    "Ascorbic acid? No. Niacin? No. Retinol!",
    "It is true that A, but the statement is false",
    "not false",
    "True? No.",
    "false is not the answer; true is",
    "It would be true if zinc; as written false",
    "This is a true/false question: true",
]


def test_all_but_a_few_of_the_replies_that_state_an_answer_are_read() -> None:
    stated = [shape for shape in SHAPES if shape["read"] is not None]
    assert len(stated) > 300
    lost = [shape["reply"] for shape in stated if read(shape) is None]
    assert lost == LEFT_UNREAD


FORMS = (
    "{letter}",
    "{text}",
    "Answer: {letter}",
    "The answer is {text}.",
    "{letter}: {text}",
    "{letter}) {text}",
    "The correct answer is ({letter}) {text}.",
    "**{letter}. {text}**\n\nThis follows from what is known.",
    "This follows from what is known.\n\n**Answer: {letter}. {text}**",
    "I would choose {letter}. {text}",
    '{{"answer": "{letter}"}}',
    "答案：{letter}。{text}",
    "{text} is the correct answer.",
)


@pytest.mark.shared
@pytest.mark.long
@pytest.mark.parametrize("name", ["medqa", "medmcqa"])
def test_every_option_of_a_shared_set_is_read_as_itself_or_not_at_all(shared: Path, name: str) -> None:
    """At first 34 of 99,000 replies were read as another option (`<50` as `>50`, twins, parts); a few stay unread."""
    rows = json.loads((shared / "data/multicogeval" / name / "MCQ.test.json").read_text("utf-8"))
    count, unread, wrong = 0, 0, []
    for _, text, _ in rows:
        listed = re.split(r"\t(?=[A-Z]: )", text.split("Options: ", 1)[1])
        options = [option.strip(' \n"').split(": ", 1)[1] for option in listed]
        letters = "ABCDE"[: len(options)]
        for (place, option), form in itertools.product(enumerate(options), FORMS):
            reply = form.format(letter=letters[place], text=option)
            found = read_choice(reply, options, letters)
            count, unread = count + 1, unread + (not isinstance(found, Answered))
            if isinstance(found, Answered) and found.option != place:
                wrong.append((reply, options))
    assert wrong == []
    assert count > 25_000
    assert unread <= 0.001 * count


@pytest.mark.parametrize(
    "unit",
    first_ones(
        ["the best ", "is ", "{", "答案", "选", "so it is ", "the statement is not ", "I think ", "[(*", "A. foo. "], 4
    ),
)
def test_a_long_reply_that_names_no_option_is_no_answer(unit: str) -> None:
    reply = unit * 1_500
    assert not isinstance(read_choice(reply, OPTIONS["drugs"], "ABCDE"), Answered)
    assert read_rectification(f"Incorrect. {reply}", OPTIONS["drugs"], "ABCDE") == Answered(None, holds=False)
