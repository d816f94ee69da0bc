"""Removes what an answer says around its diagnosis: questions to itself, denials, findings, plans, courtesies."""

import re
from collections.abc import Sequence

from wardround.engine.text import regex
from wardround.scenarios.answers.plan_measures import measure_names
from wardround.scenarios.diseases.contradiction import organism
from wardround.scenarios.diseases.disease_heads import disease_like, heads_disease
from wardround.scenarios.diseases.disease_wording import clinical
from wardround.scenarios.diseases.foreign_diseases import diseases_in_english
from wardround.scenarios.diseases.mondo import diseases_named
from wardround.scenarios.diseases.names_within import names_within
from wardround.scenarios.terms.wording import RootWords, root, tokens

_THOUSANDS = regex(r"(?<=\d),(?=\d{3}\b)")
_ASKED = regex(
    r"(?i)^\W*(?:so,?\s+)?(?:is|could|can|might|may)\s+(?:it|this|that|she|he)\s+(?:really\s+)?(?:(?:be|have)\s+)?"
    r"(?P<name>[^?\n,;:]{2,120})\?\s*(?:yes|definitely|certainly|absolutely|indeed|of course|i (?:think|believe) so"
    r"|it is)\b[^.,;:?\n]{0,60}(?:,\s*i (?:think|believe) so)?(?:[.!;,:–—-]+\s*|$)"
)
"""A question that the answer itself affirms: 'Is it gout? Yes.'"""
_QUESTION = regex(r"(?i)^\W*(?:q|question)\s*:\s*[^?\n]{0,200}\?\s*(?:a|answer)\s*:\s*(?=\w)")
_DENIED_BEFORE = regex(
    r"(?i)^\W*(?P<denied>(?:not|neither|no|after (?:the )?(?:excluding|exclusion of|ruling out|having excluded)"
    r"|having (?:excluded|ruled out)|excluding|weder|nicht|kein|nach ausschluss|ni|tras (?:descartar|excluir)|pas"
    r"|après exclusion)\b[^:\n]{2,200}):\s+(?=\w)"
)
"""A denial before a colon, after which the diagnosis follows: 'Not gout, not lupus: it is asthma'."""
_DIFFERENTIAL = regex(
    r"(?i)(?<!\s)\s*[(\[](?:[^()\[\]]{0,40}\b)?(?:differentials?|ddx|d/d|runners?-?\s?up|second (?:choice|place|guess)"
    r"|(?:can ?not|can['’]t|could not|not) (?:\w+\s+)?(?:be )?(?:exclude[ds]?|rule[sd]? out|excluded))\b"
    r"[^()\[\]]{0,160}[)\]]"
)
"""A bracket that names other diseases that were considered."""
_NO_ANSWER = (
    r"(?!.{0,80}(?:\b(?:not|no|never|nor|fail\w*|without|hardly|barely|part(?:ly|ially)|insufficient)\b|n['’]t\b))"
)
_LEADING_UP = (
    # an interjection, a vote
    regex(r"(?i)^\W*(?:h+m+|well|ok(?:ay)?|alright|ah|oh|aha|let me think|let['’]?s see)\b[.,!…—–-]+\s+"),
    regex(
        r"(?i)^\W*(?:my|our)\s+(?:vote|pick|money|bet|call|choice|guess|verdict|hunch)"
        r"(?:\s+(?:goes (?:to|for)|is(?: on)?|would be))?\s*:?\s+(?=\w)"
    ),
    # the patient's history, and what it comes to now
    regex(
        r"(?i)^\W*(?:known\s+)?(?:background|history|past (?:medical )?history|pmhx?)\s*(?:of|:)\s+"
        r"[^.\n]{2,200}\.\s+(?=\w)"
    ),
    regex(
        rf"(?i)^{_NO_ANSWER}[^\n.;]{{3,200}}?\b(?:and|but)\s+now\s+(?:(?:has|have|presents with|diagnosed with"
        r"|dx['’]?d (?:with|w/))\s+)?(?=\w)"
    ),
    regex(
        rf"(?i)^{_NO_ANSWER}[^\n.;]{{0,200}}?\b(?:lands? (?:up)?on|(?:persuade[ds]?|convince[ds]?) (?:me|us) of"
        r"|(?:brings?|leads?|points?) (?:me|us) to|(?:i|we) (?:settled?|arrived?) (?:on|at|for))\s+(?=\w)"
    ),
    # what was considered before it
    regex(
        r"(?i)^[^\n]{0,300}?\b(?:(?:which|that|this) leaves(?: (?:us|me|only|just|with))*"
        r"|(?:what|all(?: that)?) (?:remains|is left) is"
        r"|the only (?:thing|one|diagnosis|possibility|option|explanation)(?: that)?(?: is)?"
        r" (?:left|remaining|remains) is"
        r"|(?:what|the only one) (?:is )?left is)\s+(?=\w)"
    ),
    regex(
        r"(?i)^\W*(?:while|although|(?:even )?though)\s+[^,\n]{3,120}?\b(?:first|initial|early|original|earlier)\s+"
        r"(?:thought|guess|impression|idea|suspicion|consideration|hypothesis)\b[^,\n]{0,40},\s*(?=\w)"
    ),
    regex(
        r"(?i)^\W*(?:i|we)\s+(?:had\s+)?(?:first|initially|originally|at first|once)\s+(?:wrote|thought|said|considered"
        r"|suspected|favou?red|believed|put|had|leaned)\b[^:\n]{3,200}:\s*(?=\w)"
    ),
    regex(
        r"(?i)^(?:\W*against\s+[^.:;\n]{3,80}:[^.;\n]{2,200}[.;]\s*){1,9}(?:(?:so|thus|hence|therefore)[,:]?\s+)?(?=\w)"
    ),
    # the criteria that it meets
    regex(
        rf"(?i)^{_NO_ANSWER}\W*(?:[\w'-]+\s+){{0,4}}?(?:fulfill?s?|meets?|satisf(?:y|ies))\s+(?:all\s+)?(?:the\s+)?"
        r"(?:[\w/-]+\s+){0,3}criteria\s+(?:for|of)\s+(?=\w)"
    ),
)
"""Words that may stand before a diagnosis and assert none."""
_ENCLOSING = (
    regex(
        rf"(?i)^{_NO_ANSWER}\W*(?:the\s+)?(?:[\w/-]+\s+){{0,3}}criteria\s+(?:for|of)\s+(?P<name>[^.,;:\n]{{3,100}}?)"
        r"\s+(?:are|were|have been)\s+(?:all\s+|fully\s+|clearly\s+)?(?:met|fulfilled|satisfied)\b"
    ),
    regex(
        r"(?i)^\W*(?:once|when|after|with|now that)\s+[^\n]{3,200}?\b(?:out|excluded|gone|off the table|dismissed"
        r"|eliminated|away)\s*,\s*(?P<name>[^,\n]{3,100}?)\s+(?:alone\s+)?(?:remains|is (?:all that is )?left)\b"
    ),
)
"""A sentence that asserts the diagnosis within it: 'The criteria of gout are met'."""
_EXCLUDED = regex(
    r"(?i)^\W*(?:by|after|on|following)\s+(?:the\s+)?exclusion\s+of\s+(?P<denied>[^:\n]{2,200}),\s+(?=\w)"
)
_ASKED_AND_DENIED = regex(
    r"(?i)^\W*(?P<denied>[^?.\n]{2,100})\?\s*(?:no|nope|unlikely|excluded|ruled out)\b[\s,.;:–—-]*(?=\w)"
)
_NOT_SENTENCE = regex(r"(?i)^\W*not\s+(?P<denied>[^.:;\n]{2,100})[.;]\s+(?=\w)")
_DENIED_BEHIND = regex(
    r"(?i)(?<=[.;\n])\s*(?:(?:se )?descarta(?:d[oa]s?|n|mos)?|ausgeschlossen(?: wurden?)?|(?:on )?écartée?s?"
    r"|éliminée?s?|exclus?e?s?|escluso)\s*:?\s+[^.;\n]{2,200}"
)
"""A sentence that denies another disease, in Spanish, German, French or Italian: 'Descartado lupus'."""
_SOAP = regex(r"(?i)(?:^|\n)\W{0,4}(?:a|assessment|imp(?:ression)?)\s*[:=]\s*(?P<name>[^\n]{3,200}?)(?:\n|\s*$)")
_SOAP_PART = regex(r"(?i)(?:^|\n)\W{0,4}(?:s|o|p|plan)\s*[:=]\s*\S")
_CARE_BEHIND = regex(r"(?i)(?<=[.;\n])\s*(?:adv(?:ice)?|mx|rx|tx|ix|plan)\s*[:=]\s*[^\n]{0,400}")
_SHORT_LABEL = regex(r"(?i)^\W*(?:imp|dx|ass)\s*[:=]\s*(?=\w)")
_WITH = ((regex(r"(?i)(?<!\w)w/o\s*(?=\w)"), "without "), (regex(r"(?i)(?<!\w)w/\s*(?=\w)"), "with "))
_STEP = regex(r"(?i)(?:^|(?<=[.;\n]\s)|(?<=\n))\W{0,4}step\s+\d{1,2}\s*[:.)–—-]\s*")
_NOT_LINE = regex(r"(?im)^[^\w\n]{0,4}(?:\d{1,2}[.):]?|[a-h][.):])?[^\w\n]{0,4}not\s+[^\n;]{2,100}(?:\n+|$)")
_AGAINST = regex(
    r"(?i)(?<=[.;\n])\s*(?:against\s+[^.:;\n]{3,80}:|[^.:;\n]{3,80}:\s*(?=(?:no|not|normal"
    r"|negative|absent|without|lacks?|does(?: not|n['’]t)|excluded|ruled out|unlikely|less likely)\b))[^.;\n]*"
)
"""A sentence that says what speaks against another disease: 'Against lupus: no rash'."""
_BACKGROUND = regex(
    r"(?i)\s+(?:on|against|with|upon)\s+an?\s+(?:known\s+)?background\s+of\s+[^.;:\n]{2,100}?(?:,|\b(?:and|plus)\b)"
    r"[^.;\n]{0,200}(?=[.;\n]|$)"
)
"""A background of several diseases. A background of one disease is left in, since it may be the cause."""
_ASSOCIATED = regex(
    r"(?i)(?<=[.;\n])\s*(?:associated|coexisting|comorbid|incidental|known)(?: \w+){0,2}\s*:\s*[^.;\n]{2,200}"
)
_INFERRED = regex(r"(?i)^(?P<left>[^\n:]{3,300}?)\s*(?P<sign>→|⇒|[-=]+>|(?<=\s)(?:[–—]|--?)(?=\s))\s*(?=\w)")
"""Findings and the sign of an inference: 'fever + rash → measles'."""
_OPTION = regex(r"(?:^|(?<=\s))\(?([A-H])[).:]\s+")
_CHOSEN = regex(
    r"(?i)(?:^|[.;\n]\s*)(?:final\s+|my\s+)?(?:answer|choice|option)\s*(?:is\s*)?:?\s*\(?(?-i:([A-H]))\)?\W*$"
)
_CALLS = regex(
    r"(?i)^(?P<name>[^.,;:\n]{3,100}?)(?:\s+[-–—]\s+|,?\s+)(?:which\s+)?(?:requires?|needs?|warrants?|to be treated"
    r"|(?:should|must) be treated)\s+"
    r"(?!(?:to be )?(?:exclu|rul|confirm|consider|pro[ov]|further|more|additional)|not\b)"
    r"[^.;\n]{3,120}(?=[.;\n]|$)"
)
"""A diagnosis and what it calls for: 'gout - needs urgent referral'."""
_FINDINGS = RootWords(
    """pain fever rash cough weakness fatigue malaise nausea vomiting diarrhea headache dyspnea breathlessness
    sweats swelling itching dizziness palpitations chills hoarseness"""
)
_CARE = RootWords("analgesia fluids anesthesia hemodialysis dialysis prophylaxis")
"""Nouns of care that end like a disease's."""
_SHORTEST_GROUNDS = 4
"""Fewest words before a dash that may be findings; fewer may be a part of the name."""
_ACTS = RootWords(
    "watch wait bloods icu itu hdu theatre surgery admit observe fluids cryotherapy physiotherapy stop start"
)
"""Acts and places of care."""
_ORDERS = regex(r"(?i)\b(?:rank\w*|order\w*|least|most|likel\w+|probab\w+|possib\w+)\b")
"""Words about the order of a list; a phrase with one is no remark."""
_LOSS = regex(r"(?i)^(?:\w+ )?(?:weight|appetite|hair|hearing|memory) loss$")


