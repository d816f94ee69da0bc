"""The demo (`make run`): every scenario over the bundled cases and questions with doctors that need no key."""

import sys
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from pathlib import Path

import anyio
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from wardround.api import run
from wardround.engine.logs import configure
from wardround.engine.stores.sqlite import SqliteStore
from wardround.evaluators.levels.level_figures import LEVELS, LevelReport, level_report
from wardround.evaluators.levels.level_page import levels_page
from wardround.evaluators.measures import format_value
from wardround.evaluators.report.model_facts import known_models
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import RunScores
from wardround.evaluators.report.summary import Summary, summarise
from wardround.evaluators.report.terminal import FLOOR, format_range, score_table
from wardround.report_files import write_file, write_pages
from wardround.runs.stored_run import Run, doctor_scenarios, scenario_class, scenario_defaults
from wardround.scenarios.case import Case
from wardround.scoring.judges import JudgeOptions, judge_config
from wardround.scoring.level_rows import level_rows
from wardround.scoring.score import evaluator_of, score_run

DOCTORS = ("gold", "baseline", "silent")
"""The doctors that play the cases, none of which needs a model."""
PLOTTED = "baseline"
"""The one of them whose runs the report shows."""
AUTHORS = ("careful", "hasty")
"""The authors of the invented replies that are judged; the second one makes mistakes."""
QUIZZED = {
    "questions-gold": "gold",
    "questions-first": "always-first",
    **{f"questions-{author}": f"replies:bundled:questions#{author}" for author in AUTHORS},
}
"""The runs of the bundled questions, and who answers them."""


async def demo(path: Path, report: Path) -> tuple[dict[str, RunScores], LevelReport]:
    """Play, score and judge the runs, and write the pages; returns the scores by run, and the levels."""
    runs: dict[str, RunScores] = {}
    async with aclosing(SqliteStore(path)) as store:
        for scenario in doctor_scenarios():
            if scenario_defaults(scenario_class(scenario)).item is not Case:
                continue
            for doctor in DOCTORS:
                name = f"{scenario}-{doctor}"
                played = await run("bundled", scenario, seats={"doctor": doctor}, store=store, name=name)
                runs[name] = await score_run(played, [evaluator_of("standard")])
        for author in AUTHORS:
            played = await run(
                "bundled:reports", "oracle", seats={"doctor": f"replies:bundled#{author}"}, store=store, name=author
            )
            runs[author] = await _judge(store, played, ("standard", "reasoning"))
        for name, doctor in QUIZZED.items():
            played = await run("bundled:questions", "questions", seats={"doctor": doctor}, store=store, name=name)
            runs[name] = await _judge(store, played, ("questions", "rubric", "checklist"))
        levels = await _levels(store, runs, report.with_name("levels.html"))
        shown = [scores for name, scores in runs.items() if name.endswith((PLOTTED, *AUTHORS)) or name in QUIZZED]
        await write_pages(store, ReportFigures(shown, int(shown[0].header["seed"])), report, compare=False)
    return runs, levels


async def _judge(store: SqliteStore, played: Run, evaluators: Sequence[str]) -> RunScores:
    """Judge a run offline, with the bundled texts as evidence."""
    async with aclosing(await judge_config(JudgeOptions(("lexical",), search="bundled"), store)) as judges:
        return await score_run(played, [evaluator_of(name) for name in evaluators], judge=judges)


async def _levels(store: SqliteStore, runs: Mapping[str, RunScores], page: Path) -> LevelReport:
    """The levels of those who answered the questions, also written as a page."""
    rows, notes = await level_rows([(await Run.open(store, name), runs[name]) for name in QUIZZED])
    report = level_report(rows, known_models())
    write_file(page, levels_page(report, notes))
    return report


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


def question_table(runs: Mapping[str, RunScores], levels: LevelReport) -> Group:
    """A table with one row for each run of the bundled questions: its levels, and what its open answers are worth."""
    made = Table(box=None, pad_edge=False)
    made.add_column("doctor")
    for column in (*LEVELS, "usable", "rubric"):
        made.add_column(column, justify="right", no_wrap=True)
    by_run = {one.runs[0]: one for one in levels.models}
    for name in QUIZZED:
        figures = [by_run[name].levels[level].mean for level in LEVELS]
        summary = summarise(runs[name].episodes, 0, runs[name].answer_judges)
        open_ones = (_mean(summary, "usable"), _mean(summary, "rubric_score"))
        shares = ["-" if mean is None else f"{mean:.3f}" for mean in figures]
        made.add_row(name.removeprefix("questions-"), *shares, *open_ones)
    return Group(Text("Bundled questions: 20 a level, and 30 open ones", style="italic"), made, Text(_QUESTION_NOTE))


_QUESTION_NOTE = """low, middle, high: normalised accuracy; 0 is guessing. first takes the first option everywhere.
usable, rubric: share of open answers that meet their checklist, and points of their rubric, by words: a lower bound.
"""


def write_demo() -> None:
    """`python -m wardround.demo FOLDER`."""
    configure("error")
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "out")
    folder.mkdir(parents=True, exist_ok=True)
    path, report = folder / "demo.db", folder / "report.html"
    for old in (path, folder / "demo.db-wal", folder / "demo.db-shm"):
        old.unlink(missing_ok=True)
    runs, levels = anyio.run(demo, path, report)
    screen = Console(width=100)
    screen.print(demo_table({name: scores for name, scores in runs.items() if name not in (*AUTHORS, *QUIZZED)}))
    screen.print(question_table(runs, levels))
    for author in AUTHORS:
        screen.print(score_table(author, summarise(runs[author].episodes, 0, runs[author].answer_judges)))
    print("gold knows the truth, silent says nothing: the ends of every scale. baseline compares findings.")
    print(
        "careful and hasty are invented replies. Their judge is no model but a comparison of words, a lower bound: it"
    )
    print("shows what a judged report looks like, and says nothing about a doctor.")
    print(f"runs:   {path}  (.venv/bin/wardround runs --store {path})")
    print(f"report: {report.resolve()}")
    print(f"levels: {report.with_name('levels.html').resolve()}")


if __name__ == "__main__":
    write_demo()
