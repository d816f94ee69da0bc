"""The consultation and its parser: a doctor questions, orders and diagnoses in free text."""

import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompt, Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.engine.text import regex
from wardround.scenarios.case import Case, case_results
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
from wardround.scenarios.parsers.nonanswers import Instructions, postponed, template
from wardround.scenarios.parsers.reply_text import (
    REACH,
    answer_part,
    clean_value,
    headed_diagnosis,
    named_diagnosis,
    requested_tests,
)
from wardround.scenarios.terms.wording import roots

_READY = regex(r"\bDIAGNOSIS READY\b[*_ ]{0,4}(?P<colon>[:\uff1a]?)", re.IGNORECASE)
_LINE_OPENS = regex(r"(?:^|\n)[ \t#>*_\-]*$")
_NOT_YET = regex(
    r"\b(?:not|n['\u2019]t|never|cannot|no|until|unless|before|when|once|after|if|whether|almost|nearly|far from|say"
    r"|write|reply|respond|answer|type|format|form)\b",
    re.IGNORECASE,
)
_NOT_READY = regex(r"(?i)\W*(?:not (?:yet|ready|now)|pending|to follow|later)\b")
_ENDS = regex(r"[.!?\n\u3002\uff01\uff1f]")
_ORDER = regex(r"(?im)^[ \t#>*_\-]*order[*_ ]{0,4}[:\uff1a]|\brequest test[*_ ]{0,4}[:\uff1a]")
_ASK = regex(r"(?im)^[ \t#>*_\-]*ask[*_ ]{0,4}[:\uff1a][*_ ]*")
_WHOLE_EXAMINATION = regex(r"(?i)(?:(?:full|complete|general) )?physical exam(?:ination)?")
_MOST_HEADS = 50
"""Most orders and declared diagnoses of one reply that are read."""
_LONGEST_ORDER = 2_000
"""Most characters of an order that are read."""


def read_consultation(text: str, *, last: bool = False) -> DoctorOrder | PatientQuestion | Conclusion | Unusable:
    """Read the move in `text`.

    1. `DIAGNOSIS READY: ...` anywhere, or a line `DIAGNOSIS: ...`, concludes. The former does not count if its sentence
       denies or postpones it. In the `last` turn a diagnosis within a sentence also counts.
    2. Otherwise a line `ORDER: ...`, or `REQUEST TEST: ...` anywhere, orders, even if the text also asks. Several of
       them form one order.
    3. Otherwise the text after `ASK:`, or the whole text, is a question to the patient.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    if diagnosis := _read_diagnosis(text, last=last):
        return Conclusion(diagnosis)
    if order := _read_order(text):
        return order
    asked = _ASK.search(text)
    question = (text[asked.end() :] if asked else text).strip()
    return PatientQuestion(question) if question else Unusable("empty", "the question is empty")


def _read_diagnosis(text: str, *, last: bool) -> str:
    """The diagnosis after the last `DIAGNOSIS READY` that declares one, else under a heading; "" if there is none."""
    for ready in reversed(list(_READY.finditer(text))[-_MOST_HEADS:]):
        if not _is_ready(text, ready):
            continue
        first, _, rest = text[ready.end() : ready.end() + REACH].lstrip(" \t*_").partition("\n")
        said = first if clean_value(first) else rest.strip().partition("\n")[0]
        if clean_value(said) and not template(said) and not postponed(said) and not _NOT_READY.match(said):
            return clean_value(said)
    return named_diagnosis(text) if last else headed_diagnosis(text)


def _is_ready(text: str, ready: re.Match[str]) -> bool:
    """Whether `DIAGNOSIS READY` declares: it has a colon or opens a line, and its sentence does not put it off."""
    before = text[max(0, ready.start() - 400) : ready.start()]
    if _NOT_YET.search(_ENDS.split(before)[-1]):
        return False
    return bool(ready["colon"]) or _LINE_OPENS.search(before) is not None


def _read_order(text: str) -> DoctorOrder | None:
    """Everything that the text orders, as one order; None if it orders nothing."""
    requested: list[str] = []
    heads = list(_ORDER.finditer(text))[:_MOST_HEADS]
    ends = [*(head.start() for head in heads[1:]), len(text)]
    for head, end in zip(heads, ends, strict=False):
        written = text[head.end() : min(end, head.end() + _LONGEST_ORDER)].partition("\n")[0]
        requested += requested_tests(written.replace("_", " ").replace("[", " ").replace("]", " "))
    names = tuple(dict.fromkeys(requested))
    if len(names) == 1 and _WHOLE_EXAMINATION.fullmatch(names[0]):
        return DoctorOrder("examination", (), names[0])
    return DoctorOrder("any", names) if names else None


_with = msgspec.structs.replace


class ConsultationSettings(BaseModel):
    """The rules that a run may change."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    max_turns: int = Field(default=20, ge=1, le=1000, description="Turns a doctor has; the last must be the diagnosis.")
    max_warnings: int = Field(
        default=3, ge=0, le=1000, description="Unusable replies answered by a warning; one more ends the episode."
    )
    policy: Literal["strict", "normal-default", "synthesise"] = Field(
        default="strict",
        description="What the examiner reports for a test that is not in the record: that there is no result, "
        "a normal value, or a model's result.",
    )
    rules: Literal["default", "published"] = Field(
        default="default",
        description="published: replies are read as by AgentClinic, and the last turn may ask or order as well.",
    )
    names: TestNames = Field(default=(), description="A CSV file test,names,kind: names of tests of your own.")
    answers: Answers = 1
    images: Images = "none"


