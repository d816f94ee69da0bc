"""The page of one episode: its dialogue, and where it was judged each step with its verdict and what that rests on."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from wardround.engine.events import digest_of
from wardround.engine.records import Json, Score
from wardround.engine.text import counted
from wardround.evaluators import judged_measures
from wardround.evaluators.measures import measure_of, place_of, shown
from wardround.evaluators.outcome.assessed import AssessmentAccount, Item
from wardround.evaluators.reasoning.account import Account
from wardround.evaluators.reasoning.controls import fitness
from wardround.evaluators.reasoning.judged import Rules
from wardround.evaluators.reasons import ended_by, phrase
from wardround.evaluators.rows import EpisodeScores
from wardround.evaluators.showing.accounts import Told, digests, told
from wardround.evaluators.showing.as_read import as_read
from wardround.evaluators.showing.contents import ACCURACIES
from wardround.evaluators.showing.encounter import SAID, VERBS, Encounter
from wardround.evaluators.showing.environment import environment, style
from wardround.evaluators.showing.fraction import fractions
from wardround.evaluators.showing.mark import MEANINGS, SIGNS, State, Voice, voices
from wardround.evaluators.showing.quotation import Quotation, quotation
from wardround.evaluators.showing.step import Shown, parts
from wardround.evaluators.showing.visible import shortened
from wardround.evaluators.standing import Goal
from wardround.evaluators.summary import WORD_MATCH
from wardround.scenarios.case import Case

LONG_STEP, LONG_TEXT = 1_500, 2_000
"""Characters of a step that are shown at once, and of a text that a judge was shown."""
_BESIDE = {"": "", "whole_": ", all turns", "published_": ", published rules"}
_CHIEF = ("efficiency", "factuality", "unverifiable", "completeness")


@dataclass(frozen=True, slots=True)
class _Judged:
    """The reasoning as one evaluator judged it."""

    name: str
    account: Account
    parts: Sequence[Shown]


class Kept(msgspec.Struct, frozen=True):
    """What else a page is made from: the dialogue, or why its events cannot be read (`damage`).

    `index` is the address of the list of the run's episodes, "" for none.
    """

    encounter: Encounter | None = None
    index: str = ""
    damage: str = ""


ALONE = Kept()


def episode_page(
    run: str,
    row: EpisodeScores,
    case: Case,
    accounts: Mapping[str, Json],
    texts: Mapping[str, str],
    kept: Kept = ALONE,
) -> str:
    """The page of the episode `row` of `run`, judged or not, with what `accounts` tell of it (showing/accounts.py).

    `texts` maps digests to stored texts: those that `digests(accounts)` names. Nothing is loaded and nothing is run; a
    source is a link for the reader to follow. Of a restricted case no text of case, reply, search or source is shown,
    the states of its steps and the scores are. The same input gives the same bytes.
    """
    found, veiled = told(accounts), row.restricted or case.data_class == "restricted"
    judged = [
        _Judged(name, one, parts(one, row, texts, f"p{n}")) for n, (name, one) in enumerate(found.reasoning.items())
    ]
    return (
        environment()
        .get_template("judged.html.j2")
        .render(
            **_WORDS,
            style=style("report.css", "judged.css"),
            run=run,
            row=row,
            case=case,
            goal=_goal(row, found),
            told=kept.encounter,
            index=kept.index,
            damage=kept.damage,
            judged=judged,
            outcome=found.outcome,
            outcome_voices=_outcome_voices(found),
            outcome_quotations=_outcome_quotations(found, texts),
            assessments=found.assessments,
            problems=found.problems,
            scores=_scores(row),
            tiles=_tiles(row, found),
            texts=[(digest, texts.get(digest)) for digest in digests(accounts)],
            veiled=veiled,
            read=[] if veiled else as_read(row.answer, case, _goal(row, found), _asked_for(row)),
            signs=SIGNS,
            meanings=_meanings(judged),
            long_step=LONG_STEP,
            long_text=LONG_TEXT,
        )
    )


def _points(value: float) -> str:
    return "1 point" if value == 1 else f"{value:g} points"


def _unmet(account: AssessmentAccount) -> list[Item]:
    """Recorded items that no request is."""
    met = {place for pair in account.pairs for place in pair.same}
    return [item for place, item in enumerate(account.recorded) if place not in met]


_WORDS: dict[str, Any] = {
    "counted": counted,
    "shortened": shortened,
    "label": lambda name: measure_of(name).label,
    "shown": shown,
    "unmet": _unmet,
    "fitness": fitness,
    "phrase": phrase,
    "ended_by": ended_by,
    "desk_words": lambda word: SAID.get(word) or phrase(word),
    "points": _points,
    "verbs": VERBS,
}
"""What the page says things with."""


def _asked_for(row: EpisodeScores) -> int:
    """How many diagnoses the game asked for, by the scores of its ranked list."""
    return max(1, sum(score.name.startswith("diagnosis_top_") for score in row.scores))


def _goal(row: EpisodeScores, found: Told) -> Goal:
    if found.outcome:
        return found.outcome.goal
    return "treatment" if any(score.name == "treatment_accuracy" for score in row.scores) else "diagnosis"


def _outcome_voices(found: Told) -> list[Voice]:
    return voices(found.outcome.votes, found.outcome.judges) if found.outcome else []


def _outcome_quotations(found: Told, texts: Mapping[str, str]) -> list[Quotation]:
    return [quotation(quoted, texts) for quoted in found.outcome.quoted] if found.outcome else []


def _scores(row: EpisodeScores) -> list[Score]:
    return sorted(row.scores, key=lambda score: place_of(score.name))


def _tiles(row: EpisodeScores, found: Told) -> list[tuple[str, str, str]]:
    """(label, value, remark) of the outcome, and of the reasoning (of all turns, if so judged) as formal / thinking."""
    scores = {score.name: score for score in row.scores}
    judged = "lexical_match" in scores and not (found.outcome and found.outcome.floor)
    floor = "" if judged else WORD_MATCH
    tiles = [
        (measure_of(name).label, shown(name, scores[name].value), phrase(scores[name].reason) or floor)
        for name in ACCURACIES
        if name in scores
    ]
    leads = ("whole_", "", "published_")
    lead = next((one for one in leads if any(f"{one}{figure}_formal" in scores for figure in _CHIEF)), "published_")
    rules: Rules = "published" if lead == "published_" else "default"
    last = {
        part.part: part
        for one in found.reasoning.values()
        if one.rules == rules
        for part in one.parts
        if part.stage == "conclusion"
    }
    for figure in _CHIEF:
        both = [scores[name] for part in ("formal", "thinking") if (name := f"{lead}{figure}_{part}") in scores]
        if len(both) > 1 and both[1].reason == "no_thinking":
            both = both[:1]
        if both:
            value = " / ".join(shown(score.name, score.value) for score in both)
            reasons = dict.fromkeys(phrase(score.reason) for score in both if score.reason)
            label = measure_of(f"{figure}_formal").label.removesuffix(", formal part")
            told = " / ".join(fractions(last, figure, row, lead, rules))
            remark = ", ".join(filter(None, [told, *reasons]))
            tiles.append((label + _BESIDE[lead], value, remark))
    return tiles


def _meanings(judged: Sequence[_Judged]) -> list[tuple[State, str]]:
    """The legend: of the states that occur."""
    there = {step.state for one in judged for part in one.parts for step in part.steps}
    return [(state, meaning) for state, meaning in MEANINGS.items() if state in there]


def page_name(run: str, episode: str) -> str:
    """A file name for the page of an episode: plain letters, and a hash that keeps alike names apart."""
    return f"{plain_name(f'{run}-{episode}', f'{run}/{episode}')}.html"


def plain_name(name: str, whole: str = "") -> str:
    """`name` in plain letters with a short hash of `whole`, or else of itself."""
    plain = "-".join(re.findall(r"[A-Za-z0-9._]+", name)).strip(".-")[:80]
    return f"{plain}-{digest_of(whole or name)[:8]}"


def is_judged(row: EpisodeScores) -> bool:
    """Whether an evaluator with judges has scored this episode."""
    names = {measure.name for measure in (*judged_measures.REASONING, *judged_measures.PUBLISHED)}
    return any(score.name in names for score in row.scores)
