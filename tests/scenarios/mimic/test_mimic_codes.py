"""Codes, families, the map between the classifications, pools and body systems."""

from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.codes import AdmissionCode, Codes, body_system, code_synonyms, read_gem
from wardround.scenarios.mimic.pool import PoolDisease, own, read_pool, read_pool_file

POOL = (
    PoolDisease("Sepsis", (), ("A40", "A41"), ()),
    PoolDisease("Staphylococcal sepsis", (), ("A4101",), ()),
    PoolDisease("Gout"),
)
TITLES = {
    ("M109", 10): "Gout, unspecified",
    ("2749", 9): "Gout, unspecified",
    ("Z8639", 10): "Personal history of gout",
}
CODES = Codes(TITLES, POOL, {"99591": ("A419",)})


@pytest.mark.parametrize(
    ("code", "version", "names"),
    [
        ("A419", 10, ["Sepsis"]),
        ("A4101", 10, ["Staphylococcal sepsis"]),
        ("99591", 9, ["Sepsis"]),
        ("A419", 9, []),
        ("M109", 10, ["Gout"]),
        ("2749", 9, ["Gout"]),
        ("Z8639", 10, []),
    ],
)
def test_a_code_stands_for_the_disease_of_its_longest_family_else_of_its_title(
    code: str, version: int, names: list[str]
) -> None:
    assert [POOL[place].name for place in CODES.diseases_of(code, version)] == names


def test_every_disease_of_the_own_list_is_found_in_both_classifications() -> None:
    diseases = own().diseases
    codes = Codes({}, diseases, {})
    for place, disease in enumerate(diseases):
        for version, families in ((10, disease.icd10), (9, disease.icd9)):
            for family in families:
                assert codes.diseases_of(family, version) == (place,), f"{disease.name}: {family}"


def test_a_code_is_cited_with_its_dot() -> None:
    assert AdmissionCode(1, "K3580", 10).cited == "ICD10CM:K35.80"
    assert AdmissionCode(1, "5409", 9).cited == "ICD9CM:540.9"
    assert AdmissionCode(1, "E8889", 9).cited == "ICD9CM:E888.9"
    assert AdmissionCode(1, "486", 9).cited == "ICD9CM:486"


@pytest.mark.long
def test_titles_and_other_names_come_from_the_classification() -> None:
    assert CODES.title("K3580", 10) == "Unspecified acute appendicitis"
    assert CODES.title("5409", 9) == ""
    found = code_synonyms(AdmissionCode(1, "K3580", 10, "Unspecified acute appendicitis"))
    assert "acute appendicitis" in found
    assert not any("NOS" in name or "nspecified" in name for name in found)


@pytest.mark.parametrize("text", ["99591 A419 10000\n", "icd_9,icd_10,flags\n995.91,A41.9,10000\n"])
def test_a_map_is_read_in_both_its_forms(text: str, tmp_path: Path) -> None:
    (tmp_path / "map").write_text(text)
    assert read_gem(tmp_path / "map") == {"99591": ("A419",)}


def test_a_map_that_is_none_is_refused_by_its_row(tmp_path: Path) -> None:
    (tmp_path / "map").write_text("99591 A419 10000\nnonsense\n")
    with pytest.raises(UsageError, match="row 2: is no pair of codes"):
        read_gem(tmp_path / "map")


def test_a_list_of_names_is_completed_from_the_own_list(tmp_path: Path) -> None:
    (tmp_path / "pool.txt").write_text("heart failure\nGlass bones\n")
    known, unknown = read_pool_file(tmp_path / "pool.txt").diseases
    assert (known.name, known.icd10[0], "CHF" in known.synonyms) == ("heart failure", "I50", True)
    assert unknown == PoolDisease("Glass bones")


def test_a_csv_says_its_own_codes_and_may_have_more_columns(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("questions,disease,icd10,synonyms\n12,Gout,M10|M1A.0,podagra\n")
    (gout,) = read_pool_file(tmp_path / "pool.csv").diseases
    assert gout.icd10 == ("M10", "M1A0")
    assert gout.icd9 == ("274",)
    assert "podagra" in gout.synonyms


@pytest.mark.parametrize(
    ("text", "said"), [("", "names no disease"), ("gout\nGout\n", "line 2: 'Gout' is listed twice")]
)
def test_a_list_that_is_none_is_refused(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pool.txt").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_pool(str(tmp_path / "pool.txt"))
    with pytest.raises(UsageError, match="cannot be read"):
        read_pool(str(tmp_path / "gone.txt"))


@pytest.mark.parametrize(
    ("code", "version", "system"),
    [
        ("K3580", 10, "Digestive System"),
        ("5409", 9, "Digestive System"),
        ("I639", 10, "Brain and Nerves"),
        ("I509", 10, "Blood, Heart and Circulation"),
        ("J0190", 10, "Ear, Nose and Throat"),
        ("N401", 10, "Male Reproductive System"),
        ("Z9981", 10, "Others"),
        ("V4364", 9, "Others"),
        ("0539", 9, "Skin, Hair and Nails"),
    ],
)
def test_the_body_system_of_a_code(code: str, version: int, system: str) -> None:
    assert body_system(code, version) == system


def test_every_disease_of_the_own_list_has_a_body_system() -> None:
    without = {disease.name for disease in own().diseases if body_system(disease.icd10[0], 10) == "Others"}
    assert without == {"Opioid overdose", "Acetaminophen overdose"}
