"""What an answer says round its diagnosis: questions to itself, denials before it, findings, plans, courtesies."""

import re
from collections.abc import Sequence

from wardround.engine.text import regex
from wardround.scenarios.diseases.contradiction import organism
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease
from wardround.scenarios.diseases.disease_wording import clinical
from wardround.scenarios.diseases.foreign_diseases import diseases_in_english
from wardround.scenarios.diseases.mondo import diseases_named
from wardround.scenarios.diseases.names_within import names_within
from wardround.scenarios.terms.wording import list_words, root, tokens

_THOUSANDS = regex(r"(?<=\d),(?=\d{3}\b)")
_ASKED = regex(
    r"(?i)^\W*(?:so,?\s+)?(?:is|could|can|might|may)\s+(?:it|this|that|she|he)\s+(?:really\s+)?(?:(?:be|have)\s+)?"
    r"(?P<name>[^?\n,;:]{2,120})\?\s*(?:yes|definitely|certainly|absolutely|indeed|of course|i (?:think|believe) so"
    r"|it is)\b[^.,;:?\n]{0,60}(?:,\s*i (?:think|believe) so)?(?:[.!;,:–—-]+\s*|$)"
)
"""A question to oneself with a yes behind it: 'Is it gout? Yes.'"""
_QUESTION = regex(r"(?i)^\W*(?:q|question)\s*:\s*[^?\n]{0,200}\?\s*(?:a|answer)\s*:\s*(?=\w)")
_DENIED_BEFORE = regex(
    r"(?i)^\W*(?P<denied>(?:not|neither|no|after (?:the )?(?:excluding|exclusion of|ruling out|having excluded)"
    r"|having (?:excluded|ruled out)|excluding|weder|nicht|kein|nach ausschluss|ni|tras (?:descartar|excluir)|pas"
    r"|après exclusion)\b[^:\n]{2,200}):\s+(?=\w)"
)
"""What is denied before a colon, behind which the diagnosis stands: 'Not gout, not lupus: it is asthma'."""
_DIFFERENTIAL = regex(r"(?i)(?<!\s)\s*[(\[](?:[^()\[\]]{0,40}\b)?(?:differentials?|ddx|d/d)\b[^()\[\]]{0,160}[)\]]")
_CALLS = regex(
    r"(?i)^(?P<name>[^.,;:\n]{3,100}?)(?:\s+[-–—]\s+|,?\s+)(?:which\s+)?(?:requires?|needs?|warrants?|to be treated"
    r"|(?:should|must) be treated)\s+"
    r"(?!(?:to be )?(?:exclu|rul|confirm|consider|pro[ov]|further|more|additional)|not\b)"
    r"[^.;\n]{3,120}(?=[.;\n]|$)"
)
"""A diagnosis and what it calls for: 'gout - needs urgent referral'."""
_FINDINGS = frozenset(
    root(word)
    for word in list_words(
        """pain fever rash cough weakness fatigue malaise nausea vomiting diarrhea headache dyspnea breathlessness
        sweats swelling itching dizziness palpitations chills hoarseness"""
    )
)
_CARE = frozenset(map(root, list_words("analgesia fluids anesthesia hemodialysis dialysis prophylaxis")))
"""Nouns of care that end like a disease's."""
_ORDERS = regex(r"(?i)\b(?:rank\w*|order\w*|least|most|likel\w+|probab\w+|possib\w+)\b")
"""Words of a list's order, which is no remark."""
_LOSS = regex(r"(?i)^(?:\w+ )?(?:weight|appetite|hair|hearing|memory) loss$")


def answered(text: str) -> str:
    """`text` without what leads to its diagnosis or follows from it and asserts nothing. Pure; linear in its length.

    >>> answered("Is it gout? Yes.")
    'gout. '
    >>> answered("Not lupus, not asthma: it is gout")
    'it is gout'
    >>> answered("Gout requires admission.")
    'Gout.'
    """
    text = _QUESTION.sub("", _THOUSANDS.sub("", text), count=1)
    asked = _ASKED.match(text)
    if asked and " or " not in asked["name"] and names_within(asked["name"]):
        text = f"{asked['name']}. {text[asked.end() :]}"
    denied = _DENIED_BEFORE.match(text)
    if denied and names_within(diseases_in_english(denied["denied"])):
        text = text[denied.end() :]
    if (bracket := _DIFFERENTIAL.search(text)) and names_within(text[: bracket.start()][-200:]):
        text = text[: bracket.start()] + text[bracket.end() :]
    called = _CALLS.match(text)
    if called and (names := names_within(called["name"])) and names[-1].end == len(called["name"]):
        text = called["name"] + text[called.end() :]
    return text


def names_nothing(phrase: str) -> bool:
    """Whether a phrase names no disease by any table or word: 'Kind regards', 'give fluids', 'negative culture'.

    A bare finding ('fever') is none either, beside a disease.
    """
    words = tokens(phrase)
    if not words or _ORDERS.search(phrase) or organism(phrase):
        return False
    names = names_within(phrase)
    if root(words[-1]) in _CARE:
        return not names or names[0].name == words[-1]
    if is_finding(phrase):
        return not any(" " in one.name for one in names)
    if disease_like(phrase) or names_within(phrase) or any(map(heads_disease, re.findall(r"[\w'-]+", phrase))):
        return False
    if clinical(phrase) != phrase:
        return False
    return not (len(words) == 1 and any(diseases_named(f"{phrase} {noun}") for noun in ("disease", "syndrome")))


def is_finding(phrase: str) -> bool:
    """Whether a phrase is a bare finding: 'fever', 'a rash', 'weight loss'."""
    words = tokens(phrase)
    return bool(words) and (root(words[-1]) in _FINDINGS or _LOSS.match(phrase) is not None)


def remarks(phrases: Sequence[str]) -> frozenset[int]:
    """The places of the phrases that name nothing, beside one that holds a complete name; else none.

    Only such a name makes the rest remarks: a disease in words that no table has may be the answer itself.
    """
    silent = frozenset(place for place, phrase in enumerate(phrases) if names_nothing(phrase))
    named = any(place not in silent and names_within(phrase) for place, phrase in enumerate(phrases))
    return silent if named else frozenset()
