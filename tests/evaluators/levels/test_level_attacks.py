"""Altered questions against their plain runs, and what a set gives away by its form."""

import json
from pathlib import Path
from typing import Any

import pytest
from shell import Shell

OPTIONS = ["Ascorbic acid", "Retinol", "Thiamine", "Niacin"]


def items(path: Path, first: int, count: int = 40) -> Path:
    """Choices of a 44-year-old; in `first` of them the right option is the first of the source."""
    lines = [
        json.dumps(
            {
                "id": f"q{number}",
                "form": "choice",
                "question": f"A 44-year-old man, number {number}. What does he lack?",
                "options": OPTIONS,
                "truth": {"option": 0 if number < first else 1 + number % 3},
                "variants": [
                    {"kind": "changed_fact", "question": "A woman. What does she lack?", "truth": {"option": 3}}
                ],
                "provenance": {"source": "test"},
                "data_class": "public",
            }
        )
        for number in range(count)
    ]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def told(shell: Shell, tmp_path: Path) -> dict[str, Any]:
    """What `levels` says of a knowing, a led, a stubborn and an always-first doctor."""
    where, store = items(tmp_path / "leaky.jsonl", 26), tmp_path / "runs.db"

    def play(name: str, doctor: str, *rules: str) -> None:
        chosen = [part for rule in rules for part in ("--set", rule)]
        told = ["--scenario", "questions", "--cases", where, "--store", store]
        assert shell("run", *told, "--doctor", doctor, "--name", name, *chosen) == 0

    play("gold", "gold")
    play("gold-none", "gold", "attack=none_of_the_above")
    play("stubborn", "question_followers:Stubborn")
    play("stubborn-changed", "question_followers:Stubborn", "attack=changed_fact")
    play("first", "always-first")
    play("first-permuted", "always-first", "permute=true")
    play("hidden", "question_followers:Stubborn", "hide_question=true", "permute=true")
    runs = ["gold", "stubborn", "first", "--store", store]
    altered = ("gold-none", "stubborn-changed", "first-permuted", "hidden")
    found: dict[str, Any] = shell.json("levels", *runs, *(part for name in altered for part in ("--against", name)))
    with_page = [*runs, "--against", "stubborn-changed", "--html", tmp_path / "page.html"]
    assert shell("levels", *with_page) == 0
    assert "Altered questions against plain ones" in shell.out
    assert "Altered questions against plain ones" in (tmp_path / "page.html").read_text()
    assert shell("levels", "gold", "hidden", "--store", store) != 0
    assert "--against hidden" in shell.err
    assert shell("levels", "gold", "--against", "hidden", "--store", store) != 0
    assert "no run given before it has the same doctor" in shell.err
    other = items(tmp_path / "other.jsonl", 0)
    words = ["--scenario", "questions", "--cases", other, "--store", store, "--doctor", "gold", "--name", "others"]
    assert shell("run", *words) == 0
    (one,) = shell.json("levels", "gold", "--against", "others", "--store", store)["attacks"]
    assert one["difference"]["cases"] == 14, "questions of the same id but of another text are no pair"
    return found


@pytest.mark.long
def test_each_altered_run_is_paired_with_the_plain_one_of_its_doctor(told: dict[str, Any]) -> None:
    by_run = {one["run"]: one for one in told["attacks"]}
    assert {name: one["plain"] for name, one in by_run.items()} == {
        "gold-none": "gold",
        "stubborn-changed": "stubborn",
        "first-permuted": "first",
        "hidden": "stubborn",
    }
    assert by_run["gold-none"]["how"] == "attack=none_of_the_above"
    assert by_run["gold-none"]["difference"]["difference"] == 0.0
    changed = by_run["stubborn-changed"]
    assert changed["difference"]["difference"] == pytest.approx(-26 / 40)
    assert changed["kept"] == pytest.approx(26 / 40)
    assert by_run["first-permuted"]["difference"]["ci95"][1] < 0
    assert by_run["hidden"]["how"] == "hide_question=true, permute=true"

    leaks = {one["run"]: one for one in told["leaks"]}
    assert set(leaks) == {"first", "hidden"}, "with permuted options, always the first shows no leak of the set"
    assert leaks["first"]["figure"]["mean"] == pytest.approx((26 / 40 - 0.25) / 0.75)
    assert leaks["first"]["figure"]["ci95"][0] > 0
    assert leaks["hidden"]["figure"]["mean"] == pytest.approx((26 / 40 - 0.25) / 0.75), "its form alone gives it away"
    assert [one["model"] for one in told["models"]] == ["gold", "question_followers:Stubborn", "always-first"]


def test_a_doctor_that_is_the_better_for_an_attack_is_named(shell: Shell, tmp_path: Path) -> None:
    where, store = items(tmp_path / "leaky.jsonl", 26), tmp_path / "runs.db"
    told = ["--scenario", "questions", "--cases", where, "--store", store]
    for name, rules in (("plain", ()), ("none", ("--set", "attack=none_of_the_above"))):
        shell("run", *told, "--doctor", "question_followers:TakesNone", "--name", name, *rules)
    assert shell("levels", "plain", "--against", "none", "--store", store) == 0
    assert "none: right more often than without the attack." in " ".join(shell.out.split())
    for name, rules in (("gold", ()), ("gold-none", ("--set", "attack=none_of_the_above"))):
        shell("run", *told, "--doctor", "gold", "--name", name, *rules)
    assert shell("levels", "gold", "--against", "gold-none", "--store", store) == 0
    assert "than without the attack" not in shell.out


@pytest.mark.long
def test_a_leak_is_that_of_the_plain_set_and_each_run_has_its_own_repeats(shell: Shell, tmp_path: Path) -> None:
    where, store = items(tmp_path / "leaky.jsonl", 26), tmp_path / "runs.db"
    told = ["--scenario", "questions", "--cases", where, "--store", store]
    played = [
        ("first", "always-first", ()),
        ("first-hinted", "always-first", ("--set", "attack=wrong_hint")),
        ("first-hidden", "always-first", ("--set", "hide_question=true")),
        ("gold", "gold", ()),
        ("gold-hidden", "gold", ("--set", "hide_question=true")),
    ]
    for name, doctor, rules in played:
        assert shell("run", *told, "--doctor", doctor, "--name", name, *rules) == 0
    altered = [part for name in ("first-hinted", "first-hidden", "gold-hidden") for part in ("--against", name)]
    found = shell.json("levels", "first", "gold", *altered, "--store", store)
    leaks = [(one["run"], one["figure"]["repeats"], one["figure"]["error"]) for one in found["leaks"]]
    assert leaks == [("first", 1, None), ("first-hidden", 1, None)]
    assert [note for note in found["notes"] if "told the truth" in note] == [
        "gold: the doctor was told the truth: its figures only check the set-up."
    ]
