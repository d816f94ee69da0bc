"""The one loop: whose turn is it, show that seat its view, take its action, write it down, fold it."""

import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import msgspec

from wardround.engine.calls import Cache, RecordingModel, Tape, Watch
from wardround.engine.errors import (
    EgressError,
    LeaseLost,
    LimitReached,
    LogError,
    ProviderError,
    RunStopped,
    StoreError,
    storable,
)
from wardround.engine.events import Acted, Called, Closed, Event, Reopened, effective
from wardround.engine.limits import Limits, Spent
from wardround.engine.log import EpisodeLog
from wardround.engine.protocols import Agent, Model, Remembers, Scenario
from wardround.engine.records import Action, Ending, Json, View
from wardround.engine.seat import Voice
from wardround.engine.waiting import timed_by


class Ended(Exception):
    """Carries an ending out of the border it was met at."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.detail)
        self.ending = ending


class Caster(Protocol):
    """Makes the agent of a seat; `voice(model, options)` gives it the way to a model that records every call.

    An agent that speaks through several models names each by a third argument, `voice(model, options, name)`: its calls
    are recorded and counted under that name.
    """

    def __call__(self, seat: str, voice: Callable[..., Voice], /) -> Agent:
        """Make it."""
        ...


@dataclass(slots=True)
class Table:
    """Everything one episode is played with."""

    scenario: Scenario[Any, Any]
    case: object
    cast: Caster
    log: EpisodeLog
    limits: Limits = field(default_factory=Limits)
    watch: Watch | None = None
    caches: Callable[[str], Cache | None] | None = None
    tape: Tape = field(default_factory=Tape)


class Episode:
    """One episode: first folds what its log holds, then plays on."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._agents: dict[str, Agent] = {}
        self._memos: dict[str, Json] = {}
        self._seq = 0
        self._spent = Spent(table.limits, table.log.events)
        self.state: Any = None

    async def play(self) -> Ending | None:
        """Play to the end and close the log; None if the run was stopped and the episode stays open."""
        try:
            self.recall()
            with self._spent.timed():
                if self._spent.ticking:
                    timed_by(self._spent)
                await self._live()
            ending = None
        except Ended as ended:
            ending = ended.ending
        except TimeoutError:
            ending = Ending("limit", "wall", f"it took longer than {self._table.limits.wall:g} s")
        except RunStopped as stopped:
            if self._table.watch:
                self._table.watch.drain(str(stopped))
            await self._table.log.flush()
            return None
        return await self._close(ending)

    def recall(self, events: Sequence[Event] | None = None) -> None:
        """Fold the log's events (or those given) into the state; the calls of an interrupted act go on the tape."""
        table = self._table
        with boundary("rules"):
            self.state = table.scenario.start(table.case)
        for event in effective(table.log.events if events is None else events):
            if isinstance(event, Acted):
                self.show(event)
            elif isinstance(event, Called):
                table.tape.record(event)
            elif isinstance(event, Reopened):
                table.tape.drop_failures()

    async def _live(self) -> None:
        table = self._table
        while self.ending() is None:
            if table.watch:
                await table.watch.before_act()
            if not table.tape.unused():  # an act that was interrupted had passed this check when it began
                with boundary("limit"):
                    self._spent.check()
            seat, view = self.turn()
            action = await self.act(seat, view)
            self._spent.actions += 1
            self.write(seat, action)

    def ending(self) -> Ending | None:
        """What the rules say of the present state."""
        with boundary("rules"):
            ending: object = self._table.scenario.ending(self.state)
        if ending is None:
            return None
        if not isinstance(ending, Ending):
            raise Ended(Ending("rules", "bad_ending", f"ending() returned {type(ending).__name__}, not an Ending"))
        if not _is_answer(answer := ending.facts.get("answer", {})):
            why = f"facts['answer'] is {answer!r:.200}, and must be {{goal: text}}, a mapping of texts"
            raise Ended(Ending("rules", "bad_answer", storable(why)))
        return ending

    def turn(self) -> tuple[str, View]:
        """Whose turn it is, and all that seat may know."""
        with boundary("rules"):
            seat = self._table.scenario.turn(self.state)
            return seat, self._view(seat)

    async def act(self, seat: str, view: View) -> Action:
        """Ask the agent of `seat`; whatever it raises ends the episode by a typed cause."""
        agent = self._agent(seat)
        if not getattr(agent, "sealed", False):
            await self._table.log.flush()
        with boundary(seat):
            action: object = await agent.act(view)
        if not isinstance(action, Action):
            raise Ended(Ending(seat, "bad_action", f"act() returned {type(action).__name__}, not an Action"))
        if action.verb not in view.verbs:
            raise Ended(Ending(seat, "bad_action", f"verb {action.verb!r} is none of {', '.join(view.verbs)}"))
        return action

    def write(self, seat: str, action: Action) -> None:
        """Add an action to the log and fold it."""
        log = self._table.log
        event = Acted(seq=log.next, at=log.clock(), seat=seat, action=action, of=self._source(seat, action))
        with boundary(seat):
            log.add(event)
        self.take(event)

    def show(self, event: Acted) -> None:
        """Go on from a recorded action, which the agent of its seat is shown if it wants to be."""
        agent = self._agent(event.seat)
        if isinstance(agent, Remembers):
            with boundary("rules"):
                view = self._view(event.seat)
            with boundary(event.seat):
                agent.recall(view, event.action)
        self.take(event)

    def take(self, event: Acted) -> None:
        """Go on from a recorded action as if it had just been taken."""
        self._seq = event.seq
        self._fold(event)

    def outside(self, seat: str) -> bool:
        """Whether this seat's answers come from outside the process and cannot be had again."""
        return bool(getattr(self._agent(seat), "outside", False))

    def _fold(self, event: Acted) -> None:
        with boundary("rules"):
            self.state = self._table.scenario.apply(self.state, event)
        self._memos[event.seat] = event.action.memo
        self._table.tape.clear()

    def _view(self, seat: str) -> View:
        view = self._table.scenario.view(self.state, seat)
        return msgspec.structs.replace(view, memo=self._memos.get(seat), seq=self._seq)

    def _agent(self, seat: str) -> Agent:
        agent = self._agents.get(seat)
        if agent is None:
            with boundary(seat):
                agent = self._agents[seat] = self._table.cast(
                    seat, lambda model, options, name=seat: self._voice(name, model, options)
                )
        return agent

    def _voice(self, seat: str, model: Model, options: Mapping[str, Json]) -> Voice:
        voice = RecordingModel(seat, model, options, log=self._table.log, tape=self._table.tape)
        voice.spent, voice.watch = self._spent, self._table.watch
        voice.cache = self._table.caches(seat) if self._table.caches else None
        return voice

    def _source(self, seat: str, action: Action) -> int:
        """The call just before this action whose reply the action repeats, or -1."""
        for event in reversed(self._table.log.events):
            if not isinstance(event, Called):
                return -1
            reply = event.reply
            if event.seat == seat and reply and (reply.text, reply.thinking) == (action.text, action.thinking):
                return event.seq if action.text else -1
        return -1

    async def _close(self, ending: Ending | None) -> Ending:
        try:
            ending = ending or self.ending()
            assert ending is not None
            with boundary("rules"):  # an ending whose facts no store takes is the rules' fault, and ends this episode
                self._add(ending)
        except Ended as ended:
            ending = ended.ending
            self._add(ending)
        await self._table.log.flush()
        return ending

    def _add(self, ending: Ending) -> None:
        log = self._table.log
        log.add(Closed(seq=log.next, at=log.clock(), ending=ending), ending)


