"""`wardround orders`: one object for each line, in order; a file that cannot be read is named."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from structlog.testing import capture_logs

from wardround.cli import app
from wardround.scenarios.orders.catalogue import read_test_names


def test_each_line_of_a_file_is_one_object_in_order(tmp_path: Path) -> None:
    lines = ["urine Na, serum Na", "", "hold the CT head; blorbogram", "ketones"]
    path = tmp_path / "orders.txt"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = CliRunner().invoke(app, ["orders", "--file", str(path), "--json"])
    assert done.exit_code == 0, done.output
    read = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["text"] for one in read] == lines
    assert [[piece["status"] for piece in one["pieces"]] for one in read] == [
        ["matched", "matched"],
        [],
        ["not_an_order", "unknown"],
        ["ambiguous"],
    ]
    concept = read[0]["pieces"][0]["concepts"][0]
    assert {"name", "kind", "specimen", "method", "item_ids"} <= set(concept)
    assert (concept["name"], concept["specimen"]) == ("Urine sodium", "urine")
    assert 51100 in concept["item_ids"]


def test_a_text_is_explained() -> None:
    done = CliRunner().invoke(app, ["orders", "CSF glucose and serum glucose"])
    assert done.exit_code == 0, done.output
    assert "CSF glucose [lab, CSF]" in done.stdout
    assert "Glucose [lab, blood]" in done.stdout


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    for arguments in ([], ["CBC", "--file", "x"], ["--file", str(tmp_path / "absent.txt")]):
        done = CliRunner().invoke(app, ["orders", *arguments])
        assert done.exit_code != 0
        assert "Traceback" not in done.output


def test_names_of_your_own_are_read_beside_the_table(tmp_path: Path) -> None:
    ours = tmp_path / "ours.csv"
    ours.write_text("test,names,kind\nPotassium,Zqkali|zqalium zq,\nZq protein,ZQP,lab\n", encoding="utf-8")
    plain = CliRunner().invoke(app, ["orders", "ZQP, zqalium zq", "--json"])
    assert {piece["status"] for piece in json.loads(plain.stdout)["pieces"]} == {"unknown"}
    done = CliRunner().invoke(app, ["orders", "ZQP, zqalium zq", "--json", "--names", str(ours)])
    assert done.exit_code == 0, done.output
    pieces = json.loads(done.stdout)["pieces"]
    assert [piece["concepts"][0]["name"] for piece in pieces] == ["Zq protein", "Potassium"]


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("Zq protein,Zqp,lab\nZqp,Zq protein,\n", 3),
        ("Zq protein,Zqp,lab\nZqp,Zqq,\nZqq,zq protein,\n", 4),
        ("Potassium,Zqk,\nZqk,K|Potassium,\n", 3),
        ("Potassium,Zqk|Potassium,\nZqk,Zql,\n", 0),
        ("Zq protein,Zqp,lab\nZq protein,Zqp,\n", 0),
    ],
)
def test_names_that_go_round_in_a_loop_are_named_and_the_rest_goes_on(tmp_path: Path, rows: str, line: int) -> None:
    ours = tmp_path / "ours.csv"
    ours.write_text(f"test,names,kind\n{rows}", encoding="utf-8")
    with capture_logs() as logs:
        assert read_test_names(ours)
    assert [entry["at"] for entry in logs] == [f"{ours}, line {line}"] * bool(line)


def test_a_table_of_names_that_cannot_be_used_is_named_by_line(tmp_path: Path) -> None:
    for rows, said in (
        ("test,names\nPotassium,sodium\n", "line 2: 'sodium' already means Sodium"),
        ("test,names\nZq protein,ZQP\n", "a new one needs a kind"),
        ("name\nPotassium\n", "needs the columns test and names"),
    ):
        ours = tmp_path / "ours.csv"
        ours.write_text(rows, encoding="utf-8")
        done = CliRunner().invoke(app, ["orders", "CBC", "--names", str(ours)])
        assert done.exit_code != 0
        assert said in str(done.exception)


def test_odd_files_are_read_or_named(tmp_path: Path) -> None:
    path = tmp_path / "orders.txt"
    for content, said in ((b"", "no order in it"), (b"\n\n", "no order in it"), (b"CBC \xff", "is not UTF-8")):
        path.write_bytes(content)
        done = CliRunner().invoke(app, ["orders", "--file", str(path)])
        assert done.exit_code != 0
        assert said in str(done.exception)
    path.write_bytes(b"\xef\xbb\xbfCBC\x00\r\nserum \xe2\x80\xaesodium\r\n" + b"natrium und kalium, " * 50_000 + b"\n")
    done = CliRunner().invoke(app, ["orders", "--file", str(path), "--json"])
    assert done.exit_code == 0, done.output
    first, second, third = (json.loads(line) for line in done.stdout.split("\n") if line)
    assert [piece["concepts"][0]["name"] for one in (first, second) for piece in one["pieces"]] == [
        "Complete blood count",
        "Sodium",
    ]
    assert {piece["concepts"][0]["name"] for piece in third["pieces"]} == {"Sodium", "Potassium"}
