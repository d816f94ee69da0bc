"""Plays one episode: asks the seat whose turn it is for an action, logs the action, and folds it into the state."""

import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from inspect import isawaitable
from typing import Protocol, cast

import msgspec

from wardround.engine.calls import (
    OWN_REPLY,
    PASSING,
    ModelErrors,
    RecordingModel,
    RunWatch,
    deciding_error,
    failed_call,
)
from wardround.engine.errors import LimitReached, ProviderError, RunStopped, storable
from wardround.engine.events import Acted, Called, Closed, Event, Opened, Reopened, effective, unstorable_field
from wardround.engine.limits import LimitAccount, Limits, timed_by
from wardround.engine.misbehaviour import ActCalls, OwnTime, contain_plugin, error_text, raised_by_plugin
from wardround.engine.protocols import Agent, AnyScenario, Cache, Ends, Model, Remembers, has_methods
from wardround.engine.records import LONGEST_REPLY, Action, Ending, Json, View
from wardround.engine.seat import Voice, traits_of
from wardround.engine.trajectory import CANCELLED, EpisodeLog, RecordedCalls

TIMEOUT = "timeout"
"""The reason of an ending by a seat whose act took too long."""


class Ended(Exception):
    """Carries an ending out of the boundary at which the failure was caught."""

    def __init__(self, ending: Ending) -> None:
        super().__init__(ending.detail)
        self.ending = ending


class Caster(Protocol):
    """Makes the agent of a seat; `voice(model, options)` wraps a model so that every call is recorded.

    An agent that is several speakers, such as a panel, names each by a third argument, `voice(model, options, name)`;
    its calls are recorded and counted under that name. A seat with several models tells them apart by `label`; their
    calls are counted under the seat.
    """

    def __call__(self, seat: str, voice: Callable[..., Voice], /) -> Agent:
        """Make the agent of `seat`."""


@dataclass(slots=True)
class EpisodeSetup:
    """Everything that is needed to play one episode.

    `cast` makes the agent of a seat. `log` has the events so far and takes the new ones. `watch` decides when acts and
    calls may begin, and `caches` gives each seat its call cache. `recorded` has the calls of an act that is repeated.
    `trusted` names the seats whose agents belong to the engine's user (a recording, a person's terminal, an evaluator):
    their errors decide how the episode ends. An error of any other agent counts as a failure of a model only if its
    seat's model raised it.
    """

    scenario: AnyScenario
    case: object
    cast: Caster
    log: EpisodeLog
    limits: Limits = field(default_factory=Limits)
    watch: RunWatch | None = None
    caches: Callable[[str], Cache | None] | None = None
    recorded: RecordedCalls = field(default_factory=RecordedCalls)
    trusted: Collection[str] = ()


