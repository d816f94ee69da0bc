"""Whether a record answers an order by its own site, side, fluid, method and time, and with nothing else."""

import pytest

from wardround.scenarios.case import Case, Culture, Finding, Investigation, Lab, Provenance, Study, Truth, case_results
from wardround.scenarios.orders.chart import read_chart
from wardround.scenarios.orders.examiner_lookup import Answer, answer
from wardround.scenarios.orders.subject import read_subject


def record(
    opening: str = "Cough.",
    examination: dict[str, str] | None = None,
    reports: dict[str, str] | None = None,
    labs: tuple[Lab, ...] = (),
    cultures: tuple[Culture, ...] = (),
    studies: tuple[Study, ...] = (),
) -> Case:
    return Case(
        id="p1",
        opening=opening,
        examination=tuple(Finding(section=name, text=text) for name, text in (examination or {}).items()),
        investigations=tuple(Investigation(name=name, text=text) for name, text in (reports or {}).items()),
        labs=labs,
        microbiology=cultures,
        imaging=studies,
        truth=Truth(diagnosis="Pneumonia"),
        provenance=Provenance(source="written here"),
        data_class="public",
    )


def asked(case: Case, order: str, policy: str = "strict") -> tuple[Answer, ...]:
    return answer(read_chart(case_results(case), read_subject(case.opening)), order, policy=policy)


def said(case: Case, order: str, policy: str = "strict") -> str:
    """The texts of the answers, '' for what was not performed."""
    lines = asked(case, order, policy)
    return "; ".join(line.text for line in lines if line.state in ("reported", "normal"))


WHOLE = "Pale. Temperature 38.2 °C, BP 110/70. Systolic murmur. Crackles at both bases. Scaly plaques on the elbows."


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("skin exam", "Pale. Scaly plaques on the elbows."),
        ("cardiac exam", "Systolic murmur."),
        ("lung exam", "Crackles at both bases."),
        ("blood pressure", "Temperature 38.2 °C, BP 110/70."),
        ("abdominal exam", ""),
        ("breast exam", ""),
    ],
)
def test_a_part_is_answered_by_its_sentences_of_the_whole_examination(order: str, told: str) -> None:
    case = record(examination={"Physical examination": WHOLE})
    assert said(case, order) == (f"Physical examination: {told}" if told else "")


def test_a_label_decides_which_part_its_sentence_is_about() -> None:
    case = record(examination={"General examination": "Skin: no rash; Cardiovascular: no murmur; Abdomen: flank pain"})
    assert said(case, "cardiac exam") == "General examination: Cardiovascular: no murmur"
    assert said(case, "skin exam") == "General examination: Skin: no rash"


def test_another_part_is_no_answer_though_it_has_the_word() -> None:
    case = record(
        examination={"Neurological": "No neck stiffness.", "Obstetric": "Cervix closed.", "Vital signs": "RR 16"}
    )
    assert not said(case, "neck exam")
    assert not said(case, "pelvic exam")
    assert not said(case, "lung exam")


def test_vital_signs_answer_only_for_those_that_they_have() -> None:
    case = record(examination={"Vital signs": "Temperature: 39.6 °C; Heart rate: 116/min"})
    assert "116" in said(case, "pulse")
    assert not said(case, "respiratory rate")


def test_a_panel_of_labelled_parts_answers_only_for_these() -> None:
    case = record(examination={"Neurological examination": "Motor: normal strength; Reflexes: brisk"})
    assert said(case, "reflexes")
    assert not said(case, "sensory exam")


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong"),
    [
        ("Biopsy", "Nail biopsy shows spongiosis.", "nail biopsy", "skin biopsy"),
        ("CT-guided biopsy", "Adenocarcinoma of the lung.", "lung biopsy", "CT head"),
        (
            "Fine-needle aspiration cytology",
            "Malignant cells in a cervical lymph node.",
            "lymph node biopsy",
            "liver biopsy",
        ),
        ("Histopathology", "Ductal carcinoma of the breast.", "breast biopsy", "renal biopsy"),
    ],
)
def test_a_biopsy_is_of_the_site_that_its_report_names(name: str, text: str, right: str, wrong: str) -> None:
    case = record(reports={name: text})
    assert said(case, right)
    assert not said(case, wrong)


