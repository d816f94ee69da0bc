"""Checks an agent on one scripted episode and reports in plain words what is wrong with it.

`try_agent` plays the episode and replays it twice, to see whether the agent acts the same again and can resume.
`hazards` has the trials under harder conditions.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from inspect import isawaitable
from typing import Protocol, cast, runtime_checkable

import msgspec

from wardround.engine.blocking import Block, watch_for_blocks
from wardround.engine.episode import Episode, EpisodeSetup
from wardround.engine.errors import ReplayError
from wardround.engine.events import Opened, Row, decode
from wardround.engine.limits import Limits
from wardround.engine.misbehaviour import error_text, raised_by_plugin
from wardround.engine.protocols import Agent, AnyScenario, Model, Remembers
from wardround.engine.records import Action, Ending, View
from wardround.engine.replay import replay, short_repr, through_json
from wardround.engine.seat import Seat, Voice, traits_of
from wardround.engine.trajectory import EpisodeLog

MakeAgent = Callable[[Seat], Agent]
"""Makes a new agent for a seat, as a run does for each episode."""
CANCELLATION_SECONDS = 3.0
"""Seconds after its cancellation in which an act must be over."""


@dataclass(frozen=True, slots=True)
class AgentTrial:
    """The episode on which an agent is checked: the agent plays `seat`, and `others` play the other seats.

    `seats` makes the `Seat` of a name, as a run would. An act may take `seconds` and block the event loop for less than
    `blocked` seconds; the agent may act `actions` times. `models` are the models of its seat by name ("" for one).
    """

    scenario: AnyScenario
    case: object
    seat: str
    seats: Callable[[str], Seat]
    others: Mapping[str, MakeAgent]
    seconds: float = 60.0
    actions: int = 50
    blocked: float = 0.5
    models: Mapping[str, Model] = field(default_factory=dict)


@dataclass(slots=True)
class AgentCheck:
    """The result of a check: `findings` is empty if nothing is wrong; `slowest` is the longest act in seconds."""

    findings: list[str] = field(default_factory=list)
    actions: list[Action] = field(default_factory=list)
    views: list[View] = field(default_factory=list)
    ending: Ending | None = None
    slowest: float = 0.0


@runtime_checkable
class Acting(Protocol):
    """The only method that an agent needs."""

    def act(self, view: View) -> object:
        """Decide what to do."""


class CheckFailed(Exception):
    """Stops the episode; its message is the finding."""


async def try_agent(make: MakeAgent, trial: AgentTrial) -> AgentCheck:
    """Play the episode; if that succeeds, replay it twice from its log.

    The first replay shows whether the same seed gives the same actions. The second makes a new agent before every act,
    as after a resume, and shows whether the agent keeps state outside its memo. Both answer model calls from the log,
    as every replay does. An agent whose answers come from outside (a person) is not replayed.
    """
    first = TriedAgent(make, trial)
    blocks: list[Block] = []
    with watch_for_blocks(blocks.append, after=trial.blocked):
        ending, rows = await play_trial(trial, first, Limits(actions=None))
    checked = AgentCheck(actions=first.actions, views=first.views, slowest=first.slowest)
    if first.wrong:
        checked.findings.append(first.wrong)
        return checked
    checked.ending = ending
    if ending is not None and ending.reason == "error":
        checked.findings.append(f"the episode ended by {ending.cause}: {ending.detail}")
    checked.findings += [
        f"it blocks the event loop ({block.line}), which holds up all other episodes: await instead, or use a thread"
        for block in blocks
    ]
    for resumed, meaning in (
        (False, "two plays with the same seed differ: draw from seat.draw(view.seq), call models through seat.model"),
        (True, "after a resume it acts otherwise: keep state in Action.memo, or have recall(view, action)"),
    ):
        if not checked.findings and not first.outside:
            again = TriedAgent(make, trial, resumed=resumed)
            try:
                await replay(list(decode(rows)), trial.scenario, trial.case, again.cast)
            except ReplayError as error:
                checked.findings.append(f"{meaning} ({again.wrong or error})")
    return checked


async def play_trial(
    trial: AgentTrial, tried: "TriedAgent", limits: Limits, stored: Sequence[Row] = ()
) -> tuple[Ending | None, list[Row]]:
    """Play the episode of a trial, or go on from its `stored` rows; returns how it ended, and all its rows."""
    rows = list(stored)

    async def keep(new: Sequence[Row], ending: object, spent: object) -> None:
        rows.extend(new)

    log = EpisodeLog(keep, tuple(stored))
    if not stored:
        log.add(Opened(0, 0.0, "check", "", "", "", 0, 1))
    return await Episode(EpisodeSetup(trial.scenario, trial.case, tried.cast, log, limits)).play(), rows


class TriedAgent:
    """Wraps the agent in one play of the episode and checks its actions; `wrong` says why it was stopped.

    `resumed`: a new agent acts at each turn, as after a resume. `seat` is the agent's seat if it acts outside of an
    episode. `models` replace its models, by name, in an episode.
    """

    def __init__(
        self,
        make: MakeAgent,
        trial: AgentTrial,
        *,
        resumed: bool = False,
        seat: Seat | None = None,
        models: Mapping[str, Model] | None = None,
    ) -> None:
        self._make, self._trial, self._resumed, self._models = make, trial, resumed, models
        self._seat = seat
        self.views: list[View] = []
        self._agent: Agent | None = None
        self._past: list[tuple[View, Action]] = []
        self.actions: list[Action] = []
        self.slowest, self.wrong = 0.0, ""

    @property
    def outside(self) -> bool:
        """Whether the agent's answers come from outside the process."""
        return traits_of(self._agent).outside

    def cast(self, name: str, voice: Callable[..., Voice]) -> Agent:
        """The agent of a seat: this wrapper for the seat that is checked."""
        seat = self._trial.seats(name)
        if name != self._trial.seat:
            return self._trial.others[name](seat)
        self._seat = self._with_models(seat, voice)
        return self

    def _with_models(self, seat: Seat, voice: Callable[..., Voice]) -> Seat:
        """The seat with its models as the episode's log records them."""
        models: Mapping[str, Model | Voice] | None = self._models
        if models is None:
            models = self._trial.models or ({"": seat.model} if seat.model else {})
        voices = {name: voice(model, {}, label=name) for name, model in models.items()}
        named = {name: one for name, one in voices.items() if name}
        return replace(seat, model=next(iter(voices.values()), None), models=named)

    async def act(self, view: View) -> Action:
        """The agent's action, if a run could go on with it; raises CheckFailed with the finding if not."""
        self.views.append(view)
        try:
            action = _check_action(await self._act_in_time(view), view.verbs, len(self.actions) + 1)
        except CheckFailed as wrong:
            self.wrong = str(wrong)
            raise
        self.actions.append(action)
        self._past.append((view, msgspec.json.decode(msgspec.json.encode(action), type=Action)))  # as a log has it
        return action

    async def _act_in_time(self, view: View) -> object:
        """What `act` returns within the trial's time; raises CheckFailed if it is late, fails or acts too often."""
        number, seconds = len(self.actions) + 1, self._trial.seconds
        if number > self._trial.actions:
            raise CheckFailed(f"the episode is not over after {self._trial.actions} of its actions")
        agent = self._make_agent()
        begun = time.perf_counter()
        try:
            answer = cast(object, agent.act(view))
            if not isawaitable(answer):
                raise CheckFailed(
                    f"act is not a coroutine: write `async def act(self, view)`; it gave {short_repr(answer)}"
                )
            action = await _in_time(cast(Awaitable[object], answer), seconds)
        except TimeoutError as late:
            raise CheckFailed(f"action {number} was not there after {seconds:g} s{late}") from None
        except (CheckFailed, ReplayError):
            raise
        except BaseException as error:
            if not raised_by_plugin(error):
                raise
            kind, _, text = error_text(error).partition(": ")
            raise CheckFailed(f"act raised {kind} at action {number}: {text}") from error
        self.slowest = max(self.slowest, time.perf_counter() - begun)
        if self.slowest > seconds:
            raise CheckFailed(
                f"action {number} took {self.slowest:.1f} s and blocked everything else (limit {seconds:g} s)"
            )
        return action

    def _make_agent(self) -> Agent:
        """The agent; if `resumed`, a new one that is told of the acts before."""
        if self._agent is not None and not self._resumed:
            return self._agent
        try:
            assert self._seat is not None
            agent = self._agent = self._make(self._seat)
        except Exception as error:
            raise CheckFailed(f"making it raised {type(error).__name__}: {error}") from error
        if not isinstance(agent, Acting):
            raise CheckFailed(f"{type(agent).__name__} has no method act(view)")
        if self._resumed and isinstance(agent, Remembers):
            for view, action in self._past:
                try:
                    agent.recall(view, action)
                except Exception as error:
                    raise CheckFailed(f"recall raised {type(error).__name__}: {error}") from error
        return agent


