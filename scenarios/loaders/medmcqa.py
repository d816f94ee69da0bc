"""Loads MedMCQA: choice questions with four options in fields of their own."""

from collections.abc import Iterable
from copy import copy
from pathlib import Path

from wardround.engine.records import Json
from wardround.engine.text import loads
from wardround.scenarios.loaders.question_sets import question_item
from wardround.scenarios.loaders.source import Loader, Refused, TextLine, text_lines
from wardround.scenarios.question_item import SEVERAL_RIGHT, QuestionItem

_OPTIONS = ("opa", "opb", "opc", "opd")


class MedMCQA(Loader):
    """MedMCQA: `{question, opa, opb, opc, opd, cop, choice_type}`, one object a line.

    `cop` is the place of the right option: from 1 to 4 in the authors' files, from 0 to 3 in copies on data hubs. The
    whole file tells which: only one of 0 and 4 occurs. A question with `choice_type` "multi" may have several right
    answers, of which the file names one; it is left out (MultiCogEval, appendix A.1).
    """

    TITLE = "MedMCQA JSONL, one object with question, opa to opd and cop a line"

    def __init__(self) -> None:
        self._first: int | None = None

    def knows(self, record: Json) -> float:
        """Match an object with the four options and the place of the right one."""
        return float(isinstance(record, dict) and {"question", "cop", *_OPTIONS} <= record.keys())

    def of_file(self, path: Path) -> "MedMCQA":
        """The loader that knows where this file begins to count."""
        places = {_place(line.text) for line in text_lines(path) if isinstance(line, TextLine)}
        known = copy(self)
        known._first = None if (0 in places) is (4 in places) else int(4 in places)
        return known

    def cases(self, number: int, name: str, record: Json) -> Iterable[QuestionItem]:
        """The item of a record; raises Refused for several right answers, and for a place that cannot be read."""
        del name
        if str(record.get("choice_type") or "single") != "single":
            raise Refused([("choice_type", f"{SEVERAL_RIGHT}: {record['choice_type']!r}")])
        if self._first is None:
            why = "whether places count from 0 or from 1 cannot be told: the file has both 0 and 4, or neither"
            raise Refused([("cop", why)])
        place = record["cop"]
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place - self._first < len(_OPTIONS):
            raise Refused([("cop", f"{place!r} is no place from {self._first} to {self._first + 3}")])
        return [
            question_item(
                {
                    "id": str(record.get("id") or f"medmcqa-{number:05d}"),
                    "form": "choice",
                    "question": record["question"],
                    "options": [record[field] for field in _OPTIONS],
                    "truth": {"option": place - self._first, "rationale": record.get("exp") or ""},
                    "kind": [str(record[field]) for field in ("subject_name", "topic_name") if record.get(field)],
                    "data_class": "public",
                    "provenance": {"source": "MedMCQA", "record": str(record.get("id", number)), "licence": "MIT"},
                }
            )
        ]


def _place(text: str) -> int | None:
    try:
        record = loads(text)
    except (ValueError, RecursionError):
        return None
    place = record.get("cop") if isinstance(record, dict) else None
    return place if isinstance(place, int) and not isinstance(place, bool) else None
