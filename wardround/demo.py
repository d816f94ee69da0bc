"""The demo (`make run`): every scenario over the bundled cases with doctors that need no key, scored and reported."""

import sys
from pathlib import Path

import anyio
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from wardround.api import run
from wardround.engine.logs import configure
from wardround.engine.plugins import load_plugin, plugin_names
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.measures import format_value
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.summary import Summary, summarise
from wardround.evaluators.report.terminal import FLOOR, format_range, score_table
from wardround.report_files import write_pages
from wardround.runs.stored_run import SCENARIOS, scenario_defaults
from wardround.scenarios.case import Case
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.score import evaluator_of, score_run

DOCTORS = ("gold", "baseline", "silent")
PLOTTED = "baseline"
AUTHORS = ("careful", "hasty")
"""The authors of the invented replies that are judged; the second one makes mistakes."""


async def demo(path: Path, report: Path) -> dict[str, RunScores]:
    """Play, score and judge the runs, and write the report; returns the scores by the name of the run."""
    store = SqliteStore(path)
    runs: dict[str, RunScores] = {}
    try:
        for scenario in plugin_names(SCENARIOS):
            rules = load_plugin(SCENARIOS, scenario)
            if "doctor" not in rules.seats or scenario_defaults(rules).item is not Case:
                continue
            for doctor in DOCTORS:
                name = f"{scenario}-{doctor}"
                played = await run("bundled", scenario, seats={"doctor": doctor}, store=store, name=name)
                runs[name] = await score_run(played, [evaluator_of("standard")])
        for author in AUTHORS:
            runs[author] = await _judged(store, author)
        shown = [scores for name, scores in runs.items() if name.endswith(PLOTTED) or name in AUTHORS]
        await write_pages(store, shown, report, compare=False)
    finally:
        await store.aclose()
    return runs


async def _judged(store: SqliteStore, author: str) -> RunScores:
    """Play one author's replies to the bundled reports, and judge their reasoning offline with evidence."""
    doctor = f"replies:bundled#{author}"
    played = await run("bundled:reports", "oracle", seats={"doctor": doctor}, store=store, name=author)
    judges = await judge_config(JudgeOptions(("lexical",), search="bundled"), store)
    try:
        return await score_run(played, [evaluator_of("standard"), evaluator_of("reasoning")], judge=judges)
    finally:
        await judges.aclose()


def demo_table(runs: dict[str, RunScores]) -> Group:
    """A table with one row for each run: the main scores and the interval of the accuracy; notes explain them."""
    made = Table(box=None, pad_edge=False)
    for column in ("scenario", "doctor"):
        made.add_column(column)
    for column in ("accuracy", "95% interval", "no answer", "recall", "full path"):
        made.add_column(column, justify="right", no_wrap=True)
    before = ""
    for name, scores in runs.items():
        scenario, _, doctor = name.rpartition("-")
        summary = summarise(scores.episodes, 0, scores.answer_judges)
        accuracy = next(score for score in summary.scores if score.name.endswith("_accuracy"))
        made.add_row(
            "" if scenario == before else scenario,
            doctor,
            format_value(accuracy.name, accuracy.mean),
            format_range(accuracy.name, accuracy.ci95),
            f"{accuracy.scored - accuracy.answered} of {accuracy.n}",
            _mean(summary, "exam_recall"),
            _mean(summary, "full_path_f1"),
        )
        before = scenario
    return Group(Text("Bundled cases, doctors without a model", style="italic"), made, Text("\n".join(_NOTES)))


_NOTES = (
    FLOOR.partition(". ")[0] + ".",
    "recall: share of the recorded tests that were ordered. full path: accuracy times F1 of the orders.",
    "A dash: in oracle and treatment the doctor reads all tests at once, so nothing can be ordered.",
    "",
)


def _mean(summary: Summary, name: str) -> str:
    score = summary.score(name)
    return format_value(name, score.mean if score else None)


def write_demo() -> None:
    """`python -m wardround.demo FOLDER`."""
    configure("error")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    path, report = folder / "demo.db", folder / "report.html"
    for old in (path, folder / "demo.db-wal", folder / "demo.db-shm"):
        old.unlink(missing_ok=True)
    runs = anyio.run(demo, path, report)
    screen = Console(width=100)
    screen.print(demo_table({name: scores for name, scores in runs.items() if name not in AUTHORS}))
    for author in AUTHORS:
        screen.print(score_table(author, summarise(runs[author].episodes, 0, runs[author].answer_judges)))
    print("gold knows the truth, silent says nothing: the ends of every scale. baseline compares findings.")
    print(
        "careful and hasty are invented replies. Their judge is no model but a comparison of words, a floor: it shows"
    )
    print("what a judged report looks like, and says nothing about a doctor.")
    print(f"runs:   {path}  (.venv/bin/wardround runs --store {path})")
    print(f"report: {report.resolve()}")


if __name__ == "__main__":
    write_demo()
