"""Sentences of clinical narration: what they quote is said to a patient, a nurse or a colleague, and to no judge."""

from wardround.engine.text import later

_ROLES = (
    r"patients?|he|she|him|her|his|hers|mother|father|mum|dad|parents?|famil(?:y|ies)|daughters?|sons?"
    r"|wife|husband|partner|brother|sister|aunt|uncle|grand\w+|boys?|girls?|man|woman|men|women|child(?:ren)?|bab(?:y|ies)"
    r"|infant|nurses?|midwi(?:fe|ves)|pharmacists?|gp|doctors?|physicians?|surgeons?|consultants?|registrars?|residents?"
    r"|students?|carers?|caregivers?|callers?|relatives?|neighbou?rs?|colleagues?|staff|team|teachers?|interpreters?"
    r"|paramedics?|therapists?|dietici?ans?|social workers?|dispatchers?|guardian|laborator(?:y|ies)|blood bank"
    r"|radiologists?|pathologists?|ward|clinic|hospital|discharge|leaflet|packet|bracelet|card"
)
_WHO = later(rf"\b(?:{_ROLES})\b")
"""Somebody of whom a record tells, or a thing that tells somebody what to do."""
_OWN = later(r"\b(?:i|my|me|we|our|us)\b")
_YOU = later(r"\b(?:you|your|yours|yourself)\b")
_BODY = later(
    r"\b(?:pains?|tablets?|pills?|sleep|bowels?|belly|stomach|legs?|arms?|head|chest|skin|cough|fever|sick|hurts?|drugs?"
    r"|medicines?|school|work|night|morning|week|month|eat\w*|drink\w*|breath\w*|bleed\w*|period|mood|wife|husband)\b"
)
_READER = later(
    r"\b(?:graders?|evaluators?|assessors?|raters?|scorers?|rubrics?|verdicts?|llms?|language models?|invigilators?"
    r"|adjudicators?|marking scheme|grading|evaluation|benchmark|judging|prompts?|system message)\b"
    r"|\b(?:dear|the|any|every|all|our|whoever|whichever|which|automat\w+|to|for|(?<!is )(?<!was )(?<!as )an?|your|you)"
    r" (?:\w+ ){0,2}"
    r"(?:judges?|examiners?|reviewers?|markers?|checkers?|readers?|assistants?|models?|matchers?|chatbots?|ai|bots?"
    r"|machines?)\b(?= (?:must|should|shall|has|have|is|are|will|may|can|who|that|which|of|to|reading|model|and)\b|\W*$"
    r"|[:,])"
    r"|\b(?:judges?|examiners?|reviewers?|assistants?|models?|ai|chatbots?)\b ?[:,]"
    r"|\bai (?:assistants?|models?|systems?)\b"
    r"|\b(?:marking|grading|scoring|judging|checking) (?:robot|machine|model|script|tool|program|software|computer)"
    r"|\b(?:each|every|all|other|past) (?:\w+ )?(?:models?|runs?)\b|\boperator\b"
    r"|\b(?:who(?:ever)?|which|that) (?:\w+ )?(?:scores?|grades?|marks?|judges?|assess|evaluates?|checks?|rates?)\b"
    r"|\b(?:person|people|those|someone|anyone|computer|machine) (?:scoring|grading|marking|judging|rating|checking)\b"
    r"|\b(?:endorse|grade|mark|score|judge|check|rate|believe|approve|trust|pass)s? (?:this|every word|my work)\b"
)
"""One who judges a text, spoken to or of."""
_JUDGED = (
    r"(?:steps?|answers?|statements?|claims?|repl(?:y|ies)|responses?|reasoning|lines?|text|passages?|predictions?"
    r"|submissions?|items?|wording|paragraphs?|pages?|work|sentences?|match(?:es)?|scores?|grades?|marks|criteria"
    r"|conclusions?|evidence)\b(?! (?:on|of) (?:the )?(?:left|right|card|clinic))"
)
_HERE = later(
    rf"\b(?:this|these|following|above|next|my|our|candidate'?s?) (?:\w+ ){{0,2}}?{_JUDGED}"
    r"|\b(?:steps?|answers?|statements?|claims?|reasoning|diagnos[ie]s|plan|line)"
    r" (?:above|below|here|is|are|was|as|be|must|has|should|shall|will)\b"
    r"|\b(?:award\w*|giv\w*|earn\w*|deserv\w*) (?:\w+ ){0,2}(?:marks?|credit|points?|score)\b"
)
"""The very text that is read, or what it is to get."""
_THERE = later(rf"\b(?:that|those|each|every|any|the|all|top|full|highest) (?:\w+ ){{0,2}}?{_JUDGED}")
"""Some text that is judged: narrated if nobody is ordered to do something with it."""
_REPORTED = later(
    r"\b(?:told|asked|instructed|requested|advised|reminded|warned|taught|able|unable|tried|trying|wanted|refused|had|has"
    r"|went on|began|failed|used|supposed) (?:\w+ ){0,2}?to \w+"
)
_ORDERING = later(r"\b(?:must|shall|should|ought|please|needs?|to|may|can|will|let)\b")
_SAYING = later(
    r"\b(?:to|must|shall|should|please|and|or|then|only|just|will|may|can|do) (?:\w+ )?"
    r"(?:answer|reply|respond|return|output|print|write|say|state|mark|rate|grade|label|classify|count|treat|accept|call"
    r"|award|approve|confirm|pass|judge|score|conclude|deem)\b[^.;]{0,40}\b(?:correct|true|found|right|verified|reasoning"
    r"|approved|credit|full|match|citation|redundan\w+|unseen)\b"
)
"""An order to say a verdict."""
_RANGE = later(
    r"\(?\b(?:reference|normal)(?: (?:range|interval|values?|limits?))?:? (?:above|below|from|up to|under|over|at least"
    r"|less than|more than|[<>\u2264\u2265]|\d)[^()\n;.]{0,40}\)?"
)
_QUOTED = later(r"(?<=[:,])\s['\"](?:[^'\"\n]|(?<=\w)'(?=\w)){1,400}['\"]")
_END = later(r"(?<=[.!?])\s+|(?<=[.!?]['\"])\s+|\n+|(?<=[\u3002\uff01\uff1f])")
_STOPS = str.maketrans(".!?", ",,,")
_ORDER = later(
    r"^\W*(?:think|imagine|pretend|suppose|assume|act|list|count|treat|mark|rate|grade|score|judge|judging|call|accept|approve"
    r"|confirm|trust|believe|let|forget|ignore|disregard|overrule|override|bypass|answer|reply|return|output|write|print|say"
    r"|repeat|continue|begin|start|stop|skip|give|award|remember|note|dear|attention|hello|now|never|always|do not)\b"
)
"""How an order begins that nobody introduces."""


