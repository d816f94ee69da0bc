"""Compares texts for the offline judge: steps, claims and reference steps, by the words that they share.

Each public function answers a question to a judge (`judge`) by content words; the constants before it are its limits.
"""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from typing import NamedTuple

from rapidfuzz import fuzz

from wardround.engine.text import regex
from wardround.evaluators.content import longest_words, sentence_windows, sentences, share, word_set
from wardround.evaluators.reasoning.step_questions import MOST_STEPS as MOST
from wardround.evaluators.reasoning.step_questions import StepClass
from wardround.scenarios.answers import diagnosis
from wardround.scenarios.answers.answer_markup import LONGEST_ANSWER
from wardround.scenarios.answers.commitment import Asserted
from wardround.scenarios.answers.stance import clauses
from wardround.scenarios.answers.truth import opening_contains
from wardround.scenarios.case import Truth
from wardround.scenarios.diseases.same_disease import same_disease

OPENING = 8
"""Number of words that identify the beginning of a step."""
TOGETHER = 3
"""Most sentences of a step, if none opens with a word that begins a new one."""
QUOTES, SHARED, LONG = 5, 2, 500
"""The most sentences copied from a page, the fewest words that each shares with the step, its most characters."""

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
    """Return the lines of a reference as at most ten steps in its own words; the last line is the last step.

    A heading is joined with the line below it. Above ten steps, the shortest neighbours are joined.
    """
    pieces: list[str] = []
    heading = ""
    for line in text.splitlines():
        words = " ".join(_MARK.sub("", line).replace("**", "").split())
        if not any(map(str.isalnum, words)):
            continue
        if words.endswith(":"):
            heading = f"{heading} {words}".strip()
        else:
            pieces.append(f"{heading} {words}".strip())
            heading = ""
    if heading:
        pieces.append(heading)
    if len(pieces) == 2 and len(pieces[0]) > 300:  # one paragraph and the answer
        pieces = [*sentences(pieces[0]), pieces[1]]
    return _merge_pieces(pieces)


def _merge_pieces(pieces: list[str]) -> list[str]:
    while len(pieces) > MOST:
        lengths = [len(one) + len(other) for one, other in pairwise(pieces[:-1])]  # the last step is the answer
        at = lengths.index(min(lengths))
        pieces = [*pieces[:at], f"{pieces[at]} {pieces[at + 1]}", *pieces[at + 2 :]]
    return pieces


def step_starts(text: str) -> list[str]:
    """Return the first words of each step of an unmarked text: a step begins at a connective, or after 3 sentences."""
    starts: list[str] = []
    length = TOGETHER
    for sentence in sentences(text):
        if not any(map(str.isalnum, sentence)):
            continue
        if length >= TOGETHER or _CONNECTIVE.match(sentence):
            starts.append(_opening_words(sentence))
            length = 0
        length += 1
    return starts


def _opening_words(sentence: str) -> str:
    words = list(re.finditer(r"\S+", sentence))
    return sentence[: words[min(OPENING, len(words)) - 1].end()][:200]


def relevant_sentences(page: str, step: str) -> list[str]:
    """Return the sentences of a page that share most with a step, verbatim and in the page's order."""
    wanted = word_set(step)
    candidates = [sentence for sentence in sentences(page) if len(sentence) <= LONG]
    scored = [(share(wanted, word_set(sentence)), -place) for place, sentence in enumerate(candidates)]
    places = sorted(-place for _, place in sorted(scored, reverse=True)[:QUOTES])
    return [candidates[place] for place in places if len(wanted & word_set(candidates[place])) >= SHARED]


ENOUGH = 0.5
"""Least mean of two shares of the step's words: that in the whole text and that in its best place."""
PLACE = 3
"""Number of neighbouring sentences that form one place."""

_FINAL = re.compile(r"(?i)^\W*(?:the )?final (?:diagnosis|answer)\W+(?P<name>\S.*)$", re.DOTALL)


def contains_step(step: str, text: str) -> bool:
    """Whether a text contains a reference step (MedR-Bench, prompt 18); for a final diagnosis its name is enough."""
    wanted = word_set(step)
    if not wanted:
        return False
    whole = share(wanted, word_set(text))
    if whole >= ENOUGH:
        best = max((share(wanted, place) for place in sentence_windows(sentences(text), PLACE)), default=0.0)
        if (whole + best) / 2 >= ENOUGH:
            return True
    final = _FINAL.match(step)
    return final is not None and _names_diagnosis(text, Truth(diagnosis=final["name"].strip(" .")))


