"""Double negations, which assert: 'nothing speaks for anything but gout', 'do not stop methotrexate'."""

import re

from wardround.engine.text import regex
from wardround.scenarios.terms.cues import cue

_NOUN = (
    r"(?:diagnos[ei]s|diseases?|conditions?|disorders?|process(?:es)?|causes?|explanations?|illness(?:es)?|entit(?:y|ies)"
    r"|pathology|pathologies|a?etiolog(?:y|ies)|possibilit(?:y|ies)|treatments?|therap(?:y|ies)|drugs?|measures?|options?"
    r"|plans?|agents?|interventions?)"
)
_OTHER = r"(?:(?:an)?other|different|alternative|competing|further|additional|second)"
_THAN = r"(?:other\s+than|else\s+(?:than|but)|except(?:\s+for)?|apart\s+from|aside\s+from|besides|but|than)"
_ANYTHING = regex(
    rf"(?i)\b(?:(?:any(?:thing)?|everything|all)(?:\s+else)?(?:\s+{_OTHER})?(?:\s+{_NOUN})?|{_OTHER}\s+{_NOUN})"
    rf"\s+{_THAN}\s+(?=\w)|\b{_NOUN}\s+other\s+than\s+(?=\w)"
)
"""Words for everything except what follows: 'anything other than', 'any diagnosis but'."""
_DENIAL = regex(
    r"(?i)\b(?:no|not|never|nothing|none|nobody|cannot|without|hardly|neither|lacks?|lack of|absence of|absent"
    r"|rul(?:ed?|es|ing) out|exclud(?:e[sd]?|ing)|wrong|incorrect|mistake[ns]?|error|impossible|unlikely|implausible"
    r"|difficult|hard|doubt(?:s|ful)?|unreasonable|denies|deny)\b|n['’]t\b"
)
_DENIED_AFTER = regex(
    r"(?i)\s*\b(?:is|are|was|were|(?:has|have|had|can|could|may|should) (?:be|been))\s+(?:\w+ly\s+)?(?:ruled out"
    r"|excluded|unlikely|eliminated|dismissed|discarded|rejected|improbable)\W*$"
)
_UNDOUBTED = regex(
    r"(?i)\b(?:(?:do|does|did|can|could|would|will) ?(?:not|n['’]t)|cannot|never|no (?:reason|need|cause) to"
    r"|nobody (?:can|could|would|will))\s+(?:\w+ly\s+)?(?:doubt|deny|dispute|question)\s+(?:that\s+)?"
)
_BEYOND = regex(
    r"(?i)\s+(?:(?:is|are) (?:not|n['’]t) (?:in|open to) (?:doubt|question|dispute)|(?:is|are) (?:beyond|without)"
    r" (?:any )?(?:doubt|question|dispute)|(?:cannot|can['’]t) be (?:doubted|denied|disputed))\W*$"
)
_STOPPED = (
    r"stopp?|discontinu|withh[eo]ld|avoid|omit|hold|held|suspend|delay|defer|for[eg]+o|withdr[ae]w|skip|interrupt"
)
_KEPT = regex(
    rf"(?i)\b(?:(?:do|does|must|should|may|can) ?(?:not|n['’]t)|cannot|never|no (?:reason|need|indication) to|not to"
    rf"|without)\s+(?:\w+ly\s+)?(?:(?:{_STOPPED})\w*|refrain\w* from|hesitat\w* to)\s+"
)
_KEPT_AFTER = regex(
    rf"(?i)\b(?:(?:must|should|need|may|can|is|are|was|were|has|have|will|would) ?(?:not|n['’]t)|cannot)(?: to)?"
    rf"(?: be| been)?\s+(?:\w+ly\s+)?(?:(?:{_STOPPED})\w*)"
)


def undoubled(sentence: str) -> str:
    """`sentence` with a denial of everything else written as an assertion; any other sentence as it is.

    >>> undoubled("There is no evidence of anything other than gout")
    'gout'
    """
    if _BEYOND.search(sentence) and not _DENIAL.search(_BEYOND.sub("", sentence)):
        return _BEYOND.sub("", sentence)
    sentence = _UNDOUBTED.sub("", sentence)
    match = _ANYTHING.search(sentence)
    if match is None:
        return sentence
    before, after = sentence[: match.start()], sentence[match.end() :]
    denials = list(_DENIAL.finditer(before))
    if len(denials) == 1:
        comma = before.rfind(",", 0, denials[0].start())
        return f"{before[:comma]}, {after}" if comma > 0 else after
    ended = _DENIED_AFTER.search(after)
    return after[: ended.start()] if ended and not denials else sentence


def kept(sentence: str) -> str:
    """A sentence of a plan in which a denied stop is written as giving: 'do not stop X' becomes 'continue X'."""
    sentence = _KEPT_AFTER.sub(" is continued", _KEPT.sub(" continue ", undoubled(cue("sole").sub("only", sentence))))
    return re.sub(r"\s+", " ", sentence)
