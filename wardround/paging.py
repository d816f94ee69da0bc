"""Pages of runs as files: one of the figures, and one of each judged episode."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import quote

from wardround.engine.protocols import Store
from wardround.engine.rows import RunRow
from wardround.evaluators.report import page
from wardround.evaluators.rows import EpisodeScores, RunScores
from wardround.evaluators.showing.accounts import digests
from wardround.evaluators.showing.judged import is_judged, judged_page, page_name
from wardround.judged import accounts, evaluations, texts
from wardround.output import output
from wardround.results import Run

MOST = 200
"""Episodes of a run that the page lists, and whose own pages are written with it."""


async def write_pages(store: Store, runs: Sequence[RunScores], path: Path, *, compare: bool = True) -> int:
    """Write the page of `runs` to `path`, and those of judged episodes into the folder `NAME-episodes` beside it.

    Returns how many of these there are.
    """
    folder = path.parent / f"{path.stem}-episodes"
    written: dict[tuple[str, str], str] = {}
    for scores in runs:
        run = await Run.open(store, scores.name)
        judging = await evaluations(store, scores.name)
        for row in scores.episodes[:MOST]:
            if is_judged(row):
                name = page_name(run.name, row.episode)
                keep(folder / name, await episode_page(run, row, judging))
                written[run.name, row.episode] = f"{quote(folder.name)}/{quote(name)}"
    seed = int(runs[0].header["seed"])
    keep(path, page(runs, episodes=MOST, seed=seed, compare=compare, judged=written))
    return len(written)


async def episode_page(run: Run, row: EpisodeScores, judging: Mapping[str, RunRow]) -> str:
    """The page of one judged episode, from the run's `evaluations`."""
    told: Mapping[str, object] = await accounts(run.store, judging, row.episode)
    found = await texts(run.store, digests(told))
    return judged_page(run.name, row, await run.case(row.case), told, found)


def keep(path: Path, text: str) -> None:
    """Write a file, with its folder."""
    with output(path) as file:
        file.write(text.encode())