class ConsultationState(GameState, frozen=True):
    """The state of a consultation.

    `asked` is what the patient or the examiner must answer now. `story` is what the patient knows and `record` what the
    examiner looks up; `questions` and `orders` are the words that each of them has heard and said. `subject` is the
    age, sex and pregnancy that the case states.
    """

    brief: str
    story: dict[str, Json]
    record: list[Json]
    asked: PatientQuestion | DoctorOrder | None = None
    questions: tuple[Said, ...] = ()
    orders: tuple[Said, ...] = ()
    subject: Json = None


class Consultation:
    """A complaint, then a dialogue with patient and examiner up to the diagnosis, as in AgentClinic.

    ::

        doctor --question (ASK, verb ask, any other text)--> patient --answer--> doctor
        doctor --order (ORDER, verb order; also if it asks)--> examiner --results--> doctor
        doctor --diagnosis (DIAGNOSIS, verb conclude)--> completed
        doctor --unusable--> warning, the same turn; one too many: unanswered
        one turn left: the desk demands the diagnosis, nothing else is possible
        published rules, one turn left: a question or an order is still answered; after the answer: unanswered

    An unanswered episode ends as parser/unreadable, doctor/refusal, doctor/content_filter or doctor/no_answer
    (`EpisodeTally.unanswered`).
    """

    name = "consultation"
    seats: Sequence[str] = ("doctor", "patient", "examiner")
    goal = "diagnosis"
    Settings: ClassVar[type[ConsultationSettings]] = ConsultationSettings
    SAMPLING: ClassVar[dict[str, float]] = {}
    REPEATS = 1

    def __init__(self, settings: ConsultationSettings, prompts: Prompts) -> None:
        self.settings = settings
        self._prompts = prompts
        self._instructions = Instructions(prompts.of(self.name))
        self._published = settings.rules == "published"
        self._own_names = own_names_json(settings.names)
        self._schemas = verb_schemas(self.goal, ("ask", "order", "conclude"), whole_list=settings.answers > 1)

    def _prompt(self, name: str) -> Prompt:
        return self._prompts[f"{self.name}/{name}"]

    def _more_values(self, state: ConsultationState | None) -> Mapping[str, str]:
        """Further values for the prompts of the start (`state` is None) and of answers; a subclass has some."""
        return {}

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        return None if case.truth.diagnosis.strip() else "it has no diagnosis (truth.diagnosis is empty)"

    def start(self, case: Case) -> ConsultationState:
        """The state at the start. The patient's story is the history of the case, or its opening without a history."""
        complaint = case.complaint or case.opening
        turns = str(self.settings.max_turns)
        brief = self._prompt("start").render(complaint=complaint, turns=turns, **self._more_values(None))
        brief = asking(brief, self.settings.answers, self._prompts)
        subject = read_subject(f"{case.opening} {' '.join(case.history.values())}")
        story = {
            "story": dict(case.history) or {"History": case.opening},
            "complaint": complaint,
            "incidental": incidental_facts(case),
        }
        return self._demand_at_last(
            ConsultationState(brief, story, record_rows(case_results(case)), subject=subject.row()), 0
        )

    def turn(self, state: ConsultationState) -> str:
        """The seat that acts next."""
        return "patient" if isinstance(state.asked, PatientQuestion) else "examiner" if state.asked else "doctor"

    def view(self, state: ConsultationState, seat: str) -> View:
        """Everything that a seat may see."""
        if seat == "patient":
            return View(seat, self._prompt("patient").text, state.questions, ("answer",), state.story)
        if seat == "examiner":
            order = state.asked.known() if isinstance(state.asked, DoctorOrder) else None
            known = {
                "record": state.record,
                "policy": self.settings.policy,
                "order": order,
                "subject": state.subject,
                **self._own_names,
            }
            return View(seat, self._prompt("examiner").text, state.orders, ("answer",), known)
        closed = self._is_last_turn(state) and not self._published
        verbs = ("reply", "conclude") if closed else ("reply", "ask", "order", "conclude")
        return View(seat, state.brief, state.heard, verbs, schemas=self._schemas)

    def ending(self, state: ConsultationState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: ConsultationState, event: Acted) -> ConsultationState:
        """The state after an action."""
        action, last = event.action, self._is_last_turn(state)
        if state.asked:
            return self._answered(state, event.seq, action)
        state = state.replied(event)
        move = self._read(action.text, last=last) if action.verb == "reply" else typed_move(action, "diagnosis")
        move = checked_move(move, event, self._instructions, state.heard, published=self._published)
        if isinstance(move, PatientQuestion | DoctorOrder) and last and not self._published:
            move = Unusable("unavailable", "only the diagnosis is possible now")
        if isinstance(move, Unusable):
            text = self._prompt("warning_last" if last else "warning").text
            return state.warned(event.seq, move, text, self.settings.max_warnings)
        state = _with(state, tally=state.tally.usable().turned())
        if isinstance(move, Conclusion):
            return _with(state, ending=state.tally.completed(diagnosis=move.text))
        if isinstance(move, PatientQuestion):
            return _with(state, asked=move, questions=(*state.questions, Said(event.seq, "doctor", "ask", move.text)))
        return _with(state, asked=move, orders=(*state.orders, move.said(event.seq)), tally=state.tally.ordered())

    def _read(self, text: str, *, last: bool) -> DoctorOrder | PatientQuestion | Conclusion | Unusable:
        """Read the move in a reply's text."""
        return published.read_talk(text) if self._published else read_consultation(text, last=last)

    def _answered(self, state: ConsultationState, seq: int, action: Action) -> ConsultationState:
        """Pass the answer on to the doctor."""
        seat, results = self.turn(state), answers_of(action)
        text = action.text.strip() or texts_of(results)
        if action.verb != "answer" or not text:
            return _with(state, ending=state.tally.failed(seat, "no_answer", "the doctor was answered with nothing"))
        said = Said(seq, seat, "answer", action.text, action.args)
        if isinstance(state.asked, PatientQuestion):
            prompt = self._prompt("answer").render(answer=text, **self._more_values(state))
            news = Said(seq, seat, "answer", prompt)
            state = _with(state, questions=(*state.questions, said))
        else:
            kind = state.asked.kind if state.asked else "any"
            results, text = illustrated(results, state.record, self.settings.images, text)
            prompt = self._prompt("results").render(results=text, **self._more_values(state))
            news = Said(seq, seat, "answer", prompt, {"kind": kind, "answers": heard(results)})
            state = _with(state, orders=(*state.orders, said))
        state = _with(state, asked=None, heard=(*state.heard, news))
        if state.tally.turns >= self.settings.max_turns:  # published: no turn is left to read the answer
            return _with(state, ending=state.tally.unanswered(f"no diagnosis within {self.settings.max_turns} turns"))
        return self._demand_at_last(state, seq)

    def _demand_at_last(self, state: ConsultationState, seq: int) -> ConsultationState:
        """Demand the diagnosis if one turn is left."""
        if not self._is_last_turn(state):
            return state
        return _with(state, heard=(*state.heard, Said(seq, "desk", "demand", self._prompt("demand").text)))

    def _is_last_turn(self, state: ConsultationState) -> bool:
        return state.tally.turns >= self.settings.max_turns - 1


_SENTENCE_END = regex(r"(?<=[.!?])\s+|[;\n]+\s*")
_INCIDENTAL = regex(r"social|demograph|occupation|habit|lifestyle|living|substance|past|surg", re.IGNORECASE)
_PRESENT = regex(r"present|complaint|symptom|review|medication|drug|allerg|family|travel|exposure", re.IGNORECASE)


def incidental_facts(case: Case) -> list[str]:
    """The sentences of the history on habits, household and the past that have nothing to do with the diagnosis.

    Such a sentence shares no word of more than three letters with the deciding findings or the names of the diagnosis.
    Sections on the present illness, medication, family or travel are never incidental, whatever their words.
    """
    truth = case.truth
    deciding = {
        word for text in (*truth.deciding, truth.diagnosis, *truth.synonyms) for word in roots(text) if len(word) > 3
    }
    return [
        sentence.strip()
        for section, text in case.history.items()
        if _INCIDENTAL.search(section) and not _PRESENT.search(section)
        for sentence in _SENTENCE_END.split(text)
        if sentence.strip() and deciding.isdisjoint(roots(sentence))
    ]
