"""`wardround match`: one pair for people, a file of pairs for machines."""

import json
from pathlib import Path

import pytest
from shell import Shell

from wardround.scenarios.answers.diagnosis import compare
from wardround.scenarios.case import Truth

PAIRS = [("Gout", "anything but gout"), ("Scurvy", "scurvy"), ("Gout", "gout or psoriasis"), ("Gout", "")]


def written(path: Path, *lines: str) -> str:
    """A file of pairs."""
    path.write_text("\n".join(lines), encoding="utf-8")
    return str(path)


def test_one_pair_shows_what_was_read_and_which_rule(shell: Shell) -> None:
    assert shell("match", "Gout with psoriasis", "Most likely gout, not pseudogout") == 0
    shown = shell.out
    assert shown.startswith("the same: 'gout' is the principal diagnosis 'Gout'")
    for told in (
        "rule:",
        "Gout; psoriasis",
        "to:    gout",
        "hedged:  ",
        "not counted:   not pseudogout",
        "a lower bound",
    ):
        assert told in shown
    assert shell("match", "Gout", "gout or psoriasis") == 0
    assert "left open:     gout; psoriasis" in shell.out
    assert shell("match", "Gout", "podagra", "--synonym", "Podagra") == 0
    assert shell.out.startswith("the same")


def test_one_pair_as_json(shell: Shell) -> None:
    told = shell.json("match", "Gout", "gout")
    assert (told["truth"], told["answer"], told["same"]) == ("Gout", "gout", True)
    assert told["reason"]


@pytest.mark.parametrize("header", [(), ("truth\tanswer",)])
def test_a_file_is_one_object_a_line_in_order_and_says_what_the_score_says(
    shell: Shell, tmp_path: Path, header: tuple[str, ...]
) -> None:
    path = written(tmp_path / "pairs.tsv", *header, *("\t".join(pair) for pair in PAIRS), "")
    assert shell("match", "--file", path, "--json") == 0
    told = [json.loads(line) for line in shell.out.splitlines()]
    assert [(one["truth"], one["answer"]) for one in told] == PAIRS
    assert [one["same"] for one in told] == [compare(said, Truth(diagnosis=meant)).match for meant, said in PAIRS]
    assert all(list(one) == ["truth", "answer", "same", "reason"] for one in told)
    assert shell("match", "--file", path) == 0
    assert [line.split("\t")[0] for line in shell.out.splitlines()] == [
        "not the same",
        "same",
        "not the same",
        "not the same",
    ]


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (("Gout\tgout", "no tab here"), "line 2: 1 column"),
        (("truth\tanswer", "a\tb\tc"), "line 2: 3 columns"),
        (("\tgout",), "line 1: the truth is empty"),
        (("truth\tanswer",), "no pair in it"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_said(
    shell: Shell, tmp_path: Path, lines: tuple[str, ...], told: str
) -> None:
    assert shell("match", "--file", written(tmp_path / "pairs.tsv", *lines), "--json") == 2
    assert told in shell.err
    assert "pairs.tsv" in shell.err
    assert shell.out == ""


def test_what_is_missing_is_said(shell: Shell, tmp_path: Path) -> None:
    for arguments, told in (
        (("Gout",), "--file"),
        (("Gout", "gout", "--file", "x"), "not both"),
        (("--file", tmp_path / "none.tsv"), "cannot be read"),
        ((" ", "gout"), "TRUTH is empty"),
    ):
        assert shell("match", *arguments) == 2
        assert told in shell.err
