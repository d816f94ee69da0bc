"""A question item: a closed or an open question with its options, context, turns and truth."""

from typing import Literal, Self

from pydantic import Field, model_validator

from wardround.scenarios.case import Category, Provenance
from wardround.scenarios.criteria import Checklist, RubricItem
from wardround.scenarios.record import Record, Text

Form = Literal["choice", "statement", "rectification", "existence", "short", "free"]
"""What a question asks for. `choice`: an option. `statement`: whether a statement is true. `rectification`: whether an
offered answer is right, and the right option if it is not. `existence`: whether the right answer is among the options.
`short`: a few words. `free`: an open answer."""
CLOSED: tuple[Form, ...] = ("choice", "statement", "rectification", "existence")
"""The forms whose answers are read without a judge."""
Level = Literal["low", "middle", "high", "open"]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SEVERAL_RIGHT = "has several right answers"
"""The message about a question that is left out because more than one of its options is right."""


class QuestionTruth(Record):
    """What an answer is compared with. No seat sees it, except a doctor whose factory asks for the truth."""

    option: int | None = Field(default=None, ge=0, description="Index of the right option.")
    holds: bool | None = Field(
        default=None,
        description="Whether the statement is true, the offered answer right, or the right answer among the options.",
    )
    answers: tuple[Text, ...] = Field(
        default=(), description="Accepted short answers, or the reference of an open one."
    )
    rationale: str = Field(default="", description="Why.")


class QuestionTurn(Record):
    """A later turn of an open question: what the user writes next, with its own reference and checklist."""

    question: Text = Field(description="What the user writes in this turn.")
    reference: str = Field(default="", description="Reference answer of this turn.")
    checklist: Checklist = Field(default=Checklist(), description="Requirements on the answer of this turn.")


class EarlierMessage(Record):
    """A message of the conversation that ends with the question."""

    role: Literal["system", "user", "assistant"] = Field(description="Who wrote it.")
    content: Text = Field(description="What was written.")


class QuestionVariant(Record):
    """The question in other words: with the same answer, or with a changed fact and, by it, another answer."""

    kind: Literal["paraphrase", "irrelevant_number", "changed_fact"] = Field(description="What is changed.")
    question: Text = Field(description="The whole question, as it is asked instead.")
    truth: QuestionTruth | None = Field(
        default=None, description="The right answer, where the changed fact changes it."
    )


