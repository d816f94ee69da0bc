"""A setting by which a game asks for a ranked list of diagnoses instead of one."""

from typing import Annotated

from pydantic import Field

from wardround.engine.prompts import Prompts

Answers = Annotated[
    int, Field(ge=1, le=20, description="Diagnoses asked for; more than one: a ranked list, scored by its first ones.")
]


def asking(brief: str, answers: int, prompts: Prompts) -> str:
    """The brief of a game, with the request for a ranked list where more than one answer is wanted."""
    return brief if answers == 1 else f"{brief}\n\n{prompts['answers/ranked'].render(count=str(answers))}"
