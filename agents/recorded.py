"""Agents that play recorded replies or actions, and the reader for files of replies."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

import msgspec

from wardround.engine.episode import Ended
from wardround.engine.errors import UsageError
from wardround.engine.models.reply import split_thinking
from wardround.engine.records import Action, Ending, Json, View
from wardround.engine.text import count_noun, file_text, read_json

# Replies of o3-mini in the published MedR-Bench results come from its web page: a first line "> Reasoning", a summary
# of the model's reasoning (which has its own headings, so headings do not mark its end), and a line with its duration.
_OPEN = re.compile(r"\s*> Reasoning[ \t]*\n")
_CLOSE = re.compile(r"^Reasoned (?:for|about) [^\n.,]{1,40}$\n?", re.MULTILINE)


def split_reply(content: str, thinking: str = "") -> tuple[str, str]:
    """(answer, thinking) of a recorded reply; `thinking` is the part that the recording already keeps apart.

    A `<think>` block at the beginning and a web page's "> Reasoning" section count as thinking. Content with neither is
    the answer, word for word, even if it reasons aloud, because that is what the model said.
    """
    answer, within = split_thinking(content)
    opened = _OPEN.match(answer)
    closed = _CLOSE.search(answer, opened.end()) if opened else None
    if opened and closed:
        within = "\n\n".join(part for part in (within, answer[opened.end() : closed.start()].strip()) if part)
        answer = answer[closed.end() :].lstrip()
    return answer, "\n\n".join(part for part in (thinking.strip(), within) if part)


def turn_count(view: View) -> int:
    """The number of turns that this seat has had, by its memo, or else (if another agent had the seat) by its words."""
    if isinstance(view.memo, dict):
        taken = view.memo.get("next")
        if isinstance(taken, int) and taken >= 0:
            return taken
    return sum(said.seat == view.seat for said in view.heard)


def next_turn_memo(view: View) -> dict[str, Json]:
    """The memo for the present turn."""
    return {"next": turn_count(view) + 1}


LINE = '{"case_id": "wa-001", "replies": ["first", "second"]}'
_CASE = ("case_id", "case", "episode")
_TYPED = ('{"order":', '{"conclude":')
"""The beginnings of actions without text in an export."""
_LINES = (".jsonl", ".ndjson")
EXHAUSTED = "replies_exhausted"
BUNDLED = {"bundled": "bundled.jsonl", "bundled:questions": "questions.jsonl"}
"""Names that stand for bundled files: replies of two invented authors to the bundled case reports and questions."""
_BUNDLED_FOLDER = Path(str(files("wardround.agents") / "data" / "replies"))


class RecordedReply(msgspec.Struct, frozen=True):
    """A doctor's reply in one turn, with answer (`text`) and thinking apart."""

    text: str
    thinking: str = ""


