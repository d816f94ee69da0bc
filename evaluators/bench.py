"""Where judging evaluators work: a seat with a panel of judges on it, and a way to look things up."""

from dataclasses import dataclass, field
from typing import Literal

from wardround.engine.seat import Seat
from wardround.evaluators.evidence.page import Reader
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.signed import Signed

Knowledge = Literal["search", "judge", "both"]
"""What may found a verdict on a step: what was looked up, what the judge knows, or that where nothing was found."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench(Seat):
    """What an evaluator gets in one episode when judges are named.

    As a `Seat` it is that of the first judge. `search` and `reader` record what they are asked in the episode's log and
    keep a restricted case's words at home; the evaluator seals the search against the truth (`evidence.Sealed`).
    `reader` is None where whole texts are found anyway, or pages are not to be read. `knowledge` is what may found a
    verdict on a step of reasoning. `controls` is the seed of the controls, in the one episode of an evaluation in which
    they are posed.
    """

    panel: Panel
    search: Search | None = None
    reader: Reader | None = None
    signed: Signed = field(default_factory=Signed)
    knowledge: Knowledge = "search"
    controls: int | None = None
