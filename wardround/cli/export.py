"""`wardround export`: a run as files, for this program and others."""

import csv
import io
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import click
import msgspec
from click.core import ParameterSource

from wardround.cli.options import existing_store, output_file, store_option
from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.records import Json, Message
from wardround.engine.stores.files import exported_lines, output
from wardround.engine.text import count_noun, csv_cell, in_number
from wardround.engine.trajectory import Trajectory
from wardround.exchange.encounters import chat_of_words
from wardround.exchange.inspect_log import write_inspect_log
from wardround.exchange.lines import atif_lines, chat_lines, episode_lines, span_lines
from wardround.exchange.tables import TABLES, new_folder, write_dataset, write_tables, write_turns
from wardround.runs.stored_run import Run
from wardround.scoring.scorings import run_scores
from wardround.scoring.stored_scores import evidence

EXPORTED = ("parquet", "inspect", "atif", "otel", "hf", "chat", "jsonl")
_LINES: Mapping[str, Callable[[Run, str], AsyncIterator[bytes]]] = {
    "atif": atif_lines,
    "otel": span_lines,
    "chat": chat_lines,
    "jsonl": episode_lines,
}
_PLACES = {"parquet": "tables", "hf": "dataset", "inspect": "eval"}
"""The end of the default name of each export that is not a file of JSON lines."""
_SEATED = ("atif", "chat", "hf", "inspect")
"""Exports that show an episode from one seat."""


@click.command(short_help="Write a run to files, for other programs too.")
@click.argument("run")
@click.option(
    "--events", "what", flag_value="events", default=True, help="All events as JSONL (the default; can be imported)."
)
@click.option("--scores", "what", flag_value="scores", help="One row a score, as CSV.")
@click.option("--dialogues", "what", flag_value="dialogues", help="One chat an episode, as JSONL: {episode, messages}.")
@click.option(
    "--to",
    "form",
    type=click.Choice(EXPORTED),
    help="A form of other programs: Parquet tables, a log of Inspect, ATIF trajectories, OpenTelemetry spans, a folder "
    "for datasets, chats with rewards for fine-tuning, or one JSON line an episode.",
)
@click.option(
    "--seat", metavar="SEAT", help="With --dialogues, and with --to chat, atif, hf, inspect or otel; default doctor."
)
@click.option(
    "--restricted", is_flag=True, help="Write events or dialogues of restricted cases too: they hold the notes."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Default: RUN.events.jsonl and so on; - for standard output."
)
@store_option
def command(run: str, what: str, form: str | None, out: Path | None, store: str | None, **more: Any) -> None:
    """Write a run to files: events, scores, dialogues, or a form of other programs (docs/data.md).

    The scores of a run come from the last scoring of each evaluator; an evaluation (RUN~EVALUATOR) has its own scores.
    All but scores of restricted cases is written only with --restricted, to files that only you may read. What is
    interrupted leaves nothing behind.

    \b
    Example:  wardround export calm-heron-417
              wardround export calm-heron-417 --scores --out scores.csv
              wardround export calm-heron-417 --to parquet
    """
    if form is not None and click.get_current_context().get_parameter_source("what") is ParameterSource.COMMANDLINE:
        raise UsageError(f"--to {form} and --{what} are two forms: name one")
    wanted, seat = form or what, more["seat"]
    if seat is not None and wanted not in ("dialogues", "otel", *_SEATED):
        raise UsageError("--seat goes with --dialogues")
    export = Export(run, wanted, seat or "doctor", more["restricted"], output_file(out or _place(run, wanted)))
    count = anyio.run(lambda: _write(export, store))
    if str(export.path) != "-":
        echo(f"{count_noun(count, export.unit)} in {export.path}")


def _place(run: str, wanted: str) -> Path:
    if wanted in _PLACES:
        return Path(f"{run}.{_PLACES[wanted]}")
    return Path(f"{run}.jsonl" if wanted == "jsonl" else f"{run}.{wanted}.{'csv' if wanted == 'scores' else 'jsonl'}")


