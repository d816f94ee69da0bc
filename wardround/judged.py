"""What stored evaluations of a run hold: who judged it, and the accounts of single verdicts."""

from collections.abc import AsyncGenerator, AsyncIterator, Container, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass

import msgspec

from wardround.engine.digest import digest_of
from wardround.engine.errors import TextLost
from wardround.engine.events import Acted, Closed
from wardround.engine.protocols import Evaluator, Store
from wardround.engine.records import Ending, Json, Score
from wardround.engine.rows import EpisodeRow, RunRow
from wardround.evaluators.checked import is_own
from wardround.evaluators.evaluation import scores_of
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.search import LIBRARY
from wardround.failing import ERROR
from wardround.stored import StoredRun

BROKEN = "evaluator/"
"""Opens the reason of scores whose evaluator failed."""


@dataclass(frozen=True, slots=True)
class Standing:
    """The scores that an evaluator has in one episode; where judges gave them, with the account of it."""

    episode: str
    evaluator: str
    scores: Sequence[Score]
    account: Json = None
    judged: bool = False


async def evaluations(store: Store, name: str) -> dict[str, RunRow]:
    """The judges' run whose scores are those of a run, by the evaluator's name.

    Of several, judged in different ways, it is the one that was scored last; none if the evaluator has scored the run
    without judges since.
    """
    found: dict[str, list[RunRow]] = {}
    for row in await store.runs():
        if row.header.get("evaluates") == name:
            found.setdefault(str(row.header["evaluator"]), []).append(row)
    return {
        evaluator: rows[0] if len(rows) == 1 else await _last(store, rows)
        for evaluator, rows in found.items()
        if await _stand(store, name, evaluator, rows)
    }


async def _last(store: Store, rows: Sequence[RunRow]) -> RunRow:
    """Whoever scores begins a session, if only to put stored verdicts beside the episodes once more."""
    began = [max((session.began for session in await store.sessions(row.name)), default=row.created) for row in rows]
    return rows[max(range(len(rows)), key=lambda place: (began[place], place))]


async def _stand(store: Store, run: str, evaluator: str, rows: Sequence[RunRow]) -> bool:
    """Whether what an evaluator's scores are was said by judges: so it is if those of the first judged episode were."""
    some = False
    async with aclosing(_by_episode(store, run)) as found:
        async for one in found:
            if one.evaluator != evaluator:
                continue
            some, told = True, []
            for row in rows:
                judged = await store.episode(row.name, one.episode)
                ending = await StoredRun(store, row.name, row.header).ending(judged) if judged else None
                if ending is not None:
                    told.append(_plainly(given(evaluator, ending)))
            if told:
                return _plainly(one.scores) in told
    return not some


def _plainly(scores: Sequence[Score]) -> list[tuple[str, float | None, str]]:
    return [(score.name, score.value, score.reason) for score in scores]


async def standing(run: StoredRun, judging: Mapping[str, RunRow]) -> AsyncGenerator[Standing, None]:
    """All scores of a run, in order of episode and evaluator.

    Those of an evaluator in `judging` (`evaluations`) are what that one evaluation says and nothing else: an episode
    that it has not judged has none of them, whatever another judge said of it before.
    """
    walks = {evaluator: _Walk(run.store, evaluator, row) for evaluator, row in judging.items()}
    async with aclosing(_by_episode(run.store, run.name)) as plain:
        held = await anext(plain, None)
        async for row in run.store.episodes(run.name):
            found: list[Standing] = []
            while held is not None and held.episode == row.id:
                if held.evaluator not in walks:
                    found.append(held)
                held = await anext(plain, None)
            for walk in walks.values():
                if (judged := await walk.at(row)) is not None:
                    found.append(judged)
            for one in sorted(found, key=lambda one: one.evaluator):
                yield one


async def names_of_others(run: StoredRun, evaluator: Evaluator) -> dict[str, str]:
    """The names of scores that other evaluators have in a run, by theirs; none for one of the house."""
    if not is_own(evaluator):
        return {}
    async with aclosing(run.store.scores(run.name)) as found:  # type: ignore[type-var]  # every store's is a generator
        return {score.name: by async for _, by, score in found if by != evaluator.name}


