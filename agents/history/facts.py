"""The facts of a patient's story: sentences cut once, each with what it affirms, denies, and when it was.

`story_facts` cuts a story into facts, and `statements` says of each what it lists, with findings, sites and denials.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from wardround.agents.history.vocabulary import concepts_in
from wardround.engine.text import regex
from wardround.scenarios.terms.wording import roots

_TITLE = regex(r"\b(?:dr|mr|mrs|st|vs|approx|resp|incl|esp|e\.g|i\.e)\.$", re.IGNORECASE)
_INITIAL = regex(r"(?:^|\b[A-Z][a-z]+\.? |\b[A-Z]\. )[A-Z]\.$")
_UNIT = regex(r"\b(?:a\.m|p\.m|q\.d|b\.i\.d|t\.i\.d|temp|no|etc)\.$", re.IGNORECASE)
_NEW = regex(r"(?:He|She|The|I|It|They|No|Not|My|His|Her|This|There|We|Denies|Reports|In|On|At|After|When|Since)\b")
_END = regex(r"(?:(?<=[.!?])|(?<=[.!?][\"')\u201d]))\s+(?=[\"'(\u201c]?[A-Z0-9])|[;\n\u2022]+\s*")
_SILENT = regex(
    r"\b(?:not|no|none|nothing)\b[^.]*\b(?:provided|mentioned|specified|available|given|documented|supplied"
    r"|disclosed)\b"
    r"|\bno mention of\b|^(?:unknown|unclear|n/?a|not applicable|not known|unremarkable social history)\W*$",
    re.IGNORECASE,
)
_STAGE = regex(
    r"\b(?:if|when) asked\b|\bdo not (?:reveal|disclose|tell|mention)|\bpretend\b|\bthe actor\b|\bthe patient should\b"
    r"|\bduring (?:the )?(?:history taking|interview|exam\w*)\b|\bavoids? questions\b|\bact (?:as|like)\b",
    re.IGNORECASE,
)
_EXAMINED = regex(
    r"\bvital signs\b|\boriented (?:to|x)\b|\b(?:on|physical) examination\b|\blymphadenopathy\b|\breflexes\b|fasciculat"
    r"|\bauscultat|\bpalpation\b|\bblunted affect\b|\b(?:patient|he|she|child) appears (?!more|to have)"
    r"|\bphysical exam\b|\b(?:biops(?:y|ies)|dermoscopy|histolog\w*|histopatholog\w*|microscopy|cultures?|imaging"
    r"|radiograph\w*|x-?rays?|ultraso\w+|CT|MRI)\b[^.]*\b(?:reveal|show|demonstrat)(?:s|ed|n)?\b"
    r"|\bcould not be examined\b|\binflammation of the conj"
    r"|\bsomnolent\b|\binsertion site\b|\bare not observed\b|\bexamination reveal|^\W*you notice\b|\byou notice\b",
    re.IGNORECASE,
)
_DENIES = regex(
    r"\b(?:den(?:y|ies|ied)|no|not|never|without(?! (?:trying|warning|improvement|relief|success|effort))"
    r"|none|nor|neither|negative for|absence of|free of|lacks?|cannot|nobody"
    r"|\w+n['\u2019]t)\b|\bpainless\b|\bpain[- ]free\b|\bafebrile\b|\bnon-?(?:tender|smoker)\b",
    re.IGNORECASE,
)
_ONLY_A_PART = regex(r"\b(?:because|so that|since)\b|\b(?:that|which|who)(?: do| does| did| is| are)? $")
"""Before a negation: it denies a part of the phrase and not what the phrase is about."""
_STOPS = regex(
    r"^(?:but|except|however|although|though|while|he|she|i|they|it|the|his|her|my|reports?|notes?|has|have|is|was"
    r"|works?|lives?|drinks?|takes?|smokes?|presents|presented|patient|does|lying|walking|one|two|three)\b",
    re.IGNORECASE,
)
_PIECE = regex(
    r"\s*(?:,|;|:|\.(?=\s)|\bor\b|\bnor\b|\band\b|(?=\bbut\b)|(?=\bexcept\b)|(?=\bhowever\b)|(?=\bpresent(?:s"
    r"|ed)\b))\s*"
)
_FAMILY = regex(
    r"\b(?:family (?:history|members?\b(?! (?:have |has |had )?(?:notice|report|mention|brought|say"
    r"|state)\w*))|(?:on (?:his|her|my) (?:mother|father)['\u2019]s side)|hereditary|relatives?"
    r"|(?<!by his )(?<!by her )(?:mother|father|parents|brother|sister|uncle|aunt|cousin|grand\w+|siblings?|son"
    r"|daughter)s?\b"
    r"(?:['\u2019]s)?(?: \w+){0,2} (?:has|had|have|with|died|was diagnosed|suffers?|is|are|takes)\b"
    r"(?! (?:tried|noticed|noted|observed|given|applied|taken|brought|been|seen|also|found|reported|recently|applying))"
    r"|(?:in|of) (?:his|her|my|the) (?:mother|father|brother|sister|family|parents))",
    re.IGNORECASE,
)
COMPLAINT = "Complaint"
"""The section of the facts that the complaint tells."""

_NUMBER = r"(?:\d+(?:\.\d+)?|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|several|few|couple of|many)"
TIME = regex(
    rf"\b{_NUMBER}[- ](?:to \d+ )?(?:minute|hour|day|week|month|year|decade)s?\b(?![- ]old)|\byesterday\b"
    rf"|\bthis morning\b|\btoday\b"
    r"|\blast (?:night|week|month|year|summer|winter|\d+|few)\b|\bsince \w+|\b(?:for|past"
    r"|over the) (?:\w+ )?(?:day|week|"
    r"month|year|hour)s?\b|\bchildhood\b|\bage of\b|\ba year\b|\byear-long\b|\bovernight\b|\btonight\b",
    re.IGNORECASE,
)
_PARTS = regex(
    r"(?:,\s+and|,|\s+and(?= (?:drinks|works|lives|smokes|takes|uses|denies|does|never)\b))\s+(?=(?:drinks?"
    r"|smokes?|works?|lives?|uses?|takes?|does|has|is|denies|never|no|non-?\w+|retired|occasional\w*"
    r"|moderate|heavy|rarely|seldom|social|former|currently|recently|enjoys?|plays?|married|single|a few"
    r"|frequently)\b)",
    re.IGNORECASE,
)
_ALSO = regex(
    r"(?:,? (?:and|but)|,) (?=(?:also |he |she )?(?:mentions?|notes?|reports?|states?|denies|denied"
    r"|reported|admits)\b)",
    re.IGNORECASE,
)
_HISTORY_OF = regex(
    r"(?P<who>(?:The patient is )?(?:An?|The) [^,.]{0,60}?\b(?:man|woman|boy|girl|male|female"
    r"|patient)),? with (?P<past>an? (?:\w+ ){0,3}?"
    r"history of .+?),? (?:who )?(?P<now>(?:presents|presented|comes|came|is referred|was referred)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_INTRODUCED = regex(
    r"^(?:the patient is )?(?P<who>(?:An?|The) (?!patient\b)[^,.;]{0,80}?"
    r"\b(?:man|woman|boy|girl|male|female|toddler|infant|child|teenager"
    r"|(?:year|month|week|day)s?[- ]old(?: (?!who\b)\w+){0,3}?))"
    r"(?:,? (?P<aside>(?:who|with|on|whose)\b[^.]*?)| (?:in|of) [^,.]{0,30})?,? (?:who )?"
    r"(?P<now>(?:presents|presented|comes|came|is brought|is seen|is referred|was referred|complains?"
    r"|is hospitali[sz]ed|returns)\b.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A first sentence that says who the patient is, what they have had or are, and why they come: three facts."""
