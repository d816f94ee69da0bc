"""The judged open answers of runs: rubrics and checklists with their accounts, read from their scorings."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import Json, Score
from wardround.engine.text import column_rows
from wardround.evaluators.open_answers.checklist import ChecklistMarks
from wardround.evaluators.open_answers.checklist_draft import ChecklistDraft, TurnDraft
from wardround.evaluators.open_answers.rubric import RUBRIC_SCORE, Rubric
from wardround.evaluators.open_answers.rubric_probe import RubricProbe
from wardround.evaluators.report.rubric_table import JudgedItem
from wardround.evaluators.report.score_rows import read_accounts
from wardround.evaluators.report.usability import MarkedItem
from wardround.runs.stored_run import Run
from wardround.scenarios.question_item import QuestionItem
from wardround.scoring.scorings import StoredScoring, all_scorings, chosen_scores, find_scoring, select
from wardround.scoring.stored_scores import StoredScores

_YES, _NO = ("1", "true", "yes", "usable"), ("0", "false", "no", "unusable")


async def _scoring_of(run: Run, evaluator: str, named: str) -> StoredScoring:
    """The scoring of an evaluator that counts, or the one that the user named."""
    every = [one for one in await all_scorings(run.store, run.name) if one.evaluator == evaluator]
    if not every:
        raise UsageError(
            f"run {run.name} was not scored by {evaluator}: "
            f"wardround score {run.name} --evaluators {evaluator} --judge SPEC"
        )
    return find_scoring(every, named) if named else (await select(run.store, every))[evaluator]


async def _scores(run: Run, evaluator: str, named: str) -> AsyncIterator[tuple[str, StoredScores]]:
    """Each judged episode with its case."""
    scoring = await _scoring_of(run, evaluator, named)
    cases = {row.id: row.case for row in await run.episodes()}
    async with aclosing(chosen_scores(run, {evaluator: scoring})) as stored:
        async for one in stored:
            yield cases[one.episode], one


async def judged_items(store: Store, runs: Sequence[str], named: str = "") -> list[JudgedItem]:
    """The rubric scores of some runs with their accounts; raises UsageError for a run without them."""
    items: list[JudgedItem] = []
    for name in runs:
        run = await Run.open(store, name)
        async for case, one in _scores(run, Rubric.name, named):
            account = read_accounts({Rubric.name: one.account}).rubrics.get(Rubric.name)
            score = next((each for each in one.scores if each.name == RUBRIC_SCORE), None)
            score = score or next(iter(one.scores), Score(RUBRIC_SCORE, None, "not_scored"))
            items.append(JudgedItem(name, one.episode, case, score.value, score.reason, account))
    return items


async def marked_items(store: Store, run: str, named: str = "") -> tuple[list[MarkedItem], dict[str, int]]:
    """The answers of a run that judges marked by checklists, and the number of its other answers by reason."""
    items: list[MarkedItem] = []
    left: Counter[str] = Counter()
    async for case, one in _scores(await Run.open(store, run), ChecklistMarks.name, named):
        account = read_accounts({ChecklistMarks.name: one.account}).checklists.get(ChecklistMarks.name)
        if account is None:
            left[next((score.reason for score in one.scores), "not_scored")] += 1
        else:
            items.append(MarkedItem(one.episode, case, account))
    return items, dict(left)


async def probe_accounts(run: Run) -> list[tuple[str, Json]]:
    """The accounts of the probes of a run's rubrics, by item."""
    scores = [(case, one.account) async for case, one in _scores(run, RubricProbe.name, "")]
    return [(case, account["probe"]) for case, account in scores if account]


async def checklist_drafts(run: Run, cases: Sequence[str]) -> dict[str, list[TurnDraft]]:
    """The proposed checklists of some items, by item: those of the first episode that has any."""
    proposals: dict[str, list[TurnDraft]] = {}
    async for case, one in _scores(run, ChecklistDraft.name, ""):
        if case in cases and one.account:
            proposals.setdefault(case, msgspec.convert(one.account["draft"], list[TurnDraft]))
    return proposals


def with_drafts(item: QuestionItem, made: Sequence[TurnDraft]) -> QuestionItem:
    """The item with the proposed checklists, marked as drafted; a turn without a proposal keeps its own."""
    by_turn = {one.turn: one.draft.checklist() for one in made if one.draft is not None}
    turns = tuple(
        turn.model_copy(update={"checklist": by_turn.get(number, turn.checklist)})
        for number, turn in enumerate(item.turns, 2)
    )
    return item.model_copy(update={"checklist": by_turn.get(1, item.checklist), "turns": turns})


def peoples_verdicts(path: Path) -> dict[tuple[str, int], bool]:
    """People's verdicts from a CSV with the columns episode, usable and, for later turns, turn (1 is the first).

    Raises UsageError with file, row and field for what cannot be read, and for an answer that is there twice.
    """
    verdicts: dict[tuple[str, int], bool] = {}
    for number, row in enumerate(column_rows(path, "--people", ("episode", "usable")), 2):
        episode, said, turn = row["episode"], row["usable"].casefold(), row.get("turn") or "1"
        if not episode:
            raise UsageError(f"{path}, row {number}, episode: is missing; write its id, such as q1@1")
        if said not in (*_YES, *_NO):
            raise UsageError(f"{path}, row {number}, usable: is {said!r}; write yes or no")
        if not turn.isdecimal() or int(turn) < 1:
            raise UsageError(f"{path}, row {number}, turn: is {turn!r}; write 1 for the first answer, 2 for the next")
        if (episode, int(turn)) in verdicts:
            raise UsageError(f"{path}, row {number}: {episode}, turn {turn}, has a verdict already; write each once")
        verdicts[episode, int(turn)] = said in _YES
    return verdicts