async def _in_time(answer: Awaitable[object], seconds: float) -> object:
    """What an act returns; raises TimeoutError after `seconds`, even if the act swallows its cancellation."""

    async def act() -> tuple[object, BaseException | None]:
        try:
            return await answer, None
        except (SystemExit, KeyboardInterrupt) as error:  # raised by a task, they would end the event loop
            if not raised_by_plugin(error):
                raise
            return None, error

    acting = asyncio.ensure_future(act())
    try:
        done, _ = await asyncio.wait({acting}, timeout=seconds)
    except asyncio.CancelledError:
        acting.cancel()
        done, _ = await asyncio.wait({acting}, timeout=CANCELLATION_SECONDS)
        if not done or acting.cancelled():
            raise
    else:
        if not done:
            acting.cancel()
            done, _ = await asyncio.wait({acting}, timeout=CANCELLATION_SECONDS)
            raise TimeoutError("" if done else ", and it swallows its cancellation: catch Exception, not BaseException")
    action, escaped = acting.result()  # an act that has swallowed its cancellation goes on too
    if escaped is not None:
        raise escaped
    return action


def _check_action(action: object, verbs: Sequence[str], number: int) -> Action:
    """The action, if a run could store it and read it back; raises CheckFailed with the finding if not."""
    where = f"action {number}"
    if not isinstance(action, Action):
        raise CheckFailed(f"{where} is {short_repr(action)}: act must return an Action")
    if action.verb not in verbs:
        raise CheckFailed(f"{where} has the verb {action.verb!r}; possible were: {', '.join(verbs)}")
    texts: dict[str, object] = {"text": action.text, "thinking": action.thinking}
    for name, value in texts.items():
        if not isinstance(value, str):
            raise CheckFailed(f"{where}: {name} must be text, not {short_repr(value)}")
    if not isinstance(action.args, Mapping):
        raise CheckFailed(f"{where}: args must be an object, not {short_repr(action.args)}")
    for name, value in {**texts, "args": action.args, "memo": action.memo}.items():
        try:
            same = through_json(value) == _tuples_as_lists(value)
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
            raise CheckFailed(f"{where}: {name} cannot be stored as JSON: {error}") from error
        if not same:
            raise CheckFailed(f"{where}: {name} comes back otherwise from JSON: {short_repr(value)}")
    return action


def _tuples_as_lists(value: object) -> object:
    """`value` with its tuples as lists, the only change that storing may make."""
    if isinstance(value, Mapping):
        return {key: _tuples_as_lists(part) for key, part in value.items()}
    return [_tuples_as_lists(part) for part in value] if isinstance(value, list | tuple) else value
