"""The records that the readers of all formats return: results, each one trajectory of one case, and faults."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from wardround.engine.errors import UsageError
from wardround.engine.records import Action, Json, Score
from wardround.scenarios.loaders.source import Refused
from wardround.scenarios.question_item import QuestionItem

MOST = 20
"""The most faults of a file that a message lists."""
SEATS_BY_ROLE: Mapping[str, str] = {
    "doctor": "doctor",
    "assistant": "doctor",
    "agent": "doctor",
    "model": "doctor",
    "patient": "patient",
    "user": "patient",
    "human": "patient",
    "system": "patient",
    "examiner": "examiner",
    "measurement": "examiner",
    "tool": "examiner",
    "function": "examiner",
}
"""The seat of a speaker, by the words that formats use."""


class Turn(msgspec.Struct, frozen=True):
    """What a seat did."""

    seat: str
    action: Action


class Result(msgspec.Struct, frozen=True):
    """One imported trajectory: where it stands, its case, its turns, what is known of the truth, and its scores.

    `repeat` is 0 if the source does not number repeats, `ordinal` the place of the case in its data set (-1: unknown).
    `item` is the question, if it is one. A result without turns holds only scores, for a trajectory of the same case in
    another file. `lost` says why a trajectory has no word of the doctor; it is left out and counted.
    """

    where: str
    case: str
    turns: Sequence[Turn] = ()
    repeat: int = 0
    ordinal: int = -1
    opening: str = ""
    diagnosis: str = ""
    treatment: str = ""
    model: str = ""
    scores: Sequence[Score] = ()
    item: QuestionItem | None = None
    lost: str = ""


class UnreadableField(Refused):
    """A record that cannot be read because of one `field`, which is "" for the record as a whole."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__([(field, message)])


NO_COLUMNS: Mapping[str, str] = {}


def read_all(
    path: Path, readers: Iterable[tuple[str, Callable[[], Result]]], columns: Mapping[str, str] = NO_COLUMNS
) -> list[Result]:
    """The results of all records of a file; `readers` are (place, function that reads the record there).

    Raises UsageError with the first faults of all records (Refused, or ValueError), so that they are seen at once.
    `columns` has the names that the file uses for fields.
    """
    problems, read = list[str](), list[Result]()
    for place, reader in readers:
        try:
            read.append(reader())
        except Refused as error:
            for field, message in error.faults:
                named = f"`{columns.get(field, field)}` " if field else ""
                problems.append(f"{path}, {place}: {named}{message}")
        except ValueError as error:
            problems.append(f"{path}, {place}: {error}")
    if problems:
        more = f"\n({len(problems) - MOST} more)" if len(problems) > MOST else ""
        raise UsageError("\n".join(problems[:MOST]) + more)
    return read


def origin_name(name: str) -> str:
    """The name of a score that the origin gave."""
    return name if name.startswith("origin_") else f"origin_{name}"


def chat_turns(messages: Iterable[Mapping[str, Json]]) -> tuple[str, list[Turn]]:
    """(opening, turns) of a chat: what stands before the first words of the assistant is the opening.

    Raises ValueError that names the first entry that is not a message.
    """
    opening: list[str] = []
    turns: list[Turn] = []
    for place, message in enumerate(messages):
        if not isinstance(message, Mapping) or not isinstance(message.get("role"), str):
            raise ValueError(f"messages[{place}] is not an object with `role` and `content`")
        seat = SEATS_BY_ROLE.get(message["role"])
        if seat is None:
            raise ValueError(f"messages[{place}] has the unknown role {message['role']!r}")
        text, thinking = content_parts(message.get("content"))
        thinking = "\n\n".join(part for part in (str(message.get("reasoning_content") or ""), thinking) if part)
        calls = message.get("tool_calls")
        if seat != "doctor" and not turns:
            opening.append(text)
            continue
        if not text and calls:
            text = "\n".join(_as_words(call) for call in calls if isinstance(call, Mapping))
        turns.append(Turn(seat, Action("reply", text, {"tool_calls": calls} if calls else {}, thinking)))
    return "\n\n".join(part for part in opening if part), turns


def _as_words(call: Mapping[str, Json]) -> str:
    function = call.get("function")
    inside = function if isinstance(function, Mapping) else call
    name = inside.get("name") or function
    arguments = inside.get("arguments", {})
    return f"{name} {arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()}"


def content_parts(content: Json) -> tuple[str, str]:
    """(text, thinking) of the content of a message: a text, or parts of several types; an image is named as such."""
    if not isinstance(content, list):
        return ("" if content is None else str(content)), ""
    text, thinking = [], []
    for part in content:
        kind = part.get("type") if isinstance(part, Mapping) else None
        if kind == "reasoning":
            thinking.append(str(part.get("reasoning", "")))
        elif kind == "text":
            text.append(str(part.get("text", "")))
        else:
            text.append(f"[{kind or 'part'}]")
    return "\n".join(text), "\n\n".join(thinking)
