"""A person at the terminal: what is shown, what may be typed, and a program that ends while the person thinks."""

import contextlib
import io
import os
import pty
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import pytest
from rich.console import Console
from seats import a_seat, a_view

from wardround.agents.human import Human, Terminal
from wardround.engine.episode import Ended
from wardround.engine.records import Action, View
from wardround.engine.stores.sqlite import SqliteStore
from wardround.runs.plan import create_run, plan_run
from wardround.runs.settings import validate_settings

VERBS = ("reply", "ask", "order", "conclude")


def typed(text: str) -> Terminal:
    return Terminal(io.StringIO(text).readline)


async def answer(text: str, view: View | None = None) -> tuple[Action, str]:
    """What a person who types `text` does, and what stands on the screen."""
    screen = io.StringIO()
    human = Human(a_seat(), typed(text), Console(file=screen, width=80))
    return await human.act(view or a_view([("desk", "choose [bold]now[/bold]")], verbs=VERBS)), screen.getvalue()


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("one line\n\n", Action("reply", "one line")),
        ("  two\nlines\n \nnot this\n", Action("reply", "  two\nlines")),
        ("the end of the stream ends it", Action("reply", "the end of the stream ends it")),
        ("/ask Since when?\n", Action("ask", "Since when?")),
        ("/order CBC, lipase\n", Action("order", "CBC, lipase", {"kind": "any", "items": ["CBC", "lipase"]})),
        (
            "/order Lab: Bilirubin, Total; CBC\r\n",
            Action("order", "Lab: Bilirubin, Total; CBC", {"kind": "lab", "items": ["Bilirubin, Total", "CBC"]}),
        ),
        ("/order examination\n", Action("order", "examination", {"kind": "examination", "items": []})),
        ("/conclude gout\n", Action("conclude", "gout", {"diagnosis": "gout", "treatment": "gout"})),
        ("/quit\n", Action("reply", "")),
        (
            "\n/sing\n/order\n/order lab:\n/ask\n/conclude x\n",
            Action("conclude", "x", {"diagnosis": "x", "treatment": "x"}),
        ),
    ],
)
async def test_what_may_be_typed(text: str, action: Action) -> None:
    done, _ = await answer(text)
    assert (done.verb, done.text, done.args) == (action.verb, action.text, action.args)


async def test_a_verb_that_is_not_possible_is_refused() -> None:
    done, screen = await answer("/order CBC\nmy reply\n\n", a_view(verbs=("reply", "conclude")))
    assert done.text == "my reply"
    assert "/order is not possible" in screen
    assert "/ask" not in screen


async def test_only_what_is_new_is_shown_and_as_it_is() -> None:
    heard = [("desk", "choose [bold]now[/bold]")]
    done, screen = await answer("x\n\n", a_view(heard, verbs=VERBS))
    assert "The brief." in screen
    assert "[bold]now[/bold]" in screen
    assert "case-1" in screen
    heard += [("doctor", "my own words"), ("examiner", "the result")]
    _, screen = await answer("y\n\n", a_view(heard, memo=done.memo, verbs=VERBS))
    assert "the result" in screen
    assert not any(old in screen for old in ("The brief.", "choose", "my own words"))


async def test_a_closed_terminal_is_a_clear_error() -> None:
    with pytest.raises(Ended, match="the terminal is closed") as closed:
        await answer("")
    assert (closed.value.ending.cause, closed.value.ending.reason) == ("doctor", "unattended")

    def broken() -> str:
        raise OSError("gone")

    with pytest.raises(Ended, match="cannot be read"):
        await Human(a_seat(), Terminal(broken), Console(file=io.StringIO())).act(a_view())


def slowly(lines: Iterable[str], started: list[int], go: Callable[[], bool]) -> Callable[[], str]:
    """A stream whose lines come once `go()` says so."""
    left = iter(lines)

    def read() -> str:
        started.append(1)
        while not go():
            time.sleep(0.005)
        return next(left)

    return read


async def test_a_line_typed_after_a_wait_was_cancelled_is_kept() -> None:
    ready: list[int] = []
    started: list[int] = []
    source = Terminal(slowly(["late\n", "\n"], started, lambda: bool(ready)))
    with anyio.move_on_after(0.02) as scope:
        await source.line()
    assert scope.cancelled_caught
    ready.append(1)
    assert await source.line() == "late"
    assert len(started) == 1, "one reader, not two that would steal each other's lines"


async def test_two_episodes_do_not_mix_their_lines() -> None:
    source, done = typed("one\nmore\n\ntwo\n\n"), []

    async def play() -> None:
        action = await Human(a_seat(), source, Console(file=io.StringIO())).act(a_view())
        done.append(action.text)

    async with anyio.create_task_group() as group:
        group.start_soon(play)
        group.start_soon(play)
    assert done == ["one\nmore", "two"]


PROGRAM = """
import anyio, sys
from wardround.agents.human import shared_terminal

async def main():
    print(await shared_terminal().line())
    print(await shared_terminal().line(), flush=True)
    with anyio.move_on_after(0.1):
        await shared_terminal().line()
    print("stopped")

anyio.run(main)
"""


def test_a_program_ends_while_a_person_thinks() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write("première\nsecond\n".encode())
        process.stdin.flush()
        assert process.wait(200) == 0, "it ends although its input is open"
        assert process.stdout.read().decode().splitlines() == ["première", "second", "stopped"]
        assert process.stderr.read() == b""


@pytest.mark.long
async def test_no_table_is_drawn_over_a_person_who_goes_on_with_a_run(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "s.db")
    seats = {"doctor": {"spec": "wardround.agents.human:Human"}}
    settings = validate_settings(
        {"cases": "bundled", "scenario": "oracle", "name": "r", "limit": 1, "seats": seats}, "test"
    )
    run = await create_run(await plan_run(settings, store, {}), store)
    assert run.header.seats["doctor"].outside
    await store.aclose()
    code, screen = at_a_terminal(["run", "--resume", "r", "--store", str(tmp_path / "s.db")], "my reply\n\n")
    assert code in (0, 3), screen  # a run that was played, whatever came of the reply
    assert "calls/s" not in screen


def at_a_terminal(arguments: list[str], typed: str) -> tuple[int, str]:
    """The exit code of the command line, and what came to the terminal where its errors and tables go."""
    ours, theirs = pty.openpty()
    environment = {name: value for name, value in os.environ.items() if name != "CI"} | {"TERM": "xterm"}
    command = [sys.executable, "-m", "wardround", *arguments]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=pipe, stdout=null, stderr=theirs, env=environment) as process:
        os.close(theirs)
        assert process.stdin is not None
        time.sleep(2.5)  # there is time to draw a table
        process.stdin.write(typed.encode())
        process.stdin.close()
        shown = b""
        with contextlib.suppress(OSError):  # the terminal ends with the process
            while more := os.read(ours, 4096):
                shown += more
    os.close(ours)
    return process.returncode, shown.decode()