def test_a_study_without_a_region_is_of_what_the_case_is_about() -> None:
    case = record("Pain in the left shoulder. No chest pain.", reports={"Radiographs": "Normal"})
    assert said(case, "shoulder x-ray")
    assert not said(case, "chest x-ray")


@pytest.mark.parametrize(
    ("name", "text", "right", "wrong"),
    [
        ("Plain X-ray", "A lesion of the left femur.", "x-ray of the left femur", "x-ray of the right femur"),
        ("Other", "Echo and abdominal-pelvis CT negative.", "CT abdomen and pelvis", "CT head"),
        ("Calcium", "Normal; a thoraco-abdominal CT scan shows nodules.", "CT thorax", "MRI abdomen"),
        ("Abdominal ultrasound", "Stones.", "abdominal ultrasound", "pelvic ultrasound"),
        ("Pelvic ultrasound", "Cysts.", "pelvic ultrasound", "abdominal ultrasound"),
        ("Pelvic X-ray", "Dislocation.", "hip x-ray", "knee x-ray"),
    ],
)
def test_a_study_is_of_its_own_region_and_side(name: str, text: str, right: str, wrong: str) -> None:
    case = record(reports={name: text})
    assert said(case, right)
    assert not said(case, wrong)


@pytest.mark.parametrize(
    ("text", "right", "wrong"),
    [
        ("Monoclonal gammopathy on serum immunofixation.", "serum immunofixation", "urine immunofixation"),
        ("Rapid strep test of a throat swab (antigen) positive.", "rapid strep test", "throat culture"),
        ("Mild hyperglycemia and hyponatremia.", "glucose", "potassium"),
        ("Raised liver enzymes.", "ALT", "creatinine"),
        ("Pleural fluid: no malignant cells on cytology.", "pleural fluid cytology", "pericardial fluid cytology"),
        ("Thyroid function normal.", "TSH", "calcium"),
    ],
)
def test_a_mention_is_of_its_own_fluid_method_and_test(text: str, right: str, wrong: str) -> None:
    case = record(reports={"Laboratory": text})
    assert said(case, right)
    assert not said(case, wrong)


@pytest.mark.parametrize(
    "text",
    [
        "Pending 24-hour urine protein studies",
        "24-hour urine protein was planned",
        "24-hour urine protein not performed, as he went home",
        "24-hour urine protein: results are still pending.",
    ],
)
def test_what_is_awaited_or_was_not_done_is_no_result(text: str) -> None:
    assert not said(record(reports={"Urine protein of 24 hours": text}), "24-hour urine protein")


def test_what_is_recorded_of_a_panel_answers_for_no_test_that_it_leaves_out() -> None:
    case = record(reports={"Liver function": "SGPT 145 U/L, ALP 225 U/L"})
    assert said(case, "ALT")
    assert not said(case, "AST")
    assert said(record(reports={"Liver function": "Normal"}), "AST")


def test_a_serum_value_beside_a_puncture_is_of_the_blood() -> None:
    case = record(
        labs=(
            Lab(name="Lumbar puncture: CSF glucose", value="64", unit="mg/dL"),
            Lab(name="Lumbar puncture: Serum glucose", value="96", unit="mg/dL"),
        )
    )
    assert [line.refs for line in asked(case, "CSF glucose")] == [("labs[0]",)]
    assert [line.refs for line in asked(case, "serum glucose")] == [("labs[1]",)]


def test_gases_named_as_arterial_are_no_venous_gas() -> None:
    case = record(
        labs=(Lab(name="Blood gases: pH", value="7.3"), Lab(name="Blood gases: PaCO2", value="50", unit="mmHg"))
    )
    assert len(asked(case, "ABG")) == 2
    assert not said(case, "venous blood gas")


def test_the_temperature_of_a_gas_is_no_vital_sign() -> None:
    case = record(labs=(Lab(name="Blood gas: Temperature", value="31.1"),))
    assert not said(case, "body temperature")