def _names_diagnosis(text: str, truth: Truth) -> bool:
    """Whether a text of any length names a diagnosis, in a clause that does not deny it or as an answer."""
    kept = [clause.text for clause in clauses(text[:LONGEST_ANSWER]) if clause.stance not in ("denied", "refused")]
    return any(opening_contains(truth, clause) for clause in kept) or diagnosis.compare(text, truth).match


ALIKE, SHARED_WORDS = 0.4, 4
"""Least share and least number of a claim's words that one sentence of a passage must contain to settle it."""
OPPOSED = 0.6
"""Least share for a contradiction. A "not" may refer to something else, so the sentences must be very similar."""
SHORTEST_CLAIM = 3
"""Words of the shortest claim that is checked. A claim of up to SHARED_WORDS words must be contained whole."""
RESTATED = 0.7
"""Share of a claim's words in the case from which the claim only restates it, so nothing is looked up."""
LONG_SENTENCE = 500
"""Longest sentence that is used: a longer one is a list of many words. Questions are not used either."""

_DENIED = re.compile(r"\b(?:not(?! only\b)|never|neither|cannot)\b|n['\u2019]t\b", re.IGNORECASE)
"""Negations of what a sentence says."""
_REACH = re.compile(r"[,;:.()]|\b(?:and|but|or|while|whereas|which|who|although|because)\b", re.IGNORECASE)
"""Ends the reach of a negation at the latest."""
_NEGATIVE = re.compile(
    r"\b(?:no|nor|without|none|fail(?:s|ed)? to|lack(?:s|ed|ing)?|absence|absent|un(?:likely|able)|insufficient"
    r"|negative|ineffective|rul(?:e|es|ed|ing)[ -]out|exclud\w+|exclusion|den(?:y|ies|ied)|false|myth|rather than"
    r"|instead of)\b",
    re.IGNORECASE,
)
"""Mostly negations of a single word."""
_UP = re.compile(r"\b(?:increas|rais|elevat|higher|high|hyper|improv|promot|worsen|more|greater|caus|rise)\w*", re.I)
_DOWN = re.compile(r"\b(?:decreas|reduc|lower|low|hypo|prevent|inhibit|protect|less|fewer|declin)\w*", re.I)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")


class Match(NamedTuple):
    """A passage (1 is the first), its verbatim sentence most like a claim, whether it agrees, and how similar it is."""

    passage: int
    quote: str
    agrees: bool
    likeness: float


def matching_sentence(case: str, passages: Sequence[str], text: str) -> Match | None:
    """Return the most similar sentence that says the same as a claim or its opposite; None if none is similar enough.

    A sentence that restates the case is no claim. A contradiction is a "not" on one side only that negates what the
    other says. If other negations, directions (more, less) or numbers differ, nothing is settled: only understanding
    could tell whether both can be true.
    """
    best: Match | None = None
    record = word_set(case)
    claims = [
        one
        for one in sentences(text)
        if len(word_set(one)) >= SHORTEST_CLAIM and share(word_set(one), record) < RESTATED
    ]
    for number, passage in enumerate(passages, 1):
        for sentence in sentences(passage):
            if len(sentence) <= LONG_SENTENCE and not sentence.endswith("?"):
                best = max((best, *(_match(number, sentence, claim) for claim in claims)), key=_likeness)
    return best


def _match(number: int, sentence: str, claim: str) -> Match | None:
    """Compare a sentence with a claim; None if they are too unlike, or if the sentence settles nothing."""
    wanted, words = word_set(claim), word_set(sentence)
    if len(wanted & words) < min(SHARED_WORDS, len(wanted)):
        return None
    likeness = share(wanted, words)
    if likeness < ALIKE or not _comparable(claim, sentence):
        return None
    denied, negative = ({bool(pattern.search(one)) for one in (claim, sentence)} for pattern in (_DENIED, _NEGATIVE))
    if len(denied) == len(negative) == 1:
        return Match(number, sentence, True, likeness)
    if len(denied) == 2 and negative == {False} and likeness >= OPPOSED and _denies(claim, sentence):
        return Match(number, sentence, False, likeness)
    return None


