"""The bundled cases hold what the scenarios, the baseline and the plots need, and give nothing away."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case, Lab, case_results
from wardround.scenarios.loaders.load import bundled, scan
from wardround.scenarios.loaders.oddities import in_case

BODY_SYSTEMS = {
    "Blood, Heart and Circulation",
    "Bones, Joints and Muscles",
    "Brain and Nerves",
    "Digestive System",
    "Ear, Nose and Throat",
    "Endocrine System",
    "Eyes and Vision",
    "Immune System",
    "Kidneys and Urinary System",
    "Lungs and Breathing",
    "Mouth and Teeth",
    "Skin, Hair and Nails",
    "Female Reproductive System",
    "Male Reproductive System",
}
DISORDERS = {
    "Cancers",
    "Infections",
    "Genetics/Birth Defects",
    "Injuries and Wounds",
    "Metabolic Problems",
    "Pregnancy and Reproduction",
    "Poisoning, Toxicology, Environmental Health",
    "Mental Health and Behavior",
    "Substance Use and Disorders",
    "Diabetes Mellitus",
    "Others",
}
REPORT_LINES = (
    "Patient Information",
    "Chief Complaint",
    "History of Present Illness",
    "Past Medical History",
    "Personal History",
    "Family History",
)


def read(name: str) -> tuple[Case, ...]:
    """All cases of one bundled set, each line read by the schema."""
    lines = [line for path in bundled(name) for line in path.read_text(encoding="utf-8").splitlines()]
    return tuple(Case.model_validate_json(line) for line in lines)


ADMISSIONS = read("admissions")
REPORTS = read("reports")
STATIONS = read("stations")
ALL = ADMISSIONS + REPORTS + STATIONS
BY_ID = {case.id: case for case in ALL}


@pytest.fixture(params=sorted(BY_ID))
def case(request: pytest.FixtureRequest) -> Case:
    return BY_ID[request.param]


@pytest.fixture(params=[case.id for case in ADMISSIONS])
def admission(request: pytest.FixtureRequest) -> Case:
    return BY_ID[request.param]


@pytest.fixture(params=[case.id for case in ADMISSIONS + STATIONS])
def charted(request: pytest.FixtureRequest) -> Case:
    """A case whose laboratory results are rows of a chart."""
    return BY_ID[request.param]


@pytest.fixture(params=[case.id for case in REPORTS])
def report(request: pytest.FixtureRequest) -> Case:
    return BY_ID[request.param]


def shown(case: Case) -> Iterator[tuple[str, str]]:
    """Each string a seat may come to see, with its field."""
    yield "opening", case.opening
    yield "complaint", case.complaint
    yield "ancillary", case.ancillary
    for section, text in case.history.items():
        yield f"history.{section}", f"{section}: {text}"
    for item in case_results(case):
        yield item.ref, f"{item.name} {item.text} {item.detail}"


def plain(text: str) -> str:
    """Lower-case words between single spaces, so that punctuation and line ends hide nothing."""
    words = re.findall(r"[^\W_]+", text.lower())
    return f" {' '.join(words)} "


def flag_by_range(lab: Lab) -> str | None:
    """The flag the range calls for; None where the value is no number."""
    number = re.fullmatch(r"([<>]?)(\d+(?:\.\d+)?)", lab.value)
    if number is None or lab.low is None or lab.high is None:
        return None
    value = float(number[2])
    if number[1] == "<":
        return "low" if value <= lab.low else "normal"
    if number[1] == ">":
        return "high" if value >= lab.high else None
    return "low" if value < lab.low else "high" if value > lab.high else "normal"


def test_sets_by_name() -> None:
    assert [path.name for path in bundled("all")] == ["admissions.jsonl", "reports.jsonl", "stations.jsonl"]
    assert bundled() == bundled("admissions") + bundled("reports") + bundled("stations")
    with pytest.raises(UsageError, match="choose one of: all, admissions, reports, stations, questions"):
        bundled("wards")


def test_counts_and_unique_ids() -> None:
    assert len(ADMISSIONS) >= 12
    assert len(REPORTS) >= 12
    assert len(STATIONS) >= 10
    assert len(BY_ID) == len(ALL)
    openings = Counter(plain(case.opening) for case in ALL)
    assert openings.most_common(1)[0][1] == 1


def test_admissions_come_in_groups_of_two_or_three() -> None:
    groups = Counter(case.group for case in ADMISSIONS)
    assert 4 <= len(groups) <= 6
    assert set(groups.values()) <= {2, 3}


def test_strata_are_varied() -> None:
    assert {system for case in ALL for system in case.category.body_systems} == BODY_SYSTEMS
    assert len({disorder for case in ALL for disorder in case.category.disorders}) >= 8
    assert Counter(case.category.rare for case in REPORTS).keys() == {True, False}
    assert min(Counter(case.category.rare for case in REPORTS).values()) >= 4


def test_runs_under_every_scenario(case: Case) -> None:
    assert len(case.opening) > 300
    assert case.complaint
    assert "\n" not in case.complaint
    assert len(case.history) >= 5
    assert {"History", "Past medical history", "Medications"} <= set(case.history)
    assert all(text.strip() for text in case.history.values())
    assert 4 <= len(case.examination) <= 8
    assert sum(item.kind != "examination" for item in case_results(case)) >= 4
    assert case.truth.diagnosis
    assert case.truth.treatment
    assert case.group == case.truth.diagnosis


def test_states_its_source_and_strata(case: Case) -> None:
    assert case.data_class == "public"
    assert case.provenance.source == "Wardround synthetic"
    assert case.provenance.record == case.id
    assert case.provenance.licence == "Apache-2.0"
    assert case.provenance.dated is not None
    assert case.category.body_systems
    assert set(case.category.body_systems) <= BODY_SYSTEMS
    assert case.category.disorders
    assert set(case.category.disorders) <= DISORDERS
    assert case.category.rare is not None


def test_truth_is_nowhere_to_be_read(case: Case) -> None:
    names = [case.truth.diagnosis, *case.truth.synonyms]
    found = []
    for field, text in shown(case):
        for name in names:
            # A long name may not even be part of a longer word; an abbreviation only counts as a word.
            if plain(name) in plain(text) or (len(name) > 4 and name.lower() in text.lower()):
                found.append((field, name))
    assert found == []


def test_id_does_not_name_the_disease(case: Case) -> None:
    assert re.fullmatch(r"w[ars]-\d{3}", case.id)


def test_truth_is_complete(case: Case) -> None:
    truth = case.truth
    assert truth.synonyms
    assert all(name.strip() == name and name for name in truth.synonyms)
    assert len({plain(name) for name in (truth.diagnosis, *truth.synonyms)}) == 1 + len(truth.synonyms)
    assert truth.codes
    assert all(re.fullmatch(r"ICD10CM:[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?", code) for code in truth.codes)
    for text in (truth.treatment, truth.differential, truth.reasoning):
        assert len(text) > 150
    assert len(re.findall(r"\.(?:\s|$)", truth.reasoning)) >= 4


def test_gold_can_order_everything(case: Case) -> None:
    """Each item has a name to ask for, and a section or an investigation is not named twice."""
    assert all(item.name.strip() and item.text.strip() for item in case_results(case))
    for kind in ("examination", "investigation", "imaging"):
        names = [item.name.lower() for item in case_results(case) if item.kind == kind]
        assert len(names) == len(set(names))


def test_admission_has_tests_of_each_kind(admission: Case) -> None:
    assert 15 <= len({lab.name for lab in admission.labs}) <= 30
    assert admission.microbiology
    assert 1 <= len(admission.imaging) <= 3
    assert admission.opening_source == "note"


def test_ranges_and_flags_agree(charted: Case) -> None:
    for lab in charted.labs:
        if lab.low is not None and lab.high is not None:
            assert lab.low < lab.high, lab.name
            assert lab.flag == flag_by_range(lab), (lab.name, lab.value)
        else:
            assert lab.flag == ("normal" if lab.value == "Negative" else "abnormal"), (lab.name, lab.value)


def test_an_admission_has_an_abnormal_value(admission: Case) -> None:
    assert any(lab.flag not in ("", "normal") for lab in admission.labs)


def test_earliest_result_of_a_test_comes_first(charted: Case) -> None:
    times = defaultdict(list)
    for lab in charted.labs:
        times[lab.name].append(datetime.fromisoformat(lab.time))
    assert all(found == sorted(set(found)) for found in times.values())
    for time in [culture.time for culture in charted.microbiology] + [study.time for study in charted.imaging]:
        assert datetime.fromisoformat(time)


def test_item_ids_and_units_are_one_to_one() -> None:
    ids, names, units = defaultdict(set), defaultdict(set), defaultdict(set)
    for lab in (lab for case in ADMISSIONS + STATIONS for lab in case.labs):
        assert lab.item_id is not None
        assert 50800 <= lab.item_id <= 52000
        ids[lab.name].add(lab.item_id)
        names[lab.item_id].add(lab.name)
        if flag_by_range(lab) is not None:
            units[lab.name].add(lab.unit)
    for culture in (culture for case in ADMISSIONS + STATIONS for culture in case.microbiology):
        assert culture.item_id is not None
        ids[culture.test].add(culture.item_id)
        names[culture.item_id].add(culture.test)
    assert all(len(found) == 1 for table in (ids, units) for found in table.values())
    assert all(len(found) == 1 for found in names.values())


def test_chemistry_is_consistent(charted: Case) -> None:
    """Anion gap, haematocrit and the blood gas follow from the values they are made of."""
    values: dict[str, dict[str, float]] = defaultdict(dict)
    for lab in charted.labs:
        if flag_by_range(lab) is not None and lab.value[0] not in "<>":
            values[lab.time][lab.name] = float(lab.value)
    for found in values.values():
        if "Anion Gap" in found:
            assert found["Anion Gap"] == found["Sodium"] - found["Chloride"] - found["Bicarbonate"]
        if "Hemoglobin" in found and "Hematocrit" in found:
            assert found["Hematocrit"] / found["Hemoglobin"] == pytest.approx(3, abs=0.2)
        if "pH" in found:
            gas: float = 24 * found["pCO2"] / 10 ** (9 - found["pH"])  # Henderson, in mmol/L
            assert gas == pytest.approx(found["Bicarbonate"], abs=2)


def test_report_opens_as_a_structured_summary_without_tests(report: Case) -> None:
    heads = re.findall(r"^- \*\*(.+?):\*\* \S", report.opening, flags=re.MULTILINE)
    assert tuple(heads) == REPORT_LINES
    assert "Ancillary" not in report.opening
    assert report.opening.count("\n") == len(REPORT_LINES) - 1


def test_report_tests_are_the_lines_of_its_ancillary_text(report: Case) -> None:
    head, *lines = report.ancillary.split("\n")
    assert head == "- **Ancillary Tests:**"
    assert lines == [f"  - **{test.name}:** {test.text}" for test in report.investigations]
    assert {test.normal for test in report.investigations} >= {True, False}


def test_written_as_one_plain_object_a_line() -> None:
    for path in bundled("all"):
        text = path.read_text(encoding="utf-8")
        assert text.endswith("}\n")
        assert "___" not in text
        for line in text.splitlines():
            assert isinstance(json.loads(line), dict)


def test_the_complaint_tells_age_and_sex(case: Case) -> None:
    """A doctor of a consultation sees the complaint alone, and would see who the patient is."""
    assert re.match(r"An? \d+-(?:year|month|week)-old (?:man|woman|boy|girl): ", case.complaint)


def test_no_bundled_case_is_odd(case: Case) -> None:
    assert list(in_case(case)) == []


def test_women_are_judged_by_the_ranges_of_women() -> None:
    wide = {("Hemoglobin", 17.5), ("Hematocrit", 51.0)}
    cases = [case for name in ("admissions", "reports", "stations") for case in read(name)]
    women = [case for case in cases if re.search(r"(?i)\b(?:woman|girl)\b", case.opening[:60])]
    assert len(women) > 10
    assert [(case.id, lab.name) for case in women for lab in case.labs if (lab.name, lab.high) in wide] == []


@pytest.mark.parametrize("path", bundled(), ids=lambda path: path.stem)
def test_a_run_need_not_look_for_mistakes_in_the_bundled_cases(path: Path) -> None:
    assert all(isinstance(item, Case) for item in scan(path))
