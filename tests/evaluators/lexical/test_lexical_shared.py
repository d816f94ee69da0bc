"""How far the offline judge agrees with judges that are models: the figures of docs/offline_judge.md.

Its bounds for steps were chosen on the cases whose id has an even hash; the page's tables of steps are of the others.
"""

import ast
import csv
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from wardround.evaluators.judges.panel import Sample
from wardround.evaluators.judges.question import Question
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.evaluators.outcome import outcome_questions
from wardround.evaluators.reasoning import step_questions
from wardround.evaluators.reasoning.steps import split
from wardround.evaluators.report.agreement import Agreement, agreement
from wardround.evaluators.search.corpus import Corpus
from wardround.evaluators.search.documents import Fields
from wardround.scenarios.case import Case
from wardround.scenarios.encounters.staged import read_staged
from wardround.scenarios.loaders.load import load as read_cases
from wardround.scenarios.parsers.moves import Conclusion

pytestmark = pytest.mark.shared

PAGE = Path(__file__).resolve().parents[3] / "docs" / "offline_judge.md"
DRIFT = 0.03
"""How far a figure may move before the page must be written anew."""
MODELS = {"deepseek-r1": "DeepSeek-R1", "gemini2-ft": "Gemini 2 FT", "qwq": "QwQ"}
ANSWERING = ("deepseek-r1", "o3-mini", "qwen3-14b-thinking")


def held_out(name: str) -> bool:
    return blake2b(name.encode(), digest_size=4).digest()[0] % 2 == 1


async def told(question: Question) -> Any:
    return json.loads(await LexicalJudge().say(question, Sample()))


class Judged(NamedTuple):
    """One reply: the model, the case's text, the stored labels."""

    model: str
    case: str
    row: dict[str, Any]


def load(shared: Path, name: str) -> Any:
    return json.loads((shared / "data" / "medrbench" / name).read_text(encoding="utf-8"))


def replies(shared: Path) -> Iterator[Judged]:
    cases = load(shared, "diagnosis_cases.json")
    for model in MODELS:
        for case, row in load(shared, f"results/oracle_diagnosis__{model}__replies_and_judged_steps.json").items():
            if held_out(case):
                yield Judged(model, cases[case]["generate_case"]["case_summary"], row)


