"""Writes one self-contained HTML page about one or several runs, and the same results as JSON.

The template report.html.j2 lays the page out. `page` gives it the figures of a `ReportFigures`, and `as_json` returns
the same as data.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import msgspec

from wardround.engine.records import Json, json_object
from wardround.engine.text import count_noun
from wardround.evaluators.evaluation import inside
from wardround.evaluators.measures import format_value, measure_of, place_of
from wardround.evaluators.reasons import ended_by, phrase
from wardround.evaluators.report.compare import Comparison, Difference
from wardround.evaluators.report.cost_front import cost_cell, cost_plot, place_cell
from wardround.evaluators.report.episode_list import ACCURACIES, filled_scores, one_line
from wardround.evaluators.report.plots import Plot, endings_plot, groups_plot, scores_plot, spread_plot
from wardround.evaluators.report.rendering import environment, style
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores
from wardround.evaluators.report.score_tables import POPULATIONS, Column
from wardround.evaluators.report.summary import ScoreSummary, Summary
from wardround.evaluators.report.table_text import figure_text, heading, records
from wardround.evaluators.report.terminal import (
    endings_sentence,
    format_p,
    format_range,
    is_compared,
    leading_scores,
    no_common_cases,
    pair_notes,
    ranking_notes,
    ranking_sentence,
    score_lines,
    score_remark,
    signed_value,
    table_notes,
)
from wardround.evaluators.report.warnings import cautions
from wardround.scenarios.papers import MEDR_BENCH

_APART = ("scenario", "seats", "prompts", "cases", "tables", "settings", "skipped", "limits")

_LIMITS: Mapping[str, str] = {
    "actions": "{} actions",
    "calls": "{} calls",
    "tokens": "{} tokens",
    "cost": "${}",
    "wall": "{} seconds",
    "act": "{} seconds of its own for one act",
    "act_calls": "{} calls in one act",
}
"""The limits of an episode, in words."""
_NOTHING: tuple[Json, ...] = (None, "", [], (), {})
"""Values that are not worth a line."""


def header_fields(header: Mapping[str, Json], scoring: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return (field, value) pairs: scenario, seats, cases, the other fields of the header, then how it was scored."""
    return [*_scenario(header), *_seats(header), *_cases(header), *_rest(header), *_flat(scoring)]


