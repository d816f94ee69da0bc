"""Reads own results: JSON lines and tables, one trajectory a row, whose columns `--map` names."""

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, Score
from wardround.engine.text import count_noun, file_text, read_json, table_rows_of
from wardround.exchange.result_record import (
    SEATS_BY_ROLE,
    Result,
    Turn,
    UnreadableField,
    chat_turns,
    origin_name,
    read_all,
)

FIELDS: Mapping[str, tuple[str, ...]] = {
    "case": ("case_id", "id", "sample_id", "question_id"),
    "repeat": ("epoch",),
    "turns": (),
    "messages": ("dialogue", "conversation"),
    "reply": ("response", "output", "completion", "prediction"),
    "thinking": ("reasoning", "reasoning_content"),
    "answer": ("final_answer", "predicted_diagnosis"),
    "opening": ("prompt", "input", "question"),
    "diagnosis": ("truth", "target", "gold", "reference", "label"),
    "treatment": ("gold_treatment",),
    "model": (),
}
"""The fields of a row, each with the names of columns that are taken for it where --map says nothing."""
SCORE = "score."
"""The beginning of the name of a field that is a score of the origin."""
_SAYS = ("turns", "messages", "reply", "answer")


def read_columns(values: Sequence[str]) -> dict[str, str]:
    """Maps fields to columns, from `COLUMN=FIELD` or `FIELD=COLUMN`, whichever side is a field; raises UsageError."""
    columns: dict[str, str] = {}
    for value in values:
        left, equals, right = value.partition("=")
        field, column = (right, left) if _is_field(right) else (left, right)
        if not equals or not _is_field(field) or not column:
            raise UsageError(f"--map {value}: write COLUMN=FIELD; the fields are {', '.join(FIELDS)} and {SCORE}NAME")
        if field in columns:
            raise UsageError(f"--map {value}: {field} is {columns[field]!r} already")
        columns[field] = column
    return columns


def _is_field(name: str) -> bool:
    return name in FIELDS or (name.startswith(SCORE) and len(name) > len(SCORE))


def map_columns(names: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """`columns`, completed: each other field gets the column of its own name, or of one of its usual names."""
    taken = set(columns.values())
    made = dict(columns)
    for field, usual in FIELDS.items():
        if field not in made:
            column = next((name for name in (field, *usual) if name in names and name not in taken), "")
            if column:
                made[field] = column
                taken.add(column)
    made |= {name: name for name in names if name.startswith(SCORE) and name not in made and name not in taken}
    return made


def result_table_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, Mapping[str, Json]]]]:
    """(columns, rows with their lines) of a CSV or TSV file, without empty cells; raises UsageError if damaged."""
    text = file_text(path)
    table = table_rows_of(path, text)
    names = [name.strip() for name in next(table, (1, []))[1]]

    def rows() -> Iterator[tuple[int, Mapping[str, Json]]]:
        for at, row in table:
            if len(row) != len(names):
                raise UsageError(f"{path}, line {at}: has {count_noun(len(row), 'cell')}, and the header {len(names)}")
            yield at, {name: cell for name, cell in zip(names, row, strict=True) if cell.strip()}

    return names, rows()


def line_rows(path: Path) -> tuple[list[str], Iterator[tuple[int, Mapping[str, Json]]]]:
    """(fields, rows with their lines) of a file of JSON lines; the fields are those of all rows.

    Raises UsageError for a line that is not a JSON object.
    """
    rows = []
    for number, line in enumerate(file_text(path).split("\n"), 1):
        if line.strip():
            row = read_json(path, line, f"line {number}")
            if not isinstance(row, dict):
                raise UsageError(f"{path}, line {number}: is not a JSON object")
            rows.append((number, {name: value for name, value in row.items() if value is not None}))
    return list(dict.fromkeys(name for _, row in rows for name in row)), iter(rows)


def row_results(
    path: Path, rows: Iterator[tuple[int, Mapping[str, Json]]], columns: Mapping[str, str], model: str
) -> Iterator[Result]:
    """The trajectories of rows; raises UsageError with the line and the field of each fault."""
    if not any(field in columns for field in _SAYS):
        raise UsageError(
            f"{path}: no column says what the doctor said; name one: --map COLUMN=reply (or answer, messages, turns)"
        )
    lines = ((f"line {number}", partial(_result, path, number, row, columns, model)) for number, row in rows)
    yield from read_all(path, lines, columns)


