"""The doctor's moves that several scenarios share, actions that are no moves, and the counts and endings of an episode.

A scenario reads an action (`typed_move`, or a parser of its own) and checks the move by `checked_move`.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Literal, Self, TypeVar, get_args

import msgspec
from pydantic import Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, object_schema
from wardround.scenarios.case import CaseResult
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

Fault = Literal["", "empty", "unavailable", "content_filter", "refusal", "unreadable"]
"""Why a reply was unusable, mildest first: no text, a move that is not possible now, text cut off by a content filter,
a refusal, text without a recognisable move."""
_FAULTS: tuple[Fault, ...] = get_args(Fault)

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
"""What a reply that is no move looks like; `evaluators/report/warnings.py` describes each in words."""


class EpisodeTally(msgspec.Struct, frozen=True):
    """Counts of one episode: doctor actions, unusable actions, turns used, rounds of orders.

    `fault` is the worst fault since the last usable reply. `shapes` counts unusable replies by shape.
    """

    replies: int = 0
    unusable: int = 0
    turns: int = 0
    orders: int = 0
    fault: Fault = ""
    shapes: Mapping[str, int] = {}

    def replied(self) -> "EpisodeTally":
        """Count one more action of the doctor."""
        return msgspec.structs.replace(self, replies=self.replies + 1)

    def usable(self) -> "EpisodeTally":
        """Mark the action just counted as usable."""
        return msgspec.structs.replace(self, fault="") if self.fault else self

    def faulted(self, fault: Fault, shape: str = "") -> "EpisodeTally":
        """Mark the action just counted as unusable."""
        kept = max(self.fault, fault, key=_FAULTS.index)
        shapes = {**self.shapes, shape: self.shapes.get(shape, 0) + 1} if shape else self.shapes
        return msgspec.structs.replace(self, unusable=self.unusable + 1, fault=kept, shapes=shapes)

    def turned(self) -> "EpisodeTally":
        """Count one more turn."""
        return msgspec.structs.replace(self, turns=self.turns + 1)

    def ordered(self) -> "EpisodeTally":
        """Count one more round of orders."""
        return msgspec.structs.replace(self, orders=self.orders + 1)

    def facts(self, answer: Mapping[str, str] | None = None) -> dict[str, Json]:
        """The facts stored with the closed event; `answer` is left out if there is none."""
        counts: dict[str, Json] = {
            "replies": self.replies,
            "unusable": self.unusable,
            "turns": self.turns,
            "orders": self.orders,
        }
        if self.shapes:
            counts["unread_shapes"] = dict(self.shapes)
        return {"answer": dict(answer), **counts} if answer else counts

    def completed(self, **answer: str) -> Ending:
        """The ending of an episode that the doctor answered."""
        return Ending("completed", facts=self.facts(answer))

    def unanswered(self, detail: str) -> Ending:
        """The ending of an episode whose doctor used up its budget without an answer.

        The worst fault since the last usable reply decides: unreadable (cause `parser`, so that a faulty parser is
        noticed), a refusal, or a content filter; without any of these, the doctor gave no answer.
        """
        if self.fault == "unreadable":
            return Ending("parser", "unreadable", detail, self.facts())
        reason = self.fault if self.fault in ("refusal", "content_filter") else "no_answer"
        return Ending("doctor", reason, detail, self.facts())

    def failed(self, seat: str, reason: str, detail: str) -> Ending:
        """The ending of an episode in which another seat failed."""
        return Ending(seat, reason, detail, self.facts())


class GameState(msgspec.Struct, frozen=True, kw_only=True):
    """The part of the state that all games with a doctor share: the words heard, the counts and the ending.

    ::

        state = state.replied(event)  # the doctor's words, counted
        state = state.warned(event.seq, fault, "Write one diagnosis.", most=3)  # or ended, after three warnings
    """

    heard: tuple[Said, ...] = ()
    tally: EpisodeTally = EpisodeTally()
    ending: Ending | None = None

    def replied(self, event: Acted) -> Self:
        """The state after an action of the doctor, before it is read."""
        action = event.action
        said = Said(event.seq, "doctor", action.verb, action.text, action.args)
        return msgspec.structs.replace(self, heard=(*self.heard, said), tally=self.tally.replied())

    def warned(self, seq: int, fault: "Unusable", text: str, most: int, kind: str = "unusable") -> Self:
        """The state after a warning by the desk, or the end of the episode if `most` warnings were not enough.

        `kind` describes the replies in the ending's detail.
        """
        tally = self.tally.faulted(fault.fault, fault.shape)
        if tally.unusable > most:
            detail = f"{tally.unusable} {kind} replies; the last: {fault.why}"
            return msgspec.structs.replace(self, tally=tally, ending=tally.unanswered(detail))
        said = Said(seq, "desk", "warning", text, {"reason": fault.fault, "why": fault.why})
        return msgspec.structs.replace(self, tally=tally, heard=(*self.heard, said))


ANSWERING = ("examiner", "patient")
"""The seats that answer the doctor."""

_HEARD = ("asked", "kind", "state", "test", "text", "images")
"""Fields shown to the doctor; references, match rule and score, points and the mark of an assumed value are not."""

RESULT_STATES = frozenset({"reported", "normal"})
"""States of an answer that hold a result."""


def answers_of(action: Action) -> list[Mapping[str, Json]]:
    """The structured answers of an `answer` action; anything that is not an object in a list is ignored."""
    rows = action.args.get("answers", [])
    return [answer for answer in rows if isinstance(answer, Mapping)] if isinstance(rows, list | tuple) else []


def tells_a_story(seat: str, action: Action, *, examined: bool) -> bool:
    """Whether a patient tells its story: it answers no order, and an examiner is there or its topics are named."""
    return seat == "patient" and action.args.get("answers") is None and (examined or "topics" in action.args)


def heard(answers: Iterable[Mapping[str, Json]]) -> list[Json]:
    """The answers, reduced to the fields that the doctor may see."""
    return [{name: answer[name] for name in _HEARD if name in answer} for answer in answers]


def illustrated(
    answers: Iterable[Mapping[str, Json]], record: Iterable[Mapping[str, Json]], images: str, text: str
) -> tuple[list[Mapping[str, Json]], str]:
    """The answers with the images of the results that they cite, and the text; under `alone` without their reports."""
    by_ref = {row["ref"]: row["images"] for row in record if row.get("images")} if images != "none" else {}
    shown: list[Mapping[str, Json]] = []
    for answer in answers:
        refs = answer.get("refs") or ()
        mine = [image for ref in refs for image in by_ref.get(ref, ())] if isinstance(refs, list | tuple) else []
        if mine and images == "alone":
            shown.append(
                {**answer, "images": mine, "text": f"{answer.get('test') or answer.get('asked')}: see the image."}
            )
        else:
            shown.append({**answer, "images": mine} if mine else answer)
    alone = images == "alone" and any("images" in answer for answer in shown)
    return shown, texts_of(shown) if alone else text


def texts_of(answers: Iterable[Mapping[str, Json]]) -> str:
    """The texts of the answers, one per line, without repeats."""
    return "\n".join(dict.fromkeys(str(answer.get("text", "")) for answer in answers))


def record_rows(items: Sequence[CaseResult]) -> list[Json]:
    """Results of a case, in the form that is sent to the seat that looks them up."""
    written: list[dict[str, Json]] = msgspec.to_builtins(items)
    return [row if row["images"] else {name: row[name] for name in row if name != "images"} for row in written]


Answers = Annotated[
    int, Field(ge=1, le=20, description="Diagnoses asked for; more than one: a ranked list, scored by its first ones.")
]


def asking(brief: str, answers: int, prompts: Prompts) -> str:
    """The task description of a scenario; it also asks for a ranked list if more than one answer is wanted."""
    return brief if answers == 1 else f"{brief}\n\n{prompts['answers/ranked'].render(count=str(answers))}"


Ordered = Literal["examination", "lab", "microbiology", "imaging", "any"]
ORDERED: tuple[Ordered, ...] = ("examination", "lab", "microbiology", "imaging", "any")


class DoctorOrder(msgspec.Struct, frozen=True):
    """A request for results. An examination without items asks for all of it. `text` is the request as written."""

    kind: Ordered
    items: tuple[str, ...] = ()
    text: str = ""

    def known(self) -> dict[str, Json]:
        """The order in the form that is sent to the seat that answers it."""
        return {"kind": self.kind, "items": list(self.items), "text": self.text or ", ".join(self.items)}

    def said(self, seq: int) -> Said:
        """The order as the seat that answers it reads it."""
        known = self.known()
        return Said(seq, "doctor", "order", str(known["text"]), known)


class Pick(msgspec.Struct, frozen=True):
    """A kind of action chosen without naming the tests yet (work-up)."""

    kind: Literal["examination", "lab", "microbiology", "imaging", "output"]


class PatientQuestion(msgspec.Struct, frozen=True):
    """A question to the patient."""

    text: str


class Conclusion(msgspec.Struct, frozen=True):
    """The doctor's answer."""

    text: str


