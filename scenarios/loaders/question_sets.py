"""Loads question sets: own ones, MultiCogEval's tasks, PubMedQA, LLMEval-Med, HealthBench, MedQuAD and MedMCQA."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from copy import copy
from itertools import groupby

from wardround.engine.records import Json
from wardround.engine.text import regex
from wardround.scenarios.criteria import Checklist
from wardround.scenarios.loaders.source import Loader, Refused
from wardround.scenarios.question_item import LETTERS, SEVERAL_RIGHT, QuestionItem, QuestionTurn

_QUESTION_AND_OPTIONS = regex(r"^Question:\s*(?P<stem>.*?)\s*\nOptions:\s*(?P<options>.*)$", re.DOTALL)
_LETTERED = regex(r"(?:^|\t)\s*(?P<letter>[A-Z]):\s*")
_OFFERED = regex(r"\.?\s*Alice's answer:\s*(?P<letter>[A-Z])\..*$", re.DOTALL)
_HALF = regex(r"\.?\s*There is a 50% chance that the correct answer.*$", re.DOTALL)
_STATEMENT = regex(r"\s*is the statement above true or false\?.*$", re.DOTALL)
_PREFIX = regex(r"^Question:\s*")


class OwnQuestions(Loader):
    """Wardround's own questions: one object with the fields of a QuestionItem a line."""

    TITLE = "Wardround's own questions JSONL, one question a line (docs/levels.md)"

    def knows(self, record: Json) -> float:
        """Match an object with a form, a question and its truth."""
        return float(isinstance(record, dict) and {"form", "question", "truth"} <= record.keys())

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The question of a line."""
        return QuestionItem.model_validate(record)


class MultiCogEval(Loader):
    """MultiCogEval's low and middle level: rows `[id, question..., answer...]` of its four tasks.

    Statement, rectification and existence rows hold two sides, which become two items of one source group.
    Layout: THUMLP/MultiCogEval, data/{medqa,medmcqa}/{MCQ,SV,MR,AE}.
    """

    TITLE = "MultiCogEval question rows, one JSON array of arrays"
    MARK = "Question:"

    def knows(self, record: Json) -> float:
        """Match a row that begins with a number and a text."""
        row = isinstance(record, list) and len(record) in (3, 5)
        return float(row and isinstance(record[0], int) and isinstance(record[1], str))

    def cases(self, number: int, name: str, record: Json) -> Iterable[QuestionItem]:
        """The item of a choice, or the two sides of another task."""
        if not isinstance(record, list) or len(record) not in (3, 5):
            raise Refused([("", "is no row [id, question, answer] or [id, question, question, answer, answer]")])
        if not all(isinstance(text, str) for text in record[1 : 1 + len(record) // 2]):
            raise Refused([("[1]", "must be a text")])
        return [_choice(record)] if len(record) == 3 else list(_sides(record))


def _choice(row: Sequence[Json]) -> QuestionItem:
    stem, options = _stem_and_options(row[1])
    return QuestionItem.model_validate(
        {
            **_common_fields(row, "MCQ"),
            "form": "choice",
            "level": "low",
            "question": stem,
            "options": options,
            "truth": {"option": lettered_place(row[2], options, "[2]")},
        }
    )


def _sides(row: Sequence[Json]) -> Iterator[QuestionItem]:
    right = isinstance(row[3], list)
    task = "MR" if right else "AE" if _HALF.search(row[1]) else "SV"
    for side, (text, answer) in enumerate(zip(row[1:3], row[3:5], strict=True)):
        holds = _holds(answer[0] if right and isinstance(answer, list) and answer else answer, f"[{3 + side}]")
        same = {**_common_fields(row, task), "level": "middle"}
        same["id"] += "ab"[side]
        if task == "SV":
            statement = _PREFIX.sub("", _STATEMENT.sub("", text)).strip()
            yield QuestionItem.model_validate(
                {**same, "form": "statement", "question": statement, "truth": {"holds": holds}}
            )
            continue
        offered = _OFFERED.search(text)
        stem, options = _stem_and_options((_OFFERED if task == "MR" else _HALF).sub("", text))
        fields = {**same, "question": stem, "options": options}
        if task == "AE":
            yield QuestionItem.model_validate({**fields, "form": "existence", "truth": {"holds": holds}})
            continue
        if offered is None or not isinstance(answer, list) or len(answer) != 2:
            raise Refused([(f"[{1 + side}]", "offers no answer to be checked")])
        truth = {"holds": holds, "option": lettered_place(answer[1], options, f"[{3 + side}][1]")}
        at = lettered_place(offered["letter"], options, f"[{1 + side}]")
        yield QuestionItem.model_validate({**fields, "form": "rectification", "offered": at, "truth": truth})


def _common_fields(row: Sequence[Json], task: str) -> dict[str, Json]:
    return {
        "id": f"{task}-{row[0]}",
        "source_group": str(row[0]),
        "kind": (task,),
        "data_class": "public",
        "provenance": {"source": "MultiCogEval", "record": str(row[0])},
    }


def _stem_and_options(text: str) -> tuple[str, list[str]]:
    match = _QUESTION_AND_OPTIONS.match(text)
    if match is None:
        raise Refused([("[1]", "has no line `Options:` with options A: to E:")])
    parts = _LETTERED.split(match["options"])
    letters, options = parts[1::2], [option.strip() for option in parts[2::2]]
    if letters != list(LETTERS[: len(letters)]):
        raise Refused([("[1]", f"its options are lettered {', '.join(letters) or 'not at all'}")])
    return match["stem"], options


def lettered_place(letter: Json, options: Sequence[Json], field: str) -> int:
    """The index of the option with a letter; raises Refused for several letters and for one that is no option's."""
    known = LETTERS[: len(options)]
    several = letter if isinstance(letter, list) else re.findall(r"[A-Z]", letter) if isinstance(letter, str) else []
    if len(several) > 1 and all(isinstance(one, str) and one in known for one in several):
        raise Refused([(field, f"{SEVERAL_RIGHT}: {', '.join(several)}")])
    if not isinstance(letter, str) or len(letter) != 1 or letter not in known:
        raise Refused([(field, f"{letter!r} is none of the letters {', '.join(known) or '(there are no options)'}")])
    return known.index(letter)


