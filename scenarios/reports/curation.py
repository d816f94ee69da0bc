"""The curation of case reports as a scenario: selects articles and asks a model about each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import ClassVar

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, View
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.article import KINDS, Article, CurationOptions, UnreadArticle, english, sentence_key
from wardround.scenarios.reports.article_files import articles
from wardround.scenarios.reports.case_summary import finished_drafts
from wardround.scenarios.reports.finding_evidence import FindingEvidence, answer_evidence, case_evidence
from wardround.scenarios.reports.rare_diseases import candidates
from wardround.scenarios.reports.reply_parsers import (
    CaseSections,
    Declined,
    FindingVerdict,
    Labels,
    Reading,
    YesNo,
    read_step,
)

CHECKER = "checker"
_REPORT = ("case-report", "case report", "case study", "case series", "casereport", "case-study")


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of articles; `keeps` says whether an article stays."""

    name: str
    what: str
    keeps: Callable[[Article], bool]


READING = (("readable", "the file or line can be read"), ("unique", "it was not read before"))
"""Rules of reading: their rejects never become articles, so these rules cannot be switched off."""


def filters(options: CurationOptions) -> Sequence[Filter]:
    """The filters that are switched on, in their order."""
    after, most = options.published_after, options.max_characters

    def in_english(article: Article) -> bool:
        return article.language in ("", "en") and english(article.body or article.abstract or article.title)

    rules = [
        Filter("article_type", "it is filed as a case report, where its type is stated", _report),
        Filter("body", "it has a text beside title and abstract", lambda article: bool(article.sections)),
        Filter("language", "it is in English", in_english),
        Filter("length", f"it has at most {most:,} characters", lambda article: len(article.text) <= most),
    ]
    if after is not None:
        what = f"it was published after {after}; undated counts as before"
        rules.insert(1, Filter("published_after", what, lambda article: (article.published or date.min) > after))
    return [rule for rule in rules if rule.name not in options.without]


def _report(article: Article) -> bool:
    kind = article.kind.lower()
    return not kind or any(name in kind for name in _REPORT)


_with = msgspec.structs.replace


class CurationStep(msgspec.Struct, frozen=True):
    """One question: `name` is its parser (reply_parsers.py) and prompt, `about` the kind of case or rare disease."""

    name: str
    about: str = ""

    @property
    def key(self) -> str:
        """The step's name in facts and messages."""
        return f"{self.name} {self.about}" if self.about else self.name


class CurationState(msgspec.Struct, frozen=True):
    """The state of a curation: the open questions and the results so far."""

    article: Article
    todo: tuple[CurationStep, ...]
    facts: dict[str, Json]
    ending: Ending | None = None


