"""The words of history taking, as doctors and as patients say them, and what the words of a text mean.

The tables of symptoms, diseases, sites, topics and fields of words (`data/history`) were written for this project. A
word that ends in `*` stands for all its endings, and `~` for up to three words between.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

import msgspec

from wardround.engine.text import package_rows, regex
from wardround.scenarios.terms.wording import roots


class HistoryConcept(msgspec.Struct, frozen=True):
    """A symptom, a disease or a site of the body; `within` are the wider concepts that it belongs to."""

    name: str
    kind: str
    within: tuple[str, ...]
    words: re.Pattern[str]


class Topic(msgspec.Struct, frozen=True):
    """A subject of history taking, with the patterns of a question about it and of a sentence about it."""

    name: str
    sections: tuple[str, ...]
    in_question: re.Pattern[str]
    in_text: re.Pattern[str]


@cache
def _pattern(cell: str) -> re.Pattern[str]:
    """The expression for one cell of a table, compiled at its first use: a text comes near to few of them."""
    body = re.sub(r"(?<=\w)\*", r"\\w*", cell)
    body = re.sub(r"(?<=\|)\*|^\*", r"\\w*", body).replace(" ~ ", r"(?:\W+\w+){0,3}?\W+")
    return regex(rf"(?<!\w)(?:{body})(?!\w)", re.IGNORECASE)


class _Lexicon:
    """Named patterns, each looked for only in a text that has a word with one of its beginnings."""

    def __init__(self, named: Sequence[tuple[str, re.Pattern[str], str]]) -> None:
        self._named = tuple((name, pattern) for name, pattern, _ in named)
        self._always: list[int] = []
        self._by_start: dict[str, list[int]] = {}
        for place, (_, _, cell) in enumerate(named):
            starts = _starts(cell)
            for start in sorted(starts):
                self._by_start.setdefault(start, []).append(place)
            if not starts:
                self._always.append(place)

    def near(self, text: str) -> Sequence[tuple[str, re.Pattern[str]]]:
        """The patterns that may be in the text, in their order."""
        places = set(self._always)
        for word in set(_BEGINNING.findall(text.lower())):
            for length in range(2, len(word) + 1):
                places.update(self._by_start.get(word[:length], ()))
        return [self._named[place] for place in sorted(places)]

    def all(self) -> Sequence[tuple[str, re.Pattern[str]]]:
        """All patterns, in their order."""
        return self._named

    def names_in(self, text: str) -> list[str]:
        """The names of the patterns that are in the text, in their order."""
        return [name for name, pattern in self.near(text) if pattern.search(text) is not None]


_BEGINNING = regex(r"(?<!\w)\w{2,6}")


def _starts(cell: str) -> frozenset[str]:
    """The first two to six letters of every alternative of a cell; empty if one of them begins otherwise."""
    depth, at = 0, [-1]
    for place, letter in enumerate(cell):
        depth += (letter in "([") - (letter in ")]")
        if letter == "|" and depth == 0:
            at.append(place)
    heads = [re.match(r"[a-z]{2,6}(?![?{])|[a-z]{2,5}(?=[a-z][?{])", cell[place + 1 :]) for place in at]
    return frozenset(head[0] for head in heads if head) if all(heads) else frozenset()


def history_rows(name: str) -> list[dict[str, str]]:
    """The rows of a table of history taking, each by its columns."""
    return package_rows("wardround.agents", "data", "history", name)


def _names(cell: str) -> tuple[str, ...]:
    return tuple(part for part in cell.split(";") if part)


@cache
def history_concepts() -> tuple[HistoryConcept, ...]:
    """All symptoms, diseases and sites, in the order of the table."""
    return tuple(
        HistoryConcept(row["name"], row["kind"], _names(row["within"]), _pattern(row["words"]))
        for row in history_rows("findings.csv")
    )


@cache
def word_fields() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The fields of words with their patterns, in the order of the table."""
    return tuple((row["name"], _pattern(row["words"])) for row in history_rows("word_fields.csv"))


def meanings_in(text: str) -> tuple[frozenset[str], str]:
    """The fields of words that `text` touches, and what is left of it without their words.

    Example: `meanings_in("camera test of your bowel")[0]` is `{"camera test", "stool"}`.
    """
    hits: list[str] = []
    rest = text
    for name, words in _fields().near(text):
        if words.search(text) is not None:
            hits.append(name)
            rest = words.sub(" ", rest)
    return frozenset(hits), rest


@cache
def topics() -> tuple[Topic, ...]:
    """All topics, in the order of the table; a question belongs to the first that it asks about."""
    return tuple(
        Topic(row["name"], _names(row["sections"]), _pattern(row["asked"]), _pattern(row["told"]))
        for row in history_rows("topics.csv")
    )


@cache
def _kinds() -> dict[str, HistoryConcept]:
    return {concept.name: concept for concept in history_concepts()}


def wider_concepts(name: str) -> frozenset[str]:
    """The concept and all that it belongs to."""
    concepts = {name}
    for parent in _kinds()[name].within:
        concepts |= wider_concepts(parent)
    return frozenset(concepts)


def concepts_in(text: str, *kinds: str) -> frozenset[str]:
    """The concepts of these kinds that `text` names.

    Example: `concepts_in("My tummy hurts", "site")` is `{"abdomen"}`.
    """
    kind_of = _kinds()
    return frozenset(name for name in _concepts().names_in(text) if kind_of[name].kind in kinds)


@cache
def _concepts() -> _Lexicon:
    rows = zip(history_concepts(), history_rows("findings.csv"), strict=True)
    return _Lexicon([(concept.name, concept.words, row["words"]) for concept, row in rows])