def printed(heading: str) -> dict[str, list[str]]:
    """The rows of the table under a heading of the page, by their first cell."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"(?m)^\|.*\|$", section)]
    return {row[0]: row[1:] for row in rows[2:]}


def first(cell: str) -> float:
    """The figure in a cell, before its interval."""
    return float(cell.split(maxsplit=1)[0])


def check(row: list[str], found: Agreement) -> None:
    assert found.n == pytest.approx(int(row[0]), abs=5)
    measured = [found.agreed / found.n, found.kappa, found.ac1, found.sensitivity, found.specificity]
    assert [first(cell) for cell in row[1:]] == pytest.approx(measured, abs=DRIFT)


async def kinds(judged: Judged) -> list[tuple[str, str]]:
    """(the offline judge's class, the stored one) of each step."""
    steps = [held["step"] for held in judged.row["reasoning_eval"]]
    asked = [
        step_questions.step_class(judged.case, "to find the diagnosis", steps[:n], one) for n, one in enumerate(steps)
    ]
    given = [(await told(question))["classification"] for question in asked]
    return list(zip(given, (held["efficiency"].lower() for held in judged.row["reasoning_eval"]), strict=True))


async def hits(judged: Judged) -> list[tuple[bool, bool]]:
    """(found by the offline judge, found as stored) for each reference step."""
    reasoning = "\n".join(split(judged.row["results"]["content"] or "").steps)
    rows = judged.row["gt_reasoning_eval"]
    given = [(await told(step_questions.step_in_text(held["step"], reasoning)))["found"] for held in rows]
    return list(zip(given, (str(held["hit"]) == "True" for held in rows), strict=True))


@pytest.mark.long
async def test_steps_and_reference_steps_as_the_page_prints_them(shared: Path) -> None:
    classes: list[tuple[str, str]] = []
    found: list[tuple[bool, bool]] = []
    means: dict[str, list[list[float]]] = {model: [] for model in MODELS}
    for judged in replies(shared):
        mine, theirs = await kinds(judged), await hits(judged)
        classes += mine
        found += theirs
        figures = [sum(one == "reasoning" for one, _ in mine) / len(mine), float(judged.row["efficiency"])]
        means[judged.model].append([*figures, sum(hit for hit, _ in theirs) / len(theirs), float(judged.row["recall"])])
    effective = agreement([(one == "reasoning", other == "reasoning") for one, other in classes])
    rows = printed("Agreement")
    check(rows["step is reasoning"], effective)
    check(rows["reference step found"], agreement(found))
    assert effective.kappa is not None
    assert effective.kappa > 0.4
    for kind, row in printed("Classes").items():
        both, ours, theirs = (sum(map(test, classes)) for test in _tests(kind))
        assert [int(cell) for cell in row] == pytest.approx([ours, theirs, both], abs=15)
    for model, name in MODELS.items():
        mean = [sum(column) / len(means[model]) for column in zip(*means[model], strict=True)]
        assert [float(cell) for cell in printed("Means by model")[name][:4]] == pytest.approx(mean, abs=DRIFT)


def _tests(kind: str) -> Any:
    return (lambda pair: pair == (kind, kind)), (lambda pair: pair[0] == kind), (lambda pair: pair[1] == kind)


class Answered(NamedTuple):
    """One final answer: its case, the offline judge's question, whether each of two models called it right."""

    case: str
    question: Question
    gpt: bool
    gemma: bool


def answers(shared: Path) -> Iterator[Answered]:
    read_in = read_cases(shared / "data" / "medrbench" / "diagnosis_cases.json")
    truths = {case.id: case.truth for case in read_in if isinstance(case, Case)}
    for model in ANSWERING:
        at = f"results/oracle_diagnosis__{model}__accuracy_judge_"
        gemma = load(shared, f"{at}gemma.json")
        for case, row in load(shared, f"{at}gpt.json").items():
            results = row["results"]
            reply = ast.literal_eval(results) if isinstance(results, str) else results
            move = read_staged(reply["content"] or "", last=True)
            if isinstance(move, Conclusion):
                question = outcome_questions.diagnosis(truths[case], move.text)
                yield Answered(case, question, *(str(one[case]["accuracy"]) == "True" for one in ({case: row}, gemma)))


def fitted_on(case: str) -> bool:
    """Whether the two bounds of `naming` were chosen with the answers to this case in view."""
    return blake2b(b"suite-half:" + case.encode(), digest_size=4).digest()[0] % 2 == 0


async def judged_answers(asked: Iterable[Answered]) -> tuple[Agreement, Agreement]:
    """The offline judge's agreement with GPT and with Gemma."""
    pairs = [((await told(one.question))["verdict"] == "correct", one) for one in asked]
    return agreement((mine, one.gpt) for mine, one in pairs), agreement((mine, one.gemma) for mine, one in pairs)


@pytest.mark.long
async def test_a_diagnosis_on_the_half_that_no_bound_was_fitted_on(shared: Path) -> None:
    found = await judged_answers(one for one in answers(shared) if not fitted_on(one.case))
    for judge, one in zip(("GPT", "Gemma"), found, strict=True):
        check(printed("Agreement")[f"diagnosis, against {judge}, clean half"], one)
        assert one.kappa is not None
        assert one.kappa > 0.4, judge  # 0.47 and 0.49


@pytest.mark.long
async def test_diagnoses_as_the_page_prints_them(shared: Path) -> None:
    found = await judged_answers(answers(shared))
    for judge, one in zip(("GPT", "Gemma"), found, strict=True):
        check(printed("Agreement")[f"diagnosis, against {judge}"], one)


@pytest.mark.long
async def test_verdicts_that_it_gives_are_mostly_the_stored_ones_and_few(shared: Path, tmp_path: Path) -> None:
    corpus = Corpus.opened(shared / "data" / "medquad", tmp_path, Fields(), 1000)
    counts: Counter[tuple[str, bool]] = Counter()
    for judged in list(replies(shared))[::4]:
        for held in judged.row["reasoning_eval"]:
            if held["efficiency"] == "Reasoning":
                query = await LexicalJudge().say(step_questions.keywords(held["step"]), Sample())
                passages = [one.text for one in corpus.look_up(query)]
                verdict = (await told(step_questions.judgment(judged.case, passages, held["step"])))["judgment"]
                counts[verdict, str(held["factulity"]) == "True"] += 1
    corpus.close()
    settled = sum(counts.values()) - counts["search", True] - counts["search", False]
    agreed = counts["correct", True] + counts["wrong", False]
    assert 0.02 < settled / sum(counts.values()) < 0.15
    assert agreed / settled > 0.8


async def test_claims_with_their_evidence_as_the_page_prints_them(shared: Path) -> None:
    rows = printed("Claims with their evidence")
    counts: Counter[tuple[str, str]] = Counter()
    with (shared / "data" / "healthver" / "healthver_dev.csv").open(encoding="utf-8", newline="") as opened:
        for row in csv.DictReader(opened):
            asked = step_questions.judgment("", [row["evidence"]], row["claim"])
            counts[row["label"], (await told(asked))["judgment"]] += 1
    for label, cells in rows.items():
        measured = [counts[label.capitalize(), verdict] for verdict in ("correct", "wrong", "search")]
        assert [int(cell) for cell in cells] == pytest.approx(measured, abs=10)
