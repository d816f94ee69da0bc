"""What docs/extending.md shows runs as it stands there."""

import re
from pathlib import Path

import pytest
from serving import serving
from shell import Shell

from wardround.engine.models.loopback import Loopback

PAGE = Path(__file__).resolve().parent.parent / "docs" / "extending.md"
_SHOWN = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^wardround (\w+) (.*)$", re.MULTILINE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in _SHOWN.findall(PAGE.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def command(verb: str) -> list[str]:
    """What the page says to type."""
    [words] = [rest for shown, rest in _COMMAND.findall(PAGE.read_text(encoding="utf-8")) if shown == verb]
    return [verb, *words.replace("calm-heron-417", "r").split()]


def test_the_examples_play_score_and_replay(shell: Shell, here: Path) -> None:
    assert {path.name for path in here.glob("*.py")} == {"my_rubric.py", "my_game.py"}
    assert shell(*command("run"), "--name", "r", "--limit", 3) == 0, shell.err
    told = {one["name"]: one for one in shell.json(*command("score"))["scores"]}
    assert told["diagnosis_accuracy"]["mean"] == 1.0
    assert (told["answer_is_brief"]["scored"], told["answer_words"]["n"]) == (3, 3)
    assert shell("replay", "r") == 0
    assert shell("report", "r", "--html", here / "report.html") == 0
    assert "answer is brief" in (here / "report.html").read_text(encoding="utf-8")


def test_a_doctor_who_says_nothing_has_no_brief_answer(shell: Shell, here: Path) -> None:
    told = command("run")
    told[told.index("gold")] = "silent"
    assert shell(*told, "--name", "r", "--limit", 2) == 3
    scores = {one["name"]: one for one in shell.json(*command("score"))["scores"]}
    assert scores["diagnosis_accuracy"]["mean"] == 0.0
    assert scores["answer_words"]["reasons"] == {"doctor": 2}


def test_a_model_plays_the_scenario(shell: Shell, here: Path) -> None:
    told = [word for word in command("run") if word not in ("--doctor", "gold")]
    with serving(Loopback(lambda messages, model: "Influenza")) as url:
        assert shell(*told, "--doctor", "openai/m", "--base-url", url, "--name", "r", "--limit", 1) == 0, shell.err
    assert shell("show", "r", "--store", here / "wardround.db") == 0
    scores = {one["name"]: one for one in shell.json(*command("score"))["scores"]}
    assert scores["answer_words"]["mean"] == 1.0


def test_an_answer_that_is_a_text_ends_the_episode_by_the_rules(shell: Shell, here: Path) -> None:
    game = (here / "my_game.py").read_text()
    (here / "my_slip.py").write_text(game.replace('{"diagnosis": state.answers[-1]}', "state.answers[-1]"))
    assert shell("run", "--scenario", "my_slip:SecondThoughts", "--doctor", "gold", "--name", "r", "--limit", 1) == 3
    assert shell("score", "r") == 0
    [row] = shell.json("score", "r")["scores"][:1]
    assert row["reasons"] == {"rules/bad_answer": 1}
