"""What every export is made from: an episode with its scores and its truth, and the chats of a seat."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import msgspec

from wardround.engine.errors import CaseLost
from wardround.engine.events import Acted, Called
from wardround.engine.records import EpisodeRow, Message, Score
from wardround.engine.trajectory import Trajectory
from wardround.runs.header import SeatHeader
from wardround.runs.stored_run import Run
from wardround.scenarios.case import Case
from wardround.scenarios.question_item import QuestionItem, solution
from wardround.scoring.scorings import chosen_scores, shown_scorings
from wardround.scoring.stored_scores import StoredScores, scores_of_evaluation


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


async def encounters(run: Run) -> AsyncGenerator[Encounter, None]:
    """The episodes that have begun, in order, each with the scores that reports show; one is in memory at a time."""
    scores = (
        scores_of_evaluation(run) if run.evaluated else chosen_scores(run, await shown_scorings(run.store, run.name))
    )
    async with aclosing(scores) as stored:
        waiting: StoredScores | None = await anext(stored, None)
        async for row in run.store.episodes(run.name):
            mine: dict[str, Score] = {}
            while waiting is not None and waiting.episode == row.id:
                mine.update((score.name, score) for score in waiting.scores)
                waiting = await anext(stored, None)
            if row.events:
                yield Encounter(row, await run.trajectory(row), mine)


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
    scenario = run.json.get("scenario", {})
    truth = item.truth.treatment if scenario.get("goal") == "treatment" else item.truth.diagnosis
    return item.opening, truth


def model_of(seat: SeatHeader | None) -> str:
    """What stands for the model of a seat: the SPEC of its model, or of its agent."""
    return seat.model_spec if seat is not None else "none"


def stamp(at: float) -> str:
    """A time as ISO 8601 in UTC."""
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")


def words(action: Acted) -> str:
    """What an action says: its text, or for an action without one its verb and arguments as JSON."""
    return action.action.text or msgspec.json.encode({action.action.verb: action.action.args}).decode()


def as_sent(message: Message) -> dict[str, Any]:
    """A message as a chat endpoint takes it, with its tool calls, name and parts."""
    return {"role": message.role, "content": message.content, **(message.more or {})}


def chats(trajectory: Trajectory, seat: str) -> list[list[dict[str, Any]]]:
    """The conversations of a seat with its model, whole, each once; `reasoning_content` is a reply's thinking.

    A conversation that a later one continues is left out. A seat that made no call has one: what the seats said.
    """
    calls = [call for call in trajectory.called(seat) if call.reply]
    if not calls:
        return [_heard(trajectory, seat)]
    thoughts = {call.reply.text: call.reply.thinking for call in calls if call.reply and call.reply.thinking}
    whole = [_whole(trajectory, call, thoughts) for call in calls]
    return [
        chat
        for place, chat in enumerate(whole)
        if not any(_begins(chat, later) for later in whole[place + 1 :] if len(later) >= len(chat))
    ]


def _whole(trajectory: Trajectory, call: Called, thoughts: Mapping[str, str]) -> list[dict[str, Any]]:
    assert call.reply is not None
    chat = [as_sent(message) for message in (*trajectory.messages(call), call.reply.as_message())]
    for message in chat:
        if message["role"] == "assistant" and (thinking := thoughts.get(message["content"], "")):
            message["reasoning_content"] = thinking
    return chat


def _begins(chat: Sequence[dict[str, Any]], later: Sequence[dict[str, Any]]) -> bool:
    return list(later[: len(chat)]) == list(chat)


def _heard(trajectory: Trajectory, seat: str) -> list[dict[str, Any]]:
    return [
        {"role": "assistant" if event.seat == seat else "user", "name": event.seat, "content": words(event)}
        for event in trajectory.acted()
    ]
