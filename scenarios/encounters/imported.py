"""The scenarios of imported dialogues: the turns as another program recorded them, and the answer at their end."""

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
    """What was said so far, and the seat whose turn comes next in the recording."""

    brief: str
    seat: str = "doctor"
    heard: tuple[Said, ...] = ()
    ending: Ending | None = None


class ImportedDialogue:
    """A dialogue that was recorded elsewhere, under rules of its own; the doctor begins.

    Each action says in its memo whose turn was next. After the last one, the doctor's last words are read for a
    diagnosis. These count, in this order: the argument of a typed action, a section or a sentence with the final
    answer, `DIAGNOSIS READY: ...`, a line that names the diagnosis, the whole text. The whole text does not count if it
    asks or orders, unless the doctor spoke only once. A dialogue without an answer ends as doctor/no_answer.
    """

    name = "imported"
    goal = "diagnosis"
    seats: Sequence[str] = ("doctor", "patient", "examiner")
    Settings: ClassVar[type[BaseModel]] = ImportedSettings
    RECORDED: ClassVar[bool] = True

    def __init__(self, settings: ImportedSettings, prompts: Prompts) -> None:
        """Take the arguments that every scenario takes, and keep none: there are no settings and no prompts."""

    def lacks(self, case: Case) -> str | None:
        """None for every case. A case without a truth is played too, and its scores give that as their reason."""
        return None

    def start(self, case: Case) -> ImportedState:
        """The state at the start: nothing was said yet, and the doctor is next."""
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
    """An imported dialogue in which the doctor was asked for a treatment."""

    name = "imported-treatment"
    goal = "treatment"
