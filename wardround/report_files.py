"""The HTML report as files: a page of figures, a list of episodes, and a page for each; and the scores it shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from wardround.engine.errors import LogError, UsageError
from wardround.engine.protocols import Store
from wardround.engine.records import EpisodeRow
from wardround.engine.stores.files import output
from wardround.evaluators.metrics.standard import Standard
from wardround.evaluators.report.episode_dialogue import rebuild_dialogue
from wardround.evaluators.report.episode_list import contents_name, contents_pages, filled_scores
from wardround.evaluators.report.episode_page import PageExtras, episode_page, page_name, plain_name
from wardround.evaluators.report.html import PageLinks, page
from wardround.evaluators.report.report_figures import ReportFigures
from wardround.evaluators.report.score_rows import EpisodeScores, RunScores, digests
from wardround.evaluators.report.terminal import leading_scores
from wardround.runs.stored_run import PlayedScenario, Run
from wardround.scenarios.case import Case
from wardround.scoring.score import score_run, scored
from wardround.scoring.stored_scores import ORIGIN, accounts, texts_by_digest

LISTED = 50
"""Number of episodes that the page of figures lists; the list in the folder beside it has them all."""


@dataclass(frozen=True, slots=True)
class _ScoredRun:
    """A run with its scenario, which is None if it is not installed.

    `judging` maps evaluators to the judges' runs that their figures come from; those without judges are left out.
    """

    run: Run
    judging: Mapping[str, str]
    scenario: PlayedScenario | None
    index: str = ""


async def load_scored(store: Store, names: tuple[str, ...], scorings: Sequence[str] = ()) -> list[RunScores]:
    """The runs with their scores; `scorings` is as in `scored`.

    Without `scorings`, a run that was never scored, or only by the program it was imported from, is scored now.
    """
    loaded = []
    for name in names:
        run = await Run.open(store, name)
        scores = await scored(run, scorings)
        if scorings:
            loaded.append(scores)
            continue
        judged = any(one.evaluator == Standard.name for one in scores.evaluated)
        if not judged and (
            any(row.cause is not None and not row.scores for row in scores.episodes)
            or all(one.evaluator == ORIGIN for one in scores.scorings)
        ):
            scores = await score_run(run, [Standard()])
        loaded.append(scores)
    return loaded


async def write_pages(
    store: Store, figures: ReportFigures, path: Path, *, compare: bool = True, most: int | None = None
) -> int:
    """Write the page to `path`, and the lists and pages of episodes to the folder `NAME-episodes` beside it.

    `most` is the largest number of episodes of a run that get pages of their own; the lists have all episodes. Returns
    the number of episode pages.
    """
    folder = path.parent / f"{path.stem}-episodes"
    written: dict[tuple[str, str], str] = {}
    lists: dict[str, str] = {}
    for scores in figures.runs:
        plain = plain_name(scores.name)
        scored_run = await _scored_run(store, scores, contents_name(plain, 0))
        links: dict[str, str] = {}
        rows = {row.id: row for row in await scored_run.run.episodes()}
        for row in scores.episodes[:most] if scored_run.run.of_patients else ():
            if row.episode in rows:
                links[row.episode] = page_name(scores.name, row.episode)
                write_file(folder / links[row.episode], await _page(scored_run, row, rows[row.episode]))
        headline = (score.name for score in leading_scores(figures.summaries[scores.name]))
        columns = filled_scores(headline, scores.episodes)
        listed = contents_pages(scores.name, scores.episodes, columns, links, quote(f"../{path.name}"), plain)
        for name, text in listed.items():
            write_file(folder / name, text)
        lists[scores.name] = f"{quote(folder.name)}/{quote(next(iter(listed)))}"
        written |= {(scores.name, episode): f"{quote(folder.name)}/{quote(name)}" for episode, name in links.items()}
    write_file(path, page(figures, episodes=LISTED, compare=compare, pages=PageLinks(written, lists)))
    return len(written)


async def one_page(store: Store, scores: RunScores, row: EpisodeScores) -> str:
    """The HTML page of one episode."""
    scored_run = await _scored_run(store, scores)
    return await _page(scored_run, row, await scored_run.run.episode(row.episode))


async def _scored_run(store: Store, scores: RunScores, index: str = "") -> _ScoredRun:
    run = await Run.open(store, scores.name)
    judging = {one.evaluator: one.run for one in scores.scorings if one.shown and one.run}
    return _ScoredRun(run, judging, await run.installed_scenario(), index)


async def _page(scored_run: _ScoredRun, row: EpisodeScores, stored: EpisodeRow) -> str:
    judged: Mapping[str, object] = await accounts(scored_run.run.store, scored_run.judging, row.episode)
    evidence = await texts_by_digest(scored_run.run.store, digests(judged))
    case = await scored_run.run.item(row.case)
    if not isinstance(case, Case):
        show = f"wardround show {scored_run.run.name} {row.episode}"
        raise UsageError(f"{row.episode} plays no patient: `{show}` prints it")
    return episode_page(scored_run.run.name, row, case, judged, evidence, await _dialogue(scored_run, case, stored))


async def _dialogue(scored_run: _ScoredRun, case: Case, stored: EpisodeRow) -> PageExtras:
    """The dialogue of an episode, or the error if its events are damaged."""
    if not stored.events:
        return PageExtras(index=scored_run.index)
    try:
        return PageExtras(
            rebuild_dialogue(case, await scored_run.run.trajectory(stored.id), scored_run.scenario), scored_run.index
        )
    except LogError as error:
        return PageExtras(index=scored_run.index, damage=str(error))


def write_file(path: Path, text: str) -> None:
    """Write a text to a file, and make its folder if needed."""
    with output(path) as file:
        file.write(text.encode())
