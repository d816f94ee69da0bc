"""A case on its way out of an article: its sections as the model wrote them, changed and judged rule by rule."""

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import ValidationError

from wardround.engine.records import Json
from wardround.scenarios.case import Case, Category, Provenance, Truth
from wardround.scenarios.disclosure import split
from wardround.scenarios.loaders.bullets import investigations
from wardround.scenarios.loaders.names import group, names
from wardround.scenarios.reports.article import Article
from wardround.scenarios.reports.options import Kind
from wardround.scenarios.reports.replies import ANSWER, DIFFERENTIAL, EXPLANATION, SUMMARY


@dataclass(frozen=True, slots=True)
class Draft:
    """`told` are the sections by their names in replies.py; `category` holds what was classified."""

    kind: Kind
    article: Article
    told: Mapping[str, str]
    category: Category

    @property
    def id(self) -> str:
        """The case's id: an article may give two."""
        return f"{self.article.id}-{self.kind}"

    @property
    def opening(self) -> str:
        """What a doctor will read first."""
        return split(self.told[SUMMARY])[0] if self.kind == "diagnosis" else self.told[SUMMARY]

    @property
    def answer(self) -> str:
        """The name of the diagnosis, or the treatment."""
        return " ".join(self.told[ANSWER].split())


@dataclass(frozen=True, slots=True)
class Drop:
    """Why a case was dropped, with the words that show it."""

    why: str
    evidence: tuple[str, ...] = ()


def drafts(article: Article, facts: Mapping[str, Json]) -> tuple[Draft, ...]:
    """The drafts that a finished curation holds."""
    rare = facts.get("rare")
    category = Category(
        body_systems=tuple(facts.get("body_systems", ())),
        disorders=tuple(facts.get("disorders", ())),
        rare=_rare(article, rare, facts),
    )
    kinds: tuple[Kind, ...] = ("diagnosis", "treatment")
    return tuple(Draft(kind, article, dict(facts[kind]), category) for kind in kinds if kind in facts)


def _rare(article: Article, verdicts: Json, facts: Mapping[str, Json]) -> bool | None:
    """True if a candidate was confirmed, False if all were not or there was none; None where a check was declined."""
    if verdicts and any(verdicts.values()):
        return True
    if any(step.startswith("rare ") for step in facts.get("declined", {})):
        return None
    return False if article.linked else None


def case(draft: Draft) -> Case | Drop:
    """The case, as the loader of published cases of this kind would make it (loaders/medr.py)."""
    try:
        return _diagnosis(draft) if draft.kind == "diagnosis" else _treatment(draft)
    except ValidationError as error:
        fault = error.errors()[0]
        return Drop(f"field {'.'.join(map(str, fault['loc']))}: {fault['msg']}")


def _diagnosis(draft: Draft) -> Case:
    opening, ancillary = split(draft.told[SUMMARY])
    diagnosis, synonyms = names(draft.answer)
    return Case(
        id=draft.id,
        opening=opening,
        ancillary=ancillary,
        investigations=investigations(ancillary),
        truth=Truth(
            diagnosis=diagnosis,
            synonyms=synonyms,
            differential=draft.told.get(DIFFERENTIAL, "").strip(),
            reasoning=draft.told.get(EXPLANATION, "").strip(),
        ),
        group=group(diagnosis),
        category=draft.category,
        provenance=_provenance(draft.article),
        data_class=draft.article.data_class,
    )


def _treatment(draft: Draft) -> Case:
    return Case(
        id=draft.id,
        opening=draft.opening.strip("\n"),
        truth=Truth(treatment=draft.answer, reasoning=draft.told.get(EXPLANATION, "").strip()),
        category=draft.category,
        provenance=_provenance(draft.article),
        data_class=draft.article.data_class,
    )


def _provenance(article: Article) -> Provenance:
    return Provenance(
        source=f"case report, {article.source}" if article.source else "case report",
        record=article.id,
        dated=article.published,
        licence=article.licence,
    )
