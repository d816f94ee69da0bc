"""One self-contained HTML page about one run, or about several side by side; and the same as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from wardround.engine.records import Json
from wardround.engine.text import counted
from wardround.evaluators.caution import cautions
from wardround.evaluators.compare import Comparison, Difference, compare_runs
from wardround.evaluators.described import described, prompts
from wardround.evaluators.measures import measure_of, place_of, shown
from wardround.evaluators.plots import Plot, endings_plot, groups_plot, scores_plot, spread_plot
from wardround.evaluators.ranking import ranking
from wardround.evaluators.reasons import ended_by, phrase
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.showing.contents import ACCURACIES, clipped
from wardround.evaluators.showing.environment import environment, style
from wardround.evaluators.showing.tabled import Group, tabled
from wardround.evaluators.summary import ScoreSummary, Summary, summarise
from wardround.evaluators.table import (
    below,
    beside,
    beside_them,
    both,
    chance,
    chosen,
    compared,
    counts,
    ended,
    interval,
    lacks,
    leading,
    missing,
    nowhere,
    pair_notes,
    parts,
    remarks,
    signed,
    span,
    spans,
    told,
    zeros,
)
from wardround.evaluators.tables.extended import STRATA, extended_tables, rules_in, stratified_tables
from wardround.evaluators.tables.records import records
from wardround.evaluators.tables.table import Table
from wardround.scenarios.papers import MEDR_BENCH

SPREADS = (
    ("Turns", "turns"),
    ("Tests ordered", "tests"),
    ("Tokens", "tokens"),
    ("Cost of calls", "cost_usd"),
    ("Time per episode", "episode_seconds"),
)


_WORDS: dict[str, Any] = {
    one.__name__: one
    for one in (
        shown,
        span,
        interval,
        beside_them,
        missing,
        ended,
        beside,
        counts,
        spans,
        lacks,
        parts,
        both,
        signed,
        chance,
        chosen,
        leading,
        counted,
        compared,
        below,
        nowhere,
        pair_notes,
        remarks,
        zeros,
    )
}
"""What the page says figures with."""


_NO_JUDGE = "none: right and wrong by word match"


@dataclass(frozen=True, slots=True)
class Pages:
    """Addresses relative to the page: of each episode by (run, episode), of each run's list of episodes by run."""

    episodes: Mapping[tuple[str, str], str] = field(default_factory=dict)
    lists: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Section:
    """One run as the page shows it."""

    name: str
    summary: Summary
    cautions: Sequence[str]
    facts: Sequence[tuple[str, str]]
    prompts: Sequence[tuple[str, str]]
    plots: Sequence[Plot]
    episodes: Sequence[EpisodeScores]
    total: int


def page(
    runs: Sequence[RunScores],
    *,
    episodes: int = 200,
    seed: int = 0,
    compare: bool = True,
    pages: Pages | None = None,
) -> str:
    """The page for one run, or for several, compared unless `compare` is False (other games, say).

    The table of episodes stops after `episodes`; `pages` has the addresses of their own pages (showing/judged.py)
    and of the lists of them all (showing/contents.py).

    Nothing is loaded from elsewhere and nothing is run. Of a restricted case no text is shown, only its id. The same
    input gives the same bytes.
    """
    summaries = {run.name: summarise(run.episodes, seed, run.answer_judges) for run in runs}
    comparison = compare_runs(runs, seed) if compare and len(runs) > 1 else None
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            **_WORDS,
            label=lambda name: measure_of(name).label,
            clipped=clipped,
            headline=_headline,
            style=style("report.css"),
            sections=[_section(place, run, summaries[run.name], episodes) for place, run in enumerate(runs)],
            comparison=comparison,
            together=scores_plot("all", summaries) if len(runs) > 1 else None,
            ranking=ranking(runs, summaries, seed) if comparison else None,
            paper=MEDR_BENCH,
            groups=_groups(runs, seed),
            judged=pages.episodes if pages else {},
            lists=pages.lists if pages else {},
            ended_by=ended_by,
            accuracies=ACCURACIES,
            phrase=phrase,
        )
    )