_PASSING = (RunStopped, StoreError, LeaseLost, LogError, EgressError)


def _is_answer(held: object) -> bool:
    """Whether it says what was answered as all who read endings expect it: texts by what they answer."""
    return isinstance(held, Mapping) and all(isinstance(part, str) for pair in held.items() for part in pair)


class boundary:  # noqa: N801 - used as a statement, and a generator would cost five times as much a turn
    """The one place that catches everything: what crosses the border of plug-in code becomes a typed ending.

    Architecture section 5. A stop of the run, a store that cannot write, a lost lease and a broken log are no endings
    and pass.
    """

    __slots__ = ("_who",)

    def __init__(self, who: str) -> None:
        self._who = who

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: object) -> None:
        if raised is None or isinstance(raised, Ended) or not isinstance(raised, Exception):
            return
        error = _leading(raised)
        if isinstance(error, _PASSING):
            if error is raised:
                return
            raise error from raised
        raise Ended(_typed(self._who, error)) from raised


def _leading(error: Exception) -> Exception:
    """Of several that concurrent calls raised at once, the one that decides: a stop first, then a limit, a provider."""
    if not isinstance(error, ExceptionGroup):
        return error
    leaves = [_leading(inner) for inner in error.exceptions]
    ranked = (*_PASSING, LimitReached, ProviderError, Exception)
    return min(leaves, key=lambda leaf: next(i for i, kind in enumerate(ranked) if isinstance(leaf, kind)))


def _typed(who: str, error: Exception) -> Ending:
    if isinstance(error, LimitReached):
        return Ending("limit", error.limit, str(error))
    if isinstance(error, ProviderError):
        return Ending("provider", error.kind, str(error))
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    return Ending(who, "error", storable(f"{type(error).__name__}: {error}{where}"[:2000]))