class Unusable(msgspec.Struct, frozen=True):
    """An action that is not a move: `fault` is its kind, `why` a sentence for readers, `shape` how its reply looks."""

    fault: Fault
    why: str
    shape: Shape | Literal[""] = ""


Move = DoctorOrder | Pick | PatientQuestion | Conclusion | Unusable


def typed_move(action: Action, goal: str) -> DoctorOrder | PatientQuestion | Conclusion | Unusable:
    """Read the move of a typed verb (`order`, `ask`, `conclude`); `goal` names the argument that holds the answer.

    Any JSON is accepted: an action that is not a move gives Unusable, never an exception.
    """
    if action.verb == "conclude":
        answer = action.args.get(goal)
        if isinstance(answer, str) and answer.strip():
            return Conclusion(answer.strip())
        return Unusable("empty", f"conclude without a {goal}")
    if action.verb == "ask":
        question = action.text.strip()
        return PatientQuestion(question) if question else Unusable("empty", "ask without a question")
    return _order(action) if action.verb == "order" else Unusable("unavailable", f"there is no verb {action.verb!r}")


def verb_schemas(goal: str, verbs: Sequence[str], *, whole_list: bool = False) -> dict[str, Json]:
    """The schemas of the typed verbs that `typed_move` reads, for `View.schemas`."""
    items = {"type": "array", "items": {"type": "string"}, "description": "The names of what is ordered."}
    kinds = {"type": "string", "enum": list(ORDERED), "description": "The kind; an examination may be without items."}
    ranked = "The diagnoses, the most likely first, one a line." if whole_list else f"The {goal}."
    every: dict[str, Json] = {
        "order": schema_of("Order an examination or tests, and be given their results.", kind=kinds, items=items),
        "ask": schema_of("Ask the patient.", text={"type": "string", "description": "The question."}),
        "conclude": schema_of(
            "End the encounter with your answer.", **{goal: {"type": "string", "description": ranked}}
        ),
    }
    return {verb: every[verb] for verb in verbs}


