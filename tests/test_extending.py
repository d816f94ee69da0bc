"""What docs/extending.md shows runs as it stands there."""

import asyncio
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from examples import first_ones
from serving import serving
from shell import Shell

from wardround import open_store
from wardround.engine.plugins import _installed as cached_points
from wardround.testing.loopback import Loopback

PAGE = Path(__file__).resolve().parent.parent / "docs" / "extending.md"
_SHOWN = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_COMMAND = re.compile(r"^wardround (\w+) (.*)$", re.MULTILINE)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in _SHOWN.findall(PAGE.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    for name in [name for name in sys.modules if name.startswith("my_")]:
        monkeypatch.delitem(sys.modules, name)
    return tmp_path


def command(verb: str) -> list[str]:
    """What the page says to type."""
    words = next(rest for shown, rest in _COMMAND.findall(PAGE.read_text(encoding="utf-8")) if shown == verb)
    return [verb, *words.replace("calm-heron-417", "r").split()]


def test_the_examples_play_score_and_replay(shell: Shell, here: Path) -> None:
    assert {path.stem for path in here.glob("*.py")} == {
        *("my_rubric", "my_game", "my_search", "my_loader", "my_provider", "my_store", "my_judge", "my_recording"),
    }
    assert shell(*command("run"), "--name", "r", "--limit", 3) == 0, shell.err
    told = {one["name"]: one for one in shell.json(*command("score"))["scores"]}
    assert told["diagnosis_accuracy"]["mean"] == 1.0
    assert (told["answer_is_brief"]["scored"], told["answer_words"]["n"]) == (3, 3)
    assert shell("replay", "r") == 0
    assert shell("report", "r", "--html", here / "report.html") == 0
    assert "answer is brief" in (here / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
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


@pytest.mark.long
def test_an_answer_that_is_a_text_ends_the_episode_by_the_rules(shell: Shell, here: Path) -> None:
    game = (here / "my_game.py").read_text()
    (here / "my_slip.py").write_text(game.replace('{"diagnosis": state.answers[-1]}', "state.answers[-1]"))
    assert shell("run", "--scenario", "my_slip:SecondThoughts", "--doctor", "gold", "--name", "r", "--limit", 1) == 3
    assert shell("score", "r") == 0
    [row] = shell.json("score", "r")["scores"][:1]
    assert row["reasons"] == {"rules/bad_answer": 1}


@pytest.fixture
def plugins(here: Path) -> Path:
    """The examples as an installed package, with the entry points of the page."""
    points = re.findall(r'\[project\.entry-points\."([\w.]+)"\]\n(\w+ = "[^"]+")', PAGE.read_text(encoding="utf-8"))
    assert len(points) == 6
    folder = here / "examples-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: examples\nVersion: 1.0\n")
    text = "\n".join(f"[{group}]\n{point.replace(chr(34), '')}\n" for group, point in points)
    (folder / "entry_points.txt").write_text(text)
    cached_points.cache_clear()
    (here / "cases.csv").write_text("id,opening,diagnosis\na,Fever and cough for a day.,Influenza\nb,Pain.,Gout\n")
    return here


def said_of(verb: str, word: str) -> list[str]:
    """The page's command of a verb that holds the word."""
    found = next(
        rest for shown, rest in _COMMAND.findall(PAGE.read_text(encoding="utf-8")) if shown == verb and word in rest
    )
    return [verb, *found.replace("calm-heron-417", "r").split()]


def test_a_loader_a_provider_a_store_and_a_search_of_one_s_own_play_and_score(shell: Shell, plugins: Path) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r") == 0, shell.err
    assert (plugins / "kept" / "trial.db").is_file()
    assert not (plugins / "wardround.db").exists()
    at = ("--store", "kept:trial")
    [accuracy] = [one for one in shell.json("score", "r", *at)["scores"] if one["name"] == "diagnosis_accuracy"]
    assert (accuracy["mean"], accuracy["scored"]) == (0.5, 2)
    assert shell(*said_of("score", "notes"), *at) == 0, shell.err
    header = asyncio.run(_header("kept:trial", "r~reasoning"))
    assert [header["seats"]["search"][name] for name in ("spec", "host")] == ["notes@1", "my_search"]
    assert shell("replay", "r", *at) == 0


async def _header(store: str, run: str) -> Mapping[str, Any]:
    opened = open_store(store)
    try:
        return (await opened.run(run)).header
    finally:
        await opened.aclose()


def test_a_search_is_named_as_a_class_too(shell: Shell, plugins: Path) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 1) == 0, shell.err
    told = [word.replace("notes", "my_search:Notes") for word in said_of("score", "notes")]
    assert shell(*told, "--store", "kept:trial") == 0, shell.err


@pytest.mark.parametrize("spec", first_ones(["literal", "my_judge:Literal"], 1))
def test_a_judge_of_one_s_own_judges_by_its_name_and_as_a_class(shell: Shell, plugins: Path, spec: str) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 2) == 0, shell.err
    at = ("--store", "kept:trial")
    told = [spec if word == "literal" else word for word in said_of("score", "literal")]
    judged = shell.json(*told, *at)
    assert judged["floor"], "the judge says that its scores are only a lower bound"
    scores = {one["name"]: one for one in judged["scores"]}
    assert (scores["diagnosis_accuracy"]["mean"], scores["diagnosis_accuracy"]["scored"]) == (0.5, 2)
    header = asyncio.run(_header("kept:trial", "r~standard"))
    assert header["seats"]["judge"]["spec"] == spec
    assert shell("replay", "r~standard", *at) == 0, shell.out
    assert shell("score", "--resume", "r~standard", *at) == 0, shell.err


