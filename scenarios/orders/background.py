"""Recognises what stands beside an order and is none: a treatment, a statement, words on the patient or the time."""

import re
from typing import Literal

from wardround.engine.text import regex
from wardround.scenarios.orders.joined_names import order_words
from wardround.scenarios.terms.wording import lexicon, list_words, stem

_TREATS = regex(
    r"(?i)^(?:(?:please|and|then|also|now|we|i|should|will|would|let['\u2019]s|to)\s+)*(?:start(?! (?:by|with|off))"
    r"|begin(?! (?:by|with))|give|administer|prescribe|continue|increase|decrease|taper|transfuse|infuse|bolus|inject"
    r"|intubate|ventilate|admit|discharge(?=\W*$|\s(?:him|her|them|the|pt|patient|home|to|on|with|today"
    r"|tomorrow|if|when|after|from)\b)|transfer|refer(?! (?:\w+ ){0,3}for (?:an?|the) )|consult|treat|resuscitate"
    r"|hydrate|replete|replace|titrate|switch|initiate)\b|\b\d+(?:\.\d+)?\s?(?:mg|mcg|\u00b5g|g|ml|l|iu|units?|meq"
    r"|mmol)\b(?!\s?/).*\b(?:iv|po|im|sc|orally|daily|bid|tid|qid|prn|bolus|infusion|tablets?|of)\b|\bnasal cannula\b"
    r"|\bnon-?rebreather\b|^(?:\w+ )?(?:heparin|insulin|\w{4,}(?:ine|in|ol|am|il))\s(?:gtts?|drips?|infusions?"
    r"|bolus(?:es)?)\b|^(?:npo|nbm|nil by mouth|ivf|iv fluids?|d/c|regular diet|bed rest)\b"
    r"|\binsulin\w*\b.*\d\s?(?:u|ui|ie|iu)\b|\b\d+(?:\.\d+)?\s?(?:mg|mcg|\u00b5g|iu|units?)\b(?!\s?/)"
    r"|\b(?:charted|prescribed)$"
    r"|^(?:(?:and|then|also|now|plus)\s+)*[\w-]*(?:cillin|mycin|floxacin|azole|penem|prazole|statin|sartan|dipine"
    r"|parin|xaban|triptan|setron|semide|thiazide|steroids?|tazo|tazocin|antibiotics|ivig)\b(?!\s(?:level"
    r"|trough|peak|pre|post|susceptib|sensitiv|resistan|mic\b))"
)
"""Says that the patient is treated, with what, or where."""
_SAYS = list_words(
    """is are was were am think thinks believe believes suspect suspects seems seem looks feel feels thank thanks
    tell what how why who where when which your you be appears suggests indicates presents complains denies
    goodbye hello"""
)
"""Words that make a text of three words or more a statement."""
_COURTESIES = list_words(
    "ok okay sure fine yes no thanks thank you very much great good hello hi bye goodbye right well"
)
"""A text of these words alone is a statement."""


def why_no_test(text: str) -> Literal["", "treatment", "statement"]:
    """Why a text in which no test is known orders none: a treatment or a statement; '' if it may name a test."""
    if _TREATS.search(text) and not _ABOUT.match(text):
        return "treatment"
    words = set(re.findall(r"[a-z]+", text.casefold()))
    says = words <= _COURTESIES or (len(words) > 2 and _SAYS & words)
    return "statement" if words and says else ""


_TEST_NOUN = regex(
    r"(?i)(?:\b(?:tests?|testing|levels?|screens?|panels?|assays?|antibod(?:y|ies)|abs?|ig[gmae]|pcr|naat|cultures?"
    r"|genes?|mutations?|scores?|scale|ind(?:ex|ices)|scans?|exams?|examination|stud(?:y|ies)|titres?|titers?|stains?"
    r"|smears?|biops(?:y|ies)|swabs?|antigens?|counts?|ratio|function|profile|film|views?|x-?rays?|sequencing"
    r"|serology"
    r"|typing|markers?|maneuver|manoeuvre|analysis|assessment|check|monitoring|measurements?)|(?:gram|graphy|scopy"
    r"|metry|scan|ase|globulin))\b"
)
"""What a name of a test is made of; a text that ends with such a word is an unknown test."""
_ABOUT = regex(
    r"(?i)^(?:(?:is|was|but|and|now|currently|still|both|pt|patient|he|she)\s+)*(?:on|off|since|from|after|post|pre"
    r"|before|s/p|h/o|c/o|hx|fhx|pmh|known|prev|previous(?:ly)?|recent(?:ly)?|contact of|exposed to|suspected"
    r"|probable"
    r"|possible|likely|query|\?|mum|mother|father|dad|wife|husband|brother|sister|son|daughter|phone|call|bleep|page"
    r"|inform|wrap|keep|await\w*|wait|again|note|nb|d/w|discussed|born|due to|because|as|high risk|low risk|day \d+"
    r"|lmp|\d+\s?(?:m|f|yo|y/o|yrs?|years?|months?|mo|weeks?|days?|d))(?!\w)|.{2,60}\s(?:likely|unlikely|suspected)$"
)
"""What opens words of the patient, the sample or the time beside an order."""


def words_beside(text: str) -> bool:
    """Whether words beside an order tell of the patient, the sample or the time, and name no test.

    ::

        words_beside("58M strong FHx IHD"), words_beside("blorbogram")  # True, False
    """
    words = [word for word in re.findall(r"[^\W\d_]+(?:/[a-z])?", text.casefold()) if len(word) > 1]
    plain = bool(words) and all(word in order_words("beside") or stem(word) in lexicon() for word in words)
    noun, about = list(_TEST_NOUN.finditer(text)), _ABOUT.match(text) is not None
    return (plain and not noun and (len(words) > 1 or words[0] in order_words("beside"))) or (
        about and (not noun or noun[-1].end() < len(text))
    )


def names_finding(text: str) -> bool:
    """Whether a text names only a finding ('jaundiced'), which orders no examination beside other tests."""
    return set(text.casefold().strip(" .,!?").split()) <= order_words("finding")


_FINDING = regex(
    r"(?i)(?:new|newly|loud|worsening|worse|ongoing|acute|chronic|persistent|recurrent|increasing|sudden|severe"
    r"|mild|marked"
    r"|known|noted|harsh|diffuse|intermittent)\s"
)
"""What begins like this tells a finding and asks for no examination ('new murmur')."""


def tells_finding(text: str, kind: str, *, examined: bool) -> bool:
    """Whether a text beside other tests tells a finding, though a test of a `kind` has its name.

    A finding alone ('jaundiced') does so unless something else is `examined`; 'new murmur' always does.
    """
    finding = _FINDING.match(text)
    if kind == "examination" and (finding or (names_finding(text) and not examined)):
        return True
    return finding is not None and words_beside(text[finding.end() :])
