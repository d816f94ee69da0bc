"""Personas of patients: how one speaks, from TOML files that a user can write, while the facts stay the case's.

::

    read_persona("terse")
    read_persona("my_persona.toml")

A persona that contradicts itself misstates one fact that decides nothing, and corrects it when it is asked again.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

import msgspec

from wardround.agents.history import question_kinds
from wardround.agents.history.facts import story_sentences
from wardround.agents.toml_files import read_toml
from wardround.engine.errors import UsageError
from wardround.engine.records import Json, Said, View, json_object
from wardround.engine.seat import Seat, seed_of
from wardround.engine.text import count_noun, regex, suggestion
from wardround.scenarios.terms.wording import roots

STRENGTHS = (1, 2, 3)
DEFAULT = 2
Phrases = tuple[tuple[str, ...], ...]


class Manner(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a patient without a model speaks; each list has one entry for each of the strengths 1, 2 and 3.

    `sentences`: the most sentences of one answer; the others come when the doctor asks for more. `before` and `after`
    are phrases around an answer, taken in turn. `vague`: 1 says 'about', 2 'some days', 3 'some time', until the doctor
    asks again. `broken`: 1 drops nothing, 2 drops articles, 3 also drops forms of 'be'. `contradicts`: one fact that
    decides nothing is misstated, and corrected when asked again.
    """

    sentences: tuple[int, ...] = ()
    before: Phrases = ()
    after: Phrases = ()
    vague: tuple[int, ...] = ()
    broken: tuple[int, ...] = ()
    contradicts: bool = False


