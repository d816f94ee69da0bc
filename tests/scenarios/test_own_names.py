"""Names of tests of the user's own: the examiner reads orders and record by them, and they stay with the run."""

import json
from pathlib import Path

import pytest
from examples import first_ones
from shell import Shell

from wardround.engine.records import Action, View

NAMES = "test,names,kind\nPotassium,KAL-S|Kalium zq,\nZq protein,ZQP|ZQP-S,lab\n"
CASE = {
    "id": "k1",
    "opening": "A 50-year-old man is weak.",
    "labs": [{"name": "KAL-S", "value": "6.9", "unit": "mmol/L"}, {"name": "ZQP-S", "value": "40", "unit": "ug/L"}],
    "truth": {"diagnosis": "Hyperkalaemia"},
    "provenance": {"source": "own"},
    "data_class": "public",
}


class Orders:
    """Orders two tests by their plain names, then concludes."""

    async def act(self, view: View) -> Action:
        if "order" in view.verbs and not view.memo:
            items = ["serum potassium", "Zq protein"]
            return Action("order", args={"kind": "lab", "items": items}, memo={"ordered": True})
        return Action("conclude", args={"diagnosis": "Hyperkalaemia"})


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    Path("cases.jsonl").write_text(json.dumps(CASE) + "\n", encoding="utf-8")
    Path("names.csv").write_text(NAMES, encoding="utf-8")
    return tmp_path


def recall(shell: Shell, name: str) -> float:
    assert shell("score", name) == 0, shell.err
    (score,) = [one for one in shell.json("report", name)["runs"][0]["scores"] if one["name"] == "exam_recall"]
    return float(score["mean"])


@pytest.mark.parametrize("scenario", first_ones(["workup", "consultation", "one-turn", "free-turn", "sequential"], 2))
def test_the_examiner_knows_the_names_of_the_run(scenario: str, shell: Shell, here: Path) -> None:
    run = ("run", "--cases", "cases.jsonl", "--scenario", scenario, "--doctor", "test_own_names:Orders")
    assert shell(*run, "--name", "without") == 0, shell.err
    assert shell(*run, "--name", "with", "--names", "names.csv") == 0, shell.err
    Path("names.csv").unlink()
    assert recall(shell, "without") == 0.0
    assert recall(shell, "with") == 1.0
    assert shell("replay", "with") == 0, shell.out


def test_names_that_cannot_be_used_are_named(shell: Shell, here: Path) -> None:
    run = ("run", "--cases", "cases.jsonl", "--scenario", "workup", "--doctor", "gold", "--names")
    Path("names.csv").write_text("test,names\nPotassium,sodium\n", encoding="utf-8")
    assert shell(*run, "names.csv") == 2
    assert "names.csv, line 2: 'sodium' already means Sodium" in shell.err
    assert shell(*run, "nowhere.csv") == 2
    assert "nowhere.csv" in shell.err
