"""`wardround levels` from stored runs: planted abilities are recovered, in tables, JSON and a page."""

import json
from pathlib import Path

import pytest
from shell import Shell

from wardround.scoring.level_rows import dataset_of

FORMS = ("choice", "statement", "existence", "rectification")
FACTS = """
[[model]]
name = "Expert"
ids = ["knowing:Expert"]
family = "Toy"
backbone = "Student"
parameters = 70
medical = true

[[model]]
name = "Student"
ids = ["knowing:Student"]
family = "Toy"
parameters = 2
"""


def items(path: Path, count: int = 40) -> Path:
    """Questions of four forms on one list of source questions, each on a disease."""
    lines = []
    for number in range(count):
        for form in FORMS:
            for holds in (True,) if form == "choice" else (True, False):
                options = [] if form == "statement" else ["Gout", "Sepsis", "Lupus", "Psoriasis"]
                truth = {"choice": {"option": number % 4}, "rectification": {"option": number % 4, "holds": holds}}
                made: dict[str, object] = {
                    "id": f"{form}-{number}{'ab'[not holds]}",
                    "form": form,
                    "level": "low" if form == "choice" else "middle",
                    "question": f"Question {number} {form} {holds}?",
                    "options": options,
                    "truth": truth.get(form, {"holds": holds}),
                    "source_group": str(number),
                    "provenance": {"source": "test"},
                    "data_class": "public",
                }
                if form == "rectification":
                    made["offered"] = number % 4 if holds else (number + 1) % 4
                lines.append(json.dumps(made))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def played(shell: Shell, tmp_path: Path) -> list[object]:
    where, store = items(tmp_path / "toy.jsonl"), tmp_path / "runs.db"
    names = []
    for doctor in ("Expert", "Student"):
        told = ["--doctor", f"knowing:{doctor}", "--store", store]
        assert shell("run", "--scenario", "questions", "--cases", where, "--repeats", 2, "--name", doctor, *told) == 0
        assert (
            shell("run", "--scenario", "workup", "--cases", "bundled", "--limit", 5, "--name", f"{doctor}-high", *told)
            == 0
        )
        names += [doctor, f"{doctor}-high"]
    (tmp_path / "models.toml").write_text(FACTS)
    return [*names, "--store", store, "--models", tmp_path / "models.toml"]


@pytest.mark.long
def test_planted_abilities_are_recovered(shell: Shell, played: list[object], tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    told = shell.json("levels", *played, "--html", page)
    expert, student = told["models"]
    assert (expert["model"], expert["facts"]["parameters"]) == ("knowing:Expert", 70)
    low, middle, high = (expert["levels"][level] for level in ("low", "middle", "high"))
    assert (low["units"], middle["units"], high["units"]) == (40, 40, 5)
    assert low["ci95"][0] < (0.9 - 0.25) / 0.75 < low["ci95"][1]
    assert low["error"] is not None
    assert student["levels"]["low"]["mean"] < low["mean"]
    gaps = {(one["model"], one["first"], one["second"]): one for one in told["gaps"]}
    assert gaps["knowing:Expert", "low", "middle"]["pairs"] == 40
    assert gaps["knowing:Expert", "low", "middle"]["ci95"] is not None
    assert [(one["first"], one["level"]) for one in told["backbones"]] == [
        ("knowing:Student", level) for level in ("low", "middle", "high")
    ]
    assert {one["by"] for one in told["strata"]} == {"disease", "body_system"}
    text = page.read_text()
    assert text.count("<svg") >= 4
    assert "Thinking minus its plain sibling: No thinking model" in text
    assert shell("levels", *played) == 0
    for title in ("Normalised accuracy by level", "By task", "Gaps between levels", "What is known of the models"):
        assert title in shell.out
    assert "40, by question" in shell.out


@pytest.mark.parametrize(
    ("places", "name"),
    [
        ("data/medqa/MCQ.test.json", "medqa"),
        (["data/medqa/MCQ.test.json", "data/medqa/SV.test.json"], "medqa"),
        (["data/medqa/MCQ/test.json", "data/medmcqa/MCQ/test.json"], "medqa+medmcqa"),
        ("my questions.jsonl", "my questions"),
        ("healthver/claims.csv.gz", "claims"),
        ("bundled", "bundled"),
        ("test.jsonl", "test"),
    ],
)
def test_a_set_is_called_after_its_file_or_folder(places: object, name: str) -> None:
    assert dataset_of(places) == name


def test_people_play_and_rate(shell: Shell, tmp_path: Path) -> None:
    where, store = items(tmp_path / "toy.jsonl", 5), ("--store", tmp_path / "runs.db")
    for person in ("ann", "ben"):
        player = ("--doctor", f"knowing:{'Expert' if person == 'ann' else 'Student'}")
        assert shell("run", "--scenario", "questions", "--cases", where, "--name", person, *player, *store) == 0
    ratings = tmp_path / "d.csv"
    ratings.write_text("run,item,difficulty\nann,choice-0a,2\nann,nothing,3\n")
    assert shell("levels", "ann", "ben", "--difficulty", ratings, *store) == 0
    assert "ann: a rating of difficulty of nothing, which was not answered." in shell.out


@pytest.mark.long
def test_a_run_with_scores_of_another_kind_is_told_how_to_get_its_own(shell: Shell, tmp_path: Path) -> None:
    store = ["--store", tmp_path / "runs.db"]
    shown = {
        "q": (["questions", "--cases", "bundled:questions"], "question accuracy", "score q --evaluators questions"),
        "e": (["workup", "--cases", "bundled:reports"], "full path", "wardround score e."),
    }
    for name, (how, lacks, cure) in shown.items():
        played = ["run", "--scenario", *how, "--doctor", "gold", "--limit", 2, "--name", name, *store]
        assert shell(*played) == 0, shell.err
        assert shell("score", name, "--evaluators", "rubric", "--judge", "lexical", *store) == 0, shell.err
        assert shell("levels", name, *store) == 0, shell.err
        assert f"{name}: has no {lacks}" in shell.out
        assert cure in shell.out
        assert "the high level is" not in shell.out


@pytest.mark.parametrize(
    "fact", ["parameters = -3", "parameters = 0", "tokens = -1", 'release = "soon"', 'cut_off = "2024-4"']
)
def test_a_fact_that_cannot_be_is_refused(shell: Shell, tmp_path: Path, fact: str) -> None:
    facts = tmp_path / "models.toml"
    facts.write_text(f'[[model]]\nname = "X"\n{fact}\n')
    assert shell("levels", "any", "--models", facts) == 2
    assert fact.split(" ", maxsplit=1)[0] in shell.err
