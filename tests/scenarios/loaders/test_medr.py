"""Case reports: what is withheld is cut at the first heading, word for word, and its lines can be asked for."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.scenarios.case import Case, open_report
from wardround.scenarios.loaders import medr
from wardround.scenarios.loaders.values import ReportParts, investigations, report_parts


def record(summary: str, **more: Any) -> dict[str, Any]:
    return {"generate_case": {"case_summary": summary, "diagnosis_results": "Sarcoma."}} | more


@pytest.mark.parametrize(
    "heading",
    [
        "- **Ancillary Tests:**",
        "- **Ancillary Tests**:  ",
        "- Ancillary Tests:",
        "**Ancillary Tests:**  ",
        "### Ancillary Tests",
        "1. Ancillary test results:",
    ],
)
def test_the_tests_stand_below_the_heading_and_not_in_the_opening(heading: str) -> None:
    before = "Give the results of ancillary tests.\n- Complaint: pain; Ancillary Tests unknown."
    case = medr.medr_case("P", record(f"{before}\n{heading}\n  - MRI: big"))
    assert case.opening == before
    assert case.ancillary.split("\n") == [heading, "  - MRI: big"]
    assert [(item.name, item.text) for item in case.investigations] == [("MRI", "big")]


def test_of_two_headings_the_first_counts() -> None:
    first, second = "- Ancillary Tests:\n  - CT: A", "#### Case 2\n- History: SECRET\n- Ancillary Tests:\n  - CT: B"
    case = medr.medr_case("P", record(f"Case 1\n{first}\n\n{second}"))
    assert case.opening == "Case 1"
    assert case.ancillary == f"{first}\n\n{second}"
    assert [(item.name, item.text) for item in case.investigations] == [("CT", "A"), ("CT (2)", "B")]


@given(st.text(alphabet="ab-*:# \n1.", max_size=60), st.text(alphabet="ab-*:# \n1.", max_size=60))
def test_any_report_keeps_its_words(before: str, after: str) -> None:
    text = f"x{before}\n- Ancillary Tests:\n{after}"
    case = medr.medr_case("P", record(text))
    assert [*case.opening.split(), *case.ancillary.split()] == text.split()
    names = [item.name.lower() for item in case.investigations]
    assert len(set(names)) == len(names)


def test_lines_become_investigations_with_names() -> None:
    text = """- **Ancillary Tests:**
  - **Blood Work:** Normal.
  - Imaging:
    - CT: mass
      - with necrosis
    - MRI: no mass
  - Negative PCR for herpes.
  2. Skin biopsy showed granulomas; culture grew nothing.
     over two lines
  - Blood work: repeated, high
