"""Verdicts in text: whole words in their place, and a typed reason for everything else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.evaluators.judges.strict_reply import Unread, only_word, verdicts_in, word

WORDS = {"correct": "right", "wrong": "wrong", "incorrect": "wrong", "not covered": "wrong"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Correct", "right"),
        ("  correct.\n", "right"),
        ("[Correct]", "right"),
        ("**CORRECT**", "right"),
        ("\u201cCorrect\u201d", "right"),
        ("Incorrect", "wrong"),
        ("INCORRECT.", "wrong"),
        ("not  covered", "wrong"),
        ("Verdict: correct", "right"),
        ("**Final verdict:** wrong", "wrong"),
        ("It cites the guideline.\nVerdict: correct", "right"),
        ("The prediction is correct.", "right"),
        ("The predicted diagnosis is: wrong", "wrong"),
        ("Correct. The guideline says the same.", "right"),
        ("Wrong, it is not a sign of it.", "wrong"),
        ("Correct - as the case says", "right"),
        ("Here is what I found: Correct", "right"),
        ("Type: laboratory\nVerdict: correct", "right"),
        ("Verdict: correct\nVerdict: correct, because both name gout", "right"),
        ("Verdict: wrong\nThe text fails to name the disease.", "wrong"),
        ("Here's my verdict: **correct**", "right"),
        ("The prediction is Correct because both name the same disease.", "right"),
        ("The prediction is wrong, since the text does not name it.", "wrong"),
        ("Yes, it is correct.", "right"),
        ("No, the diagnosis is wrong.", "wrong"),
        ("Correct.\n\n**Why:** both are names of TNF-\u03b1 \u2265 5 \u00b5g.", "right"),
        ("Wrong. The answer misses the disease.", "wrong"),
    ],
)
def test_one_word_in_its_place(text: str, meant: str) -> None:
    assert word(text, WORDS, "wrong") == meant


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("The prediction is not correct", "hedged"),
        ("Not correct", "hedged"),
        ("Partially correct", "hedged"),
        ("Correct, but only in part", "hedged"),
        ("Correct. It isn't, on reflection", "hedged"),
        ("correct?", "hedged"),
        ("Verdict: not correct", "hedged"),
        ("Wrong. The correct one is gout.", "several"),
        ("Correct|Wrong", "several"),
        ("Verdict: correct\nVerdict: wrong", "several"),
        ("I cannot say whether it is correct: Wrong", "several"),
        ("I'm sorry, I can't help with medical questions.", "refusal"),
        ("As an AI, this is not for me.", "refusal"),
        ("The fever suggests an infection.", "prose"),
        ("Uncorrected errors", "prose"),
        ("correctness", "prose"),
        ("Correct: false", "hedged"),
        ("Correct: 0", "hedged"),
        ("Correct: N", "hedged"),
        ("Correct: \u274c", "hedged"),
        ("Correct: \u2717", "hedged"),
        ("Correct \u2717", "hedged"),
        ("Correct: \u9519\u8bef", "hedged"),
        ("Correct: falso", "hedged"),
        ("Correct: half", "hedged"),
        ("Correct. 0", "hedged"),
        ("Correct\nN", "hedged"),
        ("Correct, in part.", "hedged"),
        ("Correct, as far as the organ goes.", "hedged"),
        ("Correct, as a first guess.", "hedged"),
        ("The prediction is correct as a first guess.", "prose"),
        ("Correct, if one ignores the laterality.", "hedged"),
        ("Correct, given a broad reading of it.", "hedged"),
        ("Correct. The answer fails to name the disease.", "hedged"),
        ("Correct, \u4f46\u90e8\u5206\u9519\u8bef", "hedged"),
        ("Correct. \u4e0d\u6b63\u786e", "hedged"),
        ("The prediction is correct in part", "hedged"),
        ("Verdict: correct\nOnly the organ is named.", "hedged"),
        ("Verdict: correct: false", "hedged"),
        ("!correct", "prose"),
        ("Yes, it is wrong.", "several"),
        ("No, it is correct.", "several"),
        ("Wrong, the answer is right.", "several"),
        ("I disagree that this is: Correct", "hedged"),
        ("It is false that the prediction is: Correct", "hedged"),
        ("The opposite of: correct", "hedged"),
        ("I refuse to say: correct", "hedged"),
        ("The student claims: Correct", "prose"),
        ("\u6b63\u786e", "other_language"),
        ("42", "other_language"),
        ("Correct " * 20_000, "too_long"),
    ],
)
def test_anything_else_has_a_typed_reason(text: str, why: str) -> None:
    found = word(text, WORDS, "wrong")
    assert isinstance(found, Unread)
    assert found.why == why
    assert found.reason == f"judge_unreadable/{why}"
    assert len(found.said) <= 160


def test_what_is_mentioned() -> None:
    assert verdicts_in("It is incorrect, not correctable, and not\ncovered", WORDS) == {"wrong"}
    assert verdicts_in("correct or wrong", WORDS) == {"right", "wrong"}


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(word(text, WORDS), str | Unread)


@given(
    st.lists(st.sampled_from(["correct", "incorrect", "wrong", "not", "partially", ".", ",", "\n", "Verdict:", "but"]))
)
def test_no_mixture_that_says_wrong_is_read_as_right(pieces: list[str]) -> None:
    """Only a line that is labelled as the verdict outweighs what else is said."""
    if {"incorrect", "wrong", "not", "partially", "but"} & set(pieces) and "Verdict:" not in pieces:
        assert word(" ".join(pieces), WORDS, "wrong") != "right"


@given(st.sampled_from(sorted(WORDS)), st.sampled_from(["un", "in", "x", "a"]))
def test_a_word_inside_another_is_none(name: str, before: str) -> None:
    found = word(f"{before}{name}s", WORDS)
    assert isinstance(found, Unread)


@given(st.text(max_size=40))
def test_a_verdict_with_a_colon_behind_it_is_a_label_and_none(rest: str) -> None:
    found = word(f"Correct: {rest}x", WORDS, "wrong")
    assert isinstance(found, Unread) or "correct" in rest.casefold()


@given(st.sampled_from(["Correct", "Verdict: correct", "The step is correct"]), st.characters(min_codepoint=0x370))
def test_a_sign_behind_a_verdict_is_no_reason_for_it(verdict: str, sign: str) -> None:
    said = word(f"{verdict}. {sign}", WORDS, "wrong")
    assert said != "right" or not sign.strip(" \u2018\u2019\u201c\u201d\u3002\uff01\uff1a\u3010\u3011")


@pytest.mark.parametrize("mark", "\u2018\u2019\u201c\u201d\u3002\uff01\uff1a\u3010\u3011.!:[]")
def test_a_mark_alone_behind_a_verdict_says_nothing_in_any_script(mark: str) -> None:
    assert word(f"Correct. {mark}", WORDS, "wrong") == "right"


@pytest.mark.parametrize(
    ("text", "meant"),
    [("[Correct].", "right"), ("Verdict: wrong", "wrong"), ("Correct: false", None), ("Correct. It is gout.", None)],
)
def test_where_nothing_else_may_stand(text: str, meant: str | None) -> None:
    found = only_word(text, WORDS)
    assert (None if isinstance(found, Unread) else found) == meant
