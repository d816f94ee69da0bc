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
from wardround.engine.errors import UsageError
from wardround.engine.events import Acted, Called, effective
from wardround.engine.records import Json, Usage
from wardround.exchange.encounters import Encounter, chats, encounters, model_name, opening_and_target
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
`value` of null means that the score could not be had, for the `reason` beside it.
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
    async with aclosing(encounters(run)) as every:
        async for one in every:
            made = _turns(one, run.name, models)
            turns += len(made)
            files["turns"].add(made)
            if "episodes" in files:
                which = {"run": run.name, "episode": one.row.id, "case": one.row.case, "repeat": one.row.repeat}
                files["episodes"].add([{**which, **_episode(one, len(made))}])
                files["scores"].add([{**which, **row} for row in _scores(one)])
    return turns


class _Turn(msgspec.Struct, gc=False):
    """A row of the table of turns."""

    run: str
    episode: str
    case: str
    repeat: int
    seq: int
    at: float
    seat: str
    verb: str
    text: str
    thinking: str | None
    args: str | None
    finish: str | None
    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency: float | None = None


def _turns(one: Encounter, run: str, models: Mapping[str, str]) -> list[_Turn]:
    row, turns, calls = one.row, list[_Turn](), list[Called]()
    name, case, repeat = row.id, row.case, row.repeat
    for event in effective(one.trajectory.events):
        if type(event) is Called:
            calls.append(event)
            continue
        if type(event) is Acted:
            action, seat = event.action, event.seat
            args = _encode(action.args).decode() if action.args else None
            thinking, finish, model = action.thinking or None, event.finish or None, models.get(seat, "")
            turn = _Turn(
                run,
                name,
                case,
                repeat,
                event.seq,
                event.at,
                seat,
                action.verb,
                action.text,
                thinking,
                args,
                finish,
                model,
            )
            turns.append(turn)
            if replies := [call.reply for call in calls if call.reply and call.seat == seat]:
                usage = sum((reply.usage for reply in replies), Usage(cost=0))
                turn.model, turn.calls = replies[-1].model or model, len(replies)
                turn.prompt_tokens, turn.completion_tokens, turn.cost = usage.prompt, usage.completion, usage.cost
                turn.latency = sum(reply.latency for reply in replies)
        calls = []
    return turns


_encode = msgspec.json.Encoder().encode


def _spent(usage: Usage) -> dict[str, Json]:
    return {"prompt_tokens": usage.prompt, "completion_tokens": usage.completion, "cost": usage.cost}


def _episode(one: Encounter, turns: int) -> dict[str, Json]:
    events, ending, opened = one.trajectory.events, one.trajectory.ending, one.trajectory.opened
    answer = ending.facts.get("answer") if ending else None
    usage = one.trajectory.usage()
    return {
        "scenario": opened.scenario,
        "seed": opened.seed,
        "cause": one.row.cause,
        "reason": one.row.reason,
        "detail": ending.detail if ending else None,
        "answer": msgspec.json.encode(answer).decode() if answer else None,
        "began": events[0].at,
        "ended": events[-1].at if ending else None,
        "turns": turns,
        "calls": sum(1 for _ in one.trajectory.called()),
        **_spent(usage),
    }


def _scores(one: Encounter) -> Iterator[dict[str, Json]]:
    for name, score in one.scores.items():
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

    An earlier export in its place, which holds nothing but `names`, is replaced. Raises UsageError otherwise.
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