---
- **Treatment:** TREATED
- **Autopsy Findings:**
  - heart failure"""
    assert [(item.name, item.text) for item in investigations(text)] == [
        ("Blood Work", "Normal."),
        ("Imaging", "CT: mass; with necrosis; MRI: no mass"),
        ("PCR", "Negative PCR for herpes."),
        ("Skin biopsy", "Skin biopsy showed granulomas; culture grew nothing.; over two lines"),
        ("Blood work (2)", "repeated, high"),
        ("Autopsy Findings", "heart failure"),
    ]
    assert investigations(text)[0].normal is True


def test_tests_on_the_line_of_the_heading() -> None:
    text = "- Ancillary Tests: Hemoglobin 10.2 g/dL. Cranial MRI revealed a loop; EEG was normal."
    assert [item.name for item in investigations(text)] == ["Hemoglobin", "Cranial MRI", "EEG"]
    below = "- **Ancillary Tests:** Brain MRI revealed:\n  - a mass\n  - a cyst"
    assert [(item.name, item.text) for item in investigations(below)] == [("Brain MRI revealed", "a mass; a cyst")]


@pytest.mark.parametrize(
    ("said", "meant"), [("2024-7-10", date(2024, 7, 10)), ("2024-9", date(2024, 9, 1)), ("", None), (None, None)]
)
def test_dates(said: str | None, meant: date | None) -> None:
    assert medr.medr_case("P", record("x", receive_time=said)).provenance.dated == meant


@pytest.mark.parametrize(("listed", "rare"), [([], False), (["Tuberculosis"], True), (None, None)])
def test_rare_is_yes_no_or_not_known(listed: list[str] | None, rare: bool | None) -> None:
    assert medr.medr_case("P", record("x", checked_rare_disease=listed)).category.rare is rare


def load(shared: Path, name: str) -> dict[str, tuple[dict[str, Any], Case]]:
    found = json.loads((shared / "data/medrbench" / name).read_text(encoding="utf-8"))
    return {key: (value, medr.medr_case(key, value)) for key, value in found.items()}


@pytest.mark.shared
def test_shared_diagnosis_cases(shared: Path) -> None:
    cases = load(shared, "diagnosis_cases.json")
    for key, (source, case) in cases.items():
        summary = source["generate_case"]["case_summary"]
        assert "ncillary Tests" not in case.opening, key
        assert "ncillary Tests" in case.ancillary.splitlines()[0]
        assert summary.strip("\n").startswith(case.opening)
        assert summary.strip("\n").endswith(case.ancillary)
        assert case.opening.split() + case.ancillary.split() == summary.split()
        assert case.truth.differential == source["generate_case"]["differential_diagnosis"].strip()
        assert case.truth.reasoning == source["generate_case"]["final_diagnosis"].strip()
        names = [item.name.lower() for item in case.investigations]
        assert names, key
        assert len(set(names)) == len(names)
        words = set(case.ancillary.replace("**", "").split())
        for item in case.investigations:
            assert {word.rstrip(";") for word in item.text.split()} <= {word.rstrip(";") for word in words}, key
    assert sum(case.category.rare is True for _, case in cases.values()) == 248
    assert cases["PMC11298319"][1].provenance.dated == date(2024, 7, 10)
    two = [key for key, (_, case) in cases.items() if case.ancillary.count("Ancillary Tests") == 2]
    assert two == ["PMC11453286", "PMC11487618"]
    for key in two:
        case = cases[key][1]
        assert "Case 2" not in case.opening
        assert "year-old" not in " ".join(item.text for item in case.investigations)


@pytest.mark.shared
def test_shared_treatment_cases(shared: Path) -> None:
    for source, case in load(shared, "treatment_cases.json").values():
        inner = source["generate_case"]
        assert case.opening == inner["case_summary"].strip("\n")
        assert case.truth.treatment == inner["treatment_plan_results"].strip()
        assert case.truth.reasoning == inner["treatment_planning_analysis"].strip()
        assert (case.truth.diagnosis, case.ancillary, case.investigations) == ("", "", ())
        assert case.truth.treatment not in case.opening


@pytest.mark.parametrize(
    "line",
    [
        "None performed.",
        "No ancillary tests were performed",
        "Not reported",
        "N/A",
        "None",
        "There were no further tests.",
    ],
)
def test_what_was_not_performed_is_no_test(line: str) -> None:
    assert investigations(f"- **Ancillary Tests:** {line}") == ()
    assert investigations(f"- Ancillary Tests:\n  - {line}") == ()
    found = investigations(f"- Ancillary Tests:\n  - CT: {line}\n  - MRI: no lesion was found")
    assert [one.name for one in found] == ["MRI"]


REPORT = """- **Patient Information:** 51-year-old woman
- **Chief Complaint:** Swelling of the left knee
- **History of Present Illness:**
  - Stiff in the morning for three weeks.
  - No fever.
- **Family History:** Not specified.
- **Personal History:** None.
- **Physical Examination:**
  - **Left knee:** Warm, effusion.
    - Flexion to 90 degrees.
  - No rash."""


def test_a_report_is_parted_for_encounters() -> None:
    """Who asks the patient hears the history, and who examines finds the body; marks and silent items are left out."""
    parts = report_parts(REPORT)
    assert parts.complaint == "51-year-old woman. Swelling of the left knee."
    assert parts.history == {
        "History of Present Illness": "Stiff in the morning for three weeks. No fever.",
        "Personal History": "None.",
    }
    assert [(part.section, part.text) for part in parts.examination] == [
        ("Left knee", "Warm, effusion; Flexion to 90 degrees"),
        ("Physical examination", "No rash."),
    ]


@pytest.mark.parametrize("text", ["", "A man of 40 with a cough.", "- Family History: not provided\n- Allergies: n/a"])
def test_a_report_without_a_history_has_no_parts(text: str) -> None:
    """The opening then stands for all, as before."""
    assert report_parts(text) == ReportParts()


def test_a_parted_report_is_disclosed_once() -> None:
    """The staged games show the report's own words, without its parts behind them."""
    case = medr.medr_case("P", record(REPORT))
    assert case.history
    assert case.examination
    assert open_report(case) == REPORT