def as_json(runs: Sequence[RunScores], seed: int = 0) -> dict[str, Json]:
    """The same figures as one JSON object, in the order in which they are to be read.

    {"ranking" (ranking.py) and "comparison": null or one, "runs": [{"run", "header", a summary, "doubts", "evaluated"
    (who judged how many episodes, and who was silent: evaluated.py)}], "tables": one object for each cell
    (tables/records.py)}. Reasons and causes stand here as codes.
    """
    summaries = {run.name: summarise(run.episodes, seed, run.answer_judges) for run in runs}
    ranked = ranking(runs, summaries, seed) if len(runs) > 1 else None
    return {
        "ranking": ranked and ranked.to_json(),
        "comparison": compare_runs(runs, seed).to_json() if len(runs) > 1 else None,
        "runs": [_told(run, summaries[run.name]) for run in runs],
        "tables": records(all_tables(runs, seed)),
    }


def _told(run: RunScores, summary: Summary) -> dict[str, Json]:
    judged: dict[str, Json] = {"floor": run.floor, "doubts": cautions(run, summary)}
    judged["evaluated"] = msgspec.to_builtins(run.evaluated)
    judged["scorings"] = msgspec.to_builtins(run.scorings)
    return {"run": run.name, "header": dict(run.header), **summary.to_json(), **judged}


def all_tables(runs: Sequence[RunScores], seed: int = 0) -> list[Table]:
    """Every table of these runs: by each rule set they were judged by, over all cases and by stratum."""
    return [table for group in _tables(runs, seed) for table in group[1]]


def _tables(runs: Sequence[RunScores], seed: int) -> list[tuple[str, Sequence[Table]]]:
    found: list[tuple[str, Sequence[Table]]] = []
    for rules in rules_in(runs):
        found.append((f"{rules} rules", extended_tables(runs, rules, seed)))
        for stratum, name in STRATA.items():
            found.append((f"{rules} rules, by {name}", stratified_tables(runs, stratum, rules, seed)))
    return [(heading, tables) for heading, tables in found if tables]


def _groups(runs: Sequence[RunScores], seed: int) -> list[Group]:
    return [
        Group(heading, [tabled(table) for table in tables], place == 0)
        for place, (heading, tables) in enumerate(_tables(runs, seed))
    ]


def _section(place: int, run: RunScores, summary: Summary, episodes: int) -> Section:
    closed = [row for row in run.episodes if row.cause is not None]
    prefix = f"r{place}"
    accuracy = next((s for s in summary.scores if s.name.endswith("_accuracy")), None)
    plots = [scores_plot(f"{prefix}-scores", {run.name: summary}), endings_plot(f"{prefix}-endings", summary)]
    for title, name in SPREADS:
        values = [value for row in closed if (value := row.score(name).value) is not None]
        score = summary.score(name)
        plots.append(spread_plot(f"{prefix}-{name}", title, name, values, score.reasons if score else {}))
    plots.append(groups_plot(f"{prefix}-groups", _discreet(accuracy, run.episodes) if accuracy else None))
    return Section(
        name=run.name,
        summary=summary,
        cautions=cautions(run, summary),
        facts=described(run.header, run.scoring if run.judges else {**run.scoring, "judge": _NO_JUDGE}),
        prompts=prompts(run.header),
        plots=plots,
        episodes=run.episodes[:episodes],
        total=len(run.episodes),
    )


def _headline(comparison: Comparison) -> list[Difference]:
    """Score by score, each with all of its pairs."""
    return sorted((row for row in comparison.differences if told(row)), key=lambda row: place_of(row.score))


def _discreet(score: ScoreSummary, episodes: Sequence[EpisodeScores]) -> ScoreSummary:
    """Without the name of a group that holds one restricted case alone: it would tell that patient's diagnosis."""
    restricted = {row.group for row in episodes if row.restricted}
    groups = [
        msgspec.structs.replace(group, group="(one restricted case)")
        if group.group in restricted and group.cases < 2
        else group
        for group in score.groups
    ]
    return msgspec.structs.replace(score, groups=groups)
