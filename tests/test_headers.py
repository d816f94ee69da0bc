"""Headers of runs: read in today's form whatever version wrote them, named where they cannot be, never written over."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import keptstores
import msgspec
import oldstores
import pytest
from examples import first_ones
from shell import Shell

from wardround.engine.errors import StoreError
from wardround.engine.records import RunRow
from wardround.engine.stores.writes import header_bytes
from wardround.evaluators.metrics.standard import Standard
from wardround.runs.header import VERSION, EvaluationHeader, Header, RunHeader, read_header
from wardround.scoring.score import evaluator_of

OF_RUNS = ("seats", "seed", "prompts", "cases", "cases.index", "scenario", "scenario.name", "limits", "repeats")
OF_EVALUATIONS = ("seats", "seed", "prompts", "cases.index", "scenario.class", "evaluator", "judging.repeats")


def headers(path: str) -> dict[str, bytes]:
    """Each run's header as it lies in the store."""
    connection = sqlite3.connect(path)
    found = dict(connection.execute("SELECT name, CAST(header AS BLOB) FROM runs"))
    connection.close()
    return found


def rewrite(path: str, run: str, change: Callable[[dict[str, Any]], None]) -> None:
    """Change a stored header as another version could have written it: its digest fits."""
    header = json.loads(headers(path)[run])
    header.pop("_digest", None)
    change(header)
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE runs SET header = ? WHERE name = ?", (header_bytes(header), run))
    connection.close()


def without(field: str) -> Callable[[dict[str, Any]], None]:
    """Take a field away, `outer.inner` being one of an object."""

    def change(header: dict[str, Any]) -> None:
        *outer, last = field.split(".")
        for name in outer:
            header = header[name]
        del header[last]

    return change


