"""Who answers, the patient or a relative in their place, and the pronouns and verbs of a patient who speaks."""

import re
from collections.abc import Mapping

import msgspec

_CHILD = 12
"""Below this age in years a parent speaks."""

AGE = re.compile(r"\b(\d+)[- ](year|month|week|day)s?[- ]old|\baged (\d+) years", re.IGNORECASE)
_MALE = re.compile(r"\b(?:male|man|boy|gentleman|he|his|him)\b", re.IGNORECASE)
_FEMALE = re.compile(r"\b(?:female|woman|girl|lady|she|her)\b", re.IGNORECASE)
_SPOKEN_FOR = re.compile(
    r"\b(?:patient['\u2019]s|his|her) (?:daughter|son|wife|husband|mother|father|parents?"
    r"|caregiver)s? (?:reports?|states?"
    r"|says|brought|notes)\b|\b(?:family|roommates?|friends"
    r"|relatives) (?:members? )?(?:also )?(?:mentions?|reports?|states?)\b|\bbrought in by (?:his"
    r"|her) (?:mother|father|parents)\b",
    re.IGNORECASE,
)
_NEWBORN = re.compile(r"\b(?:newborn|neonate|toddler|infant)\b", re.IGNORECASE)
"""Names for a patient for whom a parent speaks."""
_YOUNG = re.compile(rf"{_NEWBORN.pattern}|\bbirth ?weight\b", re.IGNORECASE)
"""Words at the beginning of a story without an age that say the same."""
PRESENT = re.compile(r"^(?:history(?: of .*)?|complaint|story)$", re.IGNORECASE)


class PatientVoice(msgspec.Struct, frozen=True):
    """Who speaks: the patient, or somebody else, who calls the patient `speaks_for` ('he', 'she' or 'the child').

    `sex` is None if the story does not say. `own_words`: the present history is already in the patient's words.
    """

    sex: str | None
    speaks_for: str | None
    own_words: bool = False


def patient_voice(story: Mapping[str, str], complaint: str) -> PatientVoice:
    """The voice for a story: a parent's below twelve years, a relative's where the story says that one reports.

    A story in the first person keeps it.
    """
    text = " ".join([*story.values(), complaint])
    first = re.search(AGE.pattern + r"(?! (?:\w+ ){0,2}mother)", text, re.IGNORECASE)
    male, female = _MALE.search(text), _FEMALE.search(text)
    sex = (
        None if not (male or female) else "male" if not female or (male and male.start() < female.start()) else "female"
    )
    young = False
    if first:
        years = int(first[1] or first[3])
        young = (first[2] or "year").lower() != "year" or years < _CHILD
    beginning = " ".join((complaint or text).split()[:30])
    young = young or (_NEWBORN if first else _YOUNG).search(beginning) is not None
    other = young or _SPOKEN_FOR.search(text) is not None
    present = " ".join(part for section, part in story.items() if PRESENT.search(section))
    own = re.search(r"\bI\b(?![-.])|\b[Mm]y\b", present) is not None
    who = {"male": "he", "female": "she"}.get(sex or "", "the child" if young else "")
    return PatientVoice(sex, who if other and who and not own else None, own)


def pronouns(voice: PatientVoice) -> tuple[str, str, str]:
    """The speaker's subject, its 'have', and its subject with 'am'."""
    if voice.speaks_for:
        he = voice.speaks_for.capitalize()
        return he, "has", f"{he} is"
    return "I", "have", "I'm"


_IRREGULAR = {
    "has": "have",
    "is": "am",
    "does": "do",
    "goes": "go",
    "was": "was",
    "hasn't": "haven't",
    "doesn't": "don't",
}
_AFTER_I = re.compile(
    r"\bI (?P<adverb>(?:also|often|still|usually|always|never|rarely|seldom|recently|currently|occasionally"
    r"|only) )?(?P<verb>[a-z]+(?:'t)?)\b"
)
_SECOND = re.compile(
    r"\b(?P<joint>and|but|or) (?P<adverb>never |also |often )?(?P<verb>hasn't|doesn't|recalls|consumes"
    r"|continues|remains|has|is(?! (?:slowly|rapidly|gradually) \w+ing)|does|lives|works|takes|drinks"
    r"|smokes|notes|uses|reports|wears|plays|feels|shows|seeks|mentions|denies|states|wants|tries|needs"
    r"|experiences|describes|enjoys|eats|goes|wakes|sleeps|gets|believes|thinks|says|admits|performs|presents"
    r"|complains|finds|sees|keeps|likes)\b"
)


def own_pronouns(text: str, sex: str | None) -> str:
    """`text` with the patient's pronouns in the first person; without a `sex`, of both."""
    if sex in ("male", None):
        text = re.sub(r"\bhe\b", "I", text, flags=re.I)
        text = re.sub(r"\bhis\b", "my", text, flags=re.I)
        text = re.sub(r"\bhim(self)?\b", lambda match: "myself" if match[1] else "me", text, flags=re.I)
    if sex in ("female", None):
        text = re.sub(r"\bshe\b", "I", text, flags=re.I)
        text = re.sub(r"\bherself\b", "myself", text, flags=re.I)
        text = re.sub(r"\bhers?\b(?=\s+(?!(?:to|at|in|on|when|and|but|with|from)\b)\w)", "my", text, flags=re.I)
        text = re.sub(r"\bher\b", "me", text, flags=re.I)
    return text


def agree_verbs(text: str) -> str:
    """`text` with its verbs after 'I' in the first person."""

    def verb(match: re.Match[str]) -> str:
        return f"I {match['adverb'] or ''}{_after_i(match['verb'])}"

    text = _AFTER_I.sub(verb, text)
    if re.match(r"^I\b", text):
        text = _SECOND.sub(lambda match: f"{match['joint']} {match['adverb'] or ''}{_after_i(match['verb'])}", text)
    return text


def _after_i(verb: str) -> str:
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if re.search(r"(?:sh|ch|ss|x|z|o)es$", verb):
        return verb[:-2]
    if (
        verb.endswith("s")
        and not verb.endswith(("ss", "us", "is"))
        and verb not in ("always", "sometimes", "was", "perhaps")
    ):
        return verb[:-1]
    return verb


_TELEGRAM = re.compile(
    r"^(?:an? |the )?\d+[- ](?:year|month|week|day)s?[- ]old (?:[\w-]+ ){0,3}?"
    r"(?:male|female|man|woman|boy|girl|patient|child)"
    r"(?P<comma>,)?\s+(?:(?P<who>who )|(?P<has>with )|(?P<is>(?=\w+ly |undergoing|presenting"
    r"|living|working|known|admitted"
    r"|diagnosed|referred|treated|married|single|retired|on |from )))(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
"""A note that opens with who the patient is and has no verb ('30-year-old male, originally from Colombia')."""


def with_subject(text: str) -> str:
    """A telegram's sentence with a subject and a verb."""
    text = re.sub(r"^patient (?=\w)", "The patient ", text, flags=re.I)
    text = re.sub(
        r"^the patient (?:did|does) not (?:report|complain of|endorse) ", "The patient denies ", text, flags=re.I
    )
    match = _TELEGRAM.match(text)
    if match is None:
        return text
    verb = "" if match["who"] else "has " if match["has"] else "is "
    return f"The patient {verb}{match['rest']}".replace("is presenting", "presents", 1)
