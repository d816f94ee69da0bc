"""The exports to Parquet: tables of episodes, turns and scores, and a folder that `datasets` loads."""

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, contextmanager
from pathlib import Path

import duckdb
import msgspec

from wardround.engine.batch import rare_collection
from wardround.engine.errors import LogError, UsageError
from wardround.engine.events import Closed, Opened, Reopened, check_log, effective
from wardround.engine.records import EpisodeRow, Json, Score, Usage
from wardround.exchange.encounters import (
    Encounter,
    StoredEncounter,
    chats,
    encounters,
    model_name,
    opening_and_target,
    stored_encounters,
)
from wardround.runs.stored_run import Run

_TEXT, _WHOLE, _NUMBER = "VARCHAR", "BIGINT", "DOUBLE"
_WHICH = {"run": _TEXT, "episode": _TEXT, "case": _TEXT, "repeat": _WHOLE}
TABLES: Mapping[str, Mapping[str, str]] = {
    "episodes": {
        **_WHICH,
        "scenario": _TEXT,
        "seed": _WHOLE,
        "cause": _TEXT,
        "reason": _TEXT,
        "detail": _TEXT,
        "answer": _TEXT,
        "began": _NUMBER,
        "ended": _NUMBER,
        "turns": _WHOLE,
        "calls": _WHOLE,
        "prompt_tokens": _WHOLE,
        "completion_tokens": _WHOLE,
        "cost": _NUMBER,
    },
    "turns": {
        **_WHICH,
        "seq": _WHOLE,
        "at": _NUMBER,
        "seat": _TEXT,
        "verb": _TEXT,
        "text": _TEXT,
        "thinking": _TEXT,
        "args": _TEXT,
        "finish": _TEXT,
        "model": _TEXT,
        "calls": _WHOLE,
        "prompt_tokens": _WHOLE,
        "completion_tokens": _WHOLE,
        "cost": _NUMBER,
        "latency": _NUMBER,
    },
    "scores": {**_WHICH, "score": _TEXT, "value": _NUMBER, "score_reason": _TEXT, "evidence": f"{_WHOLE}[]"},
}
"""The columns of each table with their types in DuckDB; times are seconds since 1970, arguments and answers JSON."""

_DIALOGUE = {
    **_WHICH,
    "ending": _TEXT,
    "input": _TEXT,
    "target": _TEXT,
    "messages": "STRUCT(role VARCHAR, content VARCHAR, reasoning_content VARCHAR)[]",
    "scores": "STRUCT(name VARCHAR, value DOUBLE, reason VARCHAR)[]",
}
_TRAIN = "data/train-00000-of-00001.parquet"
_CARD = """---
configs:
- config_name: default
  data_files:
  - split: train
    path: data/train-*
---

# {run}

{episodes} episodes of the run `{run}` (scenario {scenario}, {seat}: {model}), written by `wardround export --to hf`.
Each row is one episode: the chat of the {seat} (`messages`), the right answer (`target`), and the scores, where a
`value` of null means that there is no such score, for the `reason` beside it.
"""


async def write_tables(run: Run, folder: Path) -> int:
    """Write `episodes.parquet`, `turns.parquet` and `scores.parquet` into a folder; returns the number of turns."""
    with _spools(TABLES, folder) as files:
        return await _spool(run, files)


async def write_turns(run: Run, path: Path) -> int:
    """Write only the table of turns, to one file; returns their number."""
    with tempfile.TemporaryDirectory(dir=path.parent, prefix=f".{path.name}.") as place:
        with _spools({"turns": TABLES["turns"]}, Path(place)) as files:
            turns = await _spool(run, files)
        made = Path(place) / "turns.parquet"
        made.chmod(0o600 if run.restricted else 0o644)
        made.replace(path)
    return turns


async def write_dataset(run: Run, seat: str, folder: Path) -> int:
    """Write a folder that `datasets.load_dataset` reads, with a card; returns the number of episodes."""
    count = 0
    (folder / "data").mkdir()
    with _spools({"train": _DIALOGUE}, folder / "data") as files:
        async with aclosing(encounters(run)) as every:
            async for one in every:
                files["train"].add([await _dialogue(run, seat, one)])
                count += 1
    (folder / "data" / "train.parquet").replace(folder / _TRAIN)
    model = model_name(run.header.seats.get(seat))
    facts = {"run": run.name, "scenario": run.header.scenario.name, "seat": seat, "model": model}
    (folder / "README.md").write_text(_CARD.format(episodes=count, **facts), encoding="utf-8")
    return count


_TOGETHER = 256
"""Rows that are encoded together."""


