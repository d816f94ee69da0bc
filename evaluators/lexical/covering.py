"""Whether a text holds what a reference step says: the share of the step's words in it, as a whole and in one place."""

import re

from wardround.evaluators.lexical.content import known, sentences, share, windows
from wardround.scenarios.case import Truth
from wardround.scenarios.terms import diagnosis
from wardround.scenarios.terms.commitment import MOST
from wardround.scenarios.terms.stance import clauses
from wardround.scenarios.terms.truth import opening_contains

ENOUGH = 0.5
"""Least mean of the share of the step's words in the whole text and that in its best place."""
PLACE = 3
"""Neighbouring sentences that are one place."""

_FINAL = re.compile(r"(?i)^\W*(?:the )?final (?:diagnosis|answer)\W+(?P<name>\S.*)$", re.DOTALL)


def covered(step: str, text: str) -> bool:
    """Whether a reference step is in a text (paper 002, prompt 18); a final diagnosis also by its name alone."""
    wanted = known(step)
    if not wanted:
        return False
    whole = share(wanted, known(text))
    if whole >= ENOUGH:
        best = max((share(wanted, place) for place in windows(sentences(text), PLACE)), default=0.0)
        if (whole + best) / 2 >= ENOUGH:
            return True
    final = _FINAL.match(step)
    return final is not None and _named(text, Truth(diagnosis=final["name"].strip(" .")))


def _named(text: str, truth: Truth) -> bool:
    """Whether a text of any length names a diagnosis, in a clause that does not deny it, or as an answer."""
    kept = [clause.text for clause in clauses(text[:MOST]) if clause.stance not in ("denied", "refused")]
    return any(opening_contains(truth, said) for said in kept) or diagnosis.compare(text, truth).match
