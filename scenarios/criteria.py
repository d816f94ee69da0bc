"""Rubrics and checklists: what an answer or an encounter is judged by, point by point."""

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from wardround.scenarios.record import Record, Text


class Deed(Record):
    """Something that a doctor does in an encounter, as a rule recognises it: exactly one of the three fields is set."""

    ordered: str = Field(default="", description="A test by any of its names, alone or as part of a panel.")
    asked: tuple[Text, ...] = Field(default=(), description="Words of which the doctor's questions use one.")
    concluded: bool = Field(default=False, description="Whether the doctor concludes.")

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum((bool(self.ordered), bool(self.asked), self.concluded)) != 1:
            raise ValueError("needs exactly one of ordered, asked and concluded")
        return self


class Rule(Record):
    """When an encounter meets a criterion, decided from its events without a judge.

    This rule is met if the doctor asks about a pregnancy, and asks before any order of the CT::

        Rule(did=Deed(asked=("pregnan", "last period")), before=Deed(ordered="CT of the abdomen"))
    """

    did: Deed = Field(description="What must have been done.")
    before: Deed | None = Field(default=None, description="What must not have been done earlier, if it was done.")
    within: int | None = Field(default=None, ge=1, description="The order must be among the first so many.")

    @model_validator(mode="after")
    def _orders(self) -> Self:
        if self.within is not None and not self.did.ordered:
            raise ValueError("within counts orders, so did must be an order")
        return self


class RubricItem(Record):
    """One criterion of a rubric, in the form that HealthBench publishes: `{criterion, points, tags}`.

    ::

        RubricItem(criterion="Asks about pregnancy before ordering the CT", points=5, tags=("axis:context",))

    An answer that meets the criterion earns its points. A criterion with negative points describes a fault.
    """

    criterion: Text = Field(description="What is met or not met, in one sentence.")
    points: float = Field(description="Points of an answer that meets it; negative for a fault; never 0.")
    tags: tuple[str, ...] = Field(default=(), description="Labels such as 'theme:emergency', 'axis:accuracy'.")
    veto: bool = Field(default=False, description="Whether meeting it leaves no score above 0: an unsafe act.")
    rule: Rule | None = Field(default=None, description="Encounters: decides it from the events, without a judge.")

    @field_validator("points")
    @classmethod
    def _some_points(cls, points: float) -> float:
        if points == 0:
            raise ValueError("must not be 0: a criterion without points decides nothing")
        return points


class Checklist(Record):
    """The requirements on an open answer, in the form of LLMEval-Med: core ones and secondary ones."""

    core: tuple[Text, ...] = Field(default=(), description="Requirements without which an answer is not usable.")
    secondary: tuple[Text, ...] = Field(default=(), description="Requirements that make an answer better.")
    origin: Literal["authors", "drafted"] = Field(
        default="authors", description="Whether people wrote it, or a model drafted it and nobody has read it yet."
    )

    @property
    def empty(self) -> bool:
        """Whether the checklist requires nothing."""
        return not self.core and not self.secondary
