"""The episodes of a run that is still being played, handed to its judges as they close."""

from collections.abc import AsyncIterator

import anyio

from wardround.engine.batch import Progress
from wardround.engine.records import EpisodeRow
from wardround.engine.sessions import BEAT, Session
from wardround.stored import StoredEpisodes
from wardround.working import chunk, taken

PATIENCE = 5
"""Beats that one who follows a run waits while nobody plays it: it may be about to begin, or to be taken up again."""


async def followed(
    run: StoredEpisodes, session: Session, progress: Progress, concurrency: int
) -> AsyncIterator[EpisodeRow]:
    """Episodes to judge as they close, until none is open or nobody plays any more; `session` takes them.

    The run is read from its first open episode on, so that a look costs what is new, however much was judged before.
    """
    store, after, idle = run.store, -1, 0
    ahead: set[int] = set()  # those that closed before one of a lower number
    while not progress.draining:
        playing = any(other.alive for other in await store.sessions(run.name))
        idle = 0 if playing else idle + 1
        # Asked in this order: whatever closed below the first open one ended by one of the causes.
        first = [row.number async for row in store.episodes(run.name, causes=["open"], after=after, limit=1)]
        endings = await store.endings(run.name)
        causes = [cause for cause in endings if cause != "open"]
        last, some = after, list[str]()
        async for row in store.episodes(run.name, causes=causes, after=after):
            last = row.number
            if last in ahead:
                continue
            if first and last > first[0]:
                ahead.add(last)
            some.append(row.id)
            if len(some) == chunk(progress, concurrency):
                for mine in await session.take(len(some), some):
                    yield mine
                some = []
        for mine in await session.take(len(some), some) if some else ():
            yield mine
        after = first[0] - 1 if first else last
        ahead = {number for number in ahead if number > after}
        if "open" not in endings or idle > PATIENCE:
            async for row in taken(session, progress, concurrency):
                yield row
            return
        with anyio.move_on_after(BEAT):
            while not progress.draining:
                await progress.stirred()