def _result(path: Path, number: int, row: Mapping[str, Json], columns: Mapping[str, str], model: str) -> Result:
    fields = {field: row[column] for field, column in columns.items() if column in row}
    opening, turns = _turns(fields)
    if not any(turn.seat == "doctor" for turn in turns):
        raise UnreadableField(
            next((field for field in _SAYS if field in fields), "reply"), "holds no word of the doctor"
        )
    answer = fields.get("answer")
    goal = "treatment" if "treatment" in fields and "diagnosis" not in fields else "diagnosis"
    if answer:
        turns = _with_answer(turns, answer if isinstance(answer, dict) else {goal: _text(fields, "answer")})
    repeat = fields.get("repeat", 0)
    if isinstance(repeat, str) and repeat.isdecimal():
        repeat = int(repeat)
    if not isinstance(repeat, int) or isinstance(repeat, bool) or repeat < 0:
        raise UnreadableField("repeat", f"must be a whole number, not {repeat!r}")
    return Result(
        f"{path}, line {number}",
        _text(fields, "case") or f"row-{number:05d}",
        turns,
        repeat,
        opening=_text(fields, "opening") or opening,
        diagnosis=_text(fields, "diagnosis"),
        treatment=_text(fields, "treatment"),
        model=model or _text(fields, "model") or _own_model(row),
        scores=[*_scores(fields), *_own_scores(row)],
    )


def _turns(fields: Mapping[str, Json]) -> tuple[str, list[Turn]]:
    if "turns" in fields:
        return "", _own_turns(fields["turns"])
    if "messages" in fields:
        messages = fields["messages"]
        if isinstance(messages, str):  # a cell of a table
            messages = _json_cell("messages", messages)
        if not isinstance(messages, list):
            raise UnreadableField("messages", "must be a list of messages")
        try:
            return chat_turns(messages)
        except ValueError as error:
            raise UnreadableField("messages", str(error)) from error
    text = _text(fields, "reply") or (_text(fields, "answer") if isinstance(fields.get("answer"), str) else "")
    if not text.strip():
        raise UnreadableField("answer" if "answer" in fields else "reply", "is missing or empty")
    return "", [Turn("doctor", Action("reply", text, thinking=_text(fields, "thinking")))]


def _json_cell(field: str, text: str) -> Json:
    try:
        return read_json(Path("cell"), text)
    except UsageError as error:
        raise UnreadableField(field, f"is not a JSON list: {error}") from error


def _own_turns(turns: Json) -> list[Turn]:
    """The turns of our own export: {seat, verb, text, args, thinking}."""
    if isinstance(turns, str):
        turns = _json_cell("turns", turns)
    if not isinstance(turns, list):
        raise UnreadableField("turns", "must be a list of {seat, text}")
    made = []
    for place, turn in enumerate(turns):
        seat = SEATS_BY_ROLE.get(str(turn.get("seat"))) if isinstance(turn, dict) else None
        if seat is None or not isinstance(turn.get("text", ""), str) or not isinstance(turn.get("args", {}), dict):
            raise UnreadableField("turns", f"[{place}] is not a turn {{seat: doctor|patient|examiner, text}}")
        words, verb = turn.get("text", ""), str(turn.get("verb") or "reply")
        made.append(Turn(seat, Action(verb, words, turn.get("args", {}), str(turn.get("thinking") or ""))))
    while made and made[0].seat != "doctor":  # the doctor begins; the opening holds what came before
        made.pop(0)
    return made


def _with_answer(turns: Sequence[Turn], answer: Mapping[str, Json]) -> list[Turn]:
    """The turns, the doctor's last one with the answer among its arguments."""
    last = max(place for place, turn in enumerate(turns) if turn.seat == "doctor")
    action = turns[last].action
    stated = {name: text for name, text in answer.items() if isinstance(text, str) and text.strip()}
    concluding = Action(action.verb, action.text, {**action.args, **stated}, action.thinking)
    return [*turns[:last], Turn("doctor", concluding), *turns[last + 1 :]]


def _text(fields: Mapping[str, Json], name: str) -> str:
    value = fields.get(name, "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        raise UnreadableField(name, f"must be text, not {type(value).__name__}")
    return value


def _scores(fields: Mapping[str, Json]) -> Iterator[Score]:
    for name, value in fields.items():
        if name.startswith(SCORE):
            yield _score(name, name.removeprefix(SCORE), value)


def _own_model(row: Mapping[str, Json]) -> str:
    """The doctor's model in a line of our own export."""
    models = row.get("models")
    return str(models.get("doctor", "")).removeprefix("imported:") if isinstance(models, dict) else ""


def _own_scores(row: Mapping[str, Json]) -> Iterator[Score]:
    """The scores of a line of our own export, with their reasons."""
    values, reasons = row.get("scores"), row.get("reasons")
    if isinstance(values, dict) and isinstance(reasons, dict):
        for name, value in values.items():
            if value is None:
                yield Score(origin_name(name), None, str(reasons.get(name, "not_given")))
            else:
                yield _score("scores", name, value)


def _score(field: str, name: str, value: Json) -> Score:
    if isinstance(value, str):
        lowered = value.strip().lower()
        value = {"true": True, "yes": True, "false": False, "no": False}.get(lowered, lowered)
        try:
            value = float(value)
        except ValueError as error:
            raise UnreadableField(field, f"{lowered!r} is not a number") from error
    if not isinstance(value, bool | int | float) or not math.isfinite(value):
        raise UnreadableField(field, f"{value!r} is not a number")
    return Score(origin_name(name), float(value))
