"""Checks finished curations and counts the fate of each article, step by step."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from wardround.engine.records import Ending, Json
from wardround.scenarios.build_steps import BuildStep, steps_table, why_no_case
from wardround.scenarios.case import Case
from wardround.scenarios.reports.article import Article, CurationOptions
from wardround.scenarios.reports.case_summary import CaseDraft, Drop, finished_drafts, report_case
from wardround.scenarios.reports.checks import checks, unsupported_sentences


@dataclass(slots=True)
class CurationAccount:
    """The account of a build: `spent` is the cost of its calls, `dropped` lists what was lost after a model was asked.

    `unsupported` maps a kept case to its sentences that the article does not support.
    """

    run: str
    model: str
    options: CurationOptions
    steps: Sequence[BuildStep]
    articles: int
    cases: Mapping[str, int]
    open: int
    seed: int = 0
    source: str = ""
    spent: Mapping[str, Json] = field(default_factory=dict)
    skipped: Sequence[tuple[str, str]] = ()
    dropped: Sequence[Mapping[str, Json]] = ()
    unsupported: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def json(self) -> dict[str, Json]:
        """The whole account as JSON."""
        return {
            "source": self.source,
            "run": self.run,
            "model": self.model,
            "articles": self.articles,
            "cases": sum(self.cases.values()),
            "kinds": dict(self.cases),
            "open": self.open,
            "seed": self.seed,
            "flow": [step.json() for step in self.steps],
            "spent": dict(self.spent),
            "skipped": [{"article": name, "why": why} for name, why in self.skipped],
            "dropped": list(self.dropped),
            "unsupported": {name: list(sentences) for name, sentences in self.unsupported.items()},
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
        said = [f"{self.source}: {self.articles:,} articles read, run {self.run or '(none)'}, model {self.model}"]
        said += steps_table(self.steps)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.cases.items())
        said.append(f"{sum(self.cases.values()):,} cases ({kinds})")
        if self.open:
            said.append(f"{self.open:,} articles are not finished")
        if not any(self.cases.values()):
            said.append(f"no case was built: {why_no_case(self.steps, 'the source holds no articles')}")
        lost = [f"  {drop['id']}, rule {drop['rule']}: {drop['why']}" for drop in self.dropped[:most]]
        if lost:
            more = f"; {len(self.dropped) - most:,} more in the account" * (len(self.dropped) > most)
            said += [f"dropped after the model was asked ({len(self.dropped):,}{more}):", *lost]
        return "\n".join(said)


class Checking:
    """Checks articles one by one.

    `steps` are the rules after reading: finished, answered, relevant (articles); restructured, the checks and schema
    (cases). `dropped` lists every loss after a model was asked, with the words that show why.
    """

    def __init__(self, options: CurationOptions) -> None:
        self.options = options
        self._checks = checks(options)
        self._finished = BuildStep("finished", "the run is through with it", "article")
        self._answered = BuildStep(
            "answered", "the model could be asked, and answered so that it can be read", "article"
        )
        self._relevant = BuildStep("relevant", "it is about a diagnosis or a treatment", "article")
        self._restructured = BuildStep("restructured", "the model made a case of it; it may decline", "case")
        self._checked = {check.name: BuildStep(check.name, check.what, "case") for check in self._checks}
        self._schema = BuildStep("schema", "it is a valid case", "case")
        self.cases: dict[str, int] = dict.fromkeys(options.kinds, 0)
        self.dropped: list[Mapping[str, Json]] = []
        self.unsupported: dict[str, tuple[str, ...]] = {}

    @property
    def steps(self) -> tuple[BuildStep, ...]:
        """The steps in their order, without those switched off."""
        asked = () if "relevant" in self.options.without else (self._relevant,)
        return (self._finished, self._answered, *asked, self._restructured, *self._checked.values(), self._schema)

    @property
    def articles(self) -> int:
        """The number of articles received."""
        return self._finished.seen

    @property
    def open(self) -> int:
        """The number of articles that the run has not finished."""
        return self._finished.dropped

    def take(self, article: Article, ending: Ending | None) -> list[Case]:
        """Check one article and return its cases; `ending` is None while its episode is open."""
        self._finished.seen += 1
        if ending is None:
            self._finished.drop()
            return []
        self._answered.seen += 1
        if ending.cause != "completed":
            why = f"{ending.cause}/{ending.reason}" if ending.reason else ending.cause
            self._lost(self._answered, article.id, Drop(f"{why}: {ending.detail}"), why)
            return []
        wanted = self._wanted(article, ending.facts)
        made = []
        for kind in wanted:
            self._restructured.seen += 1
            if kind not in ending.facts:
                why = ending.facts["declined"].get(kind, "")
                self._lost(self._restructured, f"{article.id}-{kind}", Drop(f"the model declined: {why}"), "declined")
        for draft in finished_drafts(article, ending.facts):
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
            self._lost(
                self._relevant, article.id, Drop("the model would not say" if refused else "it is about neither")
            )
        return kinds

    def _built(self, draft: CaseDraft) -> Case | None:
        for check in self._checks:
            step = self._checked[check.name]
            step.seen += 1
            after = check.apply(draft)
            if isinstance(after, Drop):
                self._lost(step, draft.id, after)
                return None
            step.changed += after is not draft
            draft = after
        self._schema.seen += 1
        made = report_case(draft)
        if isinstance(made, Drop):
            self._lost(self._schema, draft.id, made)
            return None
        if "supported" in self._checked and (missing := unsupported_sentences(draft, self.options.support)):
            self.unsupported[draft.id] = missing
        return made

    def _lost(self, step: BuildStep, name: str, drop: Drop, reason: str = "") -> None:
        step.drop(reason)
        self.dropped.append({"id": name, "rule": step.rule, "why": drop.why, "evidence": list(drop.evidence)})
