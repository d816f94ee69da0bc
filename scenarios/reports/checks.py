"""Checks that a curated case is complete, free of the outcome, and supported by its article."""

import re
from collections.abc import Callable, Sequence
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
)
from wardround.scenarios.reports.article_numbers import invented
from wardround.scenarios.reports.case_summary import MISSING, CaseDraft, Drop, Unfaithful, item_sentences, summary_items
from wardround.scenarios.reports.disagreement import meets, with_prefixes
from wardround.scenarios.reports.faithful import undecided, unfaithful
from wardround.scenarios.reports.reply_parsers import ANSWER, EXPLANATION, SUMMARY
from wardround.scenarios.reports.stated_diagnosis import named_in_article, nearest_sentence
from wardround.scenarios.reports.statements import patient_text, specific_text, text_concepts
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

    Either their wording says so, or they occur only in a section of the article on outcome or follow-up. `past` are
    items of a profile on earlier treatments; they are skipped.
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


_LABEL = re.compile(r"^[^:]{1,60}:\s+")
_FEWEST_WORDS = 4
"""Words of the shortest sentence that is searched; shorter ones ('Hypertension.') occur in any article."""
_EMPTY = re.compile(
    r"(?i)^(?:none|no|not|nil|unremarkable|n/?a)\b(?:\W+(?:\w+\W*){0,4})?$|.*\bnot (?:reported|specified|mentioned"
    r"|provided|documented|described|detailed|stated|available)\b.*"
)


@dataclass(frozen=True, slots=True)
class SentenceSupport:
    """A sentence with its score (0 to 100) and the most similar passage of the article."""

    sentence: str
    score: float
    passage: str


def sentence_support(text: str, source: str) -> tuple[SentenceSupport, ...]:
    """Score each sentence of `text` against `source`, without labels and sentences such as 'not reported'.

    The score is the best of three: the similarity of the whole sentence to the best passage (rapidfuzz's partial
    ratio), and the share of its longer words, or of its concepts, that occur in the article. Models shorten and join
    sentences, so strict quotation would refuse most correct ones (docs/records/reports.md has the calibration).
    """
    whole = comparable(source)
    words = frozenset(whole.split())
    concepts = with_prefixes(frozenset(text_concepts(source)))
    scored = []
    for _, sentence in item_sentences(text):
        said = _LABEL.sub("", sentence)
        form = comparable(said)
        if said == MISSING or len(form.split()) < _FEWEST_WORDS or _EMPTY.fullmatch(said):
            continue
        own = text_concepts(said)
        shared = 100 * sum(meets(name, concepts) for name in own) / len(own) if own else 100.0
        alignment = fuzz.partial_ratio_alignment(form, whole)
        score, passage = (alignment.score, whole[alignment.dest_start : alignment.dest_end]) if alignment else (0.0, "")
        scored.append(SentenceSupport(sentence, max(score, shared, _shared(form, words)), passage))
    return tuple(scored)


def _shared(form: str, words: frozenset[str]) -> float:
    own = [word.strip(".%") for word in form.split() if len(word) > 3 and not word[0].isdigit()]
    return 100 * sum(word in words or f"{word}." in words for word in own) / len(own) if own else 0.0


LONGEST_NAME = 200
"""Most characters in the name of a diagnosis."""
SAME = 75.0
"""Similarity (0 to 100) from which a passage of the opening is the treatment; the maximum in 50 published is 63."""


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
        CaseCheck("sections", "every item of the summary is there, what is missing is marked so", completed_sections),
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
    """Remove references to figures in brackets; drop the draft if it refers to one elsewhere."""
    texts = {name: IN_BRACKETS.sub("", text) for name, text in draft.sections.items()}
    seen = [text[max(0, hit.start() - 40) : hit.end() + 20] for text in texts.values() for hit in VISUAL.finditer(text)]
    if seen:
        return Drop(f"it refers to a figure or table: {_quoted(seen[0])}", tuple(seen))
    return draft if texts == dict(draft.sections) else replace(draft, sections=texts)