def _scenario(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    scenario = inside(header, "scenario")
    if scenario:
        settings = [f"{name}={_text(value)}" for name, value in inside(scenario, "settings").items()]
        yield "scenario", _text(scenario.get("name", ""))
        if settings:
            yield "its settings", ", ".join(settings)


def _seats(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for seat, part in inside(header, "seats").items():
        if not isinstance(part, Mapping):
            yield seat, _text(part)
            continue
        words = [_text(part.get("spec", ""))]
        if part.get("model"):
            words.append(f"model {part['model']}" + (f" at {part['host']}" if part.get("host") else ""))
        words += [f"{name} {_text(v)}" for group in ("sampling", "options") for name, v in inside(part, group).items()]
        if part.get("told"):
            words.append(f"told {_text(part['told'])}")
        yield seat, ", ".join(words)


def _cases(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    cases = inside(header, "cases")
    if cases:
        restricted = f", {cases['restricted']} of them restricted" if cases.get("restricted") else ""
        yield "cases", f"{_text(cases.get('count', '?'))} from {_text(cases.get('from', '?'))}{restricted}"


def _rest(header: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    limits = {name: value for name, value in inside(header, "limits").items() if value is not None}
    if limits:
        said = (_LIMITS.get(name, f"{name} {{}}").format(_number(value)) for name, value in limits.items())
        yield "limits of an episode", ", ".join(said)
    yield from _flat({name: value for name, value in header.items() if name not in _APART})


def prompts(header: Mapping[str, Json]) -> list[tuple[str, str]]:
    """Return (name, digest) of each prompt."""
    return [(name, _text(digest)) for name, digest in inside(header, "prompts").items()]


def _flat(fields: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if isinstance(value, Mapping):
            parts = [f"{inner} {_text(v)}" for inner, v in value.items() if v not in _NOTHING]
            if parts:
                yield name, ", ".join(parts)
        elif value not in _NOTHING:
            yield name, _text(value)


def _number(value: Json) -> str:
    return f"{value:,g}" if isinstance(value, int | float) else _text(value)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def heading_rows(columns: Sequence[Column]) -> list[list[tuple[str, int]]]:
    """Return the heading rows; populations and settings have a row of their own if there are several."""
    populations = [POPULATIONS[column.population] for column in columns]
    settings = [(column.population, heading(column)) for column in columns]
    rows: list[list[tuple[str, int]]] = []
    if len(set(populations)) > 1:
        rows.append([(name, len(list(some))) for name, some in groupby(populations)])
    if len({name for _, name in settings}) > 1:
        rows.append([(name, len(list(some))) for (_, name), some in groupby(settings)])
    return [*rows, [(column.label, 1) for column in columns]]


SPREADS = (
    ("Turns", "turns"),
    ("Tests ordered", "tests"),
    ("Tokens", "tokens"),
    ("Cost of calls", "cost_usd"),
    ("Time per episode", "episode_seconds"),
)


_WORDS: dict[str, object] = {
    one.__name__: one
    for one in (
        format_value,
        format_range,
        endings_sentence,
        score_lines,
        score_remark,
        signed_value,
        format_p,
        filled_scores,
        leading_scores,
        count_noun,
        ranking_sentence,
        ranking_notes,
        no_common_cases,
        pair_notes,
        table_notes,
        cost_cell,
        place_cell,
        heading_rows,
        heading,
        figure_text,
    )
}
"""Functions by which the template formats values."""


_NO_JUDGE = "none: right and wrong by word match"


class PageLinks(msgspec.Struct, frozen=True):
    """Addresses relative to the page: of episodes by (run, episode), and of the lists of episodes by run."""

    episodes: Mapping[tuple[str, str], str] = msgspec.field(default_factory=dict)
    lists: Mapping[str, str] = msgspec.field(default_factory=dict)


class Section(msgspec.Struct, frozen=True):
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
    figures: ReportFigures,
    *,
    episodes: int = 200,
    compare: bool = True,
    pages: PageLinks | None = None,
) -> str:
    """Write the page for one run, or for several; `compare` False omits the comparison, for instance of other games.

    The table of episodes ends after `episodes`; `pages` has the addresses of the episodes' pages
    (report/episode_page.py) and of the complete lists (report/episode_list.py).

    The page loads nothing from elsewhere and runs nothing. For a restricted case it shows only the id, no text. The
    same input gives the same bytes.
    """
    comparison, front, summaries = figures.comparison if compare else None, figures.front, figures.summaries
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            **_WORDS,
            label=lambda name: measure_of(name).label,
            one_line=one_line,
            headline=_headline,
            style=style("report.css"),
            sections=[_section(place, run, summaries[run.name], episodes) for place, run in enumerate(figures.runs)],
            comparison=comparison,
            together=scores_plot("all", summaries) if len(summaries) > 1 else None,
            ranking=figures.ranking if comparison else None,
            front=front,
            cost_figure=cost_plot(front) if front else None,
            paper=MEDR_BENCH,
            groups=[(title, [table.trimmed() for table in tables]) for title, tables in figures.tables],
            strata={"": "", "body_systems": "Body system", "disorders": "Disorder"},
            judged=pages.episodes if pages else {},
            lists=pages.lists if pages else {},
            ended_by=ended_by,
            accuracies=ACCURACIES,
            phrase=phrase,
        )
    )


def as_json(figures: ReportFigures) -> dict[str, Json]:
    """Return the same results as one JSON object, in reading order.

    {"ranking" (ranking.py) and "comparison": null or one, "runs": [{"run", "header", a summary, "doubts", "evaluated"
    (who judged how many episodes, and who was silent: score_rows.py)}], "tables": one object for each cell
    (report/table_text.py)}. Reasons and causes are codes.
    """
    return {
        "ranking": figures.ranking and figures.ranking.to_json(),
        "comparison": figures.comparison and json_object(figures.comparison),
        **({"cost_front": json_object(figures.front)} if figures.front else {}),
        "runs": [_run_json(run, figures.summaries[run.name]) for run in figures.runs],
        "tables": records(figures.all_tables),
    }


def _run_json(run: RunScores, summary: Summary) -> dict[str, Json]:
    judged: dict[str, Json] = {"floor": run.floor, "doubts": cautions(run, summary)}
    judged["evaluated"] = msgspec.to_builtins(run.evaluated)
    judged["scorings"] = msgspec.to_builtins(run.scorings)
    return {"run": run.name, "header": dict(run.header), **json_object(summary), **judged}


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
        facts=header_fields(run.header, run.scoring if run.judges else {**run.scoring, "judge": _NO_JUDGE}),
        prompts=prompts(run.header),
        plots=plots,
        episodes=run.episodes[:episodes],
        total=len(run.episodes),
    )


def _headline(comparison: Comparison) -> list[Difference]:
    """Return the differences score by score, each with all of its pairs."""
    return sorted((row for row in comparison.differences if is_compared(row)), key=lambda row: place_of(row.score))


def _discreet(score: ScoreSummary, episodes: Sequence[EpisodeScores]) -> ScoreSummary:
    """Omit the name of a group with a single, restricted case: it would reveal that patient's diagnosis."""
    restricted = {row.group for row in episodes if row.restricted}
    groups = [
        msgspec.structs.replace(group, group="(one restricted case)")
        if group.group in restricted and group.cases < 2
        else group
        for group in score.groups
    ]
    return msgspec.structs.replace(score, groups=groups)
