"""Writes the page of one episode: its dialogue, and each judged step with the evidence for its verdict.

The template judged.html.j2 lays the page out. This module gives it the quotations, as the stored texts have them, and
the counts and headings. The page shows no text of a restricted case.
"""

import re
from collections import Counter
from collections.abc import Mapping
from typing import get_args

import msgspec

from wardround.engine.events import digest_of
from wardround.engine.records import Json
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import Goal
from wardround.evaluators.measures import Part, format_value, measure_of, place_of
from wardround.evaluators.outcome.items import AssessmentAccount, TextItem
from wardround.evaluators.reasoning.controls import fitness
from wardround.evaluators.reasoning.reasoning_record import Account, EvidenceQuote, PartAccount, count
from wardround.evaluators.reasoning.step_questions import PUBLISHED_STEPS, Rules
from wardround.evaluators.reasons import ended_by, phrase
from wardround.evaluators.report.answer_reading import as_read
from wardround.evaluators.report.episode_dialogue import SAID, VERBS, Dialogue, format_points
from wardround.evaluators.report.episode_list import ACCURACIES
from wardround.evaluators.report.rendering import (
    MEANINGS,
    SIGNS,
    State,
    criterion_marks,
    environment,
    host,
    safe_link,
    shortened,
    state_of,
    style,
    torn,
    voices,
)
from wardround.evaluators.report.score_rows import Accounts, EpisodeScores, digests, read_accounts
from wardround.evaluators.report.summary import WORD_MATCH
from wardround.scenarios.case import Case


def fraction(part: PartAccount, figure: str, rules: Rules, value: float | None) -> str:
    """Return `N of M` of a score of this part; "" unless it equals `value`, which may also cover other replies."""
    of, whole = _counts(part, rules).get(figure, (0, 0))
    return f"{of:,} of {whole:,}" if whole and value is not None and of / whole == value else ""


def fractions(parts: Mapping[Part, PartAccount], figure: str, row: EpisodeScores, lead: str, rules: Rules) -> list[str]:
    """Return the fractions of the answer's formal and thinking part, as far as they exist."""
    several = (
        fraction(parts[part], figure, rules, row.score(f"{lead}{figure}_{part}").value)
        for part in get_args(Part)
        if part in parts
    )
    return [one for one in several if one]


def _counts(part: PartAccount, rules: Rules) -> dict[str, tuple[int, int]]:
    published = rules == "published"
    steps = count(part.steps[:PUBLISHED_STEPS]) if published else count(part.steps, part.left_out)
    reference = part.reference or ()
    hits = [step.reasoning is True or (not published and step.answer is True) for step in reference]
    without = [hit for step, hit in zip(reference, hits, strict=True) if not step.final]
    return {
        "efficiency": (steps.reasoning, steps.steps),
        "factuality": (steps.correct, steps.reasoning if published else steps.correct + steps.wrong),
        "unverifiable": (steps.unverifiable, steps.reasoning),
        "completeness": (sum(hits), len(hits)),
        "completeness_without_answer": (sum(without), len(without)),
    }


AROUND = 160
"""Number of characters of context on each side."""


class Quotation(msgspec.Struct, frozen=True):
    """A quotation: `words` as in the stored text, with the text `before` and `after`; or the `fault` that prevents it.

    `href` is empty for an address that is unsafe to follow; then `where` shows it as text.
    """

    quoted: EvidenceQuote
    words: str = ""
    before: str = ""
    after: str = ""
    fault: str = ""
    href: str = ""
    where: str = ""


def quotation(quoted: EvidenceQuote, texts: Mapping[str, str]) -> Quotation:
    """Return the words at `quoted` in the stored text of its digest; never the judge's own wording."""
    href = safe_link(quoted.url)
    where = host(href) if href else quoted.url
    text = texts.get(quoted.digest)
    if text is None:
        return Quotation(quoted, fault="The text is not in the store.", href=href, where=where)
    if digest_of(text) != quoted.digest:
        return Quotation(quoted, fault="The stored text is not what it was when it was cited.", href=href, where=where)
    if not 0 <= quoted.start < quoted.end <= len(text):
        fault = f"The stored text has {count_noun(len(text), 'character')}, none at this place."
        return Quotation(quoted, fault=fault, href=href, where=where)
    return Quotation(
        quoted,
        words=text[quoted.start : quoted.end],
        before=_words_before(text, quoted.start),
        after=_words_after(text, quoted.end),
        href=href,
        where=where,
    )


def _words_before(text: str, end: int) -> str:
    """Return some whole words before `end`."""
    start = max(0, end - AROUND)
    if not start:
        return text[:end]
    space = text.find(" ", start, end)
    return f"… {text[space + 1 if space >= 0 else start : end]}"


