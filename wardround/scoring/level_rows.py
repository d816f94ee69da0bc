"""The answers of stored runs as rows of their cognitive level, for `wardround levels`."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.levels.disease_curves import END_POINT
from wardround.evaluators.levels.level_attacks import knows_truth
from wardround.evaluators.levels.level_figures import HIGH_SCORES, LEVELS, RECTIFICATION, THOUGHT, LevelRow
from wardround.evaluators.measures import measure_of
from wardround.evaluators.metrics.question_answer import ACCURACY
from wardround.evaluators.report.ranking import doctor_of
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.warnings import unplayed_cases
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case
from wardround.scenarios.question_item import QuestionItem

_TASK_FILES = re.compile(r"(?i)^(?:mcq|sv|mr|ae|test|dev|train|low|middle|mid|high|items|questions)$")
_ENDINGS = re.compile(r"(?i)(?:\.(?:test|dev|train))?\.(?:jsonl?|ndjson|[ct]sv)(?:\.gz)?$")


def dataset_of(places: Json) -> str:
    """What a set is called: its file, or the folder that a file of one task stands in (`medqa/MCQ.test.json`: medqa).

    The different names of several files are joined by `+`.
    """
    names = dict.fromkeys(_name(str(place)) for place in (places if isinstance(places, list | tuple) else [places]))
    return "+".join(names)


def _name(place: str) -> str:
    path = PurePath(place)
    stem = _ENDINGS.sub("", path.name)
    folder = path.parent
    while _TASK_FILES.match(stem) and folder.name:
        stem, folder = folder.name, folder.parent
    return stem or place


def model_label(header: Mapping[str, Json]) -> str:
    """The name for the figures of a run: its doctor, with a mark for published rules and one for thinking first."""
    settings = inside(inside(header, "scenario"), "settings")
    rules = " (published rules)" if settings.get("rules") == "published" else ""
    return f"{doctor_of(header)}{rules}{THOUGHT if settings.get('thinking') else ''}"


def alteration_of(header: Mapping[str, Json]) -> str:
    """How the questions of a run were altered: by an attack, or by hiding them; '' if they were not."""
    settings = inside(inside(header, "scenario"), "settings")
    attack = settings.get("attack") or "none"
    return f"attack={attack}" if attack != "none" else "hide_question" if settings.get("hide_question") else ""


NO_RATINGS: Mapping[tuple[str, str], float] = {}


async def level_rows(
    runs: Sequence[tuple[Run, RunScores]],
    *,
    any_form: bool = False,
    ratings: Mapping[tuple[str, str], float] = NO_RATINGS,
) -> tuple[list[LevelRow], list[str]]:
    """The rows of all runs, and sentences about what was left out.

    Answers to one item by one model are its repeats, in any run. Raises UsageError for a run whose questions were
    altered, since it is to be compared with its plain run. With `any_form` such runs are taken too, and repeats are
    counted by run. `ratings` are ratings of difficulty, by (run, item); a sentence names each one without an answer.
    """
    rows: list[LevelRow] = []
    absent: dict[str, list[str]] = {}
    notes = [] if any_form else _mixed_settings(runs)
    seen: Counter[tuple[str, str, str]] = Counter()
    for run, scores in runs:
        if not any_form and (what := alteration_of(scores.header)):
            raise UsageError(
                f"run {scores.name} was played with {what}: compare it with its plain run, "
                f"`wardround levels PLAIN --against {scores.name}`"
            )
        source = _source_of(scores)
        lacking = _unscored_note(scores, (ACCURACY,) if run.of_questions else HIGH_SCORES, patients=run.of_patients)
        notes += [*lacking, *(f"{scores.name}: {sentence}" for sentence in unplayed_cases(scores))]
        left: Counter[str] = Counter()
        answered = {episode.case for episode in scores.episodes if episode.cause is not None}
        for episode in scores.episodes:
            if episode.cause is None:
                left["still open"] += 1
                continue
            item = await run.item(episode.case)
            played = (scores.name if any_form else source.model, source.dataset, episode.case)
            repeat, rated = seen[played] + 1, ratings.get((scores.name, episode.case))
            if isinstance(item, QuestionItem):
                row = _of_question(item, episode, source, repeat, rated)
            else:
                row = _of_case(item, episode, source, repeat, rated)
            if row is None:
                left["open questions, which have no level"] += 1
                continue
            seen[played] = repeat
            rows.append(row)
        if run.of_patients and not lacking:
            notes.append(f"{scores.name}: the high level is {measure_of(source.high).label.lower()}.")
        for why, count in left.items():
            absent.setdefault(f"{count_noun(count, 'episode')} left out: {why}", []).append(scores.name)
        lost = [item for run_name, item in ratings if run_name == scores.name and item not in answered]
        notes += [f"{scores.name}: a rating of difficulty of {item}, which was not answered." for item in lost]
    if knowing := [scores.name for _, scores in runs if knows_truth(scores.header)]:
        notes.append(f"{', '.join(knowing)}: the doctor was told the truth: its figures only check the set-up.")
    notes += [f"{', '.join(names)}: {what}{' (each)' if len(names) > 1 else ''}." for what, names in absent.items()]
    named = {scores.name for _, scores in runs}
    if foreign := dict.fromkeys(run_name for run_name, _ in ratings if run_name not in named):
        notes.append(f"Ratings of difficulty of runs that were not given: {', '.join(foreign)}.")
    return rows, notes


class _Source(NamedTuple):
    """What all rows of a run share; `high` is the score by which its encounters count."""

    run: str
    model: str
    dataset: str
    game: str
    high: str


def _source_of(scores: RunScores) -> _Source:
    return _Source(
        run=scores.name,
        model=model_label(scores.header),
        dataset=dataset_of(inside(scores.header, "cases").get("from")),
        game=str(inside(scores.header, "scenario").get("name")),
        high=_high_score(scores),
    )


def _unscored_note(scores: RunScores, names: Sequence[str], *, patients: bool) -> list[str]:
    """A sentence if episodes have ended but no score is of the kind that the run's level needs; else no sentence."""
    ended = [episode for episode in scores.episodes if episode.cause is not None]
    if not ended or any(one.name in names for episode in ended for one in episode.scores):
        return []
    how = f"wardround score {scores.name}{'' if patients else ' --evaluators questions'}"
    return [f"{scores.name}: has no {measure_of(names[0]).label.lower()}; score it first: {how}."]


