"""Runs of altered questions beside their plain runs, and what a set gives away by its form.

An altered run is compared with a plain run of the same doctor, over the questions that both asked. A leak is what a
doctor scores beyond chance if it cannot know the answer.
"""

from collections.abc import Mapping, Sequence

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.evaluators.evaluation import inside, scenario_settings
from wardround.evaluators.levels.level_figures import LevelFigure, LevelRow, figure
from wardround.evaluators.metrics.question_answer import ACCURACY, FOLLOWED, KEPT
from wardround.evaluators.report.compare import Difference, compare_runs
from wardround.evaluators.report.ranking import doctor_of
from wardround.evaluators.report.score_rows import RunScores


class AttackedRun(msgspec.Struct, frozen=True, kw_only=True):
    """An altered run against its plain one, over the questions of both: `how` names the settings that differ.

    `difference` is None with a `reason` if no question has a score in both. `followed` is the share of wrong hints that
    were followed, `kept` the share of old answers that were kept though a fact was changed; each is None if the run has
    no such score.
    """

    doctor: str
    plain: str
    run: str
    how: str
    difference: Difference | None
    reason: str = ""
    followed: float | None = None
    kept: float | None = None


class Leak(msgspec.Struct, frozen=True, kw_only=True):
    """What a set gives away by its form: the normalised accuracy of a guesser in one task; 0 is no leak."""

    dataset: str
    task: str
    how: str
    run: str
    figure: LevelFigure


class Alterations(msgspec.Struct, frozen=True):
    """The altered runs, and the leaks of the sets."""

    attacks: Sequence[AttackedRun] = ()
    leaks: Sequence[Leak] = ()


Texts = Mapping[str, Mapping[str, str]]
"""The digest of each question of a run, in its source's words: questions of one id with other words are no pair."""


def compare_attacked(
    plain: Sequence[RunScores], altered: Sequence[RunScores], texts: Texts, seed: int = 0
) -> list[AttackedRun]:
    """Compare each altered run with the plain run of the same doctor that has most questions in common with it.

    Raises UsageError if its doctor has no other run among the plain ones.
    """
    return [_compare_attack(_plain_of(one, plain, texts), one, texts, seed) for one in altered]


def _shared_questions(first: RunScores, second: RunScores, texts: Texts) -> set[str]:
    """The questions that both runs asked, by the same words of their source."""
    one, two = texts[first.name], texts[second.name]
    return {case for case in {row.case for row in first.episodes} & one.keys() if one[case] == two.get(case)}


def _plain_of(altered: RunScores, plain: Sequence[RunScores], texts: Texts) -> RunScores:
    same = [one for one in plain if doctor_of(one.header) == doctor_of(altered.header) and one.name != altered.name]
    shared = [len(_shared_questions(altered, one, texts)) for one in same]
    if not any(shared):
        raise UsageError(
            f"--against {altered.name}: no run given before it has the same doctor ({doctor_of(altered.header)}) and "
            f"a question in common with it; give its plain run: `wardround levels PLAIN --against {altered.name}`"
        )
    return same[shared.index(max(shared))]


def _compare_attack(plain: RunScores, altered: RunScores, texts: Texts, seed: int) -> AttackedRun:
    cases = _shared_questions(plain, altered, texts)
    pair = [
        msgspec.structs.replace(run, episodes=[row for row in run.episodes if row.case in cases])
        for run in (plain, altered)
    ]
    compared = [one for one in compare_runs(pair, seed).differences if one.score == ACCURACY]
    difference = compared[0] if compared and compared[0].cases else None
    return AttackedRun(
        doctor=doctor_of(altered.header),
        plain=plain.name,
        run=altered.name,
        how=_how(scenario_settings(plain.header), scenario_settings(altered.header)),
        difference=difference,
        reason="" if difference else "no question has a score in both runs",
        followed=_mean(altered, FOLLOWED),
        kept=_mean(altered, KEPT),
    )


def _how(plain: Mapping[str, Json], altered: Mapping[str, Json]) -> str:
    """The settings of the altered run that differ from the plain one's."""
    names = sorted({name for name in (*plain, *altered) if plain.get(name) != altered.get(name)})
    return ", ".join(f"{name}={_word(altered.get(name))}" for name in names) or "the same settings"


def _word(value: Json) -> str:
    return msgspec.json.encode(value).decode().strip('"')


def _mean(run: RunScores, name: str) -> float | None:
    scores = [row.score(name).value for row in run.episodes]
    values = [value for value in scores if value is not None]
    return sum(values) / len(values) if values else None


HIDDEN = "options without the question"
FIRST = "always the first option, in the order of the source"
_FIRST_DOCTOR = "always-first"


def knows_truth(header: Mapping[str, Json]) -> bool:
    """Whether the doctor of a run was told the truth, so that its figures check the set-up alone."""
    return inside(inside(header, "seats"), "doctor").get("told") == "truth"


def leak_of(header: Mapping[str, Json]) -> str:
    """What a run's accuracy beyond chance says about its set; '' if nothing: it was attacked, or told the truth."""
    settings = scenario_settings(header)
    if settings.get("attack", "none") != "none" or knows_truth(header):
        return ""
    if settings.get("hide_question"):
        return HIDDEN
    return FIRST if doctor_of(header) == _FIRST_DOCTOR and not settings.get("permute") else ""


def level_leaks(rows: Sequence[LevelRow], how: Mapping[str, str], seed: int = 0) -> list[Leak]:
    """Return the leaks that the rows show, by run, set and task; `how` says for each run what it tests (`leak_of`)."""
    groups = dict.fromkeys((row.run, row.dataset, row.task) for row in rows)
    return [
        Leak(
            dataset=dataset,
            task=task,
            how=how[run],
            run=run,
            figure=figure([row for row in rows if (row.run, row.dataset, row.task) == (run, dataset, task)], seed),
        )
        for run, dataset, task in sorted(groups)
    ]