def _denies(claim: str, sentence: str) -> bool:
    """Whether one sentence denies what the other says: "is not excreted and builds up" does not deny a build-up."""
    for saying, other in ((claim, sentence), (sentence, claim)):
        for negation in _DENIED.finditer(saying):
            if word_set(_REACH.split(saying[negation.end() :], maxsplit=1)[0]) & word_set(other):
                return True
    return False


def _likeness(match: Match | None) -> float:
    return match.likeness if match else 0.0


def further_keywords(passages: Sequence[str], text: str) -> str:
    """Return what to look up next: words of the text that neither a passage nor the first query has; "" if none."""
    first = word_set(longest_words([text]))
    return longest_words([text], without=first | frozenset(word for passage in passages for word in word_set(passage)))


def _comparable(claim: str, sentence: str) -> bool:
    ours = bool(_UP.search(claim)) - bool(_DOWN.search(claim))
    theirs = bool(_UP.search(sentence)) - bool(_DOWN.search(sentence))
    numbers, others = set(_NUMBER.findall(claim)), set(_NUMBER.findall(sentence))
    return ours * theirs >= 0 and (not numbers or not others or bool(numbers & others))


HEADING = 6
"""Most content words of a step without a conclusion that counts as a heading or a note: such a step cites."""
RESTATED_STEP = 0.5
"""Least share of a step without a conclusion that must occur in the case for the step to cite."""
STEM = 5
"""Number of first letters by which two words count as the same: 'gardening', 'gardener'."""
MOSTLY, SPARSE = 0.7, 0.03
"""Least share of a step with few words of conclusion that must occur in the case, and the share below which they are
few."""
SAME = 92.0
"""Least similarity (rapidfuzz token sort ratio) of a step that repeats another."""

_PLAIN_NUMBER = regex(r"\d+(?:[.,]\d+)?")
_VALUE = regex(
    r"\b\d+(?:[.,]\d+)?\s?(?:%|mm|cm|m[lL]|[gG]/|mg|g/d[lL]|U/|IU|mmol|mEq|mm ?Hg|/min|bpm|\u00b0|ng|pg|\u00b5g|mcg|"
    r"cells|K/|x ?10|/\u00b5[lL]|/mm)"
)
_STATING = regex(
    r"\b(?:show(?:s|ed|n)?|reveal(?:s|ed)?|demonstrat(?:es|ed)|(?:was|were|is|are) (?:found|seen|positive|negative"
    r"|elevated|raised|high|low|abnormal|normal|increased|decreased)|came back|return(?:s|ed)|measured|of \d)\b"
    r"|" + _VALUE.pattern,
    re.IGNORECASE,
)
_NOT_STATED = regex(
    r"\b(?:if|whether|would|will|could|may|might|should|can|must|expect\w*|suspect\w*|anticipat\w*|plan\w*|order\w*"
    r"|request\w*|check\w*|look\w* for|need\w*|want\w*|ask\w*|consider\w*|possibl\w*|probabl\w*|likely|unlikely|to"
    r" (?:confirm|exclude|rule|see|assess|evaluate)|usual\w*|typical\w*|often|common\w*|general\w*|most|many|some"
    r"|patients?|cases|in (?:general|children|adults)|above|below|more than|less than|over|under|greater|cut-?off"
    r"|threshold|criteria|characteri\w*|classic\w*|dose|give\w*|treat\w*|therapy|daily|no|not|without)\b|[?<>\u2265\u2264]",
    re.IGNORECASE,
)
_CLAUSE = regex(r"(?<=[a-z0-9%)])[.;](?=\s|$)|,\s|\n|\b(?:and|but|which|because|so|while|whereas)\b")
_CONCLUDING = regex(
    r"\b(?:suggest\w*|indicat\w*|consistent|inconsistent|therefore|thus|hence|likely|unlikely|support\w*"
    r"|point\w* (?:to|away)\w*|rais(?:e|es|ed|ing)|confirm\w*|(?:rule\w*|ruling)[ -]out|exclu\w*|consider\w*|because"
    r"|since|due to|could|may|might|would|concern\w*|align\w*|diagnos\w*|possib\w*|differential\w*|compatible"
    r"|typical\w*|characteristic\w*|hallmark|common\w*|rare\w*|associated|impl(?:y|ies|ied)|need\w*|should|often"
    r"|usually|can|given|favou?r\w*|classic\w*|expla\w*|makes?|help\w*|crucial|important|significant\w*|reflect\w*"
    r"|correlat\w*|distinguish\w*|differentiat\w*|reinforc\w*|strong\w*|fits?|match\w*|mean\w*|caus\w*|result\w*"
    r"|lead\w*|secondary|definitive\w*|conclu\w*|which is|known|argu\w+|unusual|probabl\w*|potential\w*)\b"
    "|\u63d0\u793a|\u8003\u8651|\u56e0\u6b64|\u7b26\u5408|\u652f\u6301|\u6392\u9664|\u53ef\u80fd|\u8bca\u65ad|\u8bf4\u660e"
)


