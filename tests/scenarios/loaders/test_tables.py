"""Tables of cases whose rows are damaged: each is named by its line, and the others are read."""

from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.scenarios.loaders.importing import import_file

PAIRS = ("opening=a", "truth.diagnosis=b")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (b"A m\xe9n,Gout\n", "line 3: byte 0xe9 is not UTF-8"),
        (b"A man,\x80\n", "line 3: byte 0x80 is not UTF-8"),
        (b"a,b\n", "line 3: the names of columns stand here again: are two tables in one file?"),
        (b" a , b \n", "line 3: the names of columns stand here again"),
        (b"no,name,price\n", "line 3: the row has another number of cells"),
    ],
)
def test_a_faulty_row_of_a_table_is_named_and_the_others_are_read(row: bytes, said: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"a,b\nA boy,Mumps\n" + row + b"A girl,Measles\n")
    done = import_file(path, columns=PAIRS, out=tmp_path / "out.jsonl")
    assert done.cases == 2
    (problem,) = done.problems
    assert said in str(problem)


def test_a_row_of_names_that_is_not_utf_8_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"\xe4,b\nA boy,Mumps\n")
    with pytest.raises(UsageError, match="line 1: byte 0xe4 is not UTF-8"):
        import_file(tmp_path / "t.csv", columns=PAIRS)


@pytest.mark.parametrize("name", ["t.txt", "t", "t.data"])
def test_a_table_that_is_asked_for_may_have_any_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text("a,b\nA boy,Mumps\n")
    assert import_file(tmp_path / name, columns=PAIRS).cases == 1
    (tmp_path / name).write_text("id,opening,diagnosis\n1,A boy,Mumps\n")
    assert import_file(tmp_path / name, "csv").cases == 1