class _Walk:
    """An evaluation's episodes, which are numbered as those of the run that it judges, one after another."""

    def __init__(self, store: Store, evaluator: str, row: RunRow) -> None:
        self._beside, self._evaluator = StoredRun(store, row.name, row.header), evaluator
        self._rows = store.episodes(row.name)
        self._next: EpisodeRow | None = None

    async def at(self, row: EpisodeRow) -> Standing | None:
        """What it says of an episode, None if it has not judged it. The account is in the act before the end."""
        while self._next is None or self._next.number < row.number:
            self._next = await anext(self._rows, None)
            if self._next is None:
                return None
        if self._next.id != row.id or self._next.cause is None:
            return None
        last = await self._beside.last(self._next, 2)
        if not last or not isinstance(closed := last[-1], Closed):
            return None
        judged = closed.ending.cause == "completed"
        acted = [event for event in last if isinstance(event, Acted)] if judged else []
        account = acted[-1].action.args.get("account") if acted else None
        return Standing(row.id, self._evaluator, given(self._evaluator, closed.ending), account, judged)


async def fingerprints(store: Store, run: str, evaluator: str) -> dict[str, str]:
    """The scores that an evaluator has in a run, by episode as a `fingerprint`: scores of a large run fill memory."""
    async with aclosing(_by_episode(store, run)) as found:
        return {one.episode: fingerprint(one.scores) async for one in found if one.evaluator == evaluator}


def fingerprint(scores: Sequence[Score]) -> str:
    """What tells scores from others."""
    return digest_of(msgspec.json.encode(list(scores)))


async def _by_episode(store: Store, run: str) -> AsyncGenerator[Standing, None]:
    """The scores that stand in the store, by episode and evaluator."""
    held: list[Score] = []
    whose = ("", "")
    async with aclosing(store.scores(run)) as scores:  # type: ignore[type-var]  # every store's is a generator
        async for episode, evaluator, score in scores:
            if (episode, evaluator) != whose:
                if held:
                    yield Standing(*whose, held)
                whose, held = (episode, evaluator), []
            held.append(score)
    if held:
        yield Standing(*whose, held)


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


def searches_of(rows: Mapping[str, RunRow]) -> dict[str, tuple[str, int | None]]:
    """The search that each evaluator's judges could use, with the size of its corpus if that is known."""
    seats = {evaluator: row.header["seats"].get(LIBRARY) for evaluator, row in rows.items()}
    return {
        evaluator: (str(seat["spec"]), seat.get("options", {}).get("documents"))
        for evaluator, seat in seats.items()
        if seat is not None
    }


def given(evaluator: str, ending: Ending) -> list[Score]:
    """The scores that an evaluation ended with; one that failed has none but its reason.

    `judge/KIND` where a judge could not be heard, `evaluator/ERROR` where the evaluator itself made a mistake.
    """
    if ending.cause == "completed":
        return scores_of(ending)
    if ending.reason == ERROR:
        return [Score(evaluator, None, f"{BROKEN}{ending.detail.partition(':')[0]}")]
    return [Score(evaluator, None, f"judge/{ending.reason or ending.cause}")]


def spread(found: Sequence[Standing], installed: Container[str]) -> dict[str, dict[str, Score]]:
    """Scores by episode and name. An evaluator that failed in one lacks there each score that it has in others.

    One that failed in all has no score but the reason, under its own name. Of two that gave a score of one name, as an
    older version let them, the one that is `installed` counts.
    """
    names: dict[str, dict[str, None]] = {}
    for one in found:
        if not _failed(one):
            names.setdefault(one.evaluator, {}).update((score.name, None) for score in one.scores)
    whole: dict[str, dict[str, Score]] = {}
    for one in sorted(found, key=lambda one: one.evaluator in installed):
        scores = one.scores
        if why := _failed(one):
            scores = [Score(name, None, why) for name in names.get(one.evaluator, {})] or scores
        whole.setdefault(one.episode, {}).update((score.name, score) for score in scores)
    return whole


def _failed(one: Standing) -> str:
    """Why an evaluator has no scores of an episode, "" if it has: it was `given` nothing but its name."""
    if len(one.scores) > 1 or any(score.name != one.evaluator or score.value is not None for score in one.scores):
        return ""
    return next((score.reason for score in one.scores if score.reason.startswith(("judge/", BROKEN))), "")


async def evaluated(run: StoredRun) -> AsyncGenerator[Standing, None]:
    """What an evaluation says of each episode, as `standing` gives it of a run."""
    evaluator = str(run.header["evaluator"])
    async for row in run.store.episodes(run.name):
        if (ending := await run.ending(row)) is not None:
            yield Standing(row.id, evaluator, given(evaluator, ending))


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
