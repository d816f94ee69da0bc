"""What a schema allows and no case should hold: named with file, line and field, refused or warned of."""

import json
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from clinic import case
from hypothesis import given
from hypothesis import strategies as st
from structlog.testing import capture_logs

from wardround.engine.errors import UsageError
from wardround.scenarios.loaders.census import census
from wardround.scenarios.loaders.load import load, problems
from wardround.scenarios.loaders.oddities import doubled, in_record

OWN: dict[str, Any] = json.loads(case(1).model_dump_json(exclude_defaults=True))


def own(path: Path, **changed: Any) -> Path:
    """A file of one good case and, on line 2, one with other fields."""
    good, other = json.dumps(OWN), json.dumps({**OWN, "id": "other", **changed})
    path.write_text(f"{good}\n{other}\n")
    return path


def refused(path: Path, line: int, field: str) -> str:
    """The message of the one fault there is, which the loader raises too."""
    [problem] = problems(path)
    assert (problem.line, problem.field) == (line, field)
    with pytest.raises(UsageError) as raised:
        list(load(path))
    assert str(problem) in str(raised.value)
    return problem.message


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('"opening": "a", "opening": "b"', "opening"),
        ('"opening": "a", "truth": {"diagnosis": "x", "diagnosis": "y"}', "truth.diagnosis"),
        ('"opening": "a", "labs": [{"name": "a", "value": "1", "unit": "u", "value": "2"}]', "labs[0].value"),
        ('"opening": "a", "history": {"A": "b", "A": "c"}', "history.A"),
        ('"opening": "a", "id": "again"', "id"),
    ],
)
def test_a_key_that_is_given_twice_is_a_fault(tmp_path: Path, text: str, field: str) -> None:
    path = tmp_path / "cases.jsonl"
    rest = '"truth": {"diagnosis": "x"}, ' if '"truth"' not in text else ""
    path.write_text(
        f'{json.dumps(OWN)}\n{{"id": "p", {rest}"provenance": {{"source": "s"}}, "data_class": "public", {text}}}\n'
    )
    assert "is given twice" in refused(path, 2, field)


def test_one_within_a_published_case_is_named_too(tmp_path: Path) -> None:
    path = tmp_path / "medr.json"
    inner = '{"case_summary": "A cough.", "case_summary": "A cold.", "diagnosis_results": "Flu"}'
    path.write_text(f'{{"PMC1": {{"generate_case": {inner}}}}}')
    assert "'case_summary' is given twice" in refused(path, 1, "generate_case.case_summary")


@given(st.recursive(st.none() | st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_no_key_of_what_python_writes_is_doubled(value: Any) -> None:
    assert doubled(json.dumps(value)) == []


def test_every_character_without_a_shape_is_odd_in_a_text() -> None:
    kept = "\t\n\r\u200c\u200d"  # layout, and joiners that some scripts need
    unseen = [chr(code) for code in range(0x10000) if unicodedata.category(chr(code)) == "Cc" and chr(code) not in kept]
    unseen += "\u00ad\u061c\u180e\u200b\u200e\u200f\u2028\u202e\u2060\u2064\u2066\u206f\ufeff"
    assert [mark for mark in unseen if not list(in_record({"opening": ["a", {"b": f"c{mark}d"}]}))] == []
    assert not list(in_record({"opening": "a line\n\tand \u4e00, \u0641\u200c\u0642"}))


@pytest.mark.parametrize(
    "mark", ["\n", "\r", "\t", "\x1b[31m", "\0", "\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\x85"]
)
def test_an_id_holds_nothing_that_nobody_sees(tmp_path: Path, mark: str) -> None:
    refused(own(tmp_path / "c.jsonl", id=f"p{mark}1"), 2, "id")


@pytest.mark.parametrize("field", ["opening", "history.A", "labs[0].unit", "truth.diagnosis"])
def test_a_nul_is_a_fault_in_any_text(tmp_path: Path, field: str) -> None:
    changed: dict[str, dict[str, Any]] = {
        "opening": {"opening": "a\0b"},
        "history.A": {"history": {"A": "a\0"}},
        "labs[0].unit": {"labs": [{"name": "n", "value": "1", "unit": "\0"}]},
        "truth.diagnosis": {"truth": {"diagnosis": "\0"}},
    }
    assert "NUL" in refused(own(tmp_path / "c.jsonl", **changed[field]), 2, field)


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"opening": "She fell.\u202e"}, "opening", "U+202E"),
        ({"opening": "She\u200b fell."}, "opening", "U+200B"),
        ({"history": {"A": "red \x1b[31m"}}, "history.A", "U+001B"),
        ({"opening": "A -34-year-old man coughs."}, "opening", "negative age"),
        ({"opening": "Aged -5 years."}, "opening", "negative age"),
        ({"history": {"Age": "-3"}}, "history.Age", "negative age"),
        ({"opening": "A 340-year-old man coughs."}, "opening", "nobody reaches"),
        ({"labs": [{"name": "Sodium", "value": "140"}]}, "labs[0].unit", "without a unit"),
        ({"labs": [{"name": "Sodium", "value": "<5"}]}, "labs[0].unit", "without a unit"),
        ({"labs": [{"name": "Sodium", "value": "1", "unit": "u", "low": 9, "high": 1}]}, "labs[0].low", "range"),
    ],
)
def test_what_is_odd_is_a_warning_and_the_case_is_played(
    tmp_path: Path, changed: dict[str, Any], field: str, said: str
) -> None:
    path = own(tmp_path / "c.jsonl", **changed)
    found = census(path)
    assert not found.problems
    [warning] = found.warnings
    assert (warning.line, warning.field, warning.case) == (2, field, "other")
    assert said in warning.message
    with capture_logs() as logs:
        assert len(list(load(path))) == 2
    assert [line["what"] for line in logs] == [str(warning).removeprefix("warning: ")]