class Episode:
    """One episode: folds the events of its log, then plays on."""

    def __init__(self, setup: EpisodeSetup) -> None:
        self._setup = setup
        self._agents: dict[str, Agent] = {}
        self._memos: dict[str, Json] = {}
        self._seq = 0
        self.history: Sequence[Event] = ()  # the stored events during a replay, whose own log has no calls
        self._spent = LimitAccount(setup.limits, setup.log.events)
        self._own: dict[str, OwnTime] = {}
        self._sealed: dict[str, bool] = {}
        self._acting = ""
        self._errors, self._calls = ModelErrors(), ActCalls(setup.recorded.has_cancelled)
        self.state: object = None

    async def play(self) -> Ending | None:
        """Play to the end and close the log; None if the run was stopped and the episode stays open."""
        try:
            with contain_plugin():
                return await self._play()
        finally:
            self.end()

    def end(self) -> None:
        """Drop the timers and agents of the seats: no act follows.

        Both refer to the episode. With them it would stay in memory until the garbage collector found the cycle, which
        takes a seventh of the CPU time of a call.
        """
        for own in self._own.values():
            own.end()
        for seat, agent in self._agents.items():
            if has_methods(agent, Ends):
                with suppress(Ended), boundary(seat):  # the episode is over, so no failure of it counts any more
                    cast(Ends, agent).end()
        self._own.clear()
        self._agents.clear()

    async def _play(self) -> Ending | None:
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
            ending = self._ending_by_limit("wall", f"it took longer than {self._setup.limits.wall:g} s")
        except RunStopped as stopped:
            if self._setup.watch:
                self._setup.watch.drain(str(stopped))
            await self._setup.log.flush()
            return None
        return await self._close(ending)

    def recall(self, events: Sequence[Event] | None = None) -> None:
        """Fold the log's events (or `events`) into the state, and keep the recorded calls of an interrupted act."""
        setup = self._setup
        with boundary("rules"):
            self.state = setup.scenario.start(setup.case)
        for event in effective(setup.log.events if events is None else events):
            if isinstance(event, Acted):
                self.show(event)
            elif isinstance(event, Called):
                setup.recorded.add(event)
            elif isinstance(event, Reopened):
                setup.recorded.drop_failures()

    async def _live(self) -> None:
        setup = self._setup
        while self.ending() is None:
            if setup.watch:
                await setup.watch.before_act()
            if not setup.recorded.unused():  # an act that was interrupted had passed this check when it began
                try:
                    self._spent.check()
                except LimitReached as reached:
                    raise Ended(self._ending_by_limit(reached.limit, str(reached))) from reached
            seat, view = self.turn()
            action = await self.act(seat, view)
            self._spent.act(seat)
            self.write(seat, action)

    def ending(self) -> Ending | None:
        """The ending by the rules in the present state, or None; raises Ended if the rules fail."""
        with boundary("rules"):
            ending: object = self._setup.scenario.ending(self.state)
        if ending is None:
            return None
        if not isinstance(ending, Ending):
            raise Ended(Ending("rules", "bad_ending", f"ending() returned {type(ending).__name__}, not an Ending"))
        if not _is_answer(answer := ending.facts.get("answer", {})):
            why = f"facts['answer'] is {answer!r:.200}, and must be {{goal: text}}, a mapping of texts"
            raise Ended(Ending("rules", "bad_answer", storable(why)))
        return ending

    def turn(self) -> tuple[str, View]:
        """The seat whose turn it is, and its view."""
        with boundary("rules"):
            seat = self._setup.scenario.turn(self.state)
            return seat, self._view(seat)

    async def act(self, seat: str, view: View) -> Action:
        """Ask the agent of `seat` for its action; anything that it raises becomes an ending with a typed cause."""
        agent = self._agent(seat)
        sealed = self._sealed.get(seat)
        if sealed is None:
            with boundary(seat):
                sealed = self._sealed[seat] = traits_of(agent).sealed
        if not sealed:
            await self._setup.log.flush()
        self._errors.clear()
        try:
            return await self._sound_action(seat, agent, view)
        except Ended as ended:
            if stop := self._errors.passing():  # the agent raised an error of its own in place of it
                raise stop from ended
            self._errors.record_cancelled()
            raise

    async def _sound_action(self, seat: str, agent: Agent, view: View) -> Action:
        """The action of an agent, once all its calls have ended; raises Ended for an action that no log can keep."""
        blamed = None if seat in self._setup.trusted else partial(self._ending_by_blame, view)
        own = self._own_time(seat)
        action: Action | None = None
        awaited = True
        self._calls.seat = seat
        with boundary(seat, blamed), own:
            async with self._calls:
                acting = agent.act(view)
                awaited = isawaitable(acting)
                action = await acting if awaited else None
        if stop := self._errors.passing():  # the agent swallowed it, and its action would count as an answer
            raise stop
        if own.over:
            limit = self._setup.limits.act
            raise Ended(Ending(seat, TIMEOUT, f"it took more than {limit:g} s outside of its model's calls to act"))
        if not awaited:
            raise Ended(Ending(seat, "error", "act is not a coroutine: write `async def act(self, view)`"))
        if not isinstance(action, Action):
            raise Ended(Ending(seat, "bad_action", f"act() returned {type(action).__name__}, not an Action"))
        if fault := _misshapen(action):
            raise Ended(Ending(seat, "bad_action", fault))
        self._errors.record_cancelled()
        if action.verb not in view.verbs:
            raise Ended(Ending(seat, "bad_action", f"verb {action.verb!r} is not one of {', '.join(view.verbs)}"))
        return action

    def write(self, seat: str, action: Action) -> None:
        """Add an action to the log and fold it."""
        log = self._setup.log
        of, finish = self._source(seat, action), self._finish(seat, action)
        event = Acted(seq=log.next, at=log.clock(), seat=seat, action=action, of=of, finish=finish)
        with boundary(seat, lambda who, error: _ending_of_error(who, error, unstorable_field(action))):
            log.add(event)
        self.take(event)

    def show(self, event: Acted) -> None:
        """Fold a recorded action, and show it to the agent of its seat if the agent has `recall`."""
        agent = self._agent(event.seat)
        with boundary(event.seat):
            remembers = has_methods(agent, Remembers)
        if remembers:
            with boundary("rules"):
                view = self._view(event.seat)
            with boundary(event.seat, partial(self._ending_by_blame, view)):
                cast(Remembers, agent).recall(view, event.action)
        self.take(event)

    def take(self, event: Acted) -> None:
        """Fold an action of the log as if it had just been taken."""
        self._seq = event.seq
        self._fold(event)

    def outside(self, seat: str) -> bool:
        """Whether this seat's answers come from outside the process and cannot be repeated."""
        agent = self._agent(seat)
        with boundary(seat):
            return traits_of(agent).outside

    def _own_time(self, seat: str) -> OwnTime:
        """The timer of a seat's acts; a person may take as long as they like."""
        self._acting = seat
        own = self._own.get(seat)
        if own is None:
            limit = None if self.outside(seat) else self._setup.limits.act
            own = self._own[seat] = OwnTime(limit, self._spent.used[seat], lambda: self.log_fields(seat))
        return own

    def log_fields(self, seat: str) -> dict[str, str]:
        """The episode, the seat and the class of its agent, for the log."""
        opened = self._setup.log.events[0] if self._setup.log.events else None
        agent = type(self._agents.get(seat))
        named = {"seat": seat, "agent": f"{agent.__module__}:{agent.__qualname__}"}
        return {"episode": opened.episode, **named} if isinstance(opened, Opened) else named

    def _fold(self, event: Acted) -> None:
        with boundary("rules"):
            self.state = self._setup.scenario.apply(self.state, event)
        self._memos[event.seat] = event.action.memo
        self._setup.recorded.clear()

    def _view(self, seat: str) -> View:
        view = self._setup.scenario.view(self.state, seat)
        return msgspec.structs.replace(view, memo=self._memos.get(seat), seq=self._seq)

    def _agent(self, seat: str) -> Agent:
        agent = self._agents.get(seat)
        if agent is None:
            self._errors.clear()
            with boundary(seat, partial(self._ending_by_blame, View(seat, "", (), ()))):
                agent = self._agents[seat] = self._setup.cast(
                    seat, lambda model, options, name=seat, label="": self._voice(seat, name, model, options, label)
                )
        return agent

    def _voice(self, owner: str, name: str, model: Model, options: Mapping[str, Json], label: str) -> Voice:
        voice = RecordingModel(name, model, options, log=self._setup.log, recorded=self._setup.recorded, label=label)
        voice.owner, voice.act = owner, self._calls
        voice.spent, voice.watch, voice.errors = self._spent, self._setup.watch, self._errors
        voice.away = self._away
        voice.cache = self._setup.caches(name) if self._setup.caches else None
        return voice

    def _away(self) -> AbstractContextManager[None]:
        """Stop the acting seat's own timer during a call of its model."""
        own = self._own.get(self._acting)
        return own.away() if own else nullcontext()

    def _ending_by_blame(self, view: View, seat: str, raised: BaseException) -> Ending:
        """The ending for an agent's exception: it is the seat's own failure unless its model raised the exception."""
        error, call = deciding_error(raised, self._errors)
        if self._errors.behind(error) is None:
            return Ending(seat, "error", _error_with_place(error))
        if isinstance(error, PASSING):
            if error is raised:
                raise error
            raise error from raised
        if isinstance(error, LimitReached):
            return self._ending_by_limit(error.limit, str(error))
        if isinstance(error, ProviderError):
            return failed_call(seat, error, call, view, self.history or self._setup.log.events)
        return Ending("provider", "error", _error_with_place(error))

    def _ending_by_limit(self, limit: str, detail: str) -> Ending:
        """The ending by a limit; its facts name the seat that used the limit up by itself, if there is one."""
        fault = self._spent.fault(limit)
        return Ending("limit", limit, detail, {"fault": fault} if fault else {})

    def _finish(self, seat: str, action: Action) -> str:
        """Why the reply behind the action stopped, if it did not end normally; "" if it did or there is none."""
        for event in reversed(self._setup.log.events):
            if not isinstance(event, Called):
                return ""
            if event.seat == seat:
                if event.reply is None:
                    kind = event.error[0] if event.error else ""
                    if kind == CANCELLED:
                        continue
                    return kind if kind in OWN_REPLY and not action.text else ""
                finish = event.reply.finish
                return finish if finish != "stop" and action.text.strip() in event.reply.text else ""
        return ""

    def _source(self, seat: str, action: Action) -> int:
        """The number of the call in this act whose reply the action repeats, or -1."""
        for event in reversed(self._setup.log.events):
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
            with boundary("rules"):  # facts that cannot be stored are a failure of the rules and end this episode
                self._add(ending)
        except Ended as ended:
            ending = ended.ending
            self._add(ending)
        await self._setup.log.flush()
        return ending

    def _add(self, ending: Ending) -> None:
        log = self._setup.log
        log.add(Closed(seq=log.next, at=log.clock(), ending=ending), ending)


