"""Tries an agent out on one scripted episode and says in plain words what is wrong with it."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Any, cast

import anyio
import msgspec

from wardround.engine.events import Acted
from wardround.engine.protocols import Agent, Remembers, Scenario
from wardround.engine.records import Action, Completion, Ending, Json, Message, View
from wardround.engine.seat import Seat, Voice

Making = Callable[[Seat], Agent]


@dataclass(frozen=True, slots=True)
class Trial:
    """The episode an agent is tried on: `seat` is the one that is tried, `others` play the rest.

    `seats` makes the `Seat` of a name, as a run would. An act may take `seconds`; the agent may act `actions` times.
    """

    scenario: Scenario[Any, Any]
    case: object
    seat: str
    seats: Callable[[str], Seat]
    others: Mapping[str, Making]
    seconds: float = 60.0
    actions: int = 50


@dataclass(slots=True)
class Checked:
    """What came out: `findings` is empty where nothing is wrong; `slowest` in seconds."""

    findings: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    ending: Ending | None = None
    slowest: float = 0.0


class _Wrong(Exception):
    """Stops a play; its text is the finding."""


async def check(make: Making, trial: Trial) -> Checked:
    """Play the episode; where that goes well, play it twice more.

    The second play shows whether the same seed gives the same actions, the third (a fresh agent before every act, as
    after a resume) whether anything is kept outside the memo. Both answer model calls that were made before from the
    first play, as resume does. An agent whose answers come from outside (a person) is asked once only.
    """
    tape = _Tape()
    checked = Checked()
    first = _Play(make, trial, tape)
    try:
        await first.run(checked)
    except _Wrong as wrong:
        checked.findings.append(str(wrong))
        return checked
    if first.outside:
        return checked
    for resumed, meaning in (
        (False, "two plays with the same seed differ: draw from seat.draw(view.seq), call models through seat.model"),
        (True, "after a resume it acts otherwise: keep state in Action.memo, or have recall(view, action)"),
    ):
        if not checked.findings:
            await _compare(checked, _Play(make, trial, tape, resumed=resumed), meaning)
    return checked


async def _compare(checked: Checked, play: "_Play", meaning: str) -> None:
    again = Checked()
    try:
        await play.run(again)
    except _Wrong as wrong:
        checked.findings.append(f"{meaning} ({wrong})")
        return
    for number, (before, after) in enumerate(zip(checked.actions, again.actions, strict=False), 1):
        for name in ("verb", "text", "args", "thinking", "memo"):
            if _plain(getattr(before, name)) != _plain(getattr(after, name)):
                checked.findings.append(f"{meaning} (action {number}: another {name})")
                return
    if len(checked.actions) != len(again.actions):
        checked.findings.append(f"{meaning} ({len(checked.actions)} actions, then {len(again.actions)})")


class _Play:
    """One play of the episode."""

    def __init__(self, make: Making, trial: Trial, tape: "_Tape", *, resumed: bool = False) -> None:
        self._make, self._trial, self._tape, self._resumed = make, trial, tape, resumed
        self._agents: dict[str, Agent] = {}
        self._memos: dict[str, Json] = {}
        self._past: list[tuple[View, Action]] = []

    async def run(self, checked: Checked) -> None:
        """Play to the end; raises _Wrong at the first thing that would end an episode in a run."""
        trial = self._trial
        state, seq = trial.scenario.start(trial.case), 0
        while (ending := trial.scenario.ending(state)) is None:
            name = trial.scenario.turn(state)
            view = msgspec.structs.replace(trial.scenario.view(state, name), memo=self._memos.get(name), seq=seq)
            if name == trial.seat:
                if len(checked.actions) == trial.actions:
                    raise _Wrong(f"the episode is not over after {trial.actions} of its actions")
                action = await self._tried(view, checked)
                checked.actions.append(action)
                self._past.append((view, action))
            else:
                agent = self._agents.get(name) or trial.others[name](trial.seats(name))
                self._agents[name] = agent
                action = await agent.act(view)
            seq += 1
            self._memos[name] = _plain(action.memo)
            state = trial.scenario.apply(state, Acted(seq=seq, at=0.0, seat=name, action=action))
        checked.ending = ending

    async def _tried(self, view: View, checked: Checked) -> Action:
        number, seconds = len(checked.actions) + 1, self._trial.seconds
        self._tape.begin(number)
        agent = self._agent()
        begun = time.perf_counter()
        try:
            with anyio.fail_after(seconds):
                answer = cast(object, agent.act(view))
                if not isawaitable(answer):
                    raise _Wrong(f"act is no coroutine: write `async def act(self, view)`; it gave {_short(answer)}")
                action = await cast(Awaitable[object], answer)
        except TimeoutError:
            raise _Wrong(f"action {number} was not there after {seconds:g} s") from None
        except _Wrong:
            raise
        except Exception as error:
            raise _Wrong(f"act raised {type(error).__name__} at action {number}: {error}") from error
        checked.slowest = max(checked.slowest, time.perf_counter() - begun)
        if checked.slowest > seconds:
            raise _Wrong(
                f"action {number} took {checked.slowest:.1f} s and held up everything else (limit {seconds:g} s)"
            )
        return _sound(action, view.verbs, number)

    @property
    def outside(self) -> bool:
        """Whether the agent's answers come from outside the process."""
        return bool(getattr(self._agents.get(self._trial.seat), "outside", False))

    def _agent(self) -> Agent:
        name = self._trial.seat
        if name in self._agents and not self._resumed:
            return self._agents[name]
        try:
            seat = self._trial.seats(name)
            agent = self._make(replace(seat, model=_Taped(seat.model, self._tape)) if seat.model else seat)
        except Exception as error:
            raise _Wrong(f"making it raised {type(error).__name__}: {error}") from error
        if not callable(getattr(agent, "act", None)):
            raise _Wrong(f"{type(agent).__name__} has no method act(view)")
        self._agents[name] = agent
        if self._resumed and isinstance(agent, Remembers):
            for view, action in self._past:
                try:
                    agent.recall(view, action)
                except Exception as error:
                    raise _Wrong(f"recall raised {type(error).__name__}: {error}") from error
        return agent


