"""Tables on the user's disk: read as they were built, and built again whenever the file is not what was written."""

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from wardround.scenarios.diseases import knowledge, lexical_linker, mondo
from wardround.scenarios.diseases.linker import Concept
from wardround.scenarios.terms import table_cache
from wardround.scenarios.terms.table_cache import KEPT, SWITCH, cached_table


@dataclass(frozen=True)
class Table:
    names: dict[str, tuple[int, ...]]
    known: frozenset[str]


TABLE = Table({"gout": (1, 2), "Ménière": ()}, frozenset(("gout",)))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(SWITCH, raising=False)
    return tmp_path / "wardround" / "tables"


def counting() -> tuple[list[None], Callable[[], Table]]:
    """A builder of TABLE, and the list that grows by one each time it builds."""
    built: list[None] = []

    def build() -> Table:
        built.append(None)
        return TABLE

    return built, build


def test_it_is_built_once_and_then_read(folder: Path) -> None:
    built, build = counting()
    assert [cached_table("some", Table, build) for _ in range(3)] == [TABLE] * 3
    assert len(built) == 1
    [file] = folder.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[:-1],
        lambda content: content[:40] + bytes([content[40] ^ 1]) + content[41:],
        lambda content: content + b"\0",
        lambda content: hashlib.sha256(other := msgspec.msgpack.encode({"names": 3})).digest() + other,
        lambda content: hashlib.sha256(other := b"\xc1").digest() + other,
    ],
    ids=["empty", "cut", "changed", "longer", "another form", "no msgpack"],
)
def test_a_damaged_file_is_built_and_written_again(folder: Path, damage: Callable[[bytes], bytes]) -> None:
    built, build = counting()
    cached_table("some", Table, build)
    [file] = folder.iterdir()
    whole = file.read_bytes()
    file.write_bytes(damage(whole))
    assert cached_table("some", Table, build) == TABLE
    assert len(built) == 2
    assert file.read_bytes() == whole


def test_it_can_be_turned_off(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    built, build = counting()
    monkeypatch.setenv(SWITCH, "off")
    assert [cached_table("some", Table, build) for _ in range(2)] == [TABLE] * 2
    assert len(built) == 2
    assert not folder.exists()


def test_a_folder_that_cannot_be_made_changes_nothing(folder: Path) -> None:
    folder.parent.write_text("a file where the folder should be", encoding="utf-8")
    built, build = counting()
    assert [cached_table("some", Table, build) for _ in range(2)] == [TABLE] * 2
    assert len(built) == 2


def test_an_error_while_building_leaves_no_file(folder: Path) -> None:
    def build() -> Table:
        raise ValueError("no table")

    with pytest.raises(ValueError, match="no table"):
        cached_table("some", Table, build)
    assert not folder.exists()


def test_the_newest_files_of_a_table_remain(folder: Path) -> None:
    folder.mkdir(parents=True)
    for number in range(KEPT + 2):
        for name in ("some", "some_other"):
            old = folder / f"{name}-{number}"
            old.write_bytes(b"of another version")
            os.utime(old, (number, number))
    cached_table("some", Table, lambda: TABLE)
    kept = {file.name for file in folder.iterdir() if file.name.startswith("some-")}
    assert len(kept) == KEPT
    assert {f"some-{number}" for number in range(3, KEPT + 2)} < kept
    assert len(list(folder.glob("some_other-*"))) == KEPT + 2


def test_another_version_of_a_library_has_another_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = table_cache._path("some")
    monkeypatch.setattr(table_cache, "LIBRARIES", ("msgspec",))
    table_cache._fingerprint.cache_clear()
    try:
        other = table_cache._path("some")
    finally:
        table_cache._fingerprint.cache_clear()
    assert one
    assert other
    assert one.parent == other.parent == folder
    assert one.name != other.name


@pytest.mark.long
def test_mondo_reads_as_it_was_built(folder: Path) -> None:
    built = mondo._read_mondo()
    assert cached_table("mondo", mondo.Mondo, mondo._read_mondo) == built
    read = cached_table("mondo", mondo.Mondo, mondo._read_mondo)
    assert read == built
    assert list(read.named.items()) == list(built.named.items())
    assert read.kinds == built.kinds


@pytest.mark.long
def test_a_linker_from_files_is_the_linker_that_was_built(folder: Path) -> None:
    built = lexical_linker.LexicalLinker(knowledge._built())
    for _ in range(2):  # first written, then read
        diseases = cached_table("diseases", knowledge.Knowledge, knowledge._built)
        read = lexical_linker.LexicalLinker(diseases, "diseases")
        assert diseases == built.knowledge
        assert isinstance(diseases.concepts[0], Concept)
        assert read._names == built._names
        for name in ("diabtes melitus", "heartfailure", "chrons disease", "cancer of the lung", "PE", "nothing at all"):
            assert read.link(name) == built.link(name)
    names = {file.name.partition("-")[0] for file in folder.iterdir()}
    assert names >= {"diseases", "diseases_names", "diseases_grams"}