def test_a_class_that_is_no_judge_is_refused(shell: Shell, plugins: Path) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 1) == 0, shell.err
    assert shell("score", "r", "--store", "kept:trial", "--judge", "my_search:Notes") == 2
    assert "'my_search:Notes' is not a judge" in shell.err


def test_a_recording_of_one_s_own_plays_and_replays_without_its_file(shell: Shell, plugins: Path) -> None:
    (plugins / "answers.json").write_text('{"a": "Influenza"}')
    assert shell(*said_of("run", "answers"), "--name", "r") == 0, shell.err
    assert "answers:answers.json has nothing for it" in shell.err
    (plugins / "answers.json").unlink()
    assert shell("replay", "r") == 0, shell.out
    assert shell("run", "--resume", "r") == 0, shell.err
    [accuracy] = [one for one in shell.json("score", "r")["scores"] if one["name"] == "diagnosis_accuracy"]
    assert (accuracy["mean"], accuracy["scored"]) == (1.0, 1)
    assert shell("run", "--doctor", "answer", "--limit", 1) == 2
    assert "answers:PATH, recorded:RUN, replies:PATH" in shell.err


@pytest.mark.parametrize("spec", ["--doctor answers:answers.json", "--doctor gold"])
def test_restricted_cases_go_to_no_judge_and_no_recording_of_another_package(
    shell: Shell, plugins: Path, spec: str
) -> None:
    (plugins / "answers.json").write_text('{"a": "Influenza"}')
    loader = (plugins / "my_loader.py").read_text()
    (plugins / "my_loader.py").write_text(loader.replace('"public"', '"restricted"'))
    run = ["run", "--cases", "cases.csv", "--scenario", "oracle", "--name", "r", *spec.split()]
    if "gold" in spec:
        assert shell(*run) == 0, shell.err
        run = ["score", "r", "--judge", "literal"]
    assert shell(*run) == 2
    assert "is code of your own" in shell.err


def test_the_key_of_a_provider_of_one_s_own_is_needed_at_the_first_judging_only(
    shell: Shell, plugins: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = (plugins / "my_provider.py").read_text()
    needing = "        wanted.needed('GUESSING_API_KEY')\n        return Fixed"
    (plugins / "my_provider.py").write_text(provider.replace("        return Fixed", needing))
    monkeypatch.setenv("GUESSING_API_KEY", "a key")
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 1) == 0, shell.err
    judge = ["score", "r", "--store", "kept:trial", "--judge", "guessing/influenza", "--judge-repeats", 2]
    assert shell(*judge) == 0, shell.err
    monkeypatch.delenv("GUESSING_API_KEY")
    assert shell(*judge, "--retry", "limit") == 0, shell.err  # every verdict is stored: nobody is asked
    assert shell(*judge, "--judge-swap") == 2
    assert "GUESSING_API_KEY" in shell.err


def test_a_fault_in_a_row_of_one_s_own_format_is_named(shell: Shell, plugins: Path) -> None:
    (plugins / "cases.csv").write_text("id,opening,diagnosis\na,Fever.,Influenza\nb,,Gout\n")
    assert shell("cases", "check", "cases.csv") == 1
    assert "line 3" in shell.out + shell.err
    assert "opening: is missing" in shell.out + shell.err


def test_restricted_cases_go_to_no_model_and_no_search_of_another_package(shell: Shell, plugins: Path) -> None:
    loader = (plugins / "my_loader.py").read_text()
    (plugins / "my_loader.py").write_text(loader.replace('"public"', '"restricted"'))
    run = [*said_of("run", "guessing"), "--name", "r", "--limit", 1]
    assert shell(*run) == 2
    assert "my_provider" in shell.err
    assert shell(*run, "--allow-host", "my_provider") == 0, shell.err
    score = [*said_of("score", "notes"), "--store", "kept:trial"]
    assert shell(*score) == 2
    assert "my_search" in shell.err
    assert shell(*score, "--allow-host", "my_search") == 0, shell.err


@pytest.mark.parametrize(
    ("told", "there"),
    [
        (["run", "--store", "keptt://x"], ["kept:", "sqlite:", "postgresql:"]),
        (["score", "r", "--store", "kept:trial", "--evaluators", "reasoning", "--judge", "lexical", "--search", "note"],
         ["did you mean notes", "corpus:PATH", "notes"]),
    ],
)  # fmt: skip
def test_a_name_that_is_not_there_is_answered_with_those_that_are(
    shell: Shell, plugins: Path, told: list[str], there: list[str]
) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 1) == 0, shell.err
    assert shell(*told) == 2
    assert [word for word in there if word not in shell.err] == []


@pytest.mark.parametrize(
    ("module", "command", "kind"),
    [
        ("my_search", "score r --store kept:trial --evaluators reasoning --judge lexical --search notes", "search"),
        ("my_provider", "run --cases cases.csv --scenario oracle --doctor guessing/x", "provider"),
        ("my_loader", "cases check cases.csv", "loader"),
        ("my_store", "runs --store kept:trial", "store"),
    ],
)
@pytest.mark.parametrize("fault", first_ones(["raise ValueError('broken')", "nothing_here = 1"], 1))
def test_one_that_cannot_be_loaded_is_named(
    shell: Shell, plugins: Path, module: str, command: str, kind: str, fault: str
) -> None:
    assert shell(*said_of("run", "guessing"), "--name", "r", "--limit", 1) == 0, shell.err
    (plugins / f"{module}.py").write_text(fault)
    sys.modules.pop(module, None)
    assert shell(*command.split()) == (1 if kind == "loader" else 2), (kind, shell.out)
    assert module in shell.out + shell.err