@pytest.mark.parametrize(
    "changed",
    [
        {"opening": "A 34-year-old, ill for 3-5 days, was well until day -2. Score: 3-4."},
        {"opening": "- 34-year-old man\n- 5 days of fever"},
        {"opening": "علی\u200cرضا is 5 years old."},
        {
            "labs": [
                {"name": "pH", "value": "7.4"},
                {"name": "INR", "value": "1.1"},
                {"name": "HIV", "value": "negative"},
            ]
        },
    ],
)
def test_what_is_usual_is_not(tmp_path: Path, changed: dict[str, Any]) -> None:
    found = census(own(tmp_path / "c.jsonl", **changed))
    assert not found.warnings
    assert not found.problems


def test_a_text_where_a_list_belongs_is_named(tmp_path: Path) -> None:
    assert "a list" in refused(
        own(tmp_path / "c.jsonl", truth={"diagnosis": "x", "synonyms": "y"}), 2, "truth.synonyms"
    )
    station = {
        "Objective_for_Doctor": "Find out.",
        "Patient_Actor": {"Symptoms": {"Primary_Symptom": "Cough", "Secondary_Symptoms": "Fever"}},
        "Correct_Diagnosis": "Flu",
    }
    path = tmp_path / "osce.jsonl"
    path.write_text(json.dumps({"OSCE_Examination": station}) + "\n")
    [warning] = census(path).warnings
    assert warning.field.endswith("Secondary_Symptoms")


def test_half_a_surrogate_pair_in_a_case_is_named_by_line(tmp_path: Path) -> None:
    path = tmp_path / "c.jsonl"
    path.write_text(json.dumps(OWN) + "\n" + json.dumps({**OWN, "id": "o", "opening": "\ud83d"}) + "\n")
    [problem] = problems(path)
    assert (problem.line, "surrogate" in problem.message) == (2, True)
    whole = tmp_path / "m.json"
    whole.write_text('{"PMC1":\n {"generate_case": {"case_summary": "\\ud83d", "diagnosis_results": "Flu"}}}')
    [problem] = problems(whole)
    assert "surrogate" in problem.message
    assert "line 2" in problem.message


def cells(*values: float, time: str = "") -> list[dict[str, str]]:
    names = ("Neutrophils", "Bands", "Lymphocytes", "Monocytes")
    return [
        {"name": name, "value": str(value), "unit": "%", "time": time}
        for name, value in zip(names, values, strict=False)
    ]


def shares(*cells: tuple[str, str], unit: str = "%") -> list[dict[str, str]]:
    return [{"name": name, "value": value, "unit": unit} for name, value in cells]


