"""Rules on written statements and distractors: each fault is planted, and sound texts pass."""

import pytest

from wardround.scenarios.level_items.source_question import SourceQuestion, dropping_rule
from wardround.scenarios.level_items.text_rules import distractor_fault, statement_fault
from wardround.scenarios.question_item import QuestionItem

OPTIONS = ["Aspirin 75 mg", "Aspirin 300 mg", "Deficiency of aldolase B", "Heparin"]


def source(right: int = 1, options: list[str] | None = None, **fields: object) -> SourceQuestion:
    item = QuestionItem.model_validate(
        {
            "id": "q",
            "form": "choice",
            "question": "What is given first in a heart attack, beside heparin?",
            "options": options or OPTIONS,
            "truth": {"option": right},
            "provenance": {"source": "test"},
            "data_class": "public",
            **fields,
        }
    )
    return SourceQuestion.drawn(item, 0)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("In a heart attack aspirin 300 mg is given first, beside heparin.", None),
        ("Is aspirin 300 mg given first in a heart attack?", "sentence"),
        ("x", "sentence"),
        ("In a heart attack option B is given first.", "letterless"),
        ("Aspirin 300 mg is given first in a heart attack: true.", "letterless"),
        ("In a heart attack aspirin is given first.", "option_said"),
        ("In a heart attack aspirin 75 mg is given first.", "option_said"),
        ("In a heart attack oxygen is given first.", "option_said"),
        ("In a heart attack aspirin 300 mg and not deficiency of aldolase B is given first.", "others_unsaid"),
    ],
)
def test_a_statement_must_say_its_option_and_no_other(text: str, rule: str | None) -> None:
    fault = statement_fault(source(), 1, text)
    assert (fault and fault[0]) == rule


def test_an_inflected_option_counts_as_said_and_chinese_needs_no_spaces() -> None:
    assert statement_fault(source(), 2, "In a heart attack the patient is deficient in aldolase B at first.") is None
    chinese = source(options=["髂内动脉", "腹主动脉", "股动脉"], question="睾丸动脉发自哪条血管？")
    assert statement_fault(chinese, 1, "睾丸动脉发自腹主动脉。") is None
    fault = statement_fault(chinese, 1, "睾丸动脉发自肾静脉。")
    assert fault is not None
    assert fault[0] == "option_said"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Warfarin 5 mg", None),
        ("Aspirin 150 mg", None),
        ("aspirin  75 MG.", "new"),
        ("Deficiencies of aldolase B", "new"),
        ("None of the above", "one_answer"),
        ("Both A and C", "one_answer"),
        ("Warfarin\nClopidogrel", "one_answer"),
        ("!", "one_answer"),
        ("Aspirin 300 mg intravenously", "beside_right"),
        ("300 mg", "beside_right"),
        (
            "A very long answer that explains at length why it is given first in all patients with pain",
            "alike_in_length",
        ),
    ],
)
def test_a_distractor_must_be_new_and_one_answer_of_its_kind(text: str, rule: str | None) -> None:
    fault = distractor_fault(source(), text)
    assert (fault and fault[0]) == rule


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (["Aspirin", "Heparin"], ""),
        (["Aspirin", "All of the above"], "whole_options"),
        (["Aspirin", "Neither A nor B"], "whole_options"),
        (["Aspirin", "1, 2 and 3"], "whole_options"),
        (["阿司匹林", "以上都不是"], "whole_options"),
        (["yes", "no", "maybe"], "worded"),
        (["是", "否"], "worded"),
    ],
)
def test_options_that_cannot_become_a_statement_are_left_out(options: list[str], rule: str) -> None:
    assert dropping_rule(source(right=0, options=options).item) == rule


def test_wrong_options_are_drawn_by_seed_and_are_wrong() -> None:
    drawn = [SourceQuestion.drawn(source().item, seed) for seed in range(40)]
    assert {one.false_option for one in drawn} == {one.offered for one in drawn} == {0, 2, 3}
    assert SourceQuestion.drawn(source().item, 7) == SourceQuestion.drawn(source().item, 7)
