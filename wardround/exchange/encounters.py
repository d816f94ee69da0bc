"""The source of every export: an episode with its scores and its truth, and the chats of a seat."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from wardround.engine.errors import CaseLost
from wardround.engine.events import Acted, Called, Row
from wardround.engine.records import EpisodeRow, Json, Message, Score, images_of, with_whole_images
from wardround.engine.trajectory import Trajectory
from wardround.runs.header import RunHeader, SeatHeader
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case
from wardround.scenarios.illustrations import case_images
from wardround.scenarios.question_item import QuestionItem, solution
from wardround.scoring.scorings import run_scores
from wardround.scoring.stored_scores import StoredScores

AT_ONCE = 128
"""Episodes that are read together, and the most that are in memory."""


@dataclass(frozen=True, slots=True)
class Encounter:
    """One episode: its row, its events, and its scores by name."""

    row: EpisodeRow
    trajectory: Trajectory
    scores: Mapping[str, Score]

    @property
    def ending(self) -> str:
        """How it ended, as CAUSE or CAUSE/REASON; `open` while it goes on."""
        row = self.row
        return f"{row.cause}/{row.reason}" if row.cause and row.reason else row.cause or "open"

    def values(self) -> dict[str, float | None]:
        """The scores as numbers; None where a score has no value."""
        return {name: score.value for name, score in self.scores.items()}

    def reasons(self) -> dict[str, str]:
        """Why scores are 0 or missing, by name."""
        return {name: score.reason for name, score in self.scores.items() if score.reason}


class StoredEncounter(NamedTuple):
    """One episode as it is stored: its row, its events, still unchecked, and its scores by name."""

    row: EpisodeRow
    log: Sequence[Row]
    scores: Mapping[str, Score]


async def encounters(run: Run) -> AsyncGenerator[Encounter, None]:
    """The episodes that have begun, in order, each with the scores that reports show.

    Raises LogError if an event of one was altered or is missing.
    """
    async with aclosing(stored_encounters(run)) as every:
        async for some in every:
            for one in some:
                yield Encounter(one.row, run.trajectory_of(one.row, one.log), one.scores)


async def stored_encounters(run: Run) -> AsyncGenerator[Sequence[StoredEncounter], None]:
    """The episodes that have begun, in order, in groups that the store reads together."""
    async with aclosing(run_scores(run)) as stored:
        waiting: StoredScores | None = await anext(stored, None)
        async with aclosing(_pages(run)) as pages:
            async for rows in pages:
                logs = await run.logs(rows)
                some: list[StoredEncounter] = []
                for row in rows:
                    mine: dict[str, Score] = {}
                    while waiting is not None and waiting.episode == row.id:
                        mine.update((score.name, score) for score in waiting.scores)
                        waiting = await anext(stored, None)
                    if row.events:
                        some.append(StoredEncounter(row, logs.get(row.id, ()), mine))
                yield some


async def _pages(run: Run) -> AsyncGenerator[Sequence[EpisodeRow], None]:
    """The rows of all episodes, in order, `AT_ONCE` together."""
    rows: list[EpisodeRow] = []
    async for row in run.store.episodes(run.name):
        rows.append(row)
        if len(rows) == AT_ONCE:
            yield rows
            rows = []
    yield rows


async def opening_and_target(run: Run, case: str) -> tuple[str, str]:
    """What a doctor reads first of a case, and the right answer; both "" if the case is lost or is an article."""
    try:
        item = await run.item(case)
    except CaseLost:
        return "", ""
    if isinstance(item, QuestionItem):
        return item.question, solution(item)
    if not isinstance(item, Case):
        return "", ""
    return item.opening, item.truth.treatment if goal_of_run(run) == "treatment" else item.truth.diagnosis


def goal_of_run(run: Run) -> str:
    """What a run asks a doctor for, `diagnosis` or `treatment`; `diagnosis` for an evaluation."""
    return run.header.scenario.goal if isinstance(run.header, RunHeader) else "diagnosis"


def model_name(seat: SeatHeader | None) -> str:
    """The name that exports use for the model of a seat: the SPEC of its model, or of its agent."""
    return seat.model_spec if seat is not None else "none"


def utc_stamp(at: float) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def action_text(action: Acted) -> str:
    """The text of an action, or, if it has none, its verb and arguments as JSON."""
    return action.action.text or msgspec.json.encode({action.action.verb: action.action.args}).decode()


def chat_message(message: Message) -> dict[str, Json]:
    """A message as a chat endpoint takes it, with its tool calls, name and parts."""
    return {"role": message.role, "content": message.content, **(message.more or {})}


async def chats(run: Run, trajectory: Trajectory, seat: str) -> list[list[dict[str, Json]]]:
    """The whole conversations of a seat with its model, each once; `reasoning_content` is a reply's thinking.

    Images are those that the model got, as data URLs; if the case is lost, the references to them stay. A conversation
    that a later one continues is left out. A seat that made no call has one conversation: what the seats said.
    """
    calls = [call for call in trajectory.called(seat) if call.reply]
    if not calls:
        return [chat_of_words(trajectory, seat)]
    thoughts = {call.reply.text: call.reply.thinking for call in calls if call.reply and call.reply.thinking}
    images: Mapping[str, str] = {}
    if any(images_of(message) for call in calls for message in call.new if message.more):
        with suppress(CaseLost):
            images = case_images(await run.item(trajectory.opened.case))
    whole = [_whole(trajectory, call, thoughts, images) for call in calls]
    return [
        chat
        for place, chat in enumerate(whole)
        if not any((list(later[: len(chat)]) == list(chat)) for later in whole[place + 1 :] if len(later) >= len(chat))
    ]


def _whole(
    trajectory: Trajectory, call: Called, thoughts: Mapping[str, str], images: Mapping[str, str]
) -> list[dict[str, Json]]:
    assert call.reply is not None
    said = (*trajectory.messages(call), call.reply.as_message())
    chat = [chat_message(with_whole_images(message, images) if images else message) for message in said]
    for message in chat:
        if message["role"] == "assistant" and (thinking := thoughts.get(message["content"], "")):
            message["reasoning_content"] = thinking
    return chat


def chat_of_words(trajectory: Trajectory, seat: str) -> list[dict[str, Json]]:
    """What the seats said, as the chat of one of them."""
    return [
        {"role": "assistant" if event.seat == seat else "user", "name": event.seat, "content": action_text(event)}
        for event in trajectory.acted()
    ]