def _words_after(text: str, start: int) -> str:
    end = min(len(text), start + AROUND)
    if end == len(text):
        return text[start:]
    space = text.rfind(" ", start, end)
    return f"{text[start : space if space > start else end]} …"


_HOW = {
    "tags": "marked steps",
    "numbers": "numbered steps",
    "bullets": "bullets",
    "paragraphs": "paragraphs",
    "lines": "lines",
    "judge": "steps that a judge told apart",
}
_FIGURES = ("efficiency", "factuality", "unverifiable", "completeness", "completeness_without_answer")


def part_heading(part: PartAccount, account: Account) -> str:
    """Return, for instance, `The answer (turn 3), formal part`; the turn only if several were judged."""
    kind = "The answer" if part.stage == "conclusion" else "Requests"
    turn = f" (turn {part.turn})" if max(one.turn for one in account.parts) > 1 else ""
    return f"{kind}{turn}, {part.part} part"


def part_origin(part: PartAccount) -> str:
    """Say how many steps a part has, and by which marks they were split."""
    return f"{count_noun(len(part.steps), 'step')}, from {_HOW.get(part.how, part.how)}" if part.how else ""


def state_counts(part: PartAccount) -> list[tuple[State, int]]:
    """Count the steps of a part by their state."""
    counts = Counter(map(state_of, part.steps))
    return [(state, counts[state]) for state in SIGNS if counts[state]]


def part_figures(part: PartAccount, row: EpisodeScores, rules: Rules) -> list[tuple[str, str, str]]:
    """Return the scores of this part alone: none for one of several examination replies that are scored together."""
    scores = {score.name: score for score in row.scores}
    stages = ["", f"turn_{part.turn}_"] if part.stage == "conclusion" else [f"turn_{part.turn}_"]
    lead = "published_" if rules == "published" else ""
    figures = []
    for figure in _FIGURES:
        names = [f"{stage}{lead}{figure}_{part.part}" for stage in stages]
        score = next((scores[name] for name in names if name in scores), None)
        if score is None:
            continue
        bounds = [scores.get(score.name.replace("factuality", f"factuality_{end}")) for end in ("low", "high")]
        ends = [
            format_value(bound.name, bound.value) for bound in bounds if bound is not None and bound.value is not None
        ]
        remarks = [fraction(part, figure, rules, score.value), phrase(score.reason, score.name)]
        if figure == "factuality" and rules == "default" and len(ends) == 2 and ends[0] != ends[1]:
            remarks.append(f"{ends[0]} to {ends[1]} with unverified steps")
        remark = ", ".join(filter(None, remarks))
        figures.append((figure.replace("_", " ").capitalize(), format_value(score.name, score.value), remark))
    return figures


def reference_share(part: PartAccount) -> str:
    """Say how many steps of the reference the judge found, for instance `3 of 5 steps`."""
    reference = part.reference or ()
    hits = sum(step.reasoning is True or step.answer is True for step in reference)
    return f"{hits} of {count_noun(len(reference), 'step')}" if reference else ""


LONG_STEP, LONG_TEXT = 1_500, 2_000
"""Most characters shown at once: of a step, and of a text that a judge was shown."""
_BESIDE = {"": "", "whole_": ", all turns", "published_": ", published rules"}
_CHIEF = ("efficiency", "factuality", "unverifiable", "completeness")


class PageExtras(msgspec.Struct, frozen=True):
    """Further content of a page: the dialogue, or why its events cannot be read (`damage`).

    `index` is the address of the list of the run's episodes, "" for none.
    """

    encounter: Dialogue | None = None
    index: str = ""
    damage: str = ""


NO_EXTRAS = PageExtras()


def episode_page(
    run: str,
    row: EpisodeScores,
    case: Case,
    accounts: Mapping[str, Json],
    texts: Mapping[str, str],
    extras: PageExtras = NO_EXTRAS,
) -> str:
    """Write the page of the episode `row` of `run`, judged or not, with its `accounts` (report/score_rows.py).

    `texts` maps the digests in `digests(accounts)` to stored texts. The page loads nothing and runs nothing; a source
    is a link that the reader may follow. For a restricted case it shows no text of case, reply, search or source, but
    the states of the steps and the scores. The same input gives the same bytes.
    """
    record, veiled = read_accounts(accounts), row.restricted or case.data_class == "restricted"
    return (
        environment()
        .get_template("judged.html.j2")
        .render(
            **_WORDS,
            style=style("report.css", "judged.css"),
            run=run,
            row=row,
            case=case,
            goal=_goal(row, record),
            encounter=extras.encounter,
            index=extras.index,
            damage=extras.damage,
            judged=record.reasoning,
            outcome=record.outcome,
            assessments=record.assessments,
            rubrics={name: (one, criterion_marks(one)) for name, one in record.rubrics.items()},
            problems=record.problems,
            scores=sorted(row.scores, key=lambda score: place_of(score.name)),
            tiles=_tiles(row, record),
            texts=[(digest, texts.get(digest)) for digest in digests(accounts)],
            veiled=veiled,
            read=[] if veiled else as_read(row.answer, case, _goal(row, record), _asked_for(row)),
            signs=SIGNS,
            meanings=_meanings(record),
            quotations=lambda several: [quotation(one, texts) for one in several],
            long_step=LONG_STEP,
            long_text=LONG_TEXT,
        )
    )


