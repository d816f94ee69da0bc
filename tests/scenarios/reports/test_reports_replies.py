"""The parsers of a curator's replies: strict, and never read into a text what is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.reply_parsers import (
    CONTRADICTS,
    DIAGNOSIS,
    NOT_STATED,
    SAME,
    CaseSections,
    Declined,
    FindingVerdict,
    Labels,
    YesNo,
    read_step,
    without_citations,
)

CASE = (
    "### Case Summary\n- Patient Information: a man\n- Ancillary Tests:\n  - **CT:** clear\n\n"
    "### Differential Diagnosis Process\n**First** this\n\n### Final Diagnosis (with explanation details)\nA.\n\n"
    "### Diagnosis results:\nA\n"
)


def test_the_sections_of_a_case_are_read() -> None:
    told = read_step("diagnosis", CASE)
    assert isinstance(told, CaseSections)
    assert told.sections == {
        "summary": "- Patient Information: a man\n- Ancillary Tests:\n  - **CT:** clear",
        "differential": "**First** this",
        "explanation": "A.",
        "answer": "A",
    }


def test_headings_in_bold_and_words_before_them_do_no_harm() -> None:
    bold = "Here is the case:\n\n" + "\n".join(
        f"**{heading}**\ntext of {name}\n" for name, heading in DIAGNOSIS.items()
    )
    told = read_step("diagnosis", bold)
    assert isinstance(told, CaseSections)
    assert told.sections["answer"] == "text of answer"


@pytest.mark.parametrize(
    "text",
    [
        "The patient is a man of 40 with a fever. The diagnosis is malaria.",
        '{"case_summary": "a man", "diagnosis',
        CASE.replace("### Diagnosis results:\nA\n", ""),
        CASE.replace("results:\nA\n", "results:\n  \n"),
        CASE + CASE,
        "### Case Summary",
    ],
    ids=["prose", "half JSON", "a section missing", "a section blank", "twice", "a heading alone"],
)
def test_other_replies_are_unusable(text: str) -> None:
    found = read_step("diagnosis", text)
    assert isinstance(found, Unusable)
    assert found.fault == "unreadable"


@pytest.mark.parametrize(
    "text", ["I can't.", "I can\u2019t.", "I'm sorry, but I can't help with that.", "Cannot: too short"]
)
@pytest.mark.parametrize("step", ["about", "diagnosis", "treatment", "body_system", "disorder", "rare"])
def test_a_refusal_is_told_from_a_wrong_format(step: str, text: str) -> None:
    assert isinstance(read_step(step, text), Declined)


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("Yes", True),
        ("**No.**", False),
        ("yes\n", True),
        ("Answer: NO", False),
        ("It is about teaching.\n\nNo.", False),
    ],
)
def test_a_verdict_is_one_word(text: str, yes: bool) -> None:
    assert read_step("about", text) == YesNo(yes)


@pytest.mark.parametrize(
    "text", ["Yes, but no", "Perhaps", "Not sure", "I know of no such case. It is about eyes.", "Noted"]
)
def test_anything_else_is_no_verdict(text: str) -> None:
    assert isinstance(read_step("rare", text), Unusable)


def test_categories_are_those_of_the_list() -> None:
    assert read_step("body_system", "- Ear, nose and throat\n\n* **Brain and Nerves**") == Labels(
        ("Ear, Nose and Throat", "Brain and Nerves")
    )
    assert read_step("body_system", "Others") == Labels(("Others",))
    assert read_step("body_system", "Others\nImmune System") == Labels(("Immune System",))
    assert read_step("disorder", "Genetics/Birth Defects.") == Labels(("Genetics/Birth Defects",))


@pytest.mark.parametrize("text", ["Heart", "Cancers and Infections", "Cancers\nInfections", "---"])
def test_a_category_that_is_not_on_the_list_or_one_too_many_is_unusable(text: str) -> None:
    assert isinstance(read_step("disorder", text), Unusable)


@pytest.mark.parametrize("step", ["about", "diagnosis", "treatment", "body_system", "disorder", "rare"])
def test_silence_is_silence(step: str) -> None:
    found = read_step(step, " \n\t")
    assert isinstance(found, Unusable)
    assert found.fault == "empty"


@given(st.text(), st.sampled_from(["about", "diagnosis", "treatment", "body_system", "disorder", "rare"]))
def test_no_text_raises(text: str, step: str) -> None:
    assert isinstance(read_step(step, text), CaseSections | YesNo | Labels | Declined | Unusable)


@pytest.mark.parametrize(
    ("text", "clean", "cited"),
    [
        ("- Chief Complaint: Cough [3, 5]. No fever. [6-7]", "- Chief Complaint: Cough. No fever.",
         {"cough": (3, 5), "no fever": (6, 7)}),
        ("He coughed. He smoked [S2].", "He coughed. He smoked.", {"he coughed": (2,), "he smoked": (2,)}),
        ("Pain [1] She vomited [2]", "Pain. She vomited.", {"pain": (1,), "she vomited": (2,)}),
        ("An item [a] without one", "An item [a] without one", {}),
    ],
)  # fmt: skip
def test_citations_leave_the_text_and_stay_with_their_sentences(
    text: str, clean: str, cited: dict[str, tuple[int, ...]]
) -> None:
    said, numbers = without_citations(text)
    assert said == clean
    assert {key: numbers[key] for key in cited} == cited
    assert bool(numbers) == bool(cited)


@pytest.mark.parametrize(
    ("text", "word"), [("same", SAME), ("**Contradicts**", CONTRADICTS), ("Not stated.", NOT_STATED)]
)
def test_a_second_reader_says_one_of_three_things(text: str, word: str) -> None:
    assert read_step("finding", text) == FindingVerdict(word)


@pytest.mark.parametrize("text", ["same, but not quite", "yes", "not stated\nsame"])
def test_anything_else_is_no_verdict_on_a_finding(text: str) -> None:
    assert isinstance(read_step("finding", text), Unusable)