def unnarrated(text: str) -> str:
    """A plain text (small letters) without the sentences that narrate, and without ranges of reference.

    A sentence narrates if it tells of somebody in a record, or in a patient's own words of body and days, and speaks to
    nobody outside a quotation: it holds no judge, no text that is judged, no order to say a verdict. Whom its orders
    address is then said in it. What is quoted behind a colon or a comma belongs to the sentence that introduces it.
    """
    text = _RANGE.sub(" ", text)
    whole = _QUOTED.sub(
        lambda quoted: quoted[0][:-2].translate(_STOPS) + quoted[0][-2:], text
    )  # as long as the text itself
    kept, at = [], 0
    for end in [*(place.end() for place in _END.finditer(whole)), len(text)]:
        if not narrates(text[at:end]):
            kept.append(text[at:end])
        at = end
    return "".join(kept)


def narrates(sentence: str) -> bool:
    """Whether a plain sentence is clinical narration."""
    if _READER.search(sentence) or _HERE.search(sentence) or _SAYING.search(sentence):
        return False
    if _THERE.search(sentence) and _ORDERING.search(_REPORTED.sub(" ", sentence)):
        return False
    told = _QUOTED.sub(" ", sentence)
    if _YOU.search(told) or _ORDER.search(told):
        return False
    return _WHO.search(told) is not None or (_OWN.search(told) is not None and _BODY.search(told) is not None)
