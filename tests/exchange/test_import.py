"""Results of other programs as runs: recognised, scored, reported, exported, marked with their origin."""

import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from clinic import case_file
from examples import first_ones
from shell import Shell

from wardround.engine.batch import Progress
from wardround.exchange.imported_run import ImportRequest, import_results
from wardround.exchange.published_results import judged_reply
from wardround.runs.stored_run import Run
from wardround.testing.memory_store import MemoryStore

CLINIC = """Loading
Doctor [5%]: What brings you in?
Patient [5%]: It hurts.
Mostly at night.
Doctor [10%]: REQUEST TEST: Serum_Urate
Measurement [10%]: RESULTS: 9 mg/dL
Doctor [15%]: DIAGNOSIS READY: Gout

Correct answer: Gout
Scene 0, The diagnosis was  CORRECT 100
Doctor [5%]: Hello?
Patient [5%]: Hello.
Doctor [10%]: And since when?
Patient [10%]: Weeks.
Doctor [5%]: Where?
Patient [5%]: Here.
Doctor [10%]: DIAGNOSIS READY: Asthma

Correct answer: Appendicitis
Scene 2, The diagnosis was  INCORRECT 50
"""
STEP = {"step": "pain", "efficiency": "Reasoning", "factulity": True, "judgment_path": [{"judgment": "Correct"}]}
MEDR = {
    "case-001": {
        "results": {"content": "### Answer:\nAcute appendicitis", "thinking_process": "it hurts"},
        "accuracy": True,
        "reasoning_eval": [STEP, STEP | {"efficiency": "Citation", "factulity": None, "judgment_path": []}],
        "gt_reasoning_eval": [{"step": "a", "hit": True}, {"step": "b", "hit": False}],
    },
    "case-002": {"results": {"content": "### Answer:\nGout"}, "accuracy": False},
}


def graded(met: list[bool], score: float) -> dict[str, Any]:
    """A HealthBench result of one example."""
    rubric = [("Names the dose", 4), ("Asks for allergies", 6), ("Is rude", -5)]
    row = {
        "prompt_id": "p1",
        "prompt": [{"role": "user", "content": "How much paracetamol?"}],
        "completion": [{"role": "assistant", "content": "One gram."}],
        "score": score,
        "rubric_items": [
            {"criterion": words, "points": points, "tags": [], "criteria_met": one, "explanation": "x"}
            for (words, points), one in zip(rubric, met, strict=True)
        ],
    }
    return {"score": score, "metadata": {"example_level_metadata": [row]}}


def inspect_log(**sample: Any) -> dict[str, Any]:
    """A log of Inspect with one sample."""
    told = {
        "id": "s1",
        "epoch": 1,
        "input": "Belly pain.",
        "target": "Appendicitis",
        "messages": [
            {"role": "system", "content": "You are a doctor."},
            {"role": "user", "content": "attachment://abc"},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "function": "order", "arguments": {"t": "CT"}}],
            },
            {"role": "tool", "tool_call_id": "1", "content": "Thick appendix."},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "so"}, {"type": "text", "text": "Appendicitis"}],
            },
        ],
        "attachments": {"abc": "Belly pain."},
        "scores": {"match": {"value": "C"}, "both": {"value": {"a": 0.5, "b": "odd"}}},
    }
    return {"version": 2, "status": "success", "eval": {"task": "t", "model": "m/x"}, "samples": [told | sample]}


def brought(shell: Shell, tmp_path: Path, name: str, content: object, *options: object) -> str:
    """Import a file under the name `r`; what the command printed."""
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert shell("import", path, *options, "--name", "r", "--store", tmp_path / "s.db") == 0, shell.err
    return shell.out


def scores(shell: Shell, tmp_path: Path) -> dict[str, tuple[float | None, int]]:
    """(mean, number scored) of each score of the run."""
    rows = shell.json("score", "r", "--store", tmp_path / "s.db")["scores"]
    return {row["name"]: (row["mean"], row["scored"]) for row in rows}