def answered(text: str) -> str:
    """`text` without what leads to its diagnosis or follows from it and asserts nothing. Takes linear time.

    >>> answered("Is it gout? Yes.")
    'gout. '
    >>> answered("Not lupus, not asthma: it is gout")
    'it is gout'
    >>> answered("Gout requires admission.")
    'Gout.'
    """
    text = _chosen(_THOUSANDS.sub("", text))
    text = _CARE_BEHIND.sub("", _SHORT_LABEL.sub("", _assessed(text)))
    for short, written in _WITH:
        text = short.sub(written, text)
    text = _STEP.sub("", _QUESTION.sub("", text, count=1))
    for leading in _LEADING_UP:
        text = leading.sub("", text, count=1)
    for enclosing in _ENCLOSING:
        if (enclosed := enclosing.match(text)) and names_within(enclosed["name"]):
            text = enclosed["name"] + text[enclosed.end() :]
    asked = _ASKED.match(text)
    if asked and " or " not in asked["name"] and names_within(asked["name"]):
        text = f"{asked['name']}. {text[asked.end() :]}"
    for pattern in (_DENIED_BEFORE, _EXCLUDED, _ASKED_AND_DENIED, _NOT_SENTENCE):
        denied = pattern.match(text)
        if denied and names_within(diseases_in_english(denied["denied"])):
            text = text[denied.end() :]
    if any(map(str.isalnum, rest := _NOT_LINE.sub("", text))):
        text = rest
    if (bracket := _DIFFERENTIAL.search(text)) and names_within(text[: bracket.start()][-200:]):
        text = text[: bracket.start()] + text[bracket.end() :]
    called = _CALLS.match(text)
    if called and (names := names_within(called["name"])) and names[-1].end == len(called["name"]):
        text = called["name"] + text[called.end() :]
    return _inferred(_without_asides(text))


