"""Checklists from the command line: planted usability, agreement with people, and the shared set of LLMEval-Med."""

import json
from collections import defaultdict
from pathlib import Path
from typing import Any

import planted
import pytest
from examples import first_rows
from shell import Shell

FAIR = "wardround.testing.fair_judge:FairJudge"
ITEMS = 6


def question(category: str, number: int) -> dict[str, Any]:
    """An open question of a category, with its reference and checklist."""
    return {
        "id": f"{category}-{number}",
        "form": "free",
        "level": "open",
        "question": f"What does topic {number} of {category} need?",
        "truth": {"answers": [f"It needs remedy {number} thrice daily for nine weeks."]},
        "checklist": {"core": [f"names remedy {number}"], "secondary": ["names the weeks"]},
        "kind": [category, f"part {number % 2}"],
        "provenance": {"source": "written for a test"},
        "data_class": "public",
    }


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    path = tmp_path / "open.jsonl"
    made = [question(category, number) for category in planted.SHARES for number in range(ITEMS)]
    path.write_text("\n".join(map(json.dumps, made)), encoding="utf-8")
    return path


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "s.db"


def play(shell: Shell, cases: Path, store: Path, doctor: str, *more: object) -> list[object]:
    """A run by this doctor; the options that name it."""
    told = ["--scenario", "questions", "--cases", cases, "--doctor", doctor, "--name", "r", "--store", store]
    assert shell("run", *told, *more) in (0, 3), shell.err
    return ["r", "--store", store]


@pytest.mark.long
def test_planted_usability_is_recovered_exactly(shell: Shell, cases: Path, store: Path) -> None:
    planted.WRITTEN.clear()
    run = play(shell, cases, store, "planted:Answers", "--repeats", 3)
    judged = ["--evaluators", "checklist", "--judge", "planted:Judge", "--judge-repeats", planted.TIMES]
    assert shell("score", *run, *judged) == 0, shell.err
    told = shell.json("checklists", "show", *run)
    bits: dict[str, str] = defaultdict(str)
    for category, written in planted.WRITTEN:
        bits[category] += written
    rates = {category: text.count("1") / len(text) for category, text in bits.items()}
    assert {row["group"]: (row["usable"], row["markings"]) for row in told["categories"]} == {
        category: (text.count("1"), 9 * ITEMS) for category, text in bits.items()
    }
    assert {row["group"]: row["rate"] for row in told["categories"]} == pytest.approx(rates)
    assert told["overall"] == pytest.approx(sum(rates.values()) / 5)
    assert told["overall_ci95"][0] < told["overall"] < told["overall_ci95"][1]
    assert len(told["kinds"]) == 10
    generated = next(row for row in told["categories"] if row["group"] == "generation")
    assert generated["strict"] == 0.0, "(5,5,3,3) is usable by section 3.2 and not by 4.2"
    errors = next(row for row in told["categories"] if row["group"] == "ethics")["errors"]
    assert errors["incomplete_knowledge"] == pytest.approx(1 - rates["ethics"])
    assert told["stability"][0]["times"] == planted.TIMES
    assert shell("checklists", "show", *run) == 0
    assert "Overall" in shell.out
    assert "by section 4.2" in shell.out


@pytest.mark.long
def test_a_category_that_disagrees_with_people_is_reported_from_people_only(
    shell: Shell, cases: Path, store: Path, tmp_path: Path
) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    lines = ["episode,usable"]
    for name in planted.SHARES:
        lines += [f"{name}-{n}@1,{'no' if name == 'generation' and n < 4 else 'yes'}" for n in range(ITEMS)]
    people = tmp_path / "people.csv"
    people.write_text("\n".join(lines), encoding="utf-8")
    told = shell.json("checklists", "show", *run, "--people", people)
    rows = {row["group"]: row for row in told["categories"]}
    assert (rows["generation"]["source"], rows["generation"]["rate"]) == ("people", pytest.approx(2 / 6))
    assert (rows["knowledge"]["source"], rows["knowledge"]["rate"]) == ("judges", 1.0)
    below = [row for row in told["kinds"] if row["group"].startswith("Medical text generation")]
    assert {row["source"] for row in below} == {"people"}
    assert sum(row["usable"] for row in below) == 2
    assert {row["source"] for row in told["kinds"] if row not in below} == {"judges"}
    confusion = {one["group"]: one for one in told["confusion"]}
    assert [confusion["generation"][name] for name in ("both", "over", "under", "neither")] == [2, 4, 0, 0]
    assert shell("checklists", "show", *run, "--people", people) == 0
    assert "the judges overestimate; under the stated agreement" in shell.out
    people.write_text("episode,usable\nknowledge-0@1,perhaps\n", encoding="utf-8")
    assert shell("checklists", "show", *run, "--people", people) == 2
    assert "row 2, usable: is 'perhaps'" in shell.err


@pytest.mark.parametrize(
    ("doctor", "least", "most"), first_rows([("gold", 1.0, 1.0), ("copied", 0.0, 0.1), ("silent", 0.0, 0.1)], 2)
)
def test_gold_is_usable_and_a_copy_or_a_blank_is_not(
    shell: Shell, cases: Path, store: Path, doctor: str, least: float, most: float
) -> None:
    run = play(shell, cases, store, doctor)
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    assert least <= shell.json("checklists", "show", *run)["overall"] <= most


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize(
    ("doctor", "least", "most"),
    [
        pytest.param("gold", 1.0, 1.0, marks=pytest.mark.long),
        pytest.param("copied", 0.0, 0.1, marks=pytest.mark.long),
        pytest.param("silent", 0.0, 0.1, marks=pytest.mark.long),
    ],
)
def test_the_shared_set_gives_gold_all_and_a_copy_or_a_blank_nothing(
    shell: Shell, store: Path, shared: Path, doctor: str, least: float, most: float
) -> None:
    run = play(shell, shared / "data/llmeval-med/dataset.json", store, doctor)
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    told = shell.json("checklists", "show", *run)
    assert told["lacking"] == []
    assert [row["group"] for row in told["categories"] if not least <= row["rate"] <= most] == []