def test_medrbench_results_score_as_the_origin_and_as_ours(shell: Shell, tmp_path: Path) -> None:
    cases = case_file(tmp_path / "cases.jsonl", 3)
    said = brought(shell, tmp_path, "oracle__o3__x.json", MEDR, "--cases", cases)
    assert "recognised as medrbench" in said
    found = scores(shell, tmp_path)
    assert found["origin_accuracy"] == (0.5, 2)
    assert (found["origin_efficiency"], found["origin_factuality"]) == ((0.5, 1), (1.0, 1))
    assert found["origin_completeness"] == (0.5, 1)
    assert found["diagnosis_accuracy"] == (0.5, 2)
    assert shell("replay", "r", "--store", tmp_path / "s.db") == 0
    assert shell("report", "r", "--store", tmp_path / "s.db") == 0
    assert "IMPORTED, not played here" in shell.out
    assert "model o3" in shell.out
    assert shell("show", "r", "--store", tmp_path / "s.db") == 0
    assert "imported from" in shell.out
    assert "imported:o3" in shell.out


def test_a_trajectory_without_its_case_says_what_cannot_be_scored(shell: Shell, tmp_path: Path) -> None:
    said = brought(shell, tmp_path, "x.json", MEDR)
    assert "2 cases of 2 without a known diagnosis" in said
    assert "--cases" in said
    found = scores(shell, tmp_path)
    assert found["diagnosis_accuracy"] == (None, 0)
    assert found["origin_accuracy"] == (0.5, 2)


def test_verdicts_of_a_second_judge_stand_beside_the_first(shell: Shell, tmp_path: Path) -> None:
    second = tmp_path / "x__accuracy_judge_gemma.json"
    second.write_text(json.dumps({"case-001": {"accuracy": False}, "case-002": {"accuracy": False}}))
    brought(shell, tmp_path, "x.json", MEDR, second)
    assert scores(shell, tmp_path)["origin_accuracy_gemma"] == (0.0, 2)
    assert shell("import", second, "--store", tmp_path / "s.db") == 2
    assert "name both" in shell.err


def test_agentclinic_dialogues_bring_their_truth(shell: Shell, tmp_path: Path) -> None:
    assert "recognised as agentclinic" in brought(shell, tmp_path, "log.txt", CLINIC)
    found = scores(shell, tmp_path)
    assert found["origin_accuracy"] == (0.5, 2)
    assert found["diagnosis_accuracy"] == (0.5, 2), "the scene without a verdict has no known truth"
    assert shell("show", "r", "scene-000", "--store", tmp_path / "s.db") == 0
    assert "[4] examiner: reply\nRESULTS: 9 mg/dL" in shell.out
    assert "It hurts.\nMostly at night." in shell.out
    assert shell.json("show", "r", "--store", tmp_path / "s.db")["episodes"][1]["cause"] == "doctor"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_what_powershell_saved_is_read(shell: Shell, tmp_path: Path, encoding: str) -> None:
    (tmp_path / "log.txt").write_text(CLINIC.replace("\n", "\r\n"), encoding=encoding, newline="")
    assert shell("import", tmp_path / "log.txt", "--name", "r", "--store", tmp_path / "s.db") == 0, shell.err
    assert scores(shell, tmp_path)["origin_accuracy"] == (0.5, 2)


def test_healthbench_repeats_and_other_files_of_its_code(shell: Shell, tmp_path: Path) -> None:
    """A prompt that was answered twice is one case with two repeats; the summary beside the file has no answers."""
    twice = graded([True, False, False], 0.4)
    row = twice["metadata"]["example_level_metadata"][0]
    spoken = [{"role": "system", "content": "Be kind."}, *row["prompt"]]
    twice["metadata"]["example_level_metadata"].append(row | {"prompt": spoken, "usage": {"total_tokens": None}})
    twice |= {"htmls": ["<p>"] * 2, "convos": [row["prompt"]] * 2, "metrics": {"overall_score": 0.4}}
    brought(shell, tmp_path, "healthbench_m_allresults.json", twice)
    assert scores(shell, tmp_path)["origin_rubric"] == (0.4, 2)
    assert shell("show", "r", "--store", tmp_path / "s.db") == 0
    assert "p1@2" in shell.out
    (tmp_path / "healthbench_m.json").write_text(json.dumps(twice["metrics"]))
    assert shell("import", tmp_path / "healthbench_m.json", "--store", tmp_path / "s.db") == 2
    assert "of no known format" in shell.err


