"""`wardround new`: write the first files of an agent of your own, as a module or as an installable plug-in."""

import keyword
from pathlib import Path

import click

from wardround.cli.screen import echo
from wardround.engine.errors import UsageError
from wardround.engine.plugins import plugin_names
from wardround.runs.seats import SEATS

_MODULE = '''"""An agent that plays the SEAT with its seat's model."""

from wardround import Action, View
from wardround.engine.records import Message
from wardround.engine.seat import Seat


class Agent:
    """Asks its model once a turn; `hint` is an option: --options '{"hint": "..."}'."""

    def __init__(self, seat: Seat, *, hint: str = "Think step by step.") -> None:
        if seat.model is None:
            raise ValueError("name a model: --SEAT-model openai/gpt-4o")
        self.model, self.hint = seat.model, hint

    async def act(self, view: View) -> Action:
        """Reply to what was said so far; what must outlast the turn goes into `memo`."""
        said = "\\n".join(f"{one.seat}: {one.text}" for one in view.heard)
        asked = [Message("system", self.hint), Message("user", f"{view.brief}\\n\\n{said}")]
        reply = await self.model.complete(asked, purpose="act")
        return Action(view.verbs[0], reply.text or "(nothing)", thinking=reply.thinking)
'''
_TEST = '''"""NAME plays an encounter without a network, and replays equal."""

from pathlib import Path

import anyio

import wardround
from wardround.replay_run import replay_run


def test_it_plays_and_replays(tmp_path: Path) -> None:
    async def play() -> None:
        seat = {"spec": "NAME", "model": "scripted/Diagnosis: influenza"}
        run = await wardround.run(scenario="SCENARIO", limit=1, repeats=1, SEAT=seat, store=tmp_path / "runs.db")
        assert [row.cause for row in await run.episodes()] == ["completed"]
        assert [one.error async for one in replay_run(run)] == [""]

    anyio.run(play)
'''
_PROJECT = """[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "wardround-NAME"
version = "0.1.0"
description = "An agent for Wardround."
requires-python = ">=3.11"
dependencies = ["wardround"]

[project.entry-points."wardround.seats.SEAT"]
NAME = "wardround_NAME:Agent"

[tool.setuptools]
py-modules = ["wardround_NAME"]
"""
_README = """# wardround-NAME

    pip install --editable .
    wardround agents check NAME --seat SEAT --model openai/gpt-4o
    wardround run --scenario SCENARIO --SEAT NAME --SEAT-model openai/gpt-4o
    pytest
"""
_SCENARIO = {"doctor": "workup", "patient": "consultation", "examiner": "workup"}


def agent_files(name: str, seat: str) -> dict[str, str]:
    """The files of an installable plug-in, by path."""
    files = {
        "pyproject.toml": _PROJECT,
        "README.md": _README,
        f"wardround_{name}.py": _MODULE,
        f"tests/test_{name}.py": _TEST,
    }
    return {path: _fill(text, name, seat) for path, text in files.items()}


def _fill(text: str, name: str, seat: str) -> str:
    return text.replace("SCENARIO", _SCENARIO[seat]).replace("NAME", name).replace("SEAT", seat)


@click.group(short_help="Begin an agent of your own.")
def command() -> None:
    """Begin an agent of your own.

    \b
    Example:  wardround new agent careful --plugin
    """


@command.command()
@click.argument("name")
@click.option("--seat", default="doctor", show_default=True, type=click.Choice(list(_SCENARIO)))
@click.option("--plugin", is_flag=True, help="A folder that pip installs, with a test; default: one module.")
def agent(name: str, seat: str, plugin: bool) -> None:
    """Write the beginning of an agent: a module, or with --plugin a package that can be installed and tested.

    \b
    Example:  wardround new agent careful --plugin
    """
    if not name.isidentifier() or keyword.iskeyword(name) or name != name.lower():
        raise UsageError(f"{name!r} cannot be the name of an agent: write small letters, digits and underscores")
    if plugin and name in plugin_names(SEATS + seat):
        raise UsageError(f"there is a {seat} {name!r} already; choose another name")
    files = agent_files(name, seat) if plugin else {"": _fill(_MODULE, name, seat)}
    root = Path(f"wardround_{name}") if plugin else Path(f"{name}.py")
    if root.exists():
        raise UsageError(f"{root} is there already; choose another name, or move it away")
    for path, text in files.items():
        place = root / path if path else root
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
        echo(str(place))
    spec = name if plugin else f"{name}:Agent"
    install = f"pip install --editable {root} && " if plugin else ""
    more = "" if seat == "doctor" else f" --seat {seat}"
    echo(f"next: {install}wardround agents check {spec}{more} --model openai/gpt-4o")
