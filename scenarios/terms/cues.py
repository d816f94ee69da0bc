"""The little words by which an answer asserts, joins, leaves open, denies or refuses: a table, as patterns."""

import csv
import io
import re
from functools import cache
from importlib.resources import files


@cache
def cues(role: str) -> tuple[str, ...]:
    """The cues of a role, the longest first."""
    text = files(__package__).joinpath("data", "cues.csv").read_text(encoding="utf-8")
    held = {row["role"]: row["cues"].split("|") for row in csv.DictReader(io.StringIO(text))}
    return tuple(sorted(held[role], key=len, reverse=True))


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
