"""The sentences of an article on which a finding of a case rests: those that the curator cites, else the best aligned.

Alignment takes the sentences that share most concepts and numbers with the finding, weighted by how rare they are.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from wardround.scenarios.reports.article import Article, numbered_sentences, sentence_key
from wardround.scenarios.reports.case_summary import MISSING, CaseDraft, item_sentences
from wardround.scenarios.reports.quantities import quantities
from wardround.scenarios.reports.reply_parsers import ANSWER, SUMMARY, without_citations
from wardround.scenarios.reports.statements import patient_text, text_concepts

_LABEL = re.compile(r"^[^:]{1,60}:\s+(?=\S)")
_FEWEST_CONCEPTS = 2
"""A finding with fewer concepts and numbers than this ('Hypertension.') would fit any article."""
_EMPTY = re.compile(
    r"(?i)^(?:none|no|not|nil|unremarkable|n/?a)\b(?:\W+(?:\w+\W*){0,4})?$|.*\bnot (?:reported|specified|mentioned"
    r"|provided|documented|described|detailed|stated|available)\b.*"
)
_MOST_ALIGNED = 4
_LEAST_GAIN = 0.12
_PREFIX = 5


@dataclass(frozen=True, slots=True)
class FindingEvidence:
    """A finding of an `item` of the case, with its evidence: `sentences` of the article.

    `cited` says whether the curator named them. `covered` is the share (0 to 1) of the finding's concepts and numbers
    that they have, weighted by how rare each is in the article. `scored` is False if the finding is too short to judge.
    """

    item: str
    finding: str
    sentences: tuple[str, ...]
    cited: bool
    covered: float
    scored: bool


@dataclass(frozen=True, eq=False)
class ArticleIndex:
    """The sentences of an article with their concepts, and how much each concept weighs."""

    sentences: tuple[str, ...]
    concepts: tuple[frozenset[str], ...]
    weights: Mapping[str, float]
    patient: frozenset[str]
    """The sentences that speak of the patient."""

    def weight(self, name: str) -> float:
        """The weight of a concept or number: the rarer it is in the article, the larger."""
        return self.weights.get(name, 1.0)


@lru_cache(maxsize=32)
def article_index(article: Article) -> ArticleIndex:
    """The index of an article."""
    sentences = numbered_sentences(article.numbered_text)
    concepts = tuple(with_prefixes(frozenset(_features(one))) for one in sentences)
    counts: dict[str, int] = {}
    for one in concepts:
        for name in one:
            counts[name] = counts.get(name, 0) + 1
    weights = {name: 1 / (1 + math.log(count)) for name, count in counts.items()}
    patient = patient_text(article)
    return ArticleIndex(sentences, concepts, weights, frozenset((*patient.case, *patient.discussed)))


@lru_cache(maxsize=8192)
def _features(sentence: str) -> tuple[str, ...]:
    """The concepts and the numbers of a sentence."""
    return (
        *dict.fromkeys(text_concepts(sentence)),
        *dict.fromkeys(f"#{one.value:.4g}" for one in quantities(sentence)),
    )


@lru_cache(maxsize=16384)
def with_prefixes(concepts: frozenset[str]) -> frozenset[str]:
    """The concepts and their beginnings, so that 'tonsil' and 'tonsillar' count as one."""
    return concepts | frozenset(f"{name[:_PREFIX]}-" for name in concepts if len(name) > _PREFIX and name[0] != "#")


def meets(name: str, concepts: frozenset[str]) -> bool:
    """Whether `concepts`, made by `with_prefixes`, have this concept or one with the same beginning."""
    return name in concepts or (len(name) >= _PREFIX and f"{name[:_PREFIX]}-" in concepts)


def case_evidence(draft: CaseDraft) -> tuple[FindingEvidence, ...]:
    """Each finding of a draft's summary with its sentences of the article."""
    index = article_index(draft.article)
    return tuple(
        _evidence(item, finding, cited_numbers(draft, finding), index)
        for item, finding in item_sentences(draft.sections[SUMMARY])
        if finding != MISSING
    )


def cited_numbers(draft: CaseDraft, finding: str) -> tuple[int, ...]:
    """The numbers of the article's sentences that the curator cites for a finding; numbers that do not exist are left
    out."""
    most = len(article_index(draft.article).sentences)
    return tuple(number for number in draft.cited.get(sentence_key(finding), ()) if 0 < number <= most)