def test_whole_blood_is_answered_by_its_own_name_in_whatever_order() -> None:
    case = record(
        labs=(
            Lab(name="Potassium", value="4", unit="mEq/L"),
            Lab(name="Blood gas: Potassium, Whole Blood", value="3.7", unit="mEq/L"),
        )
    )
    assert [line.refs for line in asked(case, "whole blood potassium")] == [("labs[1]",)]
    assert [line.refs for line in asked(case, "potassium")] == [("labs[0]",)]


def test_cultures_by_specimen_name_and_by_what_their_organisms_withstand() -> None:
    grown = Culture.model_validate(
        {
            "test": "TISSUE",
            "specimen": "TISSUE",
            "organism": "Staphylococcus aureus",
            "susceptibility": [{"antibiotic": "oxacillin", "result": "susceptible"}],
        }
    )
    case = record(cultures=(grown, Culture(test="Syphilis antibody screen", specimen="Blood", comment="Not reactive.")))
    assert [line.refs for line in asked(case, "tissue culture")] == [("microbiology[0]",)]
    assert [line.refs for line in asked(case, "susceptibility")] == [("microbiology[0]",)]
    assert [line.refs for line in asked(case, "syphilis test")] == [("microbiology[1]",)]


def test_a_repeated_panel_has_only_what_was_measured_again() -> None:
    case = record(
        labs=tuple(
            Lab(name=name, value="1", time=time)
            for name, time in (
                ("Urine: Glucose", "2026-01-01T08:00"),
                ("Urine: pH", "2026-01-01T08:00"),
                ("Urine: pH", "2026-01-04T08:00"),
            )
        )
    )
    refs = [line.refs[0] for line in asked(case, "urinalysis and repeat urinalysis")]
    assert refs == ["labs[0]", "labs[1]", "labs[2]"]


@pytest.mark.parametrize(
    "opening", ["A 29-year-old woman, 24 weeks into her first pregnancy.", "She is in her third trimester."]
)
def test_no_adult_normal_is_assumed_in_pregnancy_however_told(opening: str) -> None:
    assert [line.state for line in asked(record(opening), "TSH", "normal-default")] == ["not_performed"]


def test_no_normal_is_assumed_beside_a_report_that_speaks_against_it() -> None:
    case = record("A 45-year-old man.", reports={"CK levels": "CK levels >100,000 during acute episodes."})
    assert [line.state for line in asked(case, "LDH", "normal-default")] == ["not_performed"]
    assert [line.state for line in asked(case, "sodium", "normal-default")] == ["normal"]


LISTED = "CRP 12 mg/L, raised. Ferritin 900 ng/mL. Creatinine normal."


def test_an_order_gets_of_a_report_of_many_values_only_its_own() -> None:
    case = record(reports={"Laboratory tests": LISTED})
    assert said(case, "ferritin") == "Laboratory tests: Ferritin 900 ng/mL."
    assert said(case, "CRP") == "Laboratory tests: CRP 12 mg/L, raised."


def test_an_order_gets_of_a_report_of_many_studies_only_its_own() -> None:
    case = record(reports={"Imaging": "CT chest shows nodules. They are calcified.; MRI brain is normal."})
    assert said(case, "CT chest") == "Imaging: CT chest shows nodules. They are calcified."
    assert said(case, "MRI brain") == "Imaging: MRI brain is normal."
    assert not said(case, "MRI spine")
    assert not said(case, "CT head")


@pytest.mark.parametrize(
    ("opening", "order", "there"),
    [
        ("A mass of the left hand.", "x-ray of the left hand", True),
        ("A mass of the left hand.", "x-ray of the right hand", False),
        ("A mass of the hand.", "x-ray of the right hand", True),
    ],
)
def test_a_study_that_tells_no_side_is_of_the_side_of_the_case(opening: str, order: str, there: bool) -> None:
    case = record(opening, reports={"Radiograph": "A lesion of the 2nd metacarpal."})
    assert bool(said(case, order)) is there


def test_one_number_is_its_own_test_and_no_panel() -> None:
    case = record(labs=(Lab(name="PT", value="12", unit="seconds"),))
    assert said(case, "PT")
    assert not said(case, "INR")


