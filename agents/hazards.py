"""Tries an agent under the conditions of a long run: odd views, slow and failing models, cancellation, kills.

Each `_try_` function is one hazard. All use stand-in models, so nothing is sent and nothing is spent.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import FrameType

import anyio
import msgspec

from wardround.agents.check import AgentTrial, CheckFailed, MakeAgent, TriedAgent, play_trial
from wardround.engine.blocking import watch_for_blocks
from wardround.engine.calls import ModelErrors
from wardround.engine.errors import ProviderError
from wardround.engine.events import Acted, Row, effective
from wardround.engine.limits import Limits
from wardround.engine.misbehaviour import contain_plugin
from wardround.engine.protocols import Model
from wardround.engine.records import Action, Completion, Json, Message, Said, View
from wardround.engine.seat import Seat
from wardround.engine.trajectory import EpisodeLog, discard


class Hazard(msgspec.Struct, frozen=True):
    """One hazard of the certificate: its name, how many trials it had, and what was wrong."""

    name: str
    trials: int
    findings: Sequence[str]


class StandIn(Model):
    """A model for trials: gives the same reply to everything after `delay` seconds, or raises `failure`.

    `asked` is set at its first call.
    """

    name = "stand-in"
    host = ""

    def __init__(self, delay: float = 0.0, failure: ProviderError | None = None) -> None:
        self.delay, self.failure = delay, failure
        self.asked = asyncio.Event()

    async def complete(self, messages: Sequence[Message], *, purpose: str, **options: Json) -> Completion:
        """The reply."""
        self.asked.set()
        await asyncio.sleep(self.delay)
        if self.failure is not None:
            raise self.failure
        return Completion("I think of influenza. Diagnosis: influenza", finish="stop", model=self.name)


@dataclass(frozen=True, slots=True)
class _OnTrial:
    """What the trials share: the agent, the views of a sound episode, and the models that the seat has by name."""

    make: MakeAgent
    trial: AgentTrial
    views: Sequence[View]
    models: Sequence[str]
    first: Sequence[Action] | None = None

    def seat(self, model: Model) -> Seat:
        """The seat of the agent, with `model` for each of its models."""
        seat = self.trial.seats(self.trial.seat)
        if not self.models:
            return replace(seat, model=None, models={})
        return replace(seat, model=model, models={name: model for name in self.models if name})

    async def act_once(self, view: View, model: Model | None = None) -> Action:
        """The action of a new agent at a view; raises CheckFailed with the finding."""
        return await TriedAgent(self.make, self.trial, seat=self.seat(model or StandIn())).act(view)


async def hazards(
    make: MakeAgent,
    trial: AgentTrial,
    views: Sequence[View],
    models: Sequence[str] = (),
    first: Sequence[Action] | None = None,
) -> AsyncIterator[Hazard]:
    """Play each hazard; `views` are those of a sound episode, `models` the names of the seat's models ("" for one).

    The models are stand-ins, so that nothing is sent or spent. `first` are the agent's actions in the first episode of
    the process, from `warm_up`.
    """
    subject = _OnTrial(make, trial, views, models, first)
    plays: Sequence[tuple[str, Callable[[_OnTrial], Awaitable[tuple[int, list[str]]]]]] = (
        ("malformed views", _try_malformed_views),
        ("huge results", _try_huge_results),
        ("unknown verbs", _try_unknown_verbs),
        ("slow model", _try_slow_model),
        ("failing model", _try_failing_model),
        ("cancellation", _try_cancelling),
        ("resume after a kill", _try_killing),
        ("another episode", _try_another_episode),
        ("eight at once", _try_eight_at_once),
    )
    blocks: list[str] = []
    for name, play in plays:
        with (
            contain_plugin(),
            watch_for_blocks(lambda block: blocks.append(block.line), after=trial.blocked),
            _watch_for_sleeps(blocks.append),
        ):
            trials, findings = await play(subject)
        yield Hazard(name, trials, findings)
    yield Hazard(
        "blocked event loop",
        len(plays),
        [f"{line} holds up all other episodes: await instead, or use a thread" for line in dict.fromkeys(blocks)],
    )


@contextmanager
def _watch_for_sleeps(note: Callable[[str], None]) -> Iterator[None]:
    """Note the place of each `time.sleep` in this thread, however short."""

    def profile(frame: FrameType, event: str, function: object) -> None:
        if event == "c_call" and function is time.sleep:
            code = frame.f_code
            note(f"{code.co_filename.rpartition('/')[2]}:{frame.f_lineno} in {code.co_name}")

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


async def _try_views(subject: _OnTrial, views: Mapping[str, View], model: Model | None = None) -> tuple[int, list[str]]:
    """Let a new agent act at each view; returns the number of views and what went wrong, by the view's description."""
    findings = []
    for what, view in views.items():
        try:
            await subject.act_once(view, model)
        except CheckFailed as wrong:
            findings.append(f"{what}: {wrong}")
    return len(views), findings


_with = msgspec.structs.replace


def _other_speaker(view: View) -> str:
    return next((said.seat for said in view.heard if said.seat != view.seat), "someone")


async def _try_malformed_views(subject: _OnTrial) -> tuple[int, list[str]]:
    first, last = subject.views[0], subject.views[-1]
    odd = "\x00\x1b[31m {{x}} {0} %s </think> \u202e \ud7ff \U0001f9a0 ]]> ```json {"

    def then(text: str, args: Mapping[str, Json] | None = None) -> list[Said]:
        return [*last.heard, Said(last.seq, _other_speaker(last), "say", text, args or {})]

    views = {
        "a brief without words": _with(first, brief=""),
        "nothing heard": _with(last, heard=()),
        "empty words": _with(last, heard=then("")),
        "words without text": _with(last, heard=then("", {"x": [1, None, {"y": []}]})),
        "a speaker that it does not know": _with(
            last, heard=[*last.heard, Said(last.seq, "stranger", "whisper", "who am I?")]
        ),
        "control characters and marks": _with(last, brief=last.brief + odd, heard=then(odd)),
        "the memo of another agent": _with(last, memo={"of": "another agent"}),
        "no memo late in the episode": _with(last, memo=None),
    }
    return await _try_views(subject, views)


