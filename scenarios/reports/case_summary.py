"""The summary of a case report, item by item, and a curator's draft of a case."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from types import MappingProxyType

from pydantic import ValidationError

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Category, Provenance, split_report
from wardround.scenarios.loaders.medr import CaseReport
from wardround.scenarios.reports.article import Article, Kind, article_sentences, unmarked_line
from wardround.scenarios.reports.reply_parsers import ANSWER, DIFFERENTIAL, EXPLANATION, SUMMARY, without_citations

MISSING = "Not reported."
"""The text of an item that the article does not report."""

ITEMS: Mapping[Kind, Sequence[str]] = {
    "diagnosis": (
        "Patient Information",
        "Chief Complaint",
        "History of Present Illness",
        "Past Medical History",
        "Personal History",
        "Family History",
        "Physical Examination",
        "Ancillary Tests",
    ),
    "treatment": (
        "Patient Demographics",
        "Chief Complaint",
        "History of Present Illness",
        "Past Medical History",
        "Allergies",
        "Family History",
        "Social History",
        "Physical Exam",
        "Lab Events",
        "Imaging Events",
        "Final Diagnostic Results",
    ),
}
"""The items of each kind of case, in their order (MedR-Bench, prompts 2 and 3)."""

_ITEM = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*\u2022+]|\d{1,2}[.)])?[ \t]*(?P<label>[^:\n]{2,60}?)[ \t]*:[ \t]*(?P<rest>.*)$"
)


def summary_items(summary: str, kind: Kind) -> dict[str, str]:
    """Map each item to its text: the known items first, in their order, then others.

    Indented lines belong to the item above them. If an item occurs twice, for instance for two patients, its texts are
    joined. A text without items is the history of present illness.
    """
    known = {name.lower(): name for name in ITEMS[kind]}
    listed: dict[str, list[str]] = {}
    current = ""
    for line in summary.splitlines():
        item = _ITEM.match(line.replace("**", "").replace("__", ""))
        label = unmarked_line(item["label"]).lower() if item else ""
        # An unindented line with a label opens an item; so does a known label at any indentation.
        if item and (label in known or (not item["indent"] and _bulleted(line) and current != _last(kind))):
            current = known.get(label, unmarked_line(item["label"]))
            listed.setdefault(current, []).append(item["rest"].strip())
        elif line.strip():
            current = current or "History of Present Illness"
            listed.setdefault(current, []).append(line.rstrip())
    texts = {name: "\n".join(lines).strip("\n") for name, lines in listed.items()}
    first = {name: texts[name] for name in ITEMS[kind] if name in texts}
    return {**first, **{name: text for name, text in texts.items() if name not in first}}


def _last(kind: Kind) -> str:
    """The item to which even lines without indentation belong: the list of tests; '' if the kind has none."""
    return "Ancillary Tests" if kind == "diagnosis" else ""


def completed(items: Mapping[str, str], kind: Kind) -> dict[str, str]:
    """`items` with every item of the kind; a missing or blank one becomes `MISSING`."""
    made = {name: items[name] if items.get(name, "").strip() else MISSING for name in ITEMS[kind]}
    last = _last(kind)
    others = {name: text for name, text in items.items() if name not in made and text.strip()}
    if last not in made:
        return {**made, **others}
    tests = made.pop(last)  # the withheld part must come last
    return {**made, **others, last: tests}


def summary_text(items: Mapping[str, str]) -> str:
    """The items as one text, in the form of the published cases."""
    return "\n".join(f"- {name}:{_below(text)}" for name, text in items.items())


def _below(text: str) -> str:
    """The text after an item's colon, and the lines below it, indented."""
    lines = [line.replace("\t", "    ") for line in text.splitlines() if line.strip()]
    head = f" {lines.pop(0).strip()}" if lines and not _bulleted(lines[0]) else ""
    below = dedent("\n".join(lines)).splitlines()
    return head + "".join(f"\n  {line.rstrip()}" for line in below)


def _bulleted(line: str) -> bool:
    return bool(re.match(r"\s*(?:[-*\u2022+]|\d{1,2}[.)])\s", line))


