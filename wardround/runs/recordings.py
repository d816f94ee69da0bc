"""Recordings that a seat plays again: the replies in a file, or the actions of a stored run."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Protocol, Self

import msgspec

from wardround.agents.recorded import ActionReplay, ImportedTurns, RecordedReply, Replies, read_replies
from wardround.engine.errors import TextLost, UsageError
from wardround.engine.plugins import load_plugin, plugin_names
from wardround.engine.protocols import Agent, Store
from wardround.engine.records import Action
from wardround.engine.seat import Seat
from wardround.runs.stored_run import Run

RECORDINGS = "wardround.recordings"
"""The group of entry points of recordings: a SPEC `NAME:PLACE` names one, and its target implements SeatRecording."""

AgentMaker = Callable[[Seat], Agent]
"""A function that makes an agent for its seat."""


class SeatRecording(Protocol):
    """What a seat plays in each episode.

    `FORM` is the SPEC as messages show it, such as `replies:PATH`; "" hides it.
    """

    FORM: ClassVar[str]

    @classmethod
    async def read(cls, place: str, seat: str, store: Store) -> Self:
        """The recording at `place`, the part of the SPEC after its colon; raises UsageError."""

    @classmethod
    def stored(cls, content: bytes) -> Self:
        """The recording that a run keeps as `content`."""

    def content(self) -> bytes:
        """What is stored with a run, so that it can be resumed and replayed without the original."""

    def maker(self, case: str, repeat: int) -> AgentMaker | None:
        """A function that makes the agent of an episode; None if the recording has nothing for it."""


def recording_kind(spec: str) -> type[SeatRecording] | None:
    """The class of the recording that a SPEC names; None for the SPEC of anything else."""
    name, colon, _ = spec.partition(":")
    if not colon or name not in plugin_names(RECORDINGS):
        return None
    kind: type[SeatRecording] = load_plugin(RECORDINGS, name)
    return kind


def recording_forms() -> list[str]:
    """How the SPECs of the installed recordings are written."""
    return [form for name in plugin_names(RECORDINGS) if (form := load_plugin(RECORDINGS, name).FORM)]


def silent_repeats(recordings: Mapping[str, SeatRecording], case: str, repeats: int) -> tuple[list[int], str]:
    """The repeats of a case for which one of the recordings has nothing, and a sentence that says so.

    `recordings` are by SPEC. A case is left out once, however many repeats it has.
    """
    by_spec: dict[str, list[int]] = {}
    for repeat in range(1, repeats + 1):
        if silent := next((spec for spec, one in recordings.items() if one.maker(case, repeat) is None), ""):
            by_spec.setdefault(silent, []).append(repeat)
    every = sorted(repeat for some in by_spec.values() for repeat in some)
    notes = []
    for spec, some in by_spec.items():
        where = f" in {'repeats' if len(some) > 1 else 'repeat'} {', '.join(map(str, some))}"
        shown = spec if recordings[spec].FORM else spec.partition("#")[0]  # the rest is a digest
        notes.append(f"{shown} has nothing for it{where if len(some) < repeats else ''}")
    return every, "; ".join(notes)


class RecordedReplies:
    """`replies:PATH#MODEL`: the replies in a file, the same ones in every repeat."""

    FORM: ClassVar[str] = "replies:PATH"

    def __init__(self, replies: Mapping[str, Sequence[RecordedReply]]) -> None:
        self._replies = replies

    @classmethod
    async def read(cls, place: str, seat: str, store: Store) -> Self:
        """The replies in a file, of one model if `#MODEL` names it."""
        path, _, model = place.partition("#")
        return cls(read_replies(Path(path), model or None))

    @classmethod
    def stored(cls, content: bytes) -> Self:
        """The replies that a run keeps."""
        table = msgspec.json.decode(content, type=dict[str, list[tuple[str, str]]])
        return cls(
            {case: [RecordedReply(text, thinking) for text, thinking in replies] for case, replies in table.items()}
        )

    def content(self) -> bytes:
        """The replies by case, each as (text, thinking)."""
        return msgspec.json.encode(
            {case: [[reply.text, reply.thinking] for reply in replies] for case, replies in self._replies.items()}
        )

    def maker(self, case: str, repeat: int) -> AgentMaker | None:
        """A function that makes an agent with the replies to a case."""
        replies = self._replies.get(case)
        return None if replies is None else lambda seat: Replies(replies)


class RecordedActions:
    """`recorded:RUN`: the actions that the seat took in the same case and repeat of another run."""

    FORM: ClassVar[str] = "recorded:RUN"
    AGENT: ClassVar[type[ActionReplay]] = ActionReplay
    """The agent that takes the actions of an episode."""

    def __init__(self, actions: Mapping[tuple[str, int], Sequence[Action]]) -> None:
        self._actions = actions

    @classmethod
    async def read(cls, place: str, seat: str, store: Store) -> Self:
        """The actions of `seat` in the run `place` of the store; raises UsageError if there are none."""
        actions = {}
        async for trajectory in await Run.open(store, place):
            if acted := tuple(event.action for event in trajectory.acted(seat)):
                actions[trajectory.opened.case, trajectory.opened.repeat] = acted
        if not actions:
            raise UsageError(f"recorded:{place}: seat {seat} took no action in that run")
        return cls(actions)

    @classmethod
    def stored(cls, content: bytes) -> Self:
        """The actions that a run keeps."""
        table = msgspec.json.decode(content, type=list[tuple[str, int, list[Action]]])
        return cls({(case, repeat): tuple(actions) for case, repeat, actions in table})

    def content(self) -> bytes:
        """The actions, as (case, repeat, actions)."""
        return msgspec.json.encode([[case, repeat, actions] for (case, repeat), actions in self._actions.items()])

    def maker(self, case: str, repeat: int) -> AgentMaker | None:
        """A function that makes an agent with the actions of an episode."""
        actions = self._actions.get((case, repeat))
        return None if actions is None else lambda seat: self.AGENT(actions)


class ImportedActions(RecordedActions):
    """`imported:NAME`: what a seat did in results that `wardround import` read; only an import makes one."""

    FORM: ClassVar[str] = ""  # no user names one
    AGENT: ClassVar[type[ActionReplay]] = ImportedTurns

    @classmethod
    async def read(cls, place: str, seat: str, store: Store) -> Self:
        """The recording that the import put into the store under the digest after `#`; raises UsageError if missing."""
        _, mark, digest = place.rpartition("#")
        try:
            content = await store.get(digest) if mark else b""
        except TextLost:
            content = b""
        if not content:
            raise UsageError(
                f"imported:{place} ({seat}) is not a recording in this store: `wardround import` makes them"
            )
        return cls.stored(content)
