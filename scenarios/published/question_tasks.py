"""The published rules of MultiCogEval's four question tasks: reading, demonstrations and accuracy, errors included."""

import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from wardround.scenarios.published.imaging_words import Absent

Task = Literal["MCQ", "SV", "MR", "AE"]
"""Choice, statement validation, multi-step rectification and answer existence."""
_LETTERS = "ABCDE"
_SIDES = ((0, 0, 0, 1, 1), (1, 1, 1, 0, 0))
MOST_EXAMPLES = 5
"""The most demonstrations for which the published code has sides."""


class PublishedReading(NamedTuple):
    """The answer that the published code reads from a reply.

    `option` is a letter, `holds` the verdict. `guessed` marks what it draws by chance where it can read nothing. An
    answer without either is wrong, and is not guessed.
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
    """Read the option of a choice, with `options` from text to letter; draw one of A to E where none is named.

    The texts of options are first replaced by their letters wherever they occur, and only the text before the first
    blank line counts. An empty reply names nothing and is not drawn for.
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
    """Read true or false: by the first word, else by the words of false ones anywhere, then by those of true ones.

    The words count inside other words ("Noted" is false). Nothing is drawn: a reply without them is wrong.
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
    """Read whether the offered answer is right, and which one is; draw both where the reply has no exact form.

    The drawn letter is one of A to E but the offered one, with four options too.
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
    """Read whether the right answer is among the options: by the first letters, else `answer: yes`; else draw it.

    "None" and "not" begin with "no".
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


class Sampled(NamedTuple):
    """Demonstrations that were drawn: the places of their rows and, for tasks of two sides, which side each shows."""

    places: tuple[int, ...]
    sides: tuple[int, ...]


def sample(rows: int, excluded: int, count: int, draw: random.Random) -> Sampled:
    """Draw `count` of `rows` demonstrations, without the place that equals the id of the item.

    Where ids differ from places, as in MedQA, the item itself may be drawn. Three of the five sides are alike, in a
    shuffled order; more than five demonstrations raise Absent, as does a file with fewer rows than are wanted.
    """
    left = list(set(range(rows)) - {excluded})
    if count > len(left) or count > MOST_EXAMPLES:
        raise Absent("too_many_demonstrations", f"{count} demonstrations from {len(left)} rows and five sides")
    places = draw.sample(left, count)
    sides = list(draw.choice(_SIDES))
    draw.shuffle(sides)
    return Sampled(tuple(places), tuple(sides[:count]))


def demonstration(task: Task, row: Sequence[Any], side: int) -> tuple[str, str]:
    """The question of a row that is shown as an example, and its answer in words.

    Existence takes only "T" for yes, so that the 1 of MedQA's rows becomes no.
    """
    if task == "MCQ":
        return row[1], row[2]
    question, answer = row[1 + side], row[3 + side]
    if task == "SV":
        return question, "true" if answer == "T" else "false"
    if task == "AE":
        return question, "yes" if answer == "T" else "no"
    return question, "correct" if answer[0] == "T" else f"incorrect, the correct answer is {answer[1]}"


class Accuracy(NamedTuple):
    """Accuracy of each repeat, their mean and its standard error, as they are and normalised by chance (equation 4).

    The standard errors are None below two repeats.
    """

    repeats: tuple[float, ...]
    mean: float
    error: float | None
    normalised: float
    normalised_error: float | None


def chance_accuracy(task: Task, options: int) -> float:
    """The accuracy of guessing: one over the options for choice and rectification, else a half."""
    return 1 / options if task in ("MCQ", "MR") else 0.5


def rectified(right: bool, corrected: bool, options: int) -> float:
    """The accuracy of a rectification item: its side with the right answer weighs 1/options, the other one the rest."""
    weight = 1 / options
    return weight * float(right) + (1 - weight) * float(corrected)


def accuracy(repeats: Iterable[Sequence[float]], by_chance: float) -> Accuracy:
    """Accuracy of repeats, each with a value for every item; raises Absent without an item."""
    means = []
    for values in repeats:
        if not values:
            raise Absent("no_items", "no item was answered; the published code divides by zero")
        means.append(math.fsum(values) / len(values))
    if not means:
        raise Absent("no_repeats", "there is no repeat")
    mean, error = math.fsum(means) / len(means), _standard_error(means)
    scale = 1 - by_chance
    return Accuracy(tuple(means), mean, error, (mean - by_chance) / scale, None if error is None else error / scale)


def _standard_error(values: Sequence[float]) -> float | None:
    if len(values) < 2:
        return None
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values))