_TELEGRAM = regex(
    r"^(?:non-?smoker|smoker|former|drinks?|smokes?|works?|lives?|uses?|takes?|retired|married|single|does not|never"
    r"|college|student|\w+ student|engineer|occasional|enjoys?|plays?)",
    re.IGNORECASE,
)


class Statement(msgspec.Struct, frozen=True):
    """One thing that a sentence affirms, or denies."""

    text: str
    findings: frozenset[str]
    sites: frozenset[str]
    denied: bool


@dataclass(frozen=True)
class Fact:
    """One sentence of a story, the `place`-th.

    `items` is what it affirms and denies, `family` whether it speaks of relatives, `timed` whether it names a time.
    """

    place: int
    section: str
    text: str
    items: tuple[Statement, ...]
    family: bool
    timed: bool

    @cached_property
    def findings(self) -> frozenset[str]:
        """What the sentence affirms or denies."""
        return frozenset(name for item in self.items for name in item.findings)

    @cached_property
    def sites(self) -> frozenset[str]:
        """The sites that the sentence names."""
        return frozenset(name for item in self.items for name in item.sites)

    @cached_property
    def denied(self) -> bool:
        """Whether the sentence affirms nothing."""
        return all(item.denied for item in self.items)


def story_sentences(text: str) -> list[str]:
    """The sentences of `text`; an abbreviation, an initial or a decimal ends none.

    Example: `story_sentences("Saw Dr. Li at 5 p.m. Monday. It hurt.")` has two.
    """
    parts: list[str] = []
    for part in _END.split(text):
        if parts and _goes_on(parts[-1], part):
            parts[-1] = f"{parts[-1]} {part}"
        else:
            parts.append(part)
    return [part.strip(" ;-*\t") for part in parts if part.strip(" .;-*\t")]


