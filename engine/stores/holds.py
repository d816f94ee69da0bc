"""Who holds which open episode of a store in memory, and which is given out next."""

from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from heapq import heappop, heappush

_Key = tuple[str, str]
_Place = tuple[int, int, str]
"""Holders that died, number in the run, id: the order in which episodes are given out."""


class Holds:
    """The open episodes of all runs; `alive` says whether a session still lives.

    What is free lies in a heap a run, so that taking costs as much in a run of a hundred thousand as in one of ten. A
    place in it counts only while it is the one in `_free`: what is taken otherwise, or closed, is passed over later.
    """

    def __init__(self, alive: Callable[[int], bool]) -> None:
        self._alive = alive
        self._heaps: defaultdict[str, list[_Place]] = defaultdict(list)
        self._free: dict[_Key, _Place] = {}
        self._holder: dict[_Key, int] = {}
        self._held: defaultdict[int, dict[_Key, int]] = defaultdict(dict)
        self._deaths: Counter[_Key] = Counter()

    def holder(self, run: str, episode: str) -> int | None:
        """The session that holds it."""
        return self._holder.get((run, episode))

    def open(self, run: str, episode: str, number: int) -> None:
        """It is to be played: free, unless somebody holds it."""
        key = (run, episode)
        if key not in self._holder:
            self._free[key] = place = (self._deaths[key], number, episode)
            heappush(self._heaps[run], place)

    def close(self, run: str, episode: str) -> None:
        """It is not to be played, nor held, any more."""
        self._free.pop((run, episode), None)
        holder = self._holder.pop((run, episode), None)
        if holder is not None:
            del self._held[holder][run, episode]

    def take(self, run: str, session: int, count: int, among: Sequence[str] = ()) -> list[str]:
        """The first `count` (`among` these) that no living session holds; now held by this one."""
        free = self._named(run, among) if among else self._first(run, count)
        lost = [
            (self._deaths[key], number, key[1])
            for other, held in self._held.items()
            if held and not self._alive(other)
            for key, number in held.items()
            if key[0] == run and (not among or key[1] in among)
        ]
        taken = sorted(free + lost)[:count]
        for place in taken:
            _, number, episode = place
            key = (run, episode)
            self._free.pop(key, None)
            dead = self._holder.get(key)
            if dead is not None:
                del self._held[dead][key]
                self._deaths[key] += 1
            self._holder[key] = session
            self._held[session][key] = number
        if not among:
            for place in free:
                if (run, place[2]) in self._free:
                    heappush(self._heaps[run], place)
        return [episode for _, _, episode in taken]

    def _first(self, run: str, count: int) -> list[_Place]:
        heap, found = self._heaps[run], list[_Place]()
        while heap and len(found) < count:
            place = heappop(heap)
            if self._free.get((run, place[2])) is place:
                found.append(place)
        return found

    def _named(self, run: str, among: Sequence[str]) -> list[_Place]:
        return [self._free[run, name] for name in dict.fromkeys(among) if (run, name) in self._free]

    def others(self, run: str, session: int) -> int:
        """Number of open episodes that living sessions other than this one hold."""
        living = [held for other, held in self._held.items() if other != session and self._alive(other)]
        return sum(key[0] == run for held in living for key in held)

    def let_go(self, session: int, *, dead: bool) -> None:
        """Free what a session holds."""
        for (run, episode), number in self._held.pop(session, {}).items():
            del self._holder[run, episode]
            self._deaths[run, episode] += dead
            self.open(run, episode, number)