def schema_of(description: str, **properties: Json) -> dict[str, Json]:
    """A verb's entry in `View.schemas`: every argument is required, and there are no others."""
    return {"description": description, "parameters": object_schema(**properties)}


def _order(action: Action) -> DoctorOrder | Unusable:
    kind = next((kind for kind in ORDERED if kind == action.args.get("kind", "any")), None)
    if kind is None:
        return Unusable("unreadable", f"order of an unknown kind; kinds: {', '.join(ORDERED)}")
    names = action.args.get("items", [])
    if isinstance(names, str):
        names = [names]
    if not isinstance(names, list | tuple) or not all(isinstance(item, str) for item in names):
        return Unusable("unreadable", "order whose items are no list of names")
    items = tuple(item.strip() for item in names if item.strip())
    if not items and kind != "examination":
        return Unusable("empty", f"order of kind {kind} without items")
    return DoctorOrder(kind, items)


_MEANT: dict[str, Fault] = {"refusal": "refusal", "template": "empty", "dialogue": "empty"}
"""The shapes that explain why a reply has no move, with the fault that each shows; the parser is not at fault."""
_TOOLS = ("tool_calls", "function_call")
_TOOL_TEXT = ("<tool_call", "<function", '{"name"', '{"tool', '{"function', "<|tool")
_PLACEHOLDER = Unusable("empty", "a placeholder stands where the answer should", "template")
_REFUSAL = Unusable("refusal", "the reply refuses", "refusal")
_PUT_OFF = Unusable("empty", "the reply puts the answer off", "names_nothing")
_MADE_UP = Unusable("empty", "the reply makes up what others say", "dialogue")
_NO_TEST = Unusable("empty", "a placeholder stands where the order should", "template")
_BY_ENDPOINT = {
    "content_filter": Unusable(
        "content_filter", "a filter of the model's endpoint cut the reply off", "content_filter"
    ),
    "refusal": Unusable("refusal", "the model declined to answer", "refusal"),
}
"""The endings of a call (`finish`) that make its reply unusable, whatever its text."""
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
    """The move that was read from the doctor's action, or Unusable, with its shape, if it is none.

    These are not moves: text cut off by a filter, a bare refusal, a placeholder or a copy of the `instructions`, a
    postponed answer if it must be `final`, and a dialogue in which the doctor plays the other seats. Quotes of what the
    doctor has `heard` are allowed. Under the `published` rules all of these are moves.
    """
    if published:
        if not isinstance(move, Unusable):
            return move
        return msgspec.structs.replace(move, shape=_fault_shape(event, move, NO_INSTRUCTIONS, ()))
    if event.finish in _BY_ENDPOINT:
        return _BY_ENDPOINT[event.finish]
    if isinstance(move, Unusable):
        return _explained(event, move, instructions, heard)
    if event.action.verb == "reply" and _dialogue(answer_part(event.action.text), heard):
        return _MADE_UP
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
        return _NO_TEST
    return move


def _explained(event: Acted, move: Unusable, instructions: Instructions, heard: Sequence[Said]) -> Unusable:
    """An unusable move with the shape of its reply, and with the fault that the shape shows."""
    shape = _fault_shape(event, move, instructions, heard)
    called = shape == "tool_call" and event.action.text.strip()  # a call whose arguments no verb takes
    return msgspec.structs.replace(move, shape=shape, fault="unreadable" if called else _MEANT.get(shape, move.fault))


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
    if event.finish == "content_filter":
        return "content_filter"
    if not text:
        return "refusal" if event.finish == "refusal" else _silence(event)
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
    if move.fault == "unavailable":
        return "not_possible"
    if _foreign(text):
        return "other_language"
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
