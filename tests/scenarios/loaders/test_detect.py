"""Any file is either read or refused with its name, line and field."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wardround.engine.errors import UsageError
from wardround.scenarios.case import Case
from wardround.scenarios.loaders import load as own
from wardround.scenarios.loaders.load import load, problems, scan
from wardround.scenarios.loaders.source import Problem

OWN: dict[str, Any] = {
    "id": "a",
    "opening": "Cough for two days.",
    "truth": {"diagnosis": "Pneumonia"},
    "provenance": {"source": "test"},
    "data_class": "public",
}
OSCE: dict[str, Any] = {
    "OSCE_Examination": {
        "Objective_for_Doctor": "Assess the patient.",
        "Patient_Actor": {"Demographics": "30-year-old", "History": "Cough."},
        "Correct_Diagnosis": "Asthma",
    }
}
MEDR: dict[str, Any] = {
    "P1": {
        "generate_case": {
            "case_summary": "- Chief Complaint: Cough.\n- Ancillary Tests:\n  - CT: mass.",
            "diagnosis_results": "Lung cancer.",
        }
    }
}


def write(folder: Path, *records: Any, name: str = "cases.jsonl") -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def refused(path: Path) -> str:
    """What `load` says; `problems` must say the same first thing."""
    with pytest.raises(UsageError) as caught:
        list(load(path))
    assert str(path) in str(caught.value)
    found = problems(path)
    assert found
    assert found[0].message in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize(("record", "case_id"), [(OWN, "a"), (OSCE, "osce-001"), (MEDR, "P1")])
def test_the_content_says_which_format_it_is_plain_packed_and_marked(tmp_path: Path, record: Any, case_id: str) -> None:
    path = write(tmp_path, record, name="x.dat")
    plain = [case.id for case in load(path)]
    packed = tmp_path / "y"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    marked = tmp_path / "z"
    marked.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert plain == [case.id for case in load(packed)] == [case.id for case in load(marked)] == [case_id]
    assert problems(path) == ()


@pytest.mark.parametrize("record", [OWN, OSCE])
def test_records_may_be_lines_or_a_list_or_objects_over_several_lines(tmp_path: Path, record: Any) -> None:
    records = [record | ({"id": name} if record is OWN else {}) for name in "abc"]
    path = write(tmp_path, *records)
    lines = list(load(path))
    for text in (
        json.dumps(records),
        json.dumps(records, indent=2),
        "\n\n" + "\n\n".join(json.dumps(one, indent=4) for one in records),
    ):
        path.write_text(text)
        assert list(load(path)) == lines
    path.write_text(json.dumps(records[0], indent=2))
    assert list(load(path)) == lines[:1]


@given(st.lists(st.sampled_from(["fine", "no truth", "NaN", "a key twice"]), min_size=2, max_size=4), st.booleans())
def test_a_fault_in_a_list_has_the_line_on_which_its_case_begins(
    tmp_path_factory: pytest.TempPathFactory, kinds: list[str], listed: bool
) -> None:
    texts, begins, line = [], [], 1 + listed
    for place, kind in enumerate(kinds):
        record = OWN | {"id": f"c{place}", "opening": float("nan") if kind == "NaN" else "Cough."}
        if kind == "no truth":
            del record["truth"]
        text = json.dumps(record, indent=1)
        texts.append(text.replace('"data_class"', '"id": "x", "data_class"') if kind == "a key twice" else text)
        begins.append(line)
        line += text.count("\n") + 2
    path = tmp_path_factory.mktemp("listed") / "cases.json"
    path.write_text("[\n" + ",\n\n".join(texts) + "\n]" if listed else "\n\n".join(texts))
    faulty = [line for line, kind in zip(begins, kinds, strict=True) if kind != "fine"]
    assert [problem.line for problem in problems(path)] == faulty


def test_medr_may_be_on_one_line_or_many(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(MEDR, indent=2))
    assert [case.id for case in load(path)] == ["P1"]


def test_all_faults_of_a_line_come_at_once_and_problems_has_every_line(tmp_path: Path) -> None:
    bad = OWN | {"id": "b", "labs": [{"name": "Na", "value": 3, "colour": "red"}], "data_class": "secret"}
    path = write(tmp_path, OWN, bad, OWN | {"id": "c", "truth": None})
    said = refused(path)
    for field in ("labs[0].value", "labs[0].colour", "data_class"):
        assert f"line 2, case b, field {field}" in said
    assert "line 3" not in said
    assert "cases check" in said
    assert {(p.line, p.field) for p in problems(path)} == {
        (2, "labs[0].value"),
        (2, "labs[0].colour"),
        (2, "data_class"),
        (3, "truth"),
    }
    assert [item.id for item in scan(path) if isinstance(item, Case)] == ["a"]


def test_cases_before_a_fault_are_streamed(tmp_path: Path) -> None:
    stream = load(write(tmp_path, OWN, OWN | {"id": ""}))
    assert next(stream).id == "a"
    with pytest.raises(UsageError, match="line 2, field id: must not be empty"):
        next(stream)


def test_a_half_written_last_line_is_told_from_a_broken_one(tmp_path: Path) -> None:
    path = write(tmp_path, OWN, OWN | {"id": "b"})
    whole = path.read_text()
    path.write_text(whole[:-20])
    assert "line 2: the last line breaks off" in refused(path)
    path.write_text(whole.replace('"b"', "b"))
    assert "line 2: is not one JSON object" in refused(path)


def test_a_broken_first_line_does_not_hide_the_others(tmp_path: Path) -> None:
    path = write(tmp_path, OWN, OWN | {"id": "b"}, OWN | {"id": "c", "rare": True})
    path.write_text(path.read_text()[1:])
    assert [(p.line, p.field) for p in problems(path)] == [(1, ""), (3, "rare")]


def test_the_same_id_twice(tmp_path: Path) -> None:
    assert "line 3, case a, field id: the case on line 1 has the same id" in refused(
        write(tmp_path, OWN, OWN | {"id": "b"}, OWN)
    )
    path = tmp_path / "m.json"
    path.write_text(json.dumps(MEDR)[:-1] + "," + json.dumps(MEDR)[1:])
    assert "'P1' is given twice" in refused(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b" \n\n", "blank lines"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary"),
        (json.dumps(OWN).encode("utf-16"), "UTF-16"),
        (b"id,opening\n1,cough\n", "this is not JSON"),
        (b'{"a": 1}\n', "no known format (its keys: a)"),
        (
            b'{"question": "x", "answers": []}\n{"question": "y"}\n',
            "is JSON Lines (one value a line) of no known format (its keys: answers, question)",
        ),
        (b'{"quest": 1, "answer": 2}\n{"answer": 1}\n', "known formats: choice questions JSONL"),
        (b'{"a": 1}\n{"a": 2}\n', "docs/cases.md has what each looks like"),
        (b"[1]\n[2]\n", "is JSON Lines (one value a line) of no known format"),
        (b'[{"chess": 1}]', "line 1: is a JSON list of no known format (its keys: chess)"),
        (b"[]", "is a JSON list"),
        (b"\n[\n" + json.dumps(OWN).encode() + b"\n{}]", "line 4: expecting ',' delimiter at column 1; the JSON is"),
        (b"- id: a\n  opening: Cough\n", "is YAML, and case files are JSON. Convert it"),
        (b"---\nid: a\n", "is YAML"),
        (b"17\n", "is JSON of no known format"),
        (b'{"chess": 1}', "no known format"),
        (json.dumps(MEDR, indent=1).encode()[:-9], "damaged or cut off"),
        (gzip.compress(json.dumps(OWN).encode(), mtime=0)[:-9], "gzip"),
        (b"\x1f\x8bnot gzip", "gzip"),
        (json.dumps(OWN).encode() + b"\n" + '{"id": "\u00e9"}'.encode("latin-1"), "line 2: byte 0xe9 at column 9"),
        (json.dumps(OWN | {"labs": [{"name": "Na", "value": "3", "low": float("nan")}]}).encode() + b"\n", "line 1"),
        (json.dumps(OWN | {"opening": " \t"}).encode(), "field opening: must not be blank"),
        (b'{"id": "\\ud800", "opening": "x"}\n', "line 1"),
        (b'{"id": ' + b"[" * 5000, "line 1"),
    ],
)
def test_what_is_no_case_file_is_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "cases"
    path.write_bytes(content)
    assert said in refused(path)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    assert "folder" in refused(tmp_path)
    assert "cannot be opened" in refused(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"Correct_Diagnosis": " "}, "Correct_Diagnosis"),
        ({"Objective_for_Doctor": 3}, "Objective_for_Doctor"),
        ({"Patient_Actor": None}, "Patient_Actor"),
        ({"Patient_Actor": {"History": ""}}, "Patient_Actor"),
        ({"Test_Results": ["CT"]}, "Test_Results"),
    ],
)
def test_a_station_with_a_fault(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    station = {"OSCE_Examination": OSCE["OSCE_Examination"] | change}
    assert f"line 2, field OSCE_Examination.{field}" in refused(write(tmp_path, OSCE, station))


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"generate_case": None}, "generate_case"),
        ({"generate_case": {"case_summary": "x"}}, "generate_case"),
        ({"generate_case": {"diagnosis_results": "x"}}, "generate_case.case_summary"),
        ({"generate_case": {"case_summary": 7, "diagnosis_results": "x"}}, "generate_case.case_summary"),
        ({"generate_case": {"case_summary": "- Ancillary Tests: x", "diagnosis_results": "x"}}, "case_summary"),
        ({"receive_time": "soon"}, "receive_time"),
        ({"receive_time": "2024-13-1"}, "receive_time"),
        ({"body_category": "Brain"}, "body_category"),
    ],
)
def test_a_report_with_a_fault_is_named_by_line_and_id(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps(MEDR | {"P2": MEDR["P1"] | change}, indent=1))
    line = path.read_text().split("\n").index(' "P2": {') + 1
    said = refused(path)
    assert f"line {line}, case P2" in said
    assert field in said


@given(st.binary(max_size=300))
def test_no_bytes_raise_anything_else(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("bytes") / "cases"
    path.write_bytes(content)
    assert problems(path)


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(st.sampled_from([*sorted(OSCE["OSCE_Examination"]), "Test_Results"]), _json, max_size=4),
    st.dictionaries(st.sampled_from(["generate_case", "receive_time", "body_category"]), _json, max_size=3),
    st.dictionaries(st.sampled_from(sorted(Case.model_fields)), _json, max_size=4),
)
def test_any_json_in_any_field_is_a_case_or_a_problem(
    tmp_path_factory: pytest.TempPathFactory, osce: dict[str, Any], medr: dict[str, Any], plain: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("json")
    for record in (
        {"OSCE_Examination": OSCE["OSCE_Examination"] | osce},
        {"P1": MEDR["P1"] | medr, "P2": MEDR["P1"]},
        OWN | plain,
    ):
        for item in scan(write(folder, record)):
            assert isinstance(item, Case | Problem)


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("agentclinic/agentclinic_medqa.jsonl", 107),
        pytest.param("medrbench/diagnosis_cases.json", 479, marks=pytest.mark.long),
        ("medrbench/treatment_cases.json", 50),
    ],
)
def test_every_shared_case_loads_and_goes_round(shared: Path, tmp_path: Path, name: str, count: int) -> None:
    cases = list(load(shared / "data" / name))
    assert len(cases) == count
    assert len({case.id for case in cases}) == count
    assert problems(shared / "data" / name) == ()
    assert {case.data_class for case in cases} == {"public"}
    assert all(case.provenance.licence and case.provenance.source for case in cases)
    path = tmp_path / "own.jsonl"
    path.write_text("".join(own.case_line(case) + "\n" for case in cases), encoding="utf-8")
    assert list(load(path)) == cases
