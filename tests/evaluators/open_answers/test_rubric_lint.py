"""The faults of rubrics that need no judge: each class is planted, and rubrics without it are left alone."""

import pytest

from wardround.evaluators.open_answers.rubric_lint import Kind, lint
from wardround.scenarios.criteria import RubricItem


def rubric(*criteria: tuple[str, float]) -> list[RubricItem]:
    return [RubricItem(criterion=text, points=points) for text, points in criteria]


GOOD = (("Asks since when the pain lasts", 5.0), ("Recommends an electrocardiogram today", 7.0))


def kinds(*criteria: tuple[str, float]) -> set[str]:
    return {fault.kind for fault in lint(rubric(*criteria))}


@pytest.mark.parametrize(
    "text",
    [
        "Fails to ask about allergies",
        "The response incorrectly states the dose",
        "Omits the need for follow-up",
        "Dismisses the patient's worry",
        "未能询问过敏史",
        "Does not mention the risk of bleeding",
        "Recommends stopping insulin without medical supervision",
    ],
)
def test_a_fault_that_earns_points_has_the_wrong_sign(text: str) -> None:
    assert "sign" in kinds(*GOOD, (text, 4))
    assert "sign" not in kinds(*GOOD, (text, -4))


@pytest.mark.parametrize(
    "text",
    ["Correctly names the diagnosis", "Avoids prescribing antibiotics", "Advises to call an ambulance", "正确指出诊断"],
)
def test_a_virtue_that_costs_points_has_the_wrong_sign(text: str) -> None:
    assert "sign" in kinds(*GOOD, (text, -4))
    assert "sign" not in kinds(*GOOD, (text, 4))


@pytest.mark.parametrize(
    ("first", "second", "points"),
    [
        ("Recommends an electrocardiogram today", "The response recommends an electrocardiogram today.", 3.0),
        ("Names the dose of 5 mg", "names the dose of 5 MG", 5.0),
        ("建议今天做心电图检查", "建议今天做心电图检查。", 2.0),
    ],
)
def test_duplicates_are_found_by_their_words(first: str, second: str, points: float) -> None:
    assert "duplicate" in kinds((first, 5), (second, points))


def test_other_numbers_are_no_duplicate() -> None:
    assert kinds(("Names the dose of 5 mg", 5), ("Names the dose of 10 mg", 5)) == set()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Recommends antibiotics for the cough", 5.0), ("Does not recommend antibiotics for the cough", 5.0)),
        (("Recommends antibiotics for the cough", 5.0), ("Recommends antibiotics for the cough", -5.0)),
        (("Advises starting metformin today", 5.0), ("Advises stopping metformin today", 4.0)),
        (("Answers in fewer than 50 words", 3.0), ("Gives at least 200 words of advice", 3.0)),
    ],
)
def test_criteria_that_cannot_both_be_right_contradict(first: tuple[str, float], second: tuple[str, float]) -> None:
    assert "contradiction" in kinds(*GOOD, first, second)


@pytest.mark.parametrize(
    "text",
    [
        "Includes a photograph of the rash",
        "Mentions the family history and does not mention the family history",
        "Is between 9 and 4 sentences long",
        "Is fewer than 20 words and more than 100 words",
    ],
)
def test_a_criterion_that_no_answer_can_meet_is_found(text: str) -> None:
    assert "never_met" in kinds(*GOOD, (text, 4))


@pytest.mark.parametrize(
    "text", ["The response is not empty", "Contains words", "Responds", "Does not prescribe opioids"]
)
def test_a_criterion_that_any_text_or_a_blank_meets_is_found(text: str) -> None:
    assert "always_met" in kinds(*GOOD, (text, 4))


@pytest.mark.parametrize(
    "text", ["不推荐阿司匹林", "回答不应包含剂量", "避免使用抗生素", "No opioids and no benzodiazepines"]
)
def test_what_only_leaves_out_is_met_by_a_blank(text: str) -> None:
    assert "always_met" in kinds(*GOOD, (text, 4))


@pytest.mark.parametrize(
    "text",
    [
        "写明不要给孩子吃阿司匹林",
        "判断代偿合适，没有合并呼吸性失衡",
        "Gives no dose and says why",
        "把发热归入本人不存在的表现",
    ],
)
def test_what_must_be_put_into_words_is_not_met_by_a_blank(text: str) -> None:
    assert "always_met" not in kinds(*GOOD, (text, 4))


@pytest.mark.parametrize(
    ("criteria", "kind"),
    [
        ((), "empty"),
        ((("Recommends waiting a week", -5.0),), "penalties_only"),
        ((("Asks since when", 2.0), ("Recommends waiting a week", -5.0)), "points_sum"),
        ((*GOOD, ("?!", 2.0)), "says_nothing"),
    ],
)
def test_a_rubric_without_a_score_is_found(criteria: tuple[tuple[str, float], ...], kind: Kind) -> None:
    assert kinds(*criteria) == {kind}


def test_a_sound_rubric_has_no_fault() -> None:
    criteria = (
        *GOOD,
        ("States that chest pain with sweating may be a heart attack", 6.0),
        ("Recommends waiting until the next appointment", -8.0),
        ("Explains the risk of stopping aspirin without medical advice", 3.0),
        ("Names a dose of nitroglycerin", 2.0),
        ("Uses words that a layperson understands", 2.0),
    )
    assert lint(rubric(*criteria)) == []
