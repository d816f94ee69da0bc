"""The words of history taking: symptoms, diseases, sites and topics, as doctors and as patients name them.

Both tables (`data/history`) were written for this project. A word that ends in `*` stands for all its endings, and `~`
for up to three words between.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from wardround.engine.text import package_rows


@dataclass(frozen=True, slots=True)
class HistoryConcept:
    """A symptom, a disease or a site of the body; `within` are the wider concepts that it belongs to."""

    name: str
    kind: str
    within: tuple[str, ...]
    words: re.Pattern[str]


@dataclass(frozen=True, slots=True)
class Topic:
    """A subject of history taking, with the patterns of a question about it and of a sentence about it."""

    name: str
    sections: tuple[str, ...]
    in_question: re.Pattern[str]
    in_text: re.Pattern[str]


def _pattern(cell: str) -> re.Pattern[str]:
    """The expression for one cell of a table."""
    body = re.sub(r"(?<=\w)\*", r"\\w*", cell)
    body = re.sub(r"(?<=\|)\*|^\*", r"\\w*", body).replace(" ~ ", r"(?:\W+\w+){0,3}?\W+")
    return re.compile(rf"(?<!\w)(?:{body})(?!\w)", re.IGNORECASE)


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
    for name, words in word_fields():
        if words.search(text) is not None:
            hits.append(name)
            rest = words.sub(" ", rest)
    return frozenset(hits), rest


@cache
def topics() -> tuple[Topic, ...]:
    """All topics; the first that a question asks about is its own."""
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
    return frozenset(
        concept.name
        for concept in history_concepts()
        if concept.kind in kinds and concept.words.search(text) is not None
    )


def with_wider(names: Iterable[str]) -> frozenset[str]:
    """The concepts, and all that they belong to."""
    return frozenset(above for name in names for above in wider_concepts(name))


def topics_asked(question: str) -> tuple[Topic, ...]:
    """The topics of a question, in the order of the table."""
    return tuple(topic for topic in topics() if topic.in_question.search(question) is not None)


def is_about(topic: Topic, section: str, text: str) -> bool:
    """Whether a sentence of a section is about the topic."""
    return topic.in_text.search(text) is not None or any(name in section.lower() for name in topic.sections)