class QuestionItem(Record):
    """One item of a question set, played as an episode with one seat.

    ::

        QuestionItem(
            id="q1", form="choice", question="Which vitamin prevents scurvy?", options=("A", "B1", "C", "D"),
            truth=QuestionTruth(option=2), provenance=Provenance(source="own"), data_class="public",
        )

    `truth.option` is an index, so 2 is the option C. Options stand without their letters, in the order of the source.
    `source_group` names the question that an item was made from; items of one group never serve as demonstrations for
    each other. Levels are those of MultiCogEval, section 3.
    """

    id: Text = Field(description="Unique in its file.")
    form: Form = Field(description="What is asked for.")
    question: Text = Field(description="The question, without its options.")
    options: tuple[Text, ...] = Field(default=(), description="Options without letters, in the order of the source.")
    offered: int | None = Field(default=None, ge=0, description="Rectification: index of the answer to be checked.")
    context: tuple[Text, ...] = Field(default=(), description="Documents to read first.")
    before: tuple[EarlierMessage, ...] = Field(
        default=(), description="Messages before the question, which a model gets in their own roles."
    )
    images: tuple[Text, ...] = Field(
        default=(),
        description="Images of the question: files beside the file of questions, data URLs or https addresses.",
    )
    turns: tuple[QuestionTurn, ...] = Field(default=(), description="Later turns of an open question.")
    truth: QuestionTruth = Field(description="The right answer.")
    checklist: Checklist = Field(default=Checklist(), description="Requirements on an open answer.")
    rubric: tuple[RubricItem, ...] = Field(default=(), description="Criteria with points for an open answer.")
    variants: tuple[QuestionVariant, ...] = Field(default=(), description="The question in other words, for attacks.")
    level: Level = Field(default="low", description="Cognitive level.")
    source_group: str = Field(default="", description="The question that this item was made from.")
    language: str = Field(default="en", description="Two letters.")
    group: str = Field(default="", description="The disease, for comparisons between levels.")
    category: Category = Field(default_factory=Category, description="Strata.")
    kind: tuple[str, ...] = Field(default=(), description="Category and sub-category of the source.")
    provenance: Provenance = Field(description="Source.")
    data_class: Literal["public", "restricted"] = Field(
        description="A restricted item leaves this machine only to hosts the user names."
    )

    @property
    def closed(self) -> bool:
        """Whether the answer is read without a judge."""
        return self.form in CLOSED

    @property
    def chance(self) -> float | None:
        """The accuracy of guessing (MultiCogEval, equation 4): 1/options, or 1/2; None for open questions."""
        if self.form in ("choice", "rectification"):
            return 1 / len(self.options)
        return 0.5 if self.closed else None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if any(one.rule for one in self.rubric):
            raise ValueError("rubric: a rule reads the events of an encounter, and a question has none")
        if self.form in ("choice", "rectification", "existence"):
            self._check_options()
        if self.form in ("choice", "rectification") and self.truth.option is None:
            raise ValueError("truth.option is missing: a choice needs the index of its right option")
        if self.form in ("statement", "rectification", "existence") and self.truth.holds is None:
            raise ValueError(f"truth.holds is missing: a {self.form} is true or false")
        if self.form == "rectification" and (self.offered is None or self.offered >= len(self.options)):
            raise ValueError("offered must be the index of one of the options")
        if self.form == "rectification" and self.truth.holds != (self.offered == self.truth.option):
            raise ValueError("truth.holds and truth.option disagree about the offered answer")
        self._check_variants()
        if self.turns and self.closed:
            raise ValueError("turns belong to open questions")
        if any(one.role == "system" for one in self.before[1:]):
            raise ValueError("before: only the first message can be one of the system")
        return self

    def _check_variants(self) -> None:
        for one in self.variants:
            if (one.truth is None) is (one.kind == "changed_fact"):
                why = "needs a truth" if one.truth is None else "keeps the truth, and must give none"
                raise ValueError(f"variants: {one.kind} {why}")
            option = None if one.truth is None else one.truth.option
            if option is not None and option >= len(self.options):
                raise ValueError(f"variants: truth.option is {option}, and the last option is {len(self.options) - 1}")

    def _check_options(self) -> None:
        if not 2 <= len(self.options) <= len(LETTERS):
            raise ValueError(f"options must be 2 to {len(LETTERS)}, and there are {len(self.options)}")
        if self.truth.option is not None and self.truth.option >= len(self.options):
            raise ValueError(f"truth.option is {self.truth.option}, and the last option is {len(self.options) - 1}")
        plain = [" ".join(option.casefold().split()) for option in self.options]
        right = "" if self.truth.option is None else plain[self.truth.option]
        if right and plain.count(right) > 1:
            raise ValueError(f"options: {SEVERAL_RIGHT}: two options are the right one: {right!r}")


def asked_lines(item: QuestionItem) -> list[str]:
    """What a judge reads before an answer: documents, then earlier messages and the question, with their speakers."""
    return [*item.context, *(f"{one.role}: {one.content}" for one in item.before), f"user: {item.question}"]


def solution(item: QuestionItem, turn: int = 0) -> str:
    """The right answer to a question, in the form that the question asks for.

    For the form `free` it is the reference of this `turn`; without a reference, the requirements of the checklist, one
    a line. The last turn adds the criteria of the rubric that have positive points.
    """
    truth = item.truth
    if item.form == "free":
        return _open_solution(item, turn)
    right = "" if truth.option is None else LETTERS[truth.option]
    if item.form == "choice":
        return f"Answer: {right}"
    if item.form == "statement":
        return f"Answer: {'true' if truth.holds else 'false'}"
    if item.form == "existence":
        return f"Answer: {'yes' if truth.holds else 'no'}"
    if item.form == "rectification":
        return "Answer: correct" if truth.holds else f"Answer: incorrect, the correct answer is {right}"
    return truth.answers[0] if truth.answers else ""


def _open_solution(item: QuestionItem, turn: int) -> str:
    reference = item.truth.answers[0] if item.truth.answers else ""
    checklist = item.checklist
    if turn:
        reference, checklist = item.turns[turn - 1].reference, item.turns[turn - 1].checklist
    wanted = [one.criterion for one in item.rubric if one.points > 0] if turn == len(item.turns) else []
    said = (reference, *wanted) if reference else (*checklist.core, *checklist.secondary, *wanted)
    return "\n".join(said).strip() or (NO_REFERENCE if item.turns else "")


NO_REFERENCE = "For this turn there is no reference."
"""A placeholder answer for a turn without a reference, so that the later turns can be asked."""


def in_words(item: QuestionItem, option: int | None, holds: bool | None) -> str:
    """An answer in words: the option with its letter in the source's order, the verdict ('yes', 'no'), or both.

    The result is '' if both are None.
    """
    verdict = "" if holds is None else "yes" if holds else "no"
    words = "" if option is None or option >= len(item.options) else f"{LETTERS[option]}: {item.options[option]}"
    return ", ".join(part for part in (verdict, words) if part)