class _Lines:
    """JSON lines on their way into a table; DuckDB must know the longest."""

    def __init__(self, path: Path) -> None:
        self.path, self.longest, self._file = path, 0, path.open("wb")
        self._waiting: list[Mapping[str, Json] | _Turn] = []
        self._encode = msgspec.json.Encoder().encode_lines

    def add(self, rows: Sequence["Mapping[str, Json] | _Turn"]) -> None:
        self._waiting += rows
        if len(self._waiting) >= _TOGETHER:
            self._write()

    def _write(self) -> None:
        lines = self._encode(self._waiting)
        self._waiting = []
        self._file.write(lines)
        if len(lines) > _SMALLEST // 2:  # only then can one of them be too long for DuckDB's usual buffer
            self.longest = max(self.longest, *map(len, lines.split(b"\n")))

    def close(self) -> None:
        self._write()
        self._file.close()


@contextmanager
def _spools(tables: Mapping[str, Mapping[str, str]], folder: Path) -> Iterator[dict[str, _Lines]]:
    """Lines for each table; at the end DuckDB turns each file of them into Parquet, and they are removed."""
    with rare_collection(), tempfile.TemporaryDirectory(dir=folder, prefix=".lines.") as place:
        every = {name: _Lines(Path(place) / name) for name in tables}
        try:
            yield every
        finally:
            for lines in every.values():
                lines.close()
        with duckdb.connect(config={"temp_directory": place, "threads": 1}) as database:
            for name, columns in tables.items():
                _write_parquet(database, every[name], columns, folder / f"{name}.parquet")


_SMALLEST = 1 << 21
"""Bytes of a line that DuckDB has room for at least; it holds several buffers of twice that size."""


def _write_parquet(database: duckdb.DuckDBPyConnection, lines: _Lines, columns: Mapping[str, str], out: Path) -> None:
    room = max(_SMALLEST, 2 * lines.longest)
    try:
        read = database.read_json(
            str(lines.path), columns=dict(columns), format="newline_delimited", maximum_object_size=room
        )
        read.write_parquet(str(out), compression="zstd")
    except duckdb.Error as error:
        raise UsageError(f"{out} cannot be written: {str(error).splitlines()[0]}") from error


async def _spool(run: Run, files: Mapping[str, _Lines]) -> int:
    models = {seat: model_name(header) for seat, header in run.header.seats.items()}
    turns = 0
    async with aclosing(stored_encounters(run)) as every:
        async for some in every:
            for one in some:
                with run.naming(one.row.id):
                    events = _decode(one)
                    made = _turns(one.row, events, run.name, models)
                turns += len(made)
                files["turns"].add(made)
                if "episodes" in files:
                    which = {"run": run.name, "episode": one.row.id, "case": one.row.case, "repeat": one.row.repeat}
                    files["episodes"].add([{**which, **_episode(one.row, events, len(made))}])
                    files["scores"].add([{**which, **row} for row in _scores(one.scores)])
    return turns


_NO_TEXT, _NO_ARGUMENTS = msgspec.Raw(b'""'), msgspec.Raw(b"{}")


# Calls and actions with what the tables show of them. The rest of the log is not decoded, and texts go on as the JSON
# that they are stored as.
class _Reply(msgspec.Struct, gc=False):
    text: msgspec.Raw
    thinking: msgspec.Raw = _NO_TEXT
    model: str = ""
    usage: Usage = Usage()
    latency: float = 0.0


class _Called(msgspec.Struct, gc=False, tag_field="kind", tag="called"):
    seq: int
    seat: str
    reply: _Reply | None = None


class _Words(msgspec.Struct, gc=False):
    verb: str
    text: msgspec.Raw = _NO_TEXT
    thinking: msgspec.Raw = _NO_TEXT
    args: msgspec.Raw = _NO_ARGUMENTS


class _Acted(msgspec.Struct, gc=False, tag_field="kind", tag="acted"):
    seq: int
    at: float
    seat: str
    action: _Words
    of: int = -1
    finish: str = ""


_Event = Opened | _Called | _Acted | Closed | Reopened
_event: msgspec.json.Decoder[_Event] = msgspec.json.Decoder(_Event)


def _decode(one: StoredEncounter) -> list[_Event]:
    """The checked events of an episode; raises LogError if one was altered, is missing or cannot be read."""
    check_log(one.log, one.row)
    decode, events = _event.decode, list[_Event]()
    try:
        for row in one.log:
            events.append(decode(row.body))
    except msgspec.DecodeError as error:
        raise LogError(f"event {len(events)} cannot be read: {error}", len(events)) from error
    return events


class _Turn(msgspec.Struct, gc=False, omit_defaults=True):
    """A row of the table of turns; what is left out of its JSON becomes NULL."""

    run: str
    episode: str
    case: str
    repeat: int
    seq: int
    at: float
    seat: str
    verb: str
    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int
    text: msgspec.Raw
    thinking: msgspec.Raw | None = None
    args: str | None = None
    finish: str | None = None
    cost: float | None = None
    latency: float | None = None


