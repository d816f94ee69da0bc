"""Tells whether what was read from a doctor's reply is a move, and what shape a reply has that is none."""

import re
from collections.abc import Sequence
from typing import Literal, TypeVar

import msgspec

from wardround.engine.events import Acted
from wardround.engine.records import Said
from wardround.scenarios.parsers.moves import Conclusion, DoctorOrder, Fault, Move, PatientQuestion, Unusable
from wardround.scenarios.parsers.nonanswers import (
    NO_INSTRUCTIONS,
    Instructions,
    has_refusal,
    plays_other,
    postponed,
    refuses,
    template,
)
from wardround.scenarios.parsers.reply_text import answer_part

Shape = Literal[
    "empty",
    "only_thinking",
    "tool_call",
    "content_filter",
    "refusal",
    "template",
    "dialogue",
    "truncated",
    "other_language",
    "not_possible",
    "names_nothing",
    "no_heading",
    "bad_arguments",
]

SHAPES: dict[Shape, str] = {
    "empty": "no text at all",
    "only_thinking": "thinking, and no text after it",
    "tool_call": "a call of a tool in place of text",
    "content_filter": "cut off, or taken, by a filter of the model's endpoint",
    "refusal": "a refusal",
    "template": "a placeholder that was not filled in, or a copy of the instruction",
    "dialogue": "the words of another seat, made up",
    "truncated": "cut off at the longest reply allowed",
    "other_language": "in another script than the question",
    "not_possible": "a move that is not possible now",
    "names_nothing": "the right form with nothing in it",
    "no_heading": "text without the form that was asked for",
    "bad_arguments": "an action whose arguments make no move",
}
"""The shapes of unread replies, in words."""

_MEANT: dict[str, Fault] = {"refusal": "refusal", "template": "empty", "dialogue": "empty"}
"""Shapes that explain why a reply has no move, so that the parser is not at fault."""
_TOOLS = ("tool_calls", "function_call")
_TOOL_TEXT = ("<tool_call", "<function", '{"name"', '{"tool', '{"function', "<|tool")
_PLACEHOLDER = Unusable("empty", "a placeholder stands where the answer should", "template")
_REFUSAL = Unusable("refusal", "the reply refuses", "refusal")
_PUT_OFF = Unusable("empty", "the reply puts the answer off", "names_nothing")
MoveT = TypeVar("MoveT", bound=Move)


def checked_move(
    move: MoveT,
    event: Acted,
    instructions: Instructions = NO_INSTRUCTIONS,
    heard: Sequence[Said] = (),
    *,
    final: bool = True,
    published: bool = False,
) -> MoveT | Unusable:
    """Check the move that was read from the doctor's action; an unusable one is returned with its shape.

    These are not moves: text cut off by a filter, a bare refusal, a placeholder or a copy of the instruction, a
    postponed answer (if it is to be `final`), and a dialogue in which the doctor plays the other seats (quotes of
    `heard` are allowed). Under the `published` rules all of these are moves.
    """
    if published:
        if not isinstance(move, Unusable):
            return move
        return msgspec.structs.replace(move, shape=_fault_shape(event, move, NO_INSTRUCTIONS, ()))
    if event.finish == "content_filter":
        return Unusable("content_filter", "a filter of the model's endpoint cut the reply off", "content_filter")
    if event.finish == "refusal":
        return Unusable("refusal", "the model declined to answer", "refusal")
    if isinstance(move, Unusable):
        shape = _fault_shape(event, move, instructions, heard)
        called = shape == "tool_call" and event.action.text.strip()  # a call whose arguments no verb takes
        return msgspec.structs.replace(
            move, shape=shape, fault="unreadable" if called else _MEANT.get(shape, move.fault)
        )
    if event.action.verb == "reply" and _dialogue(answer_part(event.action.text), heard):
        return Unusable("empty", "the reply makes up what others say", "dialogue")
    if isinstance(move, PatientQuestion) and (fault := _no_question(move.text, instructions)):
        return fault
    if isinstance(move, Conclusion | PatientQuestion):
        if template(move.text, instructions):
            return _PLACEHOLDER
        if refuses(move.text):
            return _REFUSAL
        if final and isinstance(move, Conclusion) and postponed(move.text):
            return _PUT_OFF
    elif isinstance(move, DoctorOrder) and move.items and all(template(item, instructions) for item in move.items):
        return Unusable("empty", "a placeholder stands where the order should", "template")
    return move


def _no_question(text: str, instructions: Instructions) -> Unusable | None:
    """Why a text without a question mark is no question to the patient, if its last lines show it; else None."""
    if "?" in text or "\uff1f" in text:
        return None
    lines = text.splitlines()[-3:]
    if has_refusal(text):
        return _REFUSAL
    if any(_unfilled(line, instructions) for line in lines):
        return _PLACEHOLDER
    if any(postponed(_after_colon(line)) for line in lines if ":" in line or "\uff1a" in line):
        return _PUT_OFF
    return None


def _fault_shape(event: Acted, move: Unusable, instructions: Instructions, heard: Sequence[Said]) -> Shape:
    """The shape of an action that is not a move."""
    action = event.action
    if action.verb != "reply":
        return "not_possible" if move.fault == "unavailable" else "bad_arguments"
    text = answer_part(action.text).strip()
    if event.finish == "content_filter" or (event.finish == "refusal" and not text):
        return "content_filter" if event.finish == "content_filter" else "refusal"
    if not text:
        return _silence(event)
    if event.finish in _TOOLS or text.startswith(_TOOL_TEXT):
        return "tool_call"
    if has_refusal(text):
        return "refusal"
    if _dialogue(text, heard):
        return "dialogue"
    if template(text, instructions) or any(_unfilled(line, instructions) for line in text.splitlines()[-3:]):
        return "template"
    if event.finish == "length":
        return "truncated"
    if move.fault == "unavailable" or _foreign(text):
        return "not_possible" if move.fault == "unavailable" else "other_language"
    return "names_nothing" if move.fault == "empty" else "no_heading"


def _silence(event: Acted) -> Shape:
    if event.finish in _TOOLS or event.action.text.lstrip().startswith(_TOOL_TEXT):
        return "tool_call"
    if event.action.thinking.strip() or event.action.text.strip():
        return "only_thinking"
    return "truncated" if event.finish == "length" else "empty"


def _dialogue(text: str, heard: Sequence[Said]) -> bool:
    return plays_other(text, "doctor", [said.text for said in heard if said.seat != "doctor"])


def _after_colon(line: str) -> str:
    return re.split("[:\uff1a]", line, maxsplit=1)[-1]


def _unfilled(line: str, instructions: Instructions) -> bool:
    """Whether a line is a placeholder, or a heading with one."""
    return template(line, instructions) or template(_after_colon(line), instructions)


def _foreign(text: str) -> bool:
    """Whether most letters are from scripts other than Latin."""
    letters = [letter for letter in text[:4_000] if letter.isalpha()]
    return bool(letters) and 2 * sum(ord(letter) > 0x24F for letter in letters) > len(letters)