_NONE: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class CaseDraft:
    """A curator's draft of a case.

    `sections` are its sections by their names in `reply_parsers` (SUMMARY, ANSWER ...). `cited` maps sentences of the
    summary and the answer, by their `article.sentence_key`, to the numbers of the article's sentences that the curator
    cites for them. `verdicts` maps them to what a second reader says.
    """

    kind: Kind
    article: Article
    sections: Mapping[str, str]
    category: Category
    cited: Mapping[str, Sequence[int]] = field(default_factory=dict)
    verdicts: Mapping[str, str] = field(default_factory=dict)

    @property
    def id(self) -> str:
        """The id of the article with the kind, because one article may give two cases."""
        return f"{self.article.id}-{self.kind}"

    @property
    def opening(self) -> str:
        """The text that a doctor reads first."""
        return split_report(self.sections[SUMMARY])[0] if self.kind == "diagnosis" else self.sections[SUMMARY]

    @property
    def answer(self) -> str:
        """The name of the diagnosis, or the treatment."""
        return " ".join(self.sections[ANSWER].split())


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a case was dropped, with the words that show it."""

    why: str
    evidence: tuple[str, ...] = ()


def cited_draft(
    kind: Kind, article: Article, sections: Mapping[str, str], category: Category, verdicts: Mapping[str, str] = _NONE
) -> CaseDraft:
    """The draft of the sections that a curator wrote; the citations move from the texts into `cited`."""
    read = {name: without_citations(text) for name, text in sections.items()}
    cited = {key: numbers for name in (ANSWER, SUMMARY) if name in read for key, numbers in read[name][1].items()}
    return CaseDraft(kind, article, {name: text for name, (text, _) in read.items()}, category, cited, verdicts)


def finished_drafts(article: Article, facts: Mapping[str, Json]) -> tuple[CaseDraft, ...]:
    """The drafts in the facts of a finished curation."""
    rare = facts.get("rare")
    category = Category(
        body_systems=tuple(facts.get("body_systems", ())),
        disorders=tuple(facts.get("disorders", ())),
        rare=_rare(article, rare, facts),
    )
    kinds: tuple[Kind, ...] = ("diagnosis", "treatment")
    verdicts = facts.get("verdicts", {})
    return tuple(
        cited_draft(kind, article, facts[kind], category, verdicts.get(kind, _NONE)) for kind in kinds if kind in facts
    )


def _rare(article: Article, verdicts: Json, facts: Mapping[str, Json]) -> bool | None:
    """True if a candidate was confirmed, False if none was; None if a question was declined or none was sought."""
    if verdicts and any(verdicts.values()):
        return True
    if any(step.startswith("rare ") for step in facts.get("declined", {})):
        return None
    return False if article.linked else None


def report_case(draft: CaseDraft, *, parted: bool) -> Case | Drop:
    """The case, built as MedR-Bench's loader builds it from the same parts; a Drop if a field is not valid.

    `parted` divides a diagnosis case into complaint, history and examination, which a consultation shows one by one.
    Older builds did not divide it.
    """
    article, reasoning = draft.article, draft.sections.get(EXPLANATION, "")
    provenance = Provenance(
        source=f"case report, {article.source}" if article.source else "case report",
        record=article.id,
        dated=article.published,
        licence=article.licence,
    )
    report = CaseReport(draft.id, draft.sections[SUMMARY], draft.category, provenance, article.data_class)
    try:
        if draft.kind == "treatment":
            return report.treatment_case(draft.answer, reasoning)
        return report.diagnosis_case(draft.answer, draft.sections.get(DIFFERENTIAL, ""), reasoning, parted=parted)
    except ValidationError as error:
        fault = error.errors()[0]
        return Drop(f"field {'.'.join(map(str, fault['loc']))}: {fault['msg']}")


_LABELLED = re.compile(r"^\s*(?:[-*\u2022+]|\d{1,2}[.)])?\s*\**(?P<label>[A-Z][^:\n]{1,60}?)\**\s*:\**\s*(?P<rest>.*)$")
_KNOWN_LABELS = frozenset(label.lower() for labels in ITEMS.values() for label in labels)


def item_sentences(summary: str) -> Iterator[tuple[str, str]]:
    """(item, sentence) for each sentence of a summary, without the labels of its items."""
    item = ""
    for line in summary.splitlines():
        match = _LABELLED.match(line)
        rest = line
        if match and unmarked_line(match["label"]).lower() in _KNOWN_LABELS:
            item, rest = unmarked_line(match["label"]), match["rest"]
        for sentence in article_sentences(rest):
            yield item, sentence


@dataclass(frozen=True, slots=True)
class Unfaithful:
    """A statement that the article contradicts.

    `kind` is 'sex', 'side', 'negation', 'number' or 'verdict'. `words` are those that decide, `said` is the sentence of
    the case in its `item`, and `article` are the sentences of the article that contradict it.
    """

    kind: str
    words: str
    said: str
    article: str
    item: str
