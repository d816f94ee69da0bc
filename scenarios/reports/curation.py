"""The curation of case reports as a scenario: it selects articles, asks a model about each, and checks the cases.

`Curation` is the scenario: one episode for each article. `Checking` takes the finished episodes, checks the cases in
them, and counts what became of each article, step by step. `CurationAccount` reports it.
"""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import ClassVar

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.events import Acted
from wardround.engine.prompts import Prompts
from wardround.engine.records import Action, Ending, Json, View
from wardround.engine.text import count_noun
from wardround.scenarios.build_steps import BuildStep, EpisodeIntake, RunAccount, steps_table
from wardround.scenarios.case import Case
from wardround.scenarios.parsers.moves import Unusable
from wardround.scenarios.reports.article import KINDS, Article, CurationOptions, UnreadArticle, english, sentence_key
from wardround.scenarios.reports.article_files import articles
from wardround.scenarios.reports.case_summary import CaseDraft, Drop, finished_drafts, report_case
from wardround.scenarios.reports.checks import checks, open_points
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
"""Rules of reading. What they reject never becomes an article, so they cannot be switched off."""


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
    """One question to the model.

    `name` is that of its prompt and its parser (`reply_parsers.read_step`); `about` is the kind of case, the rare
    disease or the number of the finding.
    """

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
    """The curation of one article, as in MedR-Bench (section 4.1), by a curator and, if wanted, a checker.

    ::

        about diagnosis --yes--> diagnosis      (no: on)
        about treatment --yes--> treatment      (no: on)
        any case --> body_system --> disorder --> rare, one candidate after another until one is confirmed
        with a second reader: finding after finding, each with the sentences on which it rests
        no case --> completed
        a step declined (refused) --> noted, next step
        a step unreadable after the repair --> parser/unreadable; without text --> curator/no_answer
        a verdict on a finding unreadable --> noted, next step: the rules decide on that finding
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
        """The articles at `where` and at the further paths of the settings.

        Those that pass the filters have their rare diseases with them. Raises UsageError for unreadable input, unless
        the settings skip it.
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
        return next(
            (f"{rule.name}: it fails the rule: {rule.what}" for rule in self._filters if not rule.keeps(item)), None
        )

    def rules(self) -> tuple[tuple[str, str], ...]:
        """(name, what) of the rules that `lacks` applies, in their order."""
        return (*READING, *((rule.name, rule.what) for rule in self._filters))

    def start(self, case: Article) -> CurationState:
        """The state before the first question."""
        first = "about" if "relevant" not in self.settings.without else ""
        todo = tuple(CurationStep(first, kind) if first else CurationStep(kind) for kind in self.settings.kinds)
        return CurationState(case, todo, {"about": {}, "declined": {}})

    def turn(self, state: CurationState) -> str:
        """The curator; for findings, the checker."""
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
    """The findings of each case, and its diagnosis, that a second reader judges; the keys are 'KIND NUMBER'."""
    read: dict[str, FindingEvidence] = {}
    for draft in finished_drafts(article, facts):
        answer = (answer_evidence(draft),) if draft.kind == "diagnosis" else ()
        for number, one in enumerate((*case_evidence(draft), *answer), 1):
            if one.sentences:
                read[f"{draft.kind} {number}"] = one
    return read


def _left(todo: Sequence[CurationStep], reading: Reading) -> list[CurationStep]:
    """The questions left after a reading. A yes to 'about' adds the case; a confirmed rare disease ends the rest."""
    step, rest = todo[0], list(todo[1:])
    if not isinstance(reading, YesNo) or not reading.yes:
        return rest
    return [CurationStep(step.about), *rest] if step.name == "about" else []


def _noted(facts: dict[str, Json], step: CurationStep, reading: Reading, finding: str) -> dict[str, Json]:
    """`facts` with the result of a step; `finding` is the `sentence_key` of what a second reader judged."""
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


