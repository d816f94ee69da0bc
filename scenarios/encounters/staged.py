"""The staged scenarios on case reports, as in MedR-Bench, and their parser: one turn, free turns, oracle, treatment."""

from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.engine.text import regex
from wardround.scenarios.case import Case, case_results, full_report, open_report, withheld
from wardround.scenarios.illustrations import Images
from wardround.scenarios.orders.catalogue import TestNames, own_names_json
from wardround.scenarios.orders.subject import read_subject
from wardround.scenarios.parsers import published
from wardround.scenarios.parsers.moves import (
    Answers,
    Conclusion,
    DoctorOrder,
    GameState,
    PatientQuestion,
    Unusable,
    answers_of,
    asking,
    checked_move,
    heard,
    illustrated,
    record_rows,
    texts_of,
    typed_move,
    verb_schemas,
)
from wardround.scenarios.parsers.nonanswers import Instructions
from wardround.scenarios.parsers.reply_text import answer_part, final_answer, reply_sections, requested_tests

_SENTENCE_END = regex(r"[.!\n]")
_NOTHING_REQUIRED = regex(
    r"(?:no(?:ne)?|nothing|n/a|not (?:required|needed|necessary|applicable)"
    r"|no (?:further|additional|more|other) (?:information|tests?|testing|investigations?)"
    r"|none (?:required|needed|necessary))(?: (?:is|are) (?:required|needed|necessary))?(?: required| needed)?"
)


def read_staged(text: str, *, last: bool, goal: str = "diagnosis") -> DoctorOrder | Conclusion | Unusable:
    """Read the move in `text`: a request, or the answer.

    Text under `Additional Information Required` is a request unless it only says that nothing is required. Without a
    request, and always in the last turn, the reply's answer counts (`reply_text.final_answer`); `goal` is 'diagnosis'
    or 'treatment'.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    parts = reply_sections(text)
    wanted = next((part.text for part in reversed(parts) if part.name == "information"), "")
    if wanted and not last and not asks_nothing(wanted):
        return DoctorOrder("any", requested_tests(wanted), wanted)
    concluded = final_answer(text, parts, goal)
    if concluded:
        return Conclusion(concluded)
    if any(part.name in ("answer", "conclusion") or (part.name == "information" and not last) for part in parts):
        return Unusable("empty", "the reply asks for nothing and concludes nothing")
    return Unusable("unreadable", "the reply has none of the sections that were asked for")


def asks_nothing(wanted: str) -> bool:
    """Whether a section requests nothing: its first and only sentence says so ('Not required.')."""
    first = _SENTENCE_END.split(wanted.strip(" \t\r\n*_-.\"'["), maxsplit=1)[0]
    said = first.strip(" \t\r*_\"'[]()").lower()
    return not said or _NOTHING_REQUIRED.fullmatch(said) is not None


_with = msgspec.structs.replace


class StagedSettings(BaseModel):
    """The rules of a scenario that discloses the whole case at once."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_warnings: int = Field(
        default=1, ge=0, le=100, description="Unusable replies answered by a warning; one more ends the episode."
    )
    rules: Literal["default", "published"] = Field(
        default="default",
        description="published: replies are read as by the published code, and none is answered by a warning.",
    )
    answers: Answers = 1
    images: Images = "none"


class OneTurnSettings(StagedSettings):
    """The rules of the one-turn scenario."""

    policy: Literal["strict", "normal-default"] = Field(
        default="strict",
        description="What the patient reports for a test that is not in the record: that there is no result, or a "
        "normal value.",
    )
    names: TestNames = Field(default=(), description="A CSV file test,names,kind: names of tests of your own.")


class FreeTurnSettings(OneTurnSettings):
    """The rules of the free-turn scenario."""

    max_turns: int = Field(default=5, ge=1, le=100, description="Turns a doctor has; the last must be the answer.")


class StagedState(GameState, frozen=True):
    """The state of a staged scenario.

    `known` is what the patient sees besides the order. `order` is the request that the patient must answer now, and
    `orders` are the requests and answers so far.
    """

    brief: str
    known: dict[str, Json]
    order: DoctorOrder | None = None
    orders: tuple[Said, ...] = ()


