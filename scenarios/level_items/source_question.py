"""The choice questions from which middle-level items are made: how sets are read, and which questions are left out."""

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from wardround.engine.errors import UsageError
from wardround.engine.seat import seed_of
from wardround.scenarios.loaders.load import scan
from wardround.scenarios.loaders.select import select_cases
from wardround.scenarios.loaders.source import Problem
from wardround.scenarios.question_item import SEVERAL_RIGHT, QuestionItem
from wardround.scenarios.record import Record, Text


class ItemBuildOptions(BaseModel):
    """The settings of a build of middle-level items."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    also: tuple[str, ...] = Field(default=(), description="Further files.")
    limit: int | None = Field(default=None, ge=1, description="At most so many questions that pass the rules.")
    sample: float | None = Field(
        default=None, gt=0, le=1, description="Share of the questions, drawn by seed from each disease."
    )
    on_bad_row: Literal["stop", "skip"] = Field(default="skip", description="What to do at a row that cannot be read.")
    seed: int = Field(default=0, ge=0, description="Seed of the sample, and of the wrong options that are taken.")


class SourceQuestion(Record):
    """One choice question, from which six items are made.

    `false_option` is the wrong option that becomes the false statement, `offered` the one that the rectification
    offers; both are drawn by seed.
    """

    id: Text = Field(description="The question's id.")
    item: QuestionItem
    false_option: int = Field(ge=0)
    offered: int = Field(ge=0)
    data_class: Literal["public", "restricted"]

    @property
    def right(self) -> int:
        """Index of the right option."""
        assert self.item.truth.option is not None
        return self.item.truth.option

    @classmethod
    def drawn(cls, item: QuestionItem, seed: int) -> "SourceQuestion":
        """The source question of an item, with its two wrong options drawn by seed."""
        wrong = [place for place in range(len(item.options)) if place != item.truth.option]
        false, offered = (random.Random(seed_of(seed, what, item.id)).choice(wrong) for what in ("false", "offered"))
        return cls(id=item.id, item=item, false_option=false, offered=offered, data_class=item.data_class)


@dataclass(frozen=True, slots=True)
class LeftOutQuestion:
    """A row that gives no items; `rule` drops it, `why` says where."""

    id: str
    rule: str
    why: str


READING = (
    ("readable", "the row can be read"),
    ("one_right", "one option is right; several are not"),
)
"""Rules of reading. What they reject never becomes a question."""
RULES = (
    ("choice", "it is a choice with one right option"),
    ("text_only", "it needs no image"),
    ("whole_options", "no option speaks of the others, as in `all of the above`"),
    ("worded", "its options are words, not only letters, signs, or yes and no"),
)
"""Rules on a question that was read."""
SPEAKS_OF_OTHERS = re.compile(
    r"(?i)\b(?:all|none|any|both|neither|either)\s+(?:of\s+)?(?:the\s+)?(?:above|these|them|options?|mentioned)\b"
    r"|\b(?:both|neither)\s+[A-F]\s+(?:and|nor)\s+[A-F]\b|^\W*(?:all|none|both|neither)\W*$"
    r"|^\W*(?:[A-F1-5]\s*(?:,|&|and|or|\+)\s*)+[A-F1-5](?:\s+only)?\W*$|以上(?:都|全|均)|都不是|均(?:不|正确|错误)"
)
_WORDLESS = re.compile(r"(?i)^\W*(?:yes|no|maybe|true|false|correct|incorrect|是|否|对|错|[A-F])?\W*$")


def dropping_rule(item: QuestionItem) -> str:
    """The name of the rule of `RULES` that drops a question; "" if none does."""
    if item.form != "choice":
        return "choice"
    if item.images:
        return "text_only"
    if any(SPEAKS_OF_OTHERS.search(option) for option in item.options):
        return "whole_options"
    return "worded" if any(_WORDLESS.match(option) for option in item.options) else ""


def source_questions(where: str, options: ItemBuildOptions) -> Iterator[SourceQuestion | LeftOutQuestion]:
    """The questions of all files, and the rows that are left out, each with the reason.

    Raises UsageError for a file that cannot be read, for an id that is in two files, for a patient among the questions,
    and for the first row that cannot be read, unless the options skip such rows.
    """
    kept: list[QuestionItem] = []
    seen: dict[str, str] = {}
    for path in (where, *options.also):
        for one in _of_file(path, options):
            if isinstance(one, LeftOutQuestion):
                yield one
                continue
            if one.id in seen and seen[one.id] != path:
                raise UsageError(f"{path}: {one.id} is an id of {seen[one.id]} too; build from one set at a time")
            seen[one.id] = path
            kept.append(one)
    for item in select_cases(kept, sample=options.sample, seed=options.seed, limit=options.limit):
        yield SourceQuestion.drawn(item, options.seed)


def _of_file(path: str, options: ItemBuildOptions) -> Iterator[QuestionItem | LeftOutQuestion]:
    last = 0
    for one in scan(Path(path)):
        if isinstance(one, Problem):
            if one.warning or (one.line and one.line == last):
                continue
            last = one.line
            rule = "one_right" if SEVERAL_RIGHT in one.message else "readable"
            if rule == "readable" and options.on_bad_row == "stop":
                raise UsageError(f"{one}; --on-bad-row skip goes on without it")
            yield LeftOutQuestion(one.case or f"line {one.line}", rule, str(one))
        elif not isinstance(one, QuestionItem):
            raise UsageError(f"{path}: {one.id} is a patient, not a question; items are made from choice questions")
        elif rule := dropping_rule(one):
            yield LeftOutQuestion(one.id, rule, f"it fails the rule: {dict(RULES)[rule]}")
        else:
            yield one
