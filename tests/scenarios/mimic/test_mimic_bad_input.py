"""What a copy of MIMIC-IV can have wrong with it: named with file, row and column, never passed by in silence."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.mimic_tree import MimicTree
from wardround.builds import build_mimic
from wardround.engine.errors import UsageError
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.build_account import MimicAccount
from wardround.scenarios.mimic.mimic_files import MimicOptions


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
