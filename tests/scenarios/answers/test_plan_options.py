"""What a plan leaves open, keeps in reserve or only considers is not given; what it decides is."""

import pytest
from examples import first_ones

from wardround.scenarios.answers.treatment import compare_plan, read_plan
from wardround.scenarios.case import Truth

FIRST, SECOND = "thymectomy", "eculizumab infusion"

UNDECIDED = [
    "Option 1: {}. Option 2: {}.",
    "Strategy A = {}\nStrategy B = {}",
    "Scenario one is {}, scenario two is {}",
    "Variante 1: {}; Variante 2: {}",
    "方案一：{}；方案二：{}",
    "{}. Alternatively, {}.",
    "{} (alternative: {})",
    "{}, alternativement {}",
    "{}, sinon {}",
    "{} xor {}",
    "{} eller {}",
    "{} o {}",
    "Possible options: {}, {}",
    "One of: {}; {}",
    "Choose between {} and {}",
    "1) {} 2) {}: pick one",
    "Depending on the antibodies: {}, {}",
    "Consider {}. Consider {}.",
    "{} is acceptable, as is {}",
    "Possibly {}; possibly {}",
]


@pytest.mark.parametrize("words", UNDECIDED)
def test_plans_to_choose_from_decide_nothing(words: str) -> None:
    plan = words.format(FIRST, SECOND)
    for truth in (FIRST, SECOND):
        verdict = compare_plan(plan, Truth(treatment=truth.capitalize()))
        assert not verdict.match
        assert verdict.reason == "several_answers"


RESERVED = [
    "First line: {}. Second line: {}.",
    "First-line {}, second-line {}",
    "{} (second choice {})",
    "Erste Wahl {}, zweite Wahl {}",
    "Plan A: {}\nPlan B: {}",
    "{}, failing that {}",
    "{}, à défaut {}",
    "{}; en caso de fracaso: {}",
    "{}, bei Versagen {}",
    "{}. If there is no response: {}. Repeat it after a month.",
    "{}, {} on standby",
    "{} with {} as backup",
    "{}. Contingency: {}",
    "{}; keep {} in reserve",
    "{} preferred, {} acceptable",
    "{}; {} is another option",
    "{}; {} could be tried",
    "{}; may consider {}",
    "{}\n\n## Consider\n{}",
    "{}, perhaps {}",
    "{} ± {}",
    "{} with or without {}",
    "{}, optionally {}",
    "{}, depending on the titre {}",
    "{}\n**Rationale:** {}",
    "{}. Begründung: {}",
    "{}\nLater: {}",
    "Therapeutic trial of {}, then of {}",
    "Diagnostic trial of {}; then {}",
    "Option 1: {}. Option 2: {}. We choose option 1.",
]


@pytest.mark.parametrize("words", RESERVED)
def test_what_is_in_reserve_considered_or_said_as_grounds_is_not_given(words: str) -> None:
    plan = words.format(FIRST, SECOND)
    assert compare_plan(plan, Truth(treatment=FIRST.capitalize())).match
    assert not compare_plan(plan, Truth(treatment=SECOND.capitalize())).match
    shown = compare_plan(plan, Truth(treatment="Rest in bed")).committed
    assert "eculizumab" not in shown, "a judge is shown what is given"


@pytest.mark.parametrize(
    "plan",
    [
        "Second-line chemotherapy with docetaxel",
        "Continue prednisolone and start second-line therapy with docetaxel",
        "Plan 3 cycles of docetaxel",
        "**Rationale:** the tumour has spread.\n\nDocetaxel",
        "1. Rationale: the tumour has spread.\n2. Docetaxel",
        "## Rationale\nSurgery is too risky.\n## Treatment\nDocetaxel",
        "Note: the tumour has spread. Plan: docetaxel",
        "Docetaxel as an alternative to surgery",
        "Docetaxel should be considered",
        "Docetaxel is an option",
        "Docetaxel, possibly radiotherapy",
        "Keep dexamethasone on standby. Give docetaxel.",
        "Docetaxel; antiemetics (ondansetron, alternatively granisetron)",
        "Treatment options were discussed. Docetaxel is chosen.",
        "Step 1: premedication. Step 2: docetaxel",
        "<think>Perhaps cisplatin.</think>Docetaxel",
    ],
)
def test_a_plan_that_is_decided_in_such_words_is_given(plan: str) -> None:
    assert compare_plan(plan, Truth(treatment="Docetaxel")).match


@pytest.mark.parametrize("plan", ["<think>{}</think>{}", "{}</think>{}", "<Reasoning>{} or not</Reasoning>\n{}"])
def test_thoughts_before_a_plan_are_no_part_of_it(plan: str) -> None:
    said = plan.format(FIRST, SECOND)
    assert not compare_plan(said, Truth(treatment=FIRST.capitalize())).match
    assert compare_plan(said, Truth(treatment=SECOND.capitalize())).match


def test_a_truth_that_considers_a_measure_asks_for_no_more_than_that() -> None:
    truth = Truth(treatment="Surgery; consider radiotherapy")
    assert compare_plan("Surgery", truth).match
    assert [one.text for one in read_plan(truth.treatment).considered] == ["radiotherapy"]
    assert compare_plan("Surgery and consider radiotherapy", truth).share == 1.0


def test_sides_are_not_one_choice() -> None:
    truth = Truth(treatment="Left nephrectomy")
    assert compare_plan("Left nephrectomy or right nephrectomy", truth).reason == "several_answers"


def test_a_comma_within_the_name_of_a_drug_ends_no_measure() -> None:
    assert not compare_plan("Pyridostigmine or 3,4-diaminopyridine", Truth(treatment="Pyridostigmine")).match


@pytest.mark.parametrize(
    "part", first_ones(["\n1. note: ", "x is optional, ", "± a, ", "option 1: ", "trial of ", "<think>"], 2)
)
def test_a_long_plan_of_such_words_is_read(part: str) -> None:
    """Ends at all: quadratic work would outlast the time limit of a test."""
    plan = read_plan("Give aspirin.\n" + part * (200_000 // len(part)))
    assert plan.started[0].text == "Give aspirin"


def test_several_guesses_decide_nothing() -> None:
    assert read_plan("possibly colchicine, possibly surgery for the knee").options
    assert [one.text for one in read_plan("Colchicine, maybe surgery for the knee").started] == ["Colchicine"]


def test_what_is_considered_is_a_treatment_and_reaches_over_its_brackets() -> None:
    plan = read_plan("Rest. Consider testing for gout with an aspiration (polarised light) of the knee.")
    assert [one.text for one in plan.started] == ["Rest"]
