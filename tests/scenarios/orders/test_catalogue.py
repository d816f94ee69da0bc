"""The table of tests: it holds together, and a user's points replace its own."""

from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.orders.catalogue import catalogue, read_test_names
from wardround.scenarios.orders.order_reading import read_order
from wardround.scenarios.terms.wording import key


def test_the_table_is_whole() -> None:
    table = catalogue()
    assert len(table.tests) >= 260
    for test in table.tests.values():
        assert set(test.members) <= set(table.tests), test.name
        assert test.name not in table.below.get(test.name, ()), test.name
        assert test.points > 0, test.name
        assert not test.modality or test.modality in table.modalities, test.name
        assert set(test.regions) <= set(table.regions), test.name
        assert test.low is None or test.high is None or test.low < test.high, test.name
    assert table.tests["Complete blood count"].points == 1


def test_every_name_leads_to_its_own_test_and_no_synonym_to_two() -> None:
    table, seen = catalogue(), dict[str, str]()
    for test in table.tests.values():
        assert table.names[key(test.name)] == test.name
        for synonym in test.synonyms:
            assert seen.setdefault(key(synonym), test.name) == test.name, synonym


def test_a_panel_holds_what_its_members_hold() -> None:
    below = catalogue().below["Complete blood count"]
    assert {"Hemoglobin", "White cell differential", "Eosinophils"} <= below
    assert "Albumin" in catalogue().below["Comprehensive metabolic panel"]


def test_a_users_points_replace_by_any_name() -> None:
    table = catalogue().priced("name,points\nCXR,7\ntroponin T,0.25\n", "own.csv")
    assert table.tests["Chest radiograph"].points == 7
    assert table.tests["Troponin T"].points == 0.25
    assert catalogue().tests["Chest radiograph"].points != 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,points\nno such test,3\n", "own.csv, line 2: no test is called 'no such test'"),
        ("CXR,dear\n", "own.csv, line 1: points must be a number"),
        ("CXR,-1\n", "own.csv, line 1: points must be a number"),
        ("CXR,inf\n", "own.csv, line 1: points must be a number"),
        ("CXR\n", "own.csv, line 1: write name,points"),
    ],
)
def test_a_wrong_line_is_named(text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        catalogue().priced(text, "own.csv")


def test_what_lies_within_what_has_an_end() -> None:
    for words in (catalogue().modalities, catalogue().regions):
        for name in words:
            wider = [name]
            while (name := words[wider[-1]].within) in words:
                assert name not in wider, wider
                wider.append(name)


LOINC = """"LOINC_NUM","COMPONENT","SYSTEM","CLASS","LONG_COMMON_NAME","SHORTNAME"
"1","Sodium","Urine","CHEM","Sodium in Urine, made up","Na Ur-made"
"2","Blorbase","Ser/Plas","CHEM","Blorbase activity in Serum","Blorbase SerPl-made"
"3","Blorbase","Synv fld","CHEM","Blorbase in Synovial fluid","Blorbase Snv-made"
"4","Glorbovirus DNA","XXX","MICRO","Glorbovirus DNA by probe","Glorbo DNA-made"
"""


@pytest.mark.parametrize(
    ("order", "test", "kind"),
    [
        ("Na Ur-made", "Urine sodium", "lab"),
        ("Blorbase", "Blorbase activity in Serum", "lab"),
        ("Blorbase Snv-made", "Blorbase in Synovial fluid", "lab"),
        ("Glorbo DNA-made", "Glorbovirus DNA by probe", "microbiology"),
        ("sodium", "Sodium", "lab"),
    ],
)
def test_loincs_own_table_plugs_in(tmp_path: Path, order: str, test: str, kind: str) -> None:
    (tmp_path / "Loinc.csv").write_text(LOINC)
    table = catalogue(read_test_names(tmp_path / "Loinc.csv"))
    (piece,) = read_order(order, table).pieces
    assert [(one.name, one.kind) for one in piece.concepts] == [(test, kind)]
    assert read_order(order).pieces[0].status == ("matched" if order == "sodium" else "unknown")


def test_a_loinc_table_without_its_columns_is_refused(tmp_path: Path) -> None:
    (tmp_path / "Loinc.csv").write_text("LOINC_NUM,COMPONENT\n1,Sodium\n")
    with pytest.raises(UsageError, match="long_common_name"):
        read_test_names(tmp_path / "Loinc.csv")
