"""Middle-level items built end to end: the run, the account, the sheet, bad texts, a stop and its resume."""

import csv
import io
import json
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from item_writing import NEW, choice, choice_set, instead, written

from wardround import run, score_run
from wardround.builds import Built, ItemBuild
from wardround.engine.batch import Progress
from wardround.engine.errors import UsageError
from wardround.replay_run import replay_run
from wardround.runs.settings import RunSettings, validate_settings
from wardround.runs.stored_run import Run
from wardround.scenarios.level_items.item_account import ItemAccount
from wardround.scenarios.loaders.load import load_playable
from wardround.scenarios.question_item import QuestionItem
from wardround.scoring.level_rows import level_rows
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore

CALLS = 6
"""Calls of one question: three texts, each checked."""


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


@pytest.fixture
async def server() -> AsyncIterator[Loopback]:
    async with Loopback(written) as running:
        yield running


def settings(where: Path, base_url: str, rules: dict[str, Any] | None = None, **more: Any) -> RunSettings:
    seats = {
        "writer": {"spec": "openai/m", "base_url": base_url},
        "checker": {"spec": "openai/n", "base_url": base_url},
    }
    fields = {"cases": str(where), "scenario": "level-items", "seats": seats, "name": "r", "preflight": False, **more}
    return validate_settings({**fields, "set": rules or {}}, "test")


def flow(built: Built[ItemAccount]) -> dict[str, tuple[int, int]]:
    return {step.rule: (step.seen, step.dropped) for step in built.account.steps if step.rule != "written"}


def beside(out: Path, name: str) -> str:
    return Path(f"{out}.{name}").read_text(encoding="utf-8")


def made(out: Path) -> list[QuestionItem]:
    return [one for one in load_playable(out) if isinstance(one, QuestionItem)]


async def test_a_set_becomes_six_items_a_question_and_every_loss_is_counted(tmp_path: Path, server: Loopback) -> None:
    out, store = tmp_path / "middle.jsonl", MemoryStore()
    built = await ItemBuild(out).begin(settings(choice_set(tmp_path), server.base_url), store, Progress())
    assert [
        flow(built)[rule] for rule in ("readable", "one_right", "choice", "text_only", "whole_options", "worded")
    ] == [
        (9, 1),
        (8, 1),
        (7, 1),
        (6, 1),
        (5, 1),
        (4, 1),
    ]
    items = made(out)
    assert Counter(item.form for item in items) == {"statement": 6, "rectification": 6, "existence": 6}
    assert {item.level for item in items} == {"middle"}
    assert Counter(item.source_group for item in items) == {"q1": 6, "q2": 6, "q3": 6}
    by_id = {item.id: item for item in items}
    assert "Meningitis" in by_id["SV-q1a"].question
    assert by_id["SV-q1a"].truth.holds
    assert not by_id["SV-q1b"].truth.holds
    assert by_id["MR-q2a"].offered == by_id["MR-q2a"].truth.option == 1
    assert by_id["MR-q2b"].offered != 1
    assert by_id["AE-q2a"].options[1] == "Furosemide"
    assert by_id["AE-q2b"].options == ("Mannitol", NEW["q2"], "Spironolactone")
    assert by_id["AE-q2b"].group == "Oedema"
    assert by_id["SV-q3a"].language == "zh"
    account = json.loads(beside(out, "flow.json"))
    assert account["forms"] == {"statement": 6, "rectification": 6, "existence": 6}
    assert account["spent"]["writer"]["calls"] == account["spent"]["checker"]["calls"] == 9
    assert server.total == 3 * CALLS
    assert [found.error async for found in replay_run(await Run.open(store, "r"))] == [""] * 3


async def test_what_was_built_is_played_and_gold_is_perfect(tmp_path: Path, server: Loopback) -> None:
    out, store = tmp_path / "middle.jsonl", MemoryStore()
    into = ItemBuild(out, low=True)
    await into.begin(settings(choice_set(tmp_path), server.base_url), store, Progress())
    played = await run(out, "questions", doctor="gold", store=store, name="g", set={"shots": 2})
    rows, _ = await level_rows([(played, await score_run(played))])
    assert {(row.level, row.value) for row in rows} == {("low", 1.0), ("middle", 1.0)}
    assert {row.unit for row in rows if row.level == "low"} == {row.unit for row in rows if row.level == "middle"}