class Curation:
    """Paper 002, section 4.1.

    ::

        about diagnosis --yes--> diagnosis      (no: on)
        about treatment --yes--> treatment      (no: on)
        any case --> body_system --> disorder --> rare, one candidate after another until one is confirmed
        with a checker: finding, one after another, each with the sentences it rests on
        no case --> completed
        a step declined (refused) --> noted, on; unreadable after the repair --> parser; silent --> curator
        a verdict on a finding that cannot be read --> noted, on: the rules decide on that finding
    """

    name = "curation"
    seats: Sequence[str] = ("curator",)
    EXTRA_SEATS: ClassVar[Sequence[str]] = (CHECKER,)
    goal = "curation"
    Settings = CurationOptions
    Item = Article
    SAMPLING: ClassVar[dict[str, float]] = {}
    REPEATS = 1

    def __init__(self, settings: CurationOptions, prompts: Prompts) -> None:
        self.settings = settings
        self._filters = filters(settings)
        del prompts  # the curator has its own prompts

    def load(self, where: str) -> Iterator[Article | UnreadArticle]:
        """The articles at `where` and at the settings' other paths; those that pass carry their rare diseases.

        Raises UsageError for unreadable input, unless the settings skip it.
        """
        taken = 0
        paths = [Path(path) for path in (where, *self.settings.also)]
        for article in articles(paths, licence=self.settings.licence, data_class=self.settings.data_class):
            if isinstance(article, UnreadArticle):
                if article.rule == "readable" and self.settings.on_bad_row == "stop":
                    raise UsageError(f"{article.why}; --on-bad-row skip goes on without it")
                yield article
            elif self.lacks(article):
                yield article
            else:
                taken += 1
                most = self.settings.rare_candidates
                yield article.model_copy(update={"linked": most > 0, "rare": candidates(article, most)})
                if taken == self.settings.limit:
                    return

    def lacks(self, item: Article | UnreadArticle) -> str | None:
        """The rule that drops an article before a model is asked, and why; None if none does."""
        if isinstance(item, UnreadArticle):
            return f"{item.rule}: {item.why}"
        return next((f"{rule.name}: not so that {rule.what}" for rule in self._filters if not rule.keeps(item)), None)

    def rules(self) -> tuple[tuple[str, str], ...]:
        """(name, what) of the rules that `lacks` applies, in their order."""
        return (*READING, *((rule.name, rule.what) for rule in self._filters))

    def start(self, case: Article) -> CurationState:
        """The state before the first question."""
        first = "about" if "relevant" not in self.settings.without else ""
        todo = tuple(CurationStep(first, kind) if first else CurationStep(kind) for kind in self.settings.kinds)
        return CurationState(case, todo, {"about": {}, "declined": {}})

    def turn(self, state: CurationState) -> str:
        """The curator, and for findings the checker."""
        return CHECKER if state.todo[0].name == "finding" else "curator"

    def view(self, state: CurationState, seat: str) -> View:
        """The question, with as much of the article as it needs."""
        step, article = state.todo[0], state.article
        known: dict[str, Json] = {"step": step.name, "about": step.about}
        if step.name == "finding":
            one = _findings(article, state.facts)[step.about]
            sentences = "\n".join(f"- {sentence}" for sentence in one.sentences)
            known |= {"piece": step.about, "item": one.item, "finding": one.finding, "sentences": sentences}
        elif step.name not in KINDS:
            known["article"] = article.digest
        elif self.settings.citations:
            known |= {"article": article.numbered_text, "numbered": True}
        else:
            known["article"] = article.full_text
        return View(seat, f"Step: {step.key}.", (), ("reply", "decline"), known)

    def ending(self, state: CurationState) -> Ending | None:
        """How the episode ended; None if it is still running."""
        return state.ending

    def apply(self, state: CurationState, event: Acted) -> CurationState:
        """The state after an action."""
        step, reading = state.todo[0], self._read(state.todo[0], event.action)
        if isinstance(reading, Unusable) and step.name == "finding":
            reading = Declined(reading.why)
        if isinstance(reading, Unusable):
            cause, reason = ("curator", "no_answer") if reading.fault == "empty" else ("parser", "unreadable")
            return _with(state, ending=Ending(cause, reason, f"{step.key}: {reading.why}", state.facts))
        finding = ""
        if step.name == "finding":
            finding = sentence_key(_findings(state.article, state.facts)[step.about].finding)
        facts = _noted(state.facts, step, reading, finding)
        todo = _left(state.todo, reading)
        if not todo and step.name in ("about", *KINDS) and any(kind in facts for kind in KINDS):
            rare = (CurationStep("rare", candidate.name) for candidate in state.article.rare)
            todo = [CurationStep("body_system"), CurationStep("disorder"), *rare]
        if not todo and step.name != "finding" and self.settings.second_reader:
            todo = [CurationStep("finding", about) for about in _findings(state.article, facts)]
        ending = None if todo else Ending("completed", facts=facts)
        return _with(state, todo=tuple(todo), facts=facts, ending=ending)

    def _read(self, step: CurationStep, action: Action) -> Reading:
        if action.verb == "decline":
            return Declined(action.text.strip() or "no reason given")
        return read_step(step.name, action.text)


def _findings(article: Article, facts: Mapping[str, Json]) -> dict[str, FindingEvidence]:
    """What a second reader reads, by 'KIND NUMBER': the findings of each case and its diagnosis."""
    read: dict[str, FindingEvidence] = {}
    for draft in finished_drafts(article, facts):
        answer = (answer_evidence(draft),) if draft.kind == "diagnosis" else ()
        for number, one in enumerate((*case_evidence(draft), *answer), 1):
            if one.sentences:
                read[f"{draft.kind} {number}"] = one
    return read


def _left(todo: Sequence[CurationStep], reading: Reading) -> list[CurationStep]:
    """The questions left after a reading: cases that the article is about, no rare disease after a confirmed one."""
    step, rest = todo[0], list(todo[1:])
    if not isinstance(reading, YesNo) or not reading.yes:
        return rest
    return [CurationStep(step.about), *rest] if step.name == "about" else []


def _noted(facts: dict[str, Json], step: CurationStep, reading: Reading, finding: str) -> dict[str, Json]:
    """`facts` with the result of a step; `finding` is the key of what a second reader read."""
    if isinstance(reading, Declined):
        return {**facts, "declined": {**facts["declined"], step.key: reading.why}}
    if isinstance(reading, FindingVerdict):
        kind, _, _ = step.about.partition(" ")
        verdicts = facts.get("verdicts", {})
        return {**facts, "verdicts": {**verdicts, kind: {**verdicts.get(kind, {}), finding: reading.word}}}
    if isinstance(reading, CaseSections):
        return {**facts, step.name: reading.sections}
    if isinstance(reading, Labels):
        return {**facts, ("body_systems" if step.name == "body_system" else "disorders"): list(reading.names)}
    assert isinstance(reading, YesNo)
    if step.name == "about":
        return {**facts, "about": {**facts["about"], step.about: reading.yes}}
    return {**facts, "rare": {**facts.get("rare", {}), step.about: reading.yes}}
