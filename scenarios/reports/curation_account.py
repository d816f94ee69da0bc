"""Checks finished curations and counts the fate of each article, step by step."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version

from wardround.engine.records import Ending, Json
from wardround.scenarios.build_steps import BuildStep, EpisodeIntake, RunAccount, steps_table
from wardround.scenarios.case import Case
from wardround.scenarios.reports.article import Article, CurationOptions
from wardround.scenarios.reports.case_summary import CaseDraft, Drop, finished_drafts, report_case
from wardround.scenarios.reports.checks import checks, open_points
from wardround.scenarios.reports.finding_evidence import case_evidence


@dataclass(slots=True, kw_only=True)
class CurationAccount(RunAccount):
    """The account of a build.

    `findings` maps a kept case to its findings, each with the article's sentences that it rests on; `listed` to those
    that a person should read.
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
        said = [f"{self.source}: {self.read:,} articles read, run {self.run or '(none)'}, model {self.model}"]
        said += steps_table(self.steps)
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.made.items())
        said.append(f"{sum(self.made.values()):,} cases ({kinds})")
        return "\n".join(
            (*said, *self.closing_lines("articles", "case was built", "dropped after the model was asked", most))
        )


class Checking(EpisodeIntake):
    """Checks articles one by one.

    `steps` are the rules after reading: finished, answered, relevant (articles); restructured, the checks and schema
    (cases). `dropped` lists every loss after a model was asked, with the words that show why.
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
                self._relevant, article.id, Drop("the model would not say" if refused else "it is about neither")
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
        made = report_case(draft)
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
        """List an article or a draft that gave no case, with the words that show why."""
        self.dropped.append({"id": name, "rule": rule, "why": why, "evidence": list(evidence)})

    def _drop(self, step: BuildStep, name: str, drop: Drop, reason: str = "") -> None:
        step.drop(reason)
        self.lost(name, step.rule, drop.why, drop.evidence)
