"""The scenario of imported dialogues: any course of turns as another program recorded it, and the answer at its end."""

import re
from collections.abc import Sequence
from typing import ClassVar

import msgspec
from pydantic import BaseModel, ConfigDict

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Ending, Said, View
from wardround.scenarios.case import Case
from wardround.scenarios.parsers.reply_text import answer_part, clean_value, final_answer, named_diagnosis

_READY = re.compile(r"\bDIAGNOSIS READY\b[*_ ]*[:\uff1a][*_ ]*(?P<said>[^\n]+)", re.IGNORECASE)
_ORDERS = re.compile(r"\brequest test\b", re.IGNORECASE)
THEN = "then"
"""The field of an imported action's memo that names the seat of the next turn; "" after the last turn."""


class ImportedSettings(BaseModel):
    """An imported dialogue has no rules to set."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ImportedState(msgspec.Struct, frozen=True):
    """What was said, and whose turn the recording has next."""

    brief: str
    seat: str = "doctor"
    heard: tuple[Said, ...] = ()
    ending: Ending | None = None


class ImportedDialogue:
    """A dialogue that was recorded elsewhere, under rules of its own; the doctor begins.

    Each action says in its memo whose turn was next. After the last, the doctor's last words are read for a diagnosis:
    what an action states as its argument, a section or a sentence with the final answer, `DIAGNOSIS READY: ...`, else
    the whole text, unless it asks or orders and is not the only one. A dialogue without an answer ends by the doctor,
    `no_answer`.
    """

    name = "imported"
    goal = "diagnosis"
    seats: Sequence[str] = ("doctor", "patient", "examiner")
    Settings: ClassVar[type[BaseModel]] = ImportedSettings
    RECORDED: ClassVar[bool] = True

    def __init__(self, settings: ImportedSettings, prompts: Prompts) -> None:
        """Takes the arguments of every scenario and keeps none of them: there is nothing to set or to say."""

    def lacks(self, case: Case) -> str | None:
        """Nothing: a case without a truth is played too, and its scores say so."""
        return None

    def start(self, case: Case) -> ImportedState:
        """Nothing was said yet."""
        return ImportedState(case.opening)

    def turn(self, state: ImportedState) -> str:
        """The seat that the recording has next."""
        return state.seat

    def view(self, state: ImportedState, seat: str) -> View:
        """What was said so far, alike for each seat."""
        return View(seat, state.brief, state.heard, ("reply", "conclude"))

    def ending(self, state: ImportedState) -> Ending | None:
        """How it ended; None before the last recorded turn."""
        return state.ending

    def apply(self, state: ImportedState, event: Acted) -> ImportedState:
        """The state after a recorded action."""
        action = event.action
        heard = (*state.heard, Said(event.seq, event.seat, action.verb, action.text, action.args))
        then = action.memo.get(THEN) if isinstance(action.memo, dict) else ""
        if then in self.seats:
            return ImportedState(state.brief, str(then), heard)
        return ImportedState(state.brief, state.seat, heard, self._end(heard))

    def _end(self, heard: Sequence[Said]) -> Ending:
        mine = [said for said in heard if said.seat == "doctor"]
        answer = self._answer(mine[-1], only=len(mine) == 1) if mine else ""
        if answer:
            return Ending("completed", facts={"answer": {self.goal: answer}})
        return Ending("doctor", "no_answer", "the recorded dialogue ends without an answer")

    def _answer(self, said: Said, *, only: bool) -> str:
        stated = said.args.get(self.goal)
        if isinstance(stated, str) and stated.strip():
            return stated.strip()
        text = answer_part(said.text)
        if named := final_answer(text, goal=self.goal):
            return named
        if self.goal == "diagnosis" and (named := _ready(text) or named_diagnosis(text)):
            return named
        asks = _ORDERS.search(text) is not None or "?" in text
        return "" if asks and not only else text.strip()


def _ready(text: str) -> str:
    """The diagnosis that AgentClinic's protocol declares; "" if the text declares none."""
    declared = list(_READY.finditer(text))
    return clean_value(declared[-1]["said"]) if declared else ""


class ImportedTreatment(ImportedDialogue):
    """The same where a treatment was asked for."""

    name = "imported-treatment"
    goal = "treatment"
