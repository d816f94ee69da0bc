"""What a story is mainly about: the sentences that tell why the patient came."""

import re
from collections.abc import Sequence

from wardround.agents.history.facts import COMPLAINT, Fact, distinct_facts
from wardround.agents.history.vocabulary import concepts_in

_EARLIER = re.compile(
    r"^(?:\w+ )?history of\b(?! (?:present|worsening|progressive))|"
    r"\b(?:has|have|had|with) a (?:known )?history of\b|\bdiagnosed\b|\bunderwent\b|\bas a child\b"
    r"|\bmedical history\b|\bknown history\b|\btreated for\b",
    re.IGNORECASE,
)
"""Tells of something before the present illness."""
ABOUT_THEM = re.compile(r"demograph|past|social|family|allerg|medication|review|surg", re.IGNORECASE)
"""Names of sections that do not tell the present illness."""
_TELLS = re.compile(r"\bI\b(?![-.])|\b[Mm]y\b|\bpresent(?:s|ed) (?:with|for|due)\b|\bcomplain|\bseeks?\b|\breferred\b")
"""A sentence in the patient's own words, or one that says why the patient came."""
_VAGUE = re.compile(r"(?i)\b(?:several|multiple|various|some) (?:concerns|complaints|problems|issues|worries)\W*$")
"""A sentence that says that there are complaints, but not which."""
_NOTHING = re.compile(r"none(?: \w+)?\W*$", re.IGNORECASE)
"""A complaint that says only that there is none."""
_MINE = re.compile(r"\b(?:I|[Mm]y|[Mm]e)\b(?![-.])")
"""A sentence in the first person, beside which an opening needs no complaint of the note."""
_SHORT = 12
"""An answer to an opening that has fewer words goes on with the next sentence of the present illness."""
TELLS_AGE = re.compile(r"\b[a-z\d]+[- ](?:year|month|week|day)s?[- ]old\b|\baged \d+", re.IGNORECASE)
ALONE = re.compile(
    r"\b(?:no|without|nor|denie[sd]|none)\b[^.;]{0,25}\b(?:associated|accompanying|other|additional) (?:\w+ )?"
    r"(?:symptoms?|complaints?|problems?)\b",
    re.IGNORECASE,
)
"""Says that nothing comes with the complaint."""


def main_facts(facts: Sequence[Fact]) -> tuple[Fact, ...]:
    """The sentences that tell why the patient came: the complaint, otherwise the first ones of the present illness."""
    history = [fact for fact in facts if fact.section != COMPLAINT] or list(facts)
    own = [fact for fact in history if not ABOUT_THEM.search(fact.section)] or history
    now = [fact for fact in own if not fact.denied and is_present_illness(fact) and not _VAGUE.search(fact.text)]
    now = now or [fact for fact in facts if fact.section == COMPLAINT and not TELLS_AGE.search(fact.text)] or own
    felt = (
        [fact for fact in now if concepts_in(fact.text, "finding") or _TELLS.search(fact.text)]
        or [fact for fact in now if fact.timed]
        or now
    )
    first = felt[:1]
    complaints = [fact for fact in facts if fact.section == COMPLAINT and _tells_complaint(fact)]
    complaints = [fact for fact in complaints if not TELLS_AGE.search(fact.text)] or complaints
    if complaints and not (first and complaints[0].findings <= first[0].findings):
        return tuple(complaints[:1])
    if first and len(first[0].text) < 60:
        first = felt[:2]
    return tuple(first)


def presented_facts(facts: Sequence[Fact], main: Sequence[Fact]) -> tuple[Fact, ...]:
    """The sentences that answer an opening: the main ones, and a complaint that says something else."""
    if any(_MINE.search(fact.text) for fact in main):
        return tuple(main)
    complaints = [fact for fact in facts if fact.section == COMPLAINT and not TELLS_AGE.search(fact.text)]
    complaint = [fact for fact in complaints if not (_VAGUE.search(fact.text) or _NOTHING.match(fact.text))]
    complaint = [fact for fact in complaint if concepts_in(fact.text, "finding", "disease")] or complaint[-1:]
    said = distinct_facts([*main, *complaint])[:2]
    more = [
        fact
        for fact in facts
        if not (fact.section == COMPLAINT or fact.denied or fact in said or ABOUT_THEM.search(fact.section))
        and is_present_illness(fact)
        and concepts_in(fact.text, "finding")
    ]
    short = sum(len(fact.text.split()) for fact in said) < _SHORT
    return tuple(distinct_facts([*said, *more[:1]]) if short else said)


def _tells_complaint(fact: Fact) -> bool:
    """Whether a sentence of the complaint tells more than who the patient is."""
    bare = TELLS_AGE.sub("", fact.text)
    named = bool(fact.findings) and (len(bare) > 60 or TELLS_AGE.search(fact.text) is None)
    return named and not _VAGUE.search(fact.text)


def is_present_illness(fact: Fact) -> bool:
    """Whether a sentence tells of the present illness; one that presents a patient may name the past as well."""
    return _EARLIER.search(fact.text) is None or re.search(r"\bpresent(?:s|ed)\b", fact.text) is not None
