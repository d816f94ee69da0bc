"""Checks that a curated case is complete, free of the outcome, and supported by its article."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.disease import synonyms_of
from wardround.scenarios.loaders.values import diagnosis_names
from wardround.scenarios.reports import case_summary
from wardround.scenarios.reports.article import (
    IN_BRACKETS,
    VISUAL,
    Article,
    CurationOptions,
    article_sentences,
    comparable,
    sentence_key,
)
from wardround.scenarios.reports.article_numbers import number_contradictions, open_numbers
from wardround.scenarios.reports.case_summary import CaseDraft, Drop, Unfaithful, summary_items
from wardround.scenarios.reports.contradictions import contradictions
from wardround.scenarios.reports.finding_evidence import (
    ArticleIndex,
    FindingEvidence,
    answer_evidence,
    article_index,
    case_evidence,
    cited_numbers,
)
from wardround.scenarios.reports.patient_sex import article_sex
from wardround.scenarios.reports.reply_parsers import ANSWER, CONTRADICTS, EXPLANATION, NOT_STATED, SAME, SUMMARY
from wardround.scenarios.reports.stated_diagnosis import named_in_article, nearest_sentence
from wardround.scenarios.reports.statements import patient_text
from wardround.scenarios.terms.wording import key

_RESULT = re.compile(
    r"(?i)\b(?:"
    # findings of a follow-up
    r"follow(?:ed)?[ -]?up\b[^.;]{0,60}\b(?:showed|shows|revealed|demonstrated|confirmed|remained|indicated|found)\b"
    r"|(?:at|on) (?:the |her |his )?(?:[\w-]+ ){0,3}follow[ -]?up\b[^.;]{0,40}"
    r"\b(?:was|were|had|no|the patient|he|she)\b"
    # the patient left, recovered or died
    r"|(?:was|were|been) (?:\w+ )?discharged|discharged (?:home|in good|in stable|in a)"
    r"|(?:made|achieved|had|showed) (?:an? )?(?:[\w-]+ ){0,2}(?:recovery|remission|resolution)\b"
    r"|(?:has|have|had|was|were)\s+(?:fully |completely |subsequently |gradually )?recovered\b"
    r"|recovered (?:well|fully|completely)"
    r"|(?:died|passed away|succumbed) (?:\w+ ){0,3}(?:after|following|despite|of|from|on|to)\b"
    r"|\b(?:full|complete|good|excellent|uneventful|rapid|partial|clinical|gradual|prompt)(?: \w+)? (?:recovery"
    r"|resolution|remission|response)\b[^.;]{0,40}\b"
    r"(?:followed|ensued|occurred|was (?:seen|noted|observed|achieved|reached))\b"
    r"|(?:symptom|disease|pain|seizure|recurrence|event)[ -]free (?:at|after|for|since|on|until|ever)\b"
    r"|(?:is|was|remains|remained|doing|does) (?:alive and well|well and|doing well|well at|well after"
    r"|now asymptomatic)|(?:survived|went home|returned to (?:work|school|normal|baseline|daily))\b"
    # complaints went away after something
    r"|(?:symptoms?|signs|pain|fever|lesions?|swelling|condition|function) (?:\w+ ){0,2}"
    r"(?:resolved|improved|subsided|disappeared|normali[sz]ed)\b[^.;]{0,40}\b(?:after|following|post|with|within)\b"
    r"|no (?:evidence of |signs? of )?(?:local |tumou?r |disease )?recurrence "
    r"(?:was|were|has|had|at|after|during|for|over)\b"
    r"|(?:remain(?:s|ed)|has been|had been) (?:recurrence|disease|symptom|tumou?r|pain|seizure|event)[ -]free"
    # the course of the treatment
    r"|post-?operative(?:ly)? (?:course|period|recovery) (?:was|were|proceeded)"
    r"|(?:course|recovery|period) (?:was )?uneventful|uneventful (?:\w+ )?(?:course|recovery|period)"
    r"|responded (?:well|favou?rably|completely)|well[ -]tolerated"
    r"|tolerated (?:the )?(?:\w+ )?(?:treatment|procedure|therapy|surgery) well"
    r"|(?:\d+|one|two|three|six|twelve) (?:days?|weeks?|months?|years?) (?:after|following) (?:the )?"
    r"(?:treatment|discharge)\b[^.;]{0,40}\b(?:showed|was|were|remained|had)\b"
    r")"
)
_AFTER = re.compile(r"(?i)\b(?:outcomes?|follow[ -]?ups?|post-?operative|prognosis|clinical course)\b")
_FEWEST = 6
_FROM_THERE = 85.0
_CLEARLY = 10.0


def outcome_sentences(text: str, article: Article, past: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The sentences of `text` that report a result of the treatment.

    Either their wording says so, or they occur only in a section of the article on outcome or follow-up. The items
    `past` of a patient's profile are on earlier treatments and are skipped.
    """
    if past:
        text = "\n".join(item for name, item in summary_items(text, "treatment").items() if name not in past)
    later = comparable("\n".join(part.text for part in article.sections if _AFTER.search(part.heading)))
    rest = comparable("\n".join(part.text for part in article.sections if not _AFTER.search(part.heading)))
    after = []
    for sentence in article_sentences(text):
        form = comparable(sentence)
        if _RESULT.search(sentence) or (later and len(form.split()) >= _FEWEST and _only(form, later, rest)):
            after.append(sentence)
    return tuple(after)


