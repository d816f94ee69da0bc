"""A build that is interrupted goes on from the last table that it had read, and gives the same cases."""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.mimic_tree import MimicTree
from wardround.builds import build_mimic
from wardround.engine.errors import UsageError
from wardround.scenarios.mimic.mimic_files import MimicOptions

DYING = """
import os, sys
from pathlib import Path
from wardround.builds import build_mimic
from wardround.scenarios.mimic.mimic_files import MimicOptions
options = MimicOptions(mimic=Path(sys.argv[1]), min_per_disease=1, on_bad_row="skip")
build_mimic(options, Path(sys.argv[2]), lambda text: os._exit(9) if text.startswith(sys.argv[3]) else None)
"""


def options(tree: MimicTree, **more: int) -> MimicOptions:
    return MimicOptions(mimic=tree.root, on_bad_row="skip", **{"min_per_disease": 1, **more})  # type: ignore[arg-type]


def die(tree: MimicTree, out: Path, at: str) -> None:
    """Begin the build in a process of its own, which ends without a word when it says `at`."""
    ended = subprocess.run([sys.executable, "-c", DYING, str(tree.root), str(out), at], check=False, timeout=120)
    assert ended.returncode == 9


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> MimicTree:
    tree = MimicTree(tmp_path_factory.mktemp("resumed"), 34, packed=())
    path = tree.written["labevents"]
    lines = path.read_bytes().split(b"\n")
    lines[3] = lines[3].replace(b",STAT,", b',"STAT,')
    path.write_bytes(b"\n".join(lines))
    return tree


@pytest.fixture(scope="module")
def whole(tree: MimicTree, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The cases of a build that nothing interrupts, with their flow beside them."""
    path = tmp_path_factory.mktemp("whole") / "cases.jsonl"
    build_mimic(options(tree), path)
    return path


@pytest.mark.parametrize(
    ("at", "taken"),
    [
        ("admissions whose results", "admissions, notes"),
        ("rows of theirs", "admissions, notes, labs, cultures, reports"),
    ],
)
@pytest.mark.long
def test_a_killed_build_goes_on_and_gives_the_same(
    at: str, taken: str, tree: MimicTree, whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "cases.jsonl"
    die(tree, out, at)
    assert not out.exists()
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")  # where the build is started does not matter
    said: list[str] = []
    build_mimic(options(tree), out, said.append)
    assert f"taken over from the interrupted build: {taken}" in said
    assert out.read_bytes() == whole.read_bytes()
    flow = "cases.jsonl.flow.json"
    assert (tmp_path / flow).read_bytes() == whole.with_name(flow).read_bytes(), "unreadable rows are still counted"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.jsonl", flow, "here"]


@pytest.mark.long
def test_other_settings_begin_anew(tree: MimicTree, tmp_path: Path) -> None:
    out = tmp_path / "cases.jsonl"
    die(tree, out, "rows of theirs")
    said: list[str] = []
    build_mimic(options(tree, per_disease=1), out, said.append)
    assert not any(text.startswith("taken over") for text in said)


def test_a_folder_of_the_user_is_left_alone(tree: MimicTree, tmp_path: Path) -> None:
    out = tmp_path / "cases.jsonl"
    (tmp_path / "cases.jsonl.work").mkdir()
    (tmp_path / "cases.jsonl.work" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is in the way"):
        build_mimic(options(tree), out)
    assert (tmp_path / "cases.jsonl.work" / "mine.txt").read_text() == "mine"