@pytest.mark.parametrize(
    ("changed", "field", "said"),
    [
        ({"labs": cells(88, 9, 5)}, "labs[0].value", "add up to 102 %"),
        (
            {"labs": cells(60, 5, 30, time="2026-01-01") + cells(90, 5, 15, time="2026-01-02")},
            "labs[3].value",
            "add up to 110 %",
        ),
        (
            {"history": {"Social history": "Widow, lives alone.", "Family history": "Husband and two sons well."}},
            "history.Family history",
            "widowed elsewhere",
        ),
        ({"history": {"A": "A widower of 70. He lives with his wife."}}, "history.A", "widowed elsewhere"),
        (
            {"history": {"Marital status": "Widower", "Social history": "Brought in by his wife this morning."}},
            "history.Social history",
            "widowed elsewhere",
        ),
        ({"history": {"A": "She is a widow. Her husband smokes indoors."}}, "history.A", "widowed elsewhere"),
        (
            {"investigations": [{"name": "Blood count", "text": "Neutrophils 80 %, lymphocytes 25 %, monocytes 5 %."}]},
            "investigations",
            "add up to 110 %",
        ),
        (
            {
                "investigations": [
                    {"name": "Neutrophils", "text": "70%"},
                    {"name": "Lymphocytes", "text": "28%"},
                    {"name": "Eosinophils", "text": "9%"},
                ]
            },
            "investigations",
            "add up to 107 %",
        ),
        ({"opening": "Blood: 66% neutrophils, 30% lymphocytes, 11% monocytes."}, "opening", "add up to 107 %"),
        ({"opening": "A cough in a child of minus two years."}, "opening", "negative age: 'minus two years'"),
        ({"opening": "A co\u00adugh."}, "opening", "U+00AD"),
        ({"opening": "A cough.\U000e0041"}, "opening", "U+E0041"),
        ({"ancillary": "- **Count**: polymorphs 82 percent, lymphocytes 26 percent."}, "ancillary", "add up to 108 %"),
        ({"opening": "A man aged 150 years coughs."}, "opening", "nobody reaches: 'aged 150'"),
        ({"history": {"A": "Never married.", "B": "Her husband brought her."}}, "history.B", "is never married"),
        ({"history": {"A": "My wife died.", "B": "I live with my wife."}}, "history.B", "is widowed elsewhere"),
        ({"opening": "A 50-year-old man.", "complaint": "A 52-year-old man."}, "complaint", "an age of '52-year-old'"),
        ({"opening": "A 50-year-old man.", "complaint": "A 50-year-old woman."}, "complaint", "of a female patient"),
        (
            {"opening": "A 50-year-old man.", "complaint": "", "history": {"A": "My last period was late."}},
            "history.A",
            "'My last period' of a male",
        ),
        (
            {
                "opening": "A 5-year-old girl.",
                "complaint": "",
                "examination": [{"section": "A", "text": "Both testes descended."}],
            },
            "examination[0].text",
            "of a female patient",
        ),
        (
            {"examination": [{"section": "Vital signs", "text": "SpO2 140% on room air."}]},
            "examination[0].text",
            "a saturation of oxygen of 140",
        ),
        (
            {"labs": [{"name": "Sodium", "value": "120", "unit": "mEq/L", "low": 133, "high": 145, "flag": "normal"}]},
            "labs[0].flag",
            "flagged normal, against its range",
        ),
        (
            {"labs": [{"name": "Sodium", "value": "140", "unit": "mEq/L", "time": "2026-13-01"}]},
            "labs[0].time",
            "no time in ISO form",
        ),
        (
            {"investigations": [{"name": "Titre", "text": "1:100 on day 8, 1:1600 on day 20."}]},
            "investigations[0].text",
            "a result of later",
        ),
        (
            {"imaging": [{"exam": "CT", "report": "Clear, six weeks later as well."}]},
            "imaging[0].report",
            "a result of later",
        ),
        ({"labs": shares(("Neutrophil percentage", "80"), ("Lymphocyte percentage", "30"))}, "labs[0].value", "110 %"),
        ({"labs": shares(("Segs", "80"), ("Lymphs", "30"))}, "labs[0].value", "110 %"),
        ({"labs": shares(("Neutrophils", "80 %"), ("Eos", "30 %"), unit="")}, "labs[0].value", "110 %"),
        (
            {"microbiology": [{"test": "CSF", "comment": "Polymorphonuclear cells 80%, lymphs 30%."}]},
            "microbiology[0].comment",
            "110 %",
        ),
        ({"imaging": [{"exam": "Film", "report": "Segs 80%, monos 30%."}]}, "imaging[0].report", "110 %"),
        (
            {"opening": "A widow.", "examination": [{"section": "A", "text": "Her husband undresses her."}]},
            "examination[0].text",
            "widowed elsewhere",
        ),
        ({"history": {"A": "I lost my husband.", "B": "I live with my husband."}}, "history.B", "widowed elsewhere"),
        ({"history": {"A": "I am divorced.", "B": "My wife is well."}}, "history.B", "is divorced elsewhere"),
        ({"history": {"A": "I am single.", "B": "My wife is well."}}, "history.B", "is single elsewhere"),
        ({"labs": [{"name": "Sodium", "value": "138-142"}]}, "labs[0].unit", "is 138-142, without a unit"),
        ({"labs": [{"name": "Platelets", "value": "120 000", "unit": " "}]}, "labs[0].unit", "without a unit"),
        ({"investigations": [{"name": "Sodium", "text": "128 "}]}, "investigations[0].text", "Sodium is 128, without"),
        ({"labs": shares(("Neutrophils", "0.6"), ("Lymphocytes", "0.5"), unit="1")}, "labs[0].value", "110 %"),
        (
            {"labs": shares(("Neutrophil fraction", "0.60"), ("Lymphs", "0,5"), unit="fraction")},
            "labs[0].value",
            "110 %",
        ),
        ({"ancillary": "Neutrophils 0.80, lymphocytes 0.30."}, "ancillary", "add up to 110 %"),
        ({"labs": shares(("Granulocytes", "80"), ("Lymphocytes", "30"))}, "labs[0].value", "110 %"),
        ({"opening": "Granulocytes 80 %, lymphocytes 30 %."}, "opening", "110 %"),
        ({"opening": "M/-45, cough."}, "opening", "negative age: 'M/-45'"),
        ({"history": {"A": "Male / \u221245. Cough."}}, "history.A", "negative age"),
        ({"opening": "Patient (-45/F) coughs."}, "opening", "negative age"),
        ({"labs": [{"name": "Temperature", "value": "38.5"}]}, "labs[0].unit", "without a unit"),
        ({"labs": [{"name": "Oxygen saturation", "value": "97"}]}, "labs[0].unit", "without a unit"),
        ({"labs": [{"name": "Ferritin concentration", "value": "9"}]}, "labs[0].unit", "without a unit"),
        ({"investigations": [{"name": "Serum osmolality", "text": "290"}]}, "investigations[0].text", "without a unit"),
        ({"examination": [{"section": "A", "text": "A -5-year-old boy."}]}, "examination[0].text", "negative age"),
        ({"opening": "A 200 yo man coughs."}, "opening", "nobody reaches"),
        ({"opening": "A 310y/o man coughs."}, "opening", "nobody reaches"),
        ({"history": {"Dru\u200bgs": "None."}}, "history.Dru\u200bgs", "U+200B"),
        ({"opening": "A \u3164cough."}, "opening", "U+3164"),
        ({"opening": "A \u2800cough."}, "opening", "U+2800"),
        ({"history": {"Family": "Well.", "family ": "Ill."}}, "history.family ", "differs from the section 'Family'"),
    ],
)
def test_figures_and_people_that_contradict_each_other_are_odd(
    tmp_path: Path, changed: dict[str, Any], field: str, said: str
) -> None:
    [warning] = census(own(tmp_path / "cases.jsonl", **changed)).warnings
    assert warning.field == field
    assert said in warning.message