def one_answer(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a blank answer, a marker such as 'none', or a diagnosis too long to be a name."""
    said = draft.answer
    if not key(said) or re.fullmatch(
        r"(?i)\W*(?:none|n/?a|not (?:reported|specified|stated)|unknown|unclear)\W*", said
    ):
        return Drop(f"it names no {draft.kind}: {_quoted(said)}")
    if draft.kind == "diagnosis" and len(said) > LONGEST_NAME:
        return Drop(f"its diagnosis has {len(said)} characters: {_quoted(said)}", (said,))
    return draft


def supported(draft: CaseDraft, least: float, share: float) -> CaseDraft | Drop:
    """Compare the patient's data, sentence by sentence, and a treatment with the article's text."""
    scored = sentence_support(draft.sections[SUMMARY], draft.article.text)
    missing = [sentence for sentence in scored if sentence.score < least]
    if scored and len(missing) > share * len(scored):
        return Drop(
            f"{len(missing)} of {len(scored)} sentences are not in the article: {_quoted(missing[0].sentence)}"
            f"; nearest: {_quoted(missing[0].passage)}",
            tuple(sentence.sentence for sentence in missing),
        )
    named = sentence_support(draft.sections[ANSWER], draft.article.text) if draft.kind == "treatment" else ()
    if lacking := [sentence for sentence in named if sentence.score < least]:
        return Drop(
            f"its treatment is not in the article: {_quoted(lacking[0].sentence)}"
            f"; nearest: {_quoted(lacking[0].passage)}",
            tuple(sentence.sentence for sentence in lacking),
        )
    return draft


def numbers_in_article(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft with values, doses or ages that the article lacks: the model invented them."""
    summary = f"{draft.sections[SUMMARY]}\n{draft.sections[ANSWER]}"
    own = invented(summary, draft.article.text, specific_text(draft.article))
    if not own:
        return draft
    written = ", ".join(one.words for one in own[:5])
    return Drop(f"numbers that the article does not have: {written}; {_where(own[0])}", tuple(one.words for one in own))


def faithful(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft that says of the patient what the article contradicts."""
    errors = unfaithful(draft.sections[SUMMARY], draft.article.text, patient_text(draft.article))
    if not errors:
        return draft
    first = errors[0]
    return Drop(
        f"its {first.kind} is not the article's: {_quoted(first.words)}; {_where(first)}",
        tuple(f"{one.words}: {one.said}" for one in errors),
    )


def _where(error: Unfaithful) -> str:
    """The item and sentence of an error, and the article's nearest sentence."""
    nearest = f"; the article: {_quoted(error.article)}" if error.article else ""
    return f"{error.item or 'summary'}: {_quoted(error.said)}{nearest}"


def states_diagnosis(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a diagnosis, however short, that the article does not state as the patient's."""
    title, text = draft.article.title, draft.article.text
    if draft.kind != "diagnosis" or named_in_article(draft.answer, title, text):
        return draft
    nearest = nearest_sentence(draft.answer, title, text)
    return Drop(
        f"the article does not state its diagnosis: {_quoted(draft.answer)}"
        + (f"; nearest: {_quoted(nearest)}" if nearest else ""),
        (draft.answer,),
    )


def leak(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a draft whose opening has a name of the diagnosis (also from our tables) or the words of the treatment."""
    if draft.kind == "treatment":
        plan, opening = comparable(draft.answer), comparable(draft.opening)
        if len(plan.split()) > 1 and fuzz.partial_ratio(plan, opening) >= SAME:
            return Drop(f"the opening holds the treatment: {_quoted(draft.answer)}", (draft.answer,))
        return draft
    diagnosis, synonyms = diagnosis_names(draft.answer)
    truth = Truth(diagnosis=diagnosis, synonyms=tuple(dict.fromkeys((*synonyms, *synonyms_of(diagnosis)))))
    said = opening_contains(truth, draft.opening)
    return Drop(f"the opening names the diagnosis: {_quoted(said[0])}", tuple(said)) if said else draft


def no_outcome(draft: CaseDraft) -> CaseDraft | Drop:
    """Drop a treatment case with results of the treatment or text from the article's follow-up."""
    if draft.kind != "treatment":
        return draft
    after = outcome_sentences(draft.sections[SUMMARY], draft.article, past=("Past Medical History",))
    for name in (ANSWER, EXPLANATION):
        after += outcome_sentences(draft.sections.get(name, ""), draft.article)
    return Drop(f"it tells what came after the treatment: {_quoted(after[0])}", after) if after else draft


def unsupported_sentences(draft: CaseDraft, least: float) -> tuple[str, ...]:
    """The sentences of a kept case that a person should read, for the account.

    They are those that the article does not support, and those whose denial or side it does not mention.
    """
    summary = draft.sections[SUMMARY]
    missing = [part.sentence for part in sentence_support(summary, draft.article.text) if part.score < least]
    return tuple(dict.fromkeys((*missing, *undecided(summary, patient_text(draft.article)))))


def _with_section(draft: CaseDraft, name: str, text: str) -> CaseDraft:
    return draft if draft.sections[name] == text else replace(draft, sections={**draft.sections, name: text})


def _quoted(text: str) -> str:
    short = " ".join(text.split())
    return repr(short if len(short) <= 120 else f"{short[:117]}...")
