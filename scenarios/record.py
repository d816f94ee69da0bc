"""The base class of every part of a case, a question and a rubric."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Text = Annotated[str, Field(min_length=1)]


class Record(BaseModel):
    """Base of every part of a case: immutable, and an unknown field is an error that names it."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_strip_whitespace=False, defer_build=True)