@pytest.fixture
def where(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The store of version 1; the working directory holds what its headers name."""
    monkeypatch.chdir(keptstores.inputs(tmp_path))
    oldstores.asked.clear()
    return keptstores.sqlite_copy(tmp_path)


def read(where: str, run: str) -> Header:
    return read_header(RunRow(run, 0.0, keptstores.header_of(where, run)))


def test_each_header_of_version_1_is_read_and_says_the_same_again(where: str) -> None:
    for name, stored in headers(where).items():
        header, told = read(where, name), json.loads(stored)
        assert isinstance(header, EvaluationHeader if "~" in name else RunHeader)
        assert header.version == VERSION
        again = header.to_json()
        assert read_header(RunRow(name, 0.0, json.loads(msgspec.json.encode(again)))) == header
        told["limits"] = {cap: most for cap, most in told.get("limits", {}).items() if again["limits"].get(cap) == most}
        kept = {field: value for field, value in told.items() if field not in ("_digest", "limits")}
        assert {field: msgspec.json.decode(msgspec.json.encode(again[field])) for field in kept if kept[field]} == {
            field: value for field, value in kept.items() if value
        }


def test_no_verb_writes_over_a_header(where: str, shell: Shell) -> None:
    """The migration is made while reading, so there is no half of it for a process to die in."""
    before = headers(where)
    assert shell("run", "--resume", "stopped", "--store", where) == 0, shell.err
    assert shell("score", "half", "--store", where) == 0, shell.err
    judged = ["--evaluators", "reasoning", "--judge", "scripted/oldstores:judge", "--search", "bundled"]
    assert shell("score", "half", *judged, "--store", where) == 0, shell.err
    assert shell("report", "half", "--store", where) == 0, shell.err
    first = next(iter(keptstores.rows(where, "oracle")))
    assert shell("replay", "oracle", first, "--from", "0", "--doctor", "gold", "--name", "f", "--store", where) == 0
    after = headers(where)
    assert {name: after[name] for name in before} == before
    assert json.loads(after["f"])["version"] == VERSION
    assert json.loads(after["f"])["forked"] == {"run": "oracle", "episode": first, "after": 0}


VERBS = ("show", "status", "replay", "score", "report")


@pytest.mark.parametrize("run", first_ones(["oracle", "half~reasoning"], 1))
def test_a_header_of_a_newer_version_is_named_and_left_as_it_is(where: str, shell: Shell, run: str) -> None:
    rewrite(where, run, lambda header: header.update(version=VERSION + 1, seats=["of another form"]))
    before = headers(where)
    for verb in VERBS:
        assert shell(verb, run, "--store", where) == 4, verb
        assert f"the header of run {run} cannot be read: a newer Wardround wrote it" in shell.err
        assert "update Wardround" in shell.err
    assert shell("run", "--resume", run, "--store", where) == 4
    assert shell("runs", "--store", where) == 0
    assert "a newer Wardround wrote it" in shell.out
    assert shell("status", "workup", "--store", where) == 0
    assert shell("score", "workup", "--store", where) == 0, shell.err
    assert shell("run", "--limit", "1", "--doctor", "gold", "--name", "new", "--store", where) == 0, shell.err
    after = headers(where)
    assert {name: after[name] for name in before} == before


def test_a_run_judged_by_a_newer_version_is_neither_scored_nor_reported(where: str, shell: Shell) -> None:
    """Which scoring counts, and whether a judging goes on, hangs on the header that cannot be read."""
    rewrite(where, "half~reasoning", lambda header: header.update(version=VERSION + 1))
    oldstores.asked.clear()
    judged = ["--evaluators", "reasoning", "--judge", "scripted/oldstores:judge", "--search", "bundled"]
    for verb in (["score", "half"], ["score", "half", *judged], ["report", "half"]):
        assert shell(*verb, "--store", where) == 4
        assert "the header of run half~reasoning cannot be read" in shell.err
    assert not oldstores.asked
    assert set(headers(where)) >= {"half", "half~reasoning"}
    assert "half~reasoning.2" not in headers(where)


@pytest.mark.parametrize("field", first_ones(OF_RUNS, 4))
def test_a_field_that_a_run_lacks_is_named(where: str, shell: Shell, field: str) -> None:
    rewrite(where, "oracle", without(field))
    assert shell("status", "oracle", "--store", where) == 4
    assert "the header of run oracle cannot be read" in shell.err
    assert f"`{field.rpartition('.')[2]}`" in shell.err
    assert "put back a copy of the store" in shell.err
    assert shell("show", "workup", "--store", where) == 0


@pytest.mark.parametrize("field", first_ones(OF_EVALUATIONS, 3))
def test_a_field_that_an_evaluation_lacks_is_named(where: str, shell: Shell, field: str) -> None:
    rewrite(where, "half~reasoning", without(field))
    for verb, run in (("status", "half~reasoning"), ("report", "half")):
        assert shell(verb, run, "--store", where) == 4
        assert "the header of run half~reasoning cannot be read" in shell.err
        assert f"`{field.rpartition('.')[2]}`" in shell.err


@pytest.mark.parametrize("version", [0, -1, "2", None, 1.5, [2]])
def test_what_is_no_version_is_named(version: object) -> None:
    with pytest.raises(StoreError, match=r"run r cannot be read: its `version` is .*, which is not a version"):
        read_header(RunRow("r", 0.0, {"version": version}))


@pytest.mark.parametrize("field", ["seats", "scenario", "cases", "skipped", "settings"])
@pytest.mark.parametrize("value", first_ones([7, None, "text", [1]], 2))
def test_a_field_of_another_form_is_named(where: str, field: str, value: object) -> None:
    header = {**keptstores.header_of(where, "oracle"), field: value}
    with pytest.raises(StoreError, match=rf"the header of run oracle cannot be read: .* at `\$\.{field}"):
        read_header(RunRow("oracle", 0.0, header))


def test_a_judging_goes_on_though_its_classes_have_moved(where: str) -> None:
    before = read(where, "half~reasoning")
    assert isinstance(before, EvaluationHeader)
    evaluator = msgspec.structs.replace(before.scenario, path="wardround.evaluators.standard:Standard")
    now = msgspec.structs.replace(before, scenario=evaluator)
    assert isinstance(evaluator_of(now.scenario.path), Standard), "engine/plugins.py knows where it is today"
    assert before.same_judging(now)
    other = msgspec.structs.replace(now, judging=msgspec.structs.replace(now.judging, repeats=2))
    assert not before.same_judging(other)
    assert not before.same_judging(msgspec.structs.replace(now, evaluator_version="2"))
    assert before.same_judges(msgspec.structs.replace(now, evaluator_version="2"))


def test_an_evaluation_of_before_it_kept_its_judges_says_how_it_goes_on(where: str, shell: Shell) -> None:
    assert shell("score", "--resume", "half~reasoning", "--store", where) == 2
    assert "half~reasoning does not say how its judges are reached" in shell.err
    assert "score half again with the same judges" in shell.err
    assert oldstores.asked == []
    assert shell("score", "--resume", "half", "--store", where) == 2
    assert "run half is not an evaluation; to go on with it: wardround run --resume half" in shell.err
