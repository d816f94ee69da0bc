"""The episodes that the clients of a server play at the same time, each under its id; used by all network faces."""

import asyncio
import time

import msgspec

from wardround.agents.external import LEFT
from wardround.engine.errors import UsageError
from wardround.engine.records import Json
from wardround.faces.client_format import client_ending, client_text, read_action, rewards_of
from wardround.faces.driven_run import DrivenEpisode, DrivenRun


class ClientTurn(msgspec.Struct, frozen=True):
    """What a client gets after each step.

    `text` is what its seat hears now, `images` are the images in it (data URLs or addresses), and `verbs` what it may
    do. After the end `done` is true, `ending` says how it ended, and `rewards` has every score; one without a value is
    None, with its reason in `missing`. An episode that was left may go on and has no rewards: its scores would tell the
    client which of its orders were right.
    """

    episode: str
    case: str
    seat: str
    text: str
    verbs: tuple[str, ...]
    done: bool = False
    ending: dict[str, str] | None = None
    rewards: dict[str, float | None] = {}
    missing: dict[str, str] = {}
    images: tuple[str, ...] = ()


class UnknownEpisode(UsageError):
    """No episode of this id is under way; those of other clients are not named."""


class OpenEpisodes:
    """Starts, steps and leaves episodes of one driven run by their ids; a step waits for earlier steps of its episode.

    `client` names the session of the client that asks, "" if it has none. An episode that began in a session is known
    to that session alone, until another one starts it by its id. With `rewards` false no client gets scores.
    """

    def __init__(self, driven: DrivenRun, *, rewards: bool = True) -> None:
        self.driven, self._rewards = driven, rewards
        self._episodes: dict[str, DrivenEpisode] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._clients: dict[str, str] = {}
        self._seen: dict[str, float] = {}

    async def start(self, case: str = "", client: str = "") -> ClientTurn:
        """Begin the next open episode, or that of a case or an id; one that was left goes on where it was.

        An episode that is being played already is shown as it is, and belongs to this client from now on, so that a
        client that lost its connection can go on. Raises UsageError as `DrivenRun.start` does.
        """
        if case in self._episodes and self._episodes[case].ending is None:
            self._clients[case] = client
            return await self.turn(case, client)
        episode = await self.driven.start(case)
        self._episodes[episode.id] = episode
        self._locks[episode.id] = asyncio.Lock()
        self._clients[episode.id] = client
        return await self.turn(episode.id, client)

    async def act(self, episode: str, action: Json, client: str = "") -> ClientTurn:
        """Take an action, a text or an object with `verb`, `text`, `args`; raises UsageError if impossible."""
        known = self._episode_of(episode, client)
        async with self._locks[episode]:
            await known.act(read_action(action))
        return await self._shown(known)

    async def turn(self, episode: str, client: str = "") -> ClientTurn:
        """The present turn of an episode."""
        return await self._shown(self._episode_of(episode, client))

    async def _shown(self, known: DrivenEpisode) -> ClientTurn:
        view, row = known.view, known.row
        self._seen[known.id] = time.monotonic()
        if view is not None:
            images = tuple(await self.driven.images(known))
            return ClientTurn(known.id, row.case, known.seat, client_text(view), tuple(view.verbs), images=images)
        if known.ending is None:
            raise UsageError(f"episode {known.id} is between two turns; ask again")
        over = ClientTurn(known.id, row.case, known.seat, "", (), True, client_ending(known.ending))
        if known.ending.reason == LEFT or not self._rewards:
            return over
        rewards, missing = rewards_of(await self.driven.rewards(known))
        return msgspec.structs.replace(over, rewards=rewards, missing=missing)

    async def leave(self, episode: str, client: str = "") -> ClientTurn:
        """End an episode as left by its client; `start` takes it up again."""
        known = self._episode_of(episode, client)
        await self._leave(known, "the client left before the end")
        return await self._shown(known)

    async def _leave(self, known: DrivenEpisode, why: str) -> None:
        async with self._locks[known.id]:
            await known.leave(why)

    async def leave_idle(self, seconds: float) -> list[str]:
        """Leave the episodes that had no request for `seconds`; returns their ids."""
        now, left = time.monotonic(), []
        for name, episode in list(self._episodes.items()):
            if episode.view is not None and now - self._seen.get(name, now) > seconds:
                await self._leave(episode, f"the client did nothing for {seconds:g} s")
                left.append(name)
        return left

    def playing(self) -> list[str]:
        """The ids of the episodes that have not ended."""
        return [name for name, episode in self._episodes.items() if episode.ending is None]

    def _episode_of(self, episode: str, client: str) -> DrivenEpisode:
        known = self._episodes.get(episode)
        if known is None or self._clients[episode] not in ("", client):
            raise UnknownEpisode(f"there is no episode {episode!r} under way; start it first, and use the id you get")
        return known
