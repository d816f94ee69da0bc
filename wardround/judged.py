"""What stored evaluations of a run hold: who judged it, and the accounts of single verdicts."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Mapping, Sequence
from contextlib import aclosing

import msgspec

from wardround.engine.digest import digest_of
from wardround.engine.errors import TextLost
from wardround.engine.events import Acted
from wardround.engine.protocols import Store
from wardround.engine.records import Ending, Json, Score
from wardround.engine.rows import EpisodeRow, RunRow
from wardround.evaluators.evaluated import Evaluated, Tally
from wardround.evaluators.evaluation import scores_of
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.search import LIBRARY
from wardround.results import Run
from wardround.stored import StoredRun


async def evaluations(store: Store, name: str) -> dict[str, RunRow]:
    """The judges' run whose scores stand beside the episodes of a run, by the evaluator's name.

    Of several, judged in different ways, it is the one that was scored last; none if the evaluator has scored the run
    without judges since.
    """
    found: dict[str, list[RunRow]] = {}
    for row in await store.runs():
        if row.header.get("evaluates") == name:
            found.setdefault(str(row.header["evaluator"]), []).append(row)
    last = {name: rows[0] if len(rows) == 1 else await _last(store, rows) for name, rows in found.items()}
    return {evaluator: row for evaluator, row in last.items() if await _stands(StoredRun(store, row.name, row.header))}


async def _last(store: Store, rows: Sequence[RunRow]) -> RunRow:
    """Whoever scores begins a session, if only to put stored verdicts beside the episodes once more."""
    began = [max((session.began for session in await store.sessions(row.name)), default=row.created) for row in rows]
    return rows[max(range(len(rows)), key=lambda place: (began[place], place))]


async def _stands(beside: StoredRun) -> bool:
    """Whether the scores of the first episode that was judged are those that the evaluation gave it."""
    judged, evaluator = str(beside.header["evaluates"]), str(beside.header["evaluator"])
    async for row in beside.store.episodes(beside.name):
        ending = await beside.ending(row)
        if ending is not None:
            told = [(score.name, score.value, score.reason) for score in given(evaluator, ending)]
            found = await _of(beside.store, judged, row.id, evaluator)
            return not found or [(score.name, score.value, score.reason) for score in found] == told
    return True


async def _of(store: Store, run: str, episode: str, evaluator: str) -> list[Score]:
    async with aclosing(_by_episode(store, run, evaluator)) as found:
        async for name, scores in found:
            if name == episode:
                return scores
    return []


async def fingerprints(store: Store, run: str, evaluator: str) -> dict[str, str]:
    """The scores that an evaluator has in a run, by episode as a `fingerprint`: scores of a large run fill memory."""
    found: dict[str, str] = {}
    async for name, scores in _by_episode(store, run, evaluator):
        found[name] = fingerprint(scores)
    return found


def fingerprint(scores: Sequence[Score]) -> str:
    """What tells scores from others."""
    return digest_of(msgspec.json.encode(list(scores)))


async def _by_episode(store: Store, run: str, evaluator: str) -> AsyncGenerator[tuple[str, list[Score]], None]:
    """An evaluator's scores, episode by episode."""
    held: tuple[str, list[Score]] = ("", [])
    async with aclosing(store.scores(run)) as scores:  # type: ignore[type-var]  # every store's is a generator
        async for name, by, score in scores:
            if by != evaluator:
                continue
            if name != held[0]:
                if held[1]:
                    yield held
                held = (name, [])
            held[1].append(score)
    if held[1]:
        yield held


async def tallied(run: Run, rows: Iterable[RunRow]) -> list[Evaluated]:
    """How far each of these evaluations of a run came, and who was silent in it."""
    closed = [row.id for row in await run.episodes() if row.cause is not None]
    found = []
    for row in rows:
        tally = Tally(str(row.header["evaluator"]))
        async for episode in run.store.episodes(row.name, causes=["completed"]):
            tally.add(episode.id, await _account(StoredRun(run.store, row.name, row.header), episode))
        found.append(tally.evaluated(closed))
    return found


async def _account(beside: StoredRun, episode: EpisodeRow) -> Json:
    """The account of a judged episode, from the act before its end alone: a run has many."""
    acted = [event for event in await beside.last(episode, 2) if isinstance(event, Acted)]
    return acted[-1].action.args.get("account") if acted else None


def judges_of(rows: Iterable[RunRow]) -> dict[str, tuple[str, str]]:
    """SPEC and model of each judge, by seat; where evaluators were judged by others, the seat says of which."""
    found: dict[str, tuple[str, str]] = {}
    for row in rows:
        for seat, told in row.header["seats"].items():
            which = (str(told["spec"]), str(told.get("model", "")))
            if seat == LIBRARY:
                continue
            free = found.get(seat, which) == which
            found[seat if free else f"{seat} of {row.header['evaluator']}"] = which
    return found


def libraries_of(rows: Iterable[RunRow]) -> dict[str, int | None]:
    """The searches that judges could use, each with the size of its corpus if that is known."""
    seats = [row.header["seats"][LIBRARY] for row in rows if LIBRARY in row.header["seats"]]
    return {str(seat["spec"]): seat.get("options", {}).get("documents") for seat in seats}


def given(evaluator: str, ending: Ending) -> list[Score]:
    """The scores that an evaluation ended with; one that failed has none but its reason."""
    if ending.cause == "completed":
        return scores_of(ending)
    return [Score(evaluator, None, f"judge/{ending.reason or ending.cause}")]


async def evaluated(run: StoredRun) -> AsyncIterator[tuple[str, str, Score]]:
    """(episode, evaluator, score) of an evaluation, as `Store.scores` gives those of a run."""
    evaluator = str(run.header["evaluator"])
    async for row in run.store.episodes(run.name):
        if (ending := await run.ending(row)) is not None:
            for score in given(evaluator, ending):
                yield row.id, evaluator, score


async def accounts(store: Store, judging: Mapping[str, RunRow], episode: str) -> Mapping[str, Json]:
    """The account of each of these `evaluations` of an episode, by evaluator, where there is one."""
    found = {}
    for evaluator, row in judging.items():
        judged = await store.episode(row.name, episode)
        if judged is not None and judged.cause == "completed":
            account = await _account(StoredRun(store, row.name, row.header), judged)
            if account is not None:
                found[evaluator] = account
    return found


async def evidence(run: StoredRun) -> AsyncIterator[tuple[str, str]]:
    """(hash, text) of all that was found while an evaluation was made, each once."""
    known: set[str] = set()
    async for trajectory in run:
        for call in trajectory.called(LIBRARY):
            entries = msgspec.json.decode(call.reply.text) if call.reply else ()
            new = [entry["digest"] for entry in entries if isinstance(entry, dict) and entry["digest"] not in known]
            for digest, text in (await texts(run.store, new)).items():
                known.add(digest)
                yield digest, text


async def texts(store: Store, digests: Iterable[str]) -> dict[str, str]:
    """The texts that quotations stand in; one that the store lacks or that was altered is left out."""
    ledger, found = Ledger(store), {}
    for digest in dict.fromkeys(digests):
        try:
            found[digest] = await ledger.text(digest)
        except TextLost:
            continue
    return found
