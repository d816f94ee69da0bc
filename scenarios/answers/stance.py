"""Splits an answer into clauses, and says of each whether it asserts, leaves open, denies, refuses or explains."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import msgspec

from wardround.engine.text import regex, split_outside_brackets
from wardround.scenarios.answers.double_negation import undoubled
from wardround.scenarios.answers.grounds import calls_for_care, without_grounds
from wardround.scenarios.answers.open_choice import ranks, unranked, with_or
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease, is_detail
from wardround.scenarios.terms.cues import cue, cue_words
from wardround.scenarios.terms.wording import key

Stance = Literal["asserted", "open", "denied", "refused", "tells"]
"""'open': one of several possibilities. 'tells': an explanation, history or condition, which asserts no diagnosis."""

REACH = 400
"""Characters of a clause within which its frame or predicate must begin and end."""

_GENERIC = (
    rf"(?:{cue_words('adjective')}\s+)*{cue_words('noun')}(?:\s+(?:described|here|well|best|seen|above|presented))*"
)
_SUBJECT = (
    rf"(?:{cue_words('adjective')}\s+)*{cue_words('noun')}"
    r"(?:\s+(?:of|in|for|from|behind|here)\b(?:\s+[\w'-]+){1,5}?)?"
)
_ADVERBS = rf"(?:[\s,]+{cue_words('adverb')})*"
_OTHERS = (
    r"(?:whose|mother|father|brother|sister|sibling|twin|uncle|aunt|cousin|grand(?:mother|father)|relatives?|family"
    r"|wife|husband|friend|neighbou?r|roommate)"
)
"""Statements about these people are not about the patient."""
_FRAMES = (
    # 'The most likely diagnosis in this patient is'
    regex(
        rf"(?i)^\W*(?:[\w']+,\s*(?!wh(?:ich"
        rf"|o)\b))?{_SUBJECT}{_ADVERBS}\s+{cue_words('verb')}{_ADVERBS}(?:\s+that\b)?(?=\W)"
    ),
    # 'All of this is most consistent with'
    regex(rf"(?i)^(?:(?!\b{_OTHERS}\b).){{0,300}}?{cue_words('stating')}(?:\s+that\b)?(?=\W)"),
    # 'Final diagnosis:'
    regex(rf"(?i)^\W*(?:{cue_words('adjective')}\s+)*{cue_words('noun')}\s*(?:\([^()]{{0,40}}\)\s*)?(?:[-=]+>|[:=]+)"),
)
_PREDICATE = regex(
    rf"(?i)\s+(?:(?:is|are|was|were|remains?|seems?|appears?|(?:would|must|has) (?:be"
    rf"|been)){_ADVERBS}\s+(?:{cue_words('adjective')}\s+)*(?:{cue_words('likelihood')}|(?:diagnos[ei]s|answer|cause"
    rf"|culprit|explanation|conclusion|impression|choice|pick|fit|match)\b)|(?:(?:would|has|have"
    rf"|had)\s+)?{_ADVERBS}\s*(?:explains?|explained|accounts?\s+for|fits?|underlies|underlie|caused(?!\s+by)|causes)\b"
    rf"|(?:\s*(?:is|are|seems)\b)?{_ADVERBS}\s*(?:consistent|compatible|keeping)\s+with\s+{_GENERIC}\s*$).*$",
    re.DOTALL,
)
_FINDINGS_FIT = regex(
    rf"(?i)\s(?:explains?|fits?|supports?|confirms?|suggests?|indicates?|establish(?:es)?|accounts?\s+for|match(?:es)?"
    rf"|agrees?\s+with|favou?rs?|points?\s+to(?:wards?)?|(?:is|are)\s+(?:\w+\s+)?(?:consistent|compatible"
    rf"|in keeping)\s+with|prove[sd]?)\s+(?:with\s+)?(?:this|that|the|my|our"
    rf"|such an?)(?:\s+{cue_words('adjective')})*\s+(?:diagnos[ei]s|answer|conclusion|impression|assessment|choice)\W*$"
)
"""'These findings support this diagnosis': the subject is evidence, not a disease."""
_EXPLAINED = regex(
    r"(?i)^(?P<name>[^:(—]{2,200}?(?:\([^()]{1,60}\)[^:(—]{0,80}?)?)(?:\s+[-–—]+\s+|:\s+|\s*\((?=[^()]*\)$))"
    r"(?=(?:\w+[\s,]+){0,8}?(?:findings?|combination|presentation|history|biops(?:y|ies)|imaging|labs?|laboratory"
    r"|results?|symptoms?|signs?|features|picture|pattern|triad|course|histology|cytology|culture|mri|ct|scan|x-?ray"
    r"|ultrasound|ecg"
    r"|ekg|serology|examination|exam|evidence|constellation|clinical|patient|case|everything|all of this)\b)"
    r"(?!.*\b(?:would|could|might|may|should|but|though|although|unless|if|however|thought|idea|guess)\b).*$",
    re.DOTALL,
)
"""'Gout - the findings are typical of it': a name and its grounds."""
_ON_RESULT = regex(
    r"(?i)\b(?:positive|negative|confirm\w*|shows?|reveals?|excluded?|normal|abnormal|true|false|not"
    r"|high|low|raised|elevated|grows?|rises?|falls?|comes? back|turns? out)\b"
)
_NO_PERCENT = regex(r"(?<=\w)[\s:(–-]+0(?:[.,]0+)?\s?%\)?\W*$")
_ANSWERED_NO = regex(r"(?i)^\W*(?:no|nope|not? really|certainly not|surely not|never|of course not)\b")
_MODAL = regex(
    r"(?i)\b(could|may|might|can|would|must|should)\s+(?:(?:very|quite)\s+)?(?:also|well|still|indeed|just|even|easily"
    r"|conceivably|possibly|probably|simply|really|only)\s+(be|have|represent)\b"
)
_NO_LONGER = regex(r"(?i)\bno longer\b")
"""Words that deny what comes before them ('X no longer fits'); their 'no' denies nothing after it."""
_GENERAL = regex(
    r"(?i)\s(?:is|are)\s+(?:\w+ly\s+)?(?:diagnosed|treated|managed|confirmed)\s+(?:clinically|by|with|using|when|if)\b"
)
"""A statement about every patient with a disease: 'X is diagnosed by biopsy'."""
_CONCLUDED = regex(r":\s+(?P<name>[^:]{3,80})$")
_NOT_THAT = regex(
    r"(?i)^\s*(?:which|that|this|it|but (?:this|that|it))\s+(?:[\w'-]+\s+){0,4}?"
    r"(?:ruled out|excluded|refuted|disprove[dn]|dismissed|discarded|rejected|eliminated|discounted|abandoned|unlikely"
    r"|implausible|improbable|untenable|wrong|incorrect|mistaken|out of the question|off the table)"
    r"(?:\s+(?:by|on|after|with|in|when|because|due|here|today|now|completely|entirely)\b.*)?\W*$"
)
"""A clause that denies the name before it: 'X, which imaging refuted', 'X. It was ruled out.'"""
RETRACTS = regex(
    r"(?i)^\W*(?:(?:no,?\s+)?wait\b(?:,?\s+no\b)?|correction\b|on second thoughts?\b|scratch that\b"
    r"|i (?:retract|take)\b[^,.;:]*|let me (?:correct|revise|rephrase)\b[^,.;:]*"
    r"|i was wrong\b|my mistake\b|no, (?=(?:it|this|the)\b))[\s,:.;!-]*"
)
"""The beginning of a sentence that takes back what was said before it: 'wait, no:', 'correction:'."""
_UNREAD_LETTER = regex(r"(?<!\S)[\u0400-\u052f\u0590-\u06ff\u0900-\u0e7f\uac00-\ud7a3\u3040-\u30ff]{2}")
_NEGATED = regex(
    r"(?i)\b(?:is|are|was|were|be|been|do|does|did|can|could|has|have|had|would|should|must|may|might"
    r"|will)(?: ?not|n['’]t)\b"
)
_AUXILIARY = regex(
    r"(?i)(?:\s+(?:is|are|was|were|be|been|being|has|have|had|can|could|may|might|must|should|seems?|very))+\s*$"
)
_TAIL = regex(
    rf"(?i)[\s,]+(?:because(?!\s+of)|{cue_words('tail')}|in\s+(?:an?|the|this|our)\b[\w\s-]{{0,60}}?"
    r"\b(?:patient|man|woman|boy|girl|child|infant|male|female|host|individual|\w*(?:gravida|para)|adult|adolescent"
    r"|teenager"
    r"|newborn|neonate|baby|toddler|person|sheep|dog|cat|cow|horse|calf|goat|pig))(?=\W|$).*$",
    re.DOTALL,
)
_OPENING_TAIL = regex(rf"(?i)^\W*(?:{cue_words('tail')}|in (?:a|an|this|the|my|our|his|her)\b)[^,]*,(?=.*\w)")
_IT_IS = regex(r"(?i)(?<=[a-z]),?\s+it is\W*$")
_CONDITION = regex(r"(?i)^\W*(?:if|unless|were it|had it|suppose|assuming|in case)\b[^,]*,?")
_ABSENT = regex(r"(?i)^\W*(?:\w+\s+){0,2}(?:absence|lack) of\b")
_SENTENCE = regex(
    r"(?<=[a-z0-9)\]%'\"’A-Z]{2})[.!]+(?:\s+|$)(?=[^a-z]|$)|[;\n]+|(?<=\?)\s+"
    # after one letter ('S. aureus', 'hemophilia A. The ...') only before a word that begins a sentence
    r"|(?<=[a-z]{4}\s[A-Z0-9])[.!]\s+(?=[A-Z])|\.\s+(?=(?i:it|this|the|i|there|differential|other|possibilities"
    r"|final|however|no|not)\b)"
)
_TURN = regex(
    r"(?<!anything)(?<!everything)(?<!\ball)(?<!nothing)[\s,]+(?:but|however|although|even though|though|while|whereas"
    r"|(?<!\bnor\s)yet|nevertheless|nonetheless|instead(?! of))\b[\s,]*|,?\s+and\s+(?=(?:it|this|he|she|i|we"
    r"|the (?:patient|diagnosis|final)|not|has|have|is|are|was|were|presents|never|needs?|requires?|warrants?|should"
    r"|must|will)\b)|,\s*(?:so|therefore|hence|thus)\s+(?=\w)|,\s*(?=(?:it|this|that|i|we|my|the (?:most|final"
    r"|diagnosis|answer))\s)"
    # 'A, less likely B, C' but not 'A is less likely'
    r"|(?<!\bis)(?<!\bare)(?<!\bwas)(?<!\bbe)(?<!seems)(?<!appears)(?<!\bmuch)(?<!\bfar)(?<!considered)"
    r"[\s,(–—-]+(?:and\s+)?(?=(?:less|least)\s+(?:likely|probable)\b\W*(?!than\b)\w)"
    r"|\s[-–—]+\s(?=not\b\s*\w|\w+ (?:is|was) )",
    re.IGNORECASE,
)
_DESCRIBES = regex(
    r"(?i)^\W*(?:this|it|the (?:condition|disease|disorder|syndrome))\s+is\s+(?:(?:an?|the|now|also|thus)\s+)*"
    r"(?:(?:very|extremely|potentially|typically|usually|often|commonly|most)\s+)?"
    r"(?:rare|common|uncommon|inherited|hereditary|genetic|serious|life-threatening|well-known|known|benign|distinct"
    r"|type|form|variant|subtype|condition|disorder|disease|result|consequence|complication|cause)\b"
)
"""A sentence that describes the disease named before: 'This is a rare inherited disorder'."""
_LESS = regex(r"(?i)^\W*(?:less|least)\s+(?:likely|probable)\b")
_COMMA = regex(r"[,:]\s")
_AT_COMMA = regex(",")
_PLURAL = regex(r"(?i)\b(?:are|were|have been)\b|^\s*(?:and|or|nor)\b")
_OR = regex(r"(?i)\b(?:or|nor)\b")
_GOES_ON = regex(r"(?i)^\s*(?:or|nor|and)\b|\b(?:or|nor)\b")
_BULLET = regex(
    r"^\s*(?:\(?\d{1,2}[.):](?=\s|[A-Z*])|[-*•+–▪●◦]+\s+"
    # but not the genus of 'E. coli'
    r"|(?![A-H]\. (?!lupus|sepsis|asthma|malaria|pneumonia|measles)[a-z]{3,}(?:i|is|us|um|a|ae|ans|ens|es|ile|ense"
    r"|ax)(?<!itis)(?<!osis)(?<!emia)(?<!oma)\b)\(?[a-hA-H][.)]\s)\s*"
)
_OTHER_PART = regex(
    r"(?i)^\W*(?:(?:the|my|key|main|further|additional|immediate|recommended|suggested|proposed|supporting|next|brief"
    r"|short|clinical|diagnostic|important|summary of|relevant|overall)\s+){0,3}(?:next steps?|steps|recommendations?"
    r"|(?:treatment|management|care|follow[- ]?up|diagnostic)?\s*plan|management|treatment|therapy|follow[- ]?up"
    r"|work[- ]?up|rationale|reasoning|explanation|justification|reasons?|evidence|arguments?|notes?|caveats?"
    r"|disclaimer|confidence|certainty|probability|icd(?:[- ]?1[01])?(?:[- ]cm)?(?: codes?)?|codes?|prognosis|(?:key "
    r"|supporting |clinical )?(?:findings|features|points|facts)|summary|discussion|comments?|tests?|investigations?"
    r"|references?(?: diagnosis)?|to ?do|(?:for|to) the (?:grader|judge|examiner|marker)|sources?|limitations?"
    r"|action(?: items)?|drafts?|deprecated|obsolete|scratch ?pad|unused|ignored?|hidden|redacted|spoiler|(?:old"
    r"|previous|superseded|discarded) (?:answer|diagnosis|draft|thought|version)|(?:first|initial) (?:draft|thoughts?)"
    r"|(?:past |medical |family |social )*history|pmhx?|comorbidit(?:y|ies)|background|allergies"
    r"|medications?)\s*(?:\([^()]{0,40}\)\s*)?[:：]"
)
"""The label of a part of a reply that is not the diagnosis."""
_LISTS = regex(
    r"(?i)\b(?:differentials?|ddx|d/d|diagnos[ei]s|possibilities|considerations|candidates|options|alternatives)\b"
)
_LABELLED = regex(rf"(?i)^\W*(?:{cue_words('adjective')}\s+)*(?:{cue_words('noun', 'opening')})\s*[:：]")
_LIST_HEADING = regex(
    r"(?i)\W*(?:(?:other|further|the|main|my|important|key|top|brief|\d+)\s+){0,2}(?:differentials?"
    r"|differential diagnos[ei]s|ddx|d/d|(?:alternative|possible|potential|candidate|other) diagnos[ei]s|possibilities"
    r"|considerations|alternatives|candidates)(?:\s+(?:to consider|considered|include|includes|list))?\W*"
)
"""A line that only announces a list of possibilities."""


class StanceClause(msgspec.Struct, frozen=True):
    """A clause's own words, without frame ('the diagnosis is') and tail ('based on ...'), and its stance.

    `hedged`: it has a word such as 'probably'. `weak`: it has a word such as 'possibly'. `final`: it is declared most
    likely or final. `ranked`: it is in a list by likelihood. `line` is the number of its sentence. `marked`: a bullet
    or number opens the sentence. `retracts`: it takes back what was said before it. `in_order`: it stands below a line
    that announces a ranked list.
    """

    text: str
    stance: Stance
    hedged: bool = False
    weak: bool = False
    final: bool = False
    ranked: bool = False
    line: int = 0
    marked: bool = False
    retracts: bool = False
    in_order: bool = False


def clauses(text: str) -> Iterator[StanceClause]:
    """The clauses of an answer in order, each with its stance."""
    reader, sentences = _Reader(), list(_sentences(text))
    for line, (sentence, opens_line) in enumerate(sentences):
        bullet = _BULLET.match(sentence)
        said = undoubled((sentence[bullet.end() :] if bullet else sentence).strip())
        said = with_or(_MODAL.sub(r"\1 \2", said))
        if taken_back := RETRACTS.match(said):
            said, reader.retracts = said[taken_back.end() :], True
        if not any(map(str.isalnum, said)):
            continue
        if said.endswith("?") and line + 1 < len(sentences) and _ANSWERED_NO.match(sentences[line + 1][0]):
            yield StanceClause(said, "denied", line=line, marked=bool(bullet))
        elif reader.is_apart(said, bool(bullet), opens_line):
            yield StanceClause(said, "tells", line=line, marked=bool(bullet))
        else:
            yield from reader.read(said, line, bool(bullet))


@dataclass(slots=True)
class _Reader:
    """Reads the sentences of an answer in order, and keeps what they say of the next one.

    `listing`: we are below the heading of a list of candidates. `in_order`: below a line that announces a ranked list.
    `apart`: in a part that is no answer, such as the tests to do; `filled`: that part has content already. `grounded`:
    among the grounds of a disease. `named`: a disease was asserted. `retracts`: the next clause takes back what was
    said before it.
    """

    listing: bool = False
    in_order: bool = False
    apart: bool = False
    filled: bool = False
    grounded: bool = False
    named: bool = False
    retracts: bool = False

    def is_apart(self, said: str, marked: bool, opens_line: bool) -> bool:
        """Whether a sentence stands in a part that is no answer; it may begin or end one."""
        if cue("final").search(said) or (self.listing and not marked and _framed(said) is not None):
            self.listing = False
        if label := _OTHER_PART.match(said):
            self.apart, self.filled = True, label.end() < len(said.rstrip())
        elif self.apart and (opens_line or _LABELLED.match(said)):
            self.apart, self.filled = (marked or not self.filled) and not _LABELLED.match(said), True
        return self.apart

    def read(self, said: str, line: int, marked: bool) -> Iterator[StanceClause]:
        """The clauses of a sentence of the answer proper."""
        heading, _, below = said.partition(":")
        if ranks(heading):
            self.in_order, self.listing, said = True, False, below.strip()
        if not any(map(str.isalnum, said)):
            return
        if _LIST_HEADING.fullmatch(said):
            self.listing = True
        elif self.named and _DESCRIBES.match(said):
            yield StanceClause(said, "tells", line=line, marked=marked)
        else:
            said, self.grounded = without_grounds(said, marked and self.grounded, _framed)
            yield from self._pieces(said, line, marked) if said else ()

    def _pieces(self, said: str, line: int, marked: bool) -> Iterator[StanceClause]:
        asked, listed = said.endswith("?"), bool(_LISTS.search(said))
        ranked = self.in_order or (bool(cue("ranking").search(said)) and not unranked(said))
        for piece in _TURN.split(cue("sole").sub("only", said.rstrip("?. "))):
            hedged, weak = asked or bool(cue("hedging").search(piece)), asked or bool(cue("weak").search(piece))
            final = bool(cue("final").search(piece))
            for words, stance in _parts(piece):
                kind: Stance = "open" if stance == "asserted" and self.listing else stance
                yield StanceClause(words, kind, hedged, weak, final, ranked, line, marked, self.retracts, self.in_order)
                self.retracts, self.named = False, self.named or kind == "asserted"
                self.listing = self.listing or (stance == "open" and listed)


def asserting(said: Sequence[StanceClause]) -> list[StanceClause]:
    """The clauses that assert, without those that a later clause denies in the same words: 'gout, and not gout'.

    A denial reaches only to its comma. So an assertion that repeats the end of a denied name is left out as well.
    """
    denied = [(place, _what_is_denied(clause.text)) for place, clause in enumerate(said) if clause.stance == "denied"]
    kept: list[StanceClause] = []
    gone = ""
    for place, clause in enumerate(said):
        if place and clause.stance == "denied" and kept[-1:] == [said[place - 1]] and _NOT_THAT.match(clause.text):
            kept.pop()
            continue
        name = key(clause.text) if clause.stance == "asserted" else ""
        if name and any(at > place and _begins(name, what) for at, what in denied):
            gone = name
        elif name and not (gone and gone.endswith(name)):
            kept.append(clause)
    return kept


def _begins(name: str, denied: str) -> bool:
    """Whether a name equals the denied words, or begins with them if they are two or more."""
    return bool(denied) and (name == denied or (" " in denied and name.startswith(f"{denied} ")))


def _what_is_denied(text: str) -> str:
    """What a clause denies, in comparable form."""
    denial = cue("denying").search(text)
    return key(text[denial.end() :]) if denial else ""


def _sentences(text: str) -> Iterator[tuple[str, bool]]:
    """The sentences of a text, and whether each of them opens a line."""
    start, opens_line = 0, True
    for end in _SENTENCE.finditer(text):
        yield text[start : end.start()], opens_line
        start, opens_line = end.end(), "\n" in end[0]
    yield text[start:], opens_line


def _parts(piece: str) -> Iterator[tuple[str, Stance]]:
    """The parts of a piece of a sentence with their stances."""
    tested = False
    while condition := _CONDITION.match(piece):
        yield condition[0], "tells"
        tested = tested or bool(_ON_RESULT.search(condition[0]))
        piece = piece[condition.end() :]
    while refused := cue("refused").search(piece):
        yield piece[: refused.end()], "refused"
        comma = _COMMA.search(piece, refused.end())
        piece = piece[comma.end() :] if comma else ""
    if _LESS.match(piece):
        yield piece, "denied"
        return
    for text, denied in _undenied(piece):
        if denied:
            yield text, "denied"
        elif any(map(str.isalnum, text)):
            named, stance = _stated(text)
            # what the answer is if a test comes out so is no answer yet
            yield named, "open" if tested and stance == "asserted" else stance


def _undenied(piece: str) -> Iterator[tuple[str, bool]]:
    """(text, whether denied): a denial reaches to the next comma, or further over a list continued with 'or'."""
    parts = split_outside_brackets(piece, _AT_COMMA)
    kept: list[str] = []
    open_list = False
    last_or = max((place for place, part in enumerate(parts) if _OR.search(part)), default=0)
    for place, part in enumerate(parts):
        plain = cue("spared").sub(lambda match: "_" * len(match[0]), part)
        if _NO_PERCENT.search(part):
            yield part, True
            continue
        if place and _NOT_THAT.match(plain):
            yield ",".join((*kept, part)), True
            kept = []
            continue
        denying = cue("denying").search(_NO_LONGER.sub("__ longer", plain))
        if open_list:
            open_list = not _GOES_ON.search(part)
            yield part, True
        elif cue("denied").search(plain) or _NEGATED.search(plain):
            before = denying.start() if denying else 0
            if denying and not cue("denied").search(plain[:before]) and not _NEGATED.search(plain):
                kept.append(part[:before])
            elif _PLURAL.search(plain) or is_detail(plain[: _predicate(plain)]):
                yield from ((text, True) for text in kept if not cue("explaining").search(text))
                kept = [text for text in kept if cue("explaining").search(text)]
            yield part[before:], True
        elif denying and not any(map(str.isalnum, plain[denying.end() :])):
            yield ",".join((*kept, part)), True  # 'gout: no'
            kept = []
        elif denying and not (place == 0 and _ABSENT.match(plain)):
            kept.append(part[: denying.start()])
            yield part[denying.start() :], True
            open_list = place < last_or
        else:
            kept.append(part)
    yield ",".join(text for text in kept if any(map(str.isalnum, text))), False


def _predicate(text: str) -> int:
    """The position of the words that deny what comes before them ('is wrong'); the end of the text without any."""
    denial = _NEGATED.search(text) or cue("denied").search(text)
    before = text[: denial.start()] if denial else text
    verb = _AUXILIARY.search(before) if denial else None
    return verb.start() if verb else len(before)


def _stated(text: str) -> tuple[str, Stance]:
    """The words that a clause puts forward, and whether it asserts them, leaves them open or only explains."""
    if opening := cue("opening").search(text):
        rest = re.sub(rf"(?i)^(?:[\s:,-]|{cue_words('listing')})+", "", text[opening.end() :])
        # 'X remains in the differential' only means that it is one of several
        return (_bare(rest), "open") if any(map(str.isalnum, rest)) else (text, "tells")
    if calls_for_care(text) or any(
        pattern.search(text[:REACH]) for pattern in (_FINDINGS_FIT, _UNREAD_LETTER, _GENERAL)
    ):
        return text, "tells"
    if predicate := _PREDICATE.search(text[:REACH]):
        subject = text[: predicate.start()]
        if any(map(str.isalnum, subject)) and not re.fullmatch(rf"(?i)\W*{_SUBJECT}\W*", subject):
            return _bare(_unframed(subject)), "asserted"
    said = _unframed(text)
    bare = _bare(said)
    if said != text or not cue("explaining").search(bare):
        return bare, "asserted"
    named = _EXPLAINED.match(bare)
    if named and not cue("explaining").search(named["name"]):
        return named["name"], "asserted"
    concluded = _CONCLUDED.search(bare)
    return (concluded["name"], "asserted") if concluded and disease_like(concluded["name"]) else (bare, "tells")


def _unframed(text: str) -> str:
    """`text` without its opening frames, at most four: 'I believe that the diagnosis is'.

    A further frame begins before a disease is named: 'the diagnosis is gout with suspicion of' has one frame.
    """
    for turn in range(4):
        after = _framed(text)
        if after is None or (turn and any(map(heads_disease, text[: len(text) - len(after)].split()))):
            break
        text = after
    return text


def _framed(text: str) -> str | None:
    """The text after the frame that opens `text`; None without a frame."""
    for frame in _FRAMES:
        match = frame.match(text, 0, REACH)
        if match and any(map(str.isalnum, text[match.end() :])):
            return text[match.end() :]
    return None


def _bare(text: str) -> str:
    text = _IT_IS.sub("", text)
    opened = _OPENING_TAIL.match(text)
    return _TAIL.sub("", f" {text[opened.end() if opened else 0 :]}").strip(" \t,;:.-–—*_`\"'")