@pytest.mark.parametrize(
    "changed",
    [
        {"labs": cells(60, 5, 30, time="2026-01-01") + cells(60, 5, 30, time="2026-01-02")},
        {"labs": cells(60.2, 5.3, 35.5)},
        {"history": {"A": "Widowed; her husband died two years ago.", "B": "Lives with her daughter, who is well."}},
        {"history": {"A": "Lives with her husband, who is well."}},
        {"history": {"A": "My first husband died.", "B": "I live with my second husband."}},
        {"opening": "A 3-year-old boy, brought by a 30-year-old woman.", "complaint": "A boy of 3 years: cough."},
        {
            "opening": "A 30-year-old man.",
            "complaint": "",
            "history": {"Family history": "My wife is 20 weeks pregnant."},
        },
        {"labs": [{"name": "Sodium", "value": "120", "unit": "mEq/L", "low": 133, "high": 145, "flag": "abnormal"}]},
        {"labs": [{"name": "Lymphocytes (%)", "value": "20", "time": "2026-01"}]},
        {"labs": shares(("Neutrophils", "70"), ("Granulocytes", "76"), ("Eos", "3"), ("Lymphs", "20"))},
        {"labs": shares(("Neutrophils", "76"), ("Immature granulocytes", "4"), ("Lymphs", "22"))},
        {"labs": shares(("Neutrophils", "4.6"), ("Lymphocytes", "0.9"), ("Monocytes", "0.5"), unit="1")},
        {"opening": "Lymphocytes 0.9, monocytes 0.6 and neutrophils 4.6."},
        {"opening": "Neutrophils 0.8, lymphocytes 0.4 and monocytes 0.1 x 10^9/L."},
        {"opening": "White cells 1.3/nL, neutrophils 0.8, lymphocytes 0.4."},
        {"opening": "Neutrophils 0.60, lymphocytes 0.35."},
        {"opening": "M/45; F-18 PET; 5 M, -10 F outside."},
        {"labs": [{"name": "Oxygen saturation", "value": "0.97"}, {"name": "Osmolal gap", "value": "8"}]},
        {"labs": [{"name": "Blood gas: Temperature", "value": "37.0"}]},
        {"history": {"A": "A single lump.", "B": "Lives with her husband."}},
        {"labs": [{"name": "Blood group", "value": "0 positive"}, {"name": "HIV", "value": "1/2 negative"}]},
        {"investigations": [{"name": "pH", "text": "7.31"}, {"name": "Anion gap", "text": "12"}]},
        {"microbiology": [{"test": "Blood culture", "comment": "No growth after 5 days."}]},
        {
            "opening": "A 30-year-old man with eight days of fever.",
            "complaint": "",
            "investigations": [{"name": "PCR", "text": "Negative on day 8."}],
        },
        {"examination": [{"section": "Vital signs", "text": "Temperature 39.1 \u00b0C, SpO2 100%, GCS 15."}]},
    ],
)
def test_a_differential_of_each_day_and_a_late_husband_are_usual(tmp_path: Path, changed: dict[str, Any]) -> None:
    assert not census(own(tmp_path / "cases.jsonl", **changed)).warnings