def _turns(row: EpisodeRow, events: Sequence[_Event], run: str, models: Mapping[str, str]) -> list[_Turn]:
    turns, replies = list[_Turn](), list[tuple[str, _Reply]]()
    name, case, repeat = row.id, row.case, row.repeat
    for event in effective(events):
        if type(event) is _Called:
            if event.reply is not None:
                replies.append((event.seat, event.reply))
            continue
        if type(event) is _Acted:
            said: _Words | _Reply = event.action if event.of < 0 else _reply_of(event, events)
            action, seat, raw = event.action, event.seat, event.action.args
            turn = _Turn(
                run,
                name,
                case,
                repeat,
                event.seq,
                event.at,
                seat,
                action.verb,
                models.get(seat, ""),
                0,
                0,
                0,
                said.text,
                said.thinking if said.thinking != _NO_TEXT else None,
                str(raw, "utf-8") if raw != _NO_ARGUMENTS else None,
                event.finish or None,
            )
            turns.append(turn)
            if replies:
                _add_calls(turn, [reply for whose, reply in replies if whose == seat])
        replies = []
    return turns


def _reply_of(event: _Acted, events: Sequence[_Event]) -> _Reply:
    """The reply that an action repeats, whose words the stored form of the action leaves out."""
    called = events[event.of]
    if not isinstance(called, _Called) or called.reply is None:
        raise LogError(f"event {event.seq} rests on event {event.of}, which is not an answered call", seq=event.seq)
    return called.reply


def _add_calls(turn: _Turn, replies: Sequence[_Reply]) -> None:
    if replies:
        usage = sum((reply.usage for reply in replies), Usage(cost=0))
        turn.model, turn.calls = replies[-1].model or turn.model, len(replies)
        turn.prompt_tokens, turn.completion_tokens, turn.cost = usage.prompt, usage.completion, usage.cost
        turn.latency = sum(reply.latency for reply in replies)


def _episode(row: EpisodeRow, events: Sequence[_Event], turns: int) -> dict[str, Json]:
    opened, last = events[0], events[-1]
    if not isinstance(opened, Opened):
        raise LogError("an episode starts with an `opened` event", 0)
    ending = last.ending if isinstance(last, Closed) else None
    answer = ending.facts.get("answer") if ending else None
    calls = [event for event in events if isinstance(event, _Called)]
    usage = sum((call.reply.usage for call in calls if call.reply), Usage(cost=0))
    return {
        "scenario": opened.scenario,
        "seed": opened.seed,
        "cause": row.cause,
        "reason": row.reason,
        "detail": ending.detail if ending else None,
        "answer": msgspec.json.encode(answer).decode() if answer else None,
        "began": opened.at,
        "ended": last.at if isinstance(last, Closed) else None,
        "turns": turns,
        "calls": len(calls),
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "cost": usage.cost,
    }


def _scores(scores: Mapping[str, Score]) -> Iterator[dict[str, Json]]:
    for name, score in scores.items():
        yield {"score": name, "value": score.value, "score_reason": score.reason, "evidence": list(score.evidence)}


async def _dialogue(run: Run, seat: str, one: Encounter) -> dict[str, Json]:
    opening, target = await opening_and_target(run, one.row.case)
    return {
        "run": run.name,
        "episode": one.row.id,
        "case": one.row.case,
        "repeat": one.row.repeat,
        "ending": one.ending,
        "input": opening,
        "target": target,
        "messages": [
            {name: message.get(name) for name in ("role", "content", "reasoning_content")}
            for message in (await chats(run, one.trajectory, seat))[-1]
        ],
        "scores": [{"name": name, "value": score.value, "reason": score.reason} for name, score in one.scores.items()],
    }


@contextmanager
def new_folder(path: Path, names: Sequence[str], *, private: bool = False) -> Iterator[Path]:
    """A folder to write into, which takes the place of `path` when the block ends well; else nothing stays.

    An earlier export in its place, which holds nothing but `names`, is replaced. Raises UsageError if anything else is
    there, or if the folder cannot be written.
    """
    if path.exists() and not (path.is_dir() and {one.name for one in path.iterdir()} <= set(names)):
        raise UsageError(f"{path} is there already, and no earlier export of this kind; name another --out")
    half = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        half.mkdir(parents=True, mode=0o700 if private else 0o777)
        yield half
        if path.exists():
            shutil.rmtree(path)
        half.replace(path)
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror or error}; name another --out") from error
    finally:
        shutil.rmtree(half, ignore_errors=True)
