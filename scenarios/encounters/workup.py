"""The full-path work-up of an admission: history first, then examination and tests, then the diagnosis."""

import re
from collections.abc import Sequence
from typing import ClassVar, Literal

import msgspec
from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, Said, View
from wardround.engine.text import regex
from wardround.scenarios.case import Case, case_results
from wardround.scenarios.illustrations import Images
from wardround.scenarios.orders.catalogue import TestNames, own_names_json
from wardround.scenarios.orders.subject import read_subject
from wardround.scenarios.parsers import published
from wardround.scenarios.parsers.moves import (
    RESULT_STATES,
    Answers,
    Conclusion,
    DoctorOrder,
    GameState,
    Move,
    PatientQuestion,
    Pick,
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
from wardround.scenarios.parsers.reply_text import (
    HEADING,
    MARKS,
    MOST,
    REACH,
    answer_part,
    headed_diagnosis,
    listed_names,
    named_diagnosis,
)

Asked = Literal["", "lab", "microbiology", "imaging", "output"]
LISTED: tuple[published.Listed, ...] = ("lab", "microbiology", "imaging")
"""The kinds of tests that are ordered by a list."""
Named = Literal["examination", "lab", "microbiology", "imaging", "output"]

_OPEN = r"^[ \t#>*_\-]*"
_RATIONALE = regex(rf"(?im){_OPEN}rationale[*_ ]*[:\uff1a]")
_ACTION = regex(r"[aA](?<!\w[aA])(?i:ctions?)[*_ ]{0,4}[:\uff1a]")  # this form searches four times as fast
_ACTION_LINE = regex(rf"(?im){_OPEN}action[*_ ]*$")
_ACTION_WORDS: tuple[tuple[Named, str], ...] = (
    ("examination", r"pe|physical(?:[ \t]+exam(?:ination)?s?)?|exam(?:ination|ine)?"),
    ("lab", r"labs?|laborator(?:y|ies)|blood[ \t]+(?:tests?|work)"),
    ("microbiology", r"micro|microbiolog(?:y|ical)|cultures?"),
    ("imaging", r"images?|imaging|radiology|scans?"),
    ("output", r"output|final[ \t]+diagnosis|diagnos(?:is|e)"),
)
_ACTION_NAME = regex("|".join(rf"(?P<{kind}>\b(?:{words})\b)" for kind, words in _ACTION_WORDS), re.IGNORECASE)
_LIST = regex(
    rf"(?im){_OPEN}(?:\d[.)] ?)?(?:specific +)?"
    r"(?:(?P<lab>labs?|laborator(?:y|ies))|(?P<microbiology>micro(?:biolog(?:y|ical))?)|(?P<imaging>imag(?:ing|es?)))"
    r"(?P<noun> +(?:tests?|scans?|studies|study))?(?: +(?:requested|required|needed|ordered))?[*_ ]*[:\uff1a]"
)
_BULLET = regex(r"[ \t]*(?:[-*•]|\(?\d{1,2}[.)])\s")
_ACTIONS_OF_A_TEMPLATE = 4


def read_workup(text: str, asked: Asked = "") -> Move:
    """Read the move in `text`; `asked` is the desk's last request.

    A requested diagnosis is accepted anywhere. Otherwise the part from the last line `Rationale:` on counts, and if
    that names nothing, the whole text. The parser looks, in this order, for a list of tests under its heading (of
    several: the kind asked for, the kind chosen by `Action:`, imaging, laboratory, microbiology); a line `Diagnosis:`,
    if `Action:` chose OUTPUT or is missing; the first action named after the last `Action:`. A list above an `Action:`
    of another kind belongs to the reasoning. Without any heading, a line with only an action's name counts.
    """
    text = answer_part(text)
    if not text.strip():
        return Unusable("empty", "the reply is empty")
    if asked == "output":
        diagnosis = named_diagnosis(text)
        if diagnosis:
            return Conclusion(diagnosis)
    rationales = list(_RATIONALE.finditer(text))
    move = _move(text[rationales[-1].start() :], asked) if rationales else None
    return move or _move(text, asked) or Unusable("unreadable", "the reply names no action")


def _move(text: str, asked: Asked) -> DoctorOrder | Conclusion | Pick | None:
    chosen, head = _chosen_action(text)
    if order := _listed_order(text, asked, chosen, head):
        return order
    if (chosen == "output" or head < 0) and (diagnosis := headed_diagnosis(text)):
        return Conclusion(diagnosis)
    return Pick(chosen) if chosen else None


def _chosen_action(text: str) -> tuple[Named | None, int]:
    """(the chosen action or None, the position of its heading or -1 if it has none)."""
    heads = list(_ACTION.finditer(text)) or list(_ACTION_LINE.finditer(text))
    if heads:
        begin = heads[-1].end()
        lines = text[begin : begin + REACH].splitlines()
        value = next((line for line in lines if line.strip(MARKS)), "")
        actions = list(_ACTION_NAME.finditer(value[:400]))
        if len({match.lastgroup for match in actions}) >= _ACTIONS_OF_A_TEMPLATE:  # the format repeated, not filled in
            return None, heads[-1].start()
        return (_kind(actions[0]) if actions else None), heads[-1].start()
    for line in reversed(text.splitlines()):
        if len(line) < 80 and (whole := _ACTION_NAME.fullmatch(line.strip(MARKS[:-1]))):
            return _kind(whole), -1
    return None, -1


def _kind(match: re.Match[str]) -> Named:
    return next(kind for kind, _ in _ACTION_WORDS if kind == match.lastgroup)


def _listed_order(text: str, asked: Asked, chosen: Named | None, head: int) -> DoctorOrder | None:
    """The ordered list, if the reply has one that names anything; `head` is the position of `Action:`."""
    orders: dict[str | None, DoctorOrder] = {}
    for match in list(_LIST.finditer(text))[-MOST:]:
        kind = next(kind for kind in LISTED if match[kind] is not None)
        if kind not in (asked, chosen) and (match["noun"] is None or match.start() < head):
            continue
        body = _text_under_heading(text[match.end() : match.end() + REACH])
        if names := listed_names(body):
            orders[kind] = DoctorOrder(kind, names, body.strip())
    return next((orders[kind] for kind in (asked, chosen, "imaging", "lab", "microbiology") if kind in orders), None)


def list_span(text: str, order: DoctorOrder) -> list[tuple[int, int]]:
    """The span in `text` of the list from which `order` was read, with its heading; empty if it is not there."""
    spans = []
    for match in list(_LIST.finditer(text))[-MOST:]:
        body = text[match.end() : match.end() + REACH]
        written = _text_under_heading(body).strip()
        begin = body.find(written)
        if match[order.kind] is not None and written == order.text and begin >= 0:
            spans.append((match.start(), match.end() + begin + len(written)))
    return spans[-1:]


def _text_under_heading(text: str) -> str:
    """The text under a heading: the rest of its line, and the lines of the list below it.

    The list ends at the next heading. If the heading's own line has content, it also ends at a line without a bullet;
    otherwise at the first empty line after an item.
    """
    first, *rest = text.split("\n")
    lines = [first]
    inline = bool(first.strip(MARKS))
    goes_on = first.rstrip().endswith((",", ";"))
    for line in rest:
        if HEADING.match(line) or line.lstrip().startswith("#"):
            break
        if not line.strip():
            if not inline and any(kept.strip(MARKS) for kept in lines):
                break
            continue
        if inline and not goes_on and not _BULLET.match(line):
            break
        lines.append(line)
        goes_on = line.rstrip().endswith((",", ";"))
    return "\n".join(lines)


_with = msgspec.structs.replace

Stage = Literal["choose", "list", "diagnose", "lookup"]

NAMES = {"examination": "PE", "lab": "LAB", "imaging": "IMAGE", "microbiology": "MICRO"}
"""The protocol's name for each kind of test, in the order in which MultiCogEval offers them."""

_TYPES = {
    "examination": "Physical Examination",
    "lab": "Laboratory Test",
    "imaging": "Imaging Test",
    "microbiology": "Microbiology Test",
    "any": "Test",
}


class WorkupSettings(BaseModel):
    """The rules that a run may change."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

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
    policy: Literal["strict", "normal-default", "synthesise"] = Field(
        default="strict",
        description="What the examiner reports for a test that is not in the record: that there is no result, "
        "a normal value, or a model's result.",
    )
    names: TestNames = Field(default=(), description="A CSV file test,names,kind: names of tests of your own.")
    answers: Answers = 1
    images: Images = "none"


class WorkupState(GameState, frozen=True):
    """The state of a work-up.

    `record` is what the examiner looks up, and `kinds` are the kinds of its results. `asked` is the list or answer that
    the desk requested last, `order` what the examiner must answer now, and `orders` are the orders and answers so far.
    `used` are the kinds chosen so far, `answered` those with results. `subject` is what the opening states of the
    patient: age, sex, pregnancy.
    """

    brief: str
    record: list[Json]
    kinds: frozenset[str]
    stage: Stage = "choose"
    asked: Asked = ""
    order: DoctorOrder | None = None
    orders: tuple[Said, ...] = ()
    used: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()
    subject: Json = None


class Workup:
    """History first, then examination and tests on request, up to the diagnosis (MultiCogEval, section A.3).

    ::

        choose --PE--------------------------------> lookup --results, remaining actions--> choose
        choose --LAB|MICRO|IMAGE--> list --the list--> lookup
        choose --a list with its heading-------------> lookup
        choose --OUTPUT--> diagnose --Diagnosis: ...--> completed
        choose|list --OUTPUT and Diagnosis: ... in one reply--> completed
        any --unusable reply--> warning, the same stage; one too many: unanswered
        any --one reply left--> diagnose (the last reply can only be the answer); none left: unanswered

    An unanswered episode ends as parser/unreadable, doctor/refusal, doctor/content_filter or doctor/no_answer
    (`EpisodeTally.unanswered`). The doctor acts in every stage but `lookup`, which is the examiner's. Typed verbs need
    no text: `order` leads from choose and list to lookup, and `conclude` completes from anywhere.
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
        self._own_names = own_names_json(settings.names)
        self._schemas = verb_schemas(self.goal, ("order", "conclude"), whole_list=settings.answers > 1)

    def lacks(self, case: Case) -> str | None:
        """Why `case` cannot be played; None if it can."""
        return None if case.truth.diagnosis.strip() else "it has no diagnosis (truth.diagnosis is empty)"

    def start(self, case: Case) -> WorkupState:
        """The state at the start: the doctor has read the history and chooses."""
        results = case_results(case)
        brief = self._prompts["workup/start"].render(
            history=case.opening, actions=", ".join((*NAMES.values(), "OUTPUT"))
        )
        brief = asking(brief, self.settings.answers, self._prompts)
        state = WorkupState(
            brief,
            record_rows(results),
            frozenset(item.kind for item in results),
            subject=read_subject(case.opening).row(),
        )
        return self._within_budget(state, 0)

    def turn(self, state: WorkupState) -> str:
        """The seat that acts next."""
        return "examiner" if state.stage == "lookup" else "doctor"

    def view(self, state: WorkupState, seat: str) -> View:
        """Everything that a seat may see."""
        if seat == "examiner":
            known = {
                "record": state.record,
                "policy": self.settings.policy,
                "order": state.order.known() if state.order else None,
                "subject": state.subject,
                **self._own_names,
            }
            return View(seat, self._prompts["workup/examiner"].text, state.orders, ("answer",), known)
        verbs = ("reply", "conclude") if state.stage == "diagnose" else ("reply", "order", "conclude")
        return View(seat, state.brief, state.heard, verbs, schemas=self._schemas)

    def ending(self, state: WorkupState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: WorkupState, event: Acted) -> WorkupState:
        """The state after an action."""
        action = event.action
        if state.stage == "lookup":
            return self._answered(state, event.seq, action)
        state = state.replied(event)
        state = _with(state, tally=state.tally.turned())
        move = self._read(action.text, state) if action.verb == "reply" else typed_move(action, "diagnosis")
        as_published = self.settings.reading == "published"
        move = checked_move(move, event, self._instructions, state.heard, published=as_published)
        if isinstance(move, Conclusion):
            return _with(state, ending=state.tally.completed(diagnosis=move.text))
        if isinstance(move, PatientQuestion):
            move = Unusable("unavailable", "there is no patient to ask")
        elif state.stage == "diagnose":
            move = move if isinstance(move, Unusable) else Unusable("unavailable", "only the diagnosis is possible now")
        elif self._published and not isinstance(move, DoctorOrder) and set(NAMES) <= set(state.used):
            return self._demand(state, event.seq, "enforced")
        if isinstance(move, Unusable):
            return self._warn(state, event.seq, move)
        return self._moved(_with(state, tally=state.tally.usable()), event.seq, move)

    def _read(self, text: str, state: WorkupState) -> Move:
        """Read the move in a reply's text."""
        return published.read_move(text) if self.settings.reading == "published" else read_workup(text, state.asked)

    def _moved(self, state: WorkupState, seq: int, move: Pick | DoctorOrder) -> WorkupState:
        """The state after a usable move that is not an answer."""
        if isinstance(move, Pick) and move.kind == "output":
            return self._demand(state, seq, "output")
        if self._published and (isinstance(move, Pick) or move.kind == "examination"):
            if set(NAMES) <= set(state.used):
                return self._demand(state, seq, "enforced")
            if move.kind in state.used:
                return self._refuse(state, seq, "repeated", move.kind)
            if move.kind not in state.kinds:
                return self._refuse(_with(state, used=_with_kind(state.used, move.kind)), seq, "none", move.kind)
        if self._published and isinstance(move, DoctorOrder) and move.kind in state.answered:
            return self._warn(state, seq, Unusable("unavailable", f"{_TYPES[move.kind]}: can be had once"))
        if isinstance(move, Pick) and move.kind != "examination":
            return self._ask_for_list(state, seq, move.kind)
        order = move if isinstance(move, DoctorOrder) else DoctorOrder("examination")
        orders = (*state.orders, order.said(seq))
        return _with(state, stage="lookup", asked="", order=order, orders=orders, tally=state.tally.ordered())

    def _ask_for_list(self, state: WorkupState, seq: int, kind: Asked) -> WorkupState:
        """Ask for the list of LAB, MICRO or IMAGE; if only one reply is left, demand the answer instead."""
        if self._replies_left(state) == 1:
            return self._demand(state, seq, "enforced")
        state = _with(state, stage="list", asked=kind, used=_with_kind(state.used, kind))
        return self._say(state, seq, "question", f"ask_{kind}")

    def _answered(self, state: WorkupState, seq: int, action: Action) -> WorkupState:
        """Pass the results on to the doctor, with the actions that remain."""
        order, results, text = state.order, answers_of(action), action.text.strip()
        assert order is not None
        if action.verb != "answer" or not (text or results):
            detail = f"an order of kind {order.kind} was answered with nothing"
            return _with(state, ending=state.tally.failed("examiner", "no_answer", detail))
        said = Said(seq, "examiner", "answer", action.text, action.args)
        state = _with(state, stage="choose", order=None, orders=(*state.orders, said))
        if self._published and "answers" in action.args:  # items that match nothing are skipped
            results, text = [answer for answer in results if answer.get("state") in RESULT_STATES], ""
            if not results:
                return self._refuse(state, seq, "none_found", order.kind)
        if not self._published or order.kind == "examination":  # published: a list does not use up its action
            state = _with(state, used=_with_kind(state.used, order.kind))
        state = _with(state, answered=_with_kind(state.answered, order.kind))
        results, text = illustrated(results, state.record, self.settings.images, text)
        prompt = self._prompts[f"workup/results_{order.kind}"].render(
            results=text or texts_of(results), actions=self._remaining_actions(state)
        )
        report = Said(seq, "examiner", "answer", prompt, {"kind": order.kind, "answers": heard(results)})
        return self._within_budget(_with(state, heard=(*state.heard, report)), seq)

    def _warn(self, state: WorkupState, seq: int, fault: Unusable) -> WorkupState:
        """Warn the doctor with a reason, or end the episode if no warnings are left."""
        prompt = "warning"
        if state.stage == "diagnose":
            prompt = "warning_diagnosis"
        elif state.asked and not self._published:
            prompt = f"warning_{state.asked}"
        state = state.warned(seq, fault, self._desk_text(state, prompt), self.settings.max_warnings)
        return state if state.ending else self._within_budget(state, seq)

    def _refuse(self, state: WorkupState, seq: int, prompt: str, kind: str) -> WorkupState:
        """Under the published rules, refuse an order and ask for another action; `prompt` is also its reason."""
        state = _with(state, stage="choose", asked="")
        return self._say(state, seq, "refusal", prompt, {"reason": prompt, "kind": kind})

    def _demand(self, state: WorkupState, seq: int, prompt: str) -> WorkupState:
        """Demand the answer and nothing else."""
        return self._say(_with(state, stage="diagnose", asked="output"), seq, "demand", prompt)

    def _say(
        self, state: WorkupState, seq: int, verb: str, prompt: str, args: dict[str, Json] | None = None
    ) -> WorkupState:
        """Send the doctor a message from the desk."""
        said = Said(seq, "desk", verb, self._desk_text(state, prompt, (args or {}).get("kind", "any")), args or {})
        return self._within_budget(_with(state, heard=(*state.heard, said)), seq)

    def _desk_text(self, state: WorkupState, prompt: str, kind: str = "any") -> str:
        return self._prompts[f"workup/{prompt}"].render(actions=self._remaining_actions(state), type=_TYPES[kind])

    def _within_budget(self, state: WorkupState, seq: int) -> WorkupState:
        """The state after a check of the budget: with one reply left demand the answer, with none end the episode."""
        left = self._replies_left(state)
        if left <= 0:
            return _with(state, ending=state.tally.unanswered(f"no diagnosis within {self.settings.max_turns} replies"))
        return self._demand(state, seq, "enforced") if left == 1 and state.stage != "diagnose" else state

    def _replies_left(self, state: WorkupState) -> int:
        return self.settings.max_turns - state.tally.replies

    def _remaining_actions(self, state: WorkupState) -> str:
        """The actions that remain. The examination can be had once, in full; published rules allow each kind once."""
        if state.stage == "diagnose" or self._replies_left(state) == 1:
            return "OUTPUT"
        gone = state.used if self._published else ("examination",) if "examination" in state.answered else ()
        return ", ".join([name for kind, name in NAMES.items() if kind not in gone] + ["OUTPUT"])


def _with_kind(kinds: tuple[str, ...], kind: str) -> tuple[str, ...]:
    return kinds if kind in kinds else (*kinds, kind)