class Persona(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A persona, as in its file: the words for a model by strength, and the manner of a patient without one."""

    about: str
    model: dict[str, str] = {}
    record: Manner = Manner()
    name: str = ""


def read_persona(place: str) -> dict[str, Json]:
    """The persona of this name, or of this TOML file, as JSON for the run's header; raises UsageError."""
    where = f"--persona {place}"
    return json_object(as_persona(read_toml(place, "personas", "persona", where), where))


def as_persona(fields: Json, where: str) -> Persona:
    """The persona of these fields; raises UsageError that names the wrong one."""
    try:
        persona = msgspec.convert(fields, Persona)
    except msgspec.ValidationError as error:
        raise UsageError(f"{where}: {error}") from error
    for name, values in msgspec.structs.asdict(persona.record).items():
        if isinstance(values, tuple) and values and len(values) != len(STRENGTHS):
            raise UsageError(
                f"{where}: record.{name} has {count_noun(len(values), 'entry')}; write one for each strength, 1 to 3"
            )
    if unknown := sorted(set(persona.model) - set(map(str, STRENGTHS))):
        raise UsageError(f"{where}: model.{unknown[0]} is not a strength; there are 1, 2 and 3")
    if any(count < 1 for count in persona.record.sentences):
        raise UsageError(f"{where}: record.sentences must be at least 1")
    return persona


@cache
def _biases() -> Mapping[str, Mapping[str, str]]:
    return tomllib.loads((files("wardround.agents") / "data" / "biases.toml").read_text(encoding="utf-8"))


def bias_text(seat: Seat) -> str:
    """The text about the bias of the seat's options for its model; "" if there is none. Raises UsageError."""
    name = str(seat.options.get("bias") or "")
    known = [bias for bias, texts in _biases().items() if seat.name in texts]
    if name and name not in known:
        raise UsageError(f"there is no bias {name!r} of the {seat.name}{suggestion(name, known)}")
    return _biases()[name][seat.name] if name else ""


MOST_ASKED = 20_000
"""Most characters of a question that are read: reading a megabyte would hold up every other episode for a minute."""


class Talk(msgspec.Struct, frozen=True):
    """The dialogue so far: the doctor's questions, of which the last is to be answered, and the patient's own words."""

    asked: Sequence[str]
    own: Sequence[Said]

    @classmethod
    def of(cls, view: View) -> "Talk":
        """The dialogue in a patient's view."""
        return cls(
            [said.text[:MOST_ASKED] for said in view.heard if said.seat != view.seat],
            [said for said in view.heard if said.seat == view.seat],
        )

    @property
    def question(self) -> str:
        """The last question; "" before the first."""
        return self.asked[-1] if self.asked else ""

    def marks(self, name: str) -> list[str]:
        """All texts that the log of the patient's words lists under a mark, such as `withheld`."""
        return [str(text) for said in self.own for text in said.args.get(name) or ()]


class Speech(msgspec.Struct, frozen=True):
    """A persona at a strength, as a seat's options name it; strength 0 is no persona."""

    persona: Persona
    strength: int

    @classmethod
    def of(cls, seat: Seat | None) -> "Speech | None":
        """The persona in the seat's options, None without one. Raises UsageError."""
        fields = seat.options.get("persona") if seat else None
        if seat is None or fields is None:
            return None
        strength = seat.options.get("strength", DEFAULT)
        if strength not in (0, *STRENGTHS):
            raise UsageError(f"persona strength {strength!r}: write 0 (none), 1, 2 or 3")
        persona = as_persona(fields if isinstance(fields, Mapping) else read_persona(str(fields)), "persona")
        return cls(persona, int(strength)) if strength else None

    @property
    def manner(self) -> str:
        """The words for a model at this strength; the next weaker text where this strength has none."""
        texts = [self.persona.model.get(str(strength), "") for strength in range(self.strength, 0, -1)]
        return next(filter(None, texts), self.persona.about)

    def _at(self, values: Sequence[int]) -> int:
        return values[self.strength - 1] if values else 0

    def say(self, text: str, talk: Talk) -> tuple[str, dict[str, Json]]:
        """The answer `text` to the last question in this persona's words, with marks for the log."""
        sentences = story_sentences(text)
        manner = self.persona.record
        marks: dict[str, list[str]] = {}
        if manner.sentences:
            sentences, marks["withheld"] = self._few(sentences, talk)
        if level := self._at(manner.vague):
            sentences, marks["vague"] = _vaguely(sentences, level, talk)
        if level := self._at(manner.broken):
            sentences = [_broken_english(one, level) for one in sentences]
        before = _in_turn(manner.before, self.strength, len(talk.own))
        after = _in_turn(manner.after, self.strength, len(talk.own))
        return " ".join(filter(None, (before, *sentences, after))), {
            name: texts for name, texts in marks.items() if texts
        }

    def _few(self, sentences: list[str], talk: Talk) -> tuple[list[str], list[str]]:
        """The first sentences, and those kept for later; asked for more, what was kept before comes first."""
        said = " ".join(one.text for one in talk.own)
        kept = [text for text in talk.marks("withheld") if text not in said]
        if kept and question_kinds.MORE.search(talk.question):
            sentences = kept
        most, count = self._at(self.persona.record.sentences), 0
        for place, sentence in enumerate(sentences):
            if count == most:
                return sentences[:place], sentences[place:]
            count += _YES_OR_NO.fullmatch(sentence) is None
        return sentences, []


_YES_OR_NO = regex(r"(?:yes|no)\.?", re.IGNORECASE)
_SPAN = regex(
    r"\b(?P<count>\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve)(?P<joint>[- ])"
    r"(?P<unit>minute|hour|day|week|month|year)(?P<plural>s?)\b(?![- ]old)",
    re.IGNORECASE,
)
_PRESSED = regex(r"\b(?:exact(?:ly)?|precise(?:ly)?|how many|roughly how|which (?:day|month|year))\b", re.IGNORECASE)
_ARTICLES = regex(r"\b(?:an|a|the)\s+(?=[a-z])", re.IGNORECASE)
_FORMS_OF_BE = regex(r"\b(?:am|is|are|was|were|been)\s+(?!not\b|n't|\w+n't)(?=[a-z])", re.IGNORECASE)


def _in_turn(phrases: Phrases, strength: int, turn: int) -> str:
    """The phrase for this turn."""
    now = phrases[strength - 1] if phrases else ()
    return now[turn % len(now)] if now else ""


def _vaguely(sentences: Sequence[str], level: int, talk: Talk) -> tuple[list[str], list[str]]:
    """The sentences with loose times, unless the doctor presses or one was loose before; and which are loose."""
    if _PRESSED.search(talk.question):
        return list(sentences), []
    before = talk.marks("vague")
    loosened = [one if one in before else _SPAN.sub(lambda match: _loose(match, level), one) for one in sentences]
    return loosened, [one for one, other in zip(sentences, loosened, strict=True) if one != other]


def _loose(match: re.Match[str], level: int) -> str:
    """A time in loose words that stay true: one of a unit is 'about a', more are 'some'."""
    unit = match["unit"].lower()
    if match["joint"] == "-":
        return match[0]
    if match["count"].lower() in ("1", "a", "an", "one"):
        return f"about {'an' if unit == 'hour' else 'a'} {unit}"
    return (f"about {match[0]}", f"some {unit}s", "some time")[level - 1]


def _broken_english(sentence: str, level: int) -> str:
    """The sentence without articles, at level 3 without forms of 'be' too; every other word stays."""
    if level > 1:
        sentence = _ARTICLES.sub("", sentence)
    return _FORMS_OF_BE.sub("", sentence) if level > 2 else sentence


def shared_words(one: str, other: str) -> float:
    """The share of the longer words of `other` that `one` has too."""
    words = {word for word in roots(other) if len(word) > 3}
    return len(words & set(roots(one))) / len(words) if words else 0.0


ALIKE = 0.5
"""Least share of a fact's longer words that a sentence must have to tell that fact."""
_OTHER_NUMBERS = {
    "one": "three",
    "two": "four",
    "three": "five",
    "four": "two",
    "five": "two",
    "six": "three",
    "ten": "four",
}


_AFTER_AN = (8, 11, 18, *range(80, 90))
_OF_ITS_OWN = regex(r"(?:\b(?:the|this|that|my|your|his|her|our|their|each|every) |[-\u2013])$", re.IGNORECASE)
"""What stands before a number that no half can replace: the `my` of 'my one cup', the first number of '0-1 packs'."""


def _another_number(match: re.Match[str]) -> str:
    """Another number and its noun, for which article, noun and verb stay right; "" where the words allow none.

    One of a thing becomes half of it, since every other number needs a noun and a verb in the plural.
    """
    word, joint, unit = match["count"].lower(), match["joint"], match["unit"]
    if word in ("1", "one") and joint == " " and not (match["a"] or match["an"]):
        alone = not unit.lower().endswith("s") and not _OF_ITS_OWN.search(match.string, 0, match.start())
        return f"half a {unit}" if alone else ""
    if word not in _OTHER_NUMBERS:
        usual = int(word) + 2 if int(word) < 10 else int(word) * 2
        fits = [n for n in range(2, 200) if not match["a" if n in _AFTER_AN else "an"] and n != int(word)]
        return f"{min(fits, key=lambda n: abs(n - usual))}{joint}{unit}"
    return f"{_OTHER_NUMBERS[word]}{joint}{unit}"


_COUNT = (
    r"(?:(?<=\ba(?P<a> ))|(?<=\ban(?P<an> ))|(?<![\d.,/]))"
    rf"\b(?P<count>[1-9]\d?|{'|'.join(_OTHER_NUMBERS)})(?P<joint>[- ])"
)
_NO_DEED = r"(?<!\bI )(?<!he )(?<!who )(?<!ve )(?<!has )"
"""What does not stand before a state: 'I am retired' is one, 'I retired early' is what somebody did."""
_CHANGES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (regex(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (rf"{_COUNT}(?P<unit>packs?|cigarettes?|cups?)\b", ""),
        (
            rf"{_COUNT}(?P<unit>children|siblings|sisters|brothers|kids|sons|daughters|cats|dogs|hens)\b",
            "",
        ),
        (r"\b(?P<verb>lives?) alone\b", r"\g<verb> with a friend"),
        (
            r"\b(?P<verb>lives?) with (?:my |his |her )?(?:husband|wife|partner|girlfriend|boyfriend|friend)\b"
            r"(?!,? (?:and|or|who|whose|with)\b|['\u2019-])",
            r"\g<verb> alone",
        ),
        (rf"{_NO_DEED}(?<!\ba )\bmarried\b(?! (?:an?|my|his|her|him)\b)", "engaged"),
        (rf"{_NO_DEED}\bdivorced\b(?! (?:my|his|her|him)\b)", "separated"),
        (rf"{_NO_DEED}\bretired\b(?! (?:in|at|when|early|last|after|\d+|\w+ (?:years?|months?) ago)\b)", "working"),
        (r"\bnon-?smoker\b", "social smoker"),
        (r"\b(?:do not|don['\u2019]t|never) (?P<verb>smoked?)\b", r"\g<verb> a little"),
        (rf"{_COUNT}(?P<unit>years?)(?= ago\b)", ""),
    )
)
"""What may be misstated: household, work, smoking, the year of an old event. Never a symptom, its time, a drug, drink,
food, or a relative's disease. With each pattern stands what is said instead, or nothing for another number."""


def first_misstatement(sentence: str) -> tuple[str, str] | None:
    """(words as they are, words as misstated) for the first thing in the sentence that can be changed; None if none."""
    for pattern, words in _CHANGES:
        for match in pattern.finditer(sentence):
            if wrong := match.expand(words) or _another_number(match):
                return match[0], f"{wrong[0].upper()}{wrong[1:]}" if match[0][0].isupper() else wrong
    return None


def choose_fact(incidental: Sequence[str], seed: int) -> str:
    """The fact to be misstated, by the seat's seed; "" if none of the `incidental` facts can be changed."""
    able = [fact for fact in incidental if first_misstatement(fact)]
    return able[seed_of(seed, "misstated") % len(able)] if able else ""


def misstate(text: str, incidental: Sequence[str], talk: Talk, seed: int) -> tuple[str, dict[str, Json]]:
    """Misstate one fact of `text`, the answer to the last question, or correct it if it was misstated before.

    Returns the answer and the mark for the log. The seed chooses among the `incidental` facts, as the scenario names
    them. An answer that does not tell the fact stays as it is, unless the doctor asks again what was answered with the
    misstatement.
    """
    fact = choose_fact(incidental, seed)
    if not fact or any(one.args.get("corrected") for one in talk.own):
        return text, {}
    before = next((place for place, one in enumerate(talk.own) if one.args.get("misstated")), None)
    sentences = story_sentences(text)
    if before is not None and not _telling(sentences, fact) and _asked_again(talk.asked, before):
        sentences = [*story_sentences(str(talk.own[before].args.get("plain", ""))), *sentences]
    match = _telling(sentences, fact)
    if match is None:
        return text, {}
    place, right, wrong = match
    if before is None:
        sentences[place] = sentences[place].replace(right, wrong, 1)
        return " ".join(sentences), {"misstated": {"fact": fact, "true": right, "said": wrong}}
    said = talk.own[before].args["misstated"]["said"]
    sentences[place] = f"I said {said[0].lower()}{said[1:]} before, but that was wrong. {sentences[place]}"
    return " ".join(sentences), {"corrected": {"fact": fact, "said": right}}


def _telling(sentences: Sequence[str], fact: str) -> tuple[int, str, str] | None:
    """The place of the sentence that tells the fact, the words that can be misstated, and the misstatement."""
    for place, sentence in enumerate(sentences):
        change = first_misstatement(sentence)
        if change and change[0].lower() in fact.lower() and shared_words(sentence, fact) >= ALIKE:
            return place, *change
    return None


_DOUBT = regex(
    r"\b(?:are you (?:quite |very )?(?:sure|certain)|really|is that (?:right|true|so|correct))\b", re.IGNORECASE
)
_SAME = 0.75
"""Least share of the longer words of a question that another one must have to ask the same again."""


def _asked_again(asked: Sequence[str], before: int) -> bool:
    """Whether the last question repeats the one with the number `before`, or doubts its answer at once."""
    if before >= len(asked) - 1:
        return False
    doubted = before == len(asked) - 2 and _DOUBT.search(asked[-1])
    return bool(doubted) or shared_words(asked[-1], asked[before]) >= _SAME