def test_healthbench_answers_bring_their_rubric(shell: Shell, tmp_path: Path) -> None:
    assert "recognised as healthbench" in brought(shell, tmp_path, "a.json", graded([True, False, True], -0.1))
    found = scores(shell, tmp_path)
    assert found["origin_score"] == found["origin_rubric"] == (-0.1, 1)


@pytest.mark.parametrize("zipped", [False, True])
def test_logs_of_inspect_become_dialogues(shell: Shell, tmp_path: Path, zipped: bool) -> None:
    log = inspect_log()
    if zipped:
        with zipfile.ZipFile(tmp_path / "z.eval", "w") as archive:
            archive.writestr("header.json", json.dumps({"eval": log["eval"]}))
            archive.writestr("samples/s1_epoch_1.json", json.dumps(log["samples"][0]))
        assert shell("import", tmp_path / "z.eval", "--name", "r", "--store", tmp_path / "s.db") == 0, shell.err
    else:
        brought(shell, tmp_path, "log.json", log)
    found = scores(shell, tmp_path)
    assert found["diagnosis_accuracy"] == (1.0, 1)
    assert found["origin_match"] == (1.0, 1)
    assert found["origin_both.a"] == (0.5, 1)
    assert found["origin_both.b"] == (None, 0), "what is no number is no score"
    assert shell("show", "r", "0", "--store", tmp_path / "s.db") == 0
    assert "Belly pain." in shell.out
    assert 'order {"t":"CT"}' in shell.out


def test_questions_in_a_log_are_read_by_our_rules(shell: Shell, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "ANSWER: B"}]
    log = inspect_log(choices=["Liver", "Pancreas"], target="B", input="What makes insulin?", messages=messages)
    log["samples"].append({"id": "s2", "messages": [], "error": {"message": "no network"}})
    assert "left out, it ended by an error" in brought(shell, tmp_path, "log.json", log)
    assert scores(shell, tmp_path)["question_accuracy"] == (1.0, 1)


def test_own_tables_are_mapped(shell: Shell, tmp_path: Path) -> None:
    table = 'pmid,says,gold,ok\na1,Acute appendicitis,Appendicitis,1\na2,"I think of\ngout.",Asthma,no\n'
    mapped = ["--map", "pmid=case", "--map", "says=reply", "--map", "diagnosis=gold", "--map", "ok=score.right"]
    assert "pmid as case" in brought(shell, tmp_path, "t.csv", table, *mapped)
    found = scores(shell, tmp_path)
    assert found["origin_right"] == found["diagnosis_accuracy"] == (0.5, 2)
    assert shell.json("show", "r", "--store", tmp_path / "s.db")["header"]["cases"]["restricted"] == 2


def test_our_own_export_comes_back_with_the_same_scores(shell: Shell, tmp_path: Path) -> None:
    brought(shell, tmp_path, "log.txt", CLINIC)
    before = scores(shell, tmp_path)
    where = ["--store", tmp_path / "s.db"]
    for form, end in (("jsonl", "jsonl"), ("inspect", "eval")):
        out = tmp_path / f"out.{end}"
        assert shell("export", "r", "--to", form, "--out", out, *where) == 0
        assert shell("import", out, "--name", form, "--public", *where) == 0, shell.err
        rows = shell.json("score", form, *where)["scores"]
        again = {row["name"]: (row["mean"], row["scored"]) for row in rows}
        assert again["diagnosis_accuracy"] == before["diagnosis_accuracy"]
        assert again["origin_accuracy"] == before["origin_accuracy"]
        assert again["origin_diagnosis_accuracy"] == before["diagnosis_accuracy"]


