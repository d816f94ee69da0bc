"""Adapters: the question tasks of MultiCogEval, low and middle level."""

import json
import math
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from conformance import question_accuracy
from conformance.compare import OneOf
from conformance.question_accuracy import Task
from conformance.tables import Tables
from conformance.vector import Vector
from wardround.scenarios.published import question_tasks as published
from wardround.scenarios.published.imaging_words import Absent
from wardround.scenarios.published.question_tasks import PublishedReading

ROWS = {"medqa": 795, "medmcqa": 2816}
"""Rows of the published sets: demonstrations are drawn from all, and the shared files hold the first half."""
_OPTIONS = {"medqa": 5, "medmcqa": 4}
_SEED = 48
_SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "multicogeval"
_LETTERS = "ABCDE"


class Unseen(OneOf):
    """The text of a row that the shared half of a set does not hold: any text."""

    def accepts(self, recorded: Any) -> bool:
        """Whether it is a text."""
        return isinstance(recorded, str) and bool(recorded)

    def __repr__(self) -> str:
        return "a text outside the shared half"


def choice(row: Vector, tables: Tables) -> Any:
    """multicog_extract_MCQ."""
    del tables
    reply = row.input["reply"]
    return _one_of(
        row, _letter(published.read_published_choice(reply, row.input["options"], random.Random(_SEED)), reply)
    )


def statement(row: Vector, tables: Tables) -> Any:
    """multicog_extract_SV."""
    del tables
    return _one_of(row, _side(published.read_statement(row.input["reply"])))


def rectification(row: Vector, tables: Tables) -> Any:
    """multicog_extract_MR."""
    del tables
    read = published.read_published_rectification(row.input["reply"], row.input["alice"], random.Random(_SEED))
    return _one_of(row, [_side(read), read.option])


def existence(row: Vector, tables: Tables) -> Any:
    """multicog_extract_AE."""
    del tables
    return _one_of(row, int(published.read_existence(row.input["reply"], random.Random(_SEED)).holds is True))


def _one_of(row: Vector, value: Any) -> Any:
    """The value as the file writes it: alone where chance decides, else as the only one of its values."""
    return value if row.expect == "any_of" else {"values": [value]}


def _letter(read: PublishedReading, reply: str) -> Any:
    """The letter; an empty reply gives an empty list, as the code writes it."""
    return read.option if reply else []


def _side(read: PublishedReading) -> str | None:
    return None if read.holds is None else "T" if read.holds else "F"


@lru_cache(maxsize=8)
def _rows(dataset: str, task: Task) -> Sequence[Any]:
    """The shared rows of a set; Absent if they are not there."""
    path = _SHARED / dataset / f"{task}.test.json"
    try:
        rows: Sequence[Any] = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise Absent("no_set", f"{path.name} of {dataset} is not beside this checkout") from None
    return rows


def demonstrations(row: Vector, tables: Tables) -> Any:
    """multicog_fewshot: the questions shown, their answers, and whether the item is among them."""
    del tables
    fields = row.input
    task, rows = fields["task"], _rows(fields["dataset"], fields["task"])
    count = max(len(rows), ROWS[fields["dataset"]])
    drawn = published.sample(count, fields["id"], fields["k"], random.Random(fields["seed"]))
    shown = [
        question_accuracy.demonstration(task, rows[place], side)
        if place < len(rows)
        else _unseen(fields["dataset"], task, side)
        for place, side in zip(drawn.places, drawn.sides, strict=True)
    ]
    return {
        "demonstrations": [question for question, _ in shown],
        "answers": [answer for _, answer in shown],
        "self_included": fields["position"] in drawn.places,
    }


def _unseen(dataset: str, task: Task, side: int) -> tuple[Any, Any]:
    """A demonstration from the half that is not shared: its side still says its answer, but for the letter."""
    if task == "MCQ":
        return Unseen(), OneOf(*_LETTERS)
    if task == "MR" and side == 1:
        return Unseen(), OneOf(*(f"incorrect, the correct answer is {letter}" for letter in _LETTERS))
    golds: dict[Task, Sequence[Any]] = {"SV": ("T", "F"), "MR": (["T"], ["F"])}
    gold = golds.get(task, (1, 0) if dataset == "medqa" else ("T", "F"))
    return Unseen(), question_accuracy.demonstration(task, (0, "", "", *gold), side)[1]


