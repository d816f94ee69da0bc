"""A court at work in one store: what it asked there and found there, which is no other store's."""

from typing import Any

from wardround.cast import Part
from wardround.court import Court, Trial
from wardround.engine.cache import StoreCache
from wardround.engine.episode import Caster
from wardround.engine.models.guard import Guarded as GuardedModel
from wardround.engine.models.single import Single
from wardround.engine.models.wellformed import WellFormed
from wardround.engine.protocols import Agent, Evaluator, Model, Store
from wardround.engine.seat import Seat, Voice
from wardround.evaluators.bench import Bench
from wardround.evaluators.evaluation import SEAT, Evaluating, Judged
from wardround.evaluators.evidence.consulted import ConsultedReader, ConsultedSearch, Consulting
from wardround.evaluators.evidence.guarded import Guarded, GuardedReader
from wardround.evaluators.evidence.ledger import Ledger
from wardround.evaluators.evidence.page import Reader
from wardround.evaluators.evidence.recording import Recording, RecordingReader
from wardround.evaluators.evidence.search import LIBRARY, Search
from wardround.evaluators.judging.judge import Judge
from wardround.evaluators.judging.model_judge import ModelJudge
from wardround.evaluators.judging.panel import Panel
from wardround.evaluators.judging.signed import Signed
from wardround.evaluators.lexical.judge import LexicalJudge


class Sitting:
    """`court` judges episodes of one store; `agreed` is what its endpoints are asked for, if not what the court says.

    It opens nothing and closes nothing: models, search and reader are the court's.
    """

    def __init__(self, court: Court, store: Store, agreed: Trial | None = None) -> None:
        self._court, self._store = court, store
        self._agreed = agreed or Trial(court.structured, court.zeroed)
        self._ledger, self._signed = Ledger(store), Signed()
        self._singles: dict[str, Single] = {}
        self._consulted: dict[bool, Consulting] = {}

    def caster(self, evaluator: Evaluator, judged: Judged, episode: str, seed: int) -> Caster:
        """A function that makes the judging agent of one episode."""

        def cast(name: str, voice: Any) -> Agent:
            return Evaluating(evaluator, judged, self._bench(name, voice, judged, episode, seed))

        return cast

    def _bench(self, name: str, voice: Any, judged: Judged, episode: str, seed: int) -> Seat:
        court = self._court
        restricted = judged.case.data_class == "restricted"
        voices = {seat: self._voice(seat, voice, episode, restricted=restricted) for seat in court.parts}
        judges = [self._judge(seat, part, voices[seat]) for seat, part in court.parts.items()]
        search: Search | None = None
        reader: Reader | None = None
        if court.search is not None:
            heard: Voice = voice(self._consulting(court.search, restricted=restricted), {}, LIBRARY)
            search = ConsultedSearch(court.search.name, heard, self._ledger)
            reader = ConsultedReader(court.reader.name, heard, self._ledger) if court.reader else None
        return Bench(
            name=name,
            case_id=judged.case.id,
            seed=seed,
            prompts=court.prompts,
            options=court.parts[SEAT].options,
            model=voices[SEAT],
            panel=Panel(judges, repeats=court.repeats, swap=court.swap),
            search=search,
            reader=reader,
            signed=self._signed,
            knowledge=court.knowledge,
            controls=judged.controls,
        )

    def _voice(self, seat: str, voice: Any, episode: str, *, restricted: bool) -> Voice | None:
        part = self._court.parts[seat]
        if part.model is None:
            return None
        if seat not in self._singles:  # a judge's question has one answer, in whichever episode it comes up
            cache = StoreCache(self._store, f"{part.spec}\x1f{part.address}", None)
            self._singles[seat] = Single(WellFormed(part.model), cache)
        reached = self._singles[seat].bound(seat, episode)
        guarded = GuardedModel(reached, self._court.allow_hosts, restricted=restricted)
        coolest = {"temperature": 0.0} if seat in self._agreed.zeroed else {}
        heard: Voice = voice(guarded, {**part.sampling, **coolest}, seat)
        return heard

    def _judge(self, seat: str, part: Part, voice: Voice | None) -> Judge:
        if voice is None:
            return LexicalJudge(seat)
        structured, seed = seat in self._agreed.structured, part.sampling.get("seed")
        return ModelJudge(seat, part.spec, voice, self._court.prompts, structured=structured, seed=seed)

    def _consulting(self, search: Search, *, restricted: bool) -> Model:
        """The search and the reader, recorded; a restricted case's go nowhere that is not allowed."""
        if restricted not in self._consulted:
            hosts, ledger, pages = self._court.allow_hosts, self._ledger, self._court.reader
            reader = None
            if pages is not None:
                reader = RecordingReader(GuardedReader(pages, hosts, restricted=restricted), ledger)
            recording = Recording(Guarded(search, hosts, restricted=restricted), ledger)
            self._consulted[restricted] = Consulting(recording, reader)
        return self._consulted[restricted]
