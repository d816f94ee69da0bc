"""Selects facts of a story that do not bear on the diagnosis; a patient who contradicts himself may misstate one."""

import re

from wardround.scenarios.case import Case
from wardround.scenarios.terms.wording import roots

_END = re.compile(r"(?<=[.!?])\s+|[;\n]+\s*")
_BESIDE = re.compile(r"social|demograph|occupation|habit|lifestyle|living|substance|past|surg", re.IGNORECASE)
_PRESENT = re.compile(r"present|complaint|symptom|review|medication|drug|allerg|family|travel|exposure", re.IGNORECASE)


def incidental_facts(case: Case) -> list[str]:
    """The sentences on habits, household and the past that share no content word with the deciding facts.

    What decides it are the deciding findings and the names of the diagnosis. The present illness, its medication, the
    family's diseases and journeys are never among them, whatever their words.
    """
    truth = case.truth
    telling = {
        word for text in (*truth.deciding, truth.diagnosis, *truth.synonyms) for word in roots(text) if len(word) > 3
    }
    return [
        sentence.strip()
        for section, text in case.history.items()
        if _BESIDE.search(section) and not _PRESENT.search(section)
        for sentence in _END.split(text)
        if sentence.strip() and telling.isdisjoint(roots(sentence))
    ]