def _only(form: str, later: str, rest: str) -> bool:
    score = fuzz.partial_ratio(form, later)
    return score >= _FROM_THERE and score >= fuzz.partial_ratio(form, rest) + _CLEARLY


LONGEST_NAME = 200
"""Most characters in the name of a diagnosis."""
SAME_PLAN = 75.0
"""Similarity (0 to 100) from which a passage of the opening is the treatment; the most in 50 published cases is 63."""


@dataclass(frozen=True, slots=True)
class CaseCheck:
    """A check of a draft: `apply` returns the draft, changed or not, or the reason to drop it."""

    name: str
    what: str
    apply: Callable[[CaseDraft], CaseDraft | Drop]


def checks(options: CurationOptions) -> Sequence[CaseCheck]:
    """The checks that are switched on."""
    share = round(options.unsupported * 100)
    all_checks = [
        CaseCheck(
            "sections", "the summary has every item; an item without content is marked as missing", completed_sections
        ),
        CaseCheck("visuals", "no figure or table is referred to; references in brackets are cut out", visuals),
        CaseCheck("answer", "it names one diagnosis, or one treatment", one_answer),
        CaseCheck(
            "supported",
            f"at most {share} % of its sentences cannot be found in the article, and the answer can",
            lambda draft: supported(draft, options.support, options.unsupported),
        ),
        CaseCheck("numbers", "every number of the case stands in the article", numbers_in_article),
        CaseCheck("faithful", "the article does not contradict its sex, sides, denials and judgements", faithful),
        CaseCheck("named", "the article states the diagnosis, by name or synonym", states_diagnosis),
        CaseCheck("leak", "the opening does not name the answer", leak),
        CaseCheck("outcome", "a treatment case tells nothing from after the treatment", no_outcome),
    ]
    return [check for check in all_checks if check.name not in options.without]


def completed_sections(draft: CaseDraft) -> CaseDraft:
    """Complete the items of the draft's kind, in their order."""
    items = case_summary.completed(case_summary.summary_items(draft.sections[SUMMARY], draft.kind), draft.kind)
    return _with_section(draft, SUMMARY, case_summary.summary_text(items))


def visuals(draft: CaseDraft) -> CaseDraft | Drop:
    """Remove references to figures in brackets; drop the draft if it refers to a figure or table elsewhere."""
    texts = {name: IN_BRACKETS.sub("", text) for name, text in draft.sections.items()}
    seen = [text[max(0, hit.start() - 40) : hit.end() + 20] for text in texts.values() for hit in VISUAL.finditer(text)]
    if seen:
        return Drop(f"it refers to a figure or table: {_quoted(seen[0])}", tuple(seen))
    return draft if texts == dict(draft.sections) else replace(draft, sections=texts)