async def test_a_broken_off_import_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(MEDR))
    store, stopped = MemoryStore(), Progress()
    stopped.drain("a test")
    first = await import_results(store, ImportRequest([path]), stopped)
    assert await (await Run.open(store, first.run)).endings() == {"open": 2}
    second = await import_results(store, ImportRequest([path]))
    assert (second.run, second.before) == (first.run, False)
    assert await (await Run.open(store, first.run)).endings() == {"completed": 2}
    third = await import_results(store, ImportRequest([path]))
    assert (third.run, third.before) == (first.run, True)
    path.write_text(json.dumps({"case-001": MEDR["case-001"]}))
    assert (await import_results(store, ImportRequest([path]))).run != first.run


@pytest.mark.parametrize(
    ("name", "content", "options", "said"),
    [
        ("x.json", "{\n broken", [], "x.json, line 2: no valid JSON"),
        ("x.json", {"a": 1}, [], "no known format"),
        ("x.txt", "hello", [], "no known format"),
        ("x.json", {"c": {"results": {"text": "x"}}}, [], "case c: `results` is not an object with `content`"),
        ("x.json", {"c": {"m": {"content": "x"}, "n": {"content": "y"}}}, [], "name one by --model: m, n"),
        ("x.json", graded([True, False, "yes"], 0.1), [], "example 1: `criteria_met` must be true or false"),  # type: ignore[list-item]
        ("x.json", inspect_log(attachments={}), [], "sample s1: the attachment abc is missing"),
        ("x.jsonl", '{"case": "a", "reply": "x"}\n{"case": "b"}\n', [], "line 2: `reply` is missing or empty"),
        ("x.jsonl", '{"case": "a", "reply": "x"}\n[1]\n', [], "line 2: is not a JSON object"),
        ("x.jsonl", '{"case": "a", "messages": [{"role": "nurse"}]}\n', [], "line 1: `messages` messages[0]"),
        ("x.csv", "a,b\n1,2\n", [], "no column says what the doctor said"),
        ("x.csv", "a,b\n1,2\n", ["--map", "c=reply"], "--map names column 'c'"),
        ("x.csv", "a,b\n1,2\n", ["--map", "b=words"], "write COLUMN=FIELD"),
        ("x.csv", "case,reply,score.s\n1,2,high\n", [], "line 2: `score.s` 'high' is not a number"),
        ("x.csv", "case,reply,repeat\n1,2,1\n1,3,1\n", [], "line 3: case '1' repeat 1 stands at"),
        ("x.json", MEDR, ["--cases", "bundled:reports"], "holds none of the cases"),
        ("x.json", MEDR, ["--map", "a=reply"], "--map goes with own"),
    ],
)
def test_what_cannot_be_imported_is_named_by_file_place_and_field(
    shell: Shell, tmp_path: Path, name: str, content: object, options: list[str], said: str
) -> None:
    path = tmp_path / name
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    assert shell("import", path, *options, "--store", tmp_path / "s.db") == 2
    assert said in shell.err
    assert shell("runs", "--store", tmp_path / "s.db") in (0, 2)
    assert "imported" not in shell.out


@pytest.mark.long
@pytest.mark.shared
@pytest.mark.parametrize("model", ["deepseek-r1", "gemini2-ft", "qwq"])
async def test_the_published_figures_come_out_exactly(shared: Path, model: str) -> None:
    folder = shared / "data" / "medrbench"
    path = folder / "results" / f"oracle_diagnosis__{model}__replies_and_judged_steps.json"
    store = MemoryStore()
    account = await import_results(store, ImportRequest([path], cases=str(folder / "diagnosis_cases.json")))
    stored = msgspec.json.decode(path.read_bytes())
    told: dict[str, dict[str, float | None]] = {}
    async for episode, evaluator, score in store.scores(account.run):
        assert evaluator == "origin"
        told.setdefault(episode.partition("@")[0], {})[score.name] = score.value
    assert told.keys() == stored.keys()
    for name, row in stored.items():
        assert told[name]["origin_efficiency"] == row["efficiency"]
        assert told[name]["origin_factuality"] == row["factulity"]
        assert told[name]["origin_completeness"] == row["recall"]
        assert judged_reply(row).steps