def _sound(action: object, verbs: Sequence[str], number: int) -> Action:
    """The action, if a run could store it and read it back."""
    where = f"action {number}"
    if not isinstance(action, Action):
        raise _Wrong(f"{where} is {_short(action)}: act must return an Action")
    if action.verb not in verbs:
        raise _Wrong(f"{where} has the verb {action.verb!r}; possible were: {', '.join(verbs)}")
    for name in ("text", "thinking"):
        if not isinstance(getattr(action, name), str):
            raise _Wrong(f"{where}: {name} must be text, not {_short(getattr(action, name))}")
    if not isinstance(action.args, Mapping):
        raise _Wrong(f"{where}: args must be an object, not {_short(action.args)}")
    for name in ("text", "thinking", "args", "memo"):
        value = getattr(action, name)
        try:
            same = _plain(value) == _listed(value)
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise _Wrong(f"{where}: {name} cannot be stored as JSON: {error}") from error
        if not same:
            raise _Wrong(f"{where}: {name} comes back otherwise from JSON: {_short(value)}")
    return action


class _Tape:
    """Replies by act, call and occurrence, as an episode's log has them."""

    def __init__(self) -> None:
        self.replies: dict[tuple[int, bytes, int], Completion] = {}
        self._number = 0
        self._asked: dict[bytes, int] = {}

    def begin(self, number: int) -> None:
        """The act with this number begins."""
        self._number = number
        self._asked.clear()

    def key(self, call: bytes) -> tuple[int, bytes, int]:
        """Where the reply to this call belongs."""
        nth = self._asked[call] = self._asked.get(call, 0) + 1
        return self._number, call, nth


class _Taped:
    """A seat's model that answers a call it has answered before from the tape."""

    def __init__(self, voice: Voice, tape: _Tape) -> None:
        self.name, self._voice, self._tape = voice.name, voice, tape

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        key = self._tape.key(msgspec.json.encode((purpose, messages, options), order="deterministic"))
        replies = self._tape.replies
        if key not in replies:
            replies[key] = await self._voice.complete(messages, purpose=purpose, **options)
        return replies[key]


def _plain(value: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


def _listed(value: object) -> object:
    """`value` with its tuples as lists, the one change that storing may make."""
    if isinstance(value, Mapping):
        return {key: _listed(part) for key, part in value.items()}
    return [_listed(part) for part in value] if isinstance(value, list | tuple) else value


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
