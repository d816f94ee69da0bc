"""Several case files, folders of them, scenarios of one's own: what is played, refused, and said at first."""

import re
from pathlib import Path

import pytest
from clinic import case, case_file, lines
from serving import serving
from shell import Shell

import wardround
from wardround.engine.errors import UsageError
from wardround.scenarios.encounters.staged import Oracle
from wardround.testing.loopback import Loopback
from wardround.testing.memory_store import MemoryStore


class Quick(Oracle):
    """The oracle under another name."""


QUICK = f"{__name__}:Quick"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of two case files, `b` with case 0 and `a` with cases 1 and 2, and what else lies beside them."""
    made = tmp_path / "cases"
    made.mkdir()
    (made / "b.jsonl").write_text(case(0).model_dump_json())
    (made / "a.json").write_text("".join(case(number).model_dump_json() + "\n" for number in (1, 2)))
    for name in ("b.jsonl.flow.json", "notes.txt", ".hidden.jsonl"):
        (made / name).write_text("no cases")
    return made


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "runs.db"


async def test_several_files_and_folders_are_played_in_their_order(folder: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.jsonl"
    more.write_text(case(7).model_dump_json())
    run = await wardround.run([folder, more], "oracle", doctor="gold", store=MemoryStore())
    assert [row.case for row in await run.episodes()] == ["case-001", "case-002", "case-000", "case-007"]
    assert run.header.cases.source == [str(folder / "a.json"), str(folder / "b.jsonl"), str(more)]
    assert run.json["settings"]["cases"] == [str(folder), str(more)]
    assert (await wardround.resume(run.name, store=run.store)).header == run.header


def test_cases_are_given_several_times(shell: Shell, folder: Path, store: Path, tmp_path: Path) -> None:
    told = ("--cases", folder / "b.jsonl", "--cases", folder / "a.json", "--doctor", "gold", "--scenario", "oracle")
    assert shell("run", *told, "--print-config") == 0
    config = tmp_path / "run.toml"
    config.write_text(shell.out)
    assert shell("run", "--config", config, "--name", "r", "--store", store) == 0
    assert shell.out == "r: 3 episodes: 3 completed\n"
    assert shell("replay", "r", "--store", store) == 0
    assert shell.out == "3 of 3 episodes are equal\n"


def test_a_case_that_is_given_twice_is_refused(shell: Shell, folder: Path, store: Path) -> None:
    twice = case_file(folder / "c.jsonl", 1)
    assert shell("run", "--cases", folder, "--doctor", "gold", "--store", store) == 2
    assert f"{twice}: the case 'case-000' is in {folder / 'b.jsonl'} too, word for word" in shell.err


@pytest.mark.parametrize("turned", [False, True])
async def test_equal_ids_of_several_files_are_told_apart_by_file(tmp_path: Path, turned: bool) -> None:
    files = []
    for name, number in (("one/osce.jsonl", 1), ("two/osce.jsonl", 2), ("two/other.jsonl", 3)):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        mine, theirs = (case(at).model_copy(update={"id": at_id}) for at, at_id in ((number, "a"), (number + 9, name)))
        path.write_text(f"{mine.model_dump_json()}\n{theirs.model_dump_json()}\n")
        files.append(path)
    found = await wardround.run(files[::-1] if turned else files, "oracle", doctor="gold", store=MemoryStore())
    ids = {row.case for row in await found.episodes()}
    assert ids == {"one-osce:a", "two-osce:a", "two-other:a", "one/osce.jsonl", "two/osce.jsonl", "two/other.jsonl"}


def test_a_folder_without_cases_is_refused(shell: Shell, tmp_path: Path, store: Path) -> None:
    assert shell("run", "--cases", tmp_path, "--doctor", "gold", "--store", store) == 2
    assert "holds no case file; their names end in .jsonl" in shell.err


async def test_a_scenario_of_one_s_own_is_named_in_the_header(folder: Path) -> None:
    run = await wardround.run(folder, QUICK, doctor="gold", store=MemoryStore())
    assert run.header.scenario.name == QUICK
    assert await run.endings() == {"completed": 3}


def test_it_is_resumed_replayed_and_scored(shell: Shell, folder: Path, store: Path) -> None:
    played = ("--scenario", QUICK, "--set", "max_warnings=0", "--name", "q", "--store", store)
    assert shell("run", "--cases", folder, "--doctor", "gold", *played) == 0
    assert shell("run", "--resume", "q", "--store", store) == 0
    assert shell("replay", "q", "--store", store) == 0
    assert shell("score", "q", "--store", store) == 0
    assert shell("agents", "check", "gold", "--scenario", QUICK) == 0
    assert shell("scenarios", QUICK) == 0
    assert shell.out.startswith(f"{QUICK}: The oracle under another name.\n")


def test_what_is_no_scenario_is_refused(shell: Shell, store: Path) -> None:
    assert shell("run", "--scenario", "pathlib:Path", "--store", store) == 2
    assert "'pathlib:Path' is not a scenario: it has no `seats`" in shell.err


def test_scenarios_are_listed_with_their_settings(shell: Shell) -> None:
    assert shell("scenarios") == 0
    assert "workup: History first" in shell.out
    assert "settings: max_turns=20, max_warnings=3, policy=strict, rules=default" in shell.out
    assert "curation" not in shell.out
    assert shell("scenarios", "workup") == 0
    assert "with a model as doctor: --repeats 3, temperature 0.8" in shell.out
    assert "--set policy=strict (or normal-default, synthesise)  What the examiner reports" in shell.out
    [told] = shell.json("scenarios", "oracle")["scenarios"]
    assert (told["goal"], told["seats"], list(told["settings"])) == (
        "diagnosis",
        ["doctor"],
        ["max_warnings", "rules", "answers", "images"],
    )


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--scenario", "work-up"],
            "there is no scenario 'work-up', did you mean workup? there are: consultation, ",
        ),
        (["--set", "maxturns=3"], "maxturns: there is no such setting, did you mean max_turns? there are: max_turns, "),
        (["--doctor", "basline"], "there is no doctor 'basline', did you mean baseline? there are: always-first"),
        (["--retry", "provider"], "--retry goes with --resume RUN"),
        (["--top-p", "7"], "'--top-p': 7.0 is not in the range"),
    ],
)
def test_what_is_misspelt_is_told_what_was_meant(shell: Shell, store: Path, arguments: list[str], told: str) -> None:
    assert shell("run", "--store", store, *arguments) == 2
    assert told in shell.err
    assert "curation" not in shell.err


async def test_in_python_too() -> None:
    with pytest.raises(UsageError, match=r"run: repeat: there is no such setting, did you mean repeats\?"):
        await wardround.run(store=MemoryStore(), repeat=3)  # type: ignore[call-arg]
    with pytest.raises(UsageError, match=r"seats\.doctor\.temperatur: .*did you mean temperature\?"):
        await wardround.run(store=MemoryStore(), doctor={"spec": "gold", "temperatur": 1})
    with pytest.raises(UsageError, match=r"docter: .*did you mean doctor\?"):
        await wardround.run(store=MemoryStore(), docter="gold")  # type: ignore[call-arg]


def test_what_was_not_asked_for_is_said_at_the_start(shell: Shell, folder: Path, store: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    (own / "oracle").mkdir(parents=True)
    play = ["run", "--cases", folder, "--limit", 1, "--store", store, "--prompts", own]
    assert shell(*play, "--doctor", "gold") == 2
    assert f"--prompts {own}: holds no prompt" in shell.err
    (own / "oracle" / "start.md").write_text("Read this: {case}")
    with serving(Loopback(lambda messages, model: lines("workup", messages))) as url:
        play += ["--doctor", "openai/m", "--base-url", url]
        assert shell(*play, "--name", "r") == 0
        assert "3 repeats of each case, as in the paper; --repeats changes it\n" in shell.err
        assert f"1 prompt replaced by {own}\n" in shell.err
        assert shell.out == "r: 3 episodes: 3 completed\n"
        assert shell(*play, "--repeats", 1, "--name", "s") == 0
        assert "repeats of each case" not in shell.err
        assert shell.out == "s: 1 episode: 1 completed\n"
        assert shell(*play, "--json") == 0
        assert "repeats of each case" not in shell.err


def test_a_case_without_replies_is_left_out_once_and_its_reason_told_once(
    shell: Shell, folder: Path, store: Path
) -> None:
    replies = folder.parent / "r.json"
    replies.write_text('{"case-000": ["### Answer:\\nGout"]}', encoding="utf-8")
    played = (
        "--cases",
        folder,
        "--scenario",
        "oracle",
        "--doctor",
        f"replies:{replies}",
        "--repeats",
        3,
        "--store",
        store,
    )
    assert shell("run", *played, "--name", "r") == 0
    why = f"replies:{replies} has nothing for it (case-001, case-002)"
    assert f"not run: 2 cases: {why}\n" in shell.err
    assert shell("report", "r", "--store", store, "--html", folder.parent / "page.html") == 0
    assert "2 cases could not be played and are in no figure" in shell.out
    assert why in (folder.parent / "page.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_page_ranks_with_the_figures_before_the_long_names(shell: Shell, folder: Path, store: Path) -> None:
    for doctor in ("gold", "silent"):
        played = ("--cases", folder, "--scenario", "oracle", "--doctor", doctor, "--store", store)
        assert shell("run", *played, "--name", doctor) in (0, 3)
    assert shell("report", "gold", "silent", "--store", store, "--html", folder.parent / "page.html") == 0
    page = (folder.parent / "page.html").read_text(encoding="utf-8")
    heads = re.findall(
        r"<th scope=\"col\"[^>]*>([^<]*)</th>", page[page.index("<h2>Ranking") :].partition("</thead>")[0]
    )
    assert heads[:5] == ["Rank", "Run", "Diagnosis accuracy", "95% interval", "Scored"]
    assert heads[-2:] == ["Doctor", "Scenario"]
