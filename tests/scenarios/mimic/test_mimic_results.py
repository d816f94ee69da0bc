"""Laboratory values and cultures as a case tells them, from rows of the tables."""

from datetime import datetime
from typing import Any

import pytest

from wardround.scenarios.case import Case, Provenance, Truth, case_results
from wardround.scenarios.mimic.record_items import CULTURE_COLUMNS, LAB_COLUMNS, LabItem, cultures, labs, labs_published

ITEMS = {1: LabItem("Glucose", "Blood", "Chemistry"), 2: LabItem("Glucose", "Urine", "Chemistry")}
AT = datetime(2150, 1, 2, 3, 4)


def lab(**given: Any) -> tuple[Any, ...]:
    row = {"itemid": 1, "charttime": AT, **given}
    return tuple(row.get(name) for name in LAB_COLUMNS)


def culture(**given: Any) -> tuple[Any, ...]:
    row = {"test_itemid": 7, "charttime": AT, "test_name": "Blood culture", "spec_itemid": 1, **given}
    return tuple(row.get(name) for name in CULTURE_COLUMNS)


@pytest.mark.parametrize(
    ("row", "value", "unit", "published"),
    [
        ({"value": "14.0", "valuenum": "14.0", "valueuom": "mg/dL"}, "14.0", "mg/dL", "14.0 mg/dL"),
        ({"value": "___", "valuenum": "14.50", "valueuom": "mg/dL"}, "14.5", "mg/dL", "14.5 mg/dL"),
        ({"value": ">1000", "valueuom": "mg/dL"}, ">1000", "mg/dL", ">1000 mg/dL"),
        ({"value": "___", "comments": "NEG.  "}, "NEG.", "", None),
        ({"value": "___", "flag": "abnormal"}, None, "", "abnormal"),
        ({"value": "Clear"}, "Clear", "", "Clear"),
        ({"comments": "HEMOLYZED"}, "HEMOLYZED", "", "HEMOLYZED"),
        ({"value": "___", "comments": "___"}, None, "", None),
        ({}, None, "", None),
    ],
)
def test_the_value_of_a_row(row: dict[str, Any], value: str | None, unit: str, published: str | None) -> None:
    found = labs([lab(**row)], ITEMS)
    assert [(one.value, one.unit) for one in found] == ([(value, unit)] if value else [])
    if published is not None:
        (one,) = labs_published([lab(**row)], ITEMS)
        assert f"{one.value} {one.unit}".strip() == published
        assert (one.low, one.high, one.flag) == (None, None, "")


def test_range_flag_time_and_item_are_kept() -> None:
    (one,) = labs([lab(value="250", ref_range_lower=70.0, ref_range_upper=105.0, flag="abnormal")], ITEMS)
    assert (one.low, one.high, one.flag, one.item_id) == (70.0, 105.0, "abnormal", 1)
    assert one.time == "2150-01-02T03:04:00"


def test_what_is_not_blood_has_its_fluid_before_it() -> None:
    assert [one.name for one in labs([lab(value="1"), lab(value="1", itemid=2)], ITEMS)] == [
        "Glucose",
        "Urine: Glucose",
    ]
    assert LabItem("pH", "Blood", "Blood Gas").name == "Blood gas: pH"
    assert LabItem("Protein, CSF", "Cerebrospinal Fluid").name == "Protein, CSF"
    assert labs([lab(value="1", itemid=99)], ITEMS) == ()


def test_organisms_of_one_culture_are_one_result() -> None:
    rows = [culture(org_name="E. COLI"), culture(org_name="KLEBSIELLA"), culture(org_name="E. COLI")]
    (one,) = cultures(rows)
    assert one.organism == "E. COLI, KLEBSIELLA"


def test_another_specimen_or_time_is_another_result_and_nothing_said_is_none() -> None:
    later = datetime(2150, 1, 3)
    rows = [
        culture(comments="No growth."),
        culture(spec_itemid=2, comments="No growth."),
        culture(charttime=later, comments="___"),
        culture(charttime=later, spec_itemid=2),
    ]
    assert [(one.comment, one.organism) for one in cultures(rows)] == [("No growth.", "")] * 2


def test_an_antibiogram_belongs_to_its_culture_and_is_read_to_the_doctor() -> None:
    tested = [
        ("AMPICILLIN", "R", ">=32"),
        ("CEFTRIAXONE", "S", "<=1"),
        ("CEFTRIAXONE", "S", "<=1"),
        ("COLISTIN", "P", ""),
    ]
    rows = [
        culture(org_name="E. COLI", ab_name=drug, interpretation=reading, dilution_text=concentration)
        for drug, reading, concentration in tested
    ]
    (one,) = cultures([*rows, culture(org_name="E. COLI")])
    found = [(part.organism, part.antibiotic, part.result, part.concentration) for part in one.susceptibility]
    assert found == [("", "AMPICILLIN", "resistant", ">=32"), ("", "CEFTRIAXONE", "susceptible", "<=1")]
    case = Case(
        id="a", opening="x", truth=Truth(diagnosis="x"), provenance=Provenance(source="x"), data_class="public",
        microbiology=(one,),
    )  # fmt: skip
    assert case_results(case)[0].text == (
        "Blood culture at 2150-01-02 03:04: E. COLI; resistant to AMPICILLIN (MIC >=32); "
        "susceptible to CEFTRIAXONE (MIC <=1)"
    )


def test_antibiograms_of_two_organisms_are_told_apart() -> None:
    rows = [
        culture(org_name="E. COLI", ab_name="CEFTRIAXONE", interpretation="S"),
        culture(org_name="ENTEROCOCCUS SP.", ab_name="VANCOMYCIN", interpretation="R"),
    ]
    (one,) = cultures(rows)
    assert [(part.organism, part.antibiotic) for part in one.susceptibility] == [
        ("E. COLI", "CEFTRIAXONE"),
        ("ENTEROCOCCUS SP.", "VANCOMYCIN"),
    ]