def classify_step(case: str, earlier: Sequence[str], step: str) -> StepClass:
    """Return the class of a step (MedR-Bench, prompt 15); `reasoning` if no other class fits.

    A word of conclusion that also occurs in the case ("suggestive of a polyp") concludes nothing. A step is redundant
    only if it concludes without a content word, or says what holds of any patient: "a history is important", or "cough
    has many causes" without a word of the case. It is a citation if it adds no more than that to words of the case.
    Words cannot tell what helps and what does not.
    """
    words = word_set(step)
    if any(_repeats(step, words, other) for other in earlier):
        return StepClass.REPETITION
    own = _own_text(step, case)
    if words and word_set(own) <= _of_any_patient():
        return StepClass.CITATION if own != step else StepClass.REDUNDANCY
    lowered, record = step.lower(), case.lower()
    concluding = sum(word not in record for word in _CONCLUDING.findall(lowered))
    restated = share(words, word_set(case))
    if concluding == 0 and (len(words) <= HEADING or restated >= RESTATED_STEP):
        return StepClass.CITATION
    if restated >= MOSTLY and concluding < SPARSE * len(step.split()):
        return StepClass.CITATION
    of_this_case = {word[:STEM] for word in words} & {word[:STEM] for word in word_set(case)}
    return StepClass.REASONING if of_this_case else StepClass.REDUNDANCY


_PIECE = regex(r"(?<=[a-z0-9)%\"'\u201d])[.;!?](?=\s|$)|\n")
_QUOTED = regex(r"[\"\u201c]([^\"\u201c\u201d]{12,})[\"\u201d]")
_COPIED = 12
"""Fewest characters of a sentence that counts as copied from the case."""


@cache
def _of_any_patient() -> frozenset[str]:
    """Content words that fit any patient and any case."""
    return word_set(
        "history doctor physician patient patients person people symptom symptoms sign signs test tests "
        "testing plan diagnosis diagnose diagnostic record records visit medicine medical care cared practice "
        "clinic clinics clinical clinically hospital hospitals ward wards team teams family families science "
        "life important importance significant relevant relevance crucial essential attention attentive "
        "attentively careful carefully point points step steps reasoning thinking finding findings result "
        "results information data context case condition disease illness treatment management approach "
        "assessment evaluation examination investigation consider considered consideration note noted suggest "
        "suggests support supports suggesting indicates indicate useful helpful matter matters deserves "
        "needed number health healthcare thorough thoroughly detail details detailed next further overall "
        "general summary conclusion answer"
    )


def _own_text(step: str, case: str) -> str:
    """Return a step without the sentences and quotations that stand word for word in the case."""
    record = " ".join(case.lower().split())

    def copied(piece: str) -> bool:
        plain = " ".join(piece.lower().split()).strip(" .\"'\u201c\u201d*_-")
        return len(plain) >= _COPIED and plain in record

    own = _QUOTED.sub(lambda quoted: " " if copied(quoted[1]) else quoted[0], step)
    kept = [piece for piece in _PIECE.split(own) if not copied(piece)]
    return step if own == step and not any(map(copied, _PIECE.split(step))) else ". ".join(kept)


