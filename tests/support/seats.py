"""Seats and views for tests of agents that need no scenario."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from wardround.engine.prompts import Prompts
from wardround.engine.records import Json, Said, View
from wardround.engine.seat import Seat, Voice

AGENT_PROMPTS = Path(__file__).resolve().parents[2] / "agents" / "prompts"
_PROMPTS = Prompts.load([AGENT_PROMPTS])


def a_seat(
    model: Voice | None = None,
    options: Mapping[str, Json] | None = None,
    knowledge: object = None,
    prompts: Prompts | None = None,
) -> Seat:
    """A doctor's seat."""
    return Seat("doctor", "case-1", 7, prompts or _PROMPTS, options or {}, model, knowledge)


def a_view(heard: Sequence[tuple[str, str]] = (), memo: Json = None, verbs: Sequence[str] = ("reply",)) -> View:
    """A view whose `heard` is (seat, text), numbered 1, 2, ... as events."""
    said = tuple(
        Said(seq, seat, "reply" if seat == "doctor" else "say", text) for seq, (seat, text) in enumerate(heard, 1)
    )
    return View("doctor", "The brief.", said, verbs, None, memo, len(said))