class Replies:
    """Plays the nth recorded reply at its nth turn.

    ::

        wardround run --scenario questions --cases bundled:questions --doctor replies:bundled:questions#careful

    After the last recorded reply the episode ends by this seat, `replies_exhausted`, without a score, because the end
    of the recording is not the recorded model's fault. The answer to a warning is an empty reply: the last reply could
    not be used, and the rules decide what follows.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, replies: Sequence[RecordedReply]) -> None:
        self._replies = replies

    async def act(self, view: View) -> Action:
        """The next reply; raises Ended after the last."""
        turn, count = turn_count(view), len(self._replies)
        if turn < count:
            reply = self._replies[turn]
        elif view.heard and view.heard[-1].verb == "warning":
            reply = RecordedReply("")
        else:
            detail = f"{count} {'reply was' if count == 1 else 'replies were'} recorded, and the encounter goes on"
            raise Ended(Ending(view.seat, EXHAUSTED, detail))
        return Action("reply", reply.text, thinking=reply.thinking, memo=next_turn_memo(view))


class _Entry(msgspec.Struct, frozen=True):
    """The replies of one model to one case; `where` names the place in the file."""

    where: str
    case: str
    model: str
    replies: tuple[RecordedReply, ...]


def read_replies(path: Path, model: str | None = None) -> dict[str, tuple[RecordedReply, ...]]:
    """Read the replies of `model` by case id, from a file of one of these kinds:

    - our JSONL: `{"case_id": str, "replies": [...], "model": str}` on each line, where a reply is a text or
      `{"text": str, "thinking": str}`. The fields `thinking` and `model` are optional.
    - chats, as `wardround export --dialogues` writes them: `{"case": str, "messages": [{"role": str, "content": str}]}`
      on each line. The assistant's messages are the replies. The case may also be `case_id`, or `episode` CASE@N.
    - one JSON object `{case: [reply, ...]}`.
    - MedR-Bench results (github.com/MAGIC-AI4Med/MedRBench): `{case: {"results": REPLY}}` of one model, or
      `{case: {model: REPLY}}` of several, with REPLY `{"content": str, "thinking_process": str}`.

    The paths `bundled` and `bundled:questions` stand for files that come with the package (give a file of such a name
    by its whole path).

    A case without replies (an empty list, or null as content) is left out. Raises UsageError naming file, place and
    field, also if the file has several models and `model` names none of them.
    """
    ours = BUNDLED.get(str(path))
    text = file_text(_BUNDLED_FOLDER / ours if ours else path, "replies")
    if not text.strip():
        raise UsageError(f"replies {path} is empty")
    entries = _choose_model(
        path, list(_own_entries(path, text) if _is_own(path, text) else _results(path, text)), model
    )
    by_case: dict[str, _Entry] = {}
    for entry in entries:
        if entry.case in by_case:
            raise UsageError(
                f"{entry.where}: case {entry.case!r} has replies already, at {by_case[entry.case].where}: a file has "
                "one list a case (of chats with repeats keep one repeat; recorded:RUN plays them all)"
            )
        by_case[entry.case] = entry
    return {case: entry.replies for case, entry in by_case.items() if entry.replies}


def _choose_model(path: Path, entries: list[_Entry], model: str | None) -> list[_Entry]:
    """The entries of the requested model; raises UsageError."""
    if not entries:
        raise UsageError(
            f"replies {path} holds no replies: no case has a `results`, a model's or a `replies` field "
            f"(a line of our own is {LINE})"
        )
    models = sorted({entry.model for entry in entries})
    if model is None:
        if len(models) == 1:
            return entries
        raise UsageError(
            f"replies {path} holds {count_noun(len(models), 'model')}; name one as replies:{path}#MODEL: "
            f"{', '.join(name or '(unnamed)' for name in models)}"
        )
    if model in models:
        return [entry for entry in entries if entry.model == model]
    if models == [""] and model in path.stem.split("__"):  # the published results name their model in the file's name
        return entries
    there = ", ".join(models) if models != [""] else "one model, whose name it does not say: leave out #MODEL"
    raise UsageError(f"replies {path} does not hold model {model!r}; it holds: {there}")


def _is_own(path: Path, text: str) -> bool:
    if path.suffix in _LINES:
        return True
    try:
        first = json.loads(text.lstrip().split("\n", 1)[0])
    except ValueError:
        return False
    return isinstance(first, dict) and not first.keys().isdisjoint(("case_id", "replies", "messages"))


def _own_entries(path: Path, text: str) -> Iterator[_Entry]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        row = read_json(path, line, f"line {number}")
        if isinstance(row, dict) and "messages" in row:
            yield _chat(row, where)
            continue
        _fields(row, where, ("case_id", "replies"), ("model",))
        yield _Entry(
            where, _text(row, "case_id", where), _optional(row, "model", where), _reply_list(row, "replies", where)
        )


def _chat(row: dict[str, Json], where: str) -> _Entry:
    """The replies of a chat: the assistant's messages."""
    name = next((name for name in _CASE if name in row), "case_id")
    _fields(row, where, (name, "messages"), (*_CASE, "repeat", "model"))
    case = _text(row, name, where)
    replies = []
    for index, message in enumerate(_list(row, "messages", where)):
        place = f"{where}, messages[{index}]"
        if not isinstance(message, dict) or "role" not in message or "content" not in message:
            raise UsageError(f"{place}: expected an object with the fields `role` and `content`")
        if message["role"] != "assistant":
            continue
        text = _text(message, "content", place)
        if text.startswith(_TYPED):
            raise UsageError(f"{place}: is a typed action, which is not a reply; recorded:RUN plays what that run did")
        replies.append(RecordedReply(*split_reply(text, "")))
    return _Entry(
        where, case.rpartition("@")[0] if name == "episode" else case, _optional(row, "model", where), tuple(replies)
    )


def _reply_list(row: Mapping[str, Json], name: str, where: str) -> tuple[RecordedReply, ...]:
    return tuple(_own_reply(reply, f"{where}, {name}[{index}]") for index, reply in enumerate(_list(row, name, where)))