def _holds(value: Json, field: str) -> bool:
    if value in ("T", 1, True):
        return True
    if value in ("F", 0, False):
        return False
    raise Refused([(field, f"{value!r} is neither T nor F, 1 nor 0")])


class PubMedQA(Loader):
    """PubMedQA: questions on an abstract, answered by yes, no or maybe."""

    TITLE = "PubMedQA JSON, one object of records with QUESTION, CONTEXTS and final_decision"
    WHOLE = True
    MARK = '"QUESTION"'

    def knows(self, record: Json) -> float:
        """Match an object whose first value has a question with its abstract."""
        first = next(iter(record.values()), None) if isinstance(record, dict) else None
        return float(isinstance(first, dict) and {"QUESTION", "CONTEXTS", "final_decision"} <= first.keys())

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The item of one abstract, whose conclusion stays closed."""
        options = ["yes", "no", "maybe"]
        if record.get("final_decision") not in options:
            raise Refused([("final_decision", f"{record.get('final_decision')!r} is none of {', '.join(options)}")])
        return QuestionItem.model_validate(
            {
                "id": f"pubmedqa-{name}",
                "form": "choice",
                "question": record.get("QUESTION"),
                "options": options,
                "context": record.get("CONTEXTS"),
                "truth": {
                    "option": options.index(record["final_decision"]),
                    "rationale": record.get("LONG_ANSWER") or "",
                },
                "data_class": "public",
                "provenance": {"source": "PubMedQA", "record": name, "licence": "MIT"},
            }
        )


class LLMEvalMed(Loader):
    """LLMEval-Med: open questions in five categories, some over several turns, with references and checklists.

    Rounds of one `groupCode` are the turns of one item. Layout: llmeval/LLMEval-Med, dataset/dataset.json, whose
    missing checklists are NaN, null, or left out.
    """

    TITLE = "LLMEval-Med JSON, one object of lists with problem, sanswer and groupCode"
    WHOLE = True
    MARK = '"groupCode"'

    def knows(self, record: Json) -> float:
        """Match an object of lists of problems."""
        first = next(iter(record.values()), None) if isinstance(record, dict) else None
        row = first[0] if isinstance(first, list) and first else None
        return float(isinstance(row, dict) and {"problem", "groupCode", "round"} <= row.keys())

    def cases(self, number: int, name: str, record: Json) -> Iterable[QuestionItem | Refused]:
        """The items of one category.

        A row without a problem, and a group whose rounds are not 1, 2, 3 ... in this order, are left out by themselves.
        """
        if not isinstance(record, list):
            raise Refused([("", "must be a list of problems")])
        made: list[tuple[int, QuestionItem | Refused]] = []
        rows = []
        for index, row in enumerate(record):
            if isinstance(row, dict) and isinstance(row.get("problem"), str) and row["problem"].strip():
                rows.append((index, row))
            else:
                made.append((index, Refused([(f"[{index}].problem", "is missing, or no text")])))
        rows.sort(key=lambda pair: str(pair[1].get("groupCode")))
        for code, group in groupby(rows, key=lambda pair: str(pair[1].get("groupCode"))):
            members = list(group)
            rounds = [row.get("round") for _, row in members]
            place = members[0][0]
            if rounds == list(range(1, len(rounds) + 1)):
                made.append((place, _open_question(name, code, [row for _, row in members])))
            else:
                why = f"group {code} has the rounds {rounds}, not 1, 2, 3 ..."
                made.append((place, Refused([(f"[{place}].round", why)])))
        return [item for _, item in sorted(made, key=lambda pair: pair[0])]


def _open_question(category: str, code: str, rows: Sequence[Mapping[str, Json]]) -> QuestionItem:
    first = rows[0]
    turns = [
        QuestionTurn(
            question=row["problem"], reference=_reference(row.get("sanswer")), checklist=checklist(row.get("checklist"))
        )
        for row in rows[1:]
    ]
    reference = _reference(first.get("sanswer"))
    return QuestionItem.model_validate(
        {
            "id": f"{category}-{code}",
            "form": "free",
            "level": "open",
            "question": first["problem"],
            "turns": [turn.model_dump() for turn in turns],
            "truth": {"answers": [reference] if reference else []},
            "checklist": checklist(first.get("checklist")).model_dump(),
            "language": "zh",
            "kind": [str(part) for part in (category, first.get("category2")) if part],
            "data_class": "public",
            "provenance": {"source": "LLMEval-Med", "record": code},
        }
    )


def _reference(value: Json) -> str:
    """A reference answer; "" if the field has none, or only a sign such as '/'."""
    return value.strip() if isinstance(value, str) and any(map(str.isalnum, value)) else ""


_COUNTED = r"^\W*(?:[一二三四五六七八九十\d]{1,2}\s*[、.．)）:：]\W*)?"
_CORE = regex(rf"{_COUNTED}(?:核心需求|core requirements?)\W*$", re.IGNORECASE)
_SECONDARY = regex(rf"{_COUNTED}(?:次要需求|secondary requirements?)\W*$", re.IGNORECASE)
_NUMBERED = regex(r"^\s*(?:\d{1,2}\s*[.)\u3001\uff0e\uff09]|[-*\u2022])\s*")


def checklist(value: Json) -> Checklist:
    """The requirements of a text with the headings 核心需求 and 次要需求 (or in English), one numbered line each.

    Anything but a text, such as null or NaN, is an empty checklist. Lines before the first heading are core ones.
    """
    core: list[str] = []
    secondary: list[str] = []
    current = core
    for line in value.splitlines() if isinstance(value, str) else ():
        if _CORE.match(line):
            current = core
        elif _SECONDARY.match(line):
            current = secondary
        elif text := _NUMBERED.sub("", line).strip():
            current.append(text)
    return Checklist(core=tuple(core), secondary=tuple(secondary))


class HealthBench(Loader):
    """HealthBench: a conversation to be answered, with a rubric of criteria and points."""

    TITLE = "HealthBench JSONL, one object with prompt and rubrics a line"

    def knows(self, record: Json) -> float:
        """Match an object with a conversation and its rubric."""
        known = isinstance(record, dict) and isinstance(record.get("prompt"), list)
        return float(known and isinstance(record.get("rubrics"), list))

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The item of a record: the last message is the question; the physicians' completion is its reference."""
        said = record["prompt"]
        if not said or not all(isinstance(one, dict) and isinstance(one.get("content"), str) for one in said):
            raise Refused([("prompt", "must be a list of messages with role and content")])
        before = [{"role": one.get("role", "user"), "content": one["content"]} for one in said[:-1]]
        ideal = record.get("ideal_completions_data") or {}
        reference = ideal.get("ideal_completion") if isinstance(ideal, dict) else None
        return QuestionItem.model_validate(
            {
                "id": str(record.get("prompt_id") or f"healthbench-{number:05d}"),
                "form": "free",
                "level": "open",
                "question": said[-1]["content"],
                "before": before,
                "truth": {"answers": [reference]} if reference else {},
                "rubric": [_rubric_fields(one) for one in record["rubrics"]],
                "kind": [str(tag) for tag in record.get("example_tags") or ()],
                "data_class": "public",
                "provenance": {"source": "HealthBench", "record": str(record.get("prompt_id", number))},
            }
        )


