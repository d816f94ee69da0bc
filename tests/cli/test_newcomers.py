"""What the command line says to somebody who tries it: what a file replaces, what a wrong file or name may be."""

from pathlib import Path

import pytest
from clinic import case_file
from examples import first_ones
from shell import Shell


@pytest.fixture
def store(tmp_path: Path, shell: Shell) -> Path:
    shell("run", "--cases", case_file(tmp_path / "cases.jsonl", 2), "--doctor", "gold", "--name", "r",
          "--store", tmp_path / "s.db")  # fmt: skip
    return tmp_path / "s.db"


WRITERS = [
    ("report", "r", "--csv"),
    ("export", "r", "--out"),
    ("export", "r", "--scores", "--out"),
    ("cases", "import", "cases.jsonl", "--out"),
    ("cases", "pool", "questions.jsonl", "--out"),
    ("report", "r", "--html"),  # it draws three pages, so it is long
]


@pytest.mark.parametrize("asked", first_ones(WRITERS, 5), ids=" ".join)
def test_each_command_says_which_folder_it_makes_and_which_file_it_replaces(
    shell: Shell, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asked: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("questions.jsonl").write_text('{"question": "x", "options": {"A": "Gout", "B": "Lupus"}, "answer_idx": "A"}\n')
    at = () if asked[0] == "cases" else ("--store", store)
    out = Path("new", "out.txt")
    assert shell(*asked, out, *at) == 0
    assert "the folder new will be made" in shell.err
    before = out.read_bytes()
    assert shell(*asked, out, *at) == 0
    assert f"{out} is there already and will be replaced" in shell.err
    assert "will be made" not in shell.err
    assert out.read_bytes() == before
    assert shell(*asked, Path("new", "other.txt"), *at) == 0
    assert "will be made" not in shell.err + shell.out
    assert "is there already" not in shell.err + shell.out


@pytest.mark.parametrize("option", ["--config", "--prices", "--names", "--persona", "--test-prices"])
def test_a_file_of_other_bytes_is_named_with_its_option_and_line(shell: Shell, tmp_path: Path, option: str) -> None:
    wrong = tmp_path / "wrong.toml"
    wrong.write_bytes(b'# one\ndoctor = "b\xe9"\n')
    assert shell("run", option, wrong, "--doctor", "baseline", "--scenario", "sequential", "--limit", 1) == 2
    assert "wrong.toml, line 2: byte 0xe9 is not UTF-8; save the file as UTF-8" in shell.err
    assert "codec" not in shell.err


def test_a_run_file_that_is_no_toml_is_said_with_its_line(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text("doctor = \n")
    assert shell("run", "--config", tmp_path / "run.toml") == 2
    assert "run.toml: is not TOML (Invalid value (at line 1, column 10))" in shell.err


def test_a_model_at_an_address_without_its_provider_is_recognised(shell: Shell) -> None:
    assert shell("run", "--doctor", "my-model", "--base-url", "http://127.0.0.1:9/v1", "--limit", 1) == 2
    assert "there is no doctor 'my-model', did you mean openai/my-model?" in shell.err
