"""MultiCogEval's published rules for question tasks, errors included: reading replies, drawing demonstrations."""

import random
import re
from collections.abc import Mapping
from typing import NamedTuple

from wardround.scenarios.published.imaging_words import Absent

_LETTERS = "ABCDE"
_SIDES = ((0, 0, 0, 1, 1), (1, 1, 1, 0, 0))
MOST_EXAMPLES = 5
"""The most demonstrations for which the published code has sides."""


class PublishedReading(NamedTuple):
    """The answer that the published code reads from a reply.

    `option` is a letter, `holds` the verdict. `guessed`: the code could read nothing and drew the answer by chance. An
    answer with neither option nor verdict is wrong.
    """

    option: str | None = None
    holds: bool | None = None
    guessed: bool = False


_OPTION = (
    re.compile(r"\A\s*Option\s*([A-E])"),
    re.compile(r"\A\s*([A-E])\s*\Z"),
    re.compile(r"\A\s*([A-E])\s"),
    re.compile(r"\A\s*([A-E])[,:\n).]"),
    re.compile(r"\A\s*\"([A-E])\""),
    re.compile(r"Answers?:\s*([A-E])"),
    re.compile(r"The correct answer (?:for .*? )?is:?\s*([A-E])", re.DOTALL),
)
"""The forms in which an option may be named, in the order in which they are tried."""


def read_published_choice(reply: str, options: Mapping[str, str], draw: random.Random) -> PublishedReading:
    """Read the option of a choice; `options` maps its texts to letters. If none is named, one of A to E is drawn.

    The texts of options are first replaced by their letters wherever they occur, and only the text before the first
    blank line counts. For an empty reply nothing is drawn.
    """
    if not reply:
        return PublishedReading()
    for text, letter in options.items():
        reply = reply.replace(text, letter)
    first = reply.strip().split("\n\n")[0]
    named = next((match for pattern in _OPTION if first and (match := pattern.search(first))), None)
    return PublishedReading(named[1]) if named else PublishedReading(draw.choice(_LETTERS), guessed=True)


_FALSE = ("incorrect", "not correct", "false", "False", "No", "wrong")
_TRUE = ("true", "correct", "consistent", "True", "Yes")


def read_statement(reply: str) -> PublishedReading:
    """Read true or false: by the first word, else by words of falsehood anywhere, else by words of truth anywhere.

    The words count inside other words too: 'Notable' is false. Nothing is drawn: a reply without them is wrong.
    """
    opening = reply.strip().lower()
    for word in ("true", "false"):
        if opening.startswith(word):
            return PublishedReading(holds=word == "true")
    if any(word in reply for word in _FALSE):
        return PublishedReading(holds=False)
    return PublishedReading(holds=True) if any(word in reply for word in _TRUE) else PublishedReading()


_ANNOUNCED = re.compile(r"answer: (correct|incorrect, the correct answer is [A-E])", re.IGNORECASE)
_CORRECTED = re.compile(r"incorrect, the correct answer is ([A-E])")


def read_published_rectification(reply: str, offered: str, draw: random.Random) -> PublishedReading:
    """Read whether the offered answer is right, and if not, which one is; draw both if the reply has no exact form.

    The drawn letter is any of A to E except the offered one, even if there are only four options.
    """
    text = reply.strip()
    announced = _ANNOUNCED.search(text)
    text = announced[1] if announced else text
    if text.startswith("correct"):
        return PublishedReading(holds=True)
    corrected = _CORRECTED.match(text)
    if corrected:
        return PublishedReading(corrected[1], holds=False)
    if draw.random() < 0.5:
        return PublishedReading(offered, holds=True, guessed=True)
    return PublishedReading(
        draw.choice([letter for letter in _LETTERS if letter != offered]), holds=False, guessed=True
    )


def read_existence(reply: str, draw: random.Random) -> PublishedReading:
    """Read whether the right answer is among the options: by the first letters, else `answer: yes`, else drawn.

    'None' and 'not' begin with 'no', so they count as no.
    """
    text = reply.strip().lower()
    for word in ("yes", "no"):
        if text.startswith(word):
            return PublishedReading(holds=word == "yes")
    announced = re.search(r"answer: (yes|no)", text)
    return (
        PublishedReading(holds=announced[1] == "yes")
        if announced
        else PublishedReading(holds=draw.random() < 0.5, guessed=True)
    )


class SampledExamples(NamedTuple):
    """Demonstrations that were drawn: the places of their rows and, for tasks of two sides, which side each shows."""

    places: tuple[int, ...]
    sides: tuple[int, ...]


def sample(rows: int, excluded: int, count: int, draw: random.Random) -> SampledExamples:
    """Draw `count` of `rows` demonstrations, without the place `excluded`, which is the id of the item.

    If ids differ from places, as in MedQA, the item itself may be drawn. Three of the five sides are alike, in a
    shuffled order. Raises Absent for more than five demonstrations, or for more than there are rows.
    """
    left = [place for place in range(rows) if place != excluded]
    if count > len(left) or count > MOST_EXAMPLES:
        raise Absent("too_many_demonstrations", f"{count} demonstrations from {len(left)} rows and five sides")
    places = draw.sample(left, count)
    sides = list(draw.choice(_SIDES))
    draw.shuffle(sides)
    return SampledExamples(tuple(places), tuple(sides[:count]))
