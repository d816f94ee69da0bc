"""Several discharge notes on one admission: which one counts, and what the others add."""

import csv
import io
from pathlib import Path

import pytest

from benchmarks.mimic_tree import MimicTree
from wardround.builds import build_mimic
from wardround.scenarios.case import Case
from wardround.scenarios.loaders.load import load
from wardround.scenarios.mimic.mimic_files import MimicOptions
from wardround.scenarios.mimic.note import joined_note

OLDER = "Chief Complaint:\nolder complaint\n\nSocial History:\nkeeps pigeons\n\nDischarge Diagnosis:\nMechanical fall\n"
ADDENDUM = "Addendum\n\nChief Complaint:\nlater thought\n\nDischarge Diagnosis:\nMechanical fall\n"


def built(tree: MimicTree, **options: str) -> dict[str, Case]:
    out = tree.root.parent / "cases.jsonl"
    build_mimic(MimicOptions(mimic=tree.root, min_per_disease=1, **options), out)  # type: ignore[arg-type]
    return {case.id: case for case in load(out)}


def more_notes(tree: MimicTree, *, before: bool) -> None:
    """Give each admission an older summary and an addendum, whose ids sort before and behind the summary as text."""
    path = tree.written["discharge"]
    head, *rows = csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
    written = []
    for row in rows:
        summary = [f"{row[1]}-DS-10", *row[1:3], "DS", "10", *row[5:]]
        older = [f"{row[1]}-DS-9", *row[1:3], "DS", "9", *row[5:7], OLDER]
        addendum = [f"{row[1]}-ZZ-99", *row[1:3], "AD", "99", *row[5:7], ADDENDUM]
        written += [older, summary, addendum] if before else [addendum, summary, older]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([head, *written])
    path.write_text(text.getvalue(), encoding="utf-8")


@pytest.mark.parametrize("before", [True, pytest.param(False, marks=pytest.mark.long)])
def test_the_latest_summary_counts_and_the_others_fill_in_what_it_lacks(tmp_path: Path, *, before: bool) -> None:
    tree = MimicTree(tmp_path / "mimic", 34, packed=())
    alone = built(tree)
    more_notes(tree, before=before)
    together = built(tree)
    assert together.keys() == alone.keys()
    assert alone
    for name, case in together.items():
        assert case.complaint == alone[name].complaint, "the summary's, not an addendum's or an older one's"
        assert case.truth.diagnosis == alone[name].truth.diagnosis
        assert "keeps pigeons" in str(case.history)
        assert "pigeons" not in str(alone[name].history)


@pytest.mark.long
def test_the_number_of_a_note_is_read_from_its_id_where_the_table_has_no_column(tmp_path: Path) -> None:
    tree = MimicTree(tmp_path / "mimic", 34, packed=())
    alone = built(tree)
    more_notes(tree, before=False)
    path = tree.written["discharge"]
    rows = [
        [*row[:3], *row[5:]]
        for row in csv.reader(io.StringIO(path.read_text(encoding="utf-8")))
        if "-ZZ-" not in row[0]
    ]
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")
    assert {name: case.complaint for name, case in built(tree).items()} == {
        name: case.complaint for name, case in alone.items()
    }


def test_a_section_is_taken_from_the_first_note_that_has_it() -> None:
    found = joined_note(["Chief Complaint:\ncough\n", "Chief Complaint:\nfever\n\nSocial History:\nalone\n"])
    assert (found.get("complaint"), found.get("social")) == ("cough", "alone")
