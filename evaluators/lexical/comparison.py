"""What the offline judge compares: steps, claims and reference steps, by the words they share."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from wardround.engine.text import later
from wardround.evaluators.content import keywords, known, sentences, share, windows
from wardround.evaluators.reasoning.evaluator import MOST
from wardround.evaluators.reasoning.judged_reply import StepClass
from wardround.scenarios.case import Truth
from wardround.scenarios.terms import diagnosis
from wardround.scenarios.terms.commitment import MOST as MOST_CHARACTERS
from wardround.scenarios.terms.stance import clauses
from wardround.scenarios.terms.truth import opening_contains

OPENING = 8
"""Words by which the beginning of a step is told."""
TOGETHER = 3
"""Sentences of a step at most, where none opens with a word that begins a new one."""
QUOTES, SHARED, LONG = 5, 2, 500
"""Sentences copied out of a page at most; words that each shares with the step at least; its characters at most."""

_MARK = re.compile(
    r"^[ \t>]*(?:[-*+\u2022\u00b7]+|\(?\d{1,3}[.)])[ \t]+|^[ \t]*#{1,6}[ \t]*|^[ \t]*<step \d+>[ \t]*", re.I
)
_CONNECTIVE = re.compile(
    r"(?:first|second|third|next|then|now|finally|lastly|however|but|given|therefore|thus|hence|so|also|additionally|moreover"
    r"|furthermore|in addition|on the other hand|alternatively|another|looking|considering|regarding|overall|in summary"
    r"|in conclusion|taken together|putting|wait|hmm|okay|let me|let's)\b",
    re.IGNORECASE,
)


def reference_steps(text: str) -> list[str]:
    """The lines of a reference as steps in its own words, at most ten; the last line is the last step.

    A heading stands with the line below it. Of more than ten the shortest neighbours are put together.
    """
    pieces: list[str] = []
    heading = ""
    for line in text.splitlines():
        said = " ".join(_MARK.sub("", line).replace("**", "").split())
        if not any(map(str.isalnum, said)):
            continue
        if said.endswith(":"):
            heading = f"{heading} {said}".strip()
        else:
            pieces.append(f"{heading} {said}".strip())
            heading = ""
    if heading:
        pieces.append(heading)
    if len(pieces) == 2 and len(pieces[0]) > 300:  # one paragraph and the answer
        pieces = [*sentences(pieces[0]), pieces[1]]
    return _merged(pieces)


def _merged(pieces: list[str]) -> list[str]:
    while len(pieces) > MOST:
        lengths = [len(one) + len(other) for one, other in pairwise(pieces[:-1])]  # the last step is the answer
        at = lengths.index(min(lengths))
        pieces = [*pieces[:at], f"{pieces[at]} {pieces[at + 1]}", *pieces[at + 2 :]]
    return pieces


def step_starts(text: str) -> list[str]:
    """The first words of each step of a text without marks: at a sentence that turns to something else."""
    starts: list[str] = []
    held = TOGETHER
    for said in sentences(text):
        if not any(map(str.isalnum, said)):
            continue
        if held >= TOGETHER or _CONNECTIVE.match(said):
            starts.append(_opening(said))
            held = 0
        held += 1
    return starts


def _opening(said: str) -> str:
    words = list(re.finditer(r"\S+", said))
    return said[: words[min(OPENING, len(words)) - 1].end()][:200]


def bearing(page: str, step: str) -> list[str]:
    """The sentences of a page that share most with a step, word for word, in the page's order."""
    wanted = known(step)
    told = [said for said in sentences(page) if len(said) <= LONG]
    scored = [(share(wanted, known(said)), -place) for place, said in enumerate(told)]
    best = sorted(scored, reverse=True)[:QUOTES]
    return _in_order(told, [-place for _, place in best], wanted)


def _in_order(told: Sequence[str], places: Sequence[int], wanted: frozenset[str]) -> list[str]:
    return [told[place] for place in sorted(places) if len(wanted & known(told[place])) >= SHARED]


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
    kept = [clause.text for clause in clauses(text[:MOST_CHARACTERS]) if clause.stance not in ("denied", "refused")]
    return any(opening_contains(truth, said) for said in kept) or diagnosis.compare(text, truth).match


ALIKE, SHARED_WORDS = 0.4, 4
"""Least share of a claim's words, and least number of them, that one sentence of a passage must hold to settle it."""
OPPOSED = 0.6
"""The least share for a contradiction: a "not" may be about another thing, so the sentences must be much alike."""
SHORT = 3
"""Words of the shortest claim that is checked; up to SHARED words a sentence must hold them all."""
RESTATED = 0.7
"""Share of a claim's words from which on it restates the case: there is nothing to look up."""
LONG_SENTENCE = 500
"""Characters above which a sentence is a list: it holds many words and says little of each. A question says nothing."""

