"""`wardround export`."""

import csv
import io
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path

import anyio
import click
import msgspec

from wardround.cli.options import existing_store, store_option
from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.stores.files import exported_lines, output
from wardround.engine.text import counted, csv_cell
from wardround.engine.trajectory import Trajectory
from wardround.runs.stored_run import Run
from wardround.scoring.scorings import chosen_scores, shown_scorings
from wardround.scoring.stored_scores import evidence, scores_of_evaluation


@click.command(short_help="Write a run's events, scores or dialogues to files.")
@click.argument("run")
@click.option(
    "--events", "what", flag_value="events", default=True, help="All events as JSONL (the default; can be imported)."
)
@click.option("--scores", "what", flag_value="scores", help="One row a score, as CSV.")
@click.option("--dialogues", "what", flag_value="dialogues", help="One chat an episode, as JSONL: {episode, messages}.")
@click.option("--seat", metavar="SEAT", help="With --dialogues: whose chat it is; default doctor.")
@click.option(
    "--restricted", is_flag=True, help="Write events or dialogues of restricted cases too: they hold the notes."
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Default: RUN.events.jsonl and so on; - for standard output."
)
@store_option
def command(run: str, what: str, seat: str | None, restricted: bool, out: Path | None, store: str | None) -> None:
    """Write a run's events, scores or dialogues to files.

    The scores of a run come from the last scoring of each evaluator; an evaluation (RUN~EVALUATOR) has its own scores.
    Events and dialogues of restricted cases are written only with --restricted, to a file that only you may read.

    \b
    Example:  wardround export calm-heron-417
              wardround export calm-heron-417 --scores --out scores.csv
    """
    if seat is not None and what != "dialogues":
        raise UsageError("--seat goes with --dialogues")
    path = out or Path(f"{run}.{what}.{'csv' if what == 'scores' else 'jsonl'}")

    def lines(stored: Run) -> AsyncIterator[bytes]:
        if stored.restricted and what != "scores" and not restricted:
            raise UsageError(
                f"{stored.restricted} of the cases of {stored.name} are restricted, and its {what} hold their notes: "
                "say --restricted to write them all the same, or export --scores"
            )
        return _lines(stored, what, seat or "doctor")

    count = anyio.run(lambda: _write(run, lines, path, store))
    if str(path) != "-":
        echo(f"{counted(count, 'line')} in {path}")


async def _write(name: str, lines: Callable[[Run], AsyncIterator[bytes]], path: Path, where: str | None) -> int:
    count = 0
    async with existing_store(where) as store:
        run = await Run.open(store, name)
        rows = lines(run)
        private = bool(run.restricted)
        with click.open_file("-", "wb") if str(path) == "-" else output(path, private=private) as file:
            async for line in rows:
                file.write(line + b"\n")
                count += 1
    return count


def _lines(run: Run, what: str, seat: str) -> AsyncIterator[bytes]:
    if what == "events":
        return _events(run)
    if what == "scores":
        return _scores(run)
    if run.evaluated:
        raise UsageError(
            f"run {run.name} is an evaluation: its judges are asked one question at a time, so there are no dialogues; "
            f"wardround show {run.name} EPISODE --calls has each question, the dialogues judged are those of "
            f"{run.evaluated}"
        )
    if seat not in run.header.seats:
        raise UsageError(f"run {run.name} has no seat {seat!r}; it has: {', '.join(run.header.seats)}")
    return _dialogues(run, seat)


async def _events(run: Run) -> AsyncIterator[bytes]:
    async for line in exported_lines(run.store, run.name):
        yield line
    if run.evaluated:  # a replay needs the texts that were found, and only the calls name them
        async for digest, text in evidence(run):
            yield msgspec.json.encode({"line": "text", "digest": digest, "text": text})


async def _scores(run: Run) -> AsyncIterator[bytes]:
    yield _row("episode", "case", "repeat", "cause", "evaluator", "score", "value", "reason", "evidence")
    rows = {row.id: row for row in await run.episodes()}
    scores = (
        scores_of_evaluation(run) if run.evaluated else chosen_scores(run, await shown_scorings(run.store, run.name))
    )
    async with aclosing(scores) as stored:
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


def _chat(trajectory: Trajectory, seat: str) -> list[dict[str, str]]:
    """The chat of a seat: what its last call sent and got, or, for one that made no call, what the seats said."""
    answered = [call for call in trajectory.called(seat) if call.reply]
    if answered:
        last = answered[-1]
        assert last.reply is not None
        chat = [{"role": m.role, "content": m.content} for m in trajectory.messages(last)]
        return [*chat, {"role": "assistant", "content": last.reply.text}]
    return [
        {
            "role": "assistant" if event.seat == seat else "user",
            "name": event.seat,
            "content": event.action.text or msgspec.json.encode({event.action.verb: event.action.args}).decode(),
        }
        for event in trajectory.acted()
    ]
