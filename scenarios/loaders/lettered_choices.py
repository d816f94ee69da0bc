"""Loads choice questions with their options beside the question: MedQA, MediQ, CRAFT-MD, ARC, MMLU and the like."""

from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from wardround.engine.records import Json
from wardround.scenarios.loaders.question_sets import first_place, lettered_place
from wardround.scenarios.loaders.source import Loader, Refused, misfit
from wardround.scenarios.question_item import LETTERS, QuestionItem

_OPTIONS = ("options", "choices")
_ANSWERS = (
    "answer_idx", "answer_index", "answer_letter", "answer_key", "answerKey", "correct_option", "correct_answer",
    "correct_index", "correct", "gold", "target", "label", "answer",
)  # fmt: skip
"""Fields that may hold the right option, the surest first: its letter, its place, or its text."""


class LetteredChoice(Loader):
    """Choice questions with the options of each in one field.

    Options: texts by letter, a list of texts (the first of them A), a list of objects with a label and a text, or the
    two lists `label` and `text`. The right one: its letter, its whole text, or its place, which the whole file counts
    from 0 or from 1 (`first_place`). `answer` beside `answer_idx` is its text; `context` and `id` are read if they
    exist.
    """

    TITLE = "choice questions JSONL, one object with question, options and answer_idx (or choices, answer) a line"

    def __init__(self) -> None:
        self._first: int | None = None

    def knows(self, record: Json) -> float:
        """Match an object with a question, options and the right one; surest of MedQA's own fields."""
        if not isinstance(record, dict) or "question" not in record:
            return 0.0
        options = next((record[name] for name in _OPTIONS if name in record), None)
        if not isinstance(options, dict | list) or not any(name in record for name in _ANSWERS):
            return 0.0
        return 1.0 if "answer_idx" in record and "options" in record else 0.7

    def of_file(self, records: Iterable[Json]) -> "LetteredChoice":
        """The loader that knows where the places of this file begin to count."""
        known = copy(self)
        known._first = first_place(records, _place_and_count)
        return known

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The item of a record; raises Refused if the letters, the answer and its text disagree."""
        return lettered_choice(number, record, self._first)


def lettered_choice(number: int, record: Mapping[str, Json], first: int | None = None) -> QuestionItem:
    """The item of a record; raises Refused where the letters, the answer and its text disagree.

    `first` is the number of the first place where the right option is given by its place; None if it is not known.
    """
    field = next((name for name in _OPTIONS if name in record), _OPTIONS[0])
    labels, options = _labels_and_options(field, record.get(field))
    named = next((name for name in _ANSWERS if name in record), _ANSWERS[0])
    at = _right_option(named, record.get(named), labels, options, first)
    answer = record.get("answer")
    said = answer.strip() if named != "answer" and isinstance(answer, str) else ""
    if said and said not in (str(options[at]).strip(), labels[at]):
        raise Refused([("answer", f"is not the text of option {record[named]}")])
    stated = record.get("context")
    context = stated if isinstance(stated, list) else []
    if wrong := [(f"context[{at}]", misfit(part, str)) for at, part in enumerate(context) if not isinstance(part, str)]:
        raise Refused(wrong)
    return QuestionItem.model_validate(
        {
            "id": f"q{record.get('id', number)}",
            "form": "choice",
            "question": record["question"],
            "options": options,
            "context": [" ".join(context)] if context else [],
            "truth": {"option": at},
            "kind": [str(record["meta_info"])] if record.get("meta_info") else [],
            "data_class": "public",
            "provenance": {"source": "choice questions", "record": str(record.get("id", number))},
        }
    )


def _right_option(field: str, value: Json, labels: Sequence[str], options: Sequence[Json], first: int | None) -> int:
    """The index of the right option, which a record gives by its label, its place or its text."""
    if isinstance(value, int) and not isinstance(value, bool) and str(value) not in labels:
        if first is None:
            why = "whether places count from 0 or from 1 cannot be told: the file has both 0 and the last, or neither"
            raise Refused([(field, why)])
        if not 0 <= value - first < len(options):
            raise Refused([(field, f"{value} is no place from {first} to {first + len(options) - 1}")])
        return value - first
    said = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    texts = [place for place, option in enumerate(options) if said and _plain(option) == _plain(said)]
    labelled = [place for place, label in enumerate(labels) if said == label]
    if len({*texts, *labelled}) == 1:
        return (texts or labelled)[0]
    if texts and labelled:
        raise Refused([(field, f"{said!r} is the letter of one option and the text of another")])
    return lettered_place(value, options, field)


def _labels_and_options(field: str, listed: Json) -> tuple[list[str], list[Json]]:
    """(the labels of the options, their texts)."""
    if isinstance(listed, Mapping) and isinstance(listed.get("text"), list) and isinstance(listed.get("label"), list):
        labels, options = [str(label) for label in listed["label"]], list(listed["text"])
    elif isinstance(listed, Mapping):
        labels, options = [str(label) for label in listed], list(listed.values())
    elif isinstance(listed, list) and listed and all(isinstance(one, Mapping) for one in listed):
        labels = [str(_first_of(one, ("label", "key", "letter", "id")) or "") for one in listed]
        options = [_first_of(one, ("text", "value", "option", "content")) for one in listed]
    elif isinstance(listed, list):
        labels, options = list(LETTERS[: len(listed)]), list(listed)
    else:
        raise Refused([(field, 'must be texts by letter ({"A": ...}), or a list of texts')])
    letters = list(LETTERS[: len(labels)])
    known = (letters, [letter.lower() for letter in letters], [str(n) for n in range(1, len(labels) + 1)])
    if len(labels) != len(options) or labels not in known:
        raise Refused([(field, f"are lettered {', '.join(labels)}, not A, B, C ...")])
    return labels, options


def _first_of(record: Mapping[str, Json], names: Sequence[str]) -> Json:
    return next((record[name] for name in names if name in record), None)


def _plain(option: Json) -> str:
    return " ".join(str(option).split()).casefold()


def _place_and_count(record: Mapping[str, Json]) -> tuple[Json, int]:
    """What a record gives as its right option, and the number of its options."""
    options = _first_of(record, _OPTIONS)
    if isinstance(options, dict) and isinstance(options.get("text"), list):
        options = options["text"]
    return (_first_of(record, _ANSWERS), len(options)) if isinstance(options, dict | list) else (None, 0)
