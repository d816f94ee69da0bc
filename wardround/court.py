"""Who judges, and with what: the panel, the search, and what of it goes into the header of the judges' run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from wardround.cast import Part
from wardround.engine.cache import StoreCache
from wardround.engine.episode import Caster
from wardround.engine.errors import UsageError
from wardround.engine.models.bound import bound
from wardround.engine.models.guard import Guarded as GuardedModel
from wardround.engine.models.guard import allowed
from wardround.engine.models.hosts import hosts_of
from wardround.engine.models.single import Single
from wardround.engine.models.structured import takers
from wardround.engine.models.unreachable import Unreachable
from wardround.engine.models.wellformed import WellFormed
from wardround.engine.prompts import Prompts
from wardround.engine.protocols import Agent, Evaluator, Model, Store
from wardround.engine.records import Json
from wardround.engine.seat import Seat, Voice
from wardround.evaluators.bench import Bench
from wardround.evaluators.evaluation import SEAT, Evaluating, Judged
from wardround.evaluators.evidence.consulted import ConsultedReader, ConsultedSearch, Consulting
from wardround.evaluators.evidence.guarded import Guarded, GuardedReader
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.page import Reader
from wardround.evaluators.evidence.recorded import Recorded, RecordedReader
from wardround.evaluators.evidence.recording import Recording, RecordingReader
from wardround.evaluators.evidence.search import Search
from wardround.evaluators.judging.judge import Judge
from wardround.evaluators.judging.model_judge import ModelJudge
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.signed import Signed
from wardround.evaluators.lexical.judge import LexicalJudge
from wardround.results import Run
from wardround.stored import LIBRARY
from wardround.wording import wording

LEXICAL = "lexical"
"""The SPEC of the offline judge."""


def seats_of(judges: Sequence[Part]) -> dict[str, Part]:
    """The judges by seat: `judge`, `judge-2`, ..."""
    return {SEAT if not place else f"{SEAT}-{place + 1}": part for place, part in enumerate(judges)}


@dataclass(slots=True)
class Court:
    """The judges of a run by seat, how often each is asked, and what they may look things up with.

    `structured` names the seats whose endpoint takes a schema of the reply. `reader` reads the pages that a search
    names. `allow_hosts` are hosts that restricted cases may be sent to. `untried`: the endpoints are still to be tried,
    and `missing` says by seat what is to be said then, such as that there is no key. Close it with `aclose`.
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
    _takers: frozenset[str] | None = None
    _consulted: dict[bool, Consulting] = field(default_factory=dict)
    _ledger: Ledger | None = None
    _signed: Signed = field(default_factory=Signed)
    _singles: dict[str, Single] = field(default_factory=dict)

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
        return cls(parts, judging["repeats"], judging["swap"], structured, search, reader, prompts=prompts)

    def describe(self) -> dict[str, Json]:
        """What tells one way of judging from another, for the header: no key, no secret."""
        seats = {seat: part.describe() for seat, part in self.parts.items()}
        told: dict[str, Json] = {"seats": seats}
        if self.search is not None:
            options = {"documents": documents} if (documents := getattr(self.search, "documents", None)) else {}
            seats[LIBRARY] = Part(self.search.name, options=options).describe() | {"host": self.search.host}
        told["judging"] = {
            "repeats": self.repeats,
            "swap": self.swap,
            "pages": self.reader.name if self.reader else "",
        }
        return told

    async def tried(self) -> frozenset[str]:
        """The seats whose endpoints take a schema: each was asked once, by one cheap call, when this was first called.

        Raises UsageError: a key is missing, or an endpoint does not answer.
        """
        if self._takers is None:
            for error in self.missing.values():
                raise error
            models = {seat: part.model for seat, part in self.parts.items() if part.model is not None}
            self._takers = await takers(models) if self.untried else self.structured
        return self._takers

    def forbidden(self) -> dict[str, str]:
        """What restricted cases must not be shown to: the first such host by seat."""
        hosts = {seat: hosts_of(part.model) for seat, part in self.parts.items() if part.model is not None}
        if self.search is not None:
            hosts[LIBRARY] = (self.search.host,)
        closed = {seat: [host for host in some if not allowed(host, self.allow_hosts)] for seat, some in hosts.items()}
        return {seat: some[0] for seat, some in closed.items() if some}

    def specs(self) -> dict[str, str]:
        """SPEC by seat, for budgets."""
        return {seat: part.spec for seat, part in self.parts.items()}

    def gates_told(self) -> list[Json]:
        """How the judges' endpoints stand, each once."""
        gates = {id(part.gates): part.gates for part in self.parts.values() if part.gates}
        return [line for gate in gates.values() for line in gate.told()]

    def caster(self, evaluator: Evaluator, judged: Judged, store: Store, episode: str, seed: int) -> Caster:
        """A function that makes the judging agent of one episode."""

        def cast(name: str, voice: Any) -> Agent:
            bench = self._bench(name, voice, judged, store, episode, seed)
            return Evaluating(evaluator, judged, bench)

        return cast

    def _bench(self, name: str, voice: Any, judged: Judged, store: Store, episode: str, seed: int) -> Seat:
        restricted = judged.case.data_class == "restricted"
        voices = {seat: self._voice(seat, voice, store, episode, restricted=restricted) for seat in self.parts}
        judges = [self._judge(seat, part, voices[seat]) for seat, part in self.parts.items()]
        search: Search | None = None
        reader: Reader | None = None
        if self.search is not None:
            ledger = self._record(store)
            heard: Voice = voice(self._consulting(store, restricted), {}, LIBRARY)
            search = ConsultedSearch(self.search.name, heard, ledger)
            reader = ConsultedReader(self.reader.name, heard, ledger) if self.reader else None
        first = self.parts[SEAT]
        return Bench(
            name=name,
            case_id=judged.case.id,
            seed=seed,
            prompts=self.prompts,
            options=first.options,
            model=voices[SEAT],
            panel=Panel(judges, repeats=self.repeats, swap=self.swap),
            search=search,
            reader=reader,
            signed=self._signed,
        )

    def _voice(self, seat: str, voice: Any, store: Store, episode: str, *, restricted: bool) -> Voice | None:
        part = self.parts[seat]
        if part.model is None:
            return None
        if seat not in self._singles:  # a judge's question has one answer, in whichever episode it comes up
            cache = StoreCache(store, f"{part.spec}\x1f{part.address}", None)
            self._singles[seat] = Single(WellFormed(part.model), cache)
        reached = bound(self._singles[seat], seat, episode)
        heard: Voice = voice(GuardedModel(reached, self.allow_hosts, restricted=restricted), part.sampling, seat)
        return heard

    def _judge(self, seat: str, part: Part, voice: Voice | None) -> Judge:
        if voice is None:
            return LexicalJudge(seat)
        return ModelJudge(
            seat, part.spec, voice, self.prompts, structured=seat in self.structured, seed=part.sampling.get("seed")
        )

    def _record(self, store: Store) -> Ledger:
        if self._ledger is None:
            self._ledger = Ledger(store)
        return self._ledger

    def _consulting(self, store: Store, restricted: bool) -> Model:
        """The search and the reader, recorded; a restricted case's go nowhere that is not allowed."""
        if restricted not in self._consulted:
            assert self.search is not None
            ledger = self._record(store)
            search = Recording(Guarded(self.search, self.allow_hosts, restricted=restricted), ledger)
            reader = None
            if self.reader is not None:
                reader = RecordingReader(GuardedReader(self.reader, self.allow_hosts, restricted=restricted), ledger)
            self._consulted[restricted] = Consulting(search, reader)
        return self._consulted[restricted]

    async def aclose(self) -> None:
        """Close models, search and reader."""
        for part in self.parts.values():
            if part.model is not None:
                await part.model.aclose()
        for one in (self.search, self.reader):
            if one is not None:
                await one.aclose()
