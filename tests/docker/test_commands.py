"""Every command that docker/ and docs/deploy.md show is one that there is, with options that it has."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from image import DOCKER, ROOT
from ruamel.yaml import YAML

from wardround.cli import VERBS, app

FILES = [*sorted(path for path in DOCKER.iterdir() if path.is_file()), ROOT / "docs" / "deploy.md"]
_COMMAND = re.compile(r"(?:wardround|compose run --rm cli|join-run|join\.sh)[ \t]+([^|;`)#\n]*)")


def commands(file: Path) -> Iterator[tuple[str, list[str]]]:
    """(verb, its options) of each command line in the file; what begins a run with the script are options of `run`."""
    text = re.sub(r"\\\n\s*", " ", file.read_text(encoding="utf-8"))
    if file.name == "kuberay.yaml":
        text = re.sub(r"\n\s+(?=then|else|exec)", " ", text)
    for found in _COMMAND.finditer(text):
        words = re.findall(r"[^\s\"']+", found[1])
        verb = "run" if "join" in found[0] else next((word for word in words if not word.startswith("-")), "")
        if verb in VERBS:
            yield verb, [word.partition("=")[0] for word in words if word.startswith("--")]


def known(verb: str) -> set[str]:
    command = app.get_command(click.Context(app), verb)
    assert command is not None
    return {option for parameter in command.params for option in parameter.opts} | {"--help"}


@pytest.mark.parametrize("file", FILES, ids=lambda path: path.name)
def test_options_are_those_that_the_verb_has(file: Path) -> None:
    for verb, options in commands(file):
        assert set(options) <= known(verb), f"{file.name}: wardround {verb}"


def test_the_commands_are_found() -> None:
    found = {file.name: [verb for verb, _ in commands(file)] for file in FILES}
    assert found["join.sh"].count("run") >= 2
    assert "status" in found["join.sh"]
    assert found["kuberay.yaml"].count("run") == 2, found
    assert found["kubernetes.yaml"].count("run") == 1
    assert {"run", "status", "pause", "resume", "stop", "set"} <= set(found["deploy.md"])
    shown = dict(commands(DOCKER / "kuberay.yaml"))
    assert {"--cluster", "--workers"} <= set(shown["run"])


def test_the_service_that_begins_gives_options_of_run() -> None:
    command = YAML(typ="safe").load(DOCKER / "compose.yaml")["services"]["begin"]["command"]
    assert {word for word in command if word.startswith("--")} == {"--config"} <= known("run")