def _without_asides(text: str) -> str:
    """A text without what it says, after its first name, against other diseases or about the history."""
    first = names_within(text[:200])
    if not first:
        return text
    behind = text[first[0].end :]
    for aside in (_AGAINST, _ASSOCIATED, _BACKGROUND, _DENIED_BEHIND):
        behind = aside.sub("", behind)
    return text[: first[0].end] + behind


def _inferred(text: str) -> str:
    """A text without the findings before the sign of an inference; a disease there stays.

    >>> answered("fever, joint pain → gout")
    'gout'
    """
    match = _INFERRED.match(text)
    if match is None or not names_within(text[match.end() : match.end() + 200]):
        return text
    pieces = [piece.strip() for piece in re.split(r"[,+;/.]|\band\b", match["left"]) if any(map(str.isalnum, piece))]
    if set(match["sign"]) <= set("-–—") and len(match["left"].split()) < _SHORTEST_GROUNDS:
        return text
    grounds = all(names_nothing(piece) or not _names_disease(piece) for piece in pieces)
    return text[match.end() :] if grounds else text


def _assessed(text: str) -> str:
    """The assessment of a note in the form S, O, A, P; another text as it is."""
    assessed = _SOAP.search(text)
    return assessed["name"] if assessed and _SOAP_PART.search(text) else text


