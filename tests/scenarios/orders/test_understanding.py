"""Free text understood: what it orders, what it withholds, what stays ambiguous, and every example of the protocol."""

import pytest
from examples import first_ones
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.orders.catalogue import Catalogue, catalogue
from wardround.scenarios.orders.order_parser import Understood, repetition, understand


def read(text: str | list[str]) -> Understood:
    return understand(text, catalogue())


def ordered(text: str | list[str]) -> list[str]:
    return [order.link.test for order in read(text).orders]


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("CBC, BMP", ["Complete blood count", "Basic metabolic panel"]),
        ("CBC; BMP\nESR", ["Complete blood count", "Basic metabolic panel", "Erythrocyte sedimentation rate"]),
        ("1. CBC, 2. BMP", ["Complete blood count", "Basic metabolic panel"]),
        ("a) CBC b) BMP", ["Complete blood count", "Basic metabolic panel"]),
        ("- CBC\n* BMP\n• ESR", ["Complete blood count", "Basic metabolic panel", "Erythrocyte sedimentation rate"]),
        ("CBC and/or ESR", ["Complete blood count", "Erythrocyte sedimentation rate"]),
        ("Complete Blood Count (CBC), Urinalysis (UA)", ["Complete blood count", "Urinalysis"]),
        ("inflammatory markers (ESR, CRP)", ["Erythrocyte sedimentation rate", "C-reactive protein"]),
        ("CMP (incl. LFTs)", ["Comprehensive metabolic panel", "Liver function tests"]),
        ("creatnine, potasium, lipaze", ["Creatinine", "Potassium", "Lipase"]),
        ("e.g. CBC", ["Complete blood count"]),
        ("Vit. D, B12", ["Vitamin D", "Vitamin B12"]),
        ("C. difficile toxin, TSH", ["Clostridioides difficile toxin", "Thyroid-stimulating hormone"]),
        ("repeat troponin", ["Troponin"]),
        ("type and screen", ["Blood group"]),
        ("CT A/P with contrast", ["CT abdomen and pelvis"]),
        ("CXR", ["Chest radiograph"]),
        ("RUQ US", ["Right upper quadrant ultrasound"]),
        ("EKG", ["Electrocardiogram"]),
        ("protein C & S", ["Protein C", "Protein S"]),
        ("CSF studies: cell count, protein", ["CSF cell count", "CSF protein"]),
        ("urine Na, creatinine", ["Urine sodium", "Urine creatinine"]),
        ("MRI/MRA brain", ["MRI brain", "MR angiography: head"]),
        ('{"tests": ["CBC", "BMP"]}', ["Complete blood count", "Basic metabolic panel"]),
        ("CT head without contrast", ["CT head"]),
        ("CBC if possible", ["Complete blood count"]),
    ],
)
def test_a_text_is_understood(text: str, tests: list[str]) -> None:
    assert ordered(text) == tests


@pytest.mark.parametrize(
    ("text", "tests", "why"),
    [
        ("no CT needed", [], "negated"),
        ("hold off on MRI", [], "negated"),
        ("CBC, no BMP, LFTs", ["Complete blood count", "Liver function tests"], "negated"),
        ("No CT, MRI, or ultrasound", [], "negated"),
        ("We do not need an MRI, but order an EEG", ["Electroencephalogram"], "negated"),
        ("if negative, then MRI brain", [], "conditional"),
        ("CT head; if negative, LP", ["CT head"], "conditional"),
        ("CXR unless done elsewhere", [], "conditional"),
        ("consider CT head if he worsens", [], "conditional"),
        ("CBC and MRI brain if symptoms persist", ["Complete blood count"], "conditional"),
        ("MRI was already done, get an EMG", ["Electromyography"], "done"),
    ],
)
def test_what_orders_nothing_is_withheld_with_its_reason(text: str, tests: list[str], why: str) -> None:
    found = read(text)
    assert [order.link.test for order in found.orders] == tests
    assert {part.why for part in found.withheld} == {why}


def test_a_condition_cut_off_by_a_list_still_holds_its_consequence() -> None:
    assert ordered(["CT head", "if negative", "then MRI brain", "CBC"]) == ["CT head", "Complete blood count"]


@pytest.mark.parametrize(
    ("text", "candidates"), [("MRI", 0), ("labs", 0), ("ketones", 2), ("doppler", 3), ("further imaging", 0)]
)
def test_what_may_mean_several_tests_is_listed_and_not_guessed(text: str, candidates: int) -> None:
    found = read(text)
    (unclear,) = found.ambiguous
    assert not found.orders
    assert len(unclear.candidates) == candidates
    assert unclear.why