@pytest.mark.parametrize(
    ("changed", "said"), [({"labs": "Na 140"}, "must be a list"), ({"history": "pain"}, "an object")]
)
def test_a_text_where_a_list_or_an_object_belongs_is_refused_in_words(
    tmp_path: Path, changed: dict[str, Any], said: str
) -> None:
    [problem] = problems(own(tmp_path / "cases.jsonl", **changed))
    assert said in problem.message


@pytest.mark.parametrize(
    ("opening", "named"),
    [
        ("A man with pneu-\nmonia.", ["Pneumonia"]),
        ("A man with pneu-\n  monia and cough.", ["Pneumonia"]),
        ("A well-\nknown man with a cough.", []),
    ],
)
def test_a_truth_that_goes_over_the_end_of_a_line_is_named(tmp_path: Path, opening: str, named: list[str]) -> None:
    path = own(tmp_path / "cases.jsonl", opening=opening, truth={"diagnosis": "Pneumonia"})
    assert [leak.phrase for leak in census(path).leaks if leak.case == "other"] == named


@pytest.mark.parametrize(
    ("diagnosis", "opening", "words"),
    [
        ("Acute myocardial infarction", "A man with an MI.", ["MI"]),
        ("Acute pulmonary embolism", "A woman with a PE.", ["PE"]),
        ("Acute myocardial infarction", "A man with a mild cough.", []),
        ("Chronic rheumatoid arthritis", "The RA is dilated.", []),
    ],
)
def test_the_abbreviation_of_a_name_without_its_course_is_told(
    tmp_path: Path, diagnosis: str, opening: str, words: list[str]
) -> None:
    path = own(tmp_path / "cases.jsonl", opening=opening, truth={"diagnosis": diagnosis})
    assert [one.phrase for one in census(path).related if one.case == "other"] == words