async def _try_huge_results(subject: _OnTrial) -> tuple[int, list[str]]:
    last = subject.views[-1]
    other = _other_speaker(last)
    line = "Sodium 140 mmol/l. "
    additions = {
        "a result of 2 MB": [Said(last.seq, other, "say", line * (2_000_000 // len(line)))],
        "1,000 turns": [Said(last.seq, (other, last.seat)[n % 2], "say", line) for n in range(1000)],
    }
    return await _try_views(
        subject, {what: _with(last, heard=[*last.heard, *more]) for what, more in additions.items()}
    )


async def _try_unknown_verbs(subject: _OnTrial) -> tuple[int, list[str]]:
    first = subject.views[0]
    return await _try_views(
        subject,
        {
            "an extra verb": _with(first, verbs=(*first.verbs, "dance")),
            "an extra verb, first": _with(first, verbs=("dance", *first.verbs)),
        },
    )


async def _try_slow_model(subject: _OnTrial) -> tuple[int, list[str]]:
    return await _try_views(subject, {"a model that takes 0.3 s": subject.views[0]}, StandIn(delay=0.3))


async def _try_failing_model(subject: _OnTrial) -> tuple[int, list[str]]:
    findings = []
    kinds = ("timeout", "rate_limit", "context_overflow", "refusal") if subject.models else ()
    for kind in kinds:
        failure = ProviderError(kind, "a trial", status=429 if kind == "rate_limit" else None)
        try:
            await subject.act_once(subject.views[0], StandIn(failure=failure))
        except CheckFailed as wrong:
            errors = ModelErrors()
            errors.note(failure)
            if errors.behind(wrong) is None:
                findings.append(
                    f"a call that fails ({kind}) becomes an error of its own, and its own fault: {wrong}; let the "
                    "model's error pass, or raise yours from it"
                )
    return len(kinds), findings


async def _try_cancelling(subject: _OnTrial) -> tuple[int, list[str]]:
    model = StandIn(delay=3600.0)
    task = asyncio.ensure_future(subject.act_once(subject.views[0], model))
    with anyio.move_on_after(0.3):
        await model.asked.wait()
    task.cancel()
    done, _ = await asyncio.wait({task}, timeout=2.0)
    if not done:
        return 1, ["it was cancelled and did not stop within 2 s"]
    if model.asked.is_set() and not task.cancelled() and task.exception() is None:
        return 1, ["it swallows its cancellation and acts on: catch Exception, not BaseException"]
    findings = [] if task.cancelled() or task.exception() is None else [f"cancelled: {task.exception()}"]
    try:
        await subject.act_once(subject.views[0])
    except CheckFailed as wrong:
        findings.append(f"after a cancellation: {wrong}")
    return 1, findings


async def _try_killing(subject: _OnTrial) -> tuple[int, list[str]]:
    rows = await _episode(subject, ())
    whole = _actions(rows)
    cuts = sorted({round(part * len(rows) / 6) for part in range(1, 6)} - {0, len(rows)})
    for cut in cuts:
        if _actions(await _episode(subject, rows[:cut])) != whole:
            said = f"killed after event {cut - 1} of {len(rows)} and resumed, it acts otherwise"
            return len(cuts), [f"{said}: keep state in Action.memo, or have recall(view, action)"]
    return len(cuts), []


async def warm_up(make: MakeAgent, trial: AgentTrial, models: Sequence[str] = ()) -> list[Action]:
    """Play an episode with stand-in models, so that what the agent imports at its first use blocks nobody later.

    Returns the agent's actions, which `hazards` compares with those of a later episode.
    """
    with contain_plugin():
        return _actions(await _episode(_OnTrial(make, trial, (), models), ()))


async def _try_another_episode(subject: _OnTrial) -> tuple[int, list[str]]:
    if subject.first is None or _actions(await _episode(subject, ())) == list(subject.first):
        return 1, []
    shared = "keep nothing in a class, a module or a default argument, which all episodes of a process share"
    return 1, [f"in a later episode of the same process it acts otherwise than in the first: {shared}"]


async def _episode(subject: _OnTrial, stored: Sequence[Row]) -> list[Row]:
    """The rows of an episode with stand-in models that goes on from the stored rows."""
    tried = TriedAgent(subject.make, subject.trial, models=dict.fromkeys(subject.models, StandIn()))
    _, rows = await play_trial(subject.trial, tried, Limits(actions=subject.trial.actions), stored)
    return rows


def _actions(rows: Sequence[Row]) -> list[Action]:
    return [event.action for event in effective(EpisodeLog(discard, tuple(rows)).events) if isinstance(event, Acted)]


async def _try_eight_at_once(subject: _OnTrial) -> tuple[int, list[str]]:
    view = subject.views[-1]

    async def act() -> Action | str:
        try:
            return await subject.act_once(view)
        except CheckFailed as wrong:
            return str(wrong)

    alone = await act()
    differing = [other for other in await asyncio.gather(*(act() for _ in range(8))) if other != alone]
    what = "one of 8 agents at the same view acts differently from a single one"
    return 8, [f"{what}: {one!r:.200}" for one in differing[:1]]