@pytest.mark.shared
async def test_the_verdicts_of_both_judges_come_out_exactly(shared: Path) -> None:
    folder = shared / "data" / "medrbench" / "results"
    files = [folder / f"oracle_diagnosis__o3-mini__accuracy_judge_{judge}.json" for judge in ("gpt", "gemma")]
    store = MemoryStore()
    account = await import_results(store, ImportRequest(files))
    told: dict[str, dict[str, float | None]] = {}
    async for episode, _, score in store.scores(account.run):
        told.setdefault(score.name, {})[episode.partition("@")[0]] = score.value
    for path, name in zip(files, ("origin_accuracy", "origin_accuracy_gemma"), strict=True):
        stored = msgspec.json.decode(path.read_bytes())
        assert told[name] == {case: float(row["accuracy"]) for case, row in stored.items()}


def exported(shell: Shell, tmp_path: Path) -> list[str]:
    """The lines of an exported run."""
    cases, store = case_file(tmp_path / "cases.jsonl", 1), tmp_path / "from.db"
    options = ("--scenario", "oracle", "--doctor", "gold", "--name", "r", "--store", store)
    assert shell("run", "--cases", cases, *options) == 0, shell.err
    assert shell("export", "r", "--store", store, "--out", tmp_path / "r.jsonl") == 0, shell.err
    return (tmp_path / "r.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize(
    "name", first_ones(["../../evil", "\x1b[31mred", "a/b", "-r", ".hidden", "a b", "r~e/../x"], 2)
)
def test_a_run_whose_name_is_a_path_or_no_name_is_refused(shell: Shell, tmp_path: Path, name: str) -> None:
    first, *rest = exported(shell, tmp_path)
    path, store = tmp_path / "named.jsonl", tmp_path / "to.db"
    path.write_text("\n".join((json.dumps(json.loads(first) | {"name": name}), *rest)), encoding="utf-8")
    assert shell("import", path, "--store", store) == 2
    assert "is not a name for a run" in shell.err
    assert shell("import", path, "--store", store, "--name", "fine") == 0, shell.err
    assert [run["run"] for run in shell.json("runs", "--store", store)["runs"]] == ["fine"]


def test_a_run_of_a_newer_version_is_refused_before_it_is_written(shell: Shell, tmp_path: Path) -> None:
    first, *rest = exported(shell, tmp_path)
    newer = json.loads(first)
    newer["header"]["version"] = 99
    path, store = tmp_path / "newer.jsonl", tmp_path / "to.db"
    path.write_text("\n".join((json.dumps(newer), *rest)), encoding="utf-8")
    assert shell("import", path, "--store", store) == 4
    assert "a newer Wardround wrote it" in shell.err
    assert shell.json("runs", "--store", store)["runs"] == []


def test_a_byte_order_mark_before_an_exported_run_is_no_fault(shell: Shell, tmp_path: Path) -> None:
    lines = exported(shell, tmp_path)
    path = tmp_path / "bom.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8-sig")
    assert shell("import", path, "--store", tmp_path / "to.db") == 0, shell.err


def test_a_file_that_is_not_there_a_folder_and_a_broken_hash_are_named(shell: Shell, tmp_path: Path) -> None:
    lines = exported(shell, tmp_path)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("\n".join(lines).replace('"hash":"', '"hash":"xx', 1), encoding="utf-8")
    told = {tmp_path / "nowhere.csv": "there is no such file", tmp_path: "it is a folder", broken: "is not hexadecimal"}
    for path, why in told.items():
        assert shell("import", path, "--store", tmp_path / "to.db") == 2
        assert why in shell.err


def test_a_long_reply_in_a_table_is_read(shell: Shell, tmp_path: Path) -> None:
    text = f"case,reply,diagnosis\nc1,{'It is gout. ' * 20_000},Gout\n"
    assert "1 episode" in brought(shell, tmp_path, "long.csv", text, "--public")