class Export(NamedTuple):
    """An export: the run, its form, the seat it shows an episode from, and the place to write to."""

    run: str
    wanted: str
    seat: str
    restricted: bool
    path: Path

    @property
    def unit(self) -> str:
        """The noun for what the export counts."""
        return {"parquet": "turn", "inspect": "sample", "hf": "episode"}.get(self.wanted, "line")

    def check(self, run: Run) -> None:
        """Raise UsageError for what may not or cannot be written."""
        if run.restricted and self.wanted != "scores" and not self.restricted:
            raise UsageError(
                f"{run.restricted} of the cases of {run.name} {in_number(run.restricted, 'is')} restricted, and this "
                f"export ({self.wanted}) holds their notes: add --restricted all the same, or export --scores"
            )
        if self.wanted in ("dialogues", *_SEATED):
            _check_seat(run, self.seat)
        if str(self.path) == "-" and self.wanted in _PLACES:
            raise UsageError(f"--to {self.wanted} is not a stream of lines: name a place by --out")


async def _write(export: Export, where: str | None) -> int:
    async with existing_store(where) as store:
        run = await Run.open(store, export.run)
        export.check(run)
        private, path = bool(run.restricted), export.path
        if export.wanted == "parquet" and path.suffix == ".parquet":
            return await write_turns(run, path)
        if export.wanted == "parquet":
            with new_folder(path, [f"{name}.parquet" for name in TABLES], private=private) as folder:
                return await write_tables(run, folder)
        if export.wanted == "hf":
            with new_folder(path, ("README.md", "data"), private=private) as folder:
                return await write_dataset(run, export.seat, folder)
        count = 0
        with click.open_file("-", "wb") if str(path) == "-" else output(path, private=private) as file:
            if export.wanted == "inspect":
                return await write_inspect_log(run, export.seat, file)
            async for line in _lines(run, export.wanted, export.seat):
                file.write(line + b"\n")
                count += 1
    return count


def _check_seat(run: Run, seat: str) -> None:
    if run.evaluated:
        raise UsageError(
            f"run {run.name} is an evaluation: its judges are asked one question at a time, so there are no dialogues; "
            f"wardround show {run.name} EPISODE --calls has each question, the dialogues judged are those of "
            f"{run.evaluated}"
        )
    if seat not in run.header.seats:
        raise UsageError(f"run {run.name} has no seat {seat!r}; it has: {', '.join(run.header.seats)}")


def _lines(run: Run, what: str, seat: str) -> AsyncIterator[bytes]:
    if what in _LINES:
        return _LINES[what](run, seat)
    return _events(run) if what == "events" else _scores(run) if what == "scores" else _dialogues(run, seat)


async def _events(run: Run) -> AsyncIterator[bytes]:
    async for line in exported_lines(run.store, run.name):
        yield line
    if run.evaluated:  # a replay needs the texts of the searches, and only the calls name them
        async for digest, text in evidence(run):
            yield msgspec.json.encode({"line": "text", "digest": digest, "text": text})


async def _scores(run: Run) -> AsyncIterator[bytes]:
    yield _row("episode", "case", "repeat", "cause", "evaluator", "score", "value", "reason", "evidence")
    rows = {row.id: row for row in await run.episodes()}
    async with aclosing(run_scores(run)) as stored:
        async for one in stored:
            row = rows[one.episode]
            for score in one.scores:
                value = "" if score.value is None else repr(score.value)
                seqs = " ".join(map(str, score.evidence))
                yield _row(
                    row.id, row.case, row.repeat, row.cause, one.evaluator, score.name, value, score.reason, seqs
                )


def _row(*fields: object) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="").writerow([csv_cell(one) if isinstance(one, str) else one for one in fields])
    return buffer.getvalue().encode()


async def _dialogues(run: Run, seat: str) -> AsyncIterator[bytes]:
    async for trajectory in run:
        opened = trajectory.opened
        yield msgspec.json.encode(
            {
                "episode": opened.episode,
                "case": opened.case,
                "repeat": opened.repeat,
                "messages": _chat(trajectory, seat),
            }
        )


def _chat(trajectory: Trajectory, seat: str) -> list[dict[str, Json]]:
    """The chat of a seat: the messages and the reply of its last call; without a call, what the seats said."""
    last = [call for call in trajectory.called(seat) if call.reply][-1:]
    if not last or last[0].reply is None:
        return chat_of_words(trajectory, seat)
    sent = [*trajectory.messages(last[0]), Message("assistant", last[0].reply.text)]
    return [{"role": message.role, "content": message.content} for message in sent]
