"""What a step does, by how much of it stands in the case and whether it draws a conclusion."""

import re
from collections.abc import Sequence

from rapidfuzz import fuzz

from wardround.engine.text import later
from wardround.evaluators.lexical.content import known, share
from wardround.evaluators.reasoning.judged import StepClass

HEADING = 6
"""Telling words up to which a step that concludes nothing is a heading or a note: it cites."""
RESTATED = 0.5
"""Least share of a step that concludes nothing which stands in the case, if it cites."""
MOSTLY, SPARSE = 0.7, 0.03
"""The same for a step with few words of conclusion, and the most of them for each of its words."""
SAME = 92.0
"""Least likeness (rapidfuzz token sort ratio) of a step that repeats another."""

_NUMBER = later(r"\d+(?:[.,]\d+)?")
_VALUE = later(
    r"\b\d+(?:[.,]\d+)?\s?(?:%|mm|cm|m[lL]|[gG]/|mg|g/d[lL]|U/|IU|mmol|mEq|mm ?Hg|/min|bpm|\u00b0|ng|pg|\u00b5g|mcg|"
    r"cells|K/|x ?10|/\u00b5[lL]|/mm)"
)
_STATING = later(
    r"\b(?:show(?:s|ed|n)?|reveal(?:s|ed)?|demonstrat(?:es|ed)|(?:was|were|is|are) (?:found|seen|positive|negative"
    r"|elevated|raised|high|low|abnormal|normal|increased|decreased)|came back|return(?:s|ed)|measured|of \d)\b"
    r"|" + _VALUE.pattern,
    re.IGNORECASE,
)
_NOT_STATED = later(
    r"\b(?:if|whether|would|will|could|may|might|should|can|must|expect\w*|suspect\w*|anticipat\w*|plan\w*|order\w*"
    r"|request\w*|check\w*|look\w* for|need\w*|want\w*|ask\w*|consider\w*|possibl\w*|probabl\w*|likely|unlikely|to"
    r" (?:confirm|exclude|rule|see|assess|evaluate)|usual\w*|typical\w*|often|common\w*|general\w*|most|many|some"
    r"|patients?|cases|in (?:general|children|adults)|above|below|more than|less than|over|under|greater|cut-?off"
    r"|threshold|criteria|characteri\w*|classic\w*|dose|give\w*|treat\w*|therapy|daily|no|not|without)\b|[?<>\u2265\u2264]",
    re.IGNORECASE,
)
_CLAUSE = later(r"(?<=[a-z0-9%)])[.;](?=\s|$)|,\s|\n|\b(?:and|but|which|because|so|while|whereas)\b")
_CONCLUDING = later(
    r"\b(?:suggest\w*|indicat\w*|consistent|inconsistent|therefore|thus|hence|likely|unlikely|support\w*"
    r"|point\w* (?:to|away)\w*|rais(?:e|es|ed|ing)|confirm\w*|(?:rule\w*|ruling)[ -]out|exclu\w*|consider\w*|because"
    r"|since|due to|could|may|might|would|concern\w*|align\w*|diagnos\w*|possib\w*|differential\w*|compatible"
    r"|typical\w*|characteristic\w*|hallmark|common\w*|rare\w*|associated|impl(?:y|ies|ied)|need\w*|should|often"
    r"|usually|can|given|favou?r\w*|classic\w*|expla\w*|makes?|help\w*|crucial|important|significant\w*|reflect\w*"
    r"|correlat\w*|distinguish\w*|differentiat\w*|reinforc\w*|strong\w*|fits?|match\w*|mean\w*|caus\w*|result\w*"
    r"|lead\w*|secondary|definitive\w*|conclu\w*|which is|known|argu\w+|unusual|probabl\w*|potential\w*)\b"
    "|\u63d0\u793a|\u8003\u8651|\u56e0\u6b64|\u7b26\u5408|\u652f\u6301|\u6392\u9664|\u53ef\u80fd|\u8bca\u65ad|\u8bf4\u660e"
)


def step_class(case: str, earlier: Sequence[str], step: str) -> StepClass:
    """The class of a step (paper 002, prompt 15), for lack of anything better `reasoning`.

    A word of conclusion that the case itself has ("suggestive of a polyp") concludes nothing. Redundancy is a step that
    concludes without a telling word: what helps and what does not cannot be told by words, as a new idea shares none
    with the case.
    """
    said = known(step)
    if any(_again(step, said, other) for other in earlier):
        return StepClass.REPETITION
    lowered, record = step.lower(), case.lower()
    concluding = sum(word not in record for word in _CONCLUDING.findall(lowered))
    restated = share(said, known(case))
    if concluding == 0 and (len(said) <= HEADING or restated >= RESTATED):
        return StepClass.CITATION
    if restated >= MOSTLY and concluding < SPARSE * len(step.split()):
        return StepClass.CITATION
    return StepClass.REASONING if said else StepClass.REDUNDANCY


def untold(case: str, step: str) -> str:
    """The words of a step that state a result which the case as it was known does not hold; "" if there are none.

    A clause states one by a verb of finding, or by a value with its unit. It counts where no word of it expects, plans,
    supposes or generalises, and where none of its telling words, or none of its values, stands in the case: to miss an
    invented finding is better than to take knowledge for one.
    """
    had, numbers = known(case), set(_NUMBER.findall(case))
    for clause in _CLAUSE.split(step):
        said = clause.strip(" .*_-")
        if not _STATING.search(said) or _NOT_STATED.search(said):
            continue
        values = {value[0] for value in _VALUE.finditer(said)}
        digits = {number for value in values for number in _NUMBER.findall(value)}
        if digits and not digits & numbers:
            return said
        told = known(_STATING.sub(" ", said))
        if not digits and len(told) >= 2 and not told & had:
            return said
    return ""


def _again(step: str, said: frozenset[str], other: str) -> bool:
    if len(said) < 4 or share(said, known(other)) < 0.9:
        return False
    return fuzz.token_sort_ratio(step, other, score_cutoff=SAME) >= SAME