def unseen_result(case: str, step: str) -> str:
    """Return the words of a step that state a result which the case, as known by then, lacks; "" if there are none.

    A clause states a result by a verb of finding, or by a value with its unit. It counts if it does not expect, plan,
    suppose or generalise, and if none of its content words, or none of its values, occurs in the case. Missing an
    invented finding is better than taking knowledge for one.
    """
    record, numbers = word_set(case), set(_PLAIN_NUMBER.findall(case))
    for piece in _CLAUSE.split(step):
        clause = piece.strip(" .*_-")
        if not _STATING.search(clause) or _NOT_STATED.search(clause):
            continue
        values = {value[0] for value in _VALUE.finditer(clause)}
        digits = {number for value in values for number in _PLAIN_NUMBER.findall(value)}
        if digits and not digits & numbers:
            return clause
        content = word_set(_STATING.sub(" ", clause))
        if not digits and len(content) >= 2 and not content & record:
            return clause
    return ""


def _repeats(step: str, words: frozenset[str], other: str) -> bool:
    if len(words) < 4 or share(words, word_set(other)) < 0.9:
        return False
    return fuzz.token_sort_ratio(step, other, score_cutoff=SAME) >= SAME


MET = 0.7
"""Least share of the words of a criterion that the answer must have."""
_SCORES = ((0.85, 5), (0.6, 4), (0.35, 3), (0.15, 2))


def criterion_met(criterion: str, conversation: str, answer: str) -> bool:
    """Whether an answer meets a criterion, by words: some sentences of its own have most of the criterion's words.

    What an answer copies from the conversation counts for nothing. Words show neither a denial nor a fault that is
    described and not quoted, so the verdict is only a lower bound of a judge's.
    """
    wanted = word_set(criterion)
    had = _own_words(answer, conversation)
    return bool(wanted) and len(wanted & had) / len(wanted) >= MET


def checklist_score(requirements: Iterable[str], question: str, answer: str) -> int:
    """Score an answer 1 to 5 by the words of its requirements and reference, less those of the question."""
    asked = word_set(question)
    wanted = set().union(*(word_set(one) for one in requirements)) - asked
    had = _own_words(answer, question)
    covered = len(wanted & had) / len(wanted) if wanted else float(bool(had - asked))
    return next((score for least, score in _SCORES if covered >= least), 1)


def _own_words(answer: str, question: str) -> set[str]:
    """Return the words of an answer's sentences that say something which the question does not."""
    asked = word_set(question)
    return set().union(*(words for one in sentences(answer) if (words := word_set(one)) - asked))


NAMED = 0.4
"""Least share of the words of a diagnosis that an answer must assert to name it."""
BRIEF = 8
"""Most different words of two names together that differ as siblings do: these are left to the word match."""


def names_diagnosis(truth: Truth, answer: str) -> bool:
    """Whether an answer names the disease, as a judge is asked (MedR-Bench, prompt 19): anywhere in what it asserts.

    The word match asks more: the disease must come first. Labels of reports and answers to them are often compound, in
    another order, with another cause or consequence. So an answer with many words also names the disease if its
    asserted diseases together contain a good part of the label's words, long ones weighing more. It does not if it is
    brief, where one other word makes another disease; if the asserted disease that is nearest to the label contradicts
    it (another type, stage, side or cause); or if it commits to no single diagnosis.

    >>> label = "Tracheal compression by a double aortic arch with recurrent aspiration pneumonia"
    >>> answer = "Recurrent aspiration pneumonia in a child whose trachea is compressed, due to a double aortic arch"
    >>> names_diagnosis(Truth(diagnosis=label), answer)
    True
    """
    verdict = diagnosis.compare(answer, truth)
    if verdict.match or verdict.reason:
        return verdict.match
    asserted = verdict.read.asserted
    labels = [label for label in (truth.diagnosis, *truth.synonyms) if word_set(label)]
    words = word_set(" ; ".join(item.text for item in asserted))
    if not any(share(word_set(label), words) >= NAMED for label in labels):
        return False
    brief = any(len(word_set(label) | word_set(answer)) <= BRIEF for label in labels)
    return not brief and not _is_other_form(labels, asserted)


def _is_other_form(labels: Sequence[str], asserted: Sequence[Asserted]) -> bool:
    """Whether the asserted disease with most of a label's words is another type, stage, side or cause of it."""
    nearest = max(asserted, key=lambda item: max(share(word_set(label), word_set(item.text)) for label in labels))
    return any(same_disease(label, name).opposite for label in labels for name in (nearest.name, nearest.text))