class Staged:
    """The part that all staged scenarios share: a number of turns, of which the last must be the answer.

    ::

        turn n --asks for information, n not last--> patient --answer--> turn n+1
        turn n --asks for nothing, concludes--> completed
        last turn --concludes, whatever else it asks for--> completed
        any --unusable reply--> warning, the same turn; one too many: unanswered
        published rules: any --unusable reply--> unanswered at once (but see `OneTurn`)

    An unanswered episode ends as parser/unreadable, doctor/refusal, doctor/content_filter or doctor/no_answer
    (`EpisodeTally.unanswered`).
    """

    name = ""
    goal = "diagnosis"
    seats: Sequence[str] = ("doctor", "patient")
    SAMPLING: ClassVar[dict[str, float]] = {}
    REPEATS = 1
    PROVISIONAL: ClassVar[bool] = False
    """Whether a conclusion before the last turn is only provisional."""

    def __init__(self, settings: StagedSettings, prompts: Prompts) -> None:
        if settings.answers > 1 and self.goal != "diagnosis":
            raise UsageError(
                f"{self.name} asks for one plan; answers={settings.answers} is for games that ask for a diagnosis"
            )
        self.settings = settings
        self._prompts = prompts
        self._instructions = Instructions(prompts.of(self.name))
        self._turns = 1
        self._published = settings.rules == "published"
        typed = ("order", "conclude") if "patient" in self.seats else ("conclude",)
        self._schemas = verb_schemas(self.goal, typed, whole_list=settings.answers > 1)

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        if self._published and "patient" in self.seats and not withheld(case):
            return "it has no ancillary tests, and the published code stops at such a case"
        return None if case.truth.diagnosis.strip() else "it has no diagnosis (truth.diagnosis is empty)"

    def start(self, case: Case) -> StagedState:
        """The state at the start: the doctor has read the report, without its tests if they can be requested."""
        brief = asking(
            self._prompts[f"{self.name}/start"].render(case=self._report(case)), self.settings.answers, self._prompts
        )
        if "patient" not in self.seats:
            images = [image for result in case_results(case) for image in result.images]
            return StagedState(brief, {"images": images} if images and self.settings.images != "none" else {})
        known: dict[str, Json] = {
            "summary": open_report(case),
            "ancillary": withheld(case),
            "record": record_rows(case_results(case)),
            "subject": read_subject(open_report(case)).row(),
            "policy": self.settings.policy if isinstance(self.settings, OneTurnSettings) else "strict",
            **own_names_json(self.settings.names if isinstance(self.settings, OneTurnSettings) else ()),
        }
        return StagedState(brief, known)

    def turn(self, state: StagedState) -> str:
        """The seat that acts next."""
        return "patient" if state.order else "doctor"

    def view(self, state: StagedState, seat: str) -> View:
        """Everything that a seat may see."""
        if seat == "patient":
            known = {**state.known, "order": state.order.known() if state.order else None}
            return View(seat, self._prompts[f"{self.name}/patient"].text, state.orders, ("answer",), known)
        verbs = ("reply", "conclude") if self._is_last_turn(state) else ("reply", "order", "conclude")
        seen = {"images": state.known["images"]} if "images" in state.known else None
        return View(seat, state.brief, state.heard, verbs, seen, schemas=self._schemas)

    def ending(self, state: StagedState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: StagedState, event: Acted) -> StagedState:
        """The state after an action."""
        action, last = event.action, self._is_last_turn(state)
        if state.order:
            return self._answered(state, event.seq, action)
        state = state.replied(event)
        move = self._move(state, event, last=last)
        if isinstance(move, Unusable):
            return self._warn(state, event.seq, move, last=last)
        state = _with(state, tally=state.tally.usable().turned())
        if isinstance(move, Conclusion):
            return self._concluded(state, event.seq, action, move)
        return _with(state, order=move, orders=(*state.orders, move.said(event.seq)), tally=state.tally.ordered())

    def _move(self, state: StagedState, event: Acted, *, last: bool) -> DoctorOrder | Conclusion | Unusable:
        """The move of an action if it is possible now, else Unusable."""
        action = event.action
        read = self._read(action.text, last=last) if action.verb == "reply" else typed_move(action, self.goal)
        if isinstance(read, PatientQuestion):
            read = Unusable("unavailable", "the patient answers requests for information, not questions")
        elif isinstance(read, DoctorOrder) and last:
            read = Unusable("unavailable", "only the answer is possible now")
        final = last or not self.PROVISIONAL
        return checked_move(read, event, self._instructions, state.heard, final=final, published=self._published)

    def _read(self, text: str, *, last: bool) -> DoctorOrder | Conclusion | Unusable:
        """Read the move in a reply's text."""
        if self._published:
            return published.read_stage(text, self.name, last=last)
        return read_staged(text, last=last, goal=self.goal)

    def _report(self, case: Case) -> str:
        """The text of the case that the doctor reads first."""
        return open_report(case)

    def _concluded(self, state: StagedState, seq: int, action: Action, move: Conclusion) -> StagedState:
        """End the episode with the doctor's answer."""
        return _with(state, ending=state.tally.completed(**{self.goal: move.text}))

    def _answered(self, state: StagedState, seq: int, action: Action) -> StagedState:
        """Pass the patient's answer on to the doctor."""
        results = answers_of(action)
        text = action.text.strip() or texts_of(results)
        if action.verb != "answer" or not text:
            detail = "a request for information was answered with nothing"
            return _with(state, ending=state.tally.failed("patient", "no_answer", detail))
        said = Said(seq, "patient", "answer", action.text, action.args)
        state = _with(state, order=None, orders=(*state.orders, said))
        results, text = illustrated(results, state.known["record"], self.settings.images, text)
        return self._inform(state, seq, text, heard(results))

    def _inform(self, state: StagedState, seq: int, information: str, results: list[Json]) -> StagedState:
        """Begin the next turn with the information; the last turn also demands the answer."""
        prompt = self._prompts[f"{self.name}/{'last' if self._is_last_turn(state) else 'next'}"]
        said = Said(
            seq, "patient", "answer", prompt.render(information=information), {"kind": "any", "answers": results}
        )
        return _with(state, heard=(*state.heard, said))

    def _warn(self, state: StagedState, seq: int, fault: Unusable, *, last: bool) -> StagedState:
        """Warn the doctor with a reason, or end the episode if no warnings are left."""
        text = self._prompts[f"{self.name}/{'warning_last' if last else 'warning'}"].text
        return state.warned(seq, fault, text, 0 if self._published else self.settings.max_warnings)

    def _is_last_turn(self, state: StagedState) -> bool:
        return state.tally.turns >= self._turns - 1