@cache
def _fields() -> _Lexicon:
    rows = zip(word_fields(), history_rows("word_fields.csv"), strict=True)
    return _Lexicon([(name, words, row["words"]) for (name, words), row in rows])


@cache
def _meant(column: str) -> _Lexicon:
    """All that a word may mean: concepts, fields, and topics by this column of their table."""
    concepts = [(f"!{row['name']}", _pattern(row["words"]), row["words"]) for row in history_rows("findings.csv")]
    fields = [(f"~{row['name']}", _pattern(row["words"]), row["words"]) for row in history_rows("word_fields.csv")]
    about = [(f"@{row['name']}", _pattern(row[column]), row[column]) for row in history_rows("topics.csv")]
    return _Lexicon([*concepts, *fields, *about])


@cache
def breadth_of_fields() -> dict[str, float]:
    """How wide a field of words or a topic is, from 0 (two words) to 1 (thirty words and more)."""
    cells = [(row["name"], row["words"]) for row in history_rows("word_fields.csv")]
    cells += [(row["name"], f"{row['asked']}|{row['told']}") for row in history_rows("topics.csv")]
    return {name: min(1.0, math.log(1 + cell.count("|")) / math.log(30)) for name, cell in cells}


def with_wider(names: Iterable[str]) -> frozenset[str]:
    """The concepts, and all that they belong to."""
    return frozenset(above for name in names for above in wider_concepts(name))


def topics_asked(question: str) -> tuple[Topic, ...]:
    """The topics of a question, in the order of the table."""
    return tuple(topic for topic in topics() if topic.in_question.search(question) is not None)


def is_about(topic: Topic, section: str, text: str) -> bool:
    """Whether a sentence of a section is about the topic."""
    return topic.in_text.search(text) is not None or any(name in section.lower() for name in topic.sections)


_LITTLE = """
a an the of in on at to by for and or as its it this that is was were be been are am do does did has have had
you your yours i me my we he him his she her they them their there any some can could would will shall should
may might please tell ask about with without from patient report doctor when what which who how why where much
many often also not no yes ever feel feeling felt experience experienced notice noticed recent recently current
currently know if so more very other else like get got getting anything something describe say going been
history problem symptom issue long time today now before after come came seem seen still really start started
begin began make take taken taking work use used using day week month year thing things lately usually
bit whereabouts test tests date affected down wear wearing out than child baby boy girl son daughter little find
found seen show sure able ago keep kept hard change changed usual another person people anyone
anybody someone part particular exactly here well old give put up go happen happened new trouble bad kind sort
"""


@cache
def little() -> frozenset[str]:
    """The roots of words of little content."""
    return frozenset(roots(_LITTLE))


_WORD = regex(r"[A-Za-z\d][A-Za-z\d'\u2019]*")
_EMPTY = frozenset(
    re.findall(
        r"\S+",
        """
a an the of in on at to by for and or as its it this that is was were be been being are am do does
did has have had you your yours yourself i me my we our us he him his himself she her hers herself
they them their there here any some can could will would shall should may might must please tell ask
about with without from when what which who whom whose how why where if so too very not no yes ever
just also than then but up out off over into onto don't didn't doesn't haven't hasn't isn't aren't
wasn't weren't can't couldn't won't wouldn't it's that's what's i'm i've i'd you've you're old older
patient report reports reported note notes noted deny denies denied doctor okay ok well
""",
    )
)
_LIGHT = 0.4
_NAMED_LIGHT = 0.7
"""What a word of little content weighs ('start', 'long', 'anything'), and what it weighs if a table has it."""
_LETTERS = 6


class Unit(msgspec.Struct, frozen=True):
    """A word of content, its weight, and all that it means, alone and with its neighbours ('pass' in 'pass water')."""

    text: str
    meanings: frozenset[str]
    weight: float


@lru_cache(maxsize=16384)
def units(text: str) -> tuple[Unit, ...]:
    """The units of meaning of a question in their order.

    Example: `units("Do you pass water at night?")` has three.
    """
    near = _meant("asked").near(text)
    spans = [(match.start(), match.end(), name) for name, words in near for match in words.finditer(text)]
    units: list[Unit] = []
    content = [match for match in _WORD.finditer(text) if match[0].lower() not in _EMPTY]
    for start, end, name in spans:
        if not any(start < match.end() and match.start() < end for match in content):
            units.append(Unit(text[start:end], frozenset((name,)), 1.0))
    for match in content:
        alone = roots(match[0])
        names = frozenset(name for start, end, name in spans if start < match.end() and match.start() < end)
        light = little().issuperset(alone)
        weight = 1.0 if not light else _NAMED_LIGHT if names else _LIGHT
        units.append(Unit(match[0], names | {f"={word_stem(word)}" for word in alone}, weight))
    return tuple(units)


@lru_cache(maxsize=16384)
def all_meanings(text: str) -> frozenset[str]:
    """All that the words of a sentence mean, with what each of it belongs to, and the topics that it is about."""
    words = [word for match in _WORD.finditer(text) if match[0].lower() not in _EMPTY for word in roots(match[0])]
    means = {f"={word_stem(word)}" for word in words}
    means |= set(_meant("told").names_in(text))
    return frozenset(means) | {f"!{name}" for name in with_wider(name[1:] for name in sorted(means) if name[0] == "!")}


@lru_cache(maxsize=16384)
def word_stem(word: str) -> str:
    """The beginning of a root, for comparison only: 'stopped' and 'stopping' give the same."""
    if len(word) < 5:
        return word
    bare = re.sub(r"i(?:es|ed)$", "y", word)
    bare = re.sub(r"(?:ing|ed|ly|er|est|es|e|ness)$", "", bare) if len(bare) > 4 else bare
    bare = re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", bare)
    return bare[:_LETTERS] if len(bare) >= 3 else word
