"""How one score is read: its label, its unit, and whether it comes first in a report."""

from dataclasses import dataclass
from typing import Literal

Part = Literal["formal", "thinking"]
"""Of a reply: what it says in its answer, and its marked thinking (paper 002, section 4.4)."""

Unit = Literal["share", "count", "tokens", "points", "usd", "seconds", ""]


@dataclass(frozen=True, slots=True)
class Measure:
    """A score as people read it. A `share` lies in 0..1, so that missing values have bounds.

    `matched`: it says of an answer whether it is right, by word match where no judge says so.
    """

    name: str
    label: str
    unit: Unit
    headline: bool = False
    matched: bool = False