class OneTurn(Staged):
    """One round of requests, then the diagnosis, which the desk demands even if nothing was requested.

    ::

        turn 1 --requests--> patient --answer--> turn 2 --conclusion--> completed
        turn 1 --asks for nothing--> desk --> turn 2
        turn 1 --verb conclude--> completed
        published rules: turn 1 --asks for nothing--> patient; any --unusable reply--> start again, up to 3 tries
    """

    name = "one-turn"
    Settings = OneTurnSettings
    PROVISIONAL = True

    def __init__(self, settings: OneTurnSettings, prompts: Prompts) -> None:
        super().__init__(settings, prompts)
        self._turns = 2

    def _concluded(self, state: StagedState, seq: int, action: Action, move: Conclusion) -> StagedState:
        """Take a conclusion in the first turn as provisional: by MedR-Bench's protocol the desk asks for it again."""
        if action.verb != "reply" or state.tally.turns == self._turns:
            return super()._concluded(state, seq, action, move)
        nothing = self._prompts[f"{self.name}/nothing"].text
        text = self._prompts[f"{self.name}/last"].render(information=nothing)
        return _with(state, heard=(*state.heard, Said(seq, "desk", "demand", text)))

    def _warn(self, state: StagedState, seq: int, fault: Unusable, *, last: bool) -> StagedState:
        """Under the published rules, start again without telling the doctor."""
        if not self._published or state.tally.unusable >= published.TRIES - 1:
            return super()._warn(state, seq, fault, last=last)
        tally = msgspec.structs.replace(state.tally.faulted(fault.fault, fault.shape), turns=0)
        return _with(state, heard=(), order=None, tally=tally)


class FreeTurn(Staged):
    """Requests turn by turn until the doctor needs nothing more; the last turn can only be the answer.

    ::

        turn n --requests, n < max_turns--> patient --answer--> turn n+1
        turn n --asks for nothing, concludes--> completed
        turn max_turns --concludes, whatever else it requests--> completed
    """

    name = "free-turn"
    Settings = FreeTurnSettings

    def __init__(self, settings: FreeTurnSettings, prompts: Prompts) -> None:
        super().__init__(settings, prompts)
        self._turns = settings.max_turns

    def start(self, case: Case) -> StagedState:
        """The state at the start; if there is only one turn, the desk demands the answer at once."""
        state = super().start(case)
        if not self._is_last_turn(state):
            return state
        return _with(state, heard=(Said(0, "desk", "demand", self._prompts["free-turn/demand"].text),))


class Oracle(Staged):
    """The whole report, with all its tests, and one reply: reasoning and diagnosis.

    ::

        start --### Answer--> completed
    """

    name = "oracle"
    seats = ("doctor",)
    Settings = StagedSettings

    def _report(self, case: Case) -> str:
        return full_report(case)


class Treatment(Oracle):
    """The whole report, with all its tests and the diagnosis, and one reply: reasoning and treatment.

    ::

        start --### Answer--> completed
    """

    name = "treatment"
    goal = "treatment"

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        return None if case.truth.treatment.strip() else "it has no treatment (truth.treatment is empty)"

    def _report(self, case: Case) -> str:
        report = full_report(case)
        diagnosis = case.truth.diagnosis.strip()
        if not diagnosis or diagnosis.lower() in report.lower():
            return report
        return f"{report}\n{self._prompts['treatment/diagnosis'].render(diagnosis=diagnosis)}"
