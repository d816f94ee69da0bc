"""Who judges, and with what: the panel, the search, and what of it goes into the header of the judges' run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from wardround.cast import Part
from wardround.engine.errors import UsageError
from wardround.engine.models.coolest import zeroable
from wardround.engine.models.gates import Gates
from wardround.engine.models.guard import allowed
from wardround.engine.models.structured import takers
from wardround.engine.models.unreachable import Unreachable
from wardround.engine.prompts import Prompts
from wardround.engine.records import Json
from wardround.evaluators.evaluation import SEAT
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.page import Reader
from wardround.evaluators.evidence.recorded import Recorded, RecordedReader
from wardround.evaluators.evidence.search import LIBRARY, Counted, Search
from wardround.evaluators.reasoning.judged import Knowledge
from wardround.results import Run
from wardround.wording import wording

LEXICAL = "lexical"
"""The SPEC of the offline judge."""


def seats_of(judges: Sequence[Part]) -> dict[str, Part]:
    """The judges by seat: `judge`, `judge-2`, ..."""
    return {SEAT if not place else f"{SEAT}-{place + 1}": part for place, part in enumerate(judges)}


class Trial(NamedTuple):
    """What the trial of the endpoints showed: the seats that take a schema, and those that take temperature 0."""

    structured: frozenset[str]
    zeroed: frozenset[str]


@dataclass(slots=True)
class Court:
    """The judges of a run by seat, how often each is asked, and what they may look things up with.

    `structured` names the seats whose endpoint takes a schema of the reply, `zeroed` those that are asked at
    temperature 0: where each question is asked once, the user names no temperature, and the model takes it. `knowledge`
    is what may found a verdict on a step of reasoning: what is looked up, what the judges know, or both. `reader` reads
    the pages that a search names. `allow_hosts` are hosts that restricted cases may be sent to. `untried`: the
    endpoints are still to be tried, and `missing` says by seat what is to be said then, such as that there is no key.
    It is of no store and may judge in many, one scoring after another (sitting.py). Close it with `aclose`.
    """

    parts: Mapping[str, Part]
    repeats: int = 1
    swap: bool = False
    structured: frozenset[str] = frozenset()
    search: Search | None = None
    reader: Reader | None = None
    allow_hosts: Sequence[str] = ()
    prompts: Prompts = field(default_factory=wording)
    untried: bool = False
    missing: Mapping[str, UsageError] = field(default_factory=dict)
    zeroed: frozenset[str] = frozenset()
    knowledge: Knowledge = "search"
    _tried: list[Trial] = field(default_factory=list)
    """What the trial of the endpoints showed, once it was made; copies of this court share it."""

    @classmethod
    async def recorded(cls, run: Run) -> "Court":
        """The court of a stored evaluation, with no way to anything but its record."""
        header = run.header
        told, judging = dict(header["seats"]), header["judging"]
        library = told.pop(LIBRARY, None)
        parts = {
            seat: Part(
                part["spec"], model=Unreachable(part["spec"]) if part["model"] else None, sampling=part["sampling"]
            )
            for seat, part in told.items()
        }
        search = Recorded(library["spec"], Ledger(run.store)) if library else None
        reader = RecordedReader(judging["pages"], Ledger(run.store)) if judging["pages"] else None
        structured = frozenset(header["structured"])
        prompts = await run.prompts()
        zeroed, knowledge = frozenset(header.get("zeroed", ())), judging.get("knowledge", "search")
        return cls(
            parts,
            judging["repeats"],
            judging["swap"],
            structured,
            search,
            reader,
            prompts=prompts,
            zeroed=zeroed,
            knowledge=knowledge,
        )

    def describe(self) -> dict[str, Json]:
        """What tells one way of judging from another, for the header: no key, no secret."""
        seats = {seat: part.describe() for seat, part in self.parts.items()}
        told: dict[str, Json] = {"seats": seats}
        if self.search is not None:
            options = {"documents": self.search.documents} if isinstance(self.search, Counted) else {}
            seats[LIBRARY] = Part(self.search.name, options=options).describe() | {"host": self.search.host}
        knowledge: dict[str, Json] = {}
        if self.knowledge != "search":  # stored evaluations say nothing of it and went by searches
            knowledge["knowledge"] = self.knowledge
        told["judging"] = {
            "repeats": self.repeats,
            "swap": self.swap,
            "pages": self.reader.name if self.reader else "",
            **knowledge,
        }
        return told

    async def tried(self) -> Trial:
        """What the endpoints take: each was asked once, by a cheap call or two, when this was first called.

        Raises UsageError: a key is missing, or an endpoint does not answer.
        """
        if not self._tried:
            for error in self.missing.values():
                raise error
            models = {seat: part.model for seat, part in self.parts.items() if part.model is not None}
            plain = {seat: model for seat, model in models.items() if "temperature" not in self.parts[seat].sampling}
            if self.untried:
                zeroed = await zeroable(plain) if self.repeats == 1 else frozenset()
                self._tried.append(Trial(await takers(models), zeroed))
            else:
                self._tried.append(Trial(self.structured, self.zeroed))
        return self._tried[0]

    def forbidden(self) -> dict[str, str]:
        """What restricted cases must not be shown to: the first such host by seat."""
        hosts = {seat: part.model.hosts for seat, part in self.parts.items() if part.model is not None}
        if self.search is not None:
            hosts[LIBRARY] = (self.search.host,)
        closed = {seat: [host for host in some if not allowed(host, self.allow_hosts)] for seat, some in hosts.items()}
        return {seat: some[0] for seat, some in closed.items() if some}

    def specs(self) -> dict[str, str]:
        """SPEC by seat, for budgets."""
        return {seat: part.spec for seat, part in self.parts.items()}

    def with_search(self, search: Search, reader: Reader | None) -> "Court":
        """The same judges, who look things up there. Whoever opened the search closes it, this court the judges."""
        return replace(self, search=search, reader=reader)

    def gates(self) -> list[Gates]:
        """The ways to the judges' endpoints, each once."""
        return list({id(part.gates): part.gates for part in self.parts.values() if part.gates}.values())

    async def aclose(self) -> None:
        """Close models, search and reader."""
        for part in self.parts.values():
            if part.model is not None:
                await part.model.aclose()
        for one in (self.search, self.reader):
            if one is not None:
                await one.aclose()
