"""What a copy of MIMIC-IV can have wrong with it: named with file, row and column, never passed by in silence."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from benchmarks.mimic_tree import MimicTree
from wardround.builds import build_mimic
from wardround.engine.errors import UsageError
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.mimic.pool import read_pool_file


@pytest.fixture
def tree(tmp_path: Path) -> MimicTree:
    return MimicTree(tmp_path / "mimic", 17, packed=("discharge",))


def build(tree: MimicTree, **options: Any) -> MimicAccount:
    given = {"min_per_disease": 1, **options}
    return build_mimic(MimicOptions(mimic=tree.root, **given), tree.root.parent / "cases.jsonl")


def changed(path: Path, row: int, old: bytes, new: bytes) -> None:
    """Row `row` of a file (the header is row 1) with the first `old` in it replaced."""
    lines = path.read_bytes().split(b"\n")
    assert old in lines[row - 1]
    before, _, after = lines[row - 1].partition(old)
    lines[row - 1] = before + new + after
    path.write_bytes(b"\n".join(lines))


def test_a_missing_table_is_named_with_where_it_was_looked_for(tree: MimicTree) -> None:
    tree.written["labevents"].unlink()
    tree.written["patients"].unlink()
    with pytest.raises(UsageError) as said:
        build(tree)
    assert "table labevents is missing (looked for" in str(said.value)
    assert "hosp/labevents.csv or .csv.gz); --table labevents=PATH" in str(said.value)
    assert "table patients is missing" in str(said.value)
    assert not (tree.root.parent / "cases.jsonl").exists()


@pytest.mark.long
def test_a_table_that_is_called_otherwise_is_found_by_its_name(tree: MimicTree) -> None:
    moved = tree.root / "lab rows.csv"
    tree.written["labevents"].rename(moved)
    assert build(tree, tables={"labevents": str(moved)}).cases
    assert build(tree, tables={"labevents": "lab rows.csv"}).cases
    with pytest.raises(UsageError, match=r"--table labevents=gone\.csv: there is no such file"):
        build(tree, tables={"labevents": "gone.csv"})
    with pytest.raises(UsageError, match="there is no such table; a build reads: admissions, patients"):
        build(tree, tables={"lab": "gone.csv"})


def test_a_table_may_be_left_out_on_purpose(tree: MimicTree) -> None:
    flow = build(tree, tables={"microbiologyevents": "none"})
    assert flow.cases
    assert "microbiologyevents" in flow.tree.missing


def test_a_missing_column_is_named_with_the_columns_there_are(tree: MimicTree) -> None:
    changed(tree.written["diagnoses_icd"], 1, b"seq_num", b"number")
    with pytest.raises(UsageError) as said:
        build(tree)
    assert "diagnoses_icd.csv: column seq_num is missing" in str(said.value)
    assert "subject_id, hadm_id, number, icd_code" in str(said.value)


def test_other_releases_are_refused_by_name(tree: MimicTree, tmp_path: Path) -> None:
    third = tmp_path / "three"
    third.mkdir()
    (third / "ADMISSIONS.csv").write_text("ROW_ID,SUBJECT_ID\n")
    with pytest.raises(UsageError, match="this is MIMIC-III; a build reads MIMIC-IV"):
        build_mimic(MimicOptions(mimic=third), tmp_path / "cases.jsonl")
    with pytest.raises(UsageError, match=r"this is MIMIC-IV 1\.0; a build reads"):
        build(tree, version="1.0")
    (tree.root / "core").mkdir()
    with pytest.raises(UsageError, match=r"MIMIC-IV 1\.x or older"):
        build(tree)


@pytest.mark.parametrize("taken", ["cases.jsonl", "cases.jsonl.flow.json"])
def test_nothing_is_written_where_one_of_the_two_files_cannot_be(taken: str, tree: MimicTree) -> None:
    folder = tree.root.parent
    (folder / taken).mkdir()
    before = sorted(path.name for path in folder.iterdir())
    with pytest.raises(UsageError, match="is a folder"):
        build(tree)
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.long
@pytest.mark.parametrize(("release", "told"), [("mimic-iv-2.2", "MIMIC-IV 2.2"), ("mimiciv/3.1", "MIMIC-IV 3.1")])
def test_the_release_is_told_by_the_folder(release: str, told: str, tmp_path: Path) -> None:
    tree = MimicTree(tmp_path / release, 17)
    build_mimic(MimicOptions(mimic=tree.root, min_per_disease=1), tmp_path / "cases.jsonl")
    assert {case.provenance.source for case in load(tmp_path / "cases.jsonl")} == {told}


@pytest.mark.long
def test_an_untold_release_is_guessed_by_its_years_and_can_be_said(tree: MimicTree) -> None:
    assert build(tree).source == "MIMIC-IV 2.x"
    assert build(tree, version="2.2").source == "MIMIC-IV 2.2"
    changed(tree.written["patients"], 2, b"2011 - 2013", b"2020 - 2022")
    assert build(tree).source == "MIMIC-IV 3.x"


@pytest.mark.parametrize(
    ("row", "old", "new", "said"),
    [
        (3, b",20000007,", b",admission,", 'column hadm_id: is not of the column\'s type ("admission")'),
        pytest.param(
            4,
            b"2150-01-01 08:00:00",
            b"last week",
            'column charttime: is not of the column\'s type ("last week")',
            marks=pytest.mark.long,
        ),
        pytest.param(5, b",STAT,", b"", "the row breaks off: columns are missing", marks=pytest.mark.long),
        pytest.param(6, b",STAT,", b",STAT,x,y", "the row has more columns than the header", marks=pytest.mark.long),
        pytest.param(
            7,
            b",STAT,",
            b',"STAT" x,',
            "a quotation mark is not closed, or stands inside a value",
            marks=pytest.mark.long,
        ),
    ],
)
def test_an_unreadable_row_stops_the_build_or_is_left_out_and_counted(
    row: int, old: bytes, new: bytes, said: str, tree: MimicTree
) -> None:
    path = tree.written["labevents"]
    lines = path.read_bytes().split(b"\n")
    lines[row - 1] = lines[row - 1].replace(b",20000000,", b",20000007,")
    path.write_bytes(b"\n".join(lines))
    changed(path, row, old, new)
    with pytest.raises(UsageError) as stopped:
        build(tree)
    assert f"{path}, row {row}" in str(stopped.value)
    assert said in str(stopped.value)
    assert "--on-bad-row skip" in str(stopped.value)
    flow = build(tree, on_bad_row="skip")
    assert flow.cases
    assert [(bad.row, bad.latin) for bad in flow.bad["labevents"]] == [(row, False)]
    assert "labevents: 1 row could not be read, 0 read as Latin-1" in flow.text()
    made = [tree.root.parent / name for name in ("cases.jsonl", "cases.jsonl.flow.json")]
    assert [path.stat().st_mode & 0o077 for path in made] == [0, 0], "notes are for their owner"
    account = json.loads(made[1].read_text())
    assert account["bad_rows"]["labevents"]["lost"] == 1
    assert f"row {row}" in account["bad_rows"]["labevents"]["rows"][0]


@pytest.mark.long
def test_mixed_encodings_stop_the_build_or_are_both_read(tree: MimicTree) -> None:
    path = tree.written["radiology"]
    text = path.read_bytes().replace(b"axial slices", "tranches régulières".encode(), 1)
    text = text.replace(b"axial slices", "tranches r\xe9guli\xe8res".encode("latin-1"), 1)
    path.write_bytes(text)
    with pytest.raises(UsageError, match=r"radiology\.csv, row 3, column text: bytes are not UTF-8"):
        build(tree)
    flow = build(tree, on_bad_row="skip", without=("history_leak",))
    assert [(bad.row, bad.column, bad.latin) for bad in flow.bad["radiology"]] == [(3, "text", True)]
    assert "radiology: 0 rows could not be read, 1 read as Latin-1" in flow.text()
    told = [study.report for case in load(tree.root.parent / "cases.jsonl") for study in case.imaging]
    assert sum("tranches régulières" in report for report in told) == 2


@pytest.mark.long
def test_a_quotation_mark_that_is_never_closed_is_found(tree: MimicTree) -> None:
    changed(tree.written["labevents"], 20, b",STAT,", b',"STAT,')
    with pytest.raises(UsageError, match=r"labevents\.csv, row \d+"):
        build(tree)
    flow = build(tree, on_bad_row="skip")
    assert flow.bad["labevents"]


def test_a_file_that_breaks_off_is_named(tree: MimicTree) -> None:
    path = tree.written["discharge"]
    path.write_bytes(path.read_bytes()[:-40])
    with pytest.raises(UsageError, match=r"discharge\.csv\.gz"):
        build(tree, on_bad_row="skip")


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"", "is empty"), (b"\x00\x01\x02", "is a binary file"), (gzip.compress(b"", mtime=0), "is empty")],
)
def test_a_file_that_is_no_table_is_named(content: bytes, said: str, tree: MimicTree) -> None:
    tree.written["services"].write_bytes(content)
    with pytest.raises(UsageError, match=rf"services\.csv: {said}"):
        build(tree)


@pytest.mark.long
def test_a_failed_build_leaves_the_cases_of_an_earlier_one(tree: MimicTree) -> None:
    build(tree)
    before = (tree.root.parent / "cases.jsonl").read_bytes()
    changed(tree.written["labevents"], 3, b"STAT", b'"')
    with pytest.raises(UsageError):
        build(tree)
    assert (tree.root.parent / "cases.jsonl").read_bytes() == before
    assert not list(tree.root.parent.glob("*.part"))


@pytest.mark.long
def test_columns_in_another_order_and_more_of_them_do_no_harm(tree: MimicTree) -> None:
    build(tree)
    before = (tree.root.parent / "cases.jsonl").read_bytes()
    path = tree.written["services"]
    rows = [line.split(",") for line in path.read_text().splitlines()]
    path.write_text("\n".join(",".join([*reversed(row), "more"]) for row in rows) + "\n")
    build(tree)
    assert (tree.root.parent / "cases.jsonl").read_bytes() == before


@pytest.mark.long
def test_only_the_open_demo_may_be_called_public(tree: MimicTree) -> None:
    with pytest.raises(UsageError, match="only the open demo may be passed on"):
        build(tree, data_class="public")
    (tree.root / "LICENSE.txt").write_text("ODC Open Database License (ODbL)\n")
    build(tree, data_class="public")
    assert {case.data_class for case in load(tree.root.parent / "cases.jsonl")} == {"public"}
    build(tree)
    assert {case.data_class for case in load(tree.root.parent / "cases.jsonl")} == {"restricted"}


@pytest.mark.long
def test_a_packed_file_that_unpacks_but_is_damaged_is_refused(tree: MimicTree) -> None:
    path = tree.written["discharge"]
    packed = bytearray(path.read_bytes())
    packed[-8] ^= 1  # the checksum of the content
    path.write_bytes(packed)
    for on_bad_row in ("stop", "skip"):
        with pytest.raises(UsageError, match=r"discharge.csv.gz: is damaged \(CRC check failed"):
            build(tree, on_bad_row=on_bad_row)
    assert not (tree.root.parent / "cases.jsonl").exists()


@pytest.mark.long
def test_wanted_diseases_without_a_case_are_named(tree: MimicTree) -> None:
    pool = tree.root / "pool.txt"
    pool.write_text("Sepsis\nPurple elbow\n" + "\n".join(sorted(build(tree).diseases)) + "\n", encoding="utf-8")
    account = build(tree, pool=str(pool))
    assert "Purple elbow" in account.without_case
    assert account.json()["without_case"] == list(account.without_case)
    assert "wanted diseases: " in account.text()


@pytest.mark.parametrize("table", ["admissions", "patients", "diagnoses_icd"])
def test_a_table_that_every_build_needs_cannot_be_left_out(table: str, tree: MimicTree) -> None:
    with pytest.raises(UsageError, match=f"--table {table}=none: there is no build without the tables admissions"):
        build(tree, tables={table: "none"})


def test_a_case_without_notes_needs_only_results_that_the_copy_has_a_table_of(tree: MimicTree) -> None:
    flow = build(tree, tables=dict.fromkeys(("discharge", "microbiologyevents"), "none"), without=("one_disease",))
    assert flow.cases
    assert "it has laboratory results" in flow.text()


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            b"hadm_id,",
            b"row_id,hadm_id,",
            r"is a table of MIMIC-III \(it has a column row_id\); a build",
        ),
        (b",", b";", "its cells stand apart by ';', and those of a table by commas"),
        (b",", b"\t", "its cells stand apart by .*, and those of a table by commas"),
    ],
)
def test_what_is_wrong_with_a_whole_table_is_said(old: bytes, new: bytes, said: str, tree: MimicTree) -> None:
    path = tree.written["diagnoses_icd"]
    path.write_bytes(path.read_bytes().replace(old, new))
    with pytest.raises(UsageError, match=rf"diagnoses_icd\.csv: {said}"):
        build(tree)


def test_a_table_without_its_row_of_names_is_named_and_no_row_is_told(tree: MimicTree) -> None:
    path = tree.written["labevents"]
    path.write_bytes(path.read_bytes().split(b"\n", 1)[1])
    with pytest.raises(UsageError) as said:
        build(tree)
    assert "its first row names none of the columns subject_id, hadm_id, itemid, charttime" in str(said.value)
    assert "20000000" not in str(said.value), "a row may be a patient's"


@pytest.mark.parametrize(("coding", "said"), [("utf-16", "is UTF-16 text"), ("utf-16-le", "or UTF-16 text")])
def test_a_table_in_utf_16_is_named(coding: str, said: str, tree: MimicTree) -> None:
    path = tree.written["services"]
    path.write_bytes(path.read_text().encode(coding))
    with pytest.raises(UsageError, match=rf"services\.csv: .*{said}.*UTF-8"):
        build(tree)


@pytest.mark.parametrize("packed", [True, False])
def test_a_table_is_unpacked_by_its_bytes_and_not_by_its_name(packed: bool, tree: MimicTree) -> None:
    path = tree.written["labevents"]
    content = path.read_bytes()
    path.unlink()
    if packed:
        path.write_bytes(gzip.compress(content))
    else:
        path.with_suffix(".csv.gz").write_bytes(content)
    assert build(tree).cases


@pytest.mark.parametrize(("first", "second"), [("admissions", "patients"), ("d_labitems", "d_icd_diagnoses")])
def test_two_tables_in_one_file_are_named_as_such(first: str, second: str, tree: MimicTree) -> None:
    path = tree.written[first]
    rows = path.read_bytes().count(b"\n")
    path.write_bytes(path.read_bytes() + tree.written[second].read_bytes())
    with pytest.raises(UsageError) as said:
        build(tree)
    told = str(said.value).splitlines()[1]
    assert f"{path}, row {rows + 1}" in told
    assert "are two tables in one file?" in told
    assert build(tree, on_bad_row="skip").cases
    flow = json.loads((tree.root.parent / "cases.jsonl.flow.json").read_text())
    assert "are two tables in one file?" in flow["bad_rows"][first]["rows"][0]


@pytest.mark.parametrize(("first", "second"), [("discharge", "radiology"), ("radiology", "discharge")])
def test_a_note_of_the_other_table_in_one_file_is_not_taken(first: str, second: str, tmp_path: Path) -> None:
    tree = MimicTree(tmp_path / "mimic", 17, packed=())
    build(tree)
    before = (tmp_path / "cases.jsonl").read_bytes()
    rows = tree.written[second].read_bytes().partition(b"\n")[2].replace(b"-DS-", b"-XX-").replace(b"-RR-", b"-ZZ-")
    with tree.written[first].open("ab") as stream:
        stream.write(rows)
    build(tree)
    assert (tmp_path / "cases.jsonl").read_bytes() == before


@pytest.mark.parametrize(("said", "told"), [("v3.1", "MIMIC-IV 3.1"), ("2.2", "MIMIC-IV 2.2"), ("abc", "")])
def test_a_release_may_be_said_with_a_v_and_must_be_one(said: str, told: str, tree: MimicTree) -> None:
    if told:
        assert build(tree, version=said).source == told
        return
    with pytest.raises(UsageError, match="--mimic-version abc: is no release; write it as"):
        build(tree, version=said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("20000000,20000007\n", "line 1: '20000000,20000007' is no hadm_id"),
        ("subject_id,hadm_id\n1,20000000\n2,\n", "line 3: '' is no hadm_id"),
        ("subject_id,stay_id\n1,20000000\n", "line 1: 'subject_id,stay_id' is no hadm_id; .*or a column hadm_id"),
    ],
)
def test_no_number_of_a_list_of_admissions_is_passed_by(text: str, said: str, tree: MimicTree) -> None:
    ids = tree.root / "ids.csv"
    ids.write_text(text)
    with pytest.raises(UsageError, match=said):
        build(tree, admissions=ids)


def test_a_list_of_admissions_may_have_its_cells_apart_by_semicolons(tree: MimicTree) -> None:
    ids = tree.root / "ids.csv"
    ids.write_text("subject_id;hadm_id\n1;20000000\n2;99999999\n")
    assert build(tree, admissions=ids).absent == (99999999,)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("name,icd10\nGout,M10\nMumps,hello\n", "line 3, column icd10: 'hello' is no code"),
        ("name,icd9\nGout,gout\n", "line 2, column icd9: 'gout' is no code"),
        ("name;icd10\nGout;M10|J-18\n", "line 2, column icd10: 'J-18' is no code"),
        ('name,icd10\n"Gout,M10\n', "line 2: unexpected end of data; is a quotation mark not closed"),
    ],
)
def test_a_faulty_cell_of_a_pool_is_named(text: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text(text)
    with pytest.raises(UsageError, match=said):
        read_pool_file(tmp_path / "pool.csv")


def test_a_pool_whose_names_go_round_in_a_loop_is_named_and_cut(tmp_path: Path) -> None:
    (tmp_path / "pool.csv").write_text("name,synonyms\nFoo disease,Bar disease\nBar disease,Foo disease|Baz\n")
    with capture_logs() as logs:
        foo, bar = read_pool_file(tmp_path / "pool.csv").diseases
    assert (foo.names, bar.names) == (("Foo disease",), ("Bar disease", "Baz"))
    assert [(one["disease"], one["synonym"]) for one in logs] == [
        ("Foo disease", "Bar disease"),
        ("Bar disease", "Foo disease"),
    ]
    assert "names another disease of the pool" in logs[0]["event"]


def test_a_misspelt_disease_is_told_the_names_near_it(tree: MimicTree) -> None:
    with pytest.raises(UsageError, match=r"--disease zostr: .* has no such disease; near it: .*zoster"):
        build(tree, diseases=("zostr",))


@pytest.mark.parametrize(
    ("table", "twice", "said"),
    [
        ("admissions", True, "admissions: a hadm_id stands in several rows, of 1 admission: 20000000"),
        ("admissions", False, "diagnoses_icd: the table admissions has no row, of 1 admission: 20000000"),
        ("patients", False, "patients: the patient has no row, of 2 admissions: 20000000, 20000007"),
    ],
)
def test_rows_that_do_not_fit_together_are_named_and_the_rest_goes_on(
    table: str, twice: bool, said: str, tree: MimicTree
) -> None:
    path = tree.written[table]
    head, first, rest = path.read_bytes().split(b"\n", 2)
    path.write_bytes(b"\n".join((head, *[first] * (2 * twice), rest)))
    flow = build(tree)
    assert flow.cases
    assert flow.strays == (said,)
    assert said in flow.text()
    assert json.loads((tree.root.parent / "cases.jsonl.flow.json").read_text())["strays"] == [said]
