"""The episodes that the clients of a server play at the same time, each under its id; used by all network faces."""

import asyncio
import time
from dataclasses import dataclass, field

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


@dataclass
class _Known:
    """An episode that a client began here: the session it belongs to, and when it was last asked for."""

    episode: DrivenEpisode
    client: str
    seen: float = field(default_factory=time.monotonic)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)


class OpenEpisodes:
    """Starts, steps and leaves episodes of one driven run by their ids; a step waits for earlier steps of its episode.

    `client` names the session of the client that asks, "" if it has none. An episode that began in a session is known
    to that session alone, until another one starts it by its id. With `rewards` false no client gets scores. Clients
    can ask for the episodes that are played, and for the last `remembered` ones that are over.
    """

    def __init__(self, driven: DrivenRun, *, rewards: bool = True, remembered: int = 1000) -> None:
        self.driven, self._rewards, self._remembered = driven, rewards, remembered
        self._known: dict[str, _Known] = {}

    def __contains__(self, episode: str) -> bool:
        """Whether an episode of this id can be asked for."""
        return episode in self._known

    def is_playing(self, episode: str) -> bool:
        """Whether an episode of this id is under way."""
        return episode in self._known and self._known[episode].episode.playing

    async def start(self, case: str = "", client: str = "") -> ClientTurn:
        """Begin the next open episode, or that of a case or an id; one that was left goes on where it was.

        An episode that is being played already is shown as it is, and belongs to this client from now on, so that a
        client that lost its connection can go on. Raises UsageError as `DrivenRun.start` does.
        """
        if self.is_playing(case):
            self._known[case].client = client
            return await self.turn(case, client)
        episode = await self.driven.start(case)
        self._known.pop(episode.id, None)  # one that is taken up again is the newest
        for name in [one for one in self._known if not self.is_playing(one)][: -self._remembered]:
            del self._known[name]
        self._known[episode.id] = _Known(episode, client)
        return await self.turn(episode.id, client)

    async def act(self, episode: str, action: Json, client: str = "") -> ClientTurn:
        """Take an action, a text or an object with `verb`, `text`, `args`; raises UsageError if impossible."""
        known = self._known_to(client, episode)
        async with known.lock:
            await known.episode.act(read_action(action))
        return await self._shown(known)

    async def turn(self, episode: str, client: str = "") -> ClientTurn:
        """The present turn of an episode."""
        return await self._shown(self._known_to(client, episode))

    async def _shown(self, known: _Known) -> ClientTurn:
        known.seen = time.monotonic()
        episode, case = known.episode, known.episode.row.case
        view = episode.settled()
        if view is not None:
            images = tuple(await self.driven.images(episode))
            return ClientTurn(episode.id, case, episode.seat, client_text(view), tuple(view.verbs), images=images)
        if episode.ending is None:
            raise UsageError(f"episode {episode.id}: it is not the {episode.seat}'s turn yet; ask again in a moment")
        over = ClientTurn(episode.id, case, episode.seat, "", (), True, client_ending(episode.ending))
        if episode.ending.reason == LEFT or not self._rewards:
            return over
        rewards, missing = rewards_of(await self.driven.rewards(episode))
        return msgspec.structs.replace(over, rewards=rewards, missing=missing)

    async def leave(self, episode: str, client: str = "") -> ClientTurn:
        """End an episode as left by its client; `start` takes it up again."""
        known = self._known_to(client, episode)
        async with known.lock:
            await known.episode.leave("the client left before the end")
        return await self._shown(known)

    async def leave_idle(self, seconds: float) -> list[str]:
        """Leave the episodes that had no request for `seconds`; returns their ids."""
        now, left = time.monotonic(), []
        for name, known in list(self._known.items()):
            if known.episode.view is not None and now - known.seen > seconds:
                async with known.lock:
                    await known.episode.leave(f"the client did nothing for {seconds:g} s")
                left.append(name)
        return left

    def _known_to(self, client: str, episode: str) -> _Known:
        known = self._known.get(episode)
        if known is None or known.client not in ("", client):
            raise UnknownEpisode(f"there is no episode {episode!r} under way; start it first, and use the id you get")
        return known
