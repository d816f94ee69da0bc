"""What a build from case reports can be told: kept in the run's header, so that it goes on as it began."""

from datetime import date
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Kind = Literal["diagnosis", "treatment"]
KINDS: tuple[Kind, ...] = ("diagnosis", "treatment")
ARTICLE_RULES = ("article_type", "published_after", "body", "language", "length", "relevant")
CASE_RULES = ("sections", "visuals", "answer", "supported", "numbers", "leak", "outcome")


class Options(BaseModel):
    """The settings of a build."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    also: tuple[str, ...] = Field(default=(), description="Further files and folders.")
    kinds: tuple[Kind, ...] = Field(default=KINDS, min_length=1, description="What cases are made of an article.")
    published_after: date | None = None
    without: tuple[str, ...] = Field(default=(), description="Rules switched off.")
    licence: str = Field(default="", description="Licence of articles that name none.")
    data_class: Literal["auto", "public", "restricted"] = "auto"
    on_bad_row: Literal["stop", "skip"] = "stop"
    limit: int | None = Field(default=None, ge=1, description="At most so many articles that pass the filters.")
    max_characters: int = Field(default=200_000, ge=1, description="Longest article.")
    rare_candidates: int = Field(default=5, ge=0, description="At most so many rare diseases are verified.")
    support: float = Field(default=60, ge=0, le=100, description="Least score of a sentence found in the article.")
    unsupported: float = Field(default=0.2, ge=0, le=1, description="Largest share of sentences that are not found.")

    @field_validator("without")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if unknown := [name for name in names if name not in (*ARTICLE_RULES, *CASE_RULES)]:
            raise ValueError(f"there is no rule {unknown[0]!r}; rules: {', '.join((*ARTICLE_RULES, *CASE_RULES))}")
        return names

    @field_validator("kinds", mode="before")
    @classmethod
    def _listed(cls, kinds: object) -> object:
        """'diagnosis,treatment' as `--set` gives it."""
        return tuple(kinds.split(",")) if isinstance(kinds, str) else kinds