def one_answer(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft whose answer is blank, a word such as 'none', or too long for the name of a diagnosis."""
    said = draft.answer
    if not key(said) or re.fullmatch(
        r"(?i)\W*(?:none|n/?a|not (?:reported|specified|stated)|unknown|unclear)\W*", said
    ):
        return Drop(f"it names no {draft.kind}: {_quoted(said)}")
    if draft.kind == "diagnosis" and len(said) > LONGEST_NAME:
        return Drop(f"its diagnosis has {len(said)} characters: {_quoted(said)}", (said,))
    return draft


def supported(draft: CaseDraft, least: float, share: float) -> CaseDraft | Drop:
    """Drop a draft if the article does not support it.

    More than a `share` of its sentences, or its treatment, are covered by their evidence to less than `least` per cent.
    """
    scored = [one for one in case_evidence(draft) if one.scored]
    missing = [one for one in scored if _unsupported(one, draft, least)]
    if scored and len(missing) > share * len(scored):
        nearest = missing[0].sentences[0] if missing[0].sentences else "none"
        return Drop(
            f"{len(missing)} of {len(scored)} sentences are not in the article: {_quoted(missing[0].finding)}"
            f"; nearest: {_quoted(nearest)}",
            tuple(one.finding for one in missing),
        )
    if draft.kind == "treatment" and 100 * answer_evidence(draft).covered < least:
        return Drop(f"its treatment is not in the article: {_quoted(draft.answer)}", (draft.answer,))
    return draft


def _unsupported(one: FindingEvidence, draft: CaseDraft, least: float) -> bool:
    """Whether nothing shows that the article states a finding.

    A second reader's verdict decides, if there is one. Cited sentences are enough if they share anything with the
    finding.
    """
    verdict = draft.verdicts.get(sentence_key(one.finding))
    if verdict:
        return verdict == NOT_STATED
    return one.covered == 0 if one.cited else 100 * one.covered < least


def numbers_in_article(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft that gives another value for a quantity than the article."""
    faults = _faults(draft, number_contradictions, answer_evidence(draft))
    return _without_faults(draft, faults, "numbers that the article has otherwise")


def faithful(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft that the article contradicts, by our rules or by the verdict of a second reader."""
    age = re.search(r"\d+", draft.sections[SUMMARY])
    sex = article_sex("\n".join(patient_text(draft.article).case), age[0] if age else "")
    faults = _faults(draft, lambda one, index: contradictions(one, index, sex))
    faults += [
        Unfaithful("verdict", one.finding, one.finding, " ".join(one.sentences), one.item)
        for one in case_evidence(draft)
        if draft.verdicts.get(sentence_key(one.finding)) == CONTRADICTS
    ]
    return _without_faults(draft, faults, "contradicted by the article")


def _faults(
    draft: CaseDraft, check: Callable[[FindingEvidence, ArticleIndex], Iterator[Unfaithful]], *also: FindingEvidence
) -> list[Unfaithful]:
    """The faults that a check finds in the findings that no second reader has judged, each once."""
    index = article_index(draft.article)
    unread = (one for one in (*case_evidence(draft), *also) if sentence_key(one.finding) not in draft.verdicts)
    return list(dict.fromkeys(fault for one in unread for fault in check(one, index)))


def _without_faults(draft: CaseDraft, faults: Sequence[Unfaithful], what: str) -> CaseDraft | Drop:
    if not faults:
        return draft
    first = faults[0]
    return Drop(
        f"{what}: its {first.kind} {_quoted(first.words)}; {_where(first)}",
        tuple(f"{one.words}: {one.said}" for one in faults),
    )


def _where(error: Unfaithful) -> str:
    """The item and the sentence of an error, and what the article says."""
    nearest = f"; the article: {_quoted(error.article)}" if error.article else ""
    return f"{error.item or 'summary'}: {_quoted(error.said)}{nearest}"


def states_diagnosis(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft whose diagnosis is not stated by the article; if sentences are cited for it, by these."""
    title, text = draft.article.title, draft.article.text
    verdict = draft.verdicts.get(sentence_key(draft.answer))
    if draft.kind != "diagnosis" or verdict == SAME:
        return draft
    cited = [article_index(draft.article).sentences[number - 1] for number in cited_numbers(draft, draft.answer)]
    if not verdict and named_in_article(draft.answer, title, text, cited):
        return draft
    nearest = nearest_sentence(draft.answer, title, text)
    return Drop(
        f"the article does not state its diagnosis: {_quoted(draft.answer)}"
        + (f"; nearest: {_quoted(nearest)}" if nearest else ""),
        (draft.answer,),
    )


def leak(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft whose opening has a name of the diagnosis, by our tables too, or the words of the treatment."""
    if draft.kind == "treatment":
        plan, opening = comparable(draft.answer), comparable(draft.opening)
        if len(plan.split()) > 1 and fuzz.partial_ratio(plan, opening) >= SAME_PLAN:
            return Drop(f"the opening holds the treatment: {_quoted(draft.answer)}", (draft.answer,))
        return draft
    diagnosis, synonyms = diagnosis_names(draft.answer)
    truth = Truth(diagnosis=diagnosis, synonyms=tuple(dict.fromkeys((*synonyms, *synonyms_of(diagnosis)))))
    said = opening_contains(truth, draft.opening)
    return Drop(f"the opening names the diagnosis: {_quoted(said[0])}", tuple(said)) if said else draft


def no_outcome(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a treatment case that tells results of the treatment, or has text from the article's follow-up."""
    if draft.kind != "treatment":
        return draft
    after = outcome_sentences(draft.sections[SUMMARY], draft.article, past=("Past Medical History",))
    for name in (ANSWER, EXPLANATION):
        after += outcome_sentences(draft.sections.get(name, ""), draft.article)
    return Drop(f"it tells what came after the treatment: {_quoted(after[0])}", after) if after else draft


def open_points(draft: CaseDraft, least: float) -> tuple[str, ...]:
    """The sentences of a kept case that a person should read.

    They are those that their evidence does not cover, and those with a number that does not follow from it.
    """
    index = article_index(draft.article)
    to_read = []
    for one in case_evidence(draft):
        unread = sentence_key(one.finding) not in draft.verdicts
        thin = _unsupported(one, draft, least) or (unread and 100 * one.covered < least)
        if (one.scored and thin) or (unread and open_numbers(one, index)):
            to_read.append(one.finding)
    return tuple(dict.fromkeys(to_read))


def _with_section(draft: CaseDraft, name: str, text: str) -> CaseDraft:
    return draft if draft.sections[name] == text else replace(draft, sections={**draft.sections, name: text})


def _quoted(text: str) -> str:
    short = " ".join(text.split())
    return repr(short if len(short) <= 120 else f"{short[:117]}...")