def _list(row: Mapping[str, Json], name: str, where: str) -> list[Json]:
    value = row[name]
    if not isinstance(value, list):
        raise UsageError(f"{where}: `{name}` must be a list, not {_kind(value)}")
    return value


def _own_reply(reply: Json, where: str) -> RecordedReply:
    if isinstance(reply, str):
        return RecordedReply(*split_reply(reply, ""))
    fields = _fields(reply, where, ("text",), ("thinking",))
    return RecordedReply(*split_reply(_text(fields, "text", where), _optional(fields, "thinking", where)))


def _results(path: Path, text: str) -> Iterator[_Entry]:
    cases = read_json(path, text)
    if not isinstance(cases, dict):
        raise UsageError(f"replies {path}: expected an object of cases, or lines {LINE}; it is {_kind(cases)}")
    for case, fields in cases.items():
        where = f"{path}, case {case}"
        if isinstance(fields, list):
            yield _Entry(where, case, "", _reply_list(cases, case, where))
            continue
        if not isinstance(fields, dict):
            raise UsageError(f"{where}: expected an object, not {_kind(fields)}")
        named = (
            {"": fields["results"]}
            if "results" in fields
            else {name: value for name, value in fields.items() if isinstance(value, dict) and "content" in value}
        )
        for model, reply in named.items():
            place = f"{where}, {model or 'results'}"
            if not isinstance(reply, dict) or "content" not in reply:
                raise UsageError(f"{place}: expected an object with the field `content`")
            if reply["content"] is None:
                continue
            said = split_reply(_text(reply, "content", place), _optional(reply, "thinking_process", place))
            yield _Entry(place, case, model, (RecordedReply(*said),))


def _fields(value: Json, where: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> dict[str, Json]:
    """`value` as an object with these fields and no others; raises UsageError."""
    if not isinstance(value, dict):
        raise UsageError(f"{where}: expected an object, not {_kind(value)}")
    for name in needed:
        if name not in value:
            near = get_close_matches(name, [other for other in value if other not in needed], 1)
            hint = f"; did you mean it by `{near[0]}`?" if near else ""
            raise UsageError(f"{where}: the field `{name}` is missing{hint} (a line is {LINE})")
    for name in value:
        if name not in (*needed, *optional):
            raise UsageError(f"{where}: unknown field `{name}`; there are: {', '.join((*needed, *optional))}")
    return value


def _text(fields: Mapping[str, Json], name: str, where: str) -> str:
    value = fields[name]
    if not isinstance(value, str):
        raise UsageError(f"{where}: `{name}` must be text, not {_kind(value)}")
    return value


def _optional(fields: Mapping[str, Json], name: str, where: str) -> str:
    return "" if fields.get(name) is None else _text(fields, name, where)


def _kind(value: Json) -> str:
    return {dict: "an object", list: "a list", str: "text", bool: "true or false", type(None): "null"}.get(
        type(value), "a number"
    )


class ActionReplay:
    """Plays recorded actions in their order; their memos were another agent's and are left out.

    After the last recorded action the episode ends by this seat, `replies_exhausted`, as with recorded replies.
    """

    sealed: ClassVar[bool] = True

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions

    async def act(self, view: View) -> Action:
        """The next action; raises Ended when there is none left."""
        turn = turn_count(view)
        if turn >= len(self._actions):
            detail = (
                f"{view.seat} took {len(self._actions)} actions in the recorded episode, and is asked for one more: "
                "this encounter takes another course"
            )
            raise Ended(Ending(view.seat, EXHAUSTED, detail))
        return msgspec.structs.replace(self._actions[turn], memo=next_turn_memo(view))


class ImportedTurns(ActionReplay):
    """Plays the turns of imported results; their memos say whose turn came next and stay.

    The answer to a warning after the last of them is an empty reply, as with recorded replies.
    """

    async def act(self, view: View) -> Action:
        """The next turn; raises Ended when there is none left."""
        turn = turn_count(view)
        if turn < len(self._actions):
            action = self._actions[turn]
            kept = action.memo if isinstance(action.memo, dict) else {}
            return msgspec.structs.replace(action, memo={**kept, **next_turn_memo(view)})
        if view.heard and view.heard[-1].verb == "warning":
            return Action("reply", memo=next_turn_memo(view))
        return await super().act(view)