def _names_disease(phrase: str) -> bool:
    """Whether a phrase may name a disease, by the tables or by its words; a bare finding does not."""
    if any(" " in one.name or not is_finding(one.name) for one in names_within(phrase)):
        return True
    if is_finding(phrase):
        return False
    words = [word for word in re.findall(r"[\w'-]+", phrase) if root(word) not in _FINDINGS]
    return any(map(heads_disease, words)) or organism(phrase) or (bool(words) and disease_like(words[-1]))


def _chosen(text: str) -> str:
    """The option that the last line of a list of lettered options chooses; a text without one as it is.

    >>> answered("(A) gout (B) lupus. Answer: A")
    'gout'
    """
    chosen = _CHOSEN.search(text)
    options = list(_OPTION.finditer(text, 0, chosen.start())) if chosen else []
    if chosen is None or len(options) < 2:
        return text
    ends = [*(option.start() for option in options[1:]), chosen.start()]
    named = [
        text[one.end() : end].strip(" .;\n") for one, end in zip(options, ends, strict=True) if one[1] == chosen[1]
    ]
    return named[0] if len(named) == 1 else text


def names_nothing(phrase: str) -> bool:
    """Whether a phrase names no disease, by the tables and by its words: 'Kind regards', 'give fluids', 'fever'."""
    words = tokens(phrase)
    if not words or _ORDERS.search(phrase) or organism(phrase):
        return False
    if all(root(word) in _ACTS or root(word) in measure_names().classes for word in words):
        return True
    names = names_within(phrase)
    if root(words[-1]) in _CARE:
        return not names or names[0].name == words[-1]
    if is_finding(phrase):
        return not any(" " in one.name for one in names)
    if disease_like(phrase) or names or any(map(heads_disease, re.findall(r"[\w'-]+", phrase))):
        return False
    if clinical(phrase) != phrase:
        return False
    return not (len(words) == 1 and any(diseases_named(f"{phrase} {noun}") for noun in ("disease", "syndrome")))


def is_finding(phrase: str) -> bool:
    """Whether a phrase is a bare finding: 'fever', 'a rash', 'weight loss'."""
    words = tokens(phrase)
    return bool(words) and (root(words[-1]) in _FINDINGS or _LOSS.match(phrase) is not None)


def remarks(phrases: Sequence[str]) -> frozenset[int]:
    """The places of the phrases that name nothing, if another phrase has a complete name of a disease; else none.

    Without such a name, a phrase in words that no table has may be the answer itself.
    """
    silent = frozenset(place for place, phrase in enumerate(phrases) if names_nothing(phrase))
    named = any(place not in silent and names_within(phrase) for place, phrase in enumerate(phrases))
    return silent if named else frozenset()
