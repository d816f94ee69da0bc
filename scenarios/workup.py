"""The full-path work-up of an admission: history first, then examination and tests on request, then the diagnosis."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.scenarios import actions
from wardround.scenarios.answers import answers, found, heard, lines, rows
from wardround.scenarios.case import Case
from wardround.scenarios.moves import Conclusion, Move, Order, Pick, Question, Unusable, typed
from wardround.scenarios.nonanswers import Instructions
from wardround.scenarios.published import moves as published
from wardround.scenarios.ranked import Answers, asking
from wardround.scenarios.records import items
from wardround.scenarios.tally import Tally
from wardround.scenarios.unread import looked_at, with_shape

_with = msgspec.structs.replace

Stage = Literal["choose", "list", "diagnose", "lookup"]

NAMES = {"examination": "PE", "lab": "LAB", "imaging": "IMAGE", "microbiology": "MICRO"}
"""The protocol's name of each kind, in the order in which the paper offers them."""

_TYPES = {
    "examination": "Physical Examination",
    "lab": "Laboratory Test",
    "imaging": "Imaging Test",
    "microbiology": "Microbiology Test",
    "any": "Test",
}


class WorkupSettings(BaseModel):
    """The rules that a run may change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_turns: int = Field(default=30, ge=1, le=1000, description="Replies a doctor has; the last must be the answer.")
    max_warnings: int = Field(
        default=3, ge=0, le=1000, description="Unusable replies answered by a warning; one more ends it."
    )
    rules: Literal["default", "published"] = Field(
        default="default",
        description="published: a type can be had once, and a test that matches nothing is passed over in silence.",
    )
    reading: Literal["tolerant", "published"] = Field(
        default="tolerant",
        description="How replies are read; published: as its code does, by parts of words, with a treatment demanded.",
    )
    policy: Literal["strict", "normal-default"] = Field(
        default="strict",
        description="What the examiner tells of a test that the record has not: so, or a normal value.",
    )
    answers: Answers = 1


class State(msgspec.Struct, frozen=True):
    """Where a work-up stands; `used` are the kinds chosen so far, `answered` those with results."""

    brief: str
    record: list[Json]
    kinds: frozenset[str]
    stage: Stage = "choose"
    asked: actions.Asked = ""
    order: Order | None = None
    heard: tuple[Said, ...] = ()
    orders: tuple[Said, ...] = ()
    used: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    tally: Tally = Tally()
    ending: Ending | None = None


class Workup:
    """History first, then examination and tests on request, up to the diagnosis (MultiCogEval, section A.3).

    Each episode has its own budget of replies.

    ::

        choose --PE--------------------------------> lookup --results told, actions offered--> choose
        choose --LAB|MICRO|IMAGE--> list --the list--> lookup
        choose --a list with its heading-------------> lookup
        choose --OUTPUT--> diagnose --Diagnosis: ...--> completed
        choose|list --OUTPUT and Diagnosis: ... in one reply--> completed
        any --unusable reply--> warning, the same stage; one too many: unanswered
        any --one reply left--> diagnose (the last reply can only be the answer); none left: unanswered

    Unanswered is parser/unreadable, doctor/refusal, doctor/content_filter or doctor/no_answer (`Tally.unanswered`).
    The doctor acts in every stage but `lookup`, which is the examiner's. Typed verbs skip the text: `order` goes to
    lookup from choose and list, `conclude` completes from anywhere.
    """

    name = "workup"
    seats: Sequence[str] = ("doctor", "examiner")
    goal = "diagnosis"
    Settings = WorkupSettings
    SAMPLING: ClassVar[dict[str, float]] = {"temperature": 0.8}
    REPEATS = 3

    def __init__(self, settings: WorkupSettings, prompts: Prompts) -> None:
        self.settings = settings
        self._prompts = prompts
        self._instructions = Instructions(prompts.of(self.name))
        self._published = settings.rules == "published"

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        return None if case.truth.diagnosis.strip() else "it has no diagnosis (truth.diagnosis is empty)"

    def start(self, case: Case) -> State:
        """The doctor has read the history and chooses."""
        record = items(case)
        brief = self._prompts["workup/start"].render(
            history=case.opening, actions=", ".join((*NAMES.values(), "OUTPUT"))
        )
        brief = asking(brief, self.settings.answers, self._prompts)
        state = State(brief, rows(record), frozenset(item.kind for item in record))
        return self._bounded(state, 0)

    def turn(self, state: State) -> str:
        """The seat that acts now."""
        return "examiner" if state.stage == "lookup" else "doctor"

    def view(self, state: State, seat: str) -> View:
        """What a seat may see."""
        if seat == "examiner":
            known = {
                "record": state.record,
                "policy": self.settings.policy,
                "order": state.order.known() if state.order else None,
            }
            return View(seat, self._prompts["workup/examiner"].text, state.orders, ("answer",), known)
        verbs = ("reply", "conclude") if state.stage == "diagnose" else ("reply", "order", "conclude")
        return View(seat, state.brief, state.heard, verbs)

    def ending(self, state: State) -> Ending | None:
        """How it ended, or None."""
        return state.ending

    def apply(self, state: State, event: Acted) -> State:
        """The state after an action."""
        action = event.action
        if state.stage == "lookup":
            return self._told(state, event.seq, action)
        said = Said(event.seq, "doctor", action.verb, action.text, action.args)
        state = _with(state, heard=(*state.heard, said), tally=state.tally.replied().turned())
        move = self._read(action.text, state) if action.verb == "reply" else typed(action, "diagnosis")
        if self.settings.reading != "published":
            move = looked_at(move, event, self._instructions, state.heard)
        elif isinstance(move, Unusable):
            move = with_shape(move, event)
        if isinstance(move, Conclusion):
            return _with(state, ending=state.tally.completed(diagnosis=move.text))
        if isinstance(move, Question):
            move = Unusable("unavailable", "there is no patient to ask")
        elif state.stage == "diagnose":
            move = move if isinstance(move, Unusable) else Unusable("unavailable", "only the diagnosis is possible now")
        elif self._published and not isinstance(move, Order) and set(NAMES) <= set(state.used):
            return self._demand(state, event.seq, "enforced")
        if isinstance(move, Unusable):
            return self._warn(state, event.seq, move)
        return self._moved(_with(state, tally=state.tally.usable()), event.seq, move)

    def _read(self, text: str, state: State) -> Move:
        """The move in a reply's text."""
        return published.read(text) if self.settings.reading == "published" else actions.read(text, state.asked)

    def _moved(self, state: State, seq: int, move: Pick | Order) -> State:
        """The state after a usable move that is no answer yet."""
        if isinstance(move, Pick) and move.kind == "output":
            return self._demand(state, seq, "output")
        if self._published and (isinstance(move, Pick) or move.kind == "examination"):
            if set(NAMES) <= set(state.used):
                return self._demand(state, seq, "enforced")
            if move.kind in state.used:
                return self._refuse(state, seq, "repeated", move.kind)
            if move.kind not in state.kinds:
                return self._refuse(_with(state, used=_and(state.used, move.kind)), seq, "none", move.kind)
        if self._published and isinstance(move, Order) and move.kind in state.answered:
            return self._warn(state, seq, Unusable("unavailable", f"{_TYPES[move.kind]}: can be had once"))
        if isinstance(move, Pick) and move.kind != "examination":
            return self._ask(state, seq, move.kind)
        order = move if isinstance(move, Order) else Order("examination")
        known = order.known()
        said = Said(seq, "doctor", "order", known["text"], known)
        orders = (*state.orders, said)
        return _with(state, stage="lookup", asked="", order=order, orders=orders, tally=state.tally.ordered())

    def _ask(self, state: State, seq: int, kind: actions.Asked) -> State:
        """LAB, MICRO and IMAGE need their list, unless there is no turn left to answer after it."""
        if self._left(state) == 1:
            return self._demand(state, seq, "enforced")
        state = _with(state, stage="list", asked=kind, used=_and(state.used, kind))
        return self._say(state, seq, "question", f"ask_{kind}")

    def _told(self, state: State, seq: int, action: Action) -> State:
        """The doctor hears the results, and what can be done next."""
        order, given, text = state.order, answers(action), action.text.strip()
        assert order is not None
        if action.verb != "answer" or not (text or given):
            detail = f"an order of kind {order.kind} was answered with nothing"
            return _with(state, ending=state.tally.failed("examiner", "no_answer", detail))
        said = Said(seq, "examiner", "answer", action.text, action.args)
        state = _with(state, stage="choose", order=None, orders=(*state.orders, said))
        if self._published and "answers" in action.args:  # what matches nothing is passed over
            given, text = found(given), ""
            if not given:
                return self._refuse(state, seq, "none_found", order.kind)
        if not self._published or order.kind == "examination":  # published: a list does not use up its action
            state = _with(state, used=_and(state.used, order.kind))
        state = _with(state, answered=_and(state.answered, order.kind))
        told = self._prompts[f"workup/results_{order.kind}"].render(
            results=text or lines(given), actions=self._offered(state)
        )
        heard_said = Said(seq, "examiner", "answer", told, {"kind": order.kind, "answers": heard(given)})
        return self._bounded(_with(state, heard=(*state.heard, heard_said)), seq)

    def _warn(self, state: State, seq: int, fault: Unusable) -> State:
        """A warning with its reason, or the end where the budget of warnings is used up."""
        state = _with(state, tally=state.tally.faulted(fault.fault, fault.shape))
        if state.tally.unusable > self.settings.max_warnings:
            detail = f"{state.tally.unusable} unusable replies; the last: {fault.why}"
            return _with(state, ending=state.tally.unanswered(detail))
        prompt = "warning"
        if state.stage == "diagnose":
            prompt = "warning_diagnosis"
        elif state.asked and not self._published:
            prompt = f"warning_{state.asked}"
        return self._say(state, seq, "warning", prompt, {"reason": fault.fault, "why": fault.why})

    def _refuse(self, state: State, seq: int, prompt: str, kind: str) -> State:
        """Under the published rules: the order is not carried out, another action is to be chosen."""
        state = _with(state, stage="choose", asked="")
        return self._say(state, seq, "refusal", prompt, {"reason": prompt, "kind": kind})

    def _demand(self, state: State, seq: int, prompt: str) -> State:
        """The answer, and nothing else, is asked for."""
        return self._say(_with(state, stage="diagnose", asked="output"), seq, "demand", prompt)

    def _say(self, state: State, seq: int, verb: str, prompt: str, args: dict[str, Json] | None = None) -> State:
        """The desk says something to the doctor."""
        kind = (args or {}).get("kind", "any")
        text = self._prompts[f"workup/{prompt}"].render(actions=self._offered(state), type=_TYPES[kind])
        said = Said(seq, "desk", verb, text, args or {})
        return self._bounded(_with(state, heard=(*state.heard, said)), seq)

    def _bounded(self, state: State, seq: int) -> State:
        """With one reply left only the answer is possible; with none it is over."""
        left = self._left(state)
        if left <= 0:
            detail = f"no diagnosis within {self.settings.max_turns} replies"
            return _with(state, ending=state.tally.unanswered(detail))
        return self._demand(state, seq, "enforced") if left == 1 and state.stage != "diagnose" else state

    def _left(self, state: State) -> int:
        return self.settings.max_turns - state.tally.replies

    def _offered(self, state: State) -> str:
        """The remaining actions: an examination is told in full; under the published rules every kind is had once."""
        if state.stage == "diagnose" or self._left(state) == 1:
            return "OUTPUT"
        gone = state.used if self._published else ("examination",) if "examination" in state.answered else ()
        return ", ".join([name for kind, name in NAMES.items() if kind not in gone] + ["OUTPUT"])


def _and(kinds: tuple[str, ...], kind: str) -> tuple[str, ...]:
    return kinds if kind in kinds else (*kinds, kind)
