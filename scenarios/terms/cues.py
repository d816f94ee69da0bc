"""The little words by which an answer asserts, joins, leaves open, denies or refuses: a table, as patterns."""

import csv
import io
import re
from functools import cache
from importlib.resources import files

from wardround.scenarios.terms.wording import tokens


@cache
def _table() -> dict[str, list[str]]:
    text = files(__package__).joinpath("data", "cues.csv").read_text(encoding="utf-8")
    return {row["role"]: row["cues"].split("|") for row in csv.DictReader(io.StringIO(text))}


@cache
def every_word() -> frozenset[str]:
    """The single words of all cues, in comparable form."""
    return frozenset(word for held in _table().values() for one in held for word in tokens(one))


@cache
def cues(role: str) -> tuple[str, ...]:
    """The cues of a role, the longest first."""
    return tuple(sorted(_table()[role], key=len, reverse=True))


@cache
def words(*roles: str) -> str:
    """A group of alternatives for a larger pattern: the cues of some roles, whole words in any case."""
    every = sorted({cue for role in roles for cue in cues(role)}, key=lambda cue: (-len(cue), cue))
    return "(?:" + "|".join(_whole(cue) for cue in every) + ")"


@cache
def cue(*roles: str) -> re.Pattern[str]:
    """The pattern of any cue of some roles."""
    return re.compile(words(*roles), re.IGNORECASE)


def _whole(cue: str) -> str:
    before = r"(?<![\w-])" if cue[0].isalnum() else ""
    after = r"(?![\w-])" if cue[-1].isalnum() else ""
    return before + re.escape(cue).replace(r"\ ", r"\s+") + after
