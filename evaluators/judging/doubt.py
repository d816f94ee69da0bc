"""What takes a verdict back in the words around it: a doubt, a negation, a sign or a script that is not read."""

import re

from wardround.engine.text import later
from wardround.evaluators.judging.unread import Why

_HEDGES = later(
    r"\b(?:partial(?:ly)?|partly|mostly|largely|somewhat|however|but|although|though|except|unless|maybe|perhaps|"
    r"possibly|probably|unsure|uncertain|unclear|doubt(?:s|ful)?|instead|rather|actually|almost|nearly|half|halfway|"
    r"in part|parts?(?= of (?:it|the|this))|disagree[sd]?|opposite|refuse[sd]?|aside|debatable|questionable|yet|"
    r"as (?:far|long) as)\b|\?",
    re.IGNORECASE,
)
_TAKEN_BACK = later(
    r"\b(?:fail\w*|miss(?:es|ed|ing)?|false\w*|untrue|wrong\w*|incorrect\w*|inaccura\w*|imprecise\w*|inexact\w*|"
    r"incomplete\w*|mistak\w*|errors?|erroneous\w*|lack(?:s|ed|ing)?|omit\w*|omission\w*|overlook\w*|ignor\w*|"
    r"neglect\w*|differ(?:s|ent|ently|ed|ing)?|contradict\w*|contrary|opposed?|oppos(?:es|ing)|den(?:y|ies|ied)|"
    r"reject\w*|only|merely|just|if|provided|assuming|part|otherwise|another|too|vague|broader|narrower|less|"
    r"insufficient\w*|inadequate\w*|unsupported|unproven|invalid|nope|nah|false[oa]?|fals[oa]|falsch|faux|fausse|pero|"
    r"sino|aber|nicht|kein\w*|mais|pas)\b",
    re.IGNORECASE,
)
_NEGATIONS = later(
    r"\b(?:not|no|non|never|neither|nor|none|nothing|without|cannot|hardly|scarcely|barely)\b|n['\u2019]t\b",
    re.IGNORECASE,
)
_AFFIRMED = later(
    r"\b(?:right(?=\W*$| (?:that|about|on|answer|after))|true|valid|accurate|agrees?|match(?:es|ed)?|correctly|yes|"
    r"(?:is|are|says|say|means|mean|names|name) the same|bears? (?:it|this|that) out|"
    r"(?:is|are|was|were) (?:\w+ )?(?:found|covered|included|present|contained|supported|confirmed|correct|right))\b",
    re.IGNORECASE,
)
_CLAUSE = later(r"[.,;:\n]")
_UNREAD = later(
    "[^\\x00-\\x7f\u00a0-\u024f\u0370-\u03ff\u1e00-\u1eff\u2010-\u2027\u202f-\u205e\u2070-\u209f\u20ac\u2122\u2190\u2192"
    "\u2248\u2264\u2265\u2212\ufffd]"
)
"""Other than Latin and Greek letters, the signs of medical prose and what stands for half a character: a cross, a tick,
another script.
"""


def hedged(text: str) -> bool:
    """Whether a text doubts or negates anywhere, as one does that holds a verdict but does not give it."""
    return any(pattern.search(text) for pattern in (_HEDGES, _NEGATIONS, _TAKEN_BACK, _UNREAD))


def taken_back(text: str, *, negative: bool) -> Why | None:
    """Why the words behind a verdict leave it open; None if they do not.

    Behind a `negative` verdict a negation is what one expects, and a clause that affirms without one is not.
    """
    if _UNREAD.search(text) or _HEDGES.search(text):
        return "hedged"
    if not negative:
        return "hedged" if _NEGATIONS.search(text) or _TAKEN_BACK.search(text) else None
    for clause in _CLAUSE.split(text):
        if _AFFIRMED.search(clause) and not _NEGATIONS.search(clause):
            return "several"
    return None
