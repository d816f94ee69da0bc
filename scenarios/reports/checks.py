"""What a built case must pass: named rules in their order, each switchable and counted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from rapidfuzz import fuzz

from wardround.scenarios.case import Truth
from wardround.scenarios.loaders.names import names
from wardround.scenarios.reports import profile
from wardround.scenarios.reports.draft import Draft, Drop
from wardround.scenarios.reports.options import Options
from wardround.scenarios.reports.outcome import told_after
from wardround.scenarios.reports.prose import IN_BRACKETS, VISUAL, folded
from wardround.scenarios.reports.replies import ANSWER, EXPLANATION, SUMMARY
from wardround.scenarios.reports.support import found, invented
from wardround.scenarios.terms.disease import others
from wardround.scenarios.terms.leak import opening_contains
from wardround.scenarios.terms.wording import key

LONGEST_NAME = 200
"""Characters of the longest name of a diagnosis."""
SAME = 75.0
"""Likeness (0 to 100) from which a passage of the opening is the treatment; 63 is the most among 50 published."""


@dataclass(frozen=True, slots=True)
class Check:
    """`apply` gives the draft as it goes on, changed or not, or says why it is dropped."""

    name: str
    what: str
    apply: Callable[[Draft], Draft | Drop]


def checks(options: Options) -> Sequence[Check]:
    """The rules that are switched on."""
    share = round(options.unsupported * 100)
    found_ = [
        Check("sections", "every item of the summary is there, what is missing is marked so", sections),
        Check("visuals", "no figure or table is referred to; references in brackets are cut out", visuals),
        Check("answer", "it names one diagnosis, or one treatment", answer),
        Check(
            "supported",
            f"at most {share} % of its sentences cannot be found in the article, and the answer can",
            lambda draft: supported(draft, options.support, options.unsupported),
        ),
        Check("numbers", "every number of the case stands in the article", numbers),
        Check("leak", "the opening does not name the answer", leak),
        Check("outcome", "a treatment case tells nothing from after the treatment", outcome),
    ]
    return [check for check in found_ if check.name not in options.without]


def sections(draft: Draft) -> Draft:
    """Every item of the kind, in its order."""
    items = profile.completed(profile.items(draft.told[SUMMARY], draft.kind), draft.kind)
    return _told(draft, SUMMARY, profile.summary(items))


def visuals(draft: Draft) -> Draft | Drop:
    """Without figures in brackets; dropped if one is spoken of elsewhere."""
    told = {name: IN_BRACKETS.sub("", text) for name, text in draft.told.items()}
    seen = [text[max(0, hit.start() - 40) : hit.end() + 20] for text in told.values() for hit in VISUAL.finditer(text)]
    if seen:
        return Drop(f"it refers to a figure or table: {_quoted(seen[0])}", tuple(seen))
    return draft if told == dict(draft.told) else replace(draft, told=told)


def answer(draft: Draft) -> Draft | Drop:
    """A name, or a plan: not blank, not a marker of nothing, and a diagnosis no essay."""
    said = draft.answer
    if not key(said) or re.fullmatch(
        r"(?i)\W*(?:none|n/?a|not (?:reported|specified|stated)|unknown|unclear)\W*", said
    ):
        return Drop(f"it names no {draft.kind}: {_quoted(said)}")
    if draft.kind == "diagnosis" and len(said) > LONGEST_NAME:
        return Drop(f"its diagnosis has {len(said)} characters: {_quoted(said)}", (said,))
    return draft


def supported(draft: Draft, least: float, share: float) -> Draft | Drop:
    """The patient's data, sentence by sentence, and the answer, against the article's text."""
    told = found(draft.told[SUMMARY], draft.article.text)
    missing = [sentence.sentence for sentence in told if sentence.score < least]
    if told and len(missing) > share * len(told):
        return Drop(
            f"{len(missing)} of {len(told)} sentences are not in the article: {_quoted(missing[0])}", tuple(missing)
        )
    named = found(draft.told[ANSWER], draft.article.text)
    if lacking := [sentence.sentence for sentence in named if sentence.score < least]:
        return Drop(f"its {draft.kind} is not in the article: {_quoted(lacking[0])}", tuple(lacking))
    return draft


def numbers(draft: Draft) -> Draft | Drop:
    """Values, doses and ages that the article does not have are made up."""
    own = invented(f"{draft.told[SUMMARY]}\n{draft.told[ANSWER]}", draft.article.text)
    return Drop(f"numbers that the article does not have: {', '.join(own[:5])}", own) if own else draft


def leak(draft: Draft) -> Draft | Drop:
    """Names of the diagnosis, those of the project's tables among them, or the words of the treatment."""
    if draft.kind == "treatment":
        plan, opening = folded(draft.answer), folded(draft.opening)
        if len(plan.split()) > 1 and fuzz.partial_ratio(plan, opening) >= SAME:
            return Drop(f"the opening holds the treatment: {_quoted(draft.answer)}", (draft.answer,))
        return draft
    diagnosis, synonyms = names(draft.answer)
    truth = Truth(diagnosis=diagnosis, synonyms=tuple(dict.fromkeys((*synonyms, *others(diagnosis)))))
    said = opening_contains(truth, draft.opening)
    return Drop(f"the opening names the diagnosis: {_quoted(said[0])}", tuple(said)) if said else draft


def outcome(draft: Draft) -> Draft | Drop:
    """Results of the treatment, and what the article tells under follow-up, have no place in a treatment case."""
    if draft.kind != "treatment":
        return draft
    after = told_after(draft.told[SUMMARY], draft.article, past=("Past Medical History",))
    for name in (ANSWER, EXPLANATION):
        after += told_after(draft.told.get(name, ""), draft.article)
    return Drop(f"it tells what came after the treatment: {_quoted(after[0])}", after) if after else draft


def unsupported(draft: Draft, least: float) -> tuple[str, ...]:
    """The sentences of a case that was kept and yet could not be found, for the account."""
    return tuple(part.sentence for part in found(draft.told[SUMMARY], draft.article.text) if part.score < least)


def _told(draft: Draft, name: str, text: str) -> Draft:
    return draft if draft.told[name] == text else replace(draft, told={**draft.told, name: text})


def _quoted(text: str) -> str:
    short = " ".join(text.split())
    return repr(short if len(short) <= 120 else f"{short[:117]}...")