def _goes_on(before: str, after: str) -> bool:
    """Whether a full stop belongs to an abbreviation, so that the sentence goes on."""
    if _TITLE.search(before) or _INITIAL.search(before) or before.endswith("?"):
        return True
    if re.search(r"\bno\.$", before, re.IGNORECASE):
        return after[:1].isdigit()
    return _UNIT.search(before) is not None and _NEW.match(after) is None


_WITHOUT = (
    ("pain", regex(r"\b(?:painless|pain[- ]free|non-?(?:tender|painful))\b", re.IGNORECASE)),
    ("itch", regex(r"\bnon-?(?:prurit\w*|itchy)\b", re.IGNORECASE)),
)
"""Adjectives that deny one thing of what they affirm: a painless lump is a lump."""


def statements(text: str) -> tuple[Statement, ...]:
    """The things that a sentence lists, each affirmed or denied.

    Example: `statements("Denies fever or cough, but has a rash")` denies the first two.
    """
    pieces: list[Statement] = []
    denied = False
    for stretch in (part for part in _PIECE.split(text) if part and part.strip(" .")):
        piece = stretch
        if _STOPS.search(piece):
            denied = False
        lacks = frozenset(name for name, adjective in _WITHOUT if adjective.search(piece))
        bare = piece
        for _, adjective in _WITHOUT:
            bare = adjective.sub(" ", bare)
        if lacks:
            sites = concepts_in(bare, "site")
            pieces.append(Statement(piece.strip(" ."), lacks, sites, True))
            piece = bare
        cue = _DENIES.search(piece)
        whole = cue is not None and _ONLY_A_PART.search(piece[: cue.start()]) is None
        denied = denied or whole
        pieces.append(
            Statement(piece.strip(" ."), concepts_in(piece, "finding", "disease"), concepts_in(piece, "site"), denied)
        )
    return tuple(pieces)


_WHO_IT_IS = regex(
    r"^(?:an? |the )?[^:,.]{0,40}\b(?:man|woman|boy|girl|male|female|infant|child|patient)\s*:\s*", re.IGNORECASE
)
"""Before the complaint of a case: 'A 22-year-old man: abdominal pain'."""
_TASK = regex(
    r"^(?:please )?(?:assess|evaluat|diagnos|determin|identif|interview|take|perform|examin|you )", re.IGNORECASE
)