_TELLING = ("thinking", "rules", "attack", "hide_question", "seed")
"""Settings that need no note: the model's name or a table of its own shows them, or they only change the draw."""


def _mixed_settings(runs: Sequence[tuple[Run, RunScores]]) -> list[str]:
    """Sentences on runs of one model and scenario that are taken together though their settings differ."""
    first: dict[tuple[str, str], tuple[str, Mapping[str, Json]]] = {}
    notes: list[str] = []
    for _, scores in runs:
        game = inside(scores.header, "scenario")
        settings = {name: value for name, value in inside(game, "settings").items() if name not in _TELLING}
        name, others = first.setdefault((model_label(scores.header), str(game.get("name"))), (scores.name, settings))
        apart = sorted(key for key in {**settings, **others} if settings.get(key) != others.get(key))
        if apart:
            notes.append(f"{name} and {scores.name} differ in {', '.join(apart)}, and are taken together.")
    return notes


def _high_score(scores: RunScores) -> str:
    """The score by which encounters count: the first of HIGH_SCORES that has a value in any episode."""
    valued = {one.name for row in scores.episodes for one in row.scores if one.value is not None}
    return next((name for name in HIGH_SCORES if name in valued), HIGH_SCORES[0])


def _of_question(
    item: QuestionItem, episode: EpisodeScores, source: _Source, repeat: int, rated: float | None
) -> LevelRow | None:
    """The row of a question; None if its answers have no level."""
    if item.level not in LEVELS:
        return None
    score = episode.score(ACCURACY)
    return LevelRow(
        model=source.model,
        run=source.run,
        dataset=source.dataset,
        repeat=repeat,
        level=item.level,
        task=item.form,
        unit=item.source_group or item.id,
        value=score.value,
        reason=score.reason if score.value is None else "",
        chance=item.chance or 0.0,
        holds=item.truth.holds if item.form == RECTIFICATION else None,
        disease=item.group,
        body_systems=item.category.body_systems,
        difficulty=rated,
    )


def _of_case(case: Case, episode: EpisodeScores, source: _Source, repeat: int, rated: float | None) -> LevelRow:
    score = episode.score(source.high)
    return LevelRow(
        model=source.model,
        run=source.run,
        dataset=source.dataset,
        repeat=repeat,
        level="high",
        task=source.game,
        unit=case.id,
        value=score.value,
        reason=score.reason if score.value is None else "",
        disease=case.group,
        body_systems=case.category.body_systems,
        end_point=episode.score(END_POINT).value,
        difficulty=rated,
    )
