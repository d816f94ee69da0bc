"""The stored scores of a run, with the judges that gave them, the accounts of their verdicts and the evidence."""

from collections.abc import AsyncGenerator, AsyncIterator, Container, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from wardround.engine.errors import LogError, TextLost
from wardround.engine.events import Acted, Closed, digest_of
from wardround.engine.logs import log
from wardround.engine.protocols import Evaluator, Store
from wardround.engine.records import Ending, EpisodeRow, Json, Score
from wardround.evaluators.evaluation import EVALUATOR_FAILED, class_path, scores_of
from wardround.evaluators.search.contract import LIBRARY
from wardround.evaluators.search.results import Ledger
from wardround.runs.header import EvaluationRow
from wardround.runs.stored_run import Run, StoredEpisodes

ORIGIN = "origin"
"""The name under which an imported run keeps the scores that its origin gave."""
DAMAGED = "record/damaged"
"""The reason of scores of an episode whose record or case is damaged in the store."""


@dataclass(frozen=True, slots=True)
class StoredScores:
    """The scores of one evaluator in one episode; with judges, also the account of their verdict."""

    episode: str
    evaluator: str
    scores: Sequence[Score]
    account: Json = None
    judged: bool = False


async def readable_ending(run: StoredEpisodes, episode: EpisodeRow) -> Ending | None:
    """How a verdict ended; None while it is open, or if its record is damaged (scoring reports that)."""
    try:
        return await run.ending(episode)
    except LogError:
        return None


async def fingerprints(store: Store, run: str, key: str) -> dict[str, str]:
    """The fingerprint of the scores under a key, by episode: the scores themselves of a large run would fill memory."""
    async with aclosing(by_episode(store, run)) as stored:
        return {one.episode: fingerprint(one.scores) async for one in stored if one.evaluator == key}


def fingerprint(scores: Sequence[Score]) -> str:
    """A digest that is equal for equal scores."""
    return digest_of(msgspec.json.encode(list(scores)))


async def by_episode(store: Store, run: str) -> AsyncGenerator[StoredScores, None]:
    """The scores in the store, grouped by episode and evaluator."""
    group: list[Score] = []
    whose = ("", "")
    async with aclosing(store.scores(run)) as scores:  # type: ignore[type-var]  # every store's is a generator
        async for episode, evaluator, score in scores:
            if (episode, evaluator) != whose:
                if group:
                    yield StoredScores(*whose, group)
                whose, group = (episode, evaluator), []
            group.append(score)
    if group:
        yield StoredScores(*whose, group)


async def verdict(run: StoredEpisodes, row: EpisodeRow, evaluator: str) -> StoredScores | None:
    """The scores and the account of a judged episode; None if it is open, or if its record is damaged.

    Only the last two events are read, since a run has many episodes.
    """
    try:
        last = await run.last(row, 2) if row.cause is not None else ()
    except LogError as error:
        log.error("a verdict is damaged and left out", error=str(error))
        return None
    if not last or not isinstance(closed := last[-1], Closed):
        return None
    judged = closed.ending.cause == "completed"
    acted = [event for event in last if isinstance(event, Acted)] if judged else []
    account = acted[-1].action.args.get("account") if acted else None
    return StoredScores(row.id, evaluator, scores_of(evaluator, closed.ending), account, judged)


def judges_of(rows: Iterable[EvaluationRow]) -> dict[str, tuple[str, str]]:
    """SPEC and model of each judge, by seat; where evaluators have different judges, the seat names the evaluator."""
    by_seat: dict[str, tuple[str, str]] = {}
    for row in rows:
        for seat, spec in row.header.specs.items():
            which = (spec, row.header.seats[seat].model)
            free = by_seat.get(seat, which) == which
            by_seat[seat if free else f"{seat} of {row.header.evaluator}"] = which
    return by_seat