_DENIED = re.compile(r"\b(?:not(?! only\b)|never|neither|cannot)\b|n['\u2019]t\b", re.IGNORECASE)
"""Negations of what a sentence says."""
_REACH = re.compile(r"[,;:.()]|\b(?:and|but|or|while|whereas|which|who|although|because)\b", re.IGNORECASE)
"""Where the reach of a negation ends at the latest."""
_NEGATIVE = re.compile(
    r"\b(?:no|nor|without|none|fail(?:s|ed)? to|lack(?:s|ed|ing)?|absence|absent|un(?:likely|able)|insufficient"
    r"|negative|ineffective|rul(?:e|es|ed|ing)[ -]out|exclud\w+|exclusion|den(?:y|ies|ied)|false|myth|rather than"
    r"|instead of)\b",
    re.IGNORECASE,
)
"""Negations of one word in it, mostly."""
_UP = re.compile(r"\b(?:increas|rais|elevat|higher|high|hyper|improv|promot|worsen|more|greater|caus|rise)\w*", re.I)
_DOWN = re.compile(r"\b(?:decreas|reduc|lower|low|hypo|prevent|inhibit|protect|less|fewer|declin)\w*", re.I)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Match(NamedTuple):
    """A passage (1 is the first) and the sentence in it, word for word, that is like a claim; how, and how much."""

    passage: int
    quote: str
    agrees: bool
    likeness: float


def settled(case: str, passages: Sequence[str], text: str) -> Match | None:
    """The likest sentence that says the same as a claim of the text or its opposite; None if none is like enough.

    What restates the case is no claim. A contradiction is a "not" on one side alone, of what the other says. Where
    other negations, directions (more, less) or numbers differ nothing is settled: whether both can be true takes
    understanding.
    """
    best: Match | None = None
    told = known(case)
    claims = [claim for claim in sentences(text) if len(known(claim)) >= SHORT and share(known(claim), told) < RESTATED]
    for number, passage in enumerate(passages, 1):
        for sentence in sentences(passage):
            if len(sentence) <= LONG_SENTENCE and not sentence.endswith("?"):
                best = max((best, *(_match(number, sentence, claim) for claim in claims)), key=_likeness)
    return best


def _match(number: int, sentence: str, claim: str) -> Match | None:
    wanted, had = known(claim), known(sentence)
    if len(wanted & had) < min(SHARED_WORDS, len(wanted)):
        return None
    likeness = share(wanted, had)
    if likeness < ALIKE or not _comparable(claim, sentence):
        return None
    denied, negative = ({bool(pattern.search(said)) for said in (claim, sentence)} for pattern in (_DENIED, _NEGATIVE))
    if len(denied) == len(negative) == 1:
        return Match(number, sentence, True, likeness)
    if len(denied) == 2 and negative == {False} and likeness >= OPPOSED and _denies(claim, sentence):
        return Match(number, sentence, False, likeness)
    return None


def _denies(claim: str, sentence: str) -> bool:
    """Whether one of the two denies what the other says: "is not excreted and builds up" denies no building up."""
    for saying, other in ((claim, sentence), (sentence, claim)):
        for found in _DENIED.finditer(saying):
            if known(_REACH.split(saying[found.end() :], maxsplit=1)[0]) & known(other):
                return True
    return False


def _likeness(match: Match | None) -> float:
    return match.likeness if match else 0.0


def further(passages: Sequence[str], text: str) -> str:
    """What to look up next: words of the text that no passage has and the first keywords had not; "" if none."""
    first = known(keywords([text]))
    had = frozenset(word for passage in passages for word in known(passage))
    return keywords([text], without=first | had)


def _comparable(claim: str, sentence: str) -> bool:
    ours = bool(_UP.search(claim)) - bool(_DOWN.search(claim))
    theirs = bool(_UP.search(sentence)) - bool(_DOWN.search(sentence))
    numbers, others = set(_NUMBER.findall(claim)), set(_NUMBER.findall(sentence))
    return ours * theirs >= 0 and (not numbers or not others or bool(numbers & others))


HEADING = 6
"""Telling words up to which a step that concludes nothing is a heading or a note: it cites."""
RESTATED_STEP = 0.5
"""Least share of a step that concludes nothing which stands in the case, if it cites."""
MOSTLY, SPARSE = 0.7, 0.03
"""The same for a step with few words of conclusion, and the most of them for each of its words."""
SAME = 92.0
"""Least likeness (rapidfuzz token sort ratio) of a step that repeats another."""

_PLAIN_NUMBER = later(r"\d+(?:[.,]\d+)?")
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
    if concluding == 0 and (len(said) <= HEADING or restated >= RESTATED_STEP):
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
    had, numbers = known(case), set(_PLAIN_NUMBER.findall(case))
    for clause in _CLAUSE.split(step):
        said = clause.strip(" .*_-")
        if not _STATING.search(said) or _NOT_STATED.search(said):
            continue
        values = {value[0] for value in _VALUE.finditer(said)}
        digits = {number for value in values for number in _PLAIN_NUMBER.findall(value)}
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
