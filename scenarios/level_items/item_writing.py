"""The scenario that makes middle-level items: one model writes statements and a distractor, another checks them."""

import re
from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

import msgspec

from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, View
from wardround.scenarios.level_items.source_question import (
    READING,
    RULES,
    ItemBuildOptions,
    LeftOutQuestion,
    SourceQuestion,
    source_questions,
)
from wardround.scenarios.level_items.text_rules import CHECKED, Broken, distractor_fault, statement_fault
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.parsers.reply_text import answer_part
from wardround.scenarios.question_item import LETTERS

Piece = Literal["true_statement", "false_statement", "distractor"]
"""What is written for a question: a statement of the right option, one of a wrong option, and a new wrong option."""
PIECES: tuple[Piece, ...] = ("true_statement", "false_statement", "distractor")
WRITER, CHECKER = "writer", "checker"
WRITTEN = ("written", "the model wrote it so that it can be read; it may decline")
_TEXT = re.compile(r"(?im)^\W*(?:statement|distractor|陈述|干扰项)\W*?[:：][ \t*_]*(?P<text>\S.*?)\s*$")
_AROUND = ' \t*_`"“”'
_VERDICT = re.compile(r"(?im)^\W*(?:verdict|结论)\W*?[:：][ \t*_]*(?P<verdict>yes|no|是|否)\W*$")
_with = msgspec.structs.replace


class WritingStep(msgspec.Struct, frozen=True):
    """One question to a seat about a piece; `why` tells the writer why its first text was not taken."""

    seat: str
    piece: Piece
    why: str = ""


class WritingState(msgspec.Struct, frozen=True):
    """The state of one source question.

    `todo` are the steps that are still to be asked, `texts` the texts by piece, `kept` the pieces that the checker
    accepted, and `lost` the pieces that were given up, each with the rule and the reason.
    """

    source: SourceQuestion
    todo: tuple[WritingStep, ...]
    texts: dict[str, str] = {}
    kept: tuple[str, ...] = ()
    lost: dict[str, Json] = {}
    ending: Ending | None = None


class ItemWriting:
    """The writing of the three texts of one question, as in MultiCogEval (appendix A.2 and figure 10).

    ::

        writer: true_statement --rules--> checker --yes--> kept    (rules broken: once more, with the reason; then lost)
        writer: false_statement, distractor: the same              (no false statement without a true one)
        nothing left --> completed

    The writer of a statement sees the question, the right answer and the option for the statement. The writer of a
    distractor sees the question, the right answer and all options. The checker is asked whether the statement says its
    option, or whether the distractor is new and wrong.
    """

    name = "level-items"
    seats: Sequence[str] = (WRITER, CHECKER)
    goal = "items"
    Settings = ItemBuildOptions
    Item = SourceQuestion
    SAMPLING: ClassVar[dict[str, float]] = {}
    REPEATS = 1

    def __init__(self, settings: ItemBuildOptions, prompts: Prompts) -> None:
        self.settings = settings

    def load(self, where: str) -> Iterator[SourceQuestion | LeftOutQuestion]:
        """The choice questions at `where` and at the further paths of the settings, and the rows that are left out."""
        return source_questions(where, self.settings)

    def lacks(self, item: SourceQuestion | LeftOutQuestion) -> str | None:
        """The rule that dropped a row before a model is asked, and why; None for a question that is played."""
        return f"{item.rule}: {item.why}" if isinstance(item, LeftOutQuestion) else None

    def rules(self) -> tuple[tuple[str, str], ...]:
        """(name, what) of the rules that `lacks` names, in their order."""
        return (*READING, *RULES)

    def start(self, case: SourceQuestion) -> WritingState:
        """The state before the first text."""
        return WritingState(case, tuple(WritingStep(WRITER, piece) for piece in PIECES))

    def turn(self, state: WritingState) -> str:
        """The seat that writes or checks next."""
        return state.todo[0].seat

    def view(self, state: WritingState, seat: str) -> View:
        """What the seat is asked, and all that it needs for the answer."""
        step, source = state.todo[0], state.source
        item = source.item
        known: dict[str, Json] = {
            "step": "distractor" if step.piece == "distractor" else "statement",
            "piece": step.piece,
            "question": "\n\n".join((*item.context, item.question)),
            "options": "\n".join(f"{letter}: {text}" for letter, text in zip(LETTERS, item.options, strict=False)),
            "right": item.options[source.right],
            "option": item.options[_option(source, step.piece)],
            "why": step.why,
            "text": state.texts.get(step.piece, ""),
        }
        return View(seat, f"Piece: {step.piece}.", (), ("reply", "decline"), known)

    def ending(self, state: WritingState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: WritingState, event: Acted) -> WritingState:
        """The state after an action."""
        step, action = state.todo[0], event.action
        state = _with(state, todo=state.todo[1:])
        after = _take_check(state, step, action) if step.seat == CHECKER else _take_text(state, step, action)
        if after.todo:
            return after
        texts = {piece: after.texts[piece] for piece in after.kept}
        return _with(after, ending=Ending("completed", facts={"texts": texts, "lost": after.lost}))