def story_facts(story: Mapping[str, str], complaint: str = "") -> tuple[Fact, ...]:
    """The facts of a story and of its complaint, unless that is the doctor's task.

    Blanks ('not provided'), stage directions and what only an examiner sees are left out.
    """
    facts: list[Fact] = []
    complaints = {} if _TASK.search(complaint) else {COMPLAINT: _WHO_IT_IS.sub("", complaint)}
    for section, text in (*story.items(), *complaints.items()):
        for said in story_sentences(text):
            sentence = re.sub(r"(?<=[- ]old)-(?=(?:man|woman|boy|girl|male|female)\b)", " ", said)
            bare = re.sub(r"^(?:[A-Z][\w/]*(?: (?:[a-z]\w*|\d+))?): (?=\w)", "", sentence)
            for part in _split_facts(section, bare):
                if not (_SILENT.search(part) or _STAGE.search(part) or _seen_by_examiner(part)):
                    facts.append(_fact(len(facts), section, part))
    return tuple(facts)


def _seen_by_examiner(text: str) -> bool:
    """Whether a sentence tells what only an examiner sees, and no parent reports it."""
    return _EXAMINED.search(text) is not None and re.search(r"\b(?:mother|father|parents?) reports?\b", text) is None


def _split_facts(section: str, sentence: str) -> list[str]:
    """The parts of a sentence that are facts of their own: in lists of symptoms, and in notes without a subject."""
    if "symptom" in section.lower():
        return re.split(r", (?=[A-Z])", sentence)
    if _TELEGRAM.search(sentence) and not re.match(r"(?:does not|never)\b", sentence, re.IGNORECASE):
        return _PARTS.split(sentence)
    if match := _HISTORY_OF.match(sentence):
        return [f"{match['who']} has {match['past']}", f"The patient {match['now']}"]
    if match := _INTRODUCED.match(sentence):
        return _introduced(match["who"], match["aside"] or "", match["now"])
    first, *more = _ALSO.split(sentence)
    subject = re.match(r"(?:the patient|he|she)\b|(?=denies|reports)", first, re.IGNORECASE)
    if subject is None and not all(re.match(r"(?:he|she)\b", part, re.IGNORECASE) for part in more):
        return [sentence]
    return [
        first,
        *(
            part if re.match(r"(?:he|she)\b", part) else f"{subject[0] if subject else ''} {part}".strip()
            for part in more
        ),
    ]


def _introduced(who: str, aside: str, now: str) -> list[str]:
    """The facts of a first sentence: who the patient is, what the aside says of them, and why they come."""
    rest = re.sub(r"^with |^on ", lambda match: "has " if match[0] == "with " else "is on ", aside, flags=re.IGNORECASE)
    rest = re.sub(r"^who ", "", rest, flags=re.IGNORECASE)
    facts = [f"The patient is {who[:1].lower()}{who[1:]}", f"The patient {now}"]
    return [facts[0], f"The patient {rest}", facts[1]] if rest and not rest.startswith("whose") else facts


_TELLER = (
    r"(?:on \w+ of \w+, )?(?:the |his |her )?(?:patient's |patient\u2019s |child's |newborn's )?(?:mother"
    r"|father|parents?)"
    r" (?:also )?(?:reports?|notes?|noted|noticed|says|states?|has noticed|have noticed|denies|brought|mentions?)"
)


def _fact(place: int, section: str, text: str) -> Fact:
    shared = re.search(r"\b(?:medical|social|personal|surgical)\b", text, re.IGNORECASE) is not None
    family = (_FAMILY.search(text) is not None and not shared) or "family" in section.lower()
    shared = shared and re.search(r"\bfamily history (?:is|was)\b", text, re.IGNORECASE) is None
    has_teller = re.search(rf"^(?:{_TELLER})\b", text, re.IGNORECASE) is not None
    family = family and not (has_teller and "family history" not in text.lower())
    return Fact(place, section, text, statements(text), family, TIME.search(text) is not None)


def distinct_facts(facts: Sequence[Fact]) -> list[Fact]:
    """The facts without those that mostly repeat the words of an earlier one."""
    kept: list[Fact] = []
    for fact in facts:
        words = frozenset(roots(fact.text))
        if all(len(words & frozenset(roots(other.text))) < 0.7 * max(1, len(words)) for other in kept):
            kept.append(fact)
    return kept
