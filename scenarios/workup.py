"""The full-path work-up of an admission: history first, then examination and tests on request, then the diagnosis."""

from typing import ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.scenarios import actions
from wardround.scenarios.answers import answers, found, heard, rows
from wardround.scenarios.case import Case
from wardround.scenarios.moves import Conclusion, Move, Order, Pick, Unusable, typed
from wardround.scenarios.records import items
from wardround.scenarios.tally import Tally

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


class Settings(BaseModel):
    """The rules that a run may change."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_turns: int = Field(default=30, ge=1, le=1000, description="Replies a doctor has; the last must be the answer.")
    max_warnings: int = Field(default=3, ge=0, le=1000, description="Unusable replies answered by a warning; one more ends it.")
    rules: Literal["default", "published"] = Field(
        default="default",
        description="published: a type can be had once, and a test that matches nothing is passed over in silence.",
    )
    policy: Literal["strict", "normal-default"] = Field(
        default="strict", description="What the examiner tells of a test that the record has not: so, or a normal value."
    )


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
    """Paper 000, section A.3, with a budget for each episode.

    ::

        choose --PE--------------------------------> lookup --results told, actions offered--> choose
        choose --LAB|MICRO|IMAGE--> list --the list--> lookup
        choose --a list with its heading-------------> lookup
        choose --OUTPUT--> diagnose --Diagnosis: ...--> completed
        choose|list --OUTPUT and Diagnosis: ... in one reply--> completed
        any --unusable reply--> warning, the same stage; one too many: parser/unreadable or doctor/no_answer
        any --one reply left--> diagnose (the last reply can only be the answer); none left: doctor/no_answer

    The doctor acts in every stage but `lookup`, which is the examiner's. Typed verbs skip the text: `order` goes to
    lookup from choose and list, `conclude` completes from anywhere.
    """

    name = "workup"
    seats = ("doctor", "examiner")
    goal = "diagnosis"
    Settings = Settings
    SAMPLING: ClassVar[dict[str, float]] = {"temperature": 0.8}
    REPEATS = 3

    def __init__(self, settings: Settings, prompts: Prompts) -> None:
        self.settings = settings
        self._prompts = prompts
        self._published = settings.rules == "published"

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        return None if case.truth.diagnosis.strip() else "it has no diagnosis (truth.diagnosis is empty)"

    def start(self, case: Case) -> State:
        """The doctor has read the history and chooses."""
        record = items(case)
        brief = self._prompts["workup/start"].render(history=case.opening, actions=", ".join((*NAMES.values(), "OUTPUT")))
        state = State(brief, rows(record), frozenset(item.kind for item in record))
        return self._enforce(state, 0) if self.settings.max_turns == 1 else state

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
        if state.stage == "lookup":
            return self._told(state, event.seq, event.action)
        action = event.action
        said = Said(event.seq, "doctor", action.verb, action.text, action.args)
        state = _with(state, heard=(*state.heard, said), tally=state.tally.replied().turned())
        move = actions.read(action.text, state.asked) if action.verb == "reply" else typed(action, "diagnosis")
        return self._moved(state, event.seq, move)

    def _moved(self, state: State, seq: int, move: Move) -> State:
        """The state after a doctor's move."""
        if isinstance(move, Conclusion):
            return _with(state, ending=state.tally.completed(diagnosis=move.text))
        if isinstance(move, Unusable):
            return self._warn(state, seq, move)
        if state.stage == "diagnose":
            return self._warn(state, seq, Unusable("unavailable", "only the diagnosis is possible now"))
        if self._published and len(state.used) == len(NAMES) and not (isinstance(move, Order) and move.kind != "examination"):
            return self._enforce(state, seq)
        if isinstance(move, Pick):
            return self._picked(state, seq, move)
        if isinstance(move, Order):
            return self._ordered(state, seq, move)
        return self._warn(state, seq, Unusable("unavailable", "there is nobody to ask here"))

    def _picked(self, state: State, seq: int, pick: Pick) -> State:
        """PE is an order at once; LAB, MICRO and IMAGE still need their list; OUTPUT needs the diagnosis."""
        if self._left(state) == 1:
            ...