def _option(source: SourceQuestion, piece: Piece) -> int:
    return source.false_option if piece == "false_statement" else source.right


def _take_text(state: WritingState, step: WritingStep, action: Action) -> WritingState:
    if action.verb == "decline":
        return _lose(state, step, (WRITTEN[0], f"declined: {action.text.strip() or 'no reason given'}"))
    text = written_text(action.text)
    if isinstance(text, Unusable):
        return _lose(state, step, (WRITTEN[0], text.why))
    if fault := text_fault(state.source, step.piece, text):
        if step.why:
            return _lose(state, step, fault, text)
        return _with(state, todo=(WritingStep(WRITER, step.piece, f"{fault[1]} ({text!r})"), *state.todo))
    return _with(state, texts={**state.texts, step.piece: text}, todo=(WritingStep(CHECKER, step.piece), *state.todo))


def text_fault(source: SourceQuestion, piece: Piece, text: str) -> Broken | None:
    """The rule that a text breaks, and how; None if it breaks none."""
    if piece == "distractor":
        return distractor_fault(source, text)
    return statement_fault(source, _option(source, piece), text)


def _take_check(state: WritingState, step: WritingStep, action: Action) -> WritingState:
    verdict = read_verdict_line(action.text) if action.verb == "reply" else Unusable("unreadable", "it declined")
    if verdict is True:
        return _with(state, kept=(*state.kept, step.piece))
    why = f"the checker's reply: {verdict.why}" if isinstance(verdict, Unusable) else _reasons(action.text)
    return _lose(state, step, (CHECKED[0], why), state.texts[step.piece])


def _lose(state: WritingState, step: WritingStep, fault: Broken, text: str = "") -> WritingState:
    """Give a piece up. Without the true statement, the false one is of no use and is no longer asked for."""
    rest = state.todo
    if step.piece == "true_statement":
        rest = tuple(one for one in rest if one.piece != "false_statement")
    return _with(state, todo=rest, lost={**state.lost, step.piece: {"rule": fault[0], "why": fault[1], "text": text}})


def written_text(reply: str) -> str | Unusable:
    """The text on the only line `Statement:` or `Distractor:` of a reply; Unusable if there is none or several."""
    texts = {match["text"].strip(_AROUND) for match in _TEXT.finditer(answer_part(reply))} - {""}
    if len(texts) != 1:
        what = "no line" if not texts else f"{len(texts)} different lines"
        return Unusable("unreadable", f"the reply has {what} `Statement:` or `Distractor:`")
    return texts.pop()


def read_verdict_line(reply: str) -> bool | Unusable:
    """The yes or no on the only line `Verdict:` of a reply; Unusable if there is none or several."""
    verdicts = {match["verdict"].lower() in ("yes", "是") for match in _VERDICT.finditer(answer_part(reply))}
    if len(verdicts) != 1:
        return Unusable("unreadable", "it has no one line `Verdict: yes` or `Verdict: no`")
    return verdicts.pop()


def _reasons(reply: str) -> str:
    """What a checker wrote besides its verdict."""
    return " ".join(_VERDICT.sub("", answer_part(reply)).split())[:300] or "no reason given"