@dataclass(slots=True, kw_only=True)
class CurationAccount(RunAccount):
    """The account of a build.

    `findings` maps a kept case to its findings, each with the sentences of the article on which it rests. `listed` maps
    it to the sentences that a person should read.
    """

    model: str
    findings: Mapping[str, Sequence[Mapping[str, Json]]] = field(default_factory=dict)
    listed: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        """The whole account as JSON."""
        return {
            "source": self.source,
            "run": self.run,
            "model": self.model,
            "articles": self.read,
            "cases": sum(self.made.values()),
            "kinds": dict(self.made),
            "open": self.open,
            "seed": self.seed,
            "flow": [step.json() for step in self.steps],
            "spent": dict(self.spent),
            "skipped": [{"article": name, "why": why} for name, why in self.skipped],
            "dropped": list(self.dropped),
            "findings": {name: list(some) for name, some in self.findings.items()},
            "listed": {name: list(sentences) for name, sentences in self.listed.items()},
            "options": self.options.model_dump(mode="json"),
            "versions": {
                "wardround": version("wardround"),
                "lxml": version("lxml"),
                "rapidfuzz": version("rapidfuzz"),
                "python": platform.python_version(),
            },
        }

    def text(self, most: int = 5) -> str:
        """The table for readers, with the first reasons."""
        said = [
            f"{self.source}: {count_noun(self.read, 'article')} read, run {self.run or '(none)'}, model {self.model}"
        ]
        said += steps_table(self.steps)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.made.items())
        said.append(f"{count_noun(sum(self.made.values()), 'case')} ({kinds})")
        if self.skipped:
            more = f"; {len(self.skipped) - most:,} more in the account" if len(self.skipped) > most else ""
            said.append(f"left out before the model was asked ({len(self.skipped):,}{more}):")
            said += [f"  {name}: {why}" for name, why in self.skipped[:most]]
        return "\n".join(
            (*said, *self.closing_lines("article", "case was built", "dropped after the model was asked", most))
        )


class Checking(EpisodeIntake):
    """Checks the articles of finished episodes one by one, and counts.

    `steps` are the rules after reading: finished, answered and relevant count articles; restructured, the checks and
    schema count cases. `dropped` lists every loss after a model was asked, with the words that show why.
    """

    def __init__(self, options: CurationOptions) -> None:
        super().__init__("article", "the model could be asked, and answered so that it can be read")
        self.options = options
        self._checks = checks(options)
        self._relevant = BuildStep("relevant", "it is about a diagnosis or a treatment", "article")
        self._restructured = BuildStep("restructured", "the model made a case of it; it may decline", "case")
        self._checked = {check.name: BuildStep(check.name, check.what, "case") for check in self._checks}
        self._schema = BuildStep("schema", "it is a valid case", "case")
        self.cases: dict[str, int] = dict.fromkeys(options.kinds, 0)
        self.findings: dict[str, tuple[Mapping[str, Json], ...]] = {}
        self.listed: dict[str, tuple[str, ...]] = {}

    @property
    def steps(self) -> tuple[BuildStep, ...]:
        """The steps in their order, without those switched off."""
        asked = () if "relevant" in self.options.without else (self._relevant,)
        return (self.finished, self.answered, *asked, self._restructured, *self._checked.values(), self._schema)

    def take(self, article: Article, ending: Ending | None) -> list[Case]:
        """Check one article and return its cases; `ending` is None while its episode is open."""
        facts = self.facts(article.id, ending)
        if facts is None:
            return []
        wanted = self._wanted(article, facts)
        made = []
        for kind in wanted:
            self._restructured.seen += 1
            if kind not in facts:
                why = facts["declined"].get(kind, "")
                self._drop(self._restructured, f"{article.id}-{kind}", Drop(f"the model declined: {why}"), "declined")
        for draft in finished_drafts(article, facts):
            if (built := self._built(draft)) is not None:
                self.cases[draft.kind] += 1
                made.append(built)
        return made

    def _wanted(self, article: Article, facts: Mapping[str, Json]) -> tuple[str, ...]:
        """The kinds of case that the article can give."""
        if "relevant" in self.options.without:
            return tuple(self.options.kinds)
        self._relevant.seen += 1
        kinds = tuple(kind for kind in self.options.kinds if facts["about"].get(kind))
        if not kinds:
            refused = any(step.startswith("about ") for step in facts["declined"])
            self._drop(
                self._relevant, article.id, Drop("the model declined to answer" if refused else "it is about neither")
            )
        return kinds

    def _built(self, draft: CaseDraft) -> Case | None:
        for check in self._checks:
            step = self._checked[check.name]
            step.seen += 1
            after = check.apply(draft)
            if isinstance(after, Drop):
                self._drop(step, draft.id, after)
                return None
            step.changed += after is not draft
            draft = after
        self._schema.seen += 1
        made = report_case(draft, parted=self.options.citations)
        if isinstance(made, Drop):
            self._drop(self._schema, draft.id, made)
            return None
        self.findings[draft.id] = tuple(
            {"item": one.item, "finding": one.finding, "sentences": list(one.sentences), "cited": one.cited}
            for one in case_evidence(draft)
        )
        if "supported" in self._checked and (to_read := open_points(draft, self.options.support)):
            self.listed[draft.id] = to_read
        return made

    def lost(self, name: str, rule: str, why: str, evidence: Sequence[str] = ()) -> None:
        """Add an article or a draft that gave no case to `dropped`, with the words that show why."""
        self.dropped.append({"id": name, "rule": rule, "why": why, "evidence": list(evidence)})

    def _drop(self, step: BuildStep, name: str, drop: Drop, reason: str = "") -> None:
        step.drop(reason)
        self.lost(name, step.rule, drop.why, drop.evidence)