def test_a_run_that_was_not_marked_is_said_so(shell: Shell, cases: Path, store: Path) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("checklists", "show", *run) == 2
    assert "was not scored by checklist" in shell.err


def test_items_of_low_agreement_come_first_and_get_a_proposal(
    shell: Shell, cases: Path, store: Path, tmp_path: Path
) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    people = tmp_path / "people.csv"
    people.write_text("episode,usable\nknowledge-0@1,yes\nethics-3@1,no\nlanguage-2@1,yes\n", encoding="utf-8")
    told = shell.json("checklists", "review", *run, "--people", people)
    assert [(one["case"], one["agreement"]) for one in told] == [
        ("ethics-3", 0.0),
        ("knowledge-0", 1.0),
        ("language-2", 1.0),
    ]
    out = tmp_path / "revised.jsonl"
    review = ["checklists", "review", *run, "--people", people, "--least", 1]
    assert shell(*review, "--judge", FAIR, "--out", out) == 0, shell.err
    assert "before:" in shell.out
    assert "names remedy 3" in shell.out
    [item] = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert item["checklist"] == {"core": ["It needs remedy 3 thrice daily for nine weeks"], "origin": "drafted"}
    again = play_file(shell, out, store)
    assert shell("score", *again, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    assert shell.json("checklists", "show", *again)["drafted"] == 1
    assert shell(*review, "--out", out) == 2


def test_a_judge_that_cannot_propose_is_refused_and_nothing_is_written(
    shell: Shell, cases: Path, store: Path, tmp_path: Path
) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    people, out = tmp_path / "people.csv", tmp_path / "revised.jsonl"
    people.write_text("episode,usable\nknowledge-0@1,yes\n", encoding="utf-8")
    assert shell("checklists", "review", *run, "--people", people, "--judge", "lexical", "--out", out) == 2
    assert "checklist-draft asks what the judge lexical cannot answer" in shell.err
    assert "after (drafted)" not in shell.out
    assert not out.exists()


@pytest.mark.long
def test_a_judge_that_proposes_nothing_is_named_and_nothing_is_written(
    shell: Shell, cases: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    people, out = tmp_path / "people.csv", tmp_path / "revised.jsonl"
    people.write_text("episode,usable\nknowledge-0@1,yes\n", encoding="utf-8")
    review = ["checklists", "review", *run, "--people", people, "--judge", f"scripted/{Path(__file__).stem}:unreadable"]
    assert shell(*review, "--out", out) == 2
    assert "proposed no checklist for any of these items; nothing is written" in shell.err
    assert "no proposal: judge_unreadable/" in shell.out
    assert not out.exists()


def play_file(shell: Shell, cases: Path, store: Path) -> list[object]:
    told = ["--scenario", "questions", "--cases", cases, "--doctor", "gold", "--name", "again", "--store", store]
    assert shell("run", *told) == 0, shell.err
    return ["again", "--store", store]


def test_without_anything_to_compare_a_sentence_says_so(shell: Shell, cases: Path, store: Path) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    assert shell("checklists", "review", *run) == 0
    assert "nothing can be compared" in shell.out


@pytest.mark.long
def test_answers_without_marks_are_counted_in_the_table(shell: Shell, cases: Path, store: Path) -> None:
    closed = {"id": "c", "form": "statement", "level": "middle", "question": "Scurvy heals.", "truth": {"holds": True}}
    also = {**closed, "provenance": {"source": "written for a test"}, "data_class": "public"}
    cases.write_text(cases.read_text(encoding="utf-8") + "\n" + json.dumps(also), encoding="utf-8")
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    assert shell.json("checklists", "show", *run)["left"] == {"closed_question": 1}
    assert shell("checklists", "show", *run) == 0
    assert "Without marks: a closed question" in shell.out
    assert "[warning" not in shell.out + shell.err


def unreadable(messages: object, purpose: str) -> str:
    """A judge whose replies cannot be read."""
    del messages, purpose
    return "I would rather not say."


@pytest.mark.long
def test_a_judge_that_gives_no_mark_is_not_said_to_have_marked_once(
    shell: Shell, cases: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    run = play(shell, cases, store, "gold")
    judge = f"scripted/{Path(__file__).stem}:unreadable"
    assert shell("score", *run, "--evaluators", "checklist", "--judge", judge, "--judge-repeats", "3") == 0, shell.err
    assert shell("checklists", "show", *run) == 0
    assert "gave no mark that could be read" in shell.out
    assert "marked each answer once" not in shell.out


@pytest.mark.long
def test_verdicts_of_people_on_answers_of_another_run_are_named(
    shell: Shell, cases: Path, store: Path, tmp_path: Path
) -> None:
    run = play(shell, cases, store, "gold")
    assert shell("score", *run, "--evaluators", "checklist", "--judge", FAIR) == 0, shell.err
    people = tmp_path / "people.csv"
    people.write_text("episode,usable\nelsewhere@1,yes\n")
    assert shell("checklists", "show", *run, "--people", people) == 0
    assert "not marked here are left out: elsewhere@1" in shell.out