@pytest.mark.parametrize(
    ("model", "rule", "forms"),
    [
        (instead("Distractor: <", "I would write Encephalitis"), "written", (6, 6, 0)),
        (instead("Statement: <the", "Statement: Is it so?"), "sentence", (0, 6, 6)),
        (instead("New option: ", "Why: it is right as well.\nVerdict: no"), "checked", (6, 6, 0)),
        (instead("Verdict: <", "No idea"), "checked", (0, 6, 0)),
    ],
)
async def test_a_bad_text_is_dropped_with_its_rule_and_its_pair(
    tmp_path: Path, model: Callable[..., str], rule: str, forms: tuple[int, int, int]
) -> None:
    out = tmp_path / "middle.jsonl"
    async with Loopback(model) as server:
        built = await ItemBuild(out).begin(settings(choice_set(tmp_path), server.base_url), MemoryStore(), Progress())
    assert {drop["rule"] for drop in built.account.dropped} == {rule}
    items = Counter(item.form for item in made(out))
    assert tuple(items[form] for form in ("statement", "rectification", "existence")) == forms
    assert "lost after the models were asked" in built.account.text()


@pytest.mark.parametrize(("second", "lost"), [("Otitis", []), ("MIGRAINE", ["new"])])
async def test_a_text_that_breaks_a_rule_is_written_once_more(tmp_path: Path, second: str, lost: list[str]) -> None:
    out = tmp_path / "middle.jsonl"
    (tmp_path / "one.jsonl").write_text(choice(1, "A fever?", ["Meningitis", "Migraine", "Gout"], 0) + "\n")
    model = instead("Distractor: <", "Distractor: migraine", f"Distractor: {second}")
    async with Loopback(model) as server:
        store = MemoryStore()
        built = await ItemBuild(out).begin(settings(tmp_path / "one.jsonl", server.base_url), store, Progress())
        assert server.total == CALLS + 1 - len(lost)
    assert [drop["rule"] for drop in built.account.dropped] == lost
    assert [item.options[0] for item in made(out) if item.id == "AE-q1b"] == ([] if lost else [second])


async def test_a_stopped_build_is_completed_without_a_call_made_twice(tmp_path: Path, server: Loopback) -> None:
    out, store = tmp_path / "middle.jsonl", MemoryStore()
    begun = settings(choice_set(tmp_path), server.base_url, budget=["8calls"], concurrency=1)
    half = await ItemBuild(out).begin(begun, store, Progress())
    assert half.endings["open"] == 2
    assert len(made(out)) == 6
    assert "2 questions are not finished" in half.account.text()
    whole = await ItemBuild(out).resume("r", store, Progress(), budget=["100calls"])
    assert len(made(out)) == 18
    assert server.total == 3 * CALLS
    assert whole.account.made == {"statement": 6, "rectification": 6, "existence": 6}
    again = await ItemBuild(out).resume("r", store, Progress())
    assert (server.total, again.account.made) == (3 * CALLS, whole.account.made)
    await run(out, "questions", doctor="gold", store=store, name="g")
    with pytest.raises(UsageError, match="is not a build of middle-level items"):
        await ItemBuild(out).resume("g", store, Progress())


async def test_a_sample_is_spread_over_diseases_and_the_sheet_over_kinds(tmp_path: Path, server: Loopback) -> None:
    names = ("Meningitis", "Furosemide")
    lines = [
        choice(n, f"Question {n} of them?", [names[n % 2], "Iron", "Zinc", "Lead"], 0, group=f"D{n % 4}")
        for n in range(40)
    ]
    (tmp_path / "many.jsonl").write_text("\n".join(lines) + "\n")
    out = tmp_path / "middle.jsonl"
    built = await ItemBuild(out, 9).begin(
        settings(tmp_path / "many.jsonl", server.base_url, {"sample": 0.1}), MemoryStore(), Progress()
    )
    assert {item.group for item in made(out)} == {"D0", "D1", "D2", "D3"}
    assert len(made(out)) == 24
    rows = list(csv.DictReader(io.StringIO(beside(out, "sheet.csv"))))
    assert Counter(row["piece"] for row in rows) == dict.fromkeys(
        ("true_statement", "false_statement", "distractor"), 3
    )
    assert built.account.sheet == 9


async def test_one_model_that_checks_itself_is_named(tmp_path: Path, server: Loopback) -> None:
    seats = {seat: {"spec": "openai/m", "base_url": server.base_url} for seat in ("writer", "checker")}
    alone = settings(choice_set(tmp_path), server.base_url, seats=seats)
    built = await ItemBuild(tmp_path / "m.jsonl").begin(alone, MemoryStore(), Progress())
    assert "name another by --checker" in built.account.text()


async def test_nothing_left_writes_no_file_and_a_table_says_why(tmp_path: Path, server: Loopback) -> None:
    (tmp_path / "one.jsonl").write_text(choice(5, "Is it so?", ["yes", "no"], 0) + "\n")
    out = tmp_path / "m.jsonl"
    built = await ItemBuild(out).begin(settings(tmp_path / "one.jsonl", server.base_url), MemoryStore(), Progress())
    assert built.run is None
    assert not out.exists()
    assert "no item was made: rule worded" in built.account.text()