def _misshapen(action: Action) -> str:
    """What is wrong with an action's fields: their types, or more than LONGEST_REPLY characters; "" if nothing is."""
    text: object = action.text
    thinking: object = action.thinking
    args: object = action.args
    if isinstance(text, str) and isinstance(thinking, str) and isinstance(args, Mapping):
        length = len(text) + len(thinking) + sum(len(value) for value in args.values() if isinstance(value, str))
        too_long = f"an Action has at most {LONGEST_REPLY:,} characters, and this one has {length:,}"
        return too_long if length > LONGEST_REPLY else ""
    types = f"text is {type(text).__name__}, thinking {type(thinking).__name__}, args {type(args).__name__}"
    return f"an Action has two texts and a mapping, and here {types}"


def _is_answer(value: object) -> bool:
    """Whether the `answer` of an ending has its required form: a mapping of goals to texts."""
    return isinstance(value, Mapping) and all(isinstance(part, str) for pair in value.items() for part in pair)


class boundary:  # noqa: N801 - used as a statement, and a generator would cost five times as much a turn
    """The only place that catches everything: an exception of plug-in code becomes a typed ending, raised as Ended.

    A stop of the run, a store that cannot write, a lost lease and a broken log end no episode and pass through
    (architecture, section 5). With `blamed`, that function decides instead: it gets `who` and the exception, and
    returns the ending or raises the error that must pass through.
    """

    __slots__ = ("_blamed", "_who")

    def __init__(self, who: str, blamed: Callable[[str, BaseException], Ending] | None = None) -> None:
        self._who, self._blamed = who, blamed

    def __enter__(self) -> None:
        """Nothing to prepare."""

    def __exit__(self, kind: type[BaseException] | None, raised: BaseException | None, trace: object) -> None:
        if raised is None:
            return
        if self._blamed is not None:
            if isinstance(raised, Exception) or raised_by_plugin(raised):
                raise Ended(self._blamed(self._who, raised)) from raised
            return
        if isinstance(raised, Ended):
            return
        if not isinstance(raised, Exception):  # a cancellation or an exit: of the run, or of the plug-in alone
            if raised_by_plugin(raised):
                raise Ended(_ending_of_error(self._who, raised)) from raised
            return
        error, _ = deciding_error(raised, None)
        if isinstance(error, PASSING):
            if error is raised:
                return
            raise error from raised
        raise Ended(_ending_of_error(self._who, error)) from raised


def _ending_of_error(who: str, error: BaseException, why: str = "") -> Ending:
    if isinstance(error, LimitReached):
        return Ending("limit", error.limit, str(error))
    if isinstance(error, ProviderError):
        return Ending("provider", error.kind, str(error))
    return Ending(who, "error", storable(why) or _error_with_place(error))


def _error_with_place(error: BaseException) -> str:
    """The message of an exception, with the file and line that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    where = f" ({frames[-1].filename.rsplit('/', 1)[-1]}:{frames[-1].lineno})" if frames else ""
    message = error_text(error)[:1800]
    return storable(f"{message if ':' in message else f'{message}:'}{where}")