def shown(recorded: Any, row: Vector) -> Any:
    """The recorded text of all demonstrations, cut at their answers into one question each."""
    del row
    questions, rest = [], recorded["demonstrations"]
    for answer in recorded["answers"]:
        question, mark, rest = rest.partition(f"\nAnswer: {answer}\n\n")
        if not mark:
            raise ValueError(f"the recorded demonstrations do not hold the answer {answer!r}")
        questions.append(question)
    return {**recorded, "demonstrations": questions}


def accuracies(row: Vector, tables: Tables) -> Any:
    """multicog_lowmid_accuracy: accuracy of each repeat, mean and standard error, also normalised by chance."""
    del tables
    fields = row.input
    task, options = fields["task"], _OPTIONS[fields["dataset"]]
    values = _values(fields, options)
    accuracy = question_accuracy.accuracy(zip(*values, strict=True), question_accuracy.chance_accuracy(task, options))
    return {
        "acc": accuracy.mean,
        "se": accuracy.error,
        "acc_list": list(accuracy.repeats),
        "norm_acc": accuracy.normalised,
        "norm_se": accuracy.normalised_error,
    }


def _values(fields: Mapping[str, Any], options: int) -> list[list[float]]:
    """What each item scores in each repeat."""
    task, digit, dataset = fields["task"], fields["digit"], fields["dataset"]
    if task == "SV" and dataset == "medqa":
        if digit != 2:
            raise Absent("two_sides", "the published code expects four statements an item, and the rows hold two")
        return [[0.0] * digit for _ in fields["entries"]]  # it reads the replies as right answers, which none matches
    draw = random.Random(_SEED)
    if task == "MCQ":
        return [_chosen(fields, entry, draw) for entry in fields["entries"]]
    values = []
    for number, (_, first, second, *replies) in enumerate(fields["entries"]):
        one, two = replies[:digit], replies[digit:]
        if task == "MR":
            offered = fields["alice"][number]
            right = [published.read_published_rectification(reply, offered[0], draw).holds is True for reply in one]
            wrong = [published.read_published_rectification(reply, offered[1], draw) for reply in two]
            corrected = [read.holds is False and read.option == second[1] for read in wrong]
            values.append([question_accuracy.rectified(a, b, options) for a, b in zip(right, corrected, strict=True)])
            continue
        read = published.read_statement if task == "SV" else lambda reply: published.read_existence(reply, draw)
        values.append(
            [
                ((read(a).holds is _holds(first)) + (read(b).holds is _holds(second))) / 2
                for a, b in zip(one, two, strict=True)
            ]
        )
    return values


def _options_of(question: str) -> dict[str, str]:
    """Options from text to letter; the last one is lost if the question ends with a line break, as the code has it."""
    return {text: letter for letter, text in re.findall(r"([A-E]): (.*?)(?:\t|\Z)", question)}


def _chosen(fields: Mapping[str, Any], entry: Sequence[Any], draw: random.Random) -> list[float]:
    number, gold, *replies = entry
    question = next((row[1] for row in _rows(fields["dataset"], "MCQ") if row[0] == number), "")
    options = _options_of(question)
    return [float(published.read_published_choice(reply, options, draw).option == gold) for reply in replies]


def _holds(gold: Any) -> bool:
    return gold in ("T", 1)


_MACRO = {"macro_acc_endpoint": "disease_endpoint", "macro_acc_fullpath": "disease_fullpath"}


def macro_means(row: Vector, tables: Tables) -> Any:
    """multicog_metrics: the means over diseases, which follow from the recorded figures of the diseases.

    Two of its three runs are not recorded anywhere, so that the other figures cannot be computed.
    """
    del tables
    return {name: math.fsum(by.values()) / len(by) for name, by in ((n, row.expected[d]) for n, d in _MACRO.items())}


def recorded_macro(recorded: Mapping[str, Any], row: Vector) -> Any:
    """The recorded means over diseases."""
    del row
    return {name: recorded[name] for name in _MACRO}
