"""How one score is read: its label, its unit, and whether it comes first in a report."""

from dataclasses import dataclass
from typing import Literal

Unit = Literal["share", "count", "tokens", "points", "usd", "seconds", ""]
Part = Literal["formal", "thinking"]
"""Of a reply: what it says in its answer, and its marked thinking (paper 002, section 4.4)."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A score as people read it. A `share` lies in 0..1, so that missing values have bounds.

    `matched`: it says of an answer whether it is right, by word match where no judge says so; `by_words`: by word match
    even where a judge is. `beside`: it stands in a run's own table of scores, and in no ranking, comparison or list of
    episodes.
    """

    name: str
    label: str
    unit: Unit
    headline: bool = False
    matched: bool = False
    by_words: bool = False
    beside: bool = False