def test_every_ambiguous_word_names_tests_of_the_table() -> None:
    table = catalogue()
    for words, tests in table.ambiguous.items():
        assert set(tests) <= set(table.tests), words
        assert words not in table.names, f"{words} means one test already"


def test_every_match_says_its_rule_and_score() -> None:
    rules = {
        order.asked: (order.link.rule, order.link.score) for order in read("lipase, CBC, potasium, MRI toe").orders
    }
    assert rules["lipase"] == ("exact", 1.0)
    assert rules["CBC"] == ("synonym", 1.0)
    assert rules["MRI toe"][0] in ("region", "synonym")
    rule, score = rules["potasium"]
    assert rule == "fuzzy"
    assert 0.8 < score < 1


def test_a_panel_names_its_members() -> None:
    (panel,) = read("BMP").orders
    assert {"Sodium", "Creatinine"} <= set(panel.members)


def test_what_is_no_test_is_unknown() -> None:
    assert read("dragon titre, CBC").unknown == ("dragon titre",)


@pytest.mark.parametrize(
    ("text", "repeat"),
    [("troponin", ""), ("repeat troponin", "next"), ("troponin trend", "series"), ("serial lactate", "series")],
)
def test_a_request_says_which_measurement_it_wants(text: str, repeat: str) -> None:
    assert repetition(text) == repeat
    assert [order.repeat for order in read(text).orders] == [repeat]


@given(st.text(max_size=300))
def test_no_text_breaks_it_and_the_answer_is_stable(text: str) -> None:
    found = read(text)
    assert found == read(text)
    for order in found.orders:
        assert 0 < order.link.score <= 1


@pytest.mark.long
@pytest.mark.parametrize(
    "part", first_ones(["(a)", "a. A", "no ", "if x, ", "(", "a and ", '["a",', "in 3 ", "a should be "])
)
def test_a_run_away_text_is_read_up_to_a_limit(part: str) -> None:
    assert len(read(part * 20_000).phrases) <= 200


def test_a_table_of_ones_own_may_lack_the_tests_of_an_ambiguous_word() -> None:
    whole = catalogue()
    tests = {name: whole.tests[name] for name in ("Reticulocyte count", "Peripheral blood smear")}
    small = Catalogue(tests, whole.modalities, whole.regions, whole.ambiguous)
    assert understand("Reticulocyte count, smear", small).orders[0].link.test == "Reticulocyte count"
    assert understand("ketones", small).ambiguous


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("My plan is to get a colonoscopy.", ["Colonoscopy"]),
        ("This patient warrants a head CT.", ["CT head"]),
        ("For the infertility work-up I would ask for a semen analysis.", ["Semen analysis"]),
        ("US RUQ ?cholecystitis", ["Right upper quadrant ultrasound"]),
        ("CT head plain, CT c-spine", ["CT head", "CT: cervical spine"]),
        ("DEXA hip and spine", ["Bone densitometry"]),
        ("hold CT for now, just get US abdomen", ["Abdominal ultrasound"]),
        ("Start heparin and get a PTT in 6 hours.", ["Activated partial thromboplastin time"]),
        ("Ich hätte gern ein EKG und ein Troponin.", ["Electrocardiogram", "Troponin"]),
        (
            "Solicito hemograma y velocidad de sedimentación.",
            ["Complete blood count", "Erythrocyte sedimentation rate"],
        ),
    ],
)
def test_an_order_is_read_through_the_sentence_around_it(text: str, tests: list[str]) -> None:
    assert [order.link.test for order in understand(text, catalogue()).orders] == tests


def test_a_run_of_spaces_is_read() -> None:
    assert read(f"start{' ' * 19_000}x").orders == ()


@pytest.mark.parametrize(
    ("text", "asked", "test"),
    [
        ("left hand exam", "left hand exam", "Hand examination"),
        ("ciprofloxacin susceptibility of the urine culture", "urine culture", "Urine culture"),
        ("vancomycin sensitivity", "susceptibility testing", "Susceptibility testing"),
        ("mycobacterium PCR", "mycobacterium PCR", "Mycobacterium tuberculosis PCR"),
    ],
)
def test_the_side_of_an_examination_and_the_drug_of_a_culture_lose_no_order(text: str, asked: str, test: str) -> None:
    (order,) = understand(text, catalogue()).orders
    assert (order.asked, order.link.test) == (asked, test)