def searches_of(rows: Mapping[str, EvaluationRow]) -> dict[str, tuple[str, int | None]]:
    """The search that each evaluator's judges could use, with the number of documents in it if that is known."""
    seats = {evaluator: row.header.seats.get(LIBRARY) for evaluator, row in rows.items()}
    return {
        evaluator: (seat.spec, seat.options.get("documents")) for evaluator, seat in seats.items() if seat is not None
    }


def log_failures(run: str, evaluator: Evaluator, endings: Mapping[str, Ending]) -> None:
    """Log one line for each kind of failure: the evaluator, the number of episodes, the first of them, the cause."""
    met: dict[str, list[str]] = {}
    for episode, ending in endings.items():
        met.setdefault(ending.detail, []).append(episode)
    for why, episodes in sorted(met.items()):
        facts = {"episodes": len(episodes), "first": min(episodes), "why": why}
        log.warning("an evaluation failed", run=run, evaluator=class_path(evaluator), **facts)


def scores_by_name(stored: Sequence[StoredScores], installed: Container[str]) -> dict[str, dict[str, Score]]:
    """Scores by episode and name.

    Where an evaluator failed in an episode, each score that it has in others is None there, with the reason. If it
    failed in all episodes, its only score is the reason under its own name. If two evaluators gave scores of the same
    name, as older versions allowed, the one that is `installed` counts.
    """
    names: dict[str, dict[str, None]] = {}
    for one in stored:
        if not _why_without_scores(one):
            names.setdefault(one.evaluator, {}).update((score.name, None) for score in one.scores)
    whole: dict[str, dict[str, Score]] = {}
    for one in sorted(stored, key=lambda one: one.evaluator in installed):
        scores = one.scores
        if why := _why_without_scores(one):
            scores = [Score(name, None, why) for name in names.get(one.evaluator, {})] or scores
        whole.setdefault(one.episode, {}).update((score.name, score) for score in scores)
    return whole


def _why_without_scores(one: StoredScores) -> str:
    """Why an evaluator has no scores in an episode, "" if it has some: its only score is None under its own name."""
    if len(one.scores) > 1 or any(score.name != one.evaluator or score.value is not None for score in one.scores):
        return ""
    return next(
        (score.reason for score in one.scores if score.reason.startswith(("judge/", EVALUATOR_FAILED, DAMAGED))), ""
    )


async def scores_of_evaluation(run: Run) -> AsyncGenerator[StoredScores, None]:
    """The scores of each episode of an evaluation, as `scorings.chosen_scores` gives those of a run."""
    evaluator = run.evaluation().evaluator
    async for row in run.store.episodes(run.name):
        if (scores := await verdict(run, row, evaluator)) is not None:
            yield scores


async def accounts(store: Store, judging: Mapping[str, str], episode: str) -> Mapping[str, Json]:
    """The account of an episode by evaluator; `judging` maps evaluators to the runs of their judges."""
    by_evaluator = {}
    for evaluator, run in judging.items():
        row = await store.episode(run, episode)
        scores = await verdict(StoredEpisodes(store, run), row, evaluator) if row else None
        if scores is not None and scores.account is not None:
            by_evaluator[evaluator] = scores.account
    return by_evaluator


async def evidence(run: Run) -> AsyncIterator[tuple[str, str]]:
    """The (digest, text) of every text from the searches of an evaluation, each once."""
    known: set[str] = set()
    async for trajectory in run:
        for call in trajectory.called(LIBRARY):
            entries = msgspec.json.decode(call.reply.text) if call.reply else ()
            new = [entry["digest"] for entry in entries if isinstance(entry, dict) and entry["digest"] not in known]
            for digest, text in (await texts_by_digest(run.store, new)).items():
                known.add(digest)
                yield digest, text


async def texts_by_digest(store: Store, digests: Iterable[str]) -> dict[str, str]:
    """The texts with these digests; a text that the store lacks or that was altered is left out."""
    ledger, by_digest = Ledger(store), {}
    for digest in dict.fromkeys(digests):
        try:
            by_digest[digest] = await ledger.text(digest)
        except TextLost:
            continue
    return by_digest
