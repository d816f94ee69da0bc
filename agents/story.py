"""A patient's own story, and which of its sentences answer a question: by topic and by shared words, no model."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from wardround.scenarios.terms.wording import root, roots, stem, words_of

MOST = 3
"""Sentences of one answer: a patient answers what was asked and does not tell the whole story."""

_END = re.compile(r"(?<=[a-z0-9)%][.!?])\s+(?=[A-Z])|[;\n]+\s*")
# Topic: words of the question, words that mark a sentence, words that mark a section.
_TOPICS = (
    ("medication medications medicine medicines drug pill tablet prescription taking supplement", "medication dose mg"),
    ("allergy allergies allergic reaction", "allergy allergic"),
    (
        "family mother father brother sister sibling parent relative inherited hereditary genetic",
        "family mother father",
    ),
    (
        "smoke smoking smoker cigarette tobacco pack vape nicotine",
        "smoke smoker smoking tobacco cigarette pack nonsmoker",
    ),
    ("alcohol drink drinking beer wine", "alcohol drink wine beer drinker"),
    ("recreational illicit cocaine marijuana cannabis heroin opioid drugs substance", "illicit drug cannabis cocaine"),
    ("work job occupation profession employed living", "work job occupation employed retired student"),
    ("travel traveled abroad trip", "travel trip abroad"),
    ("sex sexual sexually partner partners condom intercourse", "sexual sexually partner condom"),
    ("pregnant pregnancy menstrual period menstruation cycle menses", "pregnant pregnancy menstrual period menses"),
    ("surgery surgeries operation operated hospitalised hospitalized hospital", "surgery surgical operation underwent"),
    ("vaccine vaccination vaccinated immunization shots", "vaccine vaccination immunization"),
    ("onset start started begin began long ago when duration", "ago day week month year since hour last"),
    ("pain hurt hurts hurting ache aching sore tender", "pain ache hurt tender sore discomfort cramp"),
    ("fever temperature chill chills sweat sweats", "fever chill sweat febrile"),
    ("weight appetite eating eat", "weight appetite eat"),
    ("cough breath breathing breathe sputum wheeze short", "cough breath dyspnea sputum wheeze"),
    (
        "vomit nausea nauseous stomach bowel stool diarrhea constipation",
        "vomit nausea diarrhea stool bowel constipation",
    ),
    ("urine urinate urination pee bladder", "urine urinary urination urinate"),
    ("rash skin itch itching lesion", "rash skin itch lesion pruritus"),
    (
        "worse better relieve relieves aggravate improve trigger triggers worsen",
        "worse better worsen improve relieve rest",
    ),
    ("sleep sleeping tired fatigue energy", "sleep fatigue tired insomnia"),
    ("mood sad anxious depressed stress", "mood sad anxious depress stress"),
    ("age old gender sex", "year male female"),
)
_SECTIONS = (
    ("medication medications medicine medicines drug drugs pill tablet prescription", "medication"),
    ("allergy allergies allergic", "allergy"),
    ("family relatives", "family"),
    ("social lifestyle habits hobbies", "social"),
    ("past medical condition conditions illness illnesses diagnosed chronic previous prior", "past"),
    ("old age born", "demographic"),
    ("bothering complaint concern", "symptom"),
)
_OPENING = re.compile(
    r"\b(?:what (?:brings|brought|seems|is the (?:matter|problem)|happened|can i)|how can i help|tell me|describe"
    r"|what(?:'s| is) (?:going on|wrong|bothering)|why are you|how are you|how do you feel|anything else"
    r"|chief complaint|main (?:problem|concern))",
    re.IGNORECASE,
)
_LITTLE = frozenset(
    root(word)
    for word in words_of(
        """a an the of in on at to by for and or as its it this that is was were be been are am do does did have has had
        you your yours i me my we he she his her they their there any some can could would will shall should may might
        please tell ask asking about with without from patient report reports denies deny doctor when what which who how
        why where much many often also not no yes ever feel feeling felt experience experiencing experienced notice
        noticed recent recently currently current know if so more very other else like get got anything something
        describe explain say said going been any history problem problems symptom symptoms issue issues"""
    )
)


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a story; `place` counts through the whole story."""

    place: int
    section: str
    text: str


def sentences(story: Mapping[str, str]) -> tuple[Sentence, ...]:
    """The story's sentences in order, each with its section."""
    found: list[Sentence] = []
    for section, text in story.items():
        for part in _END.split(text):
            if part.strip(" .;"):
                found.append(Sentence(len(found), section, part.strip(" ;")))
    return tuple(found)


def opens(question: str) -> bool:
    """Whether a question asks for the story as such: 'What brings you in?'."""
    return bool(_OPENING.search(question)) and not _content(question) - _OPEN_WORDS


_OPEN_WORDS = frozenset(
    root(word) for word in words_of("bring brings today help come here main concern complaint chief in")
)


def fitting(question: str, story: Sequence[Sentence]) -> list[Sentence]:
    """The sentences that answer `question`, best first; none if nothing in the story is about it."""
    if opens(question):
        first = [part for part in story if not _NOT_FIRST & _set(part.section)]
        return first or list(story)
    asked = _content(question)
    topics = [_set(marks) for words, marks in _TOPICS if _set(words) & asked]
    sections = [root(stem(name)) for words, name in _SECTIONS if _set(words) & _set(question)][:1]
    scored = [(_score(part, asked, topics, sections), -part.place, part) for part in story]
    best = max((score for score, _, _ in scored), default=0.0)
    # What is barely about it is left out where something is plainly about it.
    return [
        part for score, _, part in sorted(scored, key=lambda row: row[:2], reverse=True) if score >= max(1.0, best / 2)
    ]


_NOT_FIRST = frozenset(
    root(word) for word in words_of("demographics past social review family allergies medications surgical")
)


def _score(part: Sentence, asked: frozenset[str], topics: Sequence[frozenset[str]], sections: Sequence[str]) -> float:
    words = frozenset(roots(part.text))
    shared = len(asked & words)
    about = sum(1 for marks in topics if marks & words)
    if "demograph" in "".join(roots(part.section)) and not sections:
        return 0.0
    named = any(name in _set(part.section) for name in sections)
    return shared + about + (1.0 if named else 0.0)


def _content(text: str) -> frozenset[str]:
    return frozenset(word for word in roots(text) if word not in _LITTLE and len(word) > 1)


def _set(words: str) -> frozenset[str]:
    return frozenset(roots(words))