def _evidence(item: str, finding: str, cited: Sequence[int], index: ArticleIndex) -> FindingEvidence:
    said = _features(_LABEL.sub("", finding)) or _features(finding)
    places = [number - 1 for number in cited]
    chosen = places or _aligned(said, index)
    covered = _share(said, frozenset().union(*(index.concepts[place] for place in chosen)), index)
    scored = len(said) >= _FEWEST_CONCEPTS and not _EMPTY.fullmatch(finding)
    behind = tuple(index.sentences[place] for place in chosen)
    return FindingEvidence(item, finding, behind, bool(places), covered, scored)


def _share(said: Sequence[str], concepts: frozenset[str], index: ArticleIndex) -> float:
    total = sum(index.weight(name) for name in said)
    return sum(index.weight(name) for name in said if meets(name, concepts)) / total if total else 1.0


def _aligned(said: Sequence[str], index: ArticleIndex) -> list[int]:
    """The places of the sentences that have most of a finding; each further one has most of what is still missing."""
    chosen: list[int] = []
    left = list(said)
    total = sum(index.weight(name) for name in said) or 1.0
    while left and len(chosen) < _MOST_ALIGNED:
        gains = [sum(index.weight(name) for name in left if meets(name, one)) for one in index.concepts]
        best = max(range(len(gains)), key=lambda place: (gains[place], -place), default=-1)
        if best < 0 or gains[best] < _LEAST_GAIN * total:
            break
        chosen.append(best)
        left = [name for name in left if not meets(name, index.concepts[best])]
    return chosen


def answer_evidence(draft: CaseDraft) -> FindingEvidence:
    """The answer, with the sentences cited for it or the best aligned."""
    return _evidence("answer", draft.answer, cited_numbers(draft, draft.answer), article_index(draft.article))


def aligned_sentences(finding: str, article: Article) -> tuple[int, ...]:
    """The numbers of the article's sentences that have most of a finding."""
    return tuple(place + 1 for place in _aligned(_features(finding), article_index(article)))


def citation_fault(sections: Mapping[str, str], numbered_text: str) -> str:
    """What is wrong with the citations of a reply; '' if nothing is, or if it cites nothing.

    Wrong is a number that the article does not have, or a sentence that shares nothing with its finding.
    """
    sentences = numbered_sentences(numbered_text)
    for name in (SUMMARY, ANSWER):
        text, cited = without_citations(sections.get(name, ""))
        if wrong := [number for numbers in cited.values() for number in numbers if not 0 < number <= len(sentences)]:
            return f"it cites sentence {wrong[0]}, but the article has {len(sentences)}"
        for _, finding in item_sentences(text) if name == SUMMARY else ():
            said = _features(_LABEL.sub("", finding))
            numbers = cited.get(sentence_key(finding), ())
            concepts = frozenset(name for number in numbers for name in _features(sentences[number - 1]))
            if (
                numbers
                and len(said) >= _FEWEST_CONCEPTS
                and not any(meets(one, with_prefixes(concepts)) for one in said)
            ):
                return f"the sentences {list(numbers)} say nothing of {finding[:80]!r}"
    return ""


_ACRONYM = re.compile(r"\b[A-Z]{3,5}\b")
_JUDGED = re.compile(
    r"\b([A-Za-z]?[A-Z]{1,4})(?= (?:Ab |Ag |PCR |enhancement )?(?:neg|pos|negative|positive|absent|present)\b)"
)


_JOINING = frozenset(("and", "the", "with", "for", "was", "were", "but", "had", "who", "his", "her"))


@lru_cache(maxsize=4096)
def spelled_out(finding: str, sentences: tuple[str, ...]) -> str:
    """A finding with its acronyms written out by words of the sentences with these initials.

    'AFB' becomes 'acid-fast bacilli'. An acronym before a result may also have letters from inside the words: 'OCB' of
    'OCB neg' becomes 'oligoclonal bands'.
    """
    words = re.findall(r"[A-Za-z]+|[.,;:()]", " ".join(sentences))
    initials = "".join(word[0].upper() for word in words)

    def spelled(acronym: re.Match[str]) -> str:
        at = initials.find(acronym[0])
        named = words[at : at + len(acronym[0])]
        plain = at >= 0 and all(len(word) > 2 and not word.isupper() and word not in _JOINING for word in named)
        return " ".join(named) if plain else acronym[0]

    def judged(acronym: re.Match[str]) -> str:
        if acronym[0] in words:
            return acronym[0]
        pattern = r"\w*".join(rf"(?:[ -])?{letter}" if place else letter for place, letter in enumerate(acronym[1]))
        named = re.search(rf"(?i)\b{pattern}\w*", " ".join(sentences))
        return named[0] if named and len(named[0].split()) > 1 else acronym[0]

    return _JUDGED.sub(judged, _ACRONYM.sub(spelled, finding))