def _rubric_fields(one: Json) -> dict[str, Json]:
    names = ("criterion", "points", "tags")
    return {name: one[name] for name in names if name in one} if isinstance(one, dict) else {"criterion": one}


class MedQuAD(Loader):
    """MedQuAD: `{qid, qtype, focus, question, answer}`, one object a line, as open questions of medical knowledge.

    Questions without an answer are left out. Items are numbered by line, since numbers of the source are used twice.
    """

    TITLE = "MedQuAD JSONL, one object with qid, qtype, question and answer a line"

    def knows(self, record: Json) -> float:
        """Match an object with a numbered question, its type and its answer."""
        return float(isinstance(record, dict) and {"qid", "qtype", "question", "answer"} <= record.keys())

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The open question of a record; raises Refused where it has no answer."""
        answer = record["answer"]
        if not isinstance(answer, str) or not answer.strip():
            raise Refused([("answer", "is missing, so nothing can mark an answer")])
        return QuestionItem.model_validate(
            {
                "id": f"medquad-{number:05d}",
                "form": "free",
                "level": "open",
                "question": record["question"],
                "truth": {"answers": [answer]},
                "group": str(record.get("focus") or ""),
                "source_group": str(record.get("focus") or ""),
                "kind": ["medical knowledge", str(record["qtype"])],
                "data_class": "public",
                "provenance": {
                    "source": f"MedQuAD, {record.get('source') or 'source not stated'}",
                    "record": str(record["qid"]),
                    "licence": "CC-BY-4.0",
                },
            }
        )


_OPTION_FIELDS = ("opa", "opb", "opc", "opd")


class MedMCQA(Loader):
    """MedMCQA: `{question, opa, opb, opc, opd, cop, choice_type}`, one object a line.

    `cop` is the place of the right option: from 1 to 4 in the authors' files, from 0 to 3 in copies on data hubs
    (`first_place` sees which). A question with `choice_type` "multi" may have several right
    answers, of which the file names one; it is left out (MultiCogEval, appendix A.1).
    """

    TITLE = "MedMCQA JSONL, one object with question, opa to opd and cop a line"

    def __init__(self) -> None:
        self._first: int | None = None

    def knows(self, record: Json) -> float:
        """Match an object with the four options and the place of the right one."""
        return float(isinstance(record, dict) and {"question", "cop", *_OPTION_FIELDS} <= record.keys())

    def of_file(self, records: Iterable[Json]) -> "MedMCQA":
        """The loader that knows where this file begins to count."""
        known = copy(self)
        known._first = first_place(records, lambda record: (record.get("cop"), len(_OPTION_FIELDS)))
        return known

    def case(self, number: int, name: str, record: Json) -> QuestionItem:
        """The item of a record; raises Refused for several right answers, and for a place that cannot be read."""
        if str(record.get("choice_type") or "single") != "single":
            raise Refused([("choice_type", f"{SEVERAL_RIGHT}: {record['choice_type']!r}")])
        if self._first is None:
            why = "whether places count from 0 or from 1 cannot be told: the file has both 0 and 4, or neither"
            raise Refused([("cop", why)])
        place = record["cop"]
        if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place - self._first < len(_OPTION_FIELDS):
            raise Refused([("cop", f"{place!r} is no place from {self._first} to {self._first + 3}")])
        return QuestionItem.model_validate(
            {
                "id": str(record.get("id") or f"medmcqa-{number:05d}"),
                "form": "choice",
                "question": record["question"],
                "options": [record[field] for field in _OPTION_FIELDS],
                "truth": {"option": place - self._first, "rationale": record.get("exp") or ""},
                "kind": [str(record[field]) for field in ("subject_name", "topic_name") if record.get(field)],
                "data_class": "public",
                "provenance": {"source": "MedMCQA", "record": str(record.get("id", number)), "licence": "MIT"},
            }
        )


def first_place(
    records: Iterable[Json], place_and_count: Callable[[Mapping[str, Json]], tuple[Json, int]]
) -> int | None:
    """Whether a file counts the places of right options from 0 or from 1; None if it cannot be seen.

    It is seen if only one of 0 and the number of options occurs as a place. `place_and_count` gives both of a record.
    """
    has_zero = has_last = False
    for record in records:
        place, count = place_and_count(record) if isinstance(record, dict) else (None, 0)
        if isinstance(place, int) and not isinstance(place, bool):
            has_zero |= place == 0
            has_last |= place == count
    return None if has_zero is has_last else int(has_last)
