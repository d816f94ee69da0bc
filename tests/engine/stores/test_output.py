"""A file that was asked for is there whole or not at all, and an error says which it was."""

import os
from pathlib import Path

import pytest

from wardround.engine.errors import UsageError
from wardround.engine.stores.files import output


def test_it_is_written_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b.txt"
    with output(path) as file:
        file.write(b"whole")
    assert path.read_bytes() == b"whole"
    assert [one.name for one in path.parent.iterdir()] == ["b.txt"]


def test_half_a_file_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before")

    def broken() -> None:
        with output(path) as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        broken()
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["a.txt"]


def test_a_private_one_is_for_its_owner(tmp_path: Path) -> None:
    with output(tmp_path / "a", private=True) as file:
        file.write(b"x")
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("where", ["", "file/under", "/dev/full"])
def test_what_cannot_be_written_is_named(tmp_path: Path, where: str) -> None:
    (tmp_path / "file").write_text("in the way")
    path = tmp_path / where
    if where == "/dev/full" and not os.path.exists(where):
        pytest.skip("no such device here")

    def written() -> None:
        with output(path) as file:
            file.write(b"x" * 100_000)

    with pytest.raises(UsageError, match="cannot be written") as caught:
        written()
    assert str(path) in str(caught.value)