def _unmet(account: AssessmentAccount) -> list[TextItem]:
    """Return the recorded items that no request asked for."""
    met = {place for pair in account.pairs for place in pair.same}
    return [item for place, item in enumerate(account.recorded) if place not in met]


_WORDS: dict[str, object] = {
    "count_noun": count_noun,
    "shortened": shortened,
    "label": lambda name: measure_of(name).label,
    "format_value": format_value,
    "unmet": _unmet,
    "fitness": fitness,
    "part_figures": part_figures,
    "part_heading": part_heading,
    "part_origin": part_origin,
    "reference_share": reference_share,
    "state_counts": state_counts,
    "state_of": state_of,
    "torn": torn,
    "voices": voices,
    "phrase": phrase,
    "ended_by": ended_by,
    "desk_words": lambda word: SAID.get(word) or phrase(word),
    "points": format_points,
    "verbs": VERBS,
}
"""Functions by which the template formats values."""


def _asked_for(row: EpisodeScores) -> int:
    """Return how many diagnoses the game asked for, by the scores of its ranked list."""
    return max(1, sum(score.name.startswith("diagnosis_top_") for score in row.scores))


def _goal(row: EpisodeScores, record: Accounts) -> Goal:
    if record.outcome:
        return record.outcome.goal
    return "treatment" if any(score.name == "treatment_accuracy" for score in row.scores) else "diagnosis"


def _tiles(row: EpisodeScores, record: Accounts) -> list[tuple[str, str, str]]:
    """Return (label, value, remark) of outcome and reasoning (of all turns if judged), as formal / thinking."""
    scores = {score.name: score for score in row.scores}
    judged = "lexical_match" in scores and not (record.outcome and record.outcome.floor)
    floor = "" if judged else WORD_MATCH
    tiles = [
        (measure_of(name).label, format_value(name, scores[name].value), phrase(scores[name].reason, name) or floor)
        for name in ACCURACIES
        if name in scores
    ]
    leads = ("whole_", "", "published_")
    lead = next((one for one in leads if any(f"{one}{figure}_formal" in scores for figure in _CHIEF)), "published_")
    rules: Rules = "published" if lead == "published_" else "default"
    last = {
        part.part: part
        for one in record.reasoning.values()
        if one.rules == rules
        for part in one.parts
        if part.stage == "conclusion"
    }
    for figure in _CHIEF:
        both = [scores[name] for part in ("formal", "thinking") if (name := f"{lead}{figure}_{part}") in scores]
        if len(both) > 1 and both[1].reason == "no_thinking":
            both = both[:1]
        if both:
            value = " / ".join(format_value(score.name, score.value) for score in both)
            reasons = dict.fromkeys(phrase(score.reason, score.name) for score in both if score.reason)
            label = measure_of(f"{figure}_formal").label.removesuffix(", reply")
            shares = " / ".join(fractions(last, figure, row, lead, rules))
            tiles.append((label + _BESIDE[lead], value, ", ".join(filter(None, [shares, *reasons]))))
    return tiles


def _meanings(record: Accounts) -> list[tuple[State, str]]:
    """Return the legend of the states that occur."""
    there = {state_of(step) for one in record.reasoning.values() for part in one.parts for step in part.steps}
    return [(state, meaning) for state, meaning in MEANINGS.items() if state in there]


def page_name(run: str, episode: str) -> str:
    """Return a file name for an episode's page: plain letters, and a hash that keeps similar names apart."""
    return f"{plain_name(f'{run}-{episode}', f'{run}/{episode}')}.html"


def plain_name(name: str, whole: str = "") -> str:
    """Return `name` in plain letters with a short hash of `whole`, or else of itself."""
    plain = "-".join(re.findall(r"[A-Za-z0-9._]+", name)).strip(".-")[:80]
    return f"{plain}-{digest_of(whole or name)[:8]}"
