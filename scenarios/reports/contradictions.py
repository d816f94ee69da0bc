"""Finds contradictions between a finding of a case and the sentences of the article on which it rests (its evidence).

They are of sex, sides and denials. Only a certain contradiction counts: the sentences name the same thing and say the
opposite of it. What they do not mention is no contradiction; a person should read it (`checks.open_points`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from wardround.scenarios.reports.article import comparable
from wardround.scenarios.reports.case_summary import Unfaithful
from wardround.scenarios.reports.denials import StatedItem, stated_items
from wardround.scenarios.reports.finding_evidence import ArticleIndex, FindingEvidence, spelled_out
from wardround.scenarios.reports.patient_sex import of_relatives, relative_contradictions, sex_contradictions
from wardround.scenarios.reports.sides import SIDE_WORDS, side_contradictions
from wardround.scenarios.reports.statements import GENERIC, site, word_concept

_WEAK_TEXT = """elevat elevate lower increas reduc sever mild urin blood serum csf cerebrospinal_fluid stool size enlarg
dilat relief reliev"""
_WEAK = frozenset(_WEAK_TEXT.split())
"""Concepts that say nothing alone: degrees and specimens."""
_TESTS_TEXT = """test testing culture serology serologies antibody antibodies autoantibody antigen pcr polymerase assay
panel igg igm iga ige immunoglobulin toxin bacteria mycobacteria organism pathogen virus marker urinalysis"""
_TESTS = frozenset(word_concept(one) for one in _TESTS_TEXT.split())
"""Concepts of tests and of what they look for."""
_LOOKING_TEXT = """computed_tomography magnetic_resonance_imaging angiography angiogram radiograph ultrasound
ultrasonography echocardiogram electrocardiogram scan film imaging image biopsy histology microscopy
endoscopy colonoscopy gastroscopy laparotomy laparoscopy bronchoscopy venography fundoscopy
examination display displayed contain contained screening serology"""
_LOOKING = frozenset(word_concept(one) for one in _LOOKING_TEXT.split())
"""Concepts of examinations with which a finding was looked for."""
_PARTS = frozenset(("lymph_node", "lymph", "node", "contact"))
"""Concepts that are hardly ever denied themselves: a denial with one says what it is without."""
_LOSSES_TEXT = """loss lost losing normal change defect deficit abnormal abnormality limitation disturbance impairment
impaired decrease increase contact"""
_LOSSES = frozenset(word_concept(one) for one in _LOSSES_TEXT.split())
"""Concepts that turn a denial around: 'without loss of consciousness' does not deny consciousness."""
_WELL = frozenset(("normal", "clear", "free"))


def contradictions(claim: FindingEvidence, index: ArticleIndex, sex: str) -> Iterator[Unfaithful]:
    """The contradictions between a finding and its evidence; `sex` is the patient's, '' if unknown.

    Of sentences that the curator did not cite but that were found by alignment, only those on the patient count.
    """
    if not claim.cited:
        claim = replace(claim, sentences=tuple(one for one in claim.sentences if one in index.patient))
    claim = replace(claim, finding=spelled_out(claim.finding, claim.sentences))
    if comparable(claim.finding) in _own_sentences(index.sentences):
        return  # the article's own sentence
    yield from sex_contradictions(claim, sex)
    yield from relative_contradictions(claim)
    yield from side_contradictions(claim, index)
    yield from denial_contradictions(claim, index)


@lru_cache(maxsize=32)
def _own_sentences(sentences: tuple[str, ...]) -> frozenset[str]:
    return frozenset(comparable(sentence) for sentence in sentences)


@dataclass(frozen=True, slots=True)
class _Reading:
    """The items of some sentences, each with the place of its clause, and all their `words`.

    `affirmed` has the words that each clause affirms, `sites` the parts of the body that it names.
    """

    items: Sequence[tuple[tuple[int, int], StatedItem]]
    words: frozenset[str]
    affirmed: dict[tuple[int, int], set[str]]
    sites: dict[tuple[int, int], set[str]]


@lru_cache(maxsize=8192)
def _reading(sentences: tuple[str, ...]) -> _Reading:
    items = [((at, one.clause), one) for at, sentence in enumerate(sentences) for one in stated_items(sentence)]
    read = _Reading(items, frozenset().union(*(one.words | one.context for _, one in items)), {}, {})
    for clause, one in items:
        read.sites.setdefault(clause, set()).update(filter(site, one.words | one.context))
        read.affirmed.setdefault(clause, set()).update(one.words if one.affirmed else ())
    return read


def denial_contradictions(claim: FindingEvidence, index: ArticleIndex) -> Iterator[Unfaithful]:
    """The first thing that the finding denies and the evidence affirms, or the reverse.

    Sentences on relatives count only for findings on relatives. Without citations, all of the article's sentences on
    the patient must contradict too.
    """
    kin = of_relatives(claim.finding)
    fitting = tuple(one for one in claim.sentences if of_relatives(one) == kin)
    mine, theirs = _reading((claim.finding,)), _reading(fitting)
    denied = [*_opposite(mine, theirs), *_opposite(theirs, mine), *_only_denied(mine, theirs)]
    if denied and not claim.cited:
        whole = _reading(tuple(one for one in index.sentences if one in index.patient and of_relatives(one) == kin))
        denied = [*_opposite(mine, whole), *_opposite(whole, mine), *_only_denied(mine, whole)]
    if denied:
        words = ("not " if next(_opposite(mine, theirs), "") else "") + denied[0].replace("_", " ")
        yield Unfaithful("negation", words, claim.finding, " ".join(fitting), claim.item)


def _opposite(one: _Reading, other: _Reading) -> Iterator[str]:
    """The words of each thing that `one` only denies and `other` only affirms.

    The thing denied must not be narrower than the thing affirmed: all its words, with its sides and parts of the body,
    must stand in the clause that affirms.
    """
    for clause, item in one.items:
        if item.affirmed is not False:
            continue
        words = item.words if item.words - _WEAK else item.words | item.context
        heads = _heads(words)
        others = (
            own for at, own in one.items if own.affirmed is not False and (at, own.words) != (clause, item.context)
        )
        if not heads or any(heads <= own.words for own in others):
            continue
        if any(own.affirmed is not True and heads & own.words for _, own in other.items):
            continue
        for place, own in other.items:
            if not own.affirmed or not heads <= own.words or not words <= other.affirmed[place]:
                continue
            if not _shown(own, item):
                continue
            well = "normal" not in words and _WELL & own.words  # a clear film is a negative one
            if not well and _same_place(item, one.sites[clause], own, other, place):
                yield " ".join(sorted(words))
                break


def _shown(own: StatedItem, item: StatedItem) -> bool:
    """Whether what is affirmed is a finding. That a test was done does not say that it was positive."""
    return own.result or not (item.result or not _TESTS.isdisjoint(item.words | own.words))


def _only_denied(mine: _Reading, theirs: _Reading) -> Iterator[str]:
    """The words of each thing that the finding affirms and that the evidence only denies."""
    turned = {
        clause for clause, one in mine.items if one.words == {"normal"} or (one.affirmed is False and one.context)
    }
    for clause, own in mine.items:
        heads = _heads(own.words)
        plain = own.affirmed and "normal" not in own.words and own.words.isdisjoint(_LOOKING)
        named = any(one.affirmed is not False and heads & (one.words | one.context) for _, one in theirs.items)
        if not plain or named or clause in turned or not heads - _PARTS:
            continue
        if any(one.affirmed is False and heads <= one.words and _covers(one, own) for _, one in theirs.items):
            yield " ".join(sorted(heads))


def _covers(denied: StatedItem, own: StatedItem) -> bool:
    """Whether a denial covers all that is affirmed, and denies more than its loss or change."""
    core = own.words - SIDE_WORDS - GENERIC - _WEAK
    parts = frozenset(filter(site, core))
    known = core <= denied.words | denied.context and parts <= denied.words
    return known and _shown(own, denied) and (denied.words - own.words).isdisjoint(_LOSSES)


def _heads(words: frozenset[str]) -> frozenset[str]:
    """The words of the thing that is denied, without those that place or grade it."""
    if "normal" in words:
        return words - SIDE_WORDS
    heads = frozenset(one for one in words - SIDE_WORDS - _WEAK - GENERIC if not site(one))
    return heads or (words - SIDE_WORDS if len(words - SIDE_WORDS) > 1 else frozenset())


def _same_place(item: StatedItem, sites: set[str], own: StatedItem, other: _Reading, place: tuple[int, int]) -> bool:
    """Whether the thing affirmed may be at the same part of the body, and of the same thing, as the denial."""
    if not item.context & SIDE_WORDS <= other.affirmed[place]:
        return False
    theirs = other.sites[place]
    if sites and theirs and not sites & theirs:
        return False
    about = item.context - SIDE_WORDS - _LOOKING
    parts = frozenset(filter(site, about))
    return not about or not about.isdisjoint(own.words | other.affirmed[place] if parts else other.words)