@pytest.mark.parametrize(
    ("name", "value", "order"),
    [
        ("Natrium", "128", "sodium"),
        ("Leukozyten", "14,2", "WBC"),
        ("Hémoglobine", "12,1", "hemoglobin"),
        ("Glucosa", "99", "glucose"),
        ("血红蛋白", "120", "hemoglobin"),
    ],
)
def test_a_name_of_the_record_may_be_in_another_language(name: str, value: str, order: str) -> None:
    assert [line.refs for line in asked(record(labs=(Lab(name=name, value=value),)), order)] == [("labs[0]",)]


def test_cultures_and_studies_of_the_record_may_be_in_another_language() -> None:
    case = record(
        cultures=(Culture(test="Urinkultur", specimen="Urin", organism="E. coli"),),
        reports={"Röntgen Thorax": "Infiltrat rechts basal."},
        examination={"Haut": "Exanthem am Stamm"},
    )
    assert said(case, "urine culture")
    assert not said(case, "blood culture")
    assert said(case, "chest x-ray")
    assert said(case, "skin exam")


@pytest.mark.parametrize(
    ("value", "low", "high", "state"),
    [
        ("<0.01", 0, 0.01, "normal"),
        ("<5", None, 2, "reported"),
        ("<3", 4, 10, "reported"),
        (">4000", 0, 500, "reported"),
        (">60", 60, None, "normal"),
        ("≥ 90", 60, None, "normal"),
        ("1.0e2", 96, 108, "normal"),
        ("12-14", 10, 20, "reported"),
        ("trace", 0, 1, "reported"),
        ("5,3", 0, 5, "reported"),
    ],
)
def test_a_bound_is_normal_where_all_that_it_allows_is(
    value: str, low: float | None, high: float | None, state: str
) -> None:
    case = record(labs=(Lab(name="Ferritin", value=value, low=low, high=high),))
    assert [line.state for line in asked(case, "ferritin")] == [state]


def test_a_study_that_the_examination_tells_of_is_answered_by_that_sentence() -> None:
    case = record(examination={"Physical examination": "Burns of both arms. No injury of the airway at bronchoscopy."})
    assert said(case, "bronchoscopy") == "Physical examination: No injury of the airway at bronchoscopy."
    assert said(case, "skin exam") == "Physical examination: Burns of both arms."


def test_weight_is_among_the_vital_signs() -> None:
    case = record(examination={"Vital signs": "Pulse 80. Weight 118 kg, body mass index 37."})
    assert "118" in said(case, "BMI")


@pytest.mark.parametrize("order", ["CBC, " * 400, "sodium " * 4000, "x" * 50000, "(" * 3000, "and " * 5000])
def test_an_endless_order_of_an_empty_record_is_answered(order: str) -> None:
    assert all(line.state in ("not_performed", "unknown") for line in asked(record(), order))


def test_abbreviations_in_capitals_are_names_and_small_letters_are_not() -> None:
    case = record(
        examination={"Physical examination": "Atrial fibrillation on ECG."},
        reports={"Laboratory": "Prolonged PT (98 sec)."},
    )
    assert said(case, "ECG")
    assert said(case, "prothrombin time")
    assert not said(record(reports={"Laboratory": "Seen at the pt's home."}), "prothrombin time")


def test_a_part_is_found_below_a_label_of_another_in_its_panel() -> None:
    parts = "Limbs: Right arm strength: 4/5; Gait: ataxic; Coordination: poor"
    case = record(examination={"Neurological examination": parts})
    assert said(case, "motor exam")
    assert not said(case, "sensory exam")


def test_a_report_without_a_site_is_no_biopsy_of_what_the_case_does_not_name() -> None:
    case = record("A lump of the left breast.", reports={"Histopathology": "Fibrous tissue, no malignancy."})
    assert said(case, "breast biopsy")
    assert not said(case, "lymph node biopsy")
    assert not said(case, "skin biopsy")


def test_a_bare_swab_is_no_fluid() -> None:
    case = record(cultures=(Culture(test="ACID FAST SMEAR", specimen="SWAB", comment="None seen."),))
    assert said(case, "AFB smear")
    assert not said(case, "sputum AFB smear")
